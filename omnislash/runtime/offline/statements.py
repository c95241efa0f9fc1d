"""Passages weighed: which of them a summary should rather keep, and what one of them makes of another.

Rules: PERIOD-18.
"""

# ruff: noqa: RUF001  (letters of other scripts)
from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from heapq import nsmallest
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.index.stop_words import get_stop_words
from omnislash.runtime.offline.cues import Kind, find_cues

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omnislash.runtime.offline.cues import Cues
    from omnislash.runtime.offline.passages import Passage

#: Words of so many letters and more are matters; shorter ones are mostly articles and the like.
_MATTER_FROM: Final = 4
#: Two words with the same first letters are one matter: a crude stem that serves any language with endings.
_STEM: Final = 6
#: A matter that occurs in more than this share of all passages, and in more than so many, is only language.
_COMMON_SHARE: Final = 0.12
_COMMON_FROM: Final = 8
#: So many shared matters, and such a share of the fewer ones, tie a statement to an earlier one that it settles or
#: corrects. With fewer, every delivery would settle every order.
_TIED_BY: Final = 2
_TIED_SHARE: Final = 0.2
#: So many of the latest statements about a matter are looked at; what is older has been overtaken.
_TIES_IN: Final = 12
#: What a statement loses when a later one settles it, and when a later one corrects it.
_SETTLED_LOSS: Final = 2.0
_CORRECTED_LOSS: Final = 4.0
#: What a number, a day, an amount or an identifier adds, and what all of them add at most.
_FIGURE_GAIN: Final = 0.25
_FIGURES_MOST: Final = 1.0
#: What a matter that other days know as well adds at most, by the share of such matters.
_THREAD_GAIN: Final = 1.0
#: What a statement gains that was written on several days, for each day after the first, and at most.
_RECURRENCE_GAIN: Final = 1.0
_RECURRENCE_MOST: Final = 3.0
#: What an open matter and a promise gain from the first statement to the last: late ones are open still.
_LATENESS_GAIN: Final = 1.0
#: Languages whose stop words are no matters. More of them would take topics away from each other.
_LANGUAGES: Final = ("english", "german", "russian")
#: A statement of this length, in UTF-16 units, costs half of its weight; a short one of like weight is taken first.
_HALVING_CHARS: Final = 600
#: Share of words, in their order, by which two statements of the same figures and names are one, said twice.
_SAME_FROM: Final = 0.9
#: Statements are held against one another for likeness that share one of so many rarest words of theirs, and of these
#: so many of the latest.
_KEYS: Final = 3
#: Statements that differ in more matters than this are not compared word by word: in 280 characters one tenth is less.
_APART_MOST: Final = 8
_COMPARED_MOST: Final = 8

