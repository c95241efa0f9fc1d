r"""Two versions of a file of memory joined into one, so that nothing either side wrote is lost or doubled.

What is joined are whole entries, closed fences and comments, and single lines of other writing, section by section:

- added on one side, or on both: there once;
- removed on one side and unchanged on the other: gone;
- changed on one side: changed;
- changed on both sides, or changed on one and removed on the other: every changed version stays, one after the other.

No mark is ever written into a text, and bytes that neither side touched stay as they are.
The result is the same whichever side runs it.
It is read back before it is given out: an entry that would be hidden in it, by a fence that one side left open and the
other closed for example, makes it an error instead of a loss.

Rules: LINE-05, BUDGET-O5; failure case O-51.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.core.entries import BYTE_ORDER_MARK
from omnislash.core.joining_pieces import OPENING, Key, Piece, PieceKind, Section, parse_sections
from omnislash.core.joining_sequences import CannotJoinError, Placed, choose, join_lines, weave
from omnislash.core.sections import find_newline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    _Sections = Mapping[Key, Section]


@dataclass(frozen=True, slots=True)
class Joined:
    """A file joined from two versions."""

    data: bytes
    #: Lines, counted from 1, where what both sides had changed stands in both versions.
    kept_both: tuple[int, ...] = ()


def join_daily(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    """Return a daily log with the entries of both sides, each once, in order of time, then as they came.

    Args:
        base: What both began with; None when each side made the file.
        ours: One version.
        theirs: The other; swapping the two changes nothing.

    Raises:
        CannotJoinError: One of them is no text, or an entry could not be read any more in the result.
    """
    return join_entries(base, ours, theirs, timed=True).data


def join_memory(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    """Return a MEMORY.md with the sections and entries of both sides, each once; see :func:`join_daily`."""
    return join_entries(base, ours, theirs, timed=False).data


def join_document(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    """Return another markdown file with the writing of both sides; see :func:`join_daily`.

    A long list item that both sides changed is joined line by line.
    """
    return join_entries(base, ours, theirs, timed=False, by_lines=True).data


def join_entries(base: bytes | None, ours: bytes, theirs: bytes, *, timed: bool, by_lines: bool = False) -> Joined:
    """Return two versions of a file as one, and where both versions of something were kept.

    Args:
        base: What both began with; None when each side made the file.
        ours: One version.
        theirs: The other.
        timed: True for a daily log, whose entries begin with `HH:MM `.
        by_lines: Whether one list item that both sides changed is joined line by line instead of kept twice.

    Raises:
        CannotJoinError: One of them is no text, or an entry could not be read any more in the result.
    """
    if theirs in {ours, base}:
        return Joined(ours)
    if ours == base:
        return Joined(theirs)
    first, second = sorted((ours, theirs))
    texts = [_decode(data) for data in (base or b"", first, second)]
    marks = [BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else "" for text in texts]
    versions = [parse_sections(text.removeprefix(BYTE_ORDER_MARK), timed=timed) for text in texts]
    sections = _join_sections(*versions, by_lines=by_lines)
    mark = choose(marks[0] if base is not None else None, marks[1], marks[2])
    newline = find_newline(next((text for text in texts if "\n" in text), ""))
    text, kept_both = _render(sections, known=versions[0], newline=newline)
    _check(text, sections, timed=timed)
    return Joined((mark + text).encode("utf-8", "surrogateescape"), kept_both)


def _decode(data: bytes) -> str:
    if b"\0" in data:
        message = "it holds a NUL byte, so it is no text"
        raise CannotJoinError(message)
    return data.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _JoinedSection:
    key: Key
    head: str
    pieces: list[Placed]
    tail: str


def _join_sections(base: _Sections, first: _Sections, second: _Sections, *, by_lines: bool) -> list[_JoinedSection]:
    """Return the sections of the result, each piece of both versions in its place."""

    def refine(old: Piece, one: Piece, other: Piece) -> Placed | None:
        kinds = {old.kind, one.kind, other.kind}
        if kinds == {PieceKind.HIDDEN}:
            return _join_block(old, one, other, strict=True)
        return _join_block(old, one, other, strict=False) if by_lines and kinds == {PieceKind.ENTRY} else None

    empty = Section(("", ""), "")
    sections: list[_JoinedSection] = []
    for key in _order_sections(base, first, second):
        versions = [each.get(key, empty) for each in (base, first, second)]
        old, one, other = versions
        pieces = list(weave(old.pieces, one.pieces, other.pieces, refine=refine))
        pieces = _drop_second_copies(pieces, *(section.pieces for section in versions))
        present = [each.get(key) for each in (first, second)]
        if pieces or _stays(base.get(key), *present):
            sections.append(_join_frame(key, pieces, base.get(key), *present))
    _settle_counts(sections, base, first, second)
    _drop_copies_under_one_title(sections, base, first, second)
    return sections


def _join_block(old: Piece, one: Piece, other: Piece, *, strict: bool) -> Placed | None:
    """Return a block that both versions changed, joined line by line; None where it would be no such block any more.

    A strict join gives None when both changed the same lines.
    """
    raw, contested = join_lines(old, one, other)
    sections = list(parse_sections(raw, timed=False).values())
    pieces = sections[0].pieces if len(sections) == 1 else []
    if (strict and contested) or len(pieces) != 1 or pieces[0].kind is not one.kind:
        return None
    return Placed(Piece(pieces[0].key, raw, one.kind), contested)


def _stays(base: Section | None, first: Section | None, second: Section | None) -> bool:
    """Tell whether a heading without a piece stays: both have it, or one of them made it."""
    return bool(first and second) or (base is None and bool(first or second))


def _join_frame(
    key: Key, pieces: list[Placed], base: Section | None, first: Section | None, second: Section | None
) -> _JoinedSection:
    """Return the joined section with its heading and the blank lines at its end."""
    there = [section for section in (first, second) if section is not None] or [
        section for section in (base,) if section
    ]
    one, other = there[0], there[-1]
    head = choose(base.head if base else None, one.head, other.head)
    tail = choose(base.tail if base else None, one.tail, other.tail)
    return _JoinedSection(key, head, pieces, tail)


def _order_sections(base: _Sections, first: _Sections, second: _Sections) -> list[Key]:
    """Return the keys of all sections of both versions in the order in which they shall stand."""
    tokens = [[Piece(key, f"{key[0]}\0{key[1]}", PieceKind.LINE) for key in each] for each in (base, first, second)]
    order = list(dict.fromkeys(placed.piece.key for placed in weave(*tokens)))
    for version in (first, second):
        previous: Key | None = None
        for key in version:
            if key not in order:
                order.insert(order.index(previous) + 1 if previous in order else 0, key)
            previous = key
    return sorted(order, key=lambda key: key != OPENING)


def _count(pieces: Iterable[Piece]) -> Counter[Key]:
    return Counter(piece.key for piece in pieces)


def _drop_second_copies(
    placed: list[Placed], base: Sequence[Piece], first: Sequence[Piece], second: Sequence[Piece]
) -> list[Placed]:
    """Return the pieces of a section without the second copy of an entry that both versions added in other places."""
    old, one, other = _count(base), _count(first), _count(second)
    most = {key: max(one[key], other[key]) for key in one.keys() & other.keys() if not old[key]}
    return _limit(placed, {key: limit for key, limit in most.items() if key[0] == PieceKind.ENTRY})


def _drop_copies_under_one_title(
    sections: list[_JoinedSection], base: _Sections, first: _Sections, second: _Sections
) -> None:
    """Take out the second copy of an entry that both versions added under headings of one title.

    One of two headings that say the same may be gone on one side, and the entry stands under the other one there.
    """
    old = _count(piece for section in base.values() for piece in section.pieces)
    one, other = (
        Counter((key[0], piece.key) for key, section in version.items() for piece in section.pieces)
        for version in (first, second)
    )
    most = {
        added: max(one[added], other[added])
        for added in one.keys() & other.keys()
        if not old[added[1]] and added[1][0] == PieceKind.ENTRY
    }
    seen: Counter[tuple[str, Key]] = Counter()
    for section in sections:
        kept = []
        for placed in section.pieces:
            added = (section.key[0], placed.piece.key)
            seen[added] += 1
            if seen[added] <= most.get(added, seen[added]):
                kept.append(placed)
        section.pieces = kept


def _limit(placed: list[Placed], most: Mapping[Key, int]) -> list[Placed]:
    """Return the pieces with at most so many of each key; the first ones stay."""
    seen: Counter[Key] = Counter()
    result = []
    for each in placed:
        seen[each.piece.key] += 1
        if seen[each.piece.key] <= most.get(each.piece.key, len(placed)):
            result.append(each)
    return result


def _settle_counts(sections: list[_JoinedSection], base: _Sections, first: _Sections, second: _Sections) -> None:
    """See to it that each piece of the base is there as often as both versions together want it.

    It is there too often when both versions moved it, or one moved what the other removed; and too seldom when each
    removed another one of two that say the same.
    """
    old, one, other = (
        _count(piece for section in version.values() for piece in section.pieces) for version in (base, first, second)
    )
    there = _count(placed.piece for section in sections for placed in section.pieces)
    most: dict[Key, int] = {}
    for key, number in old.items():
        least, limit = _bound(number, one[key] - number, other[key] - number)
        if there[key] > limit:
            most[key] = limit
        for _ in range(least - there[key]):
            _put_back(key, sections, first)
    if most:
        left = Counter(most)
        for section in sections:
            section.pieces = [placed for placed in section.pieces if _takes(placed.piece.key, most, left)]


def _bound(number: int, one: int, other: int) -> tuple[int, int]:
    """Return how often at least and at most something stays, given its number in the base and both differences."""
    if one > 0 and other > 0:
        return number + max(one, other), number + one + other
    both = min(one, other) if one <= 0 and other <= 0 else one + other
    return number + both, number + both


def _takes(key: Key, most: Mapping[Key, int], left: Counter[Key]) -> bool:
    left[key] -= key in most
    return left[key] >= 0


def _put_back(key: Key, sections: list[_JoinedSection], version: _Sections) -> None:
    """Put a piece that a version holds at the end of the section in which it holds it, or of the last one."""
    found = [(section.key, piece) for section in version.values() for piece in section.pieces if piece.key == key]
    if not found:
        return
    at, piece = found[-1]
    section = next((section for section in sections if section.key == at), sections[-1] if sections else None)
    if section is None:
        sections.append(_JoinedSection(OPENING, "", [Placed(piece)], ""))
    else:
        section.pieces.append(Placed(piece))


def _render(sections: list[_JoinedSection], *, known: _Sections, newline: str) -> tuple[str, tuple[int, ...]]:
    """Return the text and the lines at which both versions of something begin; missing line ends are added."""
    parts: list[str] = []
    lines: list[int] = []
    line = 1

    def add(raw: str) -> None:
        nonlocal line
        if parts and raw and not parts[-1].endswith("\n"):
            parts[-1] += newline
            line += 1
        if raw:
            parts.append(raw)
            line += raw.count("\n")

    for section in sections:
        if parts and section.key not in known and not _ends_blank(parts):
            add(newline)
        add(section.head)
        for placed in section.pieces:
            if placed.contested:
                lines.append(line + (bool(parts) and not parts[-1].endswith("\n")))
            add(placed.piece.raw)
        add(section.tail)
    return "".join(parts), tuple(lines)


def _ends_blank(parts: list[str]) -> bool:
    """Tell whether what is written so far ends with an empty line."""
    text = "".join(parts[-2:])
    return text.endswith("\n") and not text.removesuffix("\n").rpartition("\n")[2].strip()


def _check(text: str, sections: list[_JoinedSection], *, timed: bool) -> None:
    """Raise CannotJoinError unless the text reads back as the headings and entries that were put in."""
    wanted = [
        (section.key[0], [each.piece.key for each in section.pieces if each.piece.kind is PieceKind.ENTRY])
        for section in sections
        if section.key != OPENING or section.pieces
    ]
    found = [
        (section.key[0], [piece.key for piece in section.pieces if piece.kind is PieceKind.ENTRY])
        for section in parse_sections(text, timed=timed).values()
        if section.key != OPENING or section.pieces
    ]
    if wanted != found:
        message = "a fence, a comment or an indented line of one side would change how the other's text reads"
        raise CannotJoinError(message)
