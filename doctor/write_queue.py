"""The queue of writes: whether it can be used, what waits in it, and who works on it.

A write that was confirmed is in its file; what stands here is what was promised and is not done.

Rules: WRITE-01, WRITE-05, WRITE-07, WRITE-O3, WRITE-O8.
"""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from omnislash.checks.databases import (
    SQLITE_ERRORS,
    STATE_FILE,
    UnreadLogError,
    find_damage,
    is_broken,
    is_closed,
    open_database,
    read_version,
)
from omnislash.checks.findings import Check, Group, fail, info, warn
from omnislash.checks.instants import parse_instant, show_instant
from omnislash.checks.tables import find_missing
from omnislash.core.verdicts import Outcome
from omnislash.store.locks import WRITER_LOCK, is_locked, read_owner
from omnislash.store.state import SCHEMA_VERSION, load_migrations, load_queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash.checks.examined import Examined
    from omnislash.checks.findings import Finding
    from omnislash.store.locks import Owner

_STATE: Final = f".omnislash/{STATE_FILE}"
_LOCK: Final = f".omnislash/{WRITER_LOCK}"
_DRAIN: Final = "Run `omnislash worker`; any write finishes what waits, too."
_MOVE_AWAY: Final = (
    "Move it away, with the files beside it that begin with its name: omnislash makes a new one. Writes that waited in "
    "it are lost; confirmed memory is in its files."
)
_ACCESS: Final = (
    "Give this user read and write access to the files in .omnislash/: chmod -R u+rwX .omnislash, or chown it."
)
_OPEN: Final = "Give it access: chmod 700 .omnislash, or chown it."
#: How long a write may wait while a worker runs before something is wrong: one takes milliseconds.
_PATIENCE: Final = timedelta(minutes=1)
#: How far back failed writes are looked for, and how many rows of the action log at most.
_DAY: Final = timedelta(days=1)
_AUDIT_ROWS: Final = 2_000
#: Seconds that the worker's socket has for taking a call.
_CALL_S: Final = 0.5
#: Conflict copies that are named.
_NAMED: Final = 20
#: The version of the tables that came first.
_FIRST_TABLES: Final = 1


class WriteQueueCheck(Check):
    """Reads the queue and asks who holds the lock of the writer."""

    id = "write-queue"
    title = "Write queue"
    protects = "No promised write is stuck for want of a worker, by a damaged queue, or since a crash in the middle."
    group = Group.MACHINE

    def conclude(self, brain: Examined) -> Iterator[Finding]:
        """Yield what is wrong with the queue, then what waits in it."""
        lock = brain.state_directory / WRITER_LOCK
        if is_closed(brain):
            message = "This user may not look into .omnislash/, so nothing can be written."
            yield fail(message, path=brain.state_directory.name, hint=_OPEN)
            return
        is_served, trouble = _ask_lock(lock)
        yield from trouble
        if is_served and (owner := read_owner(lock)) is not None:
            yield from _try_socket(owner)
        place = brain.state_directory / STATE_FILE
        if not place.exists():
            return
        if not place.is_file():
            yield fail(f"{_STATE} is no file, so nothing can be written.", path=_STATE, hint="Move it away.")
            return
        try:
            with open_database(place) as state:
                yield from _read_state(brain, state, is_served=is_served)
        except UnreadLogError as error:
            yield info(error.message, path=_STATE, hint="The next write puts that right.")
        except SQLITE_ERRORS as error:
            yield _explain(error)


def _explain(error: Exception) -> Finding:
    if is_broken(error):
        return fail(f"The state database is damaged ({error}).", path=_STATE, hint=_MOVE_AWAY)
    message = f"The state database can't be read ({error}), so nothing can be written."
    return fail(message, path=_STATE, hint=_ACCESS)


# -- who works on it -------------------------------------------------------------------------------------------------


def _ask_lock(lock: Path) -> tuple[bool, list[Finding]]:
    """Return whether a process holds the lock of the writer, and what keeps it from being asked."""
    try:
        return is_locked(lock), []
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"The lock of the writer can't be opened ({reason}), so nothing can be written."
        hint = "Move it away: omnislash makes a file of that name." if isinstance(error, IsADirectoryError) else _ACCESS
        return False, [fail(message, path=_LOCK, hint=hint)]


def _try_socket(owner: Owner) -> Iterator[Finding]:
    """Yield the worker whose socket takes no call: its callers have to wait for its next look at the queue."""
    if owner.address is None or not hasattr(socket, "AF_UNIX"):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(_CALL_S)
        try:
            caller.connect(owner.address)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"The worker (process {owner.pid}) holds the lock, but its socket takes no call ({reason})."
            yield warn(message, path=_LOCK, hint="Stop that process and run `omnislash worker` again.")


# -- what stands in it -----------------------------------------------------------------------------------------------


