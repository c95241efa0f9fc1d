"""The index is made anew without asking the embedder, and what nobody uses any more is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.index.vectors import SEGMENT_ROWS
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from tests.integration.index.conftest import IndexBrain


def write_notes(brain: IndexBrain, count: int, *, prefix: str = "n") -> None:
    """Write one file with many notes."""
    text = "".join(f"# Note {prefix}{number}\n\n{prefix}word{number} at the quay\n\n" for number in range(count))
    brain.write(f"memory/ops/{prefix}.md", text)


@pytest.mark.rule("LANG-10")
def test_a_rebuild_keeps_vectors_and_drops_those_that_nobody_uses(index_brain: IndexBrain) -> None:
    """Vectors of forgotten texts go with the rebuild, the others keep their notes, and nothing is embedded."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    write_notes(index_brain, SEGMENT_ROWS, prefix="old")
    write_notes(index_brain, 40, prefix="new")
    before = index_brain.find_meaning(live, embedder, "newword7 quay")
    (index_brain.root / "memory/ops/old.md").unlink()
    called, size = len(embedder.passage_calls), live.bytes_on_disk()
    live.rebuild()
    assert len(embedder.passage_calls) == called
    assert live.open_database().value("SELECT count(*) FROM embeddings") == 40
    assert live.open_database().value("SELECT sum(length) FROM segments") == 40
    assert live.bytes_on_disk() < size / 2
    assert index_brain.find_meaning(live, embedder, "newword7 quay") == {
        "memory/ops/new.md": pytest.approx(before["memory/ops/new.md"])
    }


def test_another_process_goes_on_with_the_rebuilt_index(index_brain: IndexBrain) -> None:
    """Who had the index in memory finds the same after another one rebuilt it and vectors have moved."""
    mine, other = CountingEmbedder(), CountingEmbedder()
    first, second = index_brain.open(mine), index_brain.open(other)
    write_notes(index_brain, 30, prefix="old")
    first.refresh(limit_s=None)
    write_notes(index_brain, 30, prefix="new")
    expected = index_brain.find_meaning(second, other, "newword7 quay")
    (index_brain.root / "memory/ops/old.md").unlink()
    first.rebuild()
    found = index_brain.find_meaning(second, other, "newword7 quay")
    assert found == {"memory/ops/new.md": pytest.approx(expected["memory/ops/new.md"])}
    assert mine.texts + other.texts == 60 + 2


def test_a_view_in_use_outlives_a_rebuild(index_brain: IndexBrain) -> None:
    """A search that began before keeps its notes and its vectors, although rows were numbered anew."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    write_notes(index_brain, 20, prefix="old")
    live.refresh(limit_s=None)
    write_notes(index_brain, 20, prefix="new")
    view = live.view(live.refresh(limit_s=None))
    model, query = view.models[embedder.identity], embedder.embed_query("newword7")
    before = view.vectors.cosines(model, query, view.snapshot.notes["row"]).tolist()
    (index_brain.root / "memory/ops/old.md").unlink()
    live.rebuild()
    assert view.vectors.cosines(model, query, view.snapshot.notes["row"]).tolist() == before


def test_damaged_vectors_are_made_again_by_a_rebuild(index_brain: IndexBrain) -> None:
    """A block that can't be read is not carried over as zeros: its notes, and only those, get new vectors."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    write_notes(index_brain, 30, prefix="old")
    live.refresh(limit_s=None)
    write_notes(index_brain, SEGMENT_ROWS, prefix="new")
    expected = index_brain.find_meaning(live, embedder, "newword7 quay")
    (index_brain.root / "memory/ops/old.md").unlink()
    live.refresh(limit_s=None)
    with live.open_database().writing() as database:
        database.run("UPDATE segments SET vectors = zeroblob(length(vectors)) WHERE number = 1")
    called = embedder.texts
    live.rebuild()
    assert embedder.texts - called == 30
    assert index_brain.find_meaning(live, embedder, "newword7 quay") == {
        "memory/ops/new.md": pytest.approx(expected["memory/ops/new.md"])
    }


@pytest.mark.rule("RECALL-11")
def test_damaged_vectors_are_made_again_by_a_search(index_brain: IndexBrain) -> None:
    """The notes of a damaged block are embedded again at the next look, the others are not."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    write_notes(index_brain, SEGMENT_ROWS + 9)
    expected = index_brain.find_meaning(live, embedder, "nword7 quay")
    live.close()
    damaged = index_brain.open(embedder)
    with damaged.open_database().writing() as database:
        database.run("UPDATE segments SET vectors = randomblob(length(vectors)) WHERE number = 1")
    called = embedder.texts
    assert index_brain.find_meaning(damaged, embedder, "nword7 quay") == pytest.approx(expected)
    assert embedder.texts - called == 9 + 1


def test_a_rebuild_of_an_empty_brain(index_brain: IndexBrain) -> None:
    """Where there is nothing, a rebuild makes an empty index."""
    live = index_brain.open(CountingEmbedder())
    assert live.rebuild().failure is None
    assert index_brain.list_places(live) == []


def test_a_rebuild_of_an_index_that_is_broken_in_the_middle(index_brain: IndexBrain) -> None:
    """The command that is named as the remedy works where SQLite finds damage, and keeps the vectors it can read."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    write_notes(index_brain, 200)
    live.refresh(limit_s=None)
    live.close()
    data = bytearray(index_brain.index_path.read_bytes())
    assert len(data) > 10 * 4096
    for offset in range(4096, len(data), 4096):
        broken = bytearray(data)
        broken[offset : offset + 4096] = b"\xff" * 4096
        for path in index_brain.index_path.parent.glob(".memory-index.db*"):
            path.unlink()
        index_brain.index_path.write_bytes(broken)
        again = index_brain.open(CountingEmbedder())
        freshness = again.rebuild()
        assert (freshness.failure, freshness.embedder_failure) == (None, None)
        assert again.open_database().find_damage() == []
        assert index_brain.find_words(again, "nword7") == ["memory/ops/n.md"]
        assert index_brain.count_waiting(again) == 0
        again.close()


def test_whoever_comes_second_does_not_rebuild_again(index_brain: IndexBrain) -> None:
    """Of two processes that find other languages at once, the second takes what the first has made."""
    write_notes(index_brain, 3)
    index_brain.open().refresh(limit_s=None)
    first, second = index_brain.open(languages=("german",)), index_brain.open(languages=("german",))
    second.open_database()
    first.refresh(limit_s=None)
    counter = first.open_database().meta("counter")
    opened = second._open()
    unreadable = opened.indexer.rebuild(["memory/ops/n.md"], made_by=second.signature(), is_forced=False)
    assert unreadable == {}
    assert first.open_database().meta("counter") == counter
