"""The gate `evidence`: which hits of a recall bear on the message, and what speaks for and against each of them.

The floor asks whether a note is near; a message about anything is near something. This gate asks for more, and shows a
subset of what the floor let through:

    evidence = meaning + .3 x (meaning - what the message finds elsewhere)
             + .3 x (what the words in common are worth, less one word for what a message leaves unsaid)
             + .3 if the note has a rare name or a rare exact thing of the message
             - .3 x (share of the names and exact things of the message that no note in scope has)

A word is worth the more the rarer it is in scope, by its share of all words of the message and the unsaid one; so words
that occur nowhere count against every note, and of a short message little is known.
The strongest hit needs `recallScore` + .14, and once one hit has it the others need .15 less: the message is about this
brain then. A message without any word of substance ("what do you think?") has no evidence for anything.
A note that no embedder judged needs much of the message's rare words instead, whatever the floor is.

No model is asked; all numbers are those that the search made (`Scored`).

Rules: KNOB-O8, RECALL-O3, SCOPE-O8. Measured with `make bench-injection`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from omnislash.core.scoring import DECIMALS
from omnislash.core.words import split_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnislash.index.lexical import Match
    from omnislash.recall.search import Scored

# -- the constants ---------------------------------------------------------------------------------------------------
#
# Chosen on the even of ten LoCoMo conversations, as turns, as distilled observations and as turns of all five in one brain,
# with the 200 unrelated prompts, and on our own small sets; about 3,000 settings were tried. The odd conversations
# were seen several times on the way, and nothing was changed for them (`make bench-injection`, all-MiniLM-L6-v2, 2026-12-01).
# Beside a constant stands what another value costs on the even ones as turns: the share of floor's evidence that is kept
# (.93), how often something is shown in the wrong brain (.06; .08 as observations), or how much of floor's evidence is
# kept of questions that share no word with their note (.58). Where needed the margin was moved so that the rest stays.

#: What each of the parts weighs: one number for all. Without the second part .33 instead of .58 is kept of questions
#: without a shared word; without the words in common .83 instead of .91; without the names that no note has the wrong
#: brain shows something with .155 (observations .20) of the questions instead of .056 (.084). The rare names gain .008
#: there; they are in for messages that are nothing but a name or an identifier.
WEIGHT = 0.3
#: What evidence needs above the floor: .13 keeps .02 more, and shows something with .03 instead of .02 of the unrelated
#: prompts in the pooled turns; .15 keeps .013 less.
MARGIN = 0.14
#: What the other hits need less, once one has enough: 0 keeps .79, .10 .91, .20 .93, with the same firing.
COMPANION = 0.15
#: How many words that nothing is known of a message is taken to have besides its own: with .5 a quarter less is kept of
#: questions without a shared word, with 2 the wrong brain of observations shows something with .106. Not counting it
#: against the note doubles the small talk that is answered (.125 instead of .050 in the pooled turns).
UNSAID_WORDS = 1.0
#: Notes without any of the words that a brain is taken to have besides its own: in one note every word is rare. Between 0
#: and 100 no figure of the brains of 30 notes and more moves by .01.
UNSEEN_NOTES = 20
#: What a message finds in notes that have nothing to do with it, and how many such notes a brain is taken to have.
#: Source: medians over the brains of the bench, .15 to .35 on the common scale.
UNRELATED, UNRELATED_NOTES = 0.2, 10
#: A name or an exact thing is rare when no more notes of the scope have it: as for those named under a floor.
RARE_NOTES = 5
#: What a note without a meaning needs of the message's words: two rare ones of three, or a very rare one that is the
#: whole message. By reckoning, not by measurement.
WORDS_NEEDED = 0.4

#: Behind these a capital letter begins a sentence and marks no name.
_BEFORE_SENTENCE = re.compile(r"(?:^|[.!?:;\u2026\u3002\n])[\s\"'\u00ab\u201c\u201e(\[*#>-]*\Z")
#: Characters before a word that are looked at for the end of a sentence.
_LOOKED_BACK = 8
#: Words that a description names at most of one kind.
_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for one hit, and how much was needed."""

    #: Comparable with `needed`, and with nothing else.
    value: float
    needed: float
    #: Calibrated cosine; None where no embedder judged the note.
    meaning: float | None
    #: What the message finds elsewhere in the scope: the median meaning.
    elsewhere: float
    #: Words of substance of the message that the note has.
    shared: tuple[str, ...]
    #: Those of them that are names or exact things, and rare.
    exact: tuple[str, ...]
    #: Names and exact things of the message that no note in scope has.
    unknown: tuple[str, ...]
    #: Whether the message has a word of substance at all.
    has_substance: bool

    @property
    def is_enough(self) -> bool:
        """Whether the note is shown."""
        return self.has_substance and self.value >= self.needed

    def describe(self) -> str:
        """Return in one sentence which evidence there was, and which was missing."""
        if not self.has_substance:
            return "The message has no word of substance, so nothing can speak for a note."
        parts = ", ".join(self._parts())
        return (
            f"Evidence {self.value:.2f}, {'enough' if self.is_enough else 'too little'} for {self.needed:.2f}: {parts}."
        )

    def _parts(self) -> Iterator[str]:
        if self.meaning is None:
            yield "no meaning to go by"
        else:
            yield f"meaning {self.meaning:.2f} against {self.elsewhere:.2f} elsewhere"
        yield f"has {_join(self.shared)} of the message" if self.shared else "has no word of substance of the message"
        if self.exact:
            yield f"{_join(self.exact)} is exact and rare"
        if self.unknown:
            yield f"no note has {_join(self.unknown)}"


