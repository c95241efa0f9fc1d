"""Questions, answered by the offline model from memory: the notes that share the most of the question, word for word.

A note answers when it has at least half of the question's content words, and two of them or all; of a note that recall
or the search found, half is enough. Notes with more of them come first; of equal ones corrections, then those that have
an amount where one is asked for, or a time, then the newer. At most three are quoted, each with its path.

When a note that was recalled for this very message has all of the words, that is the answer. Else `memory_search` is
asked where it is granted, a second time below its floor when only notes below it are near, and what it finds is held
against what the turn shows. When still nothing answers, the file of the best hit is read. Then the closest hits are
quoted as what they are, or it is said that there are none.
"""

# ruff: noqa: RUF001  (letters of other scripts)
from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from omnislash.runtime.offline.context import CUT, parse_day, read_context, read_hit, read_notes
from omnislash.runtime.offline.cues import Kind, find_cues
from omnislash.runtime.offline.passages import split_statement
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.words import count_held, find_subjects, find_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from omnislash.index.stemming import QueryWord
    from omnislash.runtime.offline.context import Note
    from omnislash.runtime.offline.requests import OfflineRequest, Script
    from omnislash.runtime.offline.sentences import Frame

#: Notes that one answer quotes at most.
_QUOTED: Final = 3
#: Notes that are quoted as the closest ones.
_CLOSEST: Final = 2
#: Share of the question's content words from which a note answers it.
_ANSWERS_FROM: Final = 0.5
#: What a further note may have less than the best one.
_BEHIND: Final = 0.2
#: What a word counts that only the heading above a note has.
_OF_HEADING: Final = 0.5
_NO_DAY: Final = date.min
#: Score of the second search: half of the floor of the first one, by default. What it finds is still judged by its words.
_LOWEST: Final = 0.15
#: Questions that an amount answers, and what is one; then the same for times.
_ANSWERS: Final = (
    (
        re.compile(r"\b(?:cost|costs|price|how much|pay|сколько|стоит|стоят|цена|почём|kostet|preis)\b", re.IGNORECASE),
        re.compile(r"[€$£₽]|\b[0-9][0-9.,]* ?(?:eur|euros?|rub|руб)", re.IGNORECASE),
    ),
    (
        re.compile(r"\b(?:when|until when|what time|когда|до какого|во сколько|wann)\b", re.IGNORECASE),
        re.compile(
            r"\b[0-2]?[0-9]:[0-5][0-9]\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b[0-9]{1,2}\.? [^\W\d_]{3,}"
            r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
            r"|\b(?:понедельник|вторник|сред[уа]|четверг|пятниц|суббот|воскресень|завтра)|\btomorrow\b",
            re.IGNORECASE,
        ),
    ),
)
#: The day on which a sentence of MEMORY.md rests.
_CITED = re.compile(r"\(([0-9]{4}-[0-9]{2}-[0-9]{2})\)\.?$")


class _Found(NamedTuple):
    """A stretch of a note, measured against a question."""

    share: float
    is_correction: bool
    #: Whether it has the amount or the time that is asked for.
    fits: bool
    day: date
    text: str
    path: str


def answer_question(request: OfflineRequest, frame: Frame) -> Script:
    """Answer a question; see above."""
    context = read_context(request.context)
    words = find_subjects(request.message, is_asked=True)
    if not words:
        return frame.say("aimless")
    asked = _Asked(request.message, words)
    found = asked.choose(context.recall, shown=context.notes)
    is_enough = any(one.share == 1.0 for one in asked.measure(context.recall))
    if is_enough or (found and "memory_search" not in request.tools):
        return _quote(found, f"{frame.say('sample')} {context.doubt}" if context.doubt else "")
    if "memory_search" not in request.tools:
        return _admit(frame.say("shown_only"), frame, context.doubt)
    return (yield from _search(request, asked, frame))


