"""The twin does what a test asks of it, and counts."""

from __future__ import annotations

import numpy as np
import pytest

from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.testing.embedders import CountingEmbedder


def test_shared_words_bring_texts_near() -> None:
    """The cosine is about the share of words in common: half of them gives about a half, none about nothing."""
    twin = CountingEmbedder(dimension=512)
    same, half, none = twin.embed_passages(["red green blue pink", "red green cold warm", "seven eight nine ten"])
    query = twin.embed_query("pink blue green red")

    assert float(query @ same) == pytest.approx(1.0)
    assert float(query @ half) == pytest.approx(0.5, abs=0.15)
    assert float(query @ none) == pytest.approx(0.0, abs=0.15)


def test_calls_and_texts_are_counted() -> None:
    """Each call and each text counts, a failed one too."""
    twin = CountingEmbedder()
    twin.embed_passages(["one", "two"])
    twin.embed_query("three")
    twin.fail()
    with pytest.raises(EmbedderUnavailableError, match="told to fail"):
        twin.embed_query("four")

    assert (twin.calls, twin.texts) == (3, 4)
    assert twin.passage_calls == [("one", "two")]
    assert twin.query_calls == ["three", "four"]


def test_failures_end() -> None:
    """It fails as often as it was told to, and then answers again."""
    twin = CountingEmbedder()
    twin.fail(2, "The model is away.")
    for ask in (twin.load, lambda: twin.embed_passages(["one"])):
        with pytest.raises(EmbedderUnavailableError, match="The model is away"):
            ask()

    assert twin.embed_passages(["one"]).shape == (1, 64)


@pytest.mark.rule("RECALL-16")
def test_fixed_vectors_are_given_back() -> None:
    """A text whose vector is fixed has it, at unit length; a query at right angles to all scores nothing."""
    twin = CountingEmbedder(dimension=4, vectors={"query": [0, 0, 0, 3], "note": [2, 0, 0, 0]})

    assert twin.embed_query("query").tolist() == [0, 0, 0, 1]
    assert twin.embed_passages(["note"]).tolist() == [[1, 0, 0, 0]]


def test_size_can_change_while_the_name_stays() -> None:
    """An endpoint that serves another size under the same name can be played."""
    twin = CountingEmbedder(dimension=8)
    before = twin.identity, twin.embed_query("one").shape
    twin.dimension = 16

    assert (twin.identity, twin.embed_query("one").shape) == (before[0], (16,))
    assert before[1] == (8,)


def test_delay_is_waited_out() -> None:
    """Each call waits as long as it was told, by the sleep that was handed in."""
    waited: list[float] = []
    twin = CountingEmbedder(delay_s=3.0, sleep=waited.append)
    twin.embed_passages(["one", "two"])
    twin.embed_query("three")

    assert waited == [3.0, 3.0]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_blank_text_is_a_mistake_of_the_caller(text: str) -> None:
    """An engine that hands in an empty text is found out."""
    with pytest.raises(ValueError, match="blank"):
        CountingEmbedder().embed_passages(["fine", text])


def test_two_processes_agree() -> None:
    """Vectors come from hashes, so they are the same in every process: this one is known."""
    vector = CountingEmbedder(dimension=8).embed_query("omnislash")

    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert vector.tolist() == CountingEmbedder(dimension=8).embed_query("OMNISLASH!").tolist()
