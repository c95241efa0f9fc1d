"""What a caller is told when the worker is stopped, busy, dead, or was never there."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash.core.lines import LineName
from omnislash.core.verdicts import WAIT_LIMIT_S, Outcome
from omnislash.store.disk import Disk
from omnislash.store.state import State
from omnislash.store.system_clock import SystemClock
from omnislash.writer import wake
from omnislash.writer.client import WriterClient
from omnislash.writer.jobs import Job, WriteRequest

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash import Verdict
    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


class HeldDisk(Disk):
    """Holds every new file until it is released."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()

    def link(self, temp: Path, target: Path) -> None:
        self.reached.set()
        assert self.released.wait(30)
        super().link(temp, target)


def job(content: str) -> Job:
    """Return a job of a content."""
    at = datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
    return Job(content.ljust(20, "0"), LineName("main"), WriteRequest(content), at, role="nova")


@pytest.mark.rule("WRITE-02")
def test_wait_limit_is_ninety_seconds(sample: SampleBrain) -> None:
    """A caller waits at most 90 seconds unless it says otherwise."""
    client = WriterClient(sample.root, state=lambda: State(sample.root / "x.db"), writer=None, clock=SystemClock())

    assert WAIT_LIMIT_S == 90
    assert client._wait_s == 90


@pytest.mark.rule("WRITE-02", "WRITE-04", "WRITE-05", "WRITE-06", "WRITE-O1")
def test_busy_worker_gives_unconfirmed_after_the_wait(sample: SampleBrain) -> None:
    """When the lane is backed up past the wait, the answer is UNCONFIRMED with its advice; the write still lands."""
    disk = HeldDisk()
    brain = sample.open(disk=disk)
    worker = brain.start_worker()
    directory = sample.root / ".omnislash"
    state = State(directory / "state.db")
    client = WriterClient(directory, state=lambda: state, writer=None, clock=sample.clock, wait_s=0.3)

    started = time.monotonic()
    verdict = client.submit(job("x"))
    waited = time.monotonic() - started
    assert disk.reached.is_set()
    disk.released.set()

    assert 0.25 < waited < 3
    assert (verdict.outcome, verdict.paths, verdict.job) == (Outcome.UNCONFIRMED, (), job("x").id)
    for words in ("UNCONFIRMED", "may still land", "memory_read", "do not retry blindly"):
        assert words in verdict.message
    assert client.submit(job("x")).outcome is Outcome.WRITTEN
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 x\n"
    client.close()
    worker.stop()
    state.close()


@pytest.mark.rule("WRITE-04", "WRITE-05", "WRITE-06", "WRITE-O5")
@pytest.mark.parametrize("queue_only", [True, False])
def test_worker_that_dies_during_the_job_gives_unconfirmed(sample: SampleBrain, queue_only: bool) -> None:
    """The worker died while it ran the job: UNCONFIRMED, never QUEUED or a guess; the write lands once, later."""
    worker = sample.start_worker("stuck")
    brain = sample.open(queue_only=queue_only)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(brain.agent("nova").memory.write, "x")
        worker.wait_for("stuck")
        worker.kill()
        verdict = call.result()

    assert (verdict.outcome, verdict.paths) == (Outcome.UNCONFIRMED, ())
    for words in ("the worker died", "memory_read", "do not retry blindly"):
        assert words in verdict.message
    assert sample.open().agent("nova").memory.write("y").outcome is Outcome.WRITTEN
    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 09:05 x\n- 09:05 y\n"}


@pytest.mark.rule("WRITE-07", "WRITE-08", "WRITE-O4", "WRITE-05")
@pytest.mark.parametrize("queue_only", [True, False])
@pytest.mark.parametrize("used_before", [True, False])
def test_stopped_worker_gives_queued(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, queue_only: bool, used_before: bool
) -> None:
    """A worker that is stopped consumes nothing: QUEUED comes soon, not after 90 s, and once it goes on it lands once."""
    assert wake.ACK_LIMIT_S <= 5
    monkeypatch.setattr(wake, "ACK_LIMIT_S", 0.2)
    worker = sample.start_worker()
    memory = sample.open(queue_only=queue_only).agent("nova").memory
    if used_before:
        memory.write("first")
    before = sample.files()
    worker.send(signal.SIGSTOP)

    started = time.monotonic()
    verdict = memory.write("x")

    assert time.monotonic() - started < 3
    assert (verdict.outcome, verdict.paths) == (Outcome.QUEUED, ())
    assert "not yet updated" in verdict.message
    assert sample.files() == before
    worker.send(signal.SIGCONT)
    monkeypatch.undo()
    assert memory.write("y").outcome is Outcome.WRITTEN
    assert [line for line in sample.text(TODAY).splitlines() if line.endswith((" x", " y"))] == [
        "- 09:05 x",
        "- 09:05 y",
    ]