def _search(request: OfflineRequest, asked: _Asked, frame: Frame) -> Script:
    """Look further, and answer from that and from what the turn shows."""
    context = read_context(request.context)
    answer = yield OfflineCall("memory_search", {"query": request.message})
    if "error" in answer:
        return frame.report("memory_search", answer)
    is_near = bool(answer.get("hits"))
    if not is_near and answer.get("belowFloor", {}).get("count"):
        answer = yield OfflineCall("memory_search", {"query": request.message, "minScore": _LOWEST})
    hits = _read_hits(answer)
    doubt = _find_doubt(answer, frame)
    found = asked.choose([*context.recall, *hits], shown=context.notes)
    if not found and is_near and "memory_read" in request.tools:
        more = yield OfflineCall("memory_read", {"path": hits[0].path})
        found = asked.choose((), shown=read_notes(str(more.get("content", "")), hits[0].path))
    if found:
        return _quote(found, doubt)
    closest = [one for one in asked.measure(hits) if one.share > 0][:_CLOSEST]
    if closest:
        return f"{frame.say('closest')}\n{_quote(closest, doubt)}"
    return "\n".join(filter(None, [frame.say("nothing"), doubt]))


def _admit(text: str, frame: Frame, doubt: str) -> str:
    return f"{text}\n{frame.say('doubt')} {doubt}" if doubt else text


def _find_doubt(answer: Mapping[str, Any], frame: Frame) -> str:
    """Return what a search that could not look everywhere says about itself; '' for a healthy one."""
    coverage = answer.get("coverage", "full")
    if coverage == "full":
        return ""
    reasons = "; ".join(str(reason) for reason in answer.get("reasons", ()))
    return f"{frame.say('sample' if coverage == 'incomplete' else 'doubt')} {reasons}".rstrip()


def _read_hits(answer: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(
        note
        for hit in answer.get("hits", ())
        for note in read_hit(str(hit["snippet"]), str(hit["path"]), hit.get("date"))
    )


class _Asked:
    """A question, by which notes are measured."""

    def __init__(self, question: str, words: Sequence[QueryWord]) -> None:
        self._words = words
        self._wanted = [answers for asks, answers in _ANSWERS if asks.search(question)]

    def choose(self, found: Sequence[Note], *, shown: Sequence[Note] = ()) -> list[_Found]:
        """Return the stretches that answer, the best first.

        Args:
            found: Notes that a search found: half of the words are enough.
            shown: Notes that stand there anyway: two of the words are needed, or all.
        """
        strict = max(_ANSWERS_FROM, min(2, len(self._words)) / len(self._words))
        able = {one.text: one for one in self.measure(found) if one.share >= _ANSWERS_FROM}
        able |= {one.text: one for one in self.measure(shown) if one.share >= strict and one.text not in able}
        best = sorted(able.values(), key=_rank)
        return [one for one in best if one.share >= best[0].share - _BEHIND][:_QUOTED]

    def measure(self, notes: Iterable[Note]) -> list[_Found]:
        """Return every stretch of the notes with its share of the question, the best first."""
        return sorted((one for note in notes for one in self._measure_note(note)), key=_rank)

    def _measure_note(self, note: Note) -> Iterator[_Found]:
        words = self._words
        above = count_held(find_terms(note.heading), words) if note.heading else 0
        for text in split_statement(note.text.removesuffix(CUT)):
            held = count_held(find_terms(text), words)
            both = count_held(find_terms(f"{note.heading} {text}"), words) if above else held
            yield _Found(
                share=(held + _OF_HEADING * (both - held)) / len(words),
                is_correction=find_cues(text).kind is Kind.CORRECTION,
                fits=any(answers.search(_CITED.sub("", text)) for answers in self._wanted),
                day=_find_day(note),
                text=text,
                path=note.path,
            )


def _find_day(note: Note) -> date:
    """Return the day of a note: the one that it cites, else that of its log or section."""
    cited = _CITED.search(note.text)
    return (parse_day(cited[1]) if cited else None) or note.day or _NO_DAY


def _rank(one: _Found) -> tuple[float, bool, bool, int]:
    """Return what orders stretches: more of the question first, then corrections, then what fits, then the newer."""
    return -one.share, not one.is_correction, not one.fits, -one.day.toordinal()


def _quote(found: Sequence[_Found], doubt: str) -> str:
    lines = [f"- {one.text} [{one.path}]" for one in found]
    return "\n".join([*lines, doubt] if doubt else lines)