def _join(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return " and ".join(f"'{word}'" for word in words[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def weigh_hits(scored: Scored, notes: Sequence[int]) -> dict[int, Evidence]:
    """Return the evidence for each hit of a search.

    Args:
        scored: What the search made of every note.
        notes: Numbers of the hits in the snapshot.
    """
    scale = _Scale(scored, notes)
    weighed = {note: scale.weigh(place, note) for place, note in enumerate(notes)}
    if any(each.is_enough and each.meaning is not None for each in weighed.values()):
        return {note: _accompany(each) for note, each in weighed.items()}
    return weighed


def _accompany(evidence: Evidence) -> Evidence:
    """Return what a hit needs beside one that has enough; without a meaning it needs as much as before."""
    return evidence if evidence.meaning is None else replace(evidence, needed=evidence.needed - COMPANION)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of substance of the message."""

    text: str
    #: The rarer in scope, the more.
    worth: float
    #: Notes in scope that have it.
    holders: int
    #: Whether it is a name or stands for something exact.
    is_strong: bool
    #: For each hit whether it has the word.
    stands_in: tuple[bool, ...]


class _Scale:
    """What is the same for all hits of one message."""

    def __init__(self, scored: Scored, notes: Sequence[int]) -> None:
        self._scored, self._notes = scored, np.array(notes, np.int64)
        self._total = int(np.count_nonzero(scored.allowed)) + UNSEEN_NOTES
        names = find_names(scored.query.text)
        self._words = [self._read(match, names) for match in scored.matches if not match.word.is_stop]
        self._unsaid = UNSAID_WORDS * self._worth_of(0)
        self._whole = sum(word.worth for word in self._words) + self._unsaid
        strong = [word for word in self._words if word.is_strong]
        unknown = [word for word in strong if not word.holders]
        self._unknown = tuple(word.text for word in unknown)
        self._unknown_share = sum(word.worth for word in unknown) / max(sum(word.worth for word in strong), 1e-9)
        self._has_substance = any(not word.is_stop for word in scored.query.words)
        self._elsewhere: dict[int, float] = {}

    def _worth_of(self, holders: int) -> float:
        return math.log(1 + (self._total - holders + 0.5) / (holders + 0.5))

    def _read(self, match: Match, names: frozenset[str]) -> _Word:
        word, holders = match.word, int(np.count_nonzero(self._scored.allowed[match.notes]))
        is_strong = word.is_literal or word.text in names
        return _Word(word.text, self._worth_of(holders), holders, is_strong, self._find_in_hits(match.notes))

    def _find_in_hits(self, holders: NDArray[np.int64]) -> tuple[bool, ...]:
        """Tell for each hit whether it is among some notes, which lie in order."""
        if not len(holders):
            return (False,) * len(self._notes)
        places = np.minimum(np.searchsorted(holders, self._notes), len(holders) - 1)
        return tuple((holders[places] == self._notes).tolist())

    def weigh(self, place: int, note: int) -> Evidence:
        scored = self._scored
        shared = [word for word in self._words if word.stands_in[place]]
        exact = [word for word in shared if word.is_strong and word.holders <= RARE_NOTES]
        worth = sum(word.worth for word in shared)
        strong = WEIGHT * (bool(exact) - self._unknown_share)
        is_judged = bool(scored.meaning.judged[note])
        meaning, elsewhere = float(scored.meaning.scaled[note]), self._find_elsewhere(note)
        value = worth / self._whole
        if is_judged:
            value = meaning + WEIGHT * (meaning - elsewhere) + WEIGHT * (worth - self._unsaid) / self._whole
        return Evidence(
            value=round(value + strong, DECIMALS),
            needed=round(scored.request.floor + MARGIN, DECIMALS) if is_judged else WORDS_NEEDED,
            meaning=meaning if is_judged else None,
            elsewhere=elsewhere,
            shared=tuple(word.text for word in shared),
            exact=tuple(word.text for word in exact),
            unknown=self._unknown,
            has_substance=self._has_substance,
        )

    def _find_elsewhere(self, note: int) -> float:
        """Return what the message finds in the notes that the same embedder read, drawn to what it finds anywhere."""
        models = self._scored.snapshot.notes["model"]
        model = int(models[note])
        if model not in self._elsewhere:
            meaning = self._scored.meaning
            inside = self._scored.allowed & meaning.judged & (models == model)
            self._elsewhere[model] = _find_middle(meaning.scaled[inside])
        return self._elsewhere[model]


def _find_middle(meanings: NDArray[np.float64]) -> float:
    count = len(meanings)
    middle = float(np.median(meanings)) if count else 0.0
    return (count * middle + UNRELATED_NOTES * UNRELATED) / (count + UNRELATED_NOTES)


def find_names(text: str) -> frozenset[str]:
    """Return the words of a message, folded, that begin with a capital letter inside of a sentence.

    In German these are the nouns, and count as names too. A message in capitals throughout has none.
    """
    if text in {text.lower(), text.upper()}:
        return frozenset()
    return frozenset(
        token.text for token in split_words(text) if text[token.start].isupper() and not _begins(text, token.start)
    )


def _begins(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOKED_BACK) : start]
    return _BEFORE_SENTENCE.search(before if start > _LOOKED_BACK else f"\n{before}") is not None
