"""Two versions of a sequence of pieces and the one that both began with, woven into one.

Each element of the base stays only when both versions have it; what either version put in its place, before it or
after it comes to stand there.  So nothing conflicts: what both put in the same place is kept from both, in an order
that does not depend on which version is called the first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from omnislash.core.joining_pieces import Key, Piece, PieceKind, split_into_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


#: How many pairs of equal elements two sequences may have where they differ; seconds are needed for more.
_MOST_PAIRS: Final = 4_000_000


class CannotJoinError(Exception):
    """The two versions can't be joined without a person; the message says why, as a clause."""


class Placed(NamedTuple):
    """A piece in its place in the result."""

    piece: Piece
    #: True when both versions changed the same place differently, so that this is one of two versions.
    contested: bool = False


@dataclass(slots=True)
class _Edits:
    """What one version did to the base."""

    #: For each element of the base its index in the version; None where it is gone.
    kept: list[int | None]
    #: What stands in the place of an element that is gone.
    instead: list[list[Piece]]
    #: What was put before each element, and after the last.
    before: list[list[Piece]]


def choose(base: str | None, first: str, second: str) -> str:
    """Return the characters of what is the same in both versions but for white space: the changed ones."""
    if second in {first, base}:
        return first
    if first == base:
        return second
    return max(first, second, key=lambda raw: (len(raw), raw))


def match_pairs(first: Sequence[Key], second: Sequence[Key]) -> list[tuple[int, int]]:
    """Return the pairs of equal elements, in ascending order of both indexes.

    Raises:
        CannotJoinError: The same elements are there so often that it would take minutes.
    """
    start = 0
    shorter = min(len(first), len(second))
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    pairs = [(index, index) for index in range(start)]
    one, other = first[start : len(first) - end], second[start : len(second) - end]
    _refuse_repetition(one, other)
    middle = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    pairs += [(start + block.a + step, start + block.b + step) for block in middle for step in range(block.size)]
    pairs += [(len(first) - step, len(second) - step) for step in range(end, 0, -1)]
    return pairs


def _refuse_repetition(first: Sequence[Key], second: Sequence[Key]) -> None:
    if len(first) * len(second) <= _MOST_PAIRS:
        return
    counts = Counter(second)
    if sum(number * counts[key] for key, number in Counter(first).items()) > _MOST_PAIRS:
        message = "it says the same so often that its versions can't be told apart"
        raise CannotJoinError(message)


def weave(
    base: Sequence[Piece],
    first: Sequence[Piece],
    second: Sequence[Piece],
    *,
    refine: Callable[[Piece, Piece, Piece], Placed | None] | None = None,
) -> Iterator[Placed]:
    """Yield the pieces of the result in order.

    Args:
        base: What both versions began with.
        first: One version.
        second: The other; swapped with the first the result may only differ in what `choose` and `interleave` can't
            tell apart, so the caller brings the two in an order of its own.
        refine: Joins a block that both versions changed; None or a function that gives None keeps both.
    """
    left, right = _find_edits(base, first), _find_edits(base, second)
    for index in range(len(base) + 1):
        yield from _mix(left.before[index], right.before[index], replaces=False)
        if index == len(base):
            return
        here, there = left.kept[index], right.kept[index]
        if here is not None and there is not None:
            one, other = first[here], second[there]
            raw = choose(base[index].raw, one.raw, other.raw)
            yield Placed(Piece(one.key, raw, one.kind, one.time))
        else:
            yield from _replace(base[index], left.instead[index], right.instead[index], refine)


def _replace(
    base: Piece,
    first: list[Piece],
    second: list[Piece],
    refine: Callable[[Piece, Piece, Piece], Placed | None] | None,
) -> Iterator[Placed]:
    if refine is not None and len(first) == len(second) == 1 and first[0].key != second[0].key:
        joined = refine(base, first[0], second[0])
        if joined is not None:
            yield joined
            return
    yield from _mix(first, second, replaces=True)


def _find_edits(base: Sequence[Piece], version: Sequence[Piece]) -> _Edits:
    """Return what a version did: what replaces a stretch is dealt out to its elements, the rest comes after it."""
    edits = _Edits([None] * len(base), [[] for _ in base], [[] for _ in range(len(base) + 1)])
    pairs = match_pairs([piece.key for piece in base], [piece.key for piece in version])
    at, place = 0, 0
    for index, found in [*pairs, (len(base), len(version))]:
        for piece in version[place:found]:
            if at < index:
                edits.instead[at].append(piece)
                at += 1
            else:
                edits.before[index].append(piece)
        if index < len(base):
            edits.kept[index] = found
        at, place = index + 1, found + 1
    return edits


def _mix(first: list[Piece], second: list[Piece], *, replaces: bool) -> Iterator[Placed]:
    """Yield what both versions put in the same place: what is the same once, the rest in order of time."""
    if not first or not second:
        yield from (Placed(piece) for piece in (*first, *second))
        return
    i, j = 0, 0
    pairs = match_pairs([piece.key for piece in first], [piece.key for piece in second])
    for here, there in [*pairs, (len(first), len(second))]:
        mine, theirs = first[i:here], second[j:there]
        contested = bool(mine and theirs) and (
            replaces or any(piece.kind is not PieceKind.ENTRY for piece in (*mine, *theirs))
        )
        yield from (Placed(piece, contested) for piece in interleave(mine, theirs))
        if here < len(first):
            one, other = first[here], second[there]
            yield Placed(Piece(one.key, choose(None, one.raw, other.raw), one.kind, one.time))
        i, j = here + 1, there + 1


def interleave(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """Return two runs of pieces as one: by time, each in its own order, and what has the same time run by run."""
    left, right = _group_by_time(first), _group_by_time(second)
    result: list[Piece] = []
    for time in sorted({*left, *right}):
        both = [left.get(time, []), right.get(time, [])]
        for run in sorted(both, key=lambda run: (not (run and run[0].is_indented), [piece.raw for piece in run])):
            result += run
    return result


def _group_by_time(pieces: Sequence[Piece]) -> dict[str, list[Piece]]:
    """Return the pieces by the latest time so far: other writing goes with the entry above it."""
    groups: dict[str, list[Piece]] = {}
    latest = ""
    for piece in pieces:
        latest = max(latest, piece.time or "")
        groups.setdefault(latest, []).append(piece)
    return groups


def join_lines(base: Piece, first: Piece, second: Piece) -> tuple[str, bool]:
    """Return the characters of a block with the changed lines of both versions.

    The second part of the answer is True when both changed the same lines, which are there in both versions.
    """
    woven = list(weave(*(split_into_lines([piece]) for piece in (base, first, second))))
    raws = [placed.piece.raw for placed in woven]
    ended = [raw if raw.endswith("\n") else f"{raw}\n" for raw in raws[:-1]]
    return "".join([*ended, *raws[-1:]]), any(placed.contested for placed in woven)
