"""Scoring every note of a scope at once, and the order among them: arrays in, arrays out.

All numbers come from the notes in scope and from no others: a word is as rare as it is there, so that what a role may
not see changes neither hits nor order nor counts.

Rules: RECALL-01, RECALL-04, RECALL-15, RECALL-O1 to RECALL-O4, SCOPE-O8; architecture.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnislash.core import scoring
from omnislash.index.scanning import SOURCE_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnislash.index.lexical import Match
    from omnislash.index.snapshot import Snapshot

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the word leg says of each note of the snapshot; notes out of scope have 0 everywhere."""

    #: Share of the message's distinct words, in [0, 1].
    share: Floats
    #: How many content words, those that are no stop words, the note has.
    found: Floats
    #: How many content words the message has.
    content_words: int
    #: Share of the content words by what they are worth: the rarer in scope, the more (idf).
    coverage: Floats
    #: The same by how often each word stands there, and with the words of the notes around it in the same daily log,
    #: which count less the farther they are; in [0, 1.2].
    near_coverage: Floats

    @property
    def content_share(self) -> Floats:
        """Share of the message's content words, in [0, 1]."""
        return self.found / max(self.content_words, 1)


def score_words(matches: Sequence[Match], snapshot: Snapshot, allowed: Mask) -> WordScores:
    """Return what the words say of each note; notes out of scope count for nothing.

    Source: idf as in Robertson & Spärck Jones with +1, so that a word that stands everywhere is worth little, not less
    than nothing.
    """
    size, total = len(allowed), int(np.count_nonzero(allowed))
    share, found, worth, near = (np.zeros(size) for _ in range(4))
    content_words, all_worth = 0, 0.0
    around = Surroundings(snapshot)
    relative_lengths = _relative_lengths(snapshot, allowed)
    for match in matches:
        inside = allowed[match.notes]
        notes = match.notes[inside]
        share[notes] += 1
        if match.word.is_stop:
            continue
        idf = float(np.log(1 + (total - len(notes) + 0.5) / (len(notes) + 0.5)))
        content_words, all_worth = content_words + 1, all_worth + idf
        found[notes] += 1
        worth[notes] += idf
        near += idf * around.spread(notes, scoring.saturate(match.counts[inside], relative_lengths[notes]))
    whole = all_worth or 1.0
    near[~allowed] = 0
    return WordScores(share / max(len(matches), 1), found, content_words, worth / whole, near / whole)


def _relative_lengths(snapshot: Snapshot, allowed: Mask) -> Floats:
    """Return the length of each note by the mean of the scope."""
    lengths = np.maximum(snapshot.notes["length"], 1).astype(np.float64)
    relative: Floats = lengths / (float(lengths[allowed].mean()) if allowed.any() else 1.0)
    return relative


class Surroundings:
    """Which notes stand near each other: those of one daily log, in its order."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Take the daily logs from the snapshot."""
        self._log = snapshot.log_of

    def spread(self, notes: NDArray[np.int64], own: Floats) -> Floats:
        """Return what a word counts for each note: its own count where it has it, less with each step around it.

        Args:
            notes: Those that have the word.
            own: What it counts in each.
        """
        size = len(self._log)
        best = np.zeros(size)
        for step in range(scoring.NEAR_NOTES, 0, -1):
            for shifted in (notes - step, notes + step):
                inside = (shifted >= 0) & (shifted < size)
                there, here = shifted[inside], notes[inside]
                best[there[self._log[there] == self._log[here]]] = scoring.NEAR_SHARE**step
        best[notes] = np.maximum(best[notes], own)
        return best


def decay_of(snapshot: Snapshot, today: int) -> Floats:
    """Return the recency of each note, 1 for all that does not age (RECALL-15, SOURCE-19).

    A daily log loses half of it in `HALF_LIFE_DAYS`, a summary in as many times that as its period has days, from the
    last day of the period on: a fresh week is like a fresh day, then fades seven times more slowly.

    Args:
        snapshot: The notes.
        today: Ordinal of today.

    Rules: PERIOD-42, PERIOD-O10.
    """
    known = snapshot.remembered
    if ("recency", today) not in known:
        known["recency", today] = _work_out_recency(snapshot, today)
    return known["recency", today]


def _work_out_recency(snapshot: Snapshot, today: int) -> Floats:
    half_lives = (scoring.HALF_LIFE_DAYS * snapshot.days_of)[snapshot.file_of]
    on = snapshot.notes["on"]
    ages = (half_lives > 0) & (on > 0)
    recency = np.ones(len(on))
    recency[ages] = scoring.decay((today - on[ages]).astype(np.float64), half_lives[ages])
    return recency


def order(keys: Floats, chosen: NDArray[np.int64], ties: tuple[Floats, ...], snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the chosen notes, best first.

    Ties by the first of the other keys, then the newer note first where notes age, then by the rest of the keys, then by
    path and place in the file: never by when a file was indexed, so that the same files give the same order in every
    brain.
    """
    files, place = np.unique(snapshot.file_of[chosen], return_inverse=True)
    found = [snapshot.files[number] for number in files.tolist()]
    by_path = sorted(range(len(found)), key=lambda number: found[number].place)
    turn = np.empty(len(found), np.int64)
    turn[by_path] = np.arange(len(found))
    is_dated = np.fromiter((file.kind != SOURCE_KIND for file in found), bool, len(found))
    newer = np.where(is_dated[place], snapshot.notes["on"][chosen], 0)
    first, *others = (-each[chosen] for each in ties)
    return chosen[np.lexsort((chosen, turn[place], *reversed(others), -newer, first, -keys[chosen]))]
