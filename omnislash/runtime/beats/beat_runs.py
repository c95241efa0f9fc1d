"""One run of a heartbeat or a hook: claimed once, run as its role, and noted.

Claiming is one transaction: the key of the run is in the state database before anything runs, and the lock of the beat
is taken with it. So however many workers look, a tick runs once, and one run of a beat goes on at a time. The lock dies
with its process: a run that is noted as running while nobody holds its lock was cut off, is noted as such, and is not
run again.

What was said in a run is kept nowhere: nobody goes on with it, and a beat of every five minutes would fill the state
database. What it wrote, and what came of it, stand in the action log.

Rules: DECLARE-01, RESOLVE-03, REPORT-02, REPORT-07, EVENT-O4, WRITE-11, CURATE-05; failure case O-39.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from omnislash.core.beat_bodies import asks_nothing
from omnislash.core.credentials import mask_secrets
from omnislash.errors import OmnislashError, StorageError
from omnislash.runtime.turns import Turn
from omnislash.store.locks import Owner, WriterLock, is_locked, make_lock_directory

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.loop.run_values import Run, RunOptions
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.turns import Ports
    from omnislash.store.state import State

    #: Notes something in the transaction that notes a run, and is told whether the run is new.
    Also = Callable[[State, bool], None]

_LOG = logging.getLogger(__name__)
#: Holds a lock file for each beat that ever ran.
LOCK_DIRECTORY: Final = ".omnislash/beats"
#: How often the lock of a beat is tried, and how long is waited between, in seconds.
_ATTEMPTS, _PAUSE_S = 3, 0.005
#: Why a run came to nothing, at most so many characters of it.
_REASON_CHARS: Final = 500
#: Said of a beat whose prompt asks for nothing.
NOTHING_ASKED: Final = "The file asks for nothing below its header, so no model was called."
#: Said of a tick that falls into a run.
STILL_RUNNING: Final = "The run before was still going."
#: Said of a run whose process is gone.
CUT_OFF: Final = "The process that ran it ended before it was done; it is not run again."
#: Said of a run that was ended from outside.
STOPPED: Final = "It was stopped while it ran; what it had done until then stays done."


class BeatKind(StrEnum):
    """What makes a beat run: the clock, or an event."""

    HEARTBEAT = "heartbeat"
    HOOK = "hook"


class RunOutcome(StrEnum):
    """What became of a run."""

    #: It goes on.
    RUNNING = "running"
    DONE = "done"
    #: The turn ended with an error.
    FAILED = "failed"
    #: Nothing was run, on purpose.
    SKIPPED = "skipped"
    #: It came due while no worker looked, too long ago to be run now.
    MISSED = "missed"
    #: It was stopped, or its process ended.
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A run that should happen."""

    kind: BeatKind
    beat: Beat
    #: Under this name it happens once.
    key: str
    #: When it came due.
    due_at: datetime
    #: What the model is told.
    message: str
    #: What its turn is called in events; its conversation is not kept.
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatRun:
    """A run of a heartbeat or a hook."""

    kind: BeatKind
    #: Id of the beat.
    name: str
    role: str
    #: The line that it worked in; None without memory.
    line: str | None
    due_at: datetime
    started_at: datetime
    outcome: RunOutcome
    #: Why it failed, was skipped, missed or interrupted; '' otherwise.
    message: str = ""
    session: str | None = None
    #: The turn; None when none ended.
    run: Run | None = field(default=None, repr=False)

    @classmethod
    def begin(cls, order: Order, turn: Turn, *, at: datetime) -> BeatRun:
        """Return the run of an order that starts at an instant."""
        return cls(
            kind=order.kind,
            name=order.beat.id,
            role=turn.scope.role,
            line=turn.scope.line,
            due_at=order.due_at,
            started_at=at.astimezone(UTC),
            outcome=RunOutcome.RUNNING,
            session=order.session,
        )

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> BeatRun:
        """Return a row of the state database as a value."""
        return cls(
            kind=BeatKind(row["kind"]),
            name=row["beat"],
            role=row["role"],
            line=row["line"],
            due_at=datetime.fromisoformat(row["due_at"]),
            started_at=datetime.fromisoformat(row["started_at"]),
            outcome=RunOutcome(row["outcome"]),
            message=row["message"],
            session=row["session"],
        )

    def to_json(self) -> dict[str, Any]:
        """Return `{name, kind, role, line, dueAt, startedAt, outcome, message?, session, run?}`."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "role": self.role,
            "line": self.line,
            "dueAt": self.due_at.isoformat(),
            "startedAt": self.started_at.isoformat(),
            "outcome": self.outcome.value,
            **({"message": self.message} if self.message else {}),
            "session": self.session,
            **({"run": self.run.to_json()} if self.run else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A run that this process may carry out, and nobody else."""

    order: Order
    turn: Turn
    run: BeatRun
    lock: WriterLock


