"""The flush of transcripts from files: only what was not reviewed before, and nothing twice.

A harness calls this after every turn of a session whose transcript grows. How many records of it were reviewed is kept
for each role, heartbeat and session (`flush_marks`). One transcript is reviewed at a time, so that two calls at once
never read the same exchange; the flush behind a turn of omnislash's own reads that turn, which is in no file, and waits
for nobody. An exchange without its end is left for the next call.

The mark moves behind a review that came to its end, and behind one that failed when it had written something: read
again, it would write the same a second time in other words. Any other failed review is made up for by the next call,
once.

Rules: FLUSH-04, FLUSH-O1, FLUSH-O5, BOUNDARY-11; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import StorageError, WriterUnavailableError
from omnislash.runtime.flushing.flush import asks_for_flush, find_obstacle, flush_transcript, leave_prompts
from omnislash.runtime.flushing.flush_marks import MarkStore
from omnislash.runtime.flushing.transcripts import decode_transcript, parse_transcript
from omnislash.runtime.loop.run_values import FlushOutcome, FlushReport, RunOptions
from omnislash.runtime.tools.reading import own_line
from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.runtime.flushing.flush_marks import Mark
    from omnislash.runtime.flushing.spoken import Transcript
    from omnislash.runtime.turns import Ports, Turn

#: Held while a transcript from a file is reviewed; of the brain, so that a harness with many sessions asks a provider
#: for one review at a time.
LOCK_FILE: Final = ".omnislash/flush.lock"
#: How long is waited for another review, in seconds, and how often is looked: as long as a review may take.
_WAIT_S: Final = 600.0
_LOOK_S: Final = 0.1
#: Verdicts after which something stands on disk, or will.
_LANDED: Final = frozenset({"written", "partial", "queued", "unconfirmed"})
#: Added to what is said of a review that failed.
_WROTE: Final = "What it wrote until then stays, and what it had read is not reviewed again."
_GIVEN_UP: Final = "What failed a second time is given up; --all reviews the whole transcript again."


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
        """Return `{outcome, line, writes, usage, message?, ran, messages, skipped}`."""
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
    source = _Source(turn, ports, request)
    mark = source.marks.read()
    fresh = source.read(mark)
    if not fresh.turns:
        return _answer_idle(turn, source.explain_idle(mark))
    with _hold_lock(ports, request.options):
        newest = source.marks.read()
        if newest.records != mark.records:  # somebody else has read on meanwhile
            fresh = source.read(newest)
        report = flush_transcript(turn, ports, fresh, session=fresh.session, options=request.options)
        if report is None:
            return _answer_idle(turn, source.explain_idle(newest))
        report = source.settle(report, newest, fresh.records)
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

    def __init__(self, turn: Turn, ports: Ports, request: FlushRequest) -> None:
        self._scope = turn.scope
        self._text = decode_transcript(request.data)
        self._takes_all = request.takes_all
        self._has_ended = request.has_ended
        self.marks = MarkStore(turn.scope, ports, self._text, size=len(request.data), place=request.place)

    def read(self, mark: Mark) -> Transcript:
        """Return what is to be reviewed now."""
        if self._takes_all:
            return leave_prompts(self._scope, parse_transcript(self._text))
        fresh = parse_transcript(self._text, after=mark.records)
        return leave_prompts(self._scope, fresh if self._has_ended else fresh.settled())

    def settle(self, report: FlushReport, mark: Mark, records: int) -> FlushReport:
        """Note how far the transcript needs no review any more; return the report, which says what is given up."""
        if report.outcome is not FlushOutcome.FAILED:
            self.marks.write(mark.move(records))
            return report
        if any(write.get("outcome") in _LANDED for write in report.writes):
            self.marks.write(mark.move(records))
            return self._add(report, _WROTE)
        if self._takes_all:  # somebody asked for it by hand, and will see to it
            return report
        left = mark.fail(records)
        self.marks.write(left)
        return report if left.records == mark.records else self._add(report, _GIVEN_UP)

    def _add(self, report: FlushReport, sentence: str) -> FlushReport:
        return replace(report, message=f"{report.message} {sentence}") if self.marks.is_kept else report

    def explain_idle(self, mark: Mark) -> str:
        """Return why nothing is to be reviewed; a file that was rewritten shorter is counted anew."""
        nothing = "The transcript holds nothing that was said."
        if self._takes_all:
            return nothing
        whole = parse_transcript(self._text, after=mark.records)
        if whole.records < mark.records:
            return self._explain_shorter(mark, whole.records)
        self.marks.date(mark)
        if not self._has_ended and whole.settled().turns != whole.turns:
            return "The last exchange is not over yet, so it is left for the next time; --ended reviews it now."
        if mark.records:
            return "Nothing was said since the last review of this transcript; --all reviews all of it again."
        return nothing

    def _explain_shorter(self, mark: Mark, records: int) -> str:
        if self.marks.lower(records):
            return (
                "The transcript has become shorter; what is added to it is reviewed, and --all reviews all of it again."
            )
        return (
            f"Of this transcript {mark.records} records were reviewed before, and here are {records}: it is an older copy. "
            "--all reviews all of it again."
        )


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
