"""An embedder that is waited for only so long: what it answers in time counts, and what is late is said to be."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnislash.index.embedders.hurried import Hurried
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.index.embedders.ports import Vectors


class Slow(CountingEmbedder):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def embed_query(self, text: str) -> Vectors:
        self.let.wait(20)
        return super().embed_query(text)


class Broken(CountingEmbedder):
    """Can't be loaded."""

    def embed_query(self, text: str) -> Vectors:
        message = f"no model for {len(text)} characters"
        raise EmbedderUnavailableError(message)


class Untouched(CountingEmbedder):
    """Is not to be loaded."""

    def load(self) -> None:
        pytest.fail("it was loaded")

    def embed_query(self, text: str) -> Vectors:
        pytest.fail(f"it was asked about {text}")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        pytest.fail(f"it was asked about {texts}")


@pytest.mark.rule("RECALL-11", "RECALL-O8")
def test_late_answer_is_no_answer() -> None:
    """A model that is not done in time is said to be unavailable, and can be asked again where there is time."""
    slow = Slow()
    with pytest.raises(EmbedderUnavailableError, match="worker"):
        Hurried(slow, patience_s=0.05).embed_query("where is the key")

    slow.let.set()

    assert np.array_equal(Hurried(slow, patience_s=20).embed_query("key"), CountingEmbedder().embed_query("key"))


def test_everything_else_is_the_other_ones() -> None:
    """Name, space, scale and languages are those of the embedder behind it, so its vectors are compared as before."""
    inner = CountingEmbedder()
    hurried = Hurried(inner, patience_s=5)

    for name in ("name", "dimension", "window", "identity", "calibration"):
        assert getattr(hurried, name) == getattr(inner, name)
    assert hurried.reads(None, None) == inner.reads(None, None)
    hurried.load()
    assert np.array_equal(hurried.embed_passages(["a", "b"]), inner.embed_passages(["a", "b"]))


def test_its_own_failure_is_passed_on() -> None:
    """What the model says about itself is not covered up by the clock."""
    with pytest.raises(EmbedderUnavailableError, match="no model for 3 characters"):
        Hurried(Broken(), patience_s=5).embed_query("key")


@pytest.mark.rule("RECALL-11")
def test_no_time_begins_nothing() -> None:
    """Without any patience the model is neither loaded nor asked, so that words have the processor for themselves."""
    hurried = Hurried(Untouched(), patience_s=0.0)

    hurried.load()
    with pytest.raises(EmbedderUnavailableError, match="worker"):
        hurried.embed_query("key")
    with pytest.raises(EmbedderUnavailableError, match="worker"):
        hurried.embed_passages(["key"])
