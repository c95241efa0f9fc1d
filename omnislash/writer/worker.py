"""The long-lived worker: holds the writer's lock, listens on the socket, runs jobs as they come.

One thread writes. Callers that are waiting while it is busy are taken together, and share the syncs of their batch.

Rules: WRITE-01 to WRITE-08, WRITE-O4, WRITE-O8, WRITE-O9; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import threading
import time
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core import verdicts
from omnislash.core.verdicts import Verdict
from omnislash.errors import OmnislashError, WriterUnavailableError
from omnislash.store.locks import WRITER_LOCK, Owner, WriterLock, read_owner
from omnislash.writer.jobs import Job
from omnislash.writer.serving import LocalServer
from omnislash.writer.wake import PROTOCOL, socket_path
from omnislash.writer.writer import BATCH_JOBS, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from omnislash.core.clock import Clock
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)
#: How often an idle worker looks after things that nobody told it about, in seconds.
_IDLE_S = 1.0
#: Callers who wait at the same time share the syncs of a batch, and those who write to one line share its file as well.
#: A caller who has asked within the first span is likely to ask again at once when it is answered, so the batch waits
#: for such callers, for the second span at most. Measured with 8 processes and 4 lines on 2 cores: without the wait the
#: callers fall into two halves that take turns, and the throughput was about a quarter lower in noisy runs. One caller alone never waits.
_CROWD_S, _GATHER_S = 0.05, 0.004
#: Removing a file that was exchanged has to wait for the journal when it follows a sync at once, so it is left until
#: nobody has asked for anything for this long, in seconds, or until so many files wait.
_TIDY_S, _TIDY_FILES = 0.05, 64
#: How often it prunes the state database, in seconds.
_PRUNE_S = 6 * 3600.0
#: How long it waits before it tries again when the state database or the disk is in trouble, in seconds.
_TROUBLE_S = 1.0
#: How long a starting worker tries to get the lock: from a momentary holder, and from what its label calls a worker.
_LOCK_LIMIT_S, _LOCK_LOOK_S, _LOCK_PAUSE_S = 5.0, 0.2, 0.01


@dataclass(frozen=True, slots=True)
class _Submitted:
    """A job that a caller hands in, and the caller's place to wait."""

    job: Job
    answer: Future[Verdict]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A caller who waits for a job that is in the queue's table already; an empty id only wakes the worker."""

    job_id: str
    answer: Future[Verdict]


