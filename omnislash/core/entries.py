"""One list item is one entry: reading the entries of a markdown text, and writing one.

The format is plain markdown: `- text`, in a daily log `- HH:MM text`, further lines indented by two spaces.
A line belongs to the entry above it when it is indented (two spaces, or a tab); a blank line belongs to it only when
an indented line follows.
So whatever an entry holds (a fence left open, `---`, `## x`, `- x`, `-->`), indented it is inert: it can neither end
its own entry nor hide another one.

`scan_blocks` finds the blocks of a text in one pass, and is the one place that decides what is hidden:

- A fence (three or more backquotes or tildes, at most three spaces in front) and an HTML comment that begins a line
  hide what stands between them and their end, provided that they do end.
- One that never ends is plain text, so that a forgotten fence can't swallow a whole file.
- Nothing in a list item ends a fence or comment that began outside of it.
  CommonMark would end it there; here text that the engine files must never change how older text reads.
- `* * *` is a thematic break; `- - -` is an entry that says `- -`, since the engine writes exactly that for it.

The work grows with the length of the text alone: every repetition is possessive, and whether a fence ends is known
for all fences after one pass from the back.

Rules: BUDGET-O5, WRITE-15.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from omnislash.core.content import normalise_content, trim_outer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The mark that some editors put before the first byte of a file: skipped when reading, never removed.
BYTE_ORDER_MARK: Final = "\ufeff"

_BLANK = r"[ \t]*+\r?(?:\n|\Z)"
_ITEM = (
    rf"(?:[-+]|\*(?![ \t]*+\*[ \t]*+\*[* \t]*+\r?(?:\n|\Z)))[ ][^\n]*+"
    rf"(?:(?:\n[ \t]*+\r?(?=\n))*+\n(?:[ ]?\t|[ ]{{2}})(?!{_BLANK})[^\n]*+)*+"
)
_FENCE = r"[ ]{0,3}+(?:`{3,}+[^`\n]*+|~{3,}+[^\n]*+)(?=\n|\Z)"
_COMMENT = r"[ ]{0,3}+<!--[^\n]*+"
_HEADING = r"\#\#(?=[ \t\r\n]|\Z)[^\n]*+"
_MARK = re.compile(rf"(?m)^(?:(?P<item>{_ITEM})|(?P<fence>{_FENCE})|(?P<comment>{_COMMENT})|(?P<heading>{_HEADING}))")
_LINE_AND_INDENT = re.compile(r"\r?\n(?:[ ]{2}|[ ]?\t)?+")
_LINE_WITH_TEXT = re.compile(r"\n(?=[^\n])")
_TIME = re.compile(r"((?:[01][0-9]|2[0-3]):[0-5][0-9])(?:[ ]|(?=\n))")
_FENCE_ALONE = re.compile(r"[ ]{0,3}+(?:`{3,}+|~{3,}+)[ \t]*+")


class Block(NamedTuple):
    """A stretch of a markdown text, as offsets; what lies between two blocks is prose or blank."""

    #: A list item, a line that begins with `##`, or a closed fence or comment with all that it hides.
    kind: Literal["item", "heading", "hidden"]
    #: Offset of its first character.
    start: int
    #: Offset after its last character, its line end excluded.
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One list item of a document."""

    #: What it says: without `- `, without `HH:MM `, without the indentation; its signature included.
    text: str
    #: `HH:MM`, when the document's entries carry a time and this one does.
    time: str | None
    #: Offset of its `-`.
    start: int
    #: Offset after its last character, without its line end and without blank lines after it.
    end: int
    #: Line in the document, counted from 1.
    line: int


def scan_blocks(text: str, *, start: int = 0, end: int | None = None) -> list[Block]:
    """Return the blocks of `text` between two offsets, in order and without overlap.

    Args:
        text: Any text; one that is not markdown is all prose.
        start: Where to begin: 0, or the start of a line outside of what is hidden.
        end: Where to stop: the length, or the start of such a line; None means the length.
    """
    body = "\n" + text[1:] if start <= len(BYTE_ORDER_MARK) and text.startswith(BYTE_ORDER_MARK) else text
    stop = len(text) if end is None else end
    marks = list(_MARK.finditer(body, start, stop))
    if any(mark.lastgroup in {"fence", "comment"} for mark in marks):
        return list(_hide(body, marks, stop))
    return [_block(mark) for mark in marks]


def parse_entries(text: str, *, start: int = 0, end: int | None = None, timed: bool) -> tuple[Entry, ...]:
    """Return the entries of `text` in order: its list items at column 0, outside of closed fences and comments.

    Args:
        text: A whole document; bytes that were no UTF-8 may stand in it as surrogate escapes.
        start: Where to begin: 0, or the start of a line.
        end: Where to stop: None, or the start of a line.
        timed: Whether a leading `HH:MM ` is the entry's time (daily logs) or part of its text (anywhere else).

    Rules: BUDGET-O5.
    """
    entries: list[Entry] = []
    line, cursor = 1 + text.count("\n", 0, start), start
    for kind, first, last in scan_blocks(text, start=start, end=end):
        if kind != "item":
            continue
        line += text.count("\n", cursor, first)
        cursor = first
        stop = last - 1 if text.startswith("\r\n", last - 1) else last
        time, said = _read_item(text[first + 2 : stop], timed=timed)
        entries.append(Entry(said, time, first, stop, line))
    return tuple(entries)


def render_text(content: str, *, signature: str | None = None) -> str:
    """Return what an entry with this content will say: normalised, and signed at its very end.

    The signature stands on a line of its own only after a fence, which text behind it would keep from closing.

    Args:
        content: Any accepted content.
        signature: `<role> · <heartbeat>` or `<role>`; the dash in front of it is added here.

    Rules: REPORT-07, REPORT-08.
    """
    text = normalise_content(content)
    if not signature:
        return text
    last_line = text[text.rfind("\n") + 1 :]
    return f"{text}\n — {signature}" if _FENCE_ALONE.fullmatch(last_line) else f"{text} — {signature}"


