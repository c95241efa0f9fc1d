"""What the tests of recall share: an embedder whose cosines a test fixes, and a brain that is searched with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnislash.engine import SearchOptions
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnislash import Agent, Brain
    from omnislash.recall.hits import SearchResult, Shown
    from omnislash.runtime.tools.searching import Recall
    from tests.integration.conftest import SampleBrain


class FixedCosines(CountingEmbedder):
    """Every message lies in one direction; the cosine of a note with it is what the test says."""

    def __init__(self, cosines: dict[str, float] | None = None, **options: Any) -> None:
        super().__init__(**{"dimension": 2, **options})
        #: Cosine of every note that has the text in it; the first that fits; else 0.
        self.cosines = cosines or {}

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Count the call, fail when told to, and return the one direction."""
        super().embed_query(text)
        return np.array([1, 0], np.float32)

    def _embed(self, text: str) -> NDArray[np.float32]:
        cosine = next((cosine for part, cosine in self.cosines.items() if part in text), 0.0)
        return np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)


class SearchedBrain:
    """A brain with an embedder that the test controls."""

    def __init__(self, sample: SampleBrain) -> None:
        self.sample = sample
        self.embedder = FixedCosines()
        self._brain: Brain | None = None

    @property
    def brain(self) -> Brain:
        """The brain, opened when it is first needed."""
        return self._brain or self.open()

    def open(self, *embedders: Any, catch_up_s: float | None = None) -> Brain:
        """Open it, with these embedders in place of the one with fixed cosines; `None` stands for none at all."""
        chosen = tuple(each for each in embedders if each is not None) if embedders else (self.embedder,)
        self._brain = self.sample.open(search=SearchOptions(embedders=chosen, catch_up_s=catch_up_s))
        return self._brain

    def note(self, text: str, cosine: float = 0.0, *, at: str = "main/MEMORY.md") -> str:
        """Add an entry to a managed file, with the cosine that every message has with it."""
        self.embedder.cosines[text] = cosine
        place = self.sample.root / "memory" / at
        before = place.read_text("utf-8") if place.exists() else ""
        self.sample.put_memory(at, f"{before}- {text}\n")
        return text

    def agent(self, role: str = "nova") -> Agent:
        """Return an agent for one turn."""
        return self.brain.agent(role)

    def search(self, query: str, *, role: str = "nova", **arguments: Any) -> SearchResult:
        """Return what `memory_search` finds."""
        return self.agent(role).memory.search(query, **arguments)

    def recall(self, message: str, *, role: str = "nova", shown: Shown | None = None, **options: Any) -> Recall:
        """Return what a turn is shown."""
        return self.agent(role).recall(message, shown=shown, **options)


@pytest.fixture
def searched(sample: SampleBrain) -> SearchedBrain:
    """Return a brain with the role `nova`, searched with fixed cosines."""
    return SearchedBrain(sample)


def texts(found: SearchResult | Recall) -> list[str]:
    """Return what the hits say, best first."""
    return [hit.snippet.removeprefix("- ") for hit in found.hits]


@pytest.fixture
def said() -> Any:
    """Return the function that gives the texts of hits."""
    return texts
