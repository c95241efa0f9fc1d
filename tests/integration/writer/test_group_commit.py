"""Callers that wait together share their syncs, keep their order, and answer each for itself."""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash.core.lines import LineName, ManagedPath
from omnislash.core.verdicts import Outcome
from omnislash.store.disk import Disk
from omnislash.writer.jobs import EditRequest, Job, WriteFileRequest, WriteRequest
from omnislash.writer.writer import BATCH_JOBS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash import Verdict
    from omnislash.writer.jobs import Request
    from omnislash.writer.worker import Worker
    from tests.integration.conftest import SampleBrain

TODAY = "2026/08/2026-08-30.md"


class CountingDisk(Disk):
    """Counts what costs time, holds the first new file until told, and can fail on a name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.reached = threading.Event()
        self.released = threading.Event()
        self.broken = ""

    def sync(self, descriptor: int) -> None:
        self.counts["sync"] += 1
        super().sync(descriptor)

    def commit(self, connection: sqlite3.Connection) -> None:
        self.counts["commit"] += 1
        super().commit(connection)

    def exchange(self, temp: Path, target: Path) -> None:
        self._check(target)
        self.counts["swap"] += 1
        super().exchange(temp, target)

    def link(self, temp: Path, target: Path) -> None:
        self._check(target)
        if not self.reached.is_set():
            self.reached.set()
            assert self.released.wait(30)
        self.counts["swap"] += 1
        super().link(temp, target)

    def _check(self, target: Path) -> None:
        if self.broken and target.match(self.broken):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(target))


class BusyWorker:
    """A worker that is held in its first job, so that what is handed in meanwhile waits together."""

    def __init__(self, sample: SampleBrain) -> None:
        self.disk = CountingDisk()
        self._sample = sample
        self._brain = sample.open(disk=self.disk)
        self._worker: Worker = self._brain.start_worker()
        self._first = self._worker.submit(self._job("first", WriteRequest("first"), "zero"))
        assert self.disk.reached.wait(10)

    @staticmethod
    def _job(key: str, request: Request, line: str) -> Job:
        at = datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
        return Job(key.ljust(20, "0"), LineName(line), request, at, role="nova")

    def run(self, *requests: tuple[Request, str]) -> list[Verdict]:
        """Return the verdicts of jobs that wait together, each a request and its line."""
        waiting = [
            self._worker.submit(self._job(f"j{number:04}", request, line))
            for number, (request, line) in enumerate(requests)
        ]
        self.disk.counts.clear()
        self.disk.released.set()
        self._first.result(timeout=30)
        return [each.result(timeout=30) for each in waiting]

    def stop(self) -> None:
        """Stop the worker."""
        self.disk.released.set()
        self._worker.stop()


@pytest.fixture
def busy(sample: SampleBrain) -> Iterator[BusyWorker]:
    """Return a worker that is busy with a job of the line `zero`."""
    worker = BusyWorker(sample)
    yield worker
    worker.stop()


def wrote(content: str, line: str = "main") -> tuple[Request, str]:
    """Return a plain write."""
    return WriteRequest(content), line


def test_waiting_writes_share_their_syncs(sample: SampleBrain, busy: BusyWorker) -> None:
    """Forty writes that wait together cost one replacement and two commits, and each has its verdict and its row."""
    verdicts = busy.run(*(wrote(f"n{number:02}") for number in range(40)))

    assert {(verdict.outcome, verdict.paths) for verdict in verdicts} == {(Outcome.WRITTEN, (f"main/{TODAY}",))}
    assert sample.text(f"main/{TODAY}").splitlines()[2:] == [f"- 09:05 n{number:02}" for number in range(40)]
    # The held job: its swap and its verdict. The batch of forty: one swap, the intent and the verdicts.
    assert busy.disk.counts["swap"] == 2
    assert busy.disk.counts["commit"] == 3
    assert len(sample.open().audit(limit=100).rows) == 41


@pytest.mark.rule("WRITE-01")
def test_order_holds_over_several_batches(sample: SampleBrain, busy: BusyWorker) -> None:
    """More jobs than one batch takes keep the order in which they came, each line for itself."""
    count = 2 * BATCH_JOBS + 10

    verdicts = busy.run(*(wrote(f"n{number:03}", ("main", "ops")[number % 2]) for number in range(count)))

    assert {verdict.outcome for verdict in verdicts} == {Outcome.WRITTEN}
    for line, first in (("main", 0), ("ops", 1)):
        texts = sample.text(f"{line}/{TODAY}").splitlines()[2:]
        assert texts == [f"- 09:05 n{number:03}" for number in range(first, count, 2)]


@pytest.mark.rule("WRITE-14")
def test_jobs_of_a_batch_see_each_other(sample: SampleBrain, busy: BusyWorker) -> None:
    """Within a batch the second of two same entries is a duplicate, and an edit finds the entry before it."""
    path = ManagedPath(f"main/{TODAY}")

    verdicts = busy.run(
        wrote("one"),
        wrote("One"),
        (EditRequest(path, "one", "two"), "main"),
        wrote("one"),
        (EditRequest(path, "absent", "x"), "main"),
        wrote("two"),
    )

    assert [verdict.outcome.value for verdict in verdicts] == [
        "written", "duplicate", "written", "written", "refused", "duplicate",
    ]  # fmt: skip
    assert sample.text(f"main/{TODAY}") == "# 2026-08-30\n\n- 09:05 two\n- 09:05 one\n"


def test_file_in_the_way_is_one_jobs_trouble(sample: SampleBrain, busy: BusyWorker) -> None:
    """A job whose file can't be read fails alone."""
    (sample.root / "memory/main/way.md").mkdir(parents=True)

    verdicts = busy.run(wrote("one"), (WriteFileRequest(ManagedPath("main/way.md"), "x"), "main"), wrote("two"))

    assert [verdict.outcome for verdict in verdicts] == [Outcome.WRITTEN, Outcome.FAILED, Outcome.WRITTEN]
    assert sample.text(f"main/{TODAY}") == "# 2026-08-30\n\n- 09:05 one\n- 09:05 two\n"


