"""A worker's index follows the files: by hints where the system gives them, by looking where it does not."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import watchfiles

from omnislash.core import pauses
from omnislash.errors import OmnislashError
from omnislash.index import watcher as watcher_module
from omnislash.index.watcher import Watcher
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from omnislash.index.live import LiveIndex
    from tests.integration.index.conftest import IndexBrain

#: How long a change may take to be indexed here, in seconds; far less than the time between two looks without a hint.
PATIENCE_S = 8.0


@pytest.fixture
def watchers() -> Iterator[list[Watcher]]:
    """Watchers that are stopped with the test."""
    found: list[Watcher] = []
    yield found
    for watcher in found:
        watcher.stop()
    assert not [thread for thread in threading.enumerate() if thread.name in {"omnislash-index", "omnislash-watch"}]


def start(live: LiveIndex, watchers: list[Watcher]) -> Watcher:
    """Start a watcher."""
    watcher = Watcher(lambda: live)
    watchers.append(watcher)
    watcher.start()
    return watcher


def indexed(live: LiveIndex) -> set[str]:
    """Return what the index on disk has, without catching up."""
    return {row[0] for row in live.open_database().rows("SELECT place FROM files")}


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so; fail when it takes too long."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.02)


@pytest.mark.rule("RECALL-11")
def test_changes_are_taken_up_without_a_search(index_brain: IndexBrain, watchers: list[Watcher]) -> None:
    """What was there before, a new file, a change and a removal are in the index, vectors included, soon afterwards."""
    index_brain.write("memory/ops/old.md", "# Old\n\nquay\n")
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    watcher = start(live, watchers)
    wait_until(lambda: indexed(live) == {"memory/ops/old.md"})
    index_brain.write("memory/ops/new.md", "# New\n\nlamp\n")
    wait_until(lambda: indexed(live) == {"memory/ops/old.md", "memory/ops/new.md"})
    (index_brain.root / "memory/ops/old.md").unlink()
    wait_until(lambda: indexed(live) == {"memory/ops/new.md"})
    wait_until(lambda: index_brain.count_waiting(live) == 0)
    assert embedder.texts == 2
    assert watcher.state == "watching"


def test_a_line_and_a_source_that_come_later(index_brain: IndexBrain, watchers: list[Watcher]) -> None:
    """A source that is made while the watcher runs, and a new line with folders in it, are followed too."""
    live = index_brain.open(sources=("lore",))
    start(live, watchers)
    index_brain.write("memory/fresh/2027/01/2027-01-01.md", "- 09:00 quay\n")
    wait_until(lambda: "memory/fresh/2027/01/2027-01-01.md" in indexed(live))
    index_brain.write("lore/deep/er/a.md", "# A\n\nquay\n")
    wait_until(lambda: "lore/deep/er/a.md" in indexed(live))
    index_brain.write("lore/deep/er/b.md", "# B\n\nquay\n")
    wait_until(lambda: "lore/deep/er/b.md" in indexed(live))


def test_a_directory_that_is_replaced_is_watched_again(index_brain: IndexBrain, watchers: list[Watcher]) -> None:
    """`memory/` itself is moved away and comes back as another directory."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open()
    start(live, watchers)
    wait_until(lambda: indexed(live) == {"memory/ops/a.md"})
    (index_brain.root / "memory").rename(index_brain.root / "old")
    index_brain.write("memory/ops/b.md", "# B\n\nquay\n")
    wait_until(lambda: indexed(live) == {"memory/ops/b.md"})
    index_brain.write("memory/ops/c.md", "# C\n\nquay\n")
    wait_until(lambda: indexed(live) == {"memory/ops/b.md", "memory/ops/c.md"})


