"""The worker: one at a time, for every process of the machine, and back after any death."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Brain, WriterUnavailableError
from omnislash.core.verdicts import Outcome
from omnislash.store.locks import is_locked, read_owner
from omnislash.writer.wake import LINE_LIMIT_BYTES, Connection, WorkerGoneError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


def wait_until(is_done: Callable[[], bool], *, limit_s: float = 10.0) -> None:
    """Return when something is true; fail when it does not come to be."""
    deadline = time.monotonic() + limit_s
    while not is_done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def entries(sample: SampleBrain) -> list[str]:
    """Return the texts in today's log, in order."""
    return [line.removeprefix("- 09:05 ") for line in sample.text(TODAY).splitlines()[2:]]


def ask(sample: SampleBrain, request: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker answers on its socket."""
    owner = read_owner(sample.root / ".omnislash/writer.lock")
    assert owner is not None
    assert owner.address is not None
    connection = Connection(owner.address)
    try:
        return connection.ask(request, timeout_s=10)
    finally:
        connection.close()


# -- one at a time ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-01")
def test_second_worker_is_refused_by_pid(sample: SampleBrain) -> None:
    """A second worker does not start, names the process that runs, and takes nothing from it."""
    first = sample.start_worker()
    brain = sample.open()

    with pytest.raises(WriterUnavailableError, match=str(first.pid)):
        brain.start_worker()

    assert brain.agent("nova").memory.write("x").outcome is Outcome.WRITTEN
    assert entries(sample) == ["x"]
    first.stop()
    brain.start_worker().stop()


@pytest.mark.rule("WRITE-01")
def test_second_worker_of_the_same_process_is_refused(sample: SampleBrain) -> None:
    """Two brains in one process have one worker too."""
    first, second = sample.open(), sample.open()
    worker = first.start_worker()

    with pytest.raises(WriterUnavailableError, match=str(os.getpid())):
        second.start_worker()

    assert second.agent("nova").memory.write("x").outcome is Outcome.WRITTEN
    worker.stop()


@pytest.mark.rule("WRITE-01", "WRITE-O8")
def test_worker_embedded_brain_and_queue_only_caller(sample: SampleBrain) -> None:
    """With a worker running, every kind of caller gets the worker's verdict, and each entry stands once, in order."""
    sample.start_worker()
    embedded, queueing = sample.open(), sample.open(queue_only=True)
    heard: list[object] = []
    embedded.on_event(heard.append)

    for number in range(6):
        brain = (embedded, queueing)[number % 2]
        assert brain.agent("nova").memory.write(f"n{number}").outcome is Outcome.WRITTEN

    assert entries(sample) == [f"n{number}" for number in range(6)]
    # The change was made by the worker's process, so this one heard nothing of it.
    assert heard == []


@pytest.mark.rule("WRITE-01", "WRITE-05")
@pytest.mark.parametrize("worker", [False, True])
def test_many_callers_lose_nothing(sample: SampleBrain, worker: bool) -> None:
    """Four brains with four threads each, with a worker or without: every entry is there once."""
    if worker:
        sample.start_worker()
    brains = [sample.open() for _ in range(4)]

    def write(number: int) -> Outcome:
        return brains[number % 4].agent("nova").memory.write(f"n{number:02}").outcome

    with ThreadPoolExecutor(16) as pool:
        outcomes = set(pool.map(write, range(80)))

    assert outcomes == {Outcome.WRITTEN}
    assert sorted(entries(sample)) == [f"n{number:02}" for number in range(80)]
    assert len(brains[0].audit(limit=1000).rows) == 80


# -- what was queued -------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-07", "WRITE-O3")
def test_queued_writes_run_in_order_when_a_worker_comes(sample: SampleBrain) -> None:
    """What was queued while nobody ran is done when a worker starts: all of it, once, in the order of the calls."""
    waiting = sample.open(queue_only=True).agent("nova").memory
    assert {waiting.write(f"n{number:03}").outcome for number in range(150)} == {Outcome.QUEUED}

    sample.start_worker()
    verdict = sample.open().agent("nova").memory.write("last")

    assert verdict.outcome is Outcome.WRITTEN
    assert entries(sample) == [*(f"n{number:03}" for number in range(150)), "last"]


@pytest.mark.rule("WRITE-07")
def test_jobs_of_one_line_keep_their_order(sample: SampleBrain) -> None:
    """A queued edit of an entry that is queued before it finds that entry."""
    sample.open_gate()
    waiting = sample.open(queue_only=True).agent("nova").memory
    waiting.write("one")
    waiting.edit(TODAY, old="one", new="two")
    waiting.move(TODAY, "main/kept.md")
    waiting.write("three")
    waiting.delete(TODAY, entry="three")
    waiting.write("four")

    sample.open().agent("nova").memory.write("five")

    assert sample.text("main/kept.md") == "# 2026-08-30\n\n- 09:05 two\n"
    assert entries(sample) == ["four", "five"]


@pytest.mark.rule("WRITE-07")
def test_idle_worker_notices_the_queue(sample: SampleBrain) -> None:
    """A job that only the table knows, put there by a process that could not reach the socket, is run soon."""
    worker = sample.start_worker()
    queueing = sample.open(queue_only=True)
    label = sample.root / ".omnislash/writer.lock"
    text = label.read_text()
    label.write_text(json.dumps({**json.loads(text), "protocol": 99}))

    verdict = queueing.agent("nova").memory.write("x")

    assert verdict.outcome is Outcome.WRITTEN
    assert entries(sample) == ["x"]
    worker.stop()


# -- deaths ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-01", "WRITE-O8")
def test_killed_worker_leaves_no_lock(sample: SampleBrain) -> None:
    """A worker that is killed holds nothing any more: the next call writes by itself, and a new worker starts."""
    worker = sample.start_worker()
    brain = sample.open()
    brain.agent("nova").memory.write("one")
    worker.kill()
    assert (sample.root / ".omnislash/worker.sock").exists()

    assert brain.agent("nova").memory.write("two").outcome is Outcome.WRITTEN
    sample.start_worker()
    assert brain.agent("nova").memory.write("three").outcome is Outcome.WRITTEN
    assert entries(sample) == ["one", "two", "three"]


@pytest.mark.rule("WRITE-05", "WRITE-O5")
def test_new_worker_finishes_what_a_killed_one_began(sample: SampleBrain) -> None:
    """A worker that is killed in the middle of a replacement: the next one brings it to an end, once, with no rest."""
    worker = sample.start_worker("stuck")
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(sample.open(queue_only=True).agent("nova").memory.write, "x")
        worker.wait_for("stuck")
        worker.kill()
        assert call.result().outcome is Outcome.UNCONFIRMED

    sample.start_worker().stop()

    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 09:05 x\n"}
    assert [row.outcome for row in sample.open().audit().rows] == ["written"]


def test_stopped_worker_leaves_nothing_behind(sample: SampleBrain) -> None:
    """After a stop the lock is free and the socket is gone."""
    worker = sample.start_worker()
    assert is_locked(sample.root / ".omnislash/writer.lock")

    worker.stop()

    assert not is_locked(sample.root / ".omnislash/writer.lock")
    assert not (sample.root / ".omnislash/worker.sock").exists()


@pytest.mark.rule("WRITE-O8")
def test_brain_writes_on_after_its_worker_was_stopped(sample: SampleBrain) -> None:
    """A brain whose own worker was stopped writes by itself again."""
    brain = sample.open()
    worker = brain.start_worker()
    agent = brain.agent("nova")
    agent.memory.write("one")

    worker.stop()

    assert brain.agent("nova").memory.write("two").outcome is Outcome.WRITTEN
    assert agent.memory.write("three").outcome is Outcome.WRITTEN
    assert entries(sample) == ["one", "two", "three"]


@pytest.mark.rule("WRITE-01", "WRITE-O8")
def test_closed_brain_leaves_no_worker(sample: SampleBrain) -> None:
    """Closing a brain ends the worker that it started: the lock is free, and the next brain writes by itself."""
    with Brain.open(sample.root, clock=sample.clock) as brain:
        worker = brain.start_worker()
        brain.agent("nova").memory.write("one")

    free = not is_locked(sample.root / ".omnislash/writer.lock")
    verdict = sample.open().agent("nova").memory.write("two")
    worker.stop()

    assert free
    assert verdict.outcome is Outcome.WRITTEN
    assert entries(sample) == ["one", "two"]


@pytest.mark.rule("WRITE-05")
def test_unconfirmed_is_never_said_of_a_lost_write(sample: SampleBrain) -> None:
    """When the worker can't even queue a write, the answer is no UNCONFIRMED, which promises that it may still land."""
    brain = sample.open()
    worker = brain.start_worker()
    brain.agent("nova").memory.write("one")
    database = sqlite3.connect(sample.root / ".omnislash/state.db")
    database.execute("DROP TABLE jobs")
    database.close()

    verdict = brain.agent("nova").memory.write("two")
    worker.stop()

    assert verdict.outcome is Outcome.FAILED
    assert entries(sample) == ["one"]


def test_idle_worker_keeps_what_a_late_save_dropped(sample: SampleBrain) -> None:
    """An editor saves over a confirmed entry while nobody writes: the worker notices by itself and keeps a copy."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a\n")
    brain = sample.open()
    worker = brain.start_worker()
    brain.agent("nova").memory.write("one")

    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a, corrected\n")

    conflicts = sample.root / "memory/main/conflicts"
    wait_until(lambda: any(conflicts.glob("2026-08-30-*.md")))
    worker.stop()
    (copy,) = conflicts.iterdir()
    assert "one" in copy.read_text()
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 08:00 a, corrected\n"


def test_worker_that_can_not_start_holds_nothing(sample: SampleBrain) -> None:
    """A worker that fails to start lets go of the lock."""
    directory = sample.root / ".omnislash"
    directory.mkdir()
    (directory / "worker.sock").mkdir()
    brain = sample.open()

    with pytest.raises(OSError, match="directory"):
        brain.start_worker()

    assert not is_locked(directory / "writer.lock")


# -- the socket ------------------------------------------------------------------------------------------------------


def test_socket_is_for_its_owner(sample: SampleBrain) -> None:
    """Only the owner of the brain can talk to its worker."""
    sample.start_worker()

    assert (sample.root / ".omnislash/worker.sock").stat().st_mode & 0o077 == 0


def test_call_over_the_socket(sample: SampleBrain) -> None:
    """The worker runs a tool for a caller: with its answer, or the error as an object."""
    sample.start_worker()
    call = {"op": "call", "role": "nova", "tool": "memory_write", "arguments": {"content": "x"}}

    answer = ask(sample, call)
    again = ask(sample, {**call, "arguments": {"content": "x"}})
    failure = ask(sample, {**call, "tool": "memory_read", "arguments": {"path": "ops/MEMORY.md"}})

    assert answer["answer"]["outcome"] == "written"
    assert again["answer"]["outcome"] == "duplicate"
    assert failure["failure"]["kind"] == "scope"


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"[]\n", b'{"op": "none"}\n', b"\xff\n", b'{"op": ["submit"]}\n'])
def test_nonsense_gets_an_error(sample: SampleBrain, line: bytes) -> None:
    """A request that makes no sense gets an error, and the worker goes on."""
    sample.start_worker()
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(str(sample.root / ".omnislash/worker.sock"))
        caller.sendall(line)
        with caller.makefile("rb") as answers:
            assert "error" in json.loads(answers.readline())

    assert sample.open().agent("nova").memory.write("x").outcome is Outcome.WRITTEN


def test_endless_line_is_cut_off(sample: SampleBrain) -> None:
    """A caller that sends more than a request can be is told so and hung up on; the worker goes on."""
    sample.start_worker()
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(str(sample.root / ".omnislash/worker.sock"))
        caller.sendall(b"x" * (LINE_LIMIT_BYTES + 1))
        with caller.makefile("rb") as answers:
            assert "error" in json.loads(answers.readline())
            assert answers.readline() == b""

    assert sample.open().agent("nova").memory.write("x").outcome is Outcome.WRITTEN


def test_largest_write_fits_through_the_socket(sample: SampleBrain) -> None:
    """The largest edit that can be asked for, of the characters that grow most on the way, reaches the worker."""
    sample.start_worker()
    memory = sample.open().agent("nova").memory

    sample.put_memory("main/a.md", "\x01" * 1_000_000)
    assert memory.edit("main/a.md", old="\x01" * 1_000_000, new="\x02" * 1_000_000).outcome is Outcome.WRITTEN


def test_caller_that_hangs_up_disturbs_nobody(sample: SampleBrain) -> None:
    """A caller that hangs up after it has asked: its job is done, and others are served."""
    sample.start_worker()
    job = {
        "id": "a" * 20, "request": None, "line": "main", "tool": "memory_write", "role": "nova", "heartbeat": None,
        "actor": "agent", "payload": json.dumps({"content": "x", "priority": False, "signature": None}),
        "created_at": "2026-08-30T09:05:00+00:00",
    }  # fmt: skip
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(sample.root / ".omnislash/worker.sock"))
        caller.sendall(json.dumps({"op": "submit", "job": job}).encode() + b"\n")

    wait_until((sample.root / "memory" / TODAY).exists)
    assert sample.open().agent("nova").memory.write("y").outcome is Outcome.WRITTEN
    assert entries(sample) == ["x", "y"]


def test_long_path_gets_a_short_socket(tmp_path: Path, sample: SampleBrain) -> None:
    """A brain whose path is too long for a socket's name is served all the same."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    sample.root = sample.root.rename(deep / "brain")
    sample.start_worker()
    owner = read_owner(sample.root / ".omnislash/writer.lock")

    assert sample.open().agent("nova").memory.write("x").outcome is Outcome.WRITTEN
    assert owner is not None
    assert owner.address is not None
    assert len(owner.address) < 104
    assert Path(owner.address).stat().st_mode & 0o077 == 0


def test_connection_to_nobody_is_told_apart() -> None:
    """An address at which nobody listens is a worker that is gone, not one that is silent."""
    with pytest.raises(WorkerGoneError):
        Connection("/nowhere/worker.sock")


def test_stop_signal_and_go_on(sample: SampleBrain) -> None:
    """A worker that was stopped for a moment, and not asked anything meanwhile, serves on."""
    worker = sample.start_worker()
    memory = sample.open().agent("nova").memory
    memory.write("one")
    worker.send(signal.SIGSTOP)
    time.sleep(0.05)
    worker.send(signal.SIGCONT)

    assert memory.write("two").outcome is Outcome.WRITTEN