def stamp(instant: datetime) -> str:
    """Return an instant as the state database keeps it: in UTC, so that texts sort as instants do."""
    return instant.astimezone(UTC).isoformat()


def make_turn(config: BrainFiles, beat: Beat, *, replay: bool = False) -> Turn:
    """Return the turn of a beat: its role with its patch of memory and its report set."""
    scope = config.resolve_scope(beat.role, beat=beat.id)
    granted = frozenset(config.find_role(beat.role).capabilities)
    return Turn(scope=scope, capabilities=granted, replay=replay)


def lock_path(root: Path, kind: str, beat_id: str) -> Path:
    """Return the lock file of a beat; the operating system says whether it is held."""
    return root / LOCK_DIRECTORY / f"{beat_id}.{kind}"


# -- claiming --------------------------------------------------------------------------------------------------------


def claim(
    ports: Ports, order: Order, *, also: Also = lambda _state, _is_new: None, waits: bool = False
) -> Claim | BeatRun | None:
    """Take a run for this process, in one transaction.

    Args:
        ports: The brain.
        order: The run.
        also: Notes in the same transaction how far was looked; is told whether the run is new.
        waits: True notes nothing at all while another run of the beat goes on, for it will be asked again.

    Returns:
        The claim; the run when it is over already, because nothing was asked or another one goes on; None when it was
        run before, or waits.
    """
    claiming = _Claiming(ports, order)
    state = ports.state()
    try:
        with state.transaction():
            return claiming.decide(state, also, waits=waits)
    except BaseException:
        claiming.lock.release()
        raise


class _Claiming:
    """What is decided about one order, inside a transaction: so nobody else decides about the same beat meanwhile."""

    def __init__(self, ports: Ports, order: Order) -> None:
        self._ports = ports
        self._order = order
        self._turn = make_turn(ports.config(), order.beat)
        self._run = BeatRun.begin(order, self._turn, at=ports.clock.now())
        self._path = lock_path(ports.root, order.kind, order.beat.id)
        self.lock = WriterLock(self._path)

    def decide(self, state: State, also: Also, *, waits: bool) -> Claim | BeatRun | None:
        is_idle = asks_nothing(self._order.beat.body)
        is_taken = not is_idle and self._take_lock()
        if not is_taken and not is_idle and waits:
            return None
        is_new = start_row(state, self._order.key, self._run)
        also(state, is_new)
        if not is_new:
            self.lock.release()
            return None
        if not is_taken:
            reason = NOTHING_ASKED if is_idle else STILL_RUNNING
            over = replace(self._run, outcome=RunOutcome.SKIPPED, message=reason)
            return finish_row(state, self._order.key, over, at=self._run.started_at)
        _note_cut_off(state, self._ports, self._order.kind, self._order.beat.id, apart_from=self._order.key)
        return Claim(order=self._order, turn=self._turn, run=self._run, lock=self.lock)

    def _take_lock(self) -> bool:
        owner = Owner(pid=os.getpid(), role=self._order.kind, since=stamp(self._run.started_at))
        try:
            make_lock_directory(self._path.parent)
            # Somebody who only asks whether the beat runs holds the lock for a moment.
            return any(self.lock.acquire(owner) or self._wait() for _ in range(_ATTEMPTS))
        except OSError as error:
            message = f"{LOCK_DIRECTORY}/ can't be used: {error.strerror}. Give this user write access to the brain's directory."
            raise StorageError(message, path=LOCK_DIRECTORY) from error

    @staticmethod
    def _wait() -> bool:
        threading.Event().wait(_PAUSE_S)
        return False