@pytest.mark.rule("WRITE-O4", "WRITE-07")
def test_nobody_gives_queued_at_once(sample: SampleBrain) -> None:
    """With no worker at all a queue-only caller is answered at once."""
    memory = sample.open(queue_only=True).agent("nova").memory

    started = time.monotonic()
    verdict = memory.write("x")

    assert verdict.outcome is Outcome.QUEUED
    assert time.monotonic() - started < 1


@pytest.mark.rule("WRITE-O8", "WRITE-05")
def test_worker_that_dies_before_the_job_costs_nothing(sample: SampleBrain) -> None:
    """A worker that is killed between two calls of one connection: the second call writes by itself."""
    worker = sample.start_worker()
    memory = sample.open().agent("nova").memory
    memory.write("one")
    worker.kill()

    assert memory.write("two").outcome is Outcome.WRITTEN
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n- 09:05 two\n"


@pytest.mark.parametrize(
    "label",
    ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "role": "worker", "since": "x", "address": "/no", "protocol": 1}'],
)
def test_stale_label_is_not_believed(sample: SampleBrain, label: str) -> None:
    """Whatever stands in the lock file, it is the lock that counts."""
    directory = sample.root / ".omnislash"
    directory.mkdir()
    (directory / "writer.lock").write_text(label)

    assert sample.agent().memory.write("x").outcome is Outcome.WRITTEN


@pytest.mark.rule("WRITE-O8")
def test_caller_waits_for_a_momentary_holder(sample: SampleBrain) -> None:
    """Two embedded callers at the same moment: one runs the queue for both, and both get their verdict."""
    disk = HeldDisk()
    slow, other = sample.open(disk=disk), sample.open()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow.agent("nova").memory.write, "one")
        assert disk.reached.wait(10)
        second = pool.submit(other.agent("nova").memory.write, "two")
        time.sleep(0.05)
        assert not second.done()
        disk.released.set()
        outcomes = [first.result().outcome, second.result().outcome]

    assert outcomes == [Outcome.WRITTEN, Outcome.WRITTEN]
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n- 09:05 two\n"


@pytest.mark.rule("WRITE-03")
def test_damaged_queue_fails_with_one_sentence(sample: SampleBrain) -> None:
    """When the state database can't be used, a write fails, names it and what to do, and no file is changed."""
    sample.put(".omnislash/state.db", b"this is no database, and it is long enough to be read as one" * 40)
    sample.put_memory(TODAY, "# 2026-08-30\n")

    def check(verdict: Verdict) -> None:
        assert verdict.outcome is Outcome.FAILED
        assert ".omnislash/state.db" in verdict.message
        assert "move it away" in verdict.message

    memory = sample.agent().memory
    check(memory.write("x"))
    check(memory.write_file("main/a.md", "x"))
    assert memory.write("x", line="ops").outcome is Outcome.REFUSED
    assert sample.files() == {TODAY: b"# 2026-08-30\n"}


def test_state_directory_that_can_not_be_made_fails(sample: SampleBrain) -> None:
    """A file where the state directory should be: the write fails with one sentence, and nothing is changed."""
    sample.put(".omnislash", "x")

    verdict = sample.agent().memory.write("x")

    assert verdict.outcome is Outcome.FAILED
    assert ".omnislash" in verdict.message
    assert sample.files() == {}


@pytest.mark.rule("WRITE-05")
def test_deleted_state_loses_no_confirmed_memory(sample: SampleBrain) -> None:
    """Deleting the state directory loses history, never a memory that was confirmed; the brain goes on."""
    first = sample.open()
    first.agent("nova").memory.write("one")
    first.close()
    for place in (sample.root / ".omnislash").iterdir():
        place.unlink()
    (sample.root / ".omnislash").rmdir()

    brain = sample.open()

    assert brain.agent("nova").memory.write("two").outcome is Outcome.WRITTEN
    assert brain.agent("nova").memory.write("one").outcome is Outcome.DUPLICATE
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n- 09:05 two\n"
