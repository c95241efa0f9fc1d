"""The score, its scales when a leg is down, and what age does to the order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core import scoring

unit = st.floats(0, 1)
wide = st.floats(-2, 2)


@pytest.mark.rule("RECALL-01", "RECALL-O1", "RECALL-O2")
@pytest.mark.parametrize(
    ("meaning", "words", "score"),
    [
        (1.0, 1.0, 1.0),
        (0.75, 0.5, 0.7125),
        (0.40, 7 / 15, 0.41),
        (0.30, 0.3, 0.3),
        (0.483, 0.0, 0.41055),
        (0.17, 1.0, 0.2945),
        (0.0, 1.0, 0.15),
        (-0.5, 0.0, 0.0),
        (-0.5, 1.0, 0.15),
        (1.7, 0.0, 0.85),
    ],
)
def test_formula(meaning: float, words: float, score: float) -> None:
    """The score is .85 of the meaning, held in 0..1, and .15 of the share of words, to nine decimals exactly."""
    assert scoring.score_relevance(meaning, words) == score
    assert scoring.score_relevance(np.array([meaning]), np.array([words])).tolist() == [score]


@pytest.mark.rule("RECALL-01")
@given(meaning=wide, words=unit, more=unit)
def test_score_grows_with_both(meaning: float, words: float, more: float) -> None:
    """It lies in 0..1, and neither more meaning nor more words lower it."""
    score = scoring.score_relevance(meaning, words)

    assert 0 <= score <= 1
    assert scoring.score_relevance(meaning + more, words) >= score
    assert scoring.score_relevance(meaning, min(words + more, 1)) >= score


@pytest.mark.rule("RECALL-O3")
@given(value=wide)
def test_one_leg_carries_the_whole_scale(value: float) -> None:
    """With a leg down the other alone is the score, held in 0..1."""
    held = round(min(max(value, 0.0), 1.0), 9)

    assert scoring.score_meaning_alone(value) == held
    assert scoring.score_words_alone(value) == held


@pytest.mark.rule("RECALL-O4", "RECALL-15")
@pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 0.5), (60, 0.25), (15, 0.5**0.5), (-400, 1), (300_000, 0)])
def test_decay_halves_in_thirty_days(days: int, left: float) -> None:
    """Thirty days halve the recency of a daily log; a day to come counts as today; no age is an error."""
    assert scoring.decay(float(days)) == pytest.approx(left, abs=1e-12)


@pytest.mark.rule("RECALL-O4")
@given(key=st.floats(0.01, 5), older=st.floats(0, 1), newer=st.floats(0, 1))
def test_age_orders_equals_and_silences_nothing(key: float, older: float, newer: float) -> None:
    """Of equal keys the newer is never behind, and what is old keeps a place in the order."""
    low, high = sorted((older, newer))

    assert 0 < scoring.apply_decay(key, low) <= scoring.apply_decay(key, high) <= key * (1 + 1e-12)
