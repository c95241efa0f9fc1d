r"""MEMORY.md as a document of a preamble and `##` sections, whose untouched bytes survive exactly.

A section runs from its `##` line to the next one, blank lines in between included, so the slices of all sections
joined are the text, and dropping one takes away its own characters and no others.
Headings count at column 0, outside of list items, closed fences and closed comments (`entries.scan_blocks`).

A dated section is one that the engine may drop: the header is exactly `## Memory (YYYY-MM-DD)` with a real date, and
the body has the shape that the engine writes: an empty line, then lines that start with `- `, lines indented by two
spaces, and blank lines.
The shape is the only evidence; whatever a person made of a section beyond it makes the section curated.

Rules: BUDGET-02, BUDGET-03, BUDGET-08, BUDGET-O5, BUDGET-O6, BUDGET-O8, BUDGET-O9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from omnislash.core.entries import BYTE_ORDER_MARK, parse_entries, render_entry, scan_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.core.entries import Entry

_HEADING_LINE = re.compile(r"##[^\n]*+")
_DATED = re.compile(
    r"## Memory \(([0-9]{4}-[0-9]{2}-[0-9]{2})\)\r?\n"  # the header, and nothing after it
    r"\r?\n(?:[ \t]*+\r?\n)*+"  # an empty line, and perhaps more of them
    r"-[ ][^\n]*+"  # the first entry
    r"(?:\n(?:(?:-[ ]|[ ]{2})[^\n]*+|[ \t]*+\r?(?=\n|\Z)))*+\Z"  # entries, further lines, blank lines, nothing else
)
_ANY_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t\r]|$)")
_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of MEMORY.md from one `##` line to the next, or the preamble before the first."""

    #: The heading's text without `##` and outer white space; None for the preamble.
    heading: str | None
    #: Offset of its first character.
    start: int
    #: Offset after its last character: where the next section starts, or the length of the text.
    end: int
    #: The day whose entries it holds, when the engine may drop it; None for a curated section and the preamble.
    on: date | None
    #: Line of its heading, counted from 1.
    line: int


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """A parsed MEMORY.md."""

    #: The text itself, as it was given.
    text: str
    #: All of it, in order and without gaps; the preamble is there only when it holds a character.
    sections: tuple[Section, ...]
    #: The line end of the file: the first one found in it.
    newline: str

    def slice(self, section: Section) -> str:
        """Return the section's own text, heading included."""
        return self.text[section.start : section.end]

    def droppable(self) -> tuple[Section, ...]:
        """Return the dated sections in the order in which they go: by date, then by place (BUDGET-06, BUDGET-O8)."""
        dated = [(section.on, section.start, section) for section in self.sections if section.on is not None]
        return tuple(section for _, _, section in sorted(dated, key=lambda item: item[:2]))


@dataclass(frozen=True, slots=True)
class Added:
    """A MEMORY.md with one more entry."""

    #: The whole new text.
    text: str
    #: Offset in it where the section that received the entry starts.
    at: int


def find_newline(text: str) -> str:
    r"""Return the first line end of `text`, `\n` when it has none."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def parse_memory(text: str) -> MemoryDocument:
    """Return `text` as sections; every text is a document, and joined their slices are that text.

    A byte order mark counts as (part of) the preamble, so that nothing that is dropped or appended can move it.

    Rules: BUDGET-03, BUDGET-08, BUDGET-O9.
    """
    starts = [block.start for block in scan_blocks(text) if block.kind == "heading"]
    sections: list[Section] = []
    if text and (not starts or starts[0] > 0):
        sections.append(Section(None, 0, starts[0] if starts else len(text), None, 1))
    line, cursor = 1, 0
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        line += text.count("\n", cursor, start)
        cursor = start
        sections.append(_read_section(text, start=start, end=end, line=line))
    return MemoryDocument(text, tuple(sections), find_newline(text))


def find_sections(document: MemoryDocument, heading: str) -> tuple[Section, ...]:
    """Return the sections with exactly this heading, given as `X` or as `## X`; the preamble has none."""
    wanted = heading.strip()
    names = {wanted, wanted[2:].strip()} if wanted.startswith("## ") else {wanted}
    return tuple(section for section in document.sections if section.heading in names)


def add_entry(document: MemoryDocument, content: str, *, on: date) -> Added:
    """Append an entry to the last dated section of that day, or to a new one at the end of the file.

    Every character that was there is still there, in the same order; a missing line end before the new lines is added.
    A new section is separated from what precedes by one empty line.

    Args:
        document: The file as it is.
        content: Any accepted content.
        on: Today, in the brain's time zone.

    Rules: BUDGET-02, BUDGET-O5.
    """
    text, newline = document.text, document.newline
    item = render_entry(content, newline=newline) + newline
    todays = [section for section in document.sections if section.on == on]
    if not todays:
        opening = text + _separator(text, newline)
        return Added(f"{opening}## Memory ({on.isoformat()}){newline}{newline}{item}", len(opening))
    section = todays[-1]
    place = _after_line(text, parse_entries(text, start=section.start, end=section.end, timed=False)[-1].end)
    missing = "" if text[place - 1] == "\n" else newline
    return Added(text[:place] + missing + item + text[place:], section.start)


def drop_section(document: MemoryDocument, section: Section) -> str:
    """Return the document's text without that section: heading, body and the blank lines up to the next heading."""
    return document.text[: section.start] + document.text[section.end :]


