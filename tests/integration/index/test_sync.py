"""What changed is taken up at once, and what did not change costs nothing."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.index import live as live_module
from omnislash.index import reading, sync
from omnislash.index.diff import SETTLING_NS, UNSETTLED, Stat
from omnislash.index.reading import read_bytes
from omnislash.index.rows import Rows
from omnislash.store import disk
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.index.reading import FileBytes
    from tests.integration.index.conftest import IndexBrain

LOG = "memory/ops/2026/11/2026-11-30.md"


def let_settle() -> None:
    """Wait until the stat of what was just written proves that it is still the same."""
    time.sleep(2 * SETTLING_NS / 1e9)


@pytest.mark.rule("RECALL-11", "LINE-06")
def test_files_come_change_and_go(index_brain: IndexBrain) -> None:
    """Each look knows what the disk says at that moment."""
    live = index_brain.open(CountingEmbedder())
    index_brain.write(LOG, "- 09:00 The ferry leaves from the north quay\n")
    assert index_brain.find_words(live, "ferry") == [LOG]
    index_brain.write(LOG, "- 09:00 The barge leaves from the north quay\n")
    assert index_brain.find_words(live, "ferry") == []
    assert index_brain.find_words(live, "barge") == [LOG]
    (index_brain.root / LOG).unlink()
    assert index_brain.find_words(live, "barge") == []
    assert index_brain.list_places(live) == []


@pytest.mark.rule("LINE-06")
def test_nothing_changed_costs_nothing(index_brain: IndexBrain) -> None:
    """A second look calls no embedder, reads no file and writes no byte, in this process and in the next."""
    embedder = CountingEmbedder()
    for number in range(5):
        index_brain.write(f"memory/ops/n{number}.md", f"# Note {number}\n\nword{number}\n")
    let_settle()
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    watcher = sqlite3.connect(index_brain.index_path)
    before = watcher.execute("PRAGMA data_version").fetchone()
    called = embedder.calls
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync, "read_bytes", None)
        live.refresh(limit_s=None)
        index_brain.open(embedder).refresh(limit_s=None)
    assert embedder.calls == called == 1
    assert watcher.execute("PRAGMA data_version").fetchone() == before
    watcher.close()


def test_a_touched_file_is_not_cut_again(index_brain: IndexBrain) -> None:
    """Another stat with the same content is remembered, and that is all."""
    embedder = CountingEmbedder()
    path = index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    counter = live.open_database().meta("counter")
    os.utime(path, (1, 1))
    let_settle()
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md"]
    assert live.open_database().meta("counter") == counter
    assert embedder.calls == 1
    assert live.open_database().value("SELECT modified_ns FROM files") == 1_000_000_000


@pytest.mark.rule("RECALL-11")
def test_a_file_read_in_the_tick_of_its_change_is_read_again(index_brain: IndexBrain) -> None:
    """Its stat proves nothing until the clock of files has ticked; then it is remembered once, and stays."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open()
    live.refresh(limit_s=None)
    database = live.open_database()
    assert database.value("SELECT inode FROM files") == UNSETTLED
    let_settle()
    live.refresh(limit_s=None)
    assert database.value("SELECT inode FROM files") == (index_brain.root / "memory/ops/a.md").stat().st_ino
    token = database.state_token()
    live.refresh(limit_s=None)
    assert database.state_token() == token


