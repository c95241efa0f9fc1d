"""Failure cases about questions that look like a query language: O-40 and O-41."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain

#: What a message about a search engine's own grammar would speak of.
GRAMMAR = re.compile(r"column|syntax|fts5|MATCH|sqlite", re.IGNORECASE)


def first(brain: CaseBrain, words: str) -> str:
    """Return what the best hit says; a miss, or a word about grammar, fails the case."""
    found = brain.agent().memory.search(words)
    assert found.coverage == "full"
    assert not GRAMMAR.search(str(found.to_json()))
    assert found.hits, (words, found.below_floor)
    return found.hits[0].snippet.removeprefix("- ")


@pytest.fixture
def dated(brain: CaseBrain) -> CaseBrain:
    """The brain of O-40."""
    brain.remember("- rent settled 2026-02-17\n- shift at 12:30\n- tool v1.2.3 out\n- kept in C:\\temp\n")
    return brain


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("2026-02-17", "rent settled 2026-02-17"),
        ("rent 2026-02-17", "rent settled 2026-02-17"),
        ("12:30", "shift at 12:30"),
        ("v1.2.3", "tool v1.2.3 out"),
        ("C:\\temp", "kept in C:\\temp"),
    ],
)
def test_o_40_dates_times_versions_and_paths(dated: CaseBrain, words: str, entry: str) -> None:
    """The fitting entry is first."""
    assert first(dated, words) == entry


def test_o_40_on_the_command_line(dated: CaseBrain) -> None:
    """The same through the command, with status 0 and no word about grammar."""
    done = dated.command("memory", "search", "--role", "ops", "12:30")

    assert done.code == 0
    assert done.answer["hits"][0]["snippet"] == "- shift at 12:30"
    assert not GRAMMAR.search(done.stderr)


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("REQ-0317", "REQ-0317 move the depot"),
        ('"REQ-0317"', "REQ-0317 move the depot"),
        ("req-0317", "REQ-0317 move the depot"),
        ("REQ 0317", "REQ-0317 move the depot"),
        ("out-of-season", "out-of-season menu"),
    ],
)
def test_o_41_identifiers_with_a_hyphen(brain: CaseBrain, words: str, entry: str) -> None:
    """A hyphen belongs to the word and never means without."""
    brain.remember("- REQ-0318 keep the depot\n- REQ-0317 move the depot\n- out-of-season menu\n")

    assert first(brain, words) == entry


@pytest.mark.parametrize("words", ["depot -REQ-0318", "depot NOT REQ-0318", "-depot", "depot*", '"depot', "(depot"])
def test_o_41_no_sign_excludes_anything(brain: CaseBrain, words: str) -> None:
    """What looks like an operator is text: both entries about the depot are found."""
    brain.remember("- REQ-0318 keep the depot\n- REQ-0317 move the depot\n- out-of-season menu\n")
    found: list[Any] = list(brain.agent().memory.search(words, min_score=0).hits)

    assert sum("depot" in hit.snippet for hit in found) == 2
