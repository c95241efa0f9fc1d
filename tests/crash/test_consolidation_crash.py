"""Stop a tick in every state it has, then tick again: the same ladder as in the quiet run.

Rules: PERIOD-19, PERIOD-21, PERIOD-33, PERIOD-O9, PERIOD-O11, WRITE-O5, EVENT-06.
"""

from __future__ import annotations

import errno
import os
import random  # noqa: TID251 - seeded: the same each time
import shutil
import signal
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.testing import (
    CountingDisk,
    FailingDisk,
    FixedClock,
    InterruptingDisk,
    PowerLossDisk,
    ScriptedModel,
    StoppingDisk,
)
from omnislash.testing.disks import STOPPED
from tests.crash.harness import empty_directories, leftovers, make_brain, query, restart, run_in_child, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.store.disk import Disk

#: Wednesday, 2 September 2026: August and its weeks are over.
NIGHT = datetime(2026, 9, 2, 4, 0, tzinfo=UTC)
WEEK = "main/2026/2026-W34.md"

#: A sweep of many seconds; its kinds of work are swept in the everyday run by the other files here.
pytestmark = pytest.mark.long


def make_template(root: Path) -> Path:
    """Make a brain with two weeks and two last days of August."""
    days = [date(2026, 8, day) for day in (18, 20, 25, 27, 31)]
    files = {f"main/2026/08/{on}.md": f"# {on}\n\n- 08:00 The heating was repaired on day {on.day}.\n" for on in days}
    make_brain(root, files)
    lines = "{main: {periods: [week, month]}}"
    (root / "constitution/MANIFEST.yaml").write_text(
        f"memory: {{consolidation: {{lines: {lines}}}}}\n", encoding="utf-8"
    )
    return root


def tick(root: Path, *, disk: Disk | None = None, model: ScriptedModel | None = None) -> list[str]:
    """Tick two nights in a row, as one process, and return the reasons of the runs that failed."""
    failed: list[str] = []
    with Brain.open(root, clock=FixedClock(NIGHT), disk=disk) as brain:
        for night in range(2):
            answer = brain.consolidate(now=NIGHT + timedelta(days=night), models=model or ScriptedModel())
            failed += [each.reason for line in answer.lines for each in line.failed]
    return failed


def events(root: Path) -> list[tuple[str, str]]:
    """Return the events of summaries, without the order in which they came."""
    rows = query(root, "SELECT name, payload FROM events ORDER BY id")
    return sorted((row["name"], row["payload"]) for row in rows)


class Quiet:
    """The brain before, and what an undisturbed run leaves of it."""

    def __init__(self, place: Path) -> None:
        self.template = make_template(place / "template")
        root, disk = self.copy("quiet"), CountingDisk()
        assert tick(root, disk=disk) == []
        self.names = disk.names
        self.files = snapshot(root)
        self.events = events(root)
        assert {path for path in self.files if path.count("/") == 2} == {
            WEEK,
            "main/2026/2026-W35.md",
            "main/2026/2026-08.md",
        }
        assert len(self.events) == 3
        assert not leftovers(root)

    def copy(self, name: str) -> Path:
        """Return a fresh copy of the brain."""
        return shutil.copytree(self.template, self.template.with_name(name))

    def check(self, root: Path, point: str) -> None:
        """Tick again, let a worker start, and hold what is left against the quiet run."""
        assert tick(root) == [], point
        restart(root)
        assert snapshot(root) == self.files, point
        assert events(root) == self.events, point
        assert not leftovers(root), point
        assert not empty_directories(root), point
        shutil.rmtree(root)


@pytest.fixture
def quiet(place: Path) -> Quiet:
    """Return the quiet run."""
    return Quiet(place)


