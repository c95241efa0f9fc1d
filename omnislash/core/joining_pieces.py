r"""A markdown text as sections of pieces, for joining two versions of it without tearing anything.

A piece is what is never taken apart: a list item with its indented lines, a closed fence or comment, the frontmatter,
or one line of other writing, each with its line end and the blank lines after it.
A section runs from a heading of any level to the next one, so that a piece stays under the heading that it was written
under.
What a piece says is its key: line ends, blank lines after it and white space at its end do not count.

Rules: BUDGET-O5, LINE-05; failure case O-51.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from omnislash.core.entries import parse_entries, scan_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What a piece or a section says, comparable between two versions of a file.
Key = tuple[str, ...]

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t\r\n]|\Z)")
_UNDERLINE = re.compile(r"(?:={2,}|-{2,})[ \t]*\r?\n?\Z")
_INDENTED = re.compile(r"[ ]?\t|[ ]{2}")
_FRONTMATTER = re.compile(r"\A---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*\r?(?:\n|\Z)")
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)+\Z")


class PieceKind(StrEnum):
    """What a piece is."""

    ENTRY = "entry"
    HIDDEN = "hidden"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that is never taken apart."""

    key: Key
    #: Its characters, line end and following blank lines included.
    raw: str
    kind: PieceKind
    #: `HH:MM` of an entry of a daily log.
    time: str | None = None

    @property
    def is_indented(self) -> bool:
        """True for a line that an entry above it would take for its own."""
        return _INDENTED.match(self.raw) is not None


@dataclass(slots=True)
class Section:
    """A heading and the pieces under it."""

    #: The heading and how many like it came before; the same in every version of the file.
    key: Key
    #: The heading's line with the blank lines after it; of what precedes the first heading, the blank lines.
    head: str
    pieces: list[Piece] = field(default_factory=list)
    #: The blank lines at its end.
    tail: str = ""

    @property
    def is_titled(self) -> bool:
        """False for what precedes the first heading."""
        return bool(self.key[0])


#: The key of what precedes the first heading.
OPENING: Final[Key] = ("", "0")


def parse_sections(text: str, *, timed: bool) -> dict[Key, Section]:
    """Return the sections of a text in order; joined, they are the text.

    Args:
        text: Without a byte order mark.
        timed: Whether a leading `HH:MM ` is the time of an entry.
    """
    sections = [Section(OPENING, "")]
    seen: Counter[str] = Counter()
    for kind, raw, key, time in _read_parts(text, timed=timed):
        section = sections[-1]
        if kind == "blank":
            _add_blank(section, raw)
        elif kind == "heading":
            title = raw.strip()
            sections.append(Section((title, str(seen[title])), raw))
            seen[title] += 1
        elif kind == PieceKind.LINE and _continues(section, raw):
            last = section.pieces[-1]
            section.pieces[-1] = Piece((*last.key, raw.rstrip()), last.raw + raw, last.kind)
        else:
            section.pieces.append(Piece(key, raw, PieceKind(kind), time))
    for section in sections:
        _split_tail(section)
    return {section.key: section for section in sections if section.is_titled or section.pieces or section.head}


def split_lines(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their ends; only `\n` ends one."""
    return (found[0] for found in _LINE.finditer(text))


def split_into_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces as one piece a line, for joining inside of a block."""
    return [Piece(("line", line.rstrip()), line, PieceKind.LINE) for piece in pieces for line in split_lines(piece.raw)]


def _read_parts(text: str, *, timed: bool) -> Iterator[tuple[str, str, Key, str | None]]:
    """Yield kind, characters, key and time of each part: a block, or a single line."""
    front = _FRONTMATTER.match(text)
    cursor = front.end() if front and not parse_entries(text, end=front.end(), timed=timed) else 0
    entries = {entry.start: entry for entry in parse_entries(text, start=cursor, timed=timed)}
    if cursor:
        yield PieceKind.HIDDEN, text[:cursor], _say(PieceKind.HIDDEN, text[:cursor]), None
    for block in scan_blocks(text, start=cursor):
        yield from _read_loose(text[cursor : block.start])
        cursor = block.end + 1 if text.startswith("\n", block.end) else block.end
        raw = text[block.start : cursor]
        entry = entries.get(block.start)
        if entry is not None:
            yield PieceKind.ENTRY, raw, (PieceKind.ENTRY.value, entry.time or "", entry.text), entry.time
        else:
            yield block.kind, raw, _say(PieceKind.HIDDEN, raw), None
    yield from _read_loose(text[cursor:])


def _read_loose(text: str) -> Iterator[tuple[str, str, Key, None]]:
    for line in split_lines(text):
        if not line.strip():
            yield "blank", line, (), None
        elif _HEADING.match(line):
            yield "heading", line, (), None
        else:
            yield PieceKind.LINE, line, _say(PieceKind.LINE, line), None


def _say(kind: PieceKind, raw: str) -> Key:
    return (kind.value, raw.replace("\r\n", "\n").rstrip())


def _add_blank(section: Section, raw: str) -> None:
    if section.pieces:
        last = section.pieces[-1]
        section.pieces[-1] = Piece(last.key, last.raw + raw, last.kind, last.time)
    else:
        section.head += raw


def _continues(section: Section, line: str) -> bool:
    """Tell whether a line belongs to the one above it: it is indented, or makes a heading of it."""
    if not section.pieces or section.pieces[-1].kind is not PieceKind.LINE:
        return False
    if _UNDERLINE.match(line):
        return bool(list(split_lines(section.pieces[-1].raw))[-1].strip())
    return _INDENTED.match(line) is not None


def _split_tail(section: Section) -> None:
    """Give the blank lines at the end to the section, so that a piece that is added comes before them."""
    if not section.pieces:
        return
    last = section.pieces[-1]
    blanks = _BLANKS.search(last.raw, len(last.raw.rstrip()))
    end = last.raw.find("\n", len(last.raw.rstrip())) + 1
    if blanks and 0 < end < len(last.raw):
        section.tail = last.raw[end:]
        section.pieces[-1] = Piece(last.key, last.raw[:end], last.kind, last.time)
