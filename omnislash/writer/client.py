"""The caller's side: hand a job in and block until its verdict is there.

With a worker running the job goes over its socket, and the answer comes back the same way: nothing polls.
Without one this process takes the writer's lock for a moment and runs the queue itself, unless it was told not to.
Whatever happens in between, the queue's table has the last word about a job.

Rules: WRITE-02 to WRITE-08, WRITE-O4, WRITE-O8, WRITE-O9, TENSION-03.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from omnislash.core import verdicts
from omnislash.core.verdicts import WAIT_LIMIT_S, Verdict
from omnislash.errors import OmnislashError, WriterUnavailableError
from omnislash.store.locks import WRITER_LOCK, Owner, WriterLock, is_locked, read_owner
from omnislash.writer.wake import PROTOCOL, Connection, WorkerGoneError, WorkerSilentError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.core.clock import Clock
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job
    from omnislash.writer.writer import Writer

#: Pauses between two looks at a lock that a momentary holder has: it drains the queue for everybody, so the wait is
#: as long as a batch, about a millisecond.
_PAUSE_S, _PAUSE_LIMIT_S = 0.001, 0.02


class _Trouble(Enum):
    """Why the worker did not answer."""

    NO_WORKER = auto()
    GONE = auto()
    SILENT = auto()
    LATE = auto()


class WriterClient:
    """Hands jobs to the brain's one writer; safe to share between threads."""

    def __init__(
        self,
        directory: Path,
        *,
        state: Callable[[], State],
        writer: Callable[[], Writer] | None,
        clock: Clock,
        wait_s: float = WAIT_LIMIT_S,
    ) -> None:
        """Keep the ports; nothing is opened yet.

        Args:
            directory: The brain's `.omnislash/`.
            state: Opens the state database, or returns the open one.
            writer: Makes the writer with which this process runs the queue itself; None when it must not (WRITE-O8).
            clock: For the time limit and the label of the lock.
            wait_s: How long to wait for a verdict, in seconds (WRITE-02).
        """
        self._directory = directory
        self._lock_path = directory / WRITER_LOCK
        self._state = state
        self._writer = writer
        self._clock = clock
        self._wait_s = wait_s
        self._idle: list[Connection] = []
        self._draining = threading.Lock()

    def submit(self, job: Job) -> Verdict:
        """Return the verdict of a job: the writer's own, or QUEUED or UNCONFIRMED.

        Raises:
            WriterUnavailableError: There is no worker, and the state database can't be used.
        """
        deadline = self._clock.monotonic_s() + self._wait_s
        answer = self._ask({"op": "submit", "job": job.to_row()}, deadline)
        if isinstance(answer, Verdict):
            return answer
        return self._settle(job, deadline, answer)

    def enqueue(self, job: Job) -> Verdict:
        """Leave a job in the queue and wait for nobody: its caller stands in the way of the writer.

        Raises:
            WriterUnavailableError: The state database can't be used.
        """
        state = self._state()
        self._insert(state, job)
        return verdicts.queued_behind(self._find(state, job)["id"])

    def close(self) -> None:
        """Hang up on the worker."""
        while self._idle:
            self._idle.pop().close()

    # -- over the socket ---------------------------------------------------------------------------------------------

    def _ask(self, request: dict[str, Any], deadline: float) -> Verdict | _Trouble:
        connection = self._connect()
        if connection is None:
            return _Trouble.NO_WORKER
        try:
            answer = connection.ask(request, timeout_s=deadline - self._clock.monotonic_s())
        except WorkerGoneError:
            connection.close()
            return _Trouble.GONE
        except WorkerSilentError:
            connection.close()
            return _Trouble.SILENT
        except TimeoutError:
            connection.close()
            return _Trouble.LATE
        self._idle.append(connection)
        return Verdict.from_json(answer["verdict"]) if "verdict" in answer else _Trouble.GONE

    def _connect(self) -> Connection | None:
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        owner = read_owner(self._lock_path)
        if owner is None or owner.address is None or owner.protocol != PROTOCOL or not is_locked(self._lock_path):
            return None  # the label of a dead worker, or of another brain's: this one may be a copy
        try:
            return Connection(owner.address)
        except WorkerGoneError:
            return None

    # -- with the queue's table --------------------------------------------------------------------------------------

    def _settle(self, job: Job, deadline: float, trouble: _Trouble) -> Verdict:
        """Bring a job that the worker did not answer to a verdict; it is durable before anything waits."""
        state = self._state()
        self._insert(state, job)
        try:
            return self._wait(state, job, deadline, trouble)
        except (OmnislashError, OSError) as error:
            return self._look_up(state, job, error)

    def _look_up(self, state: State, job: Job, error: Exception) -> Verdict:
        """Return what is known of a durable job after trouble: it is in the queue, so it has not failed."""
        with contextlib.suppress(OmnislashError):
            row = self._find(state, job)
            if row["state"] == "done":
                return Verdict.from_json(json.loads(row["verdict"]))
            return verdicts.unconfirmed(row["id"], reason=f"the writer ran into trouble ({error})")
        return verdicts.unconfirmed(job.id, reason=f"the writer ran into trouble ({error})")

    def _wait(self, state: State, job: Job, deadline: float, trouble: _Trouble) -> Verdict:
        pause = _PAUSE_S
        while True:
            locked = is_locked(self._lock_path)
            row = self._find(state, job)
            verdict = self._judge(row, locked=locked, trouble=trouble)
            if verdict is None and self._clock.monotonic_s() >= deadline:
                verdict = self._out_of_time(row["id"], locked=locked)
            if verdict is not None:
                return verdict
            if locked:
                answer = self._ask({"op": "wait", "id": row["id"]}, deadline)
                if isinstance(answer, Verdict):
                    return answer
                trouble = answer
            elif self._drain():
                continue
            if trouble is _Trouble.NO_WORKER:
                time.sleep(pause)
                pause = min(pause * 2, _PAUSE_LIMIT_S)

    @staticmethod
    def _insert(state: State, job: Job) -> None:
        try:
            with state.transaction():
                state.run("insert_job", **job.to_row())
        except WriterUnavailableError:
            if state.row("find_job", id=job.id) is None:  # a commit may be done although it reports an error
                raise

    @staticmethod
    def _find(state: State, job: Job) -> sqlite3.Row:
        row = state.row("find_job", id=job.id)
        if row is None and job.request_key:
            row = state.row("find_request", request=job.request_key)
        if row is None:
            message = f"The write {job.id} has vanished from the queue; was .omnislash/ deleted meanwhile?"
            raise WriterUnavailableError(message)
        return row

    def _judge(self, row: sqlite3.Row, *, locked: bool, trouble: _Trouble) -> Verdict | None:
        """Return the verdict that is already certain, or None to go on."""
        if row["state"] == "done":
            return Verdict.from_json(json.loads(row["verdict"]))
        if trouble is _Trouble.SILENT and row["state"] == "running":
            return verdicts.unconfirmed(row["id"], reason="the worker has begun the job and does not answer")
        if trouble is _Trouble.SILENT:
            return verdicts.queued(row["id"], silent=True)
        if locked:
            return None
        if row["state"] == "running" and (trouble is _Trouble.GONE or self._writer is None):
            return verdicts.unconfirmed(row["id"], reason="the worker died during the job")
        return verdicts.queued(row["id"]) if self._writer is None else None

    def _out_of_time(self, job_id: str, *, locked: bool) -> Verdict:
        if not locked:
            return verdicts.queued(job_id)
        return verdicts.unconfirmed(job_id, reason=f"no verdict came within {self._wait_s:.0f} seconds")

    def _drain(self) -> bool:
        """Run the queue in this process; False when another process was faster."""
        if self._writer is None:
            return False
        with self._draining:
            lock = WriterLock(self._lock_path)
            owner = Owner(pid=os.getpid(), role="call", since=self._clock.now().isoformat())
            if not lock.acquire(owner):
                return False
            try:
                writer = self._writer()
                writer.recover(is_brief=True)
                writer.drain()
                writer.tidy()
                writer.prune()
            finally:
                lock.release()
        return True
