"""The flush of transcripts from files: only what was not reviewed before, and nothing twice.

A harness calls this after every turn of a session whose transcript grows. How many records of it were reviewed is kept
in the state database for each role, heartbeat and session; a markdown file stands for a session of its own, known by its
place and its first words. The mark moves only after a review that did not fail, and one review runs at a time, so that
two calls at once never read the same exchange. An exchange without its end is left for the next call.

Rules: FLUSH-04, FLUSH-O1, FLUSH-O5, BOUNDARY-11; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import StorageError, WriterUnavailableError
from omnislash.runtime.flushing.flush import asks_for_flush, find_obstacle, flush_transcript
from omnislash.runtime.flushing.transcripts import decode_transcript, find_session, parse_transcript
from omnislash.runtime.loop.run_values import FlushOutcome, FlushReport, RunOptions
from omnislash.runtime.tools.reading import own_line
from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.runtime.flushing.spoken import Transcript
    from omnislash.runtime.turns import Ports, Turn

#: Held while a transcript is reviewed; of the brain, for reviews write into the same lines.
LOCK_FILE: Final = ".omnislash/flush.lock"
#: How long is waited for another review, in seconds, and how often is looked: as long as a review may take.
_WAIT_S: Final = 600.0
_LOOK_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRequest:
    """A transcript that is to be reviewed."""

    #: The file as it lies on the disk.
    data: bytes
    #: Where it lies, as an absolute path; None for stdin, which only a session's own name can tell from another.
    place: str | None = None
    #: True reviews all of it, also what was reviewed before or has no end yet.
    takes_all: bool = False
    #: True takes an exchange without its end as it is: the session is over, and no end will come.
    has_ended: bool = False
    #: True reviews it only when the agent asks for a flush (`memoryFlush`).
    is_automatic: bool = False
    options: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushAnswer:
    """What became of a transcript."""

    report: FlushReport
    #: False when no flush ran; the report's message says why, and nothing else was told (FLUSH-O1).
    ran: bool
    #: Messages that were reviewed.
    messages: int = 0
    #: Records that could not be read.
    skipped: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return `{outcome, line, writes, message?, ran, messages, skipped}`."""
        line = {"line": self.report.line or None}
        return {**self.report.to_json(), **line, "ran": self.ran, "messages": self.messages, "skipped": self.skipped}


def flush_file(turn: Turn, ports: Ports, request: FlushRequest) -> FlushAnswer:
    """Review what is new in a transcript.

    Raises:
        ScopeError: The role has no memory.
        UsageError: The file names no speaker.
        StorageError: The lock can't be made.
        WriterUnavailableError: Another review takes too long, or the state database can't be used.
    """
    if not request.is_automatic:
        own_line(turn)
    obstacle = _find_obstacle(turn, ports, is_automatic=request.is_automatic)
    if obstacle is not None:
        return _answer_idle(turn, obstacle)
    source = _Source(turn, ports, request, decode_transcript(request.data))
    reviewed = source.read_mark()
    fresh = source.read(reviewed)
    if not fresh.turns:
        return _answer_idle(turn, source.explain_idle(fresh, reviewed))
    with _hold_lock(ports, request.options):
        if source.read_mark() != reviewed:  # somebody else has read on meanwhile
            reviewed = source.read_mark()
            fresh = source.read(reviewed)
        report = flush_transcript(turn, ports, fresh, session=fresh.session, options=request.options)
        if report is None:
            return _answer_idle(turn, source.explain_idle(fresh, reviewed))
        if report.outcome is not FlushOutcome.FAILED:
            source.set_mark(fresh.records)
    return FlushAnswer(report=report, ran=True, messages=len(fresh.turns), skipped=fresh.skipped)


def _find_obstacle(turn: Turn, ports: Ports, *, is_automatic: bool) -> str | None:
    config = ports.config()
    obstacle = find_obstacle(turn, config)
    if obstacle is None and is_automatic and not asks_for_flush(turn.scope, config):
        return f"memoryFlush is not true for the role {turn.scope.role!r}, so its turns are not flushed."
    return obstacle


def _answer_idle(turn: Turn, why: str) -> FlushAnswer:
    line = turn.scope.line or ""
    return FlushAnswer(report=FlushReport(outcome=FlushOutcome.NOTHING_SAVED, line=line, message=why), ran=False)


class _Source:
    """A transcript, and how much of it was reviewed."""

    def __init__(self, turn: Turn, ports: Ports, request: FlushRequest, text: str) -> None:
        self._ports = ports
        self._text = text
        self._takes_all = request.takes_all
        self._has_ended = request.has_ended
        self._name = _name_mark(turn, text, request.place)

    def read(self, reviewed: int) -> Transcript:
        """Return what is to be reviewed now."""
        if self._takes_all:
            return parse_transcript(self._text)
        fresh = parse_transcript(self._text, after=reviewed)
        return fresh if self._has_ended else fresh.settled()

    def read_mark(self) -> int:
        """Return how many records were reviewed before."""
        row = self._ports.state().row("find_cursor", name=self._name) if self._name else None
        return int(row["value"]) if row else 0

    def set_mark(self, records: int) -> None:
        """Note how many records have been reviewed now."""
        if self._name:
            state = self._ports.state()
            with state.transaction():
                state.run("set_cursor", name=self._name, value=records)

    def explain_idle(self, fresh: Transcript, reviewed: int) -> str:
        """Return why nothing is to be reviewed; a transcript that has become shorter is counted anew."""
        if self._takes_all:
            return "The transcript holds nothing that was said."
        whole = parse_transcript(self._text, after=reviewed)
        if whole.records < reviewed:
            self.set_mark(whole.records)
        if whole.turns != fresh.turns:
            return "The last exchange is not over yet, so it is left for the next time; --ended reviews it now."
        if reviewed:
            return "Nothing was said since the last review of this transcript; --all reviews all of it again."
        return "The transcript holds nothing that was said."


def _name_mark(turn: Turn, text: str, place: str | None) -> str | None:
    """Return the name of the mark; None when the transcript can't be known again."""
    session = find_session(text)
    if session is None and place is None:
        return None
    first = next((line for line in text.split("\n", 100) if line.strip()), "").strip()
    known_by = ("session", session) if session is not None else ("file", str(place), first)
    parts = (turn.scope.role, turn.scope.heartbeat or "", *known_by)
    return f"flush:{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"


@contextlib.contextmanager
def _hold_lock(ports: Ports, options: RunOptions) -> Iterator[None]:
    """Wait for other reviews of this brain, and keep them out until the block is left."""
    path = ports.root / LOCK_FILE
    lock = WriterLock(path)
    owner = Owner(pid=os.getpid(), role="flush", since=ports.clock.now().isoformat())
    deadline = ports.clock.monotonic_s() + _WAIT_S
    try:
        while not lock.acquire(owner):
            if options.is_over() or ports.clock.monotonic_s() > deadline:
                message = "Another flush of this brain is running; what is new is reviewed by the next one."
                raise WriterUnavailableError(message)
            time.sleep(_LOOK_S)
    except OSError as error:
        message = f"{LOCK_FILE} can't be made: {error.strerror}. Give this user write access to the brain's directory."
        raise StorageError(message, path=LOCK_FILE) from error
    try:
        yield
    finally:
        lock.release()
