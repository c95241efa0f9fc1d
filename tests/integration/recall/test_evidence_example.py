"""The shipped brain asks for evidence: it answers what it knows, with the shipped model, and is silent on the rest."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.engine import SearchOptions
from omnislash.index.embedders.minilm import MiniLM
from omnislash.testing.clock import FixedClock
from tests.bench.search_sets import read_unrelated_prompts
from tests.example_brain import copy_example

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", params=["last month", pytest.param("year", marks=pytest.mark.long)])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brain]:
    """Return a copy of the shipped brain, with the model that ships; to read the whole year takes it a minute."""
    root = copy_example(tmp_path_factory.mktemp("evidence") / "brain", last_month=request.param == "last month")
    search = SearchOptions(catch_up_s=None, embedders=(MiniLM(),))
    with Brain.open(root, clock=FixedClock(datetime(2026, 12, 1, 12, tzinfo=UTC)), search=search) as brain:
        yield brain


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("May I ring Tomek at eight in the morning?", "Tomek will ring tomorrow after nine"),
        ("What does the winter check cost now?", "64"),
    ],
)
def test_answers_what_it_knows(example: Brain, message: str, wanted: str) -> None:
    """What the brain holds is among what is shown."""
    assert any(wanted in hit.snippet for hit in example.agent("nova").recall(message).hits)


@pytest.mark.rule("KNOB-O8", "RECALL-08")
@pytest.mark.parametrize("topic", ["small talk", "short", "maths", "coding"])
def test_silent_on_what_has_nothing_to_do_with_it(example: Brain, topic: str) -> None:
    """Ordinary prompts add nothing to a turn."""
    nova = example.agent("nova")
    assert {message: nova.recall(message).block for message in read_unrelated_prompts()["en"][topic]} == dict.fromkeys(
        read_unrelated_prompts()["en"][topic], ""
    )


def test_prompts() -> None:
    """There are a hundred of them in each language, none twice."""
    for topics in read_unrelated_prompts().values():
        prompts = [prompt for each in topics.values() for prompt in each]
        assert (len(prompts), len(set(prompts))) == (100, 100)
