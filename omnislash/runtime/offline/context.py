r"""The blocks of a turn, read back: what stands in MEMORY.md, the window, the ladder and the recall, item by item.

A block is text that the engine rendered, with the escapes of `core.escaping`; they are taken back, so that a note reads
as its file has it and is the same note wherever it was found. What was shown as U+FFFD stays so.
Blocks that were withdrawn hold nothing, and of two copies under one path the later one counts (ENVELOPE-05).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from omnislash.core.escaping import escape_note

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(r"<(?P<name>agent-[a-z-]+)(?P<attributes>[^>\n]*)>\n?(?P<text>.*?)\n?</(?P=name)>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(path|line)="([^"]*)"')
_LABEL = re.compile(r"\[(?P<path>[^\[\]\n]+\.md)\](?P<rest>[^\n]*)")
_HEADING = re.compile(r"[ ]{0,3}\\?#{1,6}[ \t]+(?P<text>.*)")
_ITEM = re.compile(r"[-*+] (?:(?P<time>(?:[01][0-9]|2[0-3]):[0-5][0-9]) (?=\S))?(?P<text>.*)")
_NOTICE = re.compile(r"\(.*\)|[0-9]+ of [0-9]+ fileMaxChars.*|[0-9]+ chars\b.*")
_RECALL = re.compile(r"^### Memory recall(?P<state> — NOT CHECKED)?$", re.MULTILINE)
_HIT = re.compile(r"- \[(?P<path>[^\[\]\n:]+):(?P<span>[0-9-]+)(?: · (?P<day>[0-9-]{10}))?\] (?P<text>.*)")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: First words of the withdrawal's text (ENVELOPE-08, ENVELOPE-09).
_WITHDRAWN: Final = "(this "
_ESCAPE = re.compile(r"&lt;\\?|^\\(?=[#=-])|\\(?=\[/?INST\])", re.MULTILINE)
#: Characters behind an escape that decide whether it is one; the escapes look no further but past what nobody sees.
_AHEAD: Final = 80
#: What stands in place of the rest of a note in the recall.
CUT: Final = " …"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One list item or paragraph, on one line, word for word."""

    text: str
    #: Path of its file, as the tools take it.
    path: str
    #: The day that it belongs to: of its log, of its dated section, or of its hit.
    day: date | None = None
    #: `HH:MM` of an entry of a daily log.
    time: str | None = None
    #: Heading that it stands under; '' for none.
    heading: str = ""
    #: How well the search found it, 0 to 1; 0 where none did.
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file as a block shows it."""

    path: str
    notes: tuple[Note, ...]
    #: True when the block says that more of the file exists.
    is_partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a turn was shown."""

    #: Today; None when no block says.
    today: date | None
    #: The line of the text that says what day it is.
    today_text: str
    #: The line that the blocks are of; None when none is shown.
    line: str | None
    memory: tuple[Sheet, ...]
    days: tuple[Sheet, ...]
    periods: tuple[Sheet, ...]
    recall: tuple[Note, ...]
    #: What the recall says about itself when it could not look properly, word for word; '' when it could.
    doubt: str

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return all that is shown: the recall first, because it was found for this message."""
        sheets = (*self.memory, *self.days, *self.periods)
        return (*self.recall, *(note for sheet in sheets for note in sheet.notes))


def read_context(text: str) -> Context:
    """Return what the blocks and the recall of a turn show."""
    blocks = {(found["name"], found["attributes"]): found["text"] for found in _BLOCK.finditer(text)}
    shown = {key: body for key, body in blocks.items() if not body.lstrip().startswith(_WITHDRAWN)}
    environment = "\n".join(body for (name, _), body in shown.items() if name == "agent-environment")
    day = _DAY.search(environment)
    hits, doubt = _read_recall(_BLOCK.sub("\n", text))
    return Context(
        today=parse_day(day[0]) if day else None,
        today_text=next((line.strip() for line in environment.split("\n") if _DAY.search(line)), ""),
        line=_find_line(shown),
        memory=tuple(_read_memory(shown)),
        days=tuple(_read_labelled(shown, "agent-memory-daily")),
        periods=tuple(_read_labelled(shown, "agent-memory-periods")),
        recall=hits,
        doubt=doubt,
    )


def read_notes(text: str, path: str) -> tuple[Note, ...]:
    """Return the list items and paragraphs of a file, or of what a block shows of it."""
    on = parse_day(path.rpartition("/")[2].removesuffix(".md"))
    notes: list[Note] = []
    heading, day = "", on
    for kind, time, said in _walk(text):
        if kind == "heading":
            found = _DAY.search(said)
            heading, day = said, parse_day(found[0]) if found else on
        elif said and not _NOTICE.fullmatch(said):
            notes.append(Note(text=unescape(said), path=path, day=day, time=time, heading=heading))
    return tuple(notes)


def unescape(text: str) -> str:
    """Return a note's text without the escapes of a block: an escape is what the engine would make again of the rest."""
    return _ESCAPE.sub(lambda found: _take_back(found, text), text)