def remove_entry(text: str, entry: Entry) -> str:
    """Return `text` without that entry and its line end; a dated section that held no other entry goes with it.

    Args:
        text: The document that the entry was parsed from.
        entry: One of its entries.
    """
    document = parse_memory(text)
    around = [section for section in document.droppable() if section.start <= entry.start < section.end]
    for section in around:
        if len(parse_entries(text, start=section.start, end=section.end, timed=False)) == 1:
            return drop_section(document, section)
    return text[: entry.start] + text[_after_line(text, entry.end) :]


def memory_units(document: MemoryDocument) -> tuple[str, ...]:
    """Return what the document says, piece by piece: each list item and each paragraph, in order.

    A top-level list item is one unit, whatever it holds; an indented or numbered item outside of one is a unit too.
    Headings, fenced blocks and comments are none.

    Rules: WRITE-O6.
    """
    text = document.text
    items = {entry.start: entry.text for entry in parse_entries(text, timed=False)}
    units: list[str] = []
    cursor = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    for block in scan_blocks(text):
        units.extend(_paragraphs(text[cursor : block.start]))
        cursor = block.end
        if block.kind == "item":
            units.append(items[block.start])
    return tuple(unit for unit in (*units, *_paragraphs(text[cursor:])) if unit)


def _read_section(text: str, *, start: int, end: int, line: int) -> Section:
    """Return the section between two offsets, the first of which is that of a `##` line."""
    heading = _HEADING_LINE.match(text, start, end)
    name = heading[0][2:].strip() if heading else None
    dated = _DATED.match(text, start, end)
    return Section(name, start, end, _real_date(dated[1]) if dated else None, line)


def _real_date(text: str) -> date | None:
    """Return the day that `YYYY-MM-DD` names, None when the calendar has no such day (BUDGET-O9)."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _separator(text: str, newline: str) -> str:
    """Return what must stand between `text` and a new heading for exactly one empty line to separate them."""
    written = text.removeprefix(BYTE_ORDER_MARK)
    if not written:
        return ""
    if not written.endswith("\n"):
        return newline * 2
    last_line = written[written.rfind("\n", 0, -1) + 1 :]
    return newline if last_line.strip(" \t\r\n") else ""


def _after_line(text: str, end: int) -> int:
    """Return the offset after the line end that stands at `end`, or `end` when none does."""
    if text.startswith("\r\n", end):
        return end + 2
    return end + 1 if text.startswith("\n", end) else end


def _paragraphs(prose: str) -> Iterator[str]:
    """Yield the paragraphs and indented or numbered list items of a text without blocks, markers taken off."""
    lines: list[str] = []
    for line in prose.split("\n"):
        marker = _LIST_MARKER.match(line)
        is_break = not line.strip() or _ANY_HEADING.match(line)
        if lines and (marker or is_break):
            yield "\n".join(lines)
            lines = []
        if not is_break:
            lines.append((line[marker.end() :] if marker else line).strip())
    if lines:
        yield "\n".join(lines)
