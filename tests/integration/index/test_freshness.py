"""What a search may believe: the disk as it is at that moment, or a plain word about what is missing."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import IndexUnavailableError
from omnislash.index.live import LiveIndex
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from tests.integration.index.conftest import IndexBrain


@pytest.mark.rule("RECALL-11", "LINE-06")
def test_an_index_that_was_open_all_the_time_sees_every_write(index_brain: IndexBrain) -> None:
    """Two opened indexes take turns in writing and asking; each word is found by the other's very next search."""
    lives = [index_brain.open(CountingEmbedder()), index_brain.open(CountingEmbedder())]
    for turn in range(30):
        index_brain.write("memory/ops/MEMORY.md", f"- token{turn} at the quay\n")
        asker = lives[turn % 2]
        assert index_brain.find_words(asker, f"token{turn}") == ["memory/ops/MEMORY.md"]
        if turn:
            assert index_brain.find_words(asker, f"token{turn - 1}") == []


@pytest.mark.rule("RECALL-11")
def test_a_write_of_the_same_length_at_the_same_moment_is_seen(index_brain: IndexBrain) -> None:
    """Twenty saves without a pause, each as long as the one before: every one of them is found."""
    live = index_brain.open()
    path = index_brain.write("memory/ops/a.md", "# A\n\ntoken00\n")
    for turn in range(20):
        path.write_bytes(f"# A\n\ntoken{turn:02}\n".encode())
        assert index_brain.find_words(live, f"token{turn:02}") == ["memory/ops/a.md"]


@pytest.mark.rule("RECALL-11")
def test_a_file_put_in_place_with_an_old_date_is_seen(index_brain: IndexBrain) -> None:
    """A copy that keeps the size and the time of modification is still another file."""
    path = index_brain.write("memory/ops/a.md", "# A\n\ntoken00\n")
    stat = path.stat()
    live = index_brain.open()
    time.sleep(0.1)
    live.refresh(limit_s=None)
    other = index_brain.write("other.txt", "# A\n\ntoken11\n")
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)
    assert index_brain.find_words(live, "token11") == ["memory/ops/a.md"]


@pytest.mark.rule("RECALL-11")
def test_words_answer_while_the_embedder_is_down(index_brain: IndexBrain) -> None:
    """The failure stands in the freshness, and the vectors come as soon as the embedder is back."""
    embedder = CountingEmbedder()
    embedder.fail(2, "The model is not there.")
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open(embedder)
    freshness = live.refresh(limit_s=None)
    assert (freshness.failure, freshness.embedder_failure) == (None, "The model is not there.")
    assert index_brain.find_words(live, "quay", freshness=freshness) == ["memory/ops/a.md"]
    assert live.refresh(limit_s=None).embedder_failure == "The model is not there."
    assert live.refresh(limit_s=None).embedder_failure is None
    assert list(index_brain.find_meaning(live, embedder, "quay")) == ["memory/ops/a.md"]


def test_without_an_embedder_nothing_waits(index_brain: IndexBrain) -> None:
    """Words alone are complete where no model is configured."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open()
    assert live.refresh(limit_s=None).embedder_failure is None
    assert index_brain.count_waiting(live) == 0
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md"]


def test_an_index_that_somebody_holds_for_too_long(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process writes without end, a search says so and answers from what is there."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    index_brain.open(CountingEmbedder()).refresh(limit_s=None)
    holder = index_brain.open().open_database()
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    fresh = index_brain.open(CountingEmbedder())
    for opened in (live, fresh):
        opened.open_database()._connection.execute("PRAGMA busy_timeout = 50")
    index_brain.write("memory/ops/b.md", "# B\n\nquay\n")
    with holder.writing():
        for opened in (live, fresh):
            freshness = opened.refresh(limit_s=None)
            assert freshness.failure is not None
            assert "locked" in freshness.failure
            assert index_brain.find_words(opened, "quay", freshness=freshness) == ["memory/ops/a.md"]
    assert index_brain.find_words(fresh, "quay") == ["memory/ops/a.md", "memory/ops/b.md"]


def test_opening_waits_for_nobody_who_writes(index_brain: IndexBrain) -> None:
    """A process that only looks opens the index while another one holds it for writing."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    index_brain.open(CountingEmbedder()).refresh(limit_s=None)
    holder = index_brain.open().open_database()
    time.sleep(0.1)
    index_brain.open(CountingEmbedder()).refresh(limit_s=None)  # settles the stat
    with holder.writing():
        begun = time.monotonic()
        assert index_brain.find_words(index_brain.open(CountingEmbedder()), "quay") == ["memory/ops/a.md"]
        assert time.monotonic() - begun < 5


def test_closed_in_between(index_brain: IndexBrain) -> None:
    """An index that was closed opens itself again; its database, once closed, raises a plain error."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open(CountingEmbedder())
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md"]
    database = live.open_database()
    live.close()
    with pytest.raises(IndexUnavailableError):
        database.rows("SELECT 1")
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md"]
    assert isinstance(live, LiveIndex)
