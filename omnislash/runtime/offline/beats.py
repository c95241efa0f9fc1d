"""Prompts of heartbeats that the offline model understands: the entry of the day, and deposits in another line.

Both read the own line's log of the days since yesterday (`since the last working day`: since the weekday before today),
from the window where it shows a day whole, else with `memory_read`.

`Write one entry for the day`: what was noted in these days or today and speaks of today or tomorrow, and what MEMORY.md
has under the date of one of them, word for word, in one entry that begins with today's date. At most as many sentences
as the prompt says; none when nothing speaks of it, or when today has its entry already.

`If something concerns A, B or C, deposit it in the line X`: every entry of the days before today that names one of the
subjects, each as a deposit of its own, word for word. What is noted today is handed on tomorrow, so that nothing is
handed on twice. Entries of the day and deposits of others are not handed on.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.core.lines import LineName, daily_path
from omnislash.runtime.offline.context import read_context, read_notes
from omnislash.runtime.offline.days import mentions
from omnislash.runtime.offline.passages import split_sentences
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.sentences import Frame
from omnislash.runtime.offline.words import count_held, find_subjects, find_terms

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import Any

    from omnislash.runtime.offline.context import Note
    from omnislash.runtime.offline.requests import OfflineRequest, Script
    from omnislash.runtime.offline.words import Subject

_DEPOSIT = re.compile(
    r"\b(?:deposit|hand|hinterlege?|lege?|gib|оставь|передай|положи)\b[^.!?\n]{0,80}?"
    r"\b(?:line|linie|лини[юиея]\w{0,3}) [`'\"«„](?P<line>[a-z0-9-]{1,64})[`'\"»“]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
#: As much of a sentence is read for subjects, in characters.
_SUBJECTS_MAX: Final = 1_000
_PLAN = re.compile(
    r"\bwrite one entry for the day\b[^.!?\n]*|\bschreibe? einen eintrag für den tag\b[^.!?\n]*"
    r"|\bзапиши одну запись на день\b[^.!?\n]*",
    re.IGNORECASE,
)
_WORKING_DAY = re.compile(
    r"\bsince the last (?:working|business) day\b|\bseit dem letzten (?:arbeits|werk)tag\b|с последнего рабочего дня",
    re.IGNORECASE,
)
#: What stands before the list of subjects.
_CONCERNS = re.compile(
    r".*\b(?:concerns?|is about|are about|wenn etwas|falls etwas|касается|относится к|про)\b", re.IGNORECASE
)
#: What German has behind the list.
_CONCERNED = re.compile(r"\s+betrifft\b.*", re.IGNORECASE)
_OR = re.compile(r",|\bor\b|\band\b|\boder\b|\bund\b|\bили\b|\bи\b", re.IGNORECASE)
_AT_MOST: Final = re.compile(
    r"\bat most (?P<count>\w+) sentences?\b|\bhöchstens (?P<anzahl>\w+) sätze?n?\b|не больше (?P<number>\w+) предложени",
    re.IGNORECASE,
)
_NUMBERS: Final = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "einen": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "одного": 1,
    "двух": 2,
    "трёх": 3,
    "трех": 3,
}
#: Sentences of an entry of the day when the prompt does not say.
_SENTENCES: Final = 3
#: The end of a deposit: ` — nova · briefing`.
_SIGNED = re.compile(r" — [a-z0-9:-]+(?: · [a-z0-9:-]+)?$")
_SATURDAY: Final = 5
#: The day on which a sentence of MEMORY.md rests.
_CITED = re.compile(r"\s*\([0-9]{4}-[0-9]{2}-[0-9]{2}\)\.?$")


def is_beat_prompt(message: str) -> bool:
    """Tell whether a prompt asks for something that is done here."""
    return _DEPOSIT.search(message) is not None or _PLAN.search(message) is not None


def follow_prompt(request: OfflineRequest) -> Script:
    """Do what a prompt asks for, in its order, and report what came of it."""
    frame, context = Frame(request.message), read_context(request.context)
    if context.today is None:
        return frame.say("no_day")
    if "memory_write" not in request.tools:
        return frame.say("no_tool", tool="memory_write")
    today = context.today
    first = _find_first_day(request.message, today)
    days = [first + timedelta(days=number) for number in range((today - first).days + 1)]
    notes = yield from _read_days(request, days)
    kept = [note for sheet in context.memory for note in sheet.notes]
    writes = _plan_writes(request.message, notes, kept, today)
    reports = []
    for arguments in writes:
        answer = yield OfflineCall("memory_write", arguments)
        reports.append(frame.report("memory_write", answer))
    return "\n".join(reports) or frame.say("idle")


def _plan_writes(message: str, notes: Sequence[Note], kept: Sequence[Note], today: date) -> list[Mapping[str, Any]]:
    """Return what is to be written, in the order in which the prompt asks for it.

    Args:
        message: The prompt.
        notes: The entries of the days, oldest first.
        kept: What MEMORY.md has.
        today: The day.
    """
    writes: list[tuple[int, Mapping[str, Any]]] = []
    plan = _PLAN.search(message)
    if plan and (entry := _make_entry(notes, kept, today, most=_read_limit(message))):
        writes.append((plan.start(), {"content": entry}))
    for deposit in _DEPOSIT.finditer(message):
        subjects = _find_list(_SENTENCE_END.split(message[: deposit.start()][-_SUBJECTS_MAX:])[-1])
        chosen = [note.text for note in notes if note.day != today and _is_concerned(note, subjects)]
        writes += [(deposit.start(), {"line": deposit["line"], "content": text}) for text in dict.fromkeys(chosen)]
    return [arguments for _, arguments in sorted(writes, key=lambda write: write[0])]


# -- the days --------------------------------------------------------------------------------------------------------


def _find_first_day(message: str, today: date) -> date:
    """Return yesterday, or the last weekday before today when the prompt says so."""
    day = today - timedelta(days=1)
    while _WORKING_DAY.search(message) and day.weekday() >= _SATURDAY:
        day -= timedelta(days=1)
    return day


def _read_days(request: OfflineRequest, days: Sequence[date]) -> Generator[OfflineCall, Mapping[str, Any], list[Note]]:
    """Return what was noted on these days: from the window, and where it does not show a day whole, from its file."""
    context = read_context(request.context)
    line = context.line
    if line is None and "memory_overview" in request.tools:
        line = (yield OfflineCall("memory_overview")).get("line")
    whole = {sheet.path: sheet.notes for sheet in context.days if not sheet.is_partial}
    notes: list[Note] = []
    for day in days if line else ():
        path = str(daily_path(LineName(str(line)), day))
        if path in whole:
            notes += whole[path]
        elif "memory_read" in request.tools:
            answer = yield OfflineCall("memory_read", {"path": path})
            notes += read_notes(str(answer.get("content", "")), path)
    return notes


# -- the entry of the day --------------------------------------------------------------------------------------------


def _is_plan(note: Note) -> bool:
    """Tell whether an entry is the entry of its day."""
    return note.day is not None and note.text.startswith(f"{note.day.isoformat()}: ")


def _make_entry(notes: Sequence[Note], kept: Sequence[Note], today: date, *, most: int) -> str:
    """Return the entry of the day; '' when there is nothing to say, or today has one."""
    if any(_is_plan(note) and note.day == today for note in notes):
        return ""
    chosen: list[str] = []
    sentences = 0
    for note in [*kept, *(note for note in notes if not _is_plan(note))]:
        said_on = date.min if note in kept else note.day or today
        length = len(split_sentences(note.text))
        if note.text not in chosen and _is_due(note, today, said_on) and (not chosen or sentences + length <= most):
            chosen.append(note.text)
            sentences += length
    return f"{today.isoformat()}: {' '.join(chosen)}" if chosen else ""


def _is_due(note: Note, today: date, said_on: date) -> bool:
    """Tell whether a note speaks of today or tomorrow; the day that it cites behind is no such word."""
    text = _CITED.sub("", note.text)
    return any(mentions(text, day, said_on=said_on) for day in (today, today + timedelta(days=1)))


def _read_limit(message: str) -> int:
    found = _AT_MOST.search(message)
    word = next(filter(None, found.groups())).lower() if found else ""
    return int(word) if word.isdecimal() else _NUMBERS.get(word, _SENTENCES)


# -- deposits --------------------------------------------------------------------------------------------------------


def _find_list(what: str) -> list[tuple[Subject, ...]]:
    """Return the subjects of `If something concerns a machine, the booking form or a key,`: each by its words."""
    subjects = (find_subjects(part) for part in _OR.split(_CONCERNED.sub("", _CONCERNS.sub("", what))))
    return [words for words in subjects if words]


def _is_concerned(note: Note, subjects: Sequence[tuple[Subject, ...]]) -> bool:
    """Tell whether an entry names one of the subjects, and is neither the entry of its day nor somebody's deposit."""
    if _is_plan(note) or _SIGNED.search(note.text):
        return False
    terms = find_terms(note.text)
    return any(count_held(terms, words) == len(words) for words in subjects)
