"""How much of a question a note has, for the offline model: its words weighed, and which notes come first.

A word weighs 1 where every note at hand has it, and up to 2 where hardly one does; a name weighs half a word more, and an
hour in a question about a time half a word less, because the answer may well be another hour. The share of a note is the
weight of the words that it has of all words; a word that only the heading above has counts half.
"""

# ruff: noqa: RUF001  (letters of other scripts)
from __future__ import annotations

import re
from datetime import date
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

from omnislash.runtime.offline.context import CUT, parse_day
from omnislash.runtime.offline.cues import Kind, find_cues
from omnislash.runtime.offline.passages import split_statement
from omnislash.runtime.offline.words import count_held, find_names, find_subjects, find_terms, fold, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnislash.runtime.offline.context import Note
    from omnislash.runtime.offline.words import Subject

#: Notes that one answer quotes at most.
QUOTED: Final = 3
#: Share of the question from which a note answers it.
_ANSWERS_FROM: Final = 0.5
#: Words that a note has to have that was not found for the question, where the question has as many.
_ANSWERS_WORDS: Final = 2
#: What a further note may have less than the best one.
_BEHIND: Final = 0.2
#: The same where the further note has the amount or time that is asked for, and the best one has not.
_BEHIND_FITTING: Final = 0.5
#: End of the path of the file that people and curators keep in order.
_CURATED: Final = "/MEMORY.md"
#: What a word counts that only the heading above a note has.
_OF_HEADING: Final = 0.5
#: What a name weighs more than another word, and an hour less.
_NAME_GAIN: Final = 0.5
_HOUR_LOSS: Final = 0.5
#: Two shares are the same from here on.
_ALIKE: Final = 1e-9
#: A note of no day at all holds until somebody changes it.
_ALWAYS: Final = date.max

_NUMBER = (
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|half past \w+"
    r"|eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|halb \w+|mittag|mitternacht"
    r"|час|дв[ау]х?|тр[иё]х?|четыр\w+|пят[ьи]|шест[ьи]|сем[ьи]|восем[ьи]|восьми|девят[ьи]|десят[ьи]|одиннадцат[ьи]"
    r"|двенадцат[ьи]|полдень|полудня|полуночи)"
)
#: An hour as one says it, behind the word that makes it one.
_HOUR = re.compile(
    rf"\b(?:at|by|before|after|until|till|from|um|ab|vor|nach|bis|gegen|в|до|после|с|к) {_NUMBER}(?![\w€$%])"
    r"(?! (?:degrees|percent|days?|weeks?|euros?|grad|prozent|tage?n?|wochen?|дн\w+|недел\w+|градус\w*|процент\w*))",
    re.IGNORECASE,
)
#: Questions that an amount answers, and what is one; then the same for times.
_ANSWERS: Final = (
    (
        re.compile(
            r"\b(?:cost|costs|price|how much|pay|rent|fee|сколько|стоит|стоят|цена|аренда|почём|kostet|kosten|preis|miete|wie ?viel)\b",
            re.IGNORECASE,
        ),
        re.compile(r"[€$£₽]|\b[0-9][0-9.,]* ?(?:eur|euros?|rub|руб)", re.IGNORECASE),
    ),
    (
        re.compile(
            r"\b(?:when|until when|what time|what hour|which day|когда|до какого|во сколько|до скольки|с какого|wann"
            rf"|um wie ?viel uhr|wie lange)\b|{_HOUR.pattern}",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b[0-2]?[0-9]:[0-5][0-9]\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b[0-9]{1,2}\.? [^\W\d_]{3,}"
            r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
            r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
            r"|\b(?:понедельник|вторник|сред[уа]|четверг|пятниц|суббот|воскресень|завтра)|\btomorrow\b|\b[0-9]{1,2} uhr\b"
            rf"|{_HOUR.pattern}",
            re.IGNORECASE,
        ),
    ),
)
#: The day on which a sentence of MEMORY.md rests.
_CITED = re.compile(r"\(([0-9]{4}-[0-9]{2}-[0-9]{2})\)\.?$")


class Found(NamedTuple):
    """A stretch of a note, measured against a question."""

    share: float
    #: How many of the question's words it has, those of the heading included.
    words: int
    is_correction: bool
    #: Whether it has the amount or the time that is asked for.
    fits: bool
    day: date
    #: How well the search found it; 0 where none did.
    score: float
    text: str
    path: str


class _Stretch(NamedTuple):
    """A stretch of a note with its stems and those of the heading above it."""

    note: Note
    text: str
    terms: frozenset[str]
    above: frozenset[str]