@pytest.mark.parametrize("broken", ["memory/ops/*/*/*.md", "memory/main/*/*/*.md"])
def test_disk_error_is_one_jobs_trouble(sample: SampleBrain, busy: BusyWorker, broken: str) -> None:
    """When the disk refuses one file of a batch, its jobs fail with the cause, and every other job is done."""
    busy.disk.broken = broken

    verdicts = busy.run(*(wrote(f"n{number}", ("main", "ops", "desk")[number % 3]) for number in range(9)))

    bad = broken.split("/")[1]
    assert {
        verdict.outcome for verdict, line in zip(verdicts, ["main", "ops", "desk"] * 3, strict=True) if line == bad
    } == {Outcome.FAILED}
    good = [line for line in ("main", "ops", "desk") if line != bad]
    for line in good:
        assert len(sample.text(f"{line}/{TODAY}").splitlines()) == 5
    assert {path for path in sample.files() if not path.startswith("zero/")} == {f"{line}/{TODAY}" for line in good}
    rows = sample.open().audit(limit=100).rows
    assert Counter(row.outcome for row in rows) == {"written": 7, "failed": 3}


@pytest.mark.rule("WRITE-O9", "WRITE-O5")
def test_same_job_twice_in_a_batch_runs_once(sample: SampleBrain, busy: BusyWorker) -> None:
    """The same job, handed in twice while the worker is busy, runs once, and both callers hear the same."""
    job = busy._job("twice", WriteRequest("x"), "main")

    calls = [busy._worker.submit(job) for _ in range(2)]
    busy.run()

    verdicts = [call.result(timeout=30) for call in calls]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].outcome is Outcome.WRITTEN
    assert sample.text(f"main/{TODAY}") == "# 2026-08-30\n\n- 09:05 x\n"


def test_stop_answers_or_lets_go_everybody(sample: SampleBrain) -> None:
    """A worker that is stopped with callers waiting leaves nobody waiting for ever, and the rest can be done later."""
    busy = BusyWorker(sample)
    calls = [busy._worker.submit(busy._job(f"j{number}", WriteRequest(f"n{number}"), "main")) for number in range(5)]
    stopper = threading.Thread(target=busy.stop)
    stopper.start()
    stopper.join(timeout=30)

    assert not stopper.is_alive()
    assert all(call.done() for call in calls)
    assert busy._worker.submit(busy._job("late", WriteRequest("x"), "main")).cancelled()