def _read_state(brain: Examined, state: sqlite3.Connection, *, is_served: bool) -> Iterator[Finding]:
    version = read_version(state)
    if version > SCHEMA_VERSION:
        message = (
            f"The state database was written by a newer omnislash (schema {version}, this one knows {SCHEMA_VERSION}), "
            "so nothing can be written."
        )
        yield fail(message, path=_STATE, hint="Update omnislash.")
        return
    damage, is_whole = find_damage(state)
    if damage is not None:
        yield fail(f"The state database is damaged ({damage}).", path=_STATE, hint=_MOVE_AWAY)
        return
    missing = find_missing(state, (sql for number, sql in load_migrations() if number <= version))
    if missing:
        message = f"The state database lacks {', '.join(missing)}, so whatever needs it fails."
        yield fail(message, path=_STATE, hint=_MOVE_AWAY)
        return
    if not is_whole:
        yield info("The state database is too large to be checked whole here.", path=_STATE)
    if version >= _FIRST_TABLES:
        yield from _tell_jobs(brain, state, is_served=is_served)
        yield from _tell_changes(state, is_served=is_served)
        yield from _tell_failures(brain, state)
        yield from _tell_approvals(state)


def _tell_jobs(brain: Examined, state: sqlite3.Connection, *, is_served: bool) -> Iterator[Finding]:
    running = len(state.execute(load_queries()["running_jobs"]).fetchall())
    row = state.execute(load_queries()["count_open"]).fetchone()
    waiting = row["jobs"] - running
    if running and not is_served:
        what, whose = ("1 write was", "its") if running == 1 else (f"{running} writes were", "their")
        yield warn(f"{what} cut off in the middle; {whose} bytes are safe.", path=_STATE, hint=_DRAIN)
    if not waiting:
        return
    oldest = parse_instant(row["oldest"])
    what = "1 write waits" if waiting == 1 else f"{waiting} writes wait"
    since = f", the oldest since {show_instant(oldest, brain)}" if oldest else ""
    if not is_served:
        yield warn(f"{what} in the queue{since}, and no worker runs.", path=_STATE, hint=_DRAIN)
    elif oldest is not None and brain.now - oldest > _PATIENCE:
        message = f"{what} in the queue{since}, although a process holds the lock of the writer."
        yield warn(message, path=_STATE, hint="Look into .omnislash/logs/worker.log, or start the worker again.")


def _tell_changes(state: sqlite3.Connection, *, is_served: bool) -> Iterator[Finding]:
    """Yield what a crash left; while a process writes, such rows come and go."""
    if is_served:
        return
    rows = state.execute(load_queries()["list_changes"]).fetchall()
    copies = [row for row in rows if row["batch"].startswith("copy:")]
    for row in copies[:_NAMED]:
        message = f"The conflict copy memory/{row['path']} is whole, but has not got its name yet."
        yield warn(message, path=f"memory/{row['path']}", hint=_DRAIN)
    if len(copies) > _NAMED:
        yield warn(f"{len(copies) - _NAMED} more conflict copies wait for their name.", path=_STATE, hint=_DRAIN)
    left = sum(row["batch"].startswith("left:") for row in rows)
    if left:
        what = "1 temporary file is" if left == 1 else f"{left} temporary files are"
        yield info(f"{what} still to be cleared away.", path=_STATE, hint="The next write does that.")


def _tell_failures(brain: Examined, state: sqlite3.Connection) -> Iterator[Finding]:
    """Yield the writes of the last day that failed; a refusal is an answer, and no failure."""
    parameters = {"before": None, "line": None, "path": None, "limit": _AUDIT_ROWS}
    rows = state.execute(load_queries()["list_audit"], parameters).fetchall()
    failed = [
        (at, row)
        for row in rows
        if row["outcome"] == Outcome.FAILED and (at := parse_instant(row["at"])) is not None and brain.now - at <= _DAY
    ]
    if failed:
        at, last = failed[0]
        what = "1 write" if len(failed) == 1 else f"{len(failed)} writes"
        where = f" in line {last['line']}" if last["line"] else ""
        message = (
            f"{what} failed within the last day, the last one at {show_instant(at, brain)}: {last['tool']}{where}."
        )
        hint = "Run `omnislash audit`; .omnislash/logs/worker.log may say why."
        yield warn(message, path=_STATE, hint=hint, about=[f"memory/{last['line']}"] if last["line"] else ())


def _tell_approvals(state: sqlite3.Connection) -> Iterator[Finding]:
    count = len(state.execute(load_queries()["list_approvals"], {"state": "open"}).fetchall())
    if count:
        what = "1 deletion waits" if count == 1 else f"{count} deletions wait"
        yield info(f"{what} for a person.", path=_STATE, hint="Run `omnislash approvals list`.")