@pytest.mark.rule("RECALL-11")
def test_a_slow_reading_proves_nothing(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was young when its reading began is read again, for it may have been saved in the middle."""
    path = index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    now = [path.stat().st_ctime_ns + 1_000_000]
    real = disk.read_descriptor

    def read_slowly(descriptor: int) -> bytes:
        now[0] += 100 * SETTLING_NS
        return real(descriptor)

    monkeypatch.setattr(reading, "file_time_ns", lambda: now[0])
    monkeypatch.setattr(reading, "read_descriptor", read_slowly)
    seen = read_bytes(index_brain.root, "memory/ops/a.md")
    assert seen is not None
    assert seen.stat.inode == UNSETTLED


def test_a_time_in_the_future_is_settled(index_brain: IndexBrain) -> None:
    """A file whose time of modification lies ahead is not read at every look."""
    path = index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    let_settle()
    live = index_brain.open()
    live.refresh(limit_s=None)
    assert live.open_database().value("SELECT inode FROM files") != UNSETTLED


@pytest.mark.rule("MIGRATE-04", "MIGRATE-O3")
def test_a_renamed_file_or_directory_embeds_nothing(index_brain: IndexBrain) -> None:
    """Vectors belong to texts: a file, a folder and a whole line move without a call of the embedder."""
    embedder = CountingEmbedder()
    index_brain.write("memory/ops/d/plan.md", "# Plan\n\nThe gantry is painted\n")
    index_brain.write(LOG, "- 09:00 The ferry leaves\n")
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    called = embedder.calls
    memory = index_brain.root / "memory"
    (memory / "ops/d/plan.md").rename(memory / "ops/d/other.md")
    assert index_brain.find_words(live, "gantry") == ["memory/ops/d/other.md"]
    (memory / "ops").rename(memory / "deck")
    assert index_brain.find_words(live, "gantry") == ["memory/deck/d/other.md"]
    assert set(index_brain.find_meaning(live, embedder, "ferry")) == {
        "memory/deck/2026/11/2026-11-30.md",
        "memory/deck/d/other.md",
    }
    assert len(embedder.passage_calls) == called
    assert index_brain.count_waiting(live) == 0


@pytest.mark.rule("LANG-09", "LANG-10", "LANG-O6")
def test_other_languages_make_the_index_anew_without_the_embedder(index_brain: IndexBrain) -> None:
    """After the list changed the next sync stems by it, and takes every vector from the cache."""
    embedder = CountingEmbedder()
    index_brain.write("memory/ops/a.md", "# Заметка\n\nо встрече на причале\n")
    first = index_brain.open(embedder)
    assert index_brain.find_words(first, "встреча") == []
    called = embedder.calls
    second = index_brain.open(embedder, languages=("english", "russian"))
    assert index_brain.find_words(second, "встреча") == ["memory/ops/a.md"]
    assert embedder.calls == called
    assert index_brain.count_waiting(second) == 0


@pytest.mark.rule("LANG-09")
def test_a_big_change_of_languages_waits_for_time(index_brain: IndexBrain) -> None:
    """A search that has no time for it answers from the old index and says so; a sync without a limit does it."""
    for number in range(30):
        index_brain.write(f"memory/ops/n{number}.md", f"# N\n\nquay word{number}\n")
    index_brain.open().refresh(limit_s=None)
    live = index_brain.open(languages=("german",))
    freshness = live.refresh(limit_s=0.1)
    assert freshness.failure
    assert "made for other languages" in freshness.failure
    assert len(index_brain.find_words(live, "quay", freshness=freshness)) == 30
    assert live.refresh(limit_s=None).failure is None


def test_no_time_takes_up_some_and_names_the_rest(index_brain: IndexBrain) -> None:
    """The first batch always runs; files that were not taken up are named, and the next look goes on."""
    for number in range(sync.BATCH_FILES + 10):
        index_brain.write(f"memory/ops/n{number:03}.md", f"# N\n\nword{number}\n")
    live = index_brain.open()
    first = live.refresh(limit_s=0.0)
    assert len(first.behind) == 10
    assert len(index_brain.list_places(live)) == sync.BATCH_FILES + 10
    assert live.refresh(limit_s=None).behind == ()


def test_a_first_build_is_seen_while_it_runs(index_brain: IndexBrain) -> None:
    """Whoever is stopped in the middle of a first build has kept the batches before."""
    for number in range(2 * sync.BATCH_FILES):
        index_brain.write(f"memory/ops/n{number:03}.md", f"# N\n\nword{number}\n")
    live, done = index_brain.open(), []

    def stop(what: str, number: int, total: int) -> None:
        done.append((what, number, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        live.refresh(limit_s=None, progress=stop)
    assert done == [("words", sync.BATCH_FILES, 2 * sync.BATCH_FILES)]
    assert index_brain.open().open_database().value("SELECT count(*) FROM files") == sync.BATCH_FILES


def test_a_file_that_vanishes_while_it_is_read(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a new file nor an indexed one that goes between the look and the reading stays in the index."""
    index_brain.write("memory/ops/old.md", "# Old\n\nquay\n")
    live = index_brain.open()
    live.refresh(limit_s=None)
    for name in ("old", "new", "third"):
        index_brain.write(f"memory/ops/{name}.md", f"# {name}\n\ntide {name}\n")

    def vanish(root: Path, place: str) -> FileBytes | None:
        if not place.endswith("third.md"):
            (root / place).unlink()
        return read_bytes(root, place)

    monkeypatch.setattr(sync, "read_bytes", vanish)
    live.refresh(limit_s=None)
    monkeypatch.undo()
    assert index_brain.find_words(live, "tide") == ["memory/ops/third.md"]
    assert index_brain.find_words(live, "quay") == []
    assert live.refresh(limit_s=None).behind == ()


@pytest.mark.rule("RECALL-11")
def test_a_file_that_can_not_be_read_is_named(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not hold up the others, it is not called behind, and it is taken up when it can be read."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    index_brain.write("memory/ops/b.md", "# B\n\nquay\n")

    def refuse(root: Path, place: str) -> FileBytes | None:
        if place.endswith("a.md"):
            raise PermissionError(13, "Permission denied")
        return read_bytes(root, place)

    monkeypatch.setattr(sync, "read_bytes", refuse)
    live = index_brain.open()
    freshness = live.refresh(limit_s=None)
    assert dict(freshness.unreadable) == {"memory/ops/a.md": "Permission denied"}
    assert freshness.behind == ()
    assert index_brain.find_words(live, "quay", freshness=freshness) == ["memory/ops/b.md"]
    monkeypatch.undo()
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md", "memory/ops/b.md"]


def test_a_stat_is_not_remembered_for_another_content(index_brain: IndexBrain) -> None:
    """A process that saw an older content does not mark a newer row as up to date."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open()
    live.refresh(limit_s=None)
    database = live.open_database()
    before = tuple(database.rows("SELECT * FROM files")[0])
    with database.writing():
        Rows(database).set_stat("memory/ops/a.md", b"another hash", Stat(1, 2, 3, 4))
    assert tuple(database.rows("SELECT * FROM files")[0]) == before


def test_a_sleeper_wakes_after_many_removals(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of removals is kept short; who slept through what was dropped from it loads everything anew."""
    monkeypatch.setattr(live_module, "_REMOVALS", 3)
    index_brain.write("memory/ops/stays.md", "# S\n\nquay\n")
    awake, asleep = index_brain.open(), index_brain.open()
    assert index_brain.find_words(asleep, "quay") == ["memory/ops/stays.md"]
    for number in range(12):
        index_brain.write("memory/ops/moves.md", f"# M\n\nquay turn{number}\n")
        awake.refresh(limit_s=None)
    database = awake.open_database()
    assert database.value("SELECT count(*) FROM removals") <= 7
    assert int(database.meta("removalsSince")) > 0
    (index_brain.root / "memory/ops/stays.md").unlink()
    assert index_brain.find_words(awake, "quay") == ["memory/ops/moves.md"]
    assert index_brain.find_words(asleep, "quay") == ["memory/ops/moves.md"]
    assert index_brain.find_words(asleep, "turn3") == []
    assert index_brain.find_words(asleep, "turn11") == ["memory/ops/moves.md"]


def test_many_files_go_at_once(index_brain: IndexBrain) -> None:
    """Five hundred files of one line disappear in one look, and the other line stays."""
    for number in range(500):
        index_brain.write(f"memory/big/n{number}.md", f"quay {number}\n")
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    one, two = index_brain.open(), index_brain.open()
    assert len(index_brain.find_words(one, "quay")) == 501
    two.refresh(limit_s=None)
    (index_brain.root / "memory/big").rename(index_brain.root / "attic")
    assert index_brain.find_words(one, "quay") == ["memory/ops/a.md"]
    assert index_brain.find_words(two, "quay") == ["memory/ops/a.md"]


def test_a_forgotten_note_leaves_no_word_in_the_index(index_brain: IndexBrain) -> None:
    """Neither its text nor any of its words stands in the database or its log, before the deletion or after it."""
    index_brain.write("memory/ops/a.md", "# A\n\n- the passphrase is xylophone4711\n- quay\n")
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    assert index_brain.find_words(live, "xylophone4711") == ["memory/ops/a.md"]
    for word in (b"xylophone", b"passphrase"):
        assert word not in index_brain.index_bytes()
    index_brain.write("memory/ops/a.md", "# A\n\n- quay\n")
    assert index_brain.find_words(live, "xylophone4711") == []
    assert b"xylophone" not in index_brain.index_bytes()


def test_a_removed_name_leaves_the_index(index_brain: IndexBrain) -> None:
    """The path of a file that is gone is wiped from the file and, with the next change, from its log."""
    index_brain.write("memory/ops/xylophone4711.md", "# A\n\nquay\n")
    live = index_brain.open()
    live.refresh(limit_s=None)
    assert b"xylophone4711" in index_brain.index_bytes()
    (index_brain.root / "memory/ops/xylophone4711.md").unlink()
    live.refresh(limit_s=None)
    live.close()
    assert b"xylophone4711" not in index_brain.index_bytes()


def test_summaries_of_periods_have_the_last_day_of_the_period(index_brain: IndexBrain) -> None:
    """A note of a week, month, quarter or year that has no day of its own belongs to the last day of its period."""
    days = {
        "2026-W49": "2026-12-06", "2026-02": "2026-02-28", "2026-Q2": "2026-06-30", "2026": "2026-12-31",
    }  # fmt: skip
    from datetime import date

    from omnislash.index.sync import _period_end

    for (name, day), kind in zip(days.items(), ("week", "month", "quarter", "year"), strict=True):
        assert _period_end(kind, f"memory/ops/2026/{name}.md") == date.fromisoformat(day)
    assert _period_end("document", "memory/ops/2026-02.md") is None
