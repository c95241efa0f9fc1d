r"""A markdown file → its blocks: headings, list items, paragraphs, code, tables, as offsets in the text.

Authored documents are read with markdown-it, of which only the outermost blocks are taken: whatever nests in a list
item or a quote stays in it.
Managed files (MEMORY.md, daily logs, summaries) are read like the writer reads them (`core.entries`), so that each
entry is a block and nothing that was appended changes how older text reads; only the prose between entries goes to
markdown-it.
In both a fence or comment that never ends hides nothing: a forgotten one must not swallow the rest of a file.

Rules: RECALL-O5, BUDGET-O5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from omnislash.core.entries import parse_entries, scan_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Longest text that is given to markdown-it, in characters; a longer file is cut by lines.
#: It reads 3 MB of ordinary notes in a second, but only 0.4 MB of the worst (list items of a word each) and 1 MB of
#: short lines without an empty one (measured 2026-12-01, 2 cores), so this keeps any file under about a second.
MARKDOWN_MAX_CHARS: Final = 400_000
#: How many fences and comments of a file that never end are looked past; each costs one more reading of the rest.
_OPEN_ENDS_MAX = 3

_LINE_END = re.compile(r"\r\n?|\n")
_HASHES = re.compile(r"[ ]{0,3}(#{1,6})(?=[ \t]|\Z)")
_ITEM_START = re.compile(r"[ ]?(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_ONE_LINE_END = re.compile(r"(?:\r\n?|\n)[ \t]*")


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    #: A whole item of the outermost list, with all that nests in it; in managed files an entry.
    ITEM = "item"
    PARAGRAPH = "paragraph"
    #: A quote, a comment, HTML.
    RAW = "raw"
    #: Fenced or indented code.
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a text, as offsets; blank lines, rules and line ends lie between blocks."""

    kind: BlockKind
    #: Offset of its first character.
    start: int
    #: Offset after its last character, white space at its end excluded.
    end: int
    #: 1 to 6 for a heading.
    level: int = 0
    #: A heading's text as it is written, without `#`.
    heading: str = ""
    #: `HH:MM` of an entry that carries one.
    time: str | None = None


_KINDS: Final = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "blockquote_open": BlockKind.RAW,
    "html_block": BlockKind.RAW,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
}


def parse_document(text: str, *, start: int = 0) -> list[Block]:
    """Return the blocks of an authored document from `start` on, in order and without overlap."""
    if len(text) - start > MARKDOWN_MAX_CHARS:
        return parse_managed(text, start=start, timed=False)
    return list(_parse_markdown(text, start, len(text)))


def parse_managed(text: str, *, start: int = 0, timed: bool) -> list[Block]:
    """Return the blocks of a managed file from `start` on, in order and without overlap.

    A paragraph that goes on right below an entry, without the indentation that would make it part of the entry, is
    taken to it.

    Args:
        text: The whole file.
        start: 0, or the start of a line.
        timed: Whether entries carry their time (daily logs).
    """
    is_long = len(text) - start > MARKDOWN_MAX_CHARS
    times = {entry.start: entry.time for entry in parse_entries(text, start=start, timed=True)} if timed else {}
    blocks: list[Block] = []
    cursor = start
    for kind, first, last in scan_blocks(text, start=start):
        _add_prose(blocks, text, (cursor, first), is_long=is_long)
        cursor = last
        end = _trim(text, first, last)
        if kind == "heading":
            blocks.append(_find_heading(text, first, end) or Block(BlockKind.PARAGRAPH, first, end))
        elif kind == "item":
            blocks.append(Block(BlockKind.ITEM, first, end, time=times.get(first)))
        else:
            is_comment = text.startswith("<!--", _skip_indent(text, first, end))
            blocks.append(Block(BlockKind.RAW if is_comment else BlockKind.CODE, first, end))
    _add_prose(blocks, text, (cursor, len(text)), is_long=is_long)
    return blocks


def _add_prose(blocks: list[Block], text: str, span: tuple[int, int], *, is_long: bool) -> None:
    """Add what stands between two entries; its first paragraph goes to the entry that it follows without a gap."""
    start, end = span
    start = _skip_blank(text, start, end)
    if start == end:
        return
    found = list(_parse_lines(text, start, end) if is_long else _parse_markdown(text, start, end))
    if blocks and found and _goes_on(text, blocks[-1], found[0]):
        blocks[-1] = replace(blocks[-1], end=found.pop(0).end)
    blocks.extend(found)


def _goes_on(text: str, above: Block, below: Block) -> bool:
    """Tell whether a paragraph stands right below an entry."""
    if above.kind is not BlockKind.ITEM or below.kind is not BlockKind.PARAGRAPH:
        return False
    return _ONE_LINE_END.fullmatch(text, above.end, below.start) is not None


