"""Texts are cleaned, cut and sorted into runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.index.embedders.preparing import plan_runs, prepare_text


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        pytest.param("plain", "plain", id="as it is"),
        pytest.param("abcdefghijkl", "abcdefgh", id="cut"),
        pytest.param("a\0b", "a b", id="NUL"),
        pytest.param("a\ud83db", "a?b", id="half an emoji"),
        pytest.param("и\u0306", "й", id="composed"),
    ],
)
def test_text_is_prepared(text: str, prepared: str) -> None:
    """What a tokenizer can't take is replaced, and what is too long is cut."""
    assert prepare_text(text, limit_chars=8) == prepared


@pytest.mark.parametrize(
    ("lengths", "runs"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([10, 10, 10], [[0, 1, 2]], id="all fit"),
        pytest.param([5, 30, 6], [[0, 2], [1]], id="like lengths together"),
        pytest.param([99, 98], [[1], [0]], id="longer than the budget goes alone"),
        pytest.param([10, 16], [[0, 1]], id="filled up to exactly the budget"),
        pytest.param([10, 17], [[0], [1]], id="filled up past the budget"),
    ],
)
def test_runs_hold_the_budget(lengths: list[int], runs: list[list[int]]) -> None:
    """A run counts every text as long as its longest, and has 32 tokens here at most."""
    assert plan_runs(lengths, budget=32) == runs


@given(st.lists(st.integers(1, 256), max_size=80), st.integers(1, 1_000))
def test_every_text_is_in_one_run(lengths: list[int], budget: int) -> None:
    """No text is lost or taken twice, and no run of several is over the budget."""
    runs = plan_runs(lengths, budget=budget)

    assert sorted(place for run in runs for place in run) == list(range(len(lengths)))
    assert all(len(run) == 1 or len(run) * max(lengths[place] for place in run) <= budget for run in runs)