_WORD: Final = re.compile(r"[0-9]++(?:[-.,:/][0-9]++)*+|[^\W_]++")
#: Letters of languages that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_FIGURE: Final = re.compile(r"[0-9]")
_SPECIFIC: Final = re.compile(r"\S*[0-9€$£%]\S*|(?<=[\w,;] )[A-ZÄÖÜА-ЯЁ]\w*")
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|\w+n['’]t|kein\w*|nicht|nie|nichts|ohne"
    r"|не|нет|никогда|ничего|без)\b|[不没沒无無]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A passage with its weight."""

    #: What it says, word for word.
    text: str
    #: What it is.
    kind: Kind
    #: How much speaks for it before anything else is on the page.
    weight: float
    #: Its place in time: the how-manieth passage of all sources it is.
    order: int
    #: Which source it is from.
    source: int
    #: Which entry it is part of.
    entry: int
    #: The days or the period on which it rests, oldest first.
    cites: tuple[str, ...]
    #: Its matters.
    terms: frozenset[str]

    def follows(self, other: Statement) -> bool:
        """Tell whether it is the next part of the same entry."""
        return self.entry == other.entry and self.order == other.order + 1 and self.cites == other.cites

    def cut_to(self, text: str, cites: tuple[str, ...]) -> Statement:
        """Return it with less of its text."""
        return replace(self, text=text, cites=cites)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A passage with what is known of it before it is weighed."""

    #: Its place among all passages.
    at: int
    #: The passage.
    passage: Passage
    #: What its words say.
    cues: Cues
    #: Its matters, without those that are common here.
    matters: frozenset[str]
    #: Its days, and those of the passages that say the same.
    cites: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """Return what the heading above it says it is, else what its words say."""
        return self.passage.heading or self.cues.kind

    @property
    def recurs(self) -> int:
        """Return on how many days more than its own it was said."""
        return len(self.cites) - len(self.passage.cites)


def weigh_statements(passages: Sequence[Passage]) -> list[Statement]:
    """Return what the passages say, each once, in their order, weighed."""
    words = [_find_matters(passage.text) for passage in passages]
    common = _find_common(words)
    readings = {
        at: _Reading(at, passages[at], find_cues(passages[at].text), words[at] - common, cites)
        for at, cites in _drop_repeats(passages, words).items()
    }
    spread = _spread(passages, words)
    losses = _find_losses(readings)
    return [
        _weigh(reading, spread=spread, loss=losses.get(at), lateness=at / len(passages))
        for at, reading in readings.items()
    ]


def _weigh(reading: _Reading, *, spread: Counter[str], loss: float | None, lateness: float) -> Statement:
    """Return a passage as a statement; `loss` is what it loses to a later one, None when there is no such one."""
    passage = reading.passage
    gain = reading.cues.weight + _gain_from_matters(reading.matters, spread)
    gain += min(_RECURRENCE_GAIN * reading.recurs, _RECURRENCE_MOST)
    if reading.kind in {Kind.OPEN, Kind.COMMITMENT}:
        gain += _LATENESS_GAIN * lateness
    return Statement(
        text=passage.text,
        kind=_name(reading, is_over=loss is not None),
        weight=gain / (1 + count_chars(passage.text) / _HALVING_CHARS) - (loss or 0.0),
        order=reading.at,
        source=passage.source,
        entry=passage.statement,
        cites=reading.cites,
        terms=reading.matters,
    )


def _name(reading: _Reading, *, is_over: bool) -> Kind:
    """Return the kind of a statement on the page: what is over is no matter any more, what recurs is a repetition."""
    if is_over:
        return Kind.ALSO
    return Kind.REPEAT if reading.recurs and reading.kind is Kind.ALSO else reading.kind


def _gain_from_matters(matters: frozenset[str], spread: Counter[str]) -> float:
    """Return what the figures of a statement add to its weight, and the matters that other sources know as well."""
    figures = sum(1 for term in matters if _FIGURE.search(term))
    shared = sum(1 for term in matters if spread[term] > 1)
    return min(_FIGURE_GAIN * figures, _FIGURES_MOST) + (_THREAD_GAIN * shared / len(matters) if matters else 0.0)


@cache
def _load_stop_words() -> frozenset[str]:
    return frozenset().union(*(get_stop_words(language) for language in _LANGUAGES))


def _find_matters(text: str) -> frozenset[str]:
    """Return the matters of a passage: its longer words by their beginnings, its figures, pairs of unspaced letters.

    `core.words` splits more exactly, in five times the time, and this is no search: half of a matter links as well.
    """
    stop_words = _load_stop_words()
    matters: set[str] = set()
    for word in _WORD.findall(text.casefold().replace("ё", "е")):
        if word[0].isdigit():
            matters.add(word)
        elif _UNSPACED.match(word):
            matters.update(first + second for first, second in pairwise(word))
        elif len(word) >= _MATTER_FROM and word not in stop_words:
            matters.add(word[:_STEM])
    return frozenset(matters)


def _spread(passages: Sequence[Passage], words: Sequence[frozenset[str]]) -> Counter[str]:
    """Return in how many sources each matter occurs."""
    sources: dict[int, set[str]] = defaultdict(set)
    for passage, terms in zip(passages, words, strict=True):
        sources[passage.source] |= terms
    return Counter(term for terms in sources.values() for term in terms)


def _find_common(words: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the words that say nothing here because so many passages have them."""
    counts = Counter(term for terms in words for term in terms)
    most = max(_COMMON_FROM, _COMMON_SHARE * len(words))
    return frozenset(term for term, count in counts.items() if count > most)


# -- one statement and another -----------------------------------------------------------------------------------


def _drop_repeats(passages: Sequence[Passage], words: Sequence[frozenset[str]]) -> dict[int, tuple[str, ...]]:
    """Return which passages to keep, with all the days that those say which are the same.

    Two passages are the same when they have the same words in the same order, or nearly so and then the same figures, the
    same names and the same negations: "paid" and "not paid" are two.
    """
    kept: dict[int, list[str]] = {}
    exact: dict[str, int] = {}
    by_word: dict[str, list[int]] = defaultdict(list)
    counts = Counter(term for terms in words for term in terms)
    specifics = [_specifics(passage.text) for passage in passages]
    for at, passage in enumerate(passages):
        folded = _fold(passage.text)
        rarest = nsmallest(_KEYS, words[at], key=lambda term: (counts[term], term))
        first = exact.get(folded)
        if first is None:
            near = {other for term in rarest for other in by_word[term][-_COMPARED_MOST:]}
            alike = (other for other in sorted(near) if specifics[at] == specifics[other])
            close = (other for other in alike if len(words[at] ^ words[other]) <= _APART_MOST)
            first = next((other for other in close if _is_same(passage.text, passages[other].text)), None)
        if first is None:
            exact[folded] = at
            for term in rarest:
                by_word[term].append(at)
            kept[at] = list(passage.cites)
        else:
            kept[first] += [day for day in passage.cites if day not in kept[first]]
    return {at: tuple(sorted(cites)) for at, cites in kept.items()}


def _fold(text: str) -> str:
    """Return a text as it is compared: its letters and digits, small."""
    return "".join(char for char in text.casefold() if char.isalnum()) or text


def _is_same(text: str, other: str) -> bool:
    """Tell whether two passages say the same in nearly the same words."""
    pair = SequenceMatcher(None, _WORD.findall(text.casefold()), _WORD.findall(other.casefold()), autojunk=False)
    return pair.quick_ratio() >= _SAME_FROM and pair.ratio() >= _SAME_FROM


def _specifics(text: str) -> tuple[frozenset[str], int]:
    """Return the figures and names of a text, and how many negations it has."""
    found: Iterable[str] = _SPECIFIC.findall(text)
    return frozenset(word.strip(".,;:!?()").casefold() for word in found), len(_NEGATION.findall(text))


def _find_losses(readings: Mapping[int, _Reading]) -> dict[int, float]:
    """Return what statements lose because a later one settles or corrects them."""
    earlier: dict[str, list[_Reading]] = defaultdict(list)
    losses: dict[int, float] = {}
    for reading in readings.values():
        corrects = reading.kind is Kind.CORRECTION
        if corrects or reading.cues.closes or reading.kind is Kind.DECISION:
            tied = _find_tied(reading, earlier)
            if corrects and tied:
                losses[tied[0].at] = _CORRECTED_LOSS
            for other in tied:
                if other.kind is Kind.OPEN:
                    losses.setdefault(other.at, _SETTLED_LOSS)
        for term in reading.matters:
            earlier[term].append(reading)
    return losses


def _find_tied(reading: _Reading, earlier: Mapping[str, Sequence[_Reading]]) -> list[_Reading]:
    """Return the earlier statements about the same matters, the closest first, of equally close ones the latest."""
    shared: Counter[int] = Counter()
    known: dict[int, _Reading] = {}
    for term in reading.matters:
        for other in earlier.get(term, ())[-_TIES_IN:]:
            if other.cites[-1:] <= reading.cites[-1:]:
                shared[other.at] += 1
                known[other.at] = other
    tied = [
        (count, at)
        for at, count in shared.items()
        if count >= max(_TIED_BY, _TIED_SHARE * min(len(reading.matters), len(known[at].matters)))
    ]
    return [known[at] for _, at in sorted(tied, reverse=True)]