class Question:
    """A question, by which notes are measured."""

    def __init__(self, message: str, words: Sequence[Subject], at_hand: Iterable[Note]) -> None:
        """Weigh the words of a question.

        Args:
            message: The question.
            words: Its content words.
            at_hand: All notes that are known: they say which words are rare.
        """
        self._words = tuple(words)
        self._wanted = [answers for asks, answers in _ANSWERS if asks.search(message)]
        self._weights = _weigh(self._words, message, list(_split(at_hand)))

    def choose(self, found: Sequence[Note], *, shown: Sequence[Note] = ()) -> list[Found]:
        """Return the stretches that answer, each once, the best first, `QUOTED` at most.

        When a sentence of MEMORY.md is as good as those and newer ones fill the answer, it takes the last place.

        Args:
            found: Notes that a search found: half of the question is enough, and of a question for an amount or a time
                two of its words, or one in a note that has such.
            shown: Notes that stand there anyway: two of the words are needed, or all.
        """
        needed = min(_ANSWERS_WORDS, len(self._words))
        able = [one for one in self.measure(found) if one.words >= _ANSWERS_WORDS or one.fits or not self._wanted]
        able += [
            one
            for one in self.measure(shown)
            if one.words >= needed and (one.words > 1 or one.fits or not self._wanted)
        ]
        best = _drop_repeats(sorted((one for one in able if one.share >= _ANSWERS_FROM), key=_rank))
        near = [one for one in best if _is_near(one, best[0])]
        curated = [one for one in near if one.path.endswith(_CURATED)]
        if len(near) > QUOTED and curated and curated[0] not in near[:QUOTED]:
            return [*near[: QUOTED - 1], curated[0]]
        return near[:QUOTED]

    def find_closest(self, notes: Sequence[Note], most: int) -> list[Found]:
        """Return the stretches that have something of the question, by their words and by what the search thinks."""
        near = [one for one in self.measure(notes) if one.share > 0]
        return _drop_repeats(sorted(near, key=lambda one: -one.share - one.score))[:most]

    def is_held_whole(self, notes: Iterable[Note]) -> bool:
        """Tell whether a note has every word."""
        return any(one.share >= 1 - _ALIKE for one in self.measure(notes))

    def measure(self, notes: Iterable[Note]) -> list[Found]:
        """Return every stretch of the notes with its share of the question, the best first."""
        return sorted((self._measure(stretch) for stretch in _split(notes)), key=_rank)

    def _measure(self, stretch: _Stretch) -> Found:
        held = sum(weight for word, weight in self._pairs() if holds(stretch.terms, word))
        both = stretch.terms | stretch.above
        above = sum(weight for word, weight in self._pairs() if holds(both, word)) - held
        return Found(
            share=(held + _OF_HEADING * above) / sum(self._weights),
            words=count_held(both, self._words),
            is_correction=find_cues(stretch.text).kind is Kind.CORRECTION,
            fits=any(answers.search(_CITED.sub("", stretch.text)) for answers in self._wanted),
            day=_find_day(stretch.note),
            score=stretch.note.score,
            text=stretch.text,
            path=stretch.note.path,
        )

    def _pairs(self) -> Iterator[tuple[Subject, float]]:
        return zip(self._words, self._weights, strict=True)


def _split(notes: Iterable[Note]) -> Iterator[_Stretch]:
    for note in notes:
        above = find_terms(note.heading) if note.heading else frozenset[str]()
        for text in split_statement(note.text.removesuffix(CUT)):
            yield _Stretch(note, text, find_terms(text), above)


def _weigh(words: Sequence[Subject], message: str, stretches: Sequence[_Stretch]) -> list[float]:
    """Return what each word weighs; one that no note has is as rare as one that a single note has."""
    every = len({fold(stretch.text): None for stretch in stretches})
    names = find_names(message)
    hours = {word.text for hour in _HOUR.finditer(message) for word in find_subjects(hour[0])}
    weights = []
    for word in words:
        having = len({fold(stretch.text) for stretch in stretches if holds(stretch.terms, word)})
        rarity = log(every / max(having, 1)) / log(every) if every > 1 else 0.0
        weights.append(1 + rarity + _NAME_GAIN * (word.text in names) - _HOUR_LOSS * (word.text in hours))
    return weights


def _is_near(one: Found, best: Found) -> bool:
    behind = _BEHIND_FITTING if one.fits and not best.fits else _BEHIND
    return one.share >= best.share - behind - _ALIKE


def _drop_repeats(found: Iterable[Found]) -> list[Found]:
    """Return the stretches without those that say a second time what an earlier one says."""
    first: dict[str, Found] = {}
    for one in found:
        first.setdefault(fold(one.text) or one.text, one)
    return list(first.values())


def _find_day(note: Note) -> date:
    """Return the day of a note: the one that it cites, else that of its log or section; one without any always holds."""
    cited = _CITED.search(note.text)
    return (parse_day(cited[1]) if cited else None) or note.day or _ALWAYS


def _rank(one: Found) -> tuple[float, bool, bool, int, float]:
    """Return what orders stretches: more of the question first, then corrections, then what fits, then the newer."""
    return -round(one.share, 6), not one.is_correction, not one.fits, -one.day.toordinal(), -one.score
