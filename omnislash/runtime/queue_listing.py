"""The writer's queue for a person: who writes, what waits and how long, and what became of the last jobs.

Rules: WRITE-01 to WRITE-08, WRITE-O1, WRITE-O3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.credentials import mask_secrets
from omnislash.store.locks import WRITER_LOCK, is_locked, read_owner
from omnislash.store.state_directory import STATE_DIRECTORY

if TYPE_CHECKING:
    import sqlite3

    from omnislash.runtime.turns import Ports

#: How many jobs that wait are listed, and how many that are done; the rest is counted.
JOBS_MAX: Final = 50
VERDICTS_MAX: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterState:
    """Who writes."""

    #: Process id, and ISO instant since when; None when nobody holds the writer's lock.
    pid: int | None = None
    since: str | None = None
    #: True for a worker, which stays; False for a command that writes for a moment, and when nobody does.
    is_worker: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return `{running, pid, since, busy}`: running for a worker, busy for anybody who writes."""
        return {"running": self.is_worker, "pid": self.pid, "since": self.since, "busy": self.pid is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineQueue:
    """How many jobs of one line are not done."""

    line: str
    waiting: int
    running: int
    #: ISO instant of the oldest.
    oldest_at: str

    def to_json(self) -> dict[str, Any]:
        """Return `{line, waiting, running, oldestAt}`."""
        return {"line": self.line, "waiting": self.waiting, "running": self.running, "oldestAt": self.oldest_at}


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueueJob:
    """What is said of every job: what it writes and who asked for it."""

    id: str
    line: str
    tool: str
    role: str | None
    heartbeat: str | None
    #: `agent`, `person` or `engine`.
    actor: str

    def _describe(self) -> dict[str, Any]:
        """Return `{id, line, tool, role, heartbeat, actor}`."""
        return {each.name: getattr(self, each.name) for each in fields(_QueueJob)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob(_QueueJob):
    """A job that is not done."""

    #: ISO instant of the call.
    created_at: str
    is_running: bool
    #: Seconds since the call.
    age_s: float

    def to_json(self) -> dict[str, Any]:
        """Return `{id, line, tool, role, heartbeat, actor, createdAt, state, ageS}`."""
        state = "running" if self.is_running else "waiting"
        return {**self._describe(), "createdAt": self.created_at, "state": state, "ageS": round(self.age_s, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneJob(_QueueJob):
    """A job with what became of it."""

    #: ISO instant of the verdict.
    finished_at: str
    outcome: str
    #: The sentence of the verdict, credentials masked.
    message: str
    paths: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{id, line, tool, role, heartbeat, actor, finishedAt, outcome, message, paths}`."""
        return {
            **self._describe(),
            "finishedAt": self.finished_at,
            "outcome": self.outcome,
            "message": self.message,
            "paths": list(self.paths),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """The queue, in the order in which it is worked off."""

    writer: WriterState
    lines: tuple[LineQueue, ...]
    #: The first of them; `lines` counts all.
    jobs: tuple[QueuedJob, ...]
    #: The newest first.
    verdicts: tuple[DoneJob, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{worker, waiting, running, lines, jobs, truncated, verdicts}`."""
        waiting, running = sum(line.waiting for line in self.lines), sum(line.running for line in self.lines)
        return {
            "worker": self.writer.to_json(),
            "waiting": waiting,
            "running": running,
            "lines": [line.to_json() for line in self.lines],
            "jobs": [job.to_json() for job in self.jobs],
            "truncated": waiting + running > len(self.jobs),
            "verdicts": [each.to_json() for each in self.verdicts],
        }


def list_queue(ports: Ports) -> QueueView:
    """Return the queue as it stands; nothing is changed.

    Raises:
        WriterUnavailableError: The state database can't be read.
    """
    state, now = ports.state(), ports.clock.now()
    return QueueView(
        writer=_find_writer(ports),
        lines=tuple(map(_line, state.rows("count_open_by_line"))),
        jobs=tuple(_job(row, now) for row in state.rows("list_open_jobs", limit=JOBS_MAX)),
        verdicts=tuple(map(_done, state.rows("list_done_jobs", limit=VERDICTS_MAX))),
    )


def _find_writer(ports: Ports) -> WriterState:
    lock = ports.root / STATE_DIRECTORY / WRITER_LOCK
    owner = read_owner(lock)
    try:
        is_held = is_locked(lock)
    except OSError:  # a lock that can't be asked: nobody knows of a worker
        is_held = False
    if owner is None or not is_held:
        return WriterState()
    return WriterState(pid=owner.pid, since=owner.since, is_worker=owner.role == "worker")


def _line(row: sqlite3.Row) -> LineQueue:
    running = row["running"]
    return LineQueue(line=row["line"], waiting=row["jobs"] - running, running=running, oldest_at=row["oldest"])


def _job(row: sqlite3.Row, now: datetime) -> QueuedJob:
    age = now - datetime.fromisoformat(row["created_at"])
    return QueuedJob(
        **_common(row),
        created_at=row["created_at"],
        is_running=row["state"] == "running",
        age_s=max(age.total_seconds(), 0.0),
    )


def _done(row: sqlite3.Row) -> DoneJob:
    verdict = json.loads(row["verdict"])
    return DoneJob(
        **_common(row),
        finished_at=row["finished_at"],
        outcome=verdict["outcome"],
        message=mask_secrets(verdict["message"]),
        paths=tuple(verdict["paths"]),
    )


def _common(row: sqlite3.Row) -> dict[str, Any]:
    return {each.name: row[each.name] for each in fields(_QueueJob)}
