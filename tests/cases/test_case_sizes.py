"""Failure cases: files that are huge, or empty, or very many."""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING

import pytest

from tests.warm import COLD

if TYPE_CHECKING:
    from tests.cases.conftest import MakeBrain
    from tests.cases.embedding_server import EmbeddingServer

EMPTY = {
    "notes/zero.md": "",
    "notes/front.md": "---\ntitle: Only this\n---\n",
    "notes/white.md": " \n\t\n\n",
    "notes/title.md": "# Title\n",
}

#: Parts of made-up words.
SYLLABLES = [f"{one}{two}{three}" for one in "bdfgklmnprst" for two in "aeiou" for three in "bdk"]


@pytest.mark.rule("RECALL-O5")
@pytest.mark.parametrize("size", [2_000_000, pytest.param(8_000_000, marks=pytest.mark.long)])
def test_o_64_one_line_of_eight_megabytes(make_brain: MakeBrain, embedder: EmbeddingServer, size: int) -> None:
    """One line of 8 MB and a word of 200 kB are indexed within a minute and 1 GB, and everything in them is found."""
    vocabulary = [f"{first}{last}" for first in SYLLABLES for last in SYLLABLES]
    words = " ".join(vocabulary[number * 7_919 % len(vocabulary)] for number in range(size // 6))
    line = words[: size - 20].rpartition(" ")[0] + " needle42 and the end"
    small = {
        f"notes/small{number}.md": f"the {word} stands here\n"
        for number, word in enumerate(("alder", "birch", "cedar"))
    }
    files = {"notes/big.md": line, "notes/cyr.md": "а" * 100_000, **small}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    embedder.dimension = 8
    brain.python = COLD  # its memory is looked at
    begun = time.monotonic()
    assert brain.index().code == 0
    assert time.monotonic() - begun < 60
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_000_000
    session = brain.session()
    for number, word in enumerate(("alder", "birch", "cedar")):
        assert session.find(word)[0] == f"notes/small{number}.md"
    answer = session.call("memory_search", query="needle42", min_score=0)
    assert any(hit["path"] == "notes/big.md" and "needle42" in hit["snippet"] for hit in answer["hits"])


@pytest.mark.rule("RECALL-O5")
def test_o_65_empty_files(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """The embedder, which refuses a blank text, is never given one; no hit is blank, and the second INDEX does no work."""
    brain = make_brain(
        embedder=embedder, sources=("notes",), files={**EMPTY, "notes/full.md": "the alder stands here\n"}
    )
    assert brain.index().code == 0
    assert all(text.strip() for text in embedder.texts)
    embedded, written = len(embedder.texts), brain.place(".memory-index.db").read_bytes()
    assert brain.index().code == 0
    assert len(embedder.texts) == embedded
    assert brain.place(".memory-index.db").read_bytes() == written
    session = brain.session()
    for words in ("alder", "title", "only this"):
        assert all(hit["snippet"].strip() for hit in session.call("memory_search", query=words)["hits"])
    assert session.find("alder")[0] == "notes/full.md"
    assert brain.check().code == 0


def test_three_thousand_small_files(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Each of them is found, and a second look reads none of them."""
    files = {f"notes/d{number % 30}/n{number}.md": f"word{number}x\n" for number in range(3_000)}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    assert brain.index().code == 0
    session = brain.session()
    for number in (0, 1_234, 2_999):
        assert session.find(f"word{number}x")[0] == f"notes/d{number % 30}/n{number}.md"
    assert len(set(embedder.texts)) == 3_000
    begun = time.monotonic()
    session.find("word5x")
    assert time.monotonic() - begun < 2