def start_row(state: State, key: str, run: BeatRun) -> bool:
    """Note a run inside a transaction; False when there is one of that key already."""
    return bool(
        state.run(
            "start_run",
            key=key,
            kind=run.kind,
            beat=run.name,
            role=run.role,
            line=run.line,
            due_at=stamp(run.due_at),
            started_at=stamp(run.started_at),
            session=run.session,
        )
    )


def finish_row(state: State, key: str, run: BeatRun, *, at: datetime, zone: ZoneInfo | None = None) -> BeatRun:
    """Note what became of a run, in the action log and in the log too, inside a transaction; return the run.

    Args:
        state: The state database.
        key: Of the run.
        run: As it ended.
        at: Now.
        zone: Names the time of its start in the log, for a run that was not begun just now.
    """
    if state.run("finish_run", key=key, outcome=run.outcome, message=run.message, at=stamp(at)):
        state.run(
            "insert_audit",
            at=stamp(at),
            actor="engine",
            role=run.role,
            heartbeat=run.name,
            tool=run.kind,
            line=run.line,
            paths=json.dumps([]),
            outcome=run.outcome,
            chars=0,
            job=None,
        )
        _log(run, zone)
    return run


def _log(run: BeatRun, zone: ZoneInfo | None) -> None:
    level = logging.INFO if run.outcome in {RunOutcome.DONE, RunOutcome.SKIPPED} else logging.WARNING
    extra = {"action": f"beat_{run.outcome}", "beat": run.name, "role": run.role, "memory_line": run.line}
    why = f": {run.message}" if run.message else "."
    if zone is not None:
        began = run.started_at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
        text = "The run of the %s %s (%s) of %s was %s%s"
        _LOG.log(level, text, run.kind, run.name, run.role, began, run.outcome, why, extra=extra)
        return
    _LOG.log(level, "%s %s (%s) %s%s", run.kind.capitalize(), run.name, run.role, run.outcome, why, extra=extra)


# -- carrying out ----------------------------------------------------------------------------------------------------


def carry_out(ports: Ports, claimed: Claim, *, run_turn: RunTurn, options: RunOptions) -> BeatRun:
    """Run what was claimed, note what came of it, and let go of the beat; whatever goes wrong is in the answer.

    Raises:
        WriterUnavailableError: What came of it could not be noted.
    """
    ended = replace(claimed.run, outcome=RunOutcome.INTERRUPTED, message=STOPPED)
    try:
        ended = _run(ports, claimed, run_turn=run_turn, options=options)
    finally:  # a Ctrl-C on its way up is noted, too
        _finish(ports, claimed, ended)
    return ended


def _finish(ports: Ports, claimed: Claim, ended: BeatRun) -> None:
    try:
        state = ports.state()
        with state.transaction():
            finish_row(state, claimed.order.key, ended, at=ports.clock.now())
    finally:
        claimed.lock.release()


