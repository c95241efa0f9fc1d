"""A brain that follows its files while people edit them."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.brain import reading
from omnislash.brain.loading import LiveBrain
from omnislash.brain.reading import TICK_S, Reading
from omnislash.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "constitution/MANIFEST.yaml"
NOVA = "features/nova.agent.md"


def put(root: Path, name: str, text: str) -> None:
    """Write a file in place."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a brain with a manifest and a role."""
    put(tmp_path, "omnislash.yaml", "")
    put(tmp_path, MANIFEST, "memory: { recentDays: 1 }\n")
    put(tmp_path, NOVA, "---\nmemory: {}\n---\n")
    return tmp_path


def live(root: Path) -> LiveBrain:
    """Open a brain that has no shipped constitution."""
    return LiveBrain(root, shipped=root / "none")


def settle() -> None:
    """Wait until the stamps of what was just written can be trusted."""
    time.sleep(TICK_S * 1.5)


@pytest.mark.rule("KNOB-26")
def test_edited_manifest_takes_effect(root: Path) -> None:
    """A change of the manifest is in force at the next call, without a restart."""
    brain = live(root)
    assert brain.current().manifest.memory.recent_days == 1
    put(root, MANIFEST, "memory: { recentDays: 22 }\n")
    assert brain.current().manifest.memory.recent_days == 22