def render_entry(content: str, *, time: str | None = None, signature: str | None = None, newline: str = "\n") -> str:
    r"""Return the list item that says `content`, without a line end after it.

    Reading it back gives `render_text(content, signature=signature)` for every accepted content.

    Args:
        content: Any accepted content.
        time: `HH:MM` for a daily log, None elsewhere.
        signature: `<role> · <heartbeat>` or `<role>`, see `render_text`.
        newline: The line end of the file that receives it, `\n` or `\r\n`.

    Rules: BUDGET-O5, REPORT-07.
    """
    text = render_text(content, signature=signature)
    indented = _LINE_WITH_TEXT.sub("\n  ", text).replace("\n", newline)
    return f"- {time} {indented}" if time else f"- {indented}"


def match_entries(entries: Sequence[Entry], wanted: str) -> tuple[Entry, ...]:
    """Return the entries that are wholly `wanted`, never those that only contain it.

    An entry whose text is exactly `wanted` comes first: only when there is none, `wanted` may also be the entry as the
    file shows it, with `- `, with `HH:MM ` and with its indentation.
    Case counts; white space around the whole doesn't.

    Returns:
        All of them, in order; more than one means that `wanted` is ambiguous.
    """
    text = normalise_content(wanted).strip()
    exact = tuple(entry for entry in entries if _plain(entry.text) == text)
    if exact or not text:
        return exact
    shown = {text, *_unmarked(text), *_unmarked(f"- {text}")}
    return tuple(entry for entry in entries if not shown.isdisjoint(_spellings(entry)))


def _plain(text: str) -> str:
    """Return an entry's text as `match_entries` compares it."""
    return normalise_content(text).strip()


def _spellings(entry: Entry) -> Iterator[str]:
    """Yield what an entry says, without its time and with it."""
    yield _plain(entry.text)
    if entry.time:
        yield f"{entry.time} {_plain(entry.text)}"
        yield f"{entry.time} {normalise_content(entry.text)}"


def _unmarked(text: str) -> Iterator[str]:
    """Yield what `text` says when it is, as a whole, one list item."""
    found = parse_entries(text, timed=False)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)):
        yield _plain(found[0].text)


def _read_item(raw: str, *, timed: bool) -> tuple[str | None, str]:
    """Return time and text of a list item, given without its marker; a time with nothing after it is text."""
    text = _LINE_AND_INDENT.sub("\n", raw) if "\n" in raw else raw
    found = _TIME.match(text) if timed else None
    said = trim_outer(text[found.end() :]) if found else ""
    return (found[1], said) if found and said else (None, trim_outer(text))


def _block(mark: re.Match[str]) -> Block:
    """Return the block of a mark that hides nothing."""
    return Block("item" if mark.lastgroup == "item" else "heading", *mark.span())


def _hide(body: str, marks: Sequence[re.Match[str]], stop: int) -> Iterator[Block]:
    """Yield the blocks of a text that holds fences or comments; `stop` is where the text ends."""
    fence_ends = _find_fence_ends(marks)
    comment_ends = _find_comment_ends(body, marks, stop)
    hidden_until = -1
    for mark in marks:
        if mark.start() < hidden_until:
            continue
        if mark.lastgroup in {"item", "heading"}:
            yield _block(mark)
            continue
        last = (fence_ends if mark.lastgroup == "fence" else comment_ends).get(mark.start())
        if last is not None:
            hidden_until = last
            yield Block("hidden", mark.start(), last)


def _find_fence_ends(marks: Sequence[re.Match[str]]) -> dict[int, int]:
    """Return for the start of every fence that ends, if it opens one, the offset where its last line ends.

    From the back: a stack for each kind of fence holds the closing lines that are longer than all nearer ones, nearest
    last, so each closing line is put on it and taken off it at most once.
    """
    ends: dict[int, int] = {}
    closing: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
    for mark in reversed(marks):
        if mark.lastgroup != "fence":
            continue
        line = mark[0].strip(" \t\r")
        length = len(line) - len(line.lstrip(line[0]))
        stack = closing[line[0]]
        nearest = next((end for longer, end in reversed(stack) if longer >= length), None)
        if nearest is not None:
            ends[mark.start()] = nearest
        if length == len(line):
            while stack and stack[-1][0] <= length:
                stack.pop()
            stack.append((length, mark.end()))
    return ends


def _find_comment_ends(body: str, marks: Sequence[re.Match[str]], stop: int) -> dict[int, int]:
    """Return for the start of every comment that ends the offset where the line of its end ends."""
    arrows = list(_find_arrows(body, marks, stop))
    ends: dict[int, int] = {}
    nearest: int | None = None
    for mark in reversed([mark for mark in marks if mark.lastgroup == "comment"]):
        while arrows and arrows[-1] >= mark.start():
            nearest = arrows.pop()
        if nearest is not None:
            line_end = body.find("\n", nearest, stop)
            ends[mark.start()] = stop if line_end < 0 else line_end
    return ends


def _find_arrows(body: str, marks: Sequence[re.Match[str]], stop: int) -> Iterator[int]:
    """Yield the offsets of `-->` outside of list items, in order."""
    cursor = marks[0].start()
    for first, last in [*(mark.span() for mark in marks if mark.lastgroup == "item"), (stop, stop)]:
        found = body.find("-->", cursor, first)
        while found >= 0:
            yield found
            found = body.find("-->", found + 1, first)
        cursor = last