@cache
def _markdown() -> MarkdownIt:
    """Return the parser: blocks and tables only, nothing inside a line; link definitions stay paragraphs."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 (a command that indexes nothing doesn't pay for it)

    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _parse_markdown(text: str, start: int, end: int) -> Iterator[Block]:
    """Yield the outermost blocks between two offsets; looks past fences and comments that never end."""
    for _ in range(_OPEN_ENDS_MAX):
        lines = _line_starts(text, start, end)
        tokens = _markdown().parse(text[start:end])
        opened = _find_open_end(tokens, text, lines)
        yield from _read_tokens(tokens, text, lines, stop=opened)
        if opened is None:
            return
        first_line_end = lines[opened + 1]
        yield Block(BlockKind.PARAGRAPH, lines[opened], _trim(text, lines[opened], first_line_end))
        start = first_line_end
    yield from _read_tokens(_markdown().parse(text[start:end]), text, _line_starts(text, start, end), stop=None)


def _line_starts(text: str, start: int, end: int) -> list[int]:
    """Return the offsets of all lines, and of the end in place of every line after the last."""
    return [start, *(found.end() for found in _LINE_END.finditer(text, start, end)), end, end]


def _find_open_end(tokens: list[Token], text: str, lines: list[int]) -> int | None:
    """Return the line of the fence or comment that runs to the end without being closed; None when there is none."""
    token = tokens[-1] if tokens else None
    if token is None or not token.map:
        return None
    first, last = token.map
    if token.type == "fence":
        closing = text[lines[last - 1] : lines[last]].strip()
        is_closed = last - first > 1 and closing.startswith(token.markup) and not closing.strip(token.markup[0])
        return None if is_closed else first
    is_comment = token.type == "html_block" and token.content.lstrip().startswith("<!--")
    return first if is_comment and "-->" not in token.content else None


def _read_tokens(tokens: list[Token], text: str, lines: list[int], *, stop: int | None) -> Iterator[Block]:
    """Yield a block for each outermost token and each item of an outermost list, up to the line `stop`."""
    for index, token in enumerate(tokens):
        if token.map is None or (stop is not None and token.map[0] >= stop):
            continue
        if token.type == "heading_open" and token.level == 0:
            start, end = _span(text, lines, token)
            yield Block(BlockKind.HEADING, start, end, int(token.tag[1]), tokens[index + 1].content)
        elif token.type == "list_item_open" and token.level == 1:
            yield Block(BlockKind.ITEM, *_span(text, lines, token))
        elif token.level == 0 and token.type in _KINDS:
            yield Block(_KINDS[token.type], *_span(text, lines, token))


def _span(text: str, lines: list[int], token: Token) -> tuple[int, int]:
    """Return the offsets of a token, blank lines at its end left out; code keeps its indentation."""
    first, last = token.map or (0, 0)
    start, end = lines[first], _trim(text, lines[first], lines[last])
    return (start, end) if token.type == "code_block" else (_skip_indent(text, start, end), end)


def _parse_lines(text: str, start: int, end: int) -> Iterator[Block]:
    """Yield the blocks of a text by its lines alone: headings, list items, paragraphs between blank lines."""
    open_at: int | None = None
    kind = BlockKind.PARAGRAPH
    lines = _line_starts(text, start, end)
    for first, last in pairwise(lines):
        heading = _find_heading(text, first, _trim(text, first, last))
        is_blank = first == last or text[first:last].isspace()
        is_item = _ITEM_START.match(text, first, last) is not None
        if open_at is not None and (heading or is_blank or is_item):
            yield Block(kind, open_at, _trim(text, open_at, first))
            open_at = None
        if heading:
            yield heading
        elif not is_blank and open_at is None:
            open_at, kind = first, BlockKind.ITEM if is_item else BlockKind.PARAGRAPH
    if open_at is not None:
        yield Block(kind, open_at, _trim(text, open_at, end))


def _find_heading(text: str, start: int, end: int) -> Block | None:
    """Return the block of a line that is a heading, hashes at its end taken off; None for any other line."""
    found = _HASHES.match(text, start, end)
    if found is None:
        return None
    said = text[found.end() : end].strip()
    open_end = said.rstrip("#")
    if not open_end or open_end[-1].isspace():
        said = open_end.strip()
    return Block(BlockKind.HEADING, start, end, len(found[1]), said)


def _trim(text: str, start: int, end: int) -> int:
    """Return the offset after the last character that is no white space."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _skip_indent(text: str, start: int, end: int) -> int:
    while start < end and text[start] in " \t":
        start += 1
    return start


def _skip_blank(text: str, start: int, end: int) -> int:
    """Return the start of the first line between two offsets that is not blank, or `end`."""
    at = start
    while at < end and text[at].isspace():
        if text[at] in "\r\n":
            start = at + 1
        at += 1
    return start if at < end else end