def _run(ports: Ports, claimed: Claim, *, run_turn: RunTurn, options: RunOptions) -> BeatRun:
    from omnislash.runtime.syncing import curating  # noqa: PLC0415 - what only a run needs

    order, options = claimed.order, replace(options, keeps_session=False)
    curated = curating.watch_run(ports, order.beat, claimed.turn)
    try:
        run = run_turn(claimed.turn, ports, session=order.session, message=order.message, options=options)
    except OmnislashError as error:
        return replace(claimed.run, outcome=RunOutcome.FAILED, message=_shorten(error.message))
    except Exception as error:  # noqa: BLE001 - a model may be somebody else's code; its failure undoes no write
        extra = {"action": "beat_error", "beat": order.beat.id}
        _LOG.exception("%s %s broke off", order.kind.capitalize(), order.beat.id, extra=extra)
        return _fail(claimed, error)
    if run.is_cancelled:
        return replace(claimed.run, outcome=RunOutcome.INTERRUPTED, message=STOPPED, run=run)
    curating.commit_run(curated, run.text)
    return replace(claimed.run, outcome=RunOutcome.DONE, run=run)


def _fail(claimed: Claim, error: Exception) -> BeatRun:
    reason = f"Something went wrong inside omnislash: {type(error).__name__}: {error}".rstrip(".") + "."
    return replace(claimed.run, outcome=RunOutcome.FAILED, message=_shorten(reason))


def give_up(ports: Ports, claimed: Claim, error: Exception) -> BeatRun:
    """Note a run that could not even begin as failed, and let go of its beat; return it.

    Raises:
        WriterUnavailableError: It could not be noted; the beat is let go of all the same.
    """
    failed = _fail(claimed, error)
    _finish(ports, claimed, failed)
    return failed


def _shorten(message: str) -> str:
    """Return why something failed on one line, without a credential that a provider may have repeated."""
    flat = " ".join(mask_secrets(message[: 4 * _REASON_CHARS]).split())
    return flat if len(flat) <= _REASON_CHARS else f"{flat[: _REASON_CHARS - 1]}…"


# -- runs that were cut off ------------------------------------------------------------------------------------------


def note_cut_off(ports: Ports) -> None:
    """Note every run as interrupted whose process is gone."""
    state = ports.state()
    beats = {(BeatKind(row["kind"]), str(row["beat"])) for row in state.rows("open_runs")}
    for kind, beat in sorted(beats):
        with state.transaction():
            if not is_locked(lock_path(ports.root, kind, beat)):
                _note_cut_off(state, ports, kind, beat)


def _note_cut_off(state: State, ports: Ports, kind: BeatKind, beat: str, *, apart_from: str | None = None) -> None:
    """Do so for one beat that nobody runs, inside a transaction, in which nobody can claim it."""
    zone = ZoneInfo(ports.config().manifest.locale.timezone)
    for row in state.rows("open_runs"):
        if (row["kind"], row["beat"]) == (kind, beat) and row["key"] != apart_from:
            run = replace(BeatRun.from_row(row), outcome=RunOutcome.INTERRUPTED, message=CUT_OFF)
            finish_row(state, row["key"], run, at=ports.clock.now(), zone=zone)


def find_last(ports: Ports, kind: BeatKind, beat: str) -> BeatRun | None:
    """Return the newest run of a beat, one whose process is gone as interrupted; None when it never ran."""
    row = ports.state().row("last_run", kind=kind, beat=beat)
    return None if row is None else _as_it_stands(ports, BeatRun.from_row(row))


def list_runs(ports: Ports, beat: str, *, limit: int) -> list[BeatRun]:
    """Return the newest runs of a beat, the last first, those whose process is gone as interrupted."""
    return [
        _as_it_stands(ports, BeatRun.from_row(row)) for row in ports.state().rows("list_runs", beat=beat, limit=limit)
    ]


def _as_it_stands(ports: Ports, run: BeatRun) -> BeatRun:
    if run.outcome is RunOutcome.RUNNING and not is_locked(lock_path(ports.root, run.kind, run.name)):
        return replace(run, outcome=RunOutcome.INTERRUPTED, message=CUT_OFF)
    return run
