"""Curating a line with the offline model: decisions that wait in dated sections are put in order, word for word.

`Curate the line X` reads MEMORY.md of the own line, which has to be X. An entry of a dated section is promoted when its
words say that something was decided, agreed or made a rule, and it fits: a copy, with its day behind it in brackets, goes
to the end of the curated section with which it shares the most words, of equal ones the first. At most three a run, the
oldest first, and only while the file stays within its budget. Then the dated entry is asked to be deleted, which a
person may have to agree to.

It changes and removes nothing else, and judges neither age nor truth. An entry that stands in a curated section already
is neither promoted nor asked about again, so a second run changes nothing.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from omnislash.core.budgets import count_chars
from omnislash.core.entries import parse_entries
from omnislash.core.sections import parse_memory
from omnislash.runtime.offline.cues import Kind, find_cues
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.sentences import Frame
from omnislash.runtime.offline.words import find_terms, fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from omnislash.core.entries import Entry
    from omnislash.core.sections import MemoryDocument, Section
    from omnislash.runtime.offline.requests import OfflineRequest, Script

_CURATE = re.compile(
    r"\bcurate the line [`'\"«](?P<line>[a-z0-9-]+)[`'\"»]|\bpflege die linie [`'\"«„](?P<linie>[a-z0-9-]+)[`'\"»“]"
    r"|\bприведи в порядок линию [`'\"«](?P<other>[a-z0-9-]+)[`'\"»]",
    re.IGNORECASE,
)
#: The line with which a prompt wants the answer to end.
_ENDING = re.compile(r"\b(?:line that begins with|zeile, die mit) `(?P<word>[^`\n]+)`", re.IGNORECASE)
#: Weight of cues from which an entry is a decision beyond doubt.
_DECIDED_FROM: Final = 3.0
#: Entries that are promoted in one run.
_PROMOTED: Final = 3


class _Dated(NamedTuple):
    """An entry of a dated section."""

    on: date
    entry: Entry
    text: str


def is_curator_prompt(message: str) -> bool:
    """Tell whether a prompt asks for a line to be curated."""
    return _CURATE.search(message) is not None


def curate(request: OfflineRequest) -> Script:
    """Promote what was decided, ask for its notes to be retired, and say what was done."""
    found = _CURATE.search(request.message)
    line = next(filter(None, found.groups())).lower() if found else ""
    frame = Frame(request.message)
    for tool in ("memory_overview", "memory_read", "memory_edit"):
        if tool not in request.tools:
            return _end(request, line, frame.say("no_tool", tool=tool))
    overview = yield OfflineCall("memory_overview")
    if overview.get("line") != line:
        return _end(request, line, frame.say("other_line", line=str(overview.get("line"))))
    path = str(overview["path"])
    content = yield OfflineCall("memory_read", {"path": path})
    if "error" in content:
        return _end(request, line, frame.report("memory_read", content))
    return (yield from _promote_all(request, line, path, content))


def _promote_all(request: OfflineRequest, line: str, path: str, content: Mapping[str, Any]) -> Script:
    """Promote what fits, one after another."""
    frame = Frame(request.message)
    document = parse_memory(str(content.get("content", "")))
    room = _find_room(content)
    reports: list[str] = []
    moved = retired = 0
    waiting = _find_waiting(document)
    for dated in waiting[:_PROMOTED]:
        edit = _plan_edit(document, dated, path)
        cost = count_chars(_copy(dated))
        if edit is None or (room is not None and cost > room):
            continue
        answer = yield OfflineCall("memory_edit", edit)
        if answer.get("outcome") != "written":
            reports.append(frame.report("memory_edit", answer))
            continue
        moved += 1
        room = None if room is None else room - cost
        if "memory_delete" in request.tools:
            answer = yield OfflineCall("memory_delete", {"path": path, "entry": dated.entry.text})
            retired += answer.get("outcome") == "written"
            reports.append(frame.report("memory_delete", answer, done="deleted"))
    left = sum(len(_entries(document, section)) for section in document.droppable()) - moved
    counts = frame.say("cared", moved=str(moved), retired=str(retired), left=str(left))
    return _end(request, line, counts, reports)


def _end(request: OfflineRequest, line: str, text: str, reports: Sequence[str] = ()) -> str:
    """Return the answer; its last line begins as the prompt or the role wants it."""
    asked = _ENDING.search(f"{request.message}\n{request.system}")
    return "\n".join([*reports, f"{asked['word']} {line}: {text}" if asked else text])


# -- what is promoted, and where to ----------------------------------------------------------------------------------


def _find_room(content: Mapping[str, Any]) -> int | None:
    """Return how many characters the budget leaves; None when there is none, or the reading is missing."""
    budget = content.get("budget") or {}
    most = budget.get("fileMaxChars")
    return None if most is None else int(most) - int(budget.get("chars", 0))


def _entries(document: MemoryDocument, section: Section) -> tuple[Entry, ...]:
    return parse_entries(document.text, start=section.start, end=section.end, timed=False)


def _find_waiting(document: MemoryDocument) -> list[_Dated]:
    """Return the entries of dated sections that decide something and stand in no curated one, oldest first."""
    curated = [section for section in document.sections if section.on is None]
    said = fold("".join(document.slice(section) for section in curated))
    return [
        _Dated(section.on, entry, " ".join(entry.text.split()))
        for section in document.droppable()
        for entry in _entries(document, section)
        if section.on is not None and _decides(entry.text) and fold(entry.text) not in said
    ]


def _decides(text: str) -> bool:
    cues = find_cues(text)
    return cues.kind is Kind.DECISION and cues.weight >= _DECIDED_FROM


def _plan_edit(document: MemoryDocument, dated: _Dated, path: str) -> Mapping[str, Any] | None:
    """Return the edit that puts a copy at the end of the section it belongs to; None when there is no such place.

    The last line of the section and the heading below it occur together once, so they are what is replaced.
    """
    terms = find_terms(dated.text)
    best: tuple[int, str] | None = None
    for section, below in zip(document.sections, document.sections[1:], strict=False):
        items = _entries(document, section) if section.on is None and section.heading else ()
        old = document.text[items[-1].end : below.start] + document.slice(below).split("\n", 1)[0] if items else ""
        if not old or old.strip() == old or document.text.count(old) != 1:
            continue
        shared = len(terms & find_terms(document.slice(section)))
        if best is None or shared > best[0]:
            best = (shared, old)
    if best is None:
        return None
    return {"path": path, "old": best[1], "new": _copy(dated) + best[1]}


def _copy(dated: _Dated) -> str:
    """Return what a promoted entry adds to the file."""
    return f"\n- {dated.text} ({dated.on.isoformat()})"