def test_a_file_that_no_hint_told_of_is_found_by_the_second_look(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a hint all files are looked at once more: what came into a directory before its watch was set is there."""
    live = index_brain.open()
    looks: list[float] = []
    real = live.refresh

    def refresh(**options: object) -> object:
        looks.append(time.monotonic())
        return real(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(live, "refresh", refresh)
    monkeypatch.setattr(Watcher, "_listen", lambda _: None)
    watcher = start(live, watchers)
    wait_until(lambda: len(looks) == 1)
    watcher._hint.set()
    wait_until(lambda: len(looks) == 2)
    index_brain.write("memory/ops/silent.md", "# S\n\nquay\n")
    wait_until(lambda: "memory/ops/silent.md" in indexed(live))
    time.sleep(1.5)
    assert len(looks) == 3


def test_its_own_writes_are_no_hint(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing the index does not lead to the next look: after a change there is quiet."""
    live = index_brain.open(CountingEmbedder())
    looks: list[float] = []
    real = live.refresh

    def refresh(**options: object) -> object:
        looks.append(time.monotonic())
        return real(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(live, "refresh", refresh)
    start(live, watchers)
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    wait_until(lambda: indexed(live) == {"memory/ops/a.md"})
    time.sleep(2 * watcher_module._AGAIN_S)
    seen = len(looks)
    time.sleep(2.5 * watcher_module._AGAIN_S)
    assert len(looks) == seen


@pytest.mark.rule("RECALL-11")
def test_without_a_watch_it_looks_from_time_to_time(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The limit of watches is reached: one warning names it, the state says degraded, and changes are still found."""

    def refuse(*_: object, **__: object) -> object:
        message = 'OS file watch limit reached. about ["/somewhere"]'
        raise OSError(28, message)

    monkeypatch.setattr(watchfiles, "watch", refuse)
    monkeypatch.setattr(watcher_module, "UNWATCHED_S", 0.1)
    live = index_brain.open()
    watcher = start(live, watchers)
    wait_until(lambda: watcher.state == "degraded")
    index_brain.write("memory/ops/deep/er/a.md", "# A\n\nquay\n")
    wait_until(lambda: indexed(live) == {"memory/ops/deep/er/a.md"})
    index_brain.write("memory/ops/deep/er/b.md", "# B\n\nquay\n")
    wait_until(lambda: len(indexed(live)) == 2)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "OS file watch limit reached" in warnings[0]
    assert "fs.inotify.max_user_watches" in warnings[0]


@pytest.mark.rule("RECALL-11")
def test_a_watch_that_broke_begins_again(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One event that the watch can't take is no end of watching: a moment later the state is watching again."""
    real, calls = watchfiles.watch, []

    def break_once(*places: Path, **options: Any) -> object:
        calls.append(places)
        if len(calls) == 1:
            message = "a name that is no text"
            raise RuntimeError(message)
        return real(*places, **options)

    monkeypatch.setattr(watchfiles, "watch", break_once)
    monkeypatch.setattr(pauses, "FIRST_S", 0.3)
    watcher = start(index_brain.open(), watchers)
    wait_until(lambda: watcher.state == "degraded")
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    wait_until(lambda: watcher.state == "watching" and len(calls) > 1)
    assert caplog.text.count("are not watched for now (a name that is no text)") == 1


def test_trouble_is_said_once_and_ends_nothing(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An embedder that is down is named once, however often it is asked; notes get their vectors when it is back."""
    monkeypatch.setattr(watcher_module, "WATCHED_S", 0.1)
    embedder = CountingEmbedder()
    embedder.fail(4, "The model is not there.")
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open(embedder)
    start(live, watchers)
    wait_until(lambda: indexed(live) == {"memory/ops/a.md"})
    wait_until(lambda: index_brain.count_waiting(live) == 0)
    assert [record.getMessage() for record in caplog.records] == ["The model is not there."]


def test_a_configuration_that_does_not_load_ends_no_thread(
    index_brain: IndexBrain, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that can't be had at first is asked for again."""
    monkeypatch.setattr(watcher_module, "WATCHED_S", 0.1)
    monkeypatch.setattr(watcher_module, "UNWATCHED_S", 0.1)
    live, refusals = index_brain.open(), [OmnislashError("omnislash.yaml can't be read.") for _ in range(4)]

    def get() -> LiveIndex:
        if refusals:
            raise refusals.pop()
        return live

    watcher = Watcher(get)
    watchers.append(watcher)
    watcher.start()
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    wait_until(lambda: indexed(live) == {"memory/ops/a.md"})


def test_stopping_in_the_middle_of_a_first_build(index_brain: IndexBrain, watchers: list[Watcher]) -> None:
    """A stop waits for the batch at hand and not for the thousands behind it."""
    for number in range(300):
        index_brain.write(f"memory/ops/n{number}.md", f"# N\n\nword{number}\n")
    embedder = CountingEmbedder(delay_s=0.3)
    live = index_brain.open(embedder)
    watcher = start(live, watchers)
    wait_until(lambda: embedder.texts > 0)
    begun = time.monotonic()
    watcher.stop()
    assert time.monotonic() - begun < 3
    assert 0 < index_brain.count_waiting(live) < 300