@pytest.mark.rule("PERIOD-19", "PERIOD-O9", "PERIOD-O11", "WRITE-O5", "EVENT-06")
def test_stopped_at_every_disk_call(quiet: Quiet) -> None:
    """Kill -9 before, during and after each call: the next ticks give the same files and each event once."""
    assert len(quiet.names) >= 30
    for at, name in enumerate(quiet.names, start=1):
        for when in ("before", "during", "after") if name == "write" else ("before", "after"):
            root = quiet.copy("stopped")
            disk = StoppingDisk(at=at, when=when)
            assert run_in_child(lambda: tick(root, disk=disk)) == STOPPED  # noqa: B023
            quiet.check(root, f"{when} call {at} ({name})")


@pytest.mark.rule("PERIOD-O9")
@pytest.mark.parametrize("run", [1, 2, 3])
def test_killed_while_a_model_runs(quiet: Quiet, run: int) -> None:
    """SIGKILL in the middle of a run leaves what earlier runs filed, and the lock dies with the process."""
    root = quiet.copy("killed")
    model = ScriptedModel()

    def kill(_request: object) -> None:
        if len(model.requests) == run:
            os.kill(os.getpid(), signal.SIGKILL)

    model.during = kill
    assert run_in_child(lambda: tick(root, model=model)) == -signal.SIGKILL

    filed = [path for path in snapshot(root) if path.count("/") == 2]
    assert len(filed) == run - 1
    quiet.check(root, f"run {run}")


@pytest.mark.rule("PERIOD-O11", "WRITE-O5")
def test_power_cut_at_every_disk_call(quiet: Quiet) -> None:
    """Whatever the disk kept when the power went, the next ticks give the same files."""
    for at in range(1, len(quiet.names) + 1):
        for seed in (None, at):
            root = quiet.copy("cut")

            def run(at: int = at, seed: int | None = seed, root: Path = root) -> None:
                chance = None if seed is None else random.Random(seed)
                tick(root, disk=PowerLossDisk(root / "memory", at=at, chance=chance))

            assert run_in_child(run) == STOPPED
            tick(root)
            restart(root)
            assert snapshot(root) == quiet.files, f"cut before call {at}, seed {seed}"
            assert not leftovers(root), f"cut before call {at}, seed {seed}"
            shutil.rmtree(root)


@pytest.mark.rule("PERIOD-O9", "PERIOD-21")
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_failed_at_every_disk_call(quiet: Quiet, error: int) -> None:
    """A disk that says no once: the run is told as failed or is done, never half; the next ticks end it."""
    for at, name in enumerate(quiet.names, start=1):
        root = quiet.copy("failed")
        failed = tick(root, disk=FailingDisk(at=at, error=error))
        assert all(reason for reason in failed)
        for path, data in snapshot(root).items():
            if path.count("/") == 2 and not path.rpartition("/")[2].startswith("."):
                assert data == quiet.files[path], f"call {at} ({name})"
        for _ in range(2):
            tick(root)
        restart(root)
        assert snapshot(root) == quiet.files, f"call {at} ({name})"
        assert not leftovers(root), f"call {at} ({name})"
        shutil.rmtree(root)


@pytest.mark.rule("PERIOD-21", "PERIOD-O11")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["in place", "by rename"])
def test_a_person_saves_at_every_disk_call(quiet: Quiet, when: str, how: str) -> None:
    """Their summary of the same week stands byte for byte whenever it was saved, and nothing of theirs is set aside.

    Only where the engine's file has been there first, their editor has replaced it, as it replaces any file.
    """
    theirs = b"# 2026-W34\r\n\r\nIn my own words.\r\n"

    def save(root: Path) -> Callable[[], None]:
        def write() -> None:
            target = root / "memory" / WEEK
            if how == "in place":
                target.write_bytes(theirs)
            else:
                target.with_name("mine").write_bytes(theirs)
                target.with_name("mine").replace(target)

        return write

    for at, name in enumerate(quiet.names, start=1):
        root = quiet.copy("person")
        failed = tick(root, disk=InterruptingDisk({at: save(root)}, when=when))  # type: ignore[arg-type]
        restart(root)
        point = f"{when} call {at} ({name}), {how}"
        assert failed == [], point
        assert snapshot(root)[WEEK] == theirs, point
        assert not leftovers(root), point
        shutil.rmtree(root)