def coarse(found: os.stat_result) -> os.stat_result:
    """Return a state as a file system with a slow clock gives it: all times of 80 milliseconds are one."""
    tick = 80_000_000
    times = {f"st_{kind}_ns": getattr(found, f"st_{kind}_ns") // tick * tick for kind in ("atime", "mtime", "ctime")}
    return os.stat_result(tuple(found), times)


@pytest.mark.rule("KNOB-26")
def test_edits_within_one_tick_are_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits that change neither size nor inode nor, in one tick of the disk's clock, the times are all seen."""
    stat, fstat = os.stat, os.fstat
    monkeypatch.setattr(os, "stat", lambda path, **options: coarse(stat(path, **options)))
    monkeypatch.setattr(os, "fstat", lambda descriptor: coarse(fstat(descriptor)))
    brain = live(root)
    for days in [*range(2, 10)] * 5:
        put(root, MANIFEST, f"memory: {{ recentDays: {days} }}\n")
        assert brain.current().manifest.memory.recent_days == days


class Watch:
    """A clock that is set by hand, and a disk whose clock stands still."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = self.stamp = datetime(2026, 12, 1, 12, tzinfo=UTC)
        monkeypatch.setattr(reading, "SystemClock", lambda: self)
        stat, fstat = os.stat, os.fstat
        monkeypatch.setattr(os, "stat", lambda path, **options: self.still(stat(path, **options)))
        monkeypatch.setattr(os, "fstat", lambda descriptor: self.still(fstat(descriptor)))

    def now(self) -> datetime:
        """Return the time."""
        return self.at

    def still(self, found: os.stat_result) -> os.stat_result:
        """Return a state with the times of the standing clock."""
        times = {f"st_{kind}_ns": int(self.stamp.timestamp()) * 10**9 for kind in ("atime", "mtime", "ctime")}
        return os.stat_result(tuple(found), times)

    def end_tick(self) -> None:
        """Let more time pass than a tick takes."""
        self.at += timedelta(seconds=2 * TICK_S)


@pytest.mark.rule("KNOB-26")
def test_an_edit_is_taken_when_its_tick_ends_before_it_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a busy machine takes from noticing an edit to reading it, the edit is read and not what was before."""
    watch = Watch(monkeypatch)
    brain = live(root)
    look = reading.Reading.has_changed

    def look_slowly(found: reading.Reading) -> bool:
        has_changed = look(found)
        watch.end_tick()
        return has_changed

    monkeypatch.setattr(reading.Reading, "has_changed", look_slowly)
    put(root, MANIFEST, "memory: { recentDays: 2 }\n")
    assert brain.current().manifest.memory.recent_days == 2


@pytest.mark.rule("KNOB-26")
def test_an_edit_in_the_middle_of_a_slow_read_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was young when it was read is looked at again, however long the read took."""
    watch = Watch(monkeypatch)
    read = reading._read_bytes

    def read_slowly(path: str) -> tuple[os.stat_result, bytes]:
        found = read(path)
        watch.end_tick()
        return found

    with monkeypatch.context() as slow:
        slow.setattr(reading, "_read_bytes", read_slowly)
        brain = live(root)
    put(root, MANIFEST, "memory: { recentDays: 2 }\n")
    assert brain.current().manifest.memory.recent_days == 2


def test_nothing_changed_means_the_same_object(root: Path) -> None:
    """While nothing changes, nothing is loaded again, neither at once nor after the files have settled."""
    brain = live(root)
    first = brain.current()
    settle()
    assert brain.current() is first
    assert brain.current() is first


def test_new_and_removed_files_are_seen(root: Path) -> None:
    """Roles and directories come and go, and so do files that were not there at first."""
    brain = live(root)
    settle()
    put(root, "features/team/deep/ops.agent.md", "---\nmemory: {}\n---\n")
    assert set(brain.current().roles) == {"nova", "ops"}
    (root / NOVA).unlink()
    assert set(brain.current().roles) == {"ops"}
    put(root, "constitution/access.yaml", "chats: { a: ops }\n")
    assert brain.current().access.role_of_chat("a") == "ops"
    put(root, "constitution/Agents/system/role-own.md", "---\n---\n")
    assert "system:own" in brain.current().roles
    shutil.rmtree(root / "features")
    assert set(brain.current().roles) == {"system:own"}


def test_file_replaced_by_rename_is_seen(root: Path) -> None:
    """An editor that saves by rename is followed, also when time and size stay."""
    brain = live(root)
    settle()
    before = (root / NOVA).stat()
    fresh = root / "features" / ".nova.swp"
    fresh.write_text("---\nname: me\n---\n\n")
    fresh.touch()
    os.utime(fresh, ns=(before.st_atime_ns, before.st_mtime_ns))
    fresh.rename(root / NOVA)
    assert (root / NOVA).stat().st_mtime_ns == before.st_mtime_ns
    assert brain.current().roles["nova"].display_name == "me"


def test_new_line_is_seen_and_other_files_are_not_a_change(root: Path) -> None:
    """A directory under memory/ is a new line; the index beside it and an editor's files load nothing again."""
    brain = live(root)
    put(root, "memory/main/MEMORY.md", "x")
    first = brain.current()
    assert first.lines_on_disk == {"main"}
    put(root, "memory/.memory-index.db", "x")
    put(root, "features/.nova.agent.md.swp", "x")
    put(root, "features/README.md", "x")
    settle()
    assert brain.current() is first
    put(root, "memory/ops/MEMORY.md", "x")
    assert brain.current().lines_on_disk == {"main", "ops"}


@pytest.mark.rule("KNOB-O6")
def test_bad_edit_keeps_the_last_good_state(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A manifest that does not load leaves the last good one in force, says so once, and recovers when it is mended."""
    caplog.set_level(logging.INFO)
    brain = live(root)
    good = brain.current()
    put(root, MANIFEST, "memory: { recentDays: off }\n")
    assert brain.current() is good
    assert brain.current() is good
    assert isinstance(brain.last_error, ConfigError)
    assert brain.last_error.key == "memory.recentDays"

    put(root, MANIFEST, "memory: { recentDays: 7 }\n")
    assert brain.current().manifest.memory.recent_days == 7
    assert brain.last_error is None
    actions = [getattr(record, "action", None) for record in caplog.records]
    assert actions == ["config_rejected", "config_reloaded"]


@pytest.mark.rule("KNOB-O6")
def test_each_different_reason_is_logged(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A second fault is logged as well, the same fault after another edit is not."""
    brain = live(root)
    for text in ("memory: { recentDays: off }\n", "memory: { recentDays: off }\n\n", "memory: { recallScore: 2 }\n"):
        put(root, MANIFEST, text)
        brain.current()
    assert [getattr(record, "action", None) for record in caplog.records] == ["config_rejected"] * 2


@pytest.mark.rule("KNOB-O5")
def test_bad_role_is_left_out_alone_while_running(root: Path) -> None:
    """A role that is edited into a fault is refused alone, and is back when it is mended."""
    brain = live(root)
    put(root, NOVA, "---\nmemory: { recallResult: 1 }\n---\n")
    assert brain.current().roles == {}
    assert [fault.path for fault in brain.current().faults] == [NOVA]
    assert brain.last_error is None
    put(root, NOVA, "---\nmemory: {}\n---\n")
    assert set(brain.current().roles) == {"nova"}


def test_brain_that_is_gone_for_a_moment_comes_back(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """While the directory is away the last good state holds, and its return is noticed."""
    brain = live(root)
    aside = tmp_path_factory.mktemp("aside") / "brain"
    root.rename(aside)
    assert set(brain.current().roles) == {"nova"}
    assert brain.last_error is not None
    put(aside, NOVA, "---\nname: back\n---\n")
    aside.rename(root)
    assert brain.current().roles["nova"].display_name == "back"


def test_young_file_that_goes_away_is_a_change(root: Path) -> None:
    """A file that can't be compared by its bytes any more counts as changed."""
    reading = Reading()
    reading._young[str(root / "gone")] = b""
    assert reading.has_changed()


def test_first_load_must_be_good(root: Path) -> None:
    """There is no last good state before the first one."""
    put(root, MANIFEST, "memory: 5\n")
    with pytest.raises(ConfigError):
        live(root)


def test_threads_share_a_brain(root: Path) -> None:
    """Threads that ask while files change get whole states only, and the last edit in the end."""
    brain = live(root)
    seen: set[int | None] = set()
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                seen.add(brain.current().manifest.memory.recent_days)
        except BaseException as error:  # noqa: BLE001  a thread's failure is the test's
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for days in range(100):
        fresh = root / "constitution" / "fresh"
        fresh.write_text(f"memory: {{ recentDays: {days} }}\n")
        fresh.replace(root / MANIFEST)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen <= set(range(100))
    assert brain.current().manifest.memory.recent_days == 99


def test_asking_reads_no_file_again(root: Path) -> None:
    """With some sixty files, a call that finds nothing changed only looks at them: far less than a load takes."""
    for number in range(60):
        put(root, f"features/team/r{number}.agent.md", "---\nmemory: {}\n---\n")
    brain = live(root)
    settle()
    brain.current()
    times = []
    for _ in range(20):
        started = time.process_time()
        brain.current()
        times.append(time.process_time() - started)
    assert min(times) < 0.01