def _take_back(found: re.Match[str], text: str) -> str:
    mark = "<" if found[0].startswith("&") else ""
    rest = mark + text[found.end() : found.end() + _AHEAD]
    return mark if escape_note(rest).startswith(found[0]) else found[0]


def _walk(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield headings, items and paragraphs in order: what each is, its time, and its text on one line."""
    time: str | None = None
    said: list[str] = []
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        if heading or item or not line.strip():
            if said:
                yield "note", time, " ".join(said)
            time, said = (item["time"], [item["text"].strip()]) if item else (None, [])
            if heading:
                yield "heading", None, heading["text"].strip()
        else:
            said.append(line.strip())


def parse_day(text: str) -> date | None:
    """Return the day that `YYYY-MM-DD` names; None for any other text."""
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _find_line(blocks: dict[tuple[str, str], str]) -> str | None:
    """Return the line that the blocks name."""
    named = [_ATTRIBUTE.search(attributes) for _, attributes in blocks]
    return next((found[2].partition("/")[0] for found in named if found), None)


def _read_memory(blocks: dict[tuple[str, str], str]) -> Iterator[Sheet]:
    for (name, attributes), body in blocks.items():
        found = _ATTRIBUTE.search(attributes)
        if name == "agent-memory" and found:
            is_partial = "partial" in body.partition("\n")[0] or "in part" in body
            yield Sheet(found[2], read_notes(body, found[2]), is_partial)


def _read_labelled(blocks: dict[tuple[str, str], str], wanted: str) -> Iterator[Sheet]:
    """Yield the files of a block that has a label above each."""
    for (name, _), body in blocks.items():
        label: re.Match[str] | None = None
        lines: list[str] = []
        for line in body.split("\n") if name == wanted else ():
            found = _LABEL.fullmatch(line)
            if not found:
                lines.append(line)
                continue
            if label:
                yield _sheet(label, lines)
            label, lines = found, []
        if label:
            yield _sheet(label, lines)


def _sheet(label: re.Match[str], lines: list[str]) -> Sheet:
    return Sheet(label["path"], read_notes("\n".join(lines), label["path"]), "in part" in label["rest"])


def _read_recall(text: str) -> tuple[tuple[Note, ...], str]:
    """Return the hits of the recall, and what it says about itself."""
    found = _RECALL.search(text)
    if not found:
        return (), ""
    lines = text[found.end() :].strip("\n").split("\n")
    if found["state"]:
        return (), lines[0]
    hits: list[tuple[re.Match[str], list[str]]] = []
    doubt = ""
    for line in lines:
        hit = _HIT.fullmatch(line)
        if hit:
            hits.append((hit, [hit["text"]]))
        elif line.startswith("  ") and hits:
            hits[-1][1].append(line.removeprefix("  "))
        elif line.startswith("_INCOMPLETE"):
            doubt = line.strip("_")
    return tuple(note for hit, said in hits for note in read_hit("\n".join(said), hit["path"], hit["day"])), doubt


def read_hit(snippet: str, path: str, day: str | None, *, score: float = 0.0) -> tuple[Note, ...]:
    """Return the notes of a hit; `day` is that of the hit, where its path has none."""
    on = parse_day(day) if day else None
    return tuple(replace(note, day=note.day or on, score=score) for note in read_notes(snippet, path))
