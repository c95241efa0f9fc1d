"""Transcripts that wait for their review, so that nobody has to wait for a model.

A host asks after every turn, and goes on at once. What it asked for is a row of the state database: a later request for
the same transcript takes the place of one that waits, and a row goes only when its review is over, so that a restart
loses none. One process of a brain works through the rows at a time, one after the other; which one it is is decided by a
lock that dies with its process. Without a worker it is the process that was started for the request.

A review that ends a process three times is given up: the transcript is not worth a worker.

Rules: FLUSH-04, FLUSH-O5, BOUNDARY-11; architecture.md section 4.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.runtime.flushing.flush import is_flush_due
from omnislash.runtime.loop.run_values import RunOptions
from omnislash.store.disk import open_regular
from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from omnislash.runtime.agents import Agent
    from omnislash.runtime.turns import Ports, Turn

    #: Resolves a role and the heartbeat that runs it, as `Brain.agent` does.
    MakeAgent = Callable[[str, str | None], Agent]

_LOG = logging.getLogger(__name__)
#: Held by the process that works through the requests.
LOCK_FILE: Final = ".omnislash/flush-queue.lock"
#: How often is looked for requests that another process noted, in seconds.
LOOK_S: Final = 2.0
#: A transcript is read no sooner than this after it was asked for: a host writes it while its hook runs, and may not be
#: done. In seconds.
SETTLED: Final = timedelta(seconds=1)
#: Reviews of one request that may be begun: a process that ends in the middle is a restart once, and no chance thrice.
TRIES_MAX: Final = 3
#: Longest transcript that is read, in bytes: as for `omnislash flush`.
BYTES_MAX: Final = 256 * 1024 * 1024
#: How long a stop waits for the review that runs, in seconds; a model call is cancelled within a moment.
_STOP_S: Final = 10.0


def request_flush(turn: Turn, ports: Ports, transcript: str, *, has_ended: bool) -> None:
    """Note that a transcript is to be reviewed, where the agent asks for that (FLUSH-01) and one can be.

    Raises:
        WriterUnavailableError: The state database can't be written.
    """
    if not is_flush_due(turn, ports.config()):
        return
    state = ports.state()
    with state.transaction():
        state.run(
            "request_flush",
            role=turn.scope.role,
            heartbeat=turn.scope.heartbeat or "",
            transcript=str(Path(transcript).absolute()),
            ended=int(has_ended),
            at=ports.clock.now().astimezone(UTC).isoformat(),
        )


def drain(ports: Ports, make_agent: MakeAgent, *, is_over: Callable[[], bool] = lambda: False) -> int:
    """Review what waits until nothing does; return how many reviews were made. Another process at it is left to it.

    Args:
        ports: The brain.
        make_agent: Resolves a role.
        is_over: True ends the review that runs, which stays noted, and begins no other.

    Raises:
        WriterUnavailableError: The state database can't be used.
    """
    done = 0
    while not is_over() and _next(ports) is not None:  # asked again behind the lock: a request may have come meanwhile
        lock = WriterLock(ports.root / LOCK_FILE)
        if not lock.acquire(Owner(pid=os.getpid(), role="flush-queue", since=ports.clock.now().isoformat())):
            return done
        try:
            while not is_over() and (row := _next(ports)) is not None:
                _wait_until_settled(ports, row, is_over)
                done += _review(ports, make_agent, row, is_over)
        finally:
            lock.release()
    return done


def _next(ports: Ports) -> sqlite3.Row | None:
    return ports.state().row("next_flush_request")


def _wait_until_settled(ports: Ports, row: sqlite3.Row, is_over: Callable[[], bool]) -> None:
    age = ports.clock.now() - datetime.fromisoformat(row["asked_at"])
    if timedelta(0) <= age < SETTLED and not is_over():
        threading.Event().wait((SETTLED - age).total_seconds())


def _review(ports: Ports, make_agent: MakeAgent, row: sqlite3.Row, is_over: Callable[[], bool]) -> bool:
    """Review one transcript and take its request off; one that came meanwhile has a row of its own. Tell whether it ran."""
    if is_over():
        return False
    if row["tries"] >= TRIES_MAX:
        _LOG.warning("A transcript is given up: its review never came to an end.", extra={"action": "flush_given_up"})
        _drop(ports, row)
        return False
    with ports.state().transaction() as state:
        if not state.run("begin_flush_request", seq=row["seq"]):
            return False  # replaced by a later one
    try:
        has_run = _flush(make_agent, row, is_over)
    except OmnislashError as error:
        _LOG.warning("A transcript was not reviewed: %s", error.message, extra={"action": "flush_refused"})
        has_run = False
    except OSError as error:
        _LOG.warning("A transcript can't be read: %s", error.strerror, extra={"action": "flush_refused"})
        has_run = False
    if is_over():  # cut short: the next start makes up for it, and it was no fault of the transcript
        with ports.state().transaction() as state:
            state.run("put_back_flush_request", seq=row["seq"])
        return False
    _drop(ports, row)
    return has_run


def _drop(ports: Ports, row: sqlite3.Row) -> None:
    with ports.state().transaction() as state:
        state.run("drop_flush_request", seq=row["seq"])


def _flush(make_agent: MakeAgent, row: sqlite3.Row, is_over: Callable[[], bool]) -> bool:
    from omnislash.runtime.flushing.flush_files import FlushRequest  # noqa: PLC0415 - not needed to note a request

    request = FlushRequest(
        data=_read(row["transcript"]),
        place=row["transcript"],
        has_ended=bool(row["ended"]),
        is_automatic=True,
        options=RunOptions(is_over=is_over),
    )
    return make_agent(row["role"], row["heartbeat"] or None).flush(request).ran


def _read(place: str) -> bytes:
    """Return what a transcript holds.

    Raises:
        OSError: It can't be read, is far too long, or something else lies there: a pipe would hold up every other review.
    """
    try:
        found = Path(os.path.realpath(place))
        descriptor = open_regular(found)
    except ValueError as error:  # a text that can be no path
        raise OSError(errno.EINVAL, "its name can be no file's") from error
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:  # its newest turns would be what is left out
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


class FlushQueue:
    """The thread of a worker that works through the requests until it is stopped."""

    def __init__(self, ports: Ports, make_agent: MakeAgent) -> None:
        """Keep the ports."""
        self._ports = ports
        self._make_agent = make_agent
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin in the background."""
        self._thread = threading.Thread(target=self._run, name="omnislash-flush", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a review that runs is cut short and made up for after the next start."""
        self._stopping.set()
        if self._thread:
            self._thread.join(timeout=_STOP_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look()
            self._stopping.wait(LOOK_S)

    def look(self) -> None:
        """Work through what waits."""
        try:
            drain(self._ports, self._make_agent, is_over=self._stopping.is_set)
        except OmnislashError as error:
            _LOG.warning("No transcript is reviewed for now: %s", error.message, extra={"action": "flush_queue_waits"})
        except Exception:  # noqa: BLE001 - the worker writes on without it
            _LOG.exception("the flush queue failed", extra={"action": "flush_queue_failed"})
