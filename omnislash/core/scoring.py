"""The relevance of a note, and the order in which notes above the floor are shown.

Two numbers, never mixed.
The *score* is the documented formula; floors are compared with it and with nothing else.
The *order key* decides only which of the notes above the floor comes first; see `omnislash help search`.

Every function takes single numbers or numpy arrays of one shape and returns the same.

Rules: RECALL-01, RECALL-04, RECALL-15, RECALL-O1, RECALL-O2, RECALL-O4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: What the meaning and what the words weigh in the score (RECALL-01).
MEANING_WEIGHT, WORDS_WEIGHT = 0.85, 0.15
#: Decimals to which scores are rounded before they are compared, so that binary fractions decide no tie (RECALL-O2).
DECIMALS = 9
#: Days after which the recency of a daily log has halved (RECALL-O4).
HALF_LIFE_DAYS = 30.0


def score_relevance(meaning: Any, words: Any) -> Any:
    """Return the score of notes, in [0, 1].

    Args:
        meaning: Calibrated cosine; clamped to 0..1 here (RECALL-O1).
        words: Share of the message's distinct words that the note has, in [0, 1].
    """
    return np.round(MEANING_WEIGHT * np.clip(meaning, 0.0, 1.0) + WORDS_WEIGHT * np.clip(words, 0.0, 1.0), DECIMALS)


def score_words_alone(share: Any) -> Any:
    """Return the score where the meaning leg is down: the share of the message's words, stop words left out (RECALL-O3)."""
    return np.round(np.clip(share, 0.0, 1.0), DECIMALS)


def score_meaning_alone(meaning: Any) -> Any:
    """Return the score where the word leg is down: the meaning (RECALL-O3)."""
    return np.round(np.clip(meaning, 0.0, 1.0), DECIMALS)


def decay(age_days: Any, half_life_days: Any = HALF_LIFE_DAYS) -> Any:
    """Return the recency of notes, 1 today and half after each half-life; a date in the future counts as today."""
    return np.power(0.5, np.maximum(age_days, 0.0) / half_life_days)


# -- the order -------------------------------------------------------------------------------------------------------
#
# Meaning orders the notes. The words of the question lift a note, to about six times, as far as some note shows that both
# legs agree; where none does, the words in common are chance and the meaning alone decides.
#
# The constants were chosen on the even of ten conversations (LoCoMo turns) and, for what they may cost, on 60 questions of
# our own that share no word with their note; about 200 settings were seen, and the odd conversations with them, so the odd
# ones are no held-out set in the strict sense. Each constant names what another value costs, with all-MiniLM-L6-v2 on
# 2026-12-01: recall@5 of turns on all ten, or the right note first among 2,541 others for the 60 questions.
# `make bench-search` prints the figures of the product beside those of the meaning, the words and the score alone.

#: How far around it a word counts, in notes of the same daily log, and what is left of it at each step.
#: .6 instead of .7 costs .007 of recall@5, nothing around it .05.
NEAR_NOTES, NEAR_SHARE = 3, 0.7
#: BM25's k1 and b, both small: a word that stands there often, in a note that is not long, counts a little more.
#: Without them .001 less; k1 .1 with b 1 .014 less.
SATURATION, LENGTH = 0.2, 0.1
#: How much the words can add, and how: 8 instead of 5 gains .002 on turns and loses .034 on questions without a shared
#: word; exponent 2 loses .002.
COVERAGE_WEIGHT, COVERAGE_EXPONENT = 5.0, 1.5
#: Where the agreement of the legs begins and where it is full. It tells questions in the note's words from others with an
#: AUC of .990; full at .50 gains .004 on turns and loses .017 on the others; always full loses .12 to .17 there.
AGREEMENT_FROM, AGREEMENT_FULL = 0.15, 0.60
#: Words in common from which on more of them prove no more.
ENOUGH_WORDS = 4
#: What the better neighbour in the same daily log adds.
NEIGHBOUR_WEIGHT = 0.1
#: The share of the order key that ages: .02 costs .002 of recall@5, .05 .003, .1 .005, .5 .068; a key that ages as a whole
#: costs .406. From .05 on it turns over the first place of some question without a shared word.
RECENCY_WEIGHT = 0.02


def saturate(counts: Any, relative_length: Any) -> Any:
    """Return what a word counts by how often it stands in a note: 1 for once in a note of mean length, 1.2 at most.

    Args:
        counts: How often the word stands in the note, 1 or more.
        relative_length: Length of the note by the mean of the scope.

    Source: Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009, equation 3.15.
    """
    return counts * (SATURATION + 1) / (counts + SATURATION * (1 - LENGTH + LENGTH * relative_length))


def weigh_agreement(meaning: Any, coverage: Any, found: Any, content_words: int) -> float:
    """Return how far the words may decide the order of this question, in [0, 1].

    A question in the words of its note has some note that is near in meaning and has several of its rare words.

    Args:
        meaning: Common scale, of the notes in scope.
        coverage: Share of the content words by their rarity, of the same notes.
        found: How many content words each has.
        content_words: How many the question has.
    """
    if not content_words or not np.size(meaning):
        return 0.0
    proof = np.clip(found - 1, 0, ENOUGH_WORDS - 1)
    proof = np.where(found == content_words, np.maximum(proof, 1), proof)
    best = float(np.max(np.clip(meaning, 0.0, 1.0) * coverage * proof))
    return float(np.clip((best - AGREEMENT_FROM) / (AGREEMENT_FULL - AGREEMENT_FROM), 0.0, 1.0))


def order_key(meaning: Any, near_coverage: Any, agreement: float) -> Any:
    """Return what notes above the floor are ordered by, before neighbours and age.

    Args:
        meaning: Common scale, as it is: not held in [0, 1].
        near_coverage: Coverage of the note with what stands around it, 0 to 1.2.
        agreement: As `weigh_agreement` has it.
    """
    return meaning + np.maximum(meaning, 0.0) * COVERAGE_WEIGHT * agreement * np.power(near_coverage, COVERAGE_EXPONENT)


def add_neighbours(keys: Any, before: Any, after: Any, agreement: float) -> Any:
    """Return the keys with a share of the better neighbour's key added; -1 stands for no neighbour."""
    padded = np.append(keys, 0.0)
    return keys + NEIGHBOUR_WEIGHT * agreement * np.maximum(np.maximum(padded[before], padded[after]), 0.0)


def apply_decay(keys: Any, recency: Any) -> Any:
    """Return the keys after age took its share: the newer of two equal notes comes first (RECALL-O4)."""
    return keys * (1 - RECENCY_WEIGHT + RECENCY_WEIGHT * recency)