class Worker:
    """The brain's worker process."""

    def __init__(
        self,
        directory: Path,
        state: State,
        writer: Writer,
        *,
        clock: Clock,
        operations: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    ) -> None:
        """Keep the ports.

        Args:
            directory: The brain's `.omnislash/`.
            state: The state database, for the writing thread.
            writer: Runs the jobs.
            clock: Tells when the lock was taken.
            operations: Further operations of the socket, by name.
        """
        self._directory = directory
        self._state = state
        self._writer = writer
        self._clock = clock
        self._lock = WriterLock(directory / WRITER_LOCK)
        self._inbox: queue.SimpleQueue[_Submitted | _Waiting | None] = queue.SimpleQueue()
        self._pending: dict[str, list[Future[Verdict]]] = {}
        #: When each thread that serves a caller has handed in its last job.
        self._asked_at: dict[int, float] = {}
        #: Jobs that the writer is running for callers: where their verdict is not known, they may have been queued.
        self._handed_over: set[str] = set()
        self._operations = {"submit": self._op_submit, "wait": self._op_wait, **(operations or {})}
        self._server: LocalServer | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take the lock, recover, listen, and write in the background.

        Raises:
            WriterUnavailableError: Another worker holds the lock; its process is named.
        """
        owner = Owner(pid=os.getpid(), role="worker", since=self._clock.now().isoformat())
        if not self._take_lock(owner):
            raise WriterUnavailableError(self._taken_message())
        try:
            self._writer.recover()
            address = socket_path(self._directory)
            self._server = LocalServer(address, self._operations)
            self._lock.label(
                Owner(pid=owner.pid, role="worker", since=owner.since, address=str(address), protocol=PROTOCOL)
            )
        except BaseException:
            self._lock.release()
            raise
        self._server.start()
        self._inbox.put(_Waiting("", Future()))  # what is queued does not wait for the first caller
        self._thread = threading.Thread(target=self._run, name="omnislash-writer", daemon=True)
        self._thread.start()

    def _take_lock(self, owner: Owner) -> bool:
        """Take the lock; False when another worker has it.

        A call that runs the queue, or one that looks whether the lock is held, has it for a moment only.
        """
        started = self._clock.monotonic_s()
        while not self._lock.acquire(owner):
            waited = self._clock.monotonic_s() - started
            if waited > _LOCK_LIMIT_S or (waited > _LOCK_LOOK_S and self._has_living_worker()):
                return False
            time.sleep(_LOCK_PAUSE_S)
        return True

    def _has_living_worker(self) -> bool:
        other = read_owner(self._directory / WRITER_LOCK)
        if other is None or other.role != "worker":
            return False
        try:
            os.kill(other.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True

    def _taken_message(self) -> str:
        owner = read_owner(self._directory / WRITER_LOCK)
        who = f"process {owner.pid}, since {owner.since_shown}" if owner else "another process"
        return f"A worker of this brain is running already ({who}). Stop it first, or use it as it is."

    @property
    def is_stopping(self) -> bool:
        """True once the worker was told to stop: it takes no more jobs."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Finish the batch that is running, then let go of everything."""
        self._stopping.set()
        self._inbox.put(None)
        if self._server:
            self._server.stop()
        if self._thread:
            self._thread.join()
        self._cancel_waiting()
        self._lock.release()

    def _cancel_waiting(self) -> None:
        """Let go of callers that were not served: they find their job in the queue's table."""
        waiting = [future for futures in self._pending.values() for future in futures]
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._inbox.get_nowait()
                waiting += [item.answer] if item is not None else []
        for future in waiting:
            future.cancel()

    # -- what callers ask --------------------------------------------------------------------------------------------

    def submit(self, job: Job) -> Future[Verdict]:
        """Hand a job in; the future holds the verdict once it is durable."""
        self._asked_at[threading.get_ident()] = time.monotonic()
        answer: Future[Verdict] = Future()
        if self._stopping.is_set():
            answer.cancel()
        else:
            self._inbox.put(_Submitted(job, answer))
            if self._stopping.is_set():  # nobody may be left to take it
                answer.cancel()
        return answer

    def _op_submit(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"verdict": self.submit(Job.from_row(request["job"])).result().to_json()}

    def _op_wait(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: Future[Verdict] = Future()
        self._inbox.put(_Waiting(str(request["id"]), answer))
        return {"verdict": answer.result().to_json()}

    # -- the writing thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        version, pruned_at = -1, 0.0
        while not self._stopping.is_set():
            received: list[_Submitted | _Waiting] = []
            try:
                received = self._receive()
                if not received or self._writer.untidied > _TIDY_FILES:
                    self._writer.tidy()
                if (now_version := self._state.data_version()) != version or received:
                    version = now_version
                    self._serve(received)
                if not received:
                    self._writer.check_recent_files()
                    if self._clock.monotonic_s() - pruned_at > _PRUNE_S:
                        pruned_at = self._clock.monotonic_s()
                        self._writer.prune()
            except Exception as error:  # noqa: BLE001 - the edge of the process
                _LOG.exception("the writer ran into trouble", extra={"action": "writer_trouble"})
                self._answer_trouble(received, error)
                self._stopping.wait(_TROUBLE_S)
        self._writer.tidy()

    def _receive(self) -> list[_Submitted | _Waiting]:
        """Return what callers handed in: waits for the first, and for a moment for those who are about to ask."""
        received: list[_Submitted | _Waiting] = []
        with contextlib.suppress(queue.Empty):
            item = self._inbox.get(timeout=_TIDY_S if self._writer.untidied else _IDLE_S)
            deadline = time.monotonic() + _GATHER_S
            crowd = min(self._count_crowd(), BATCH_JOBS)
            while item is not None:
                received.append(item)
                if len(received) >= BATCH_JOBS:
                    break
                wait_s = deadline - time.monotonic() if len(received) < crowd else 0.0
                item = self._inbox.get(timeout=wait_s) if wait_s > 0 else self._inbox.get_nowait()
        return received

    def _count_crowd(self) -> int:
        """Return how many callers have asked within the last moment."""
        since = time.monotonic() - _CROWD_S
        self._asked_at = {thread: at for thread, at in list(self._asked_at.items()) if at > since}
        return len(self._asked_at)

    def _serve(self, received: list[_Submitted | _Waiting]) -> None:
        """Run what is in the queue's table first, then what callers handed in; answer everybody."""
        for item in received:
            if isinstance(item, _Waiting) and item.job_id:
                self._pending.setdefault(item.job_id, []).append(item.answer)
        for job_id, verdict in self._writer.drain().items():
            self._answer(job_id, verdict)
        # Only now: a caller that lost patience may have queued its job itself, and it must not run twice.
        new = [item for item in received if isinstance(item, _Submitted) and not self._is_known(item)]
        if new:
            self._run_new(new)
        self._answer_settled()

    def _is_known(self, item: _Submitted) -> bool:
        """Tell whether the job is in the table already; its caller then waits for that one (WRITE-O9)."""
        job = item.job
        row = self._state.row("find_job", id=job.id)
        if row is None and job.request_key:
            row = self._state.row("find_request", request=job.request_key)
        if row is not None:
            self._pending.setdefault(row["id"], []).append(item.answer)
        return row is not None

    def _run_new(self, items: list[_Submitted]) -> None:
        first: dict[str, _Submitted] = {}
        for item in items:
            key = item.job.request_key or item.job.id
            if key in first:
                self._pending.setdefault(first[key].job.id, []).append(item.answer)
            else:
                first[key] = item
        jobs = [item.job for item in first.values()]
        self._handed_over = {job.id for job in jobs}
        for item, verdict in zip(first.values(), self._writer.run_new(jobs), strict=True):
            _answer_once(item.answer, verdict)
            self._answer(item.job.id, verdict)
        self._handed_over = set()

    def _answer(self, job_id: str, verdict: Verdict) -> None:
        for future in self._pending.pop(job_id, ()):
            _answer_once(future, verdict)

    def _answer_settled(self) -> None:
        """Answer those who wait for a job that is done, or that is unknown."""
        for job_id in list(self._pending):
            row = self._state.row("find_job", id=job_id)
            if row is None:
                self._answer(job_id, verdicts.failed(f"There is no write {job_id} in the queue."))
            elif row["state"] == "done":
                self._answer(job_id, Verdict.from_json(json.loads(row["verdict"])))

    def _answer_trouble(self, received: list[_Submitted | _Waiting], error: Exception) -> None:
        """Answer everybody who waits when a round failed, so that nobody waits for ever."""
        reason = str(error) if isinstance(error, OmnislashError | OSError) else type(error).__name__
        sentence = f"the writer ran into trouble ({reason})"
        for job_id, futures in self._pending.items():
            for future in futures:
                _answer_once(future, verdicts.unconfirmed(job_id, reason=sentence))
        self._pending.clear()
        for item in received:
            job_id = item.job.id if isinstance(item, _Submitted) else item.job_id
            if isinstance(item, _Submitted) and not self._may_be_queued(job_id):
                _answer_once(item.answer, verdicts.failed(f"T{sentence[1:]}. Nothing was written."))
            else:
                _answer_once(item.answer, verdicts.unconfirmed(job_id, reason=sentence))

    def _may_be_queued(self, job_id: str) -> bool:
        """Tell whether a job that was handed in may run after all: only what is in the table is durable."""
        try:
            return self._state.row("find_job", id=job_id) is not None
        except WriterUnavailableError:
            return job_id in self._handed_over


def _answer_once(future: Future[Verdict], verdict: Verdict) -> None:
    with contextlib.suppress(InvalidStateError):  # its caller has given up
        future.set_result(verdict)
