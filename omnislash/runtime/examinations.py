"""What doctor found last, kept for whoever looks again: an examination of a large brain takes seconds.

Two never run at a time: whoever asks during one gets that one.

Rules: DOCTOR-16.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.checks.examining import examine
from omnislash.checks.listing import Listing
from omnislash.errors import OmnislashError, StorageError
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.checks.findings import Report
    from omnislash.runtime.turns import Ports

_LOG = logging.getLogger(__name__)
#: A look at the files that takes longer is not made at each visit, but for a twentieth of the time, in seconds.
_SLOW_S: Final = 0.05
_BELIEVED_TIMES: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One run of all checks."""

    report: Report
    #: When it began.
    at: datetime
    #: How long it took, in seconds.
    took_s: float
    #: When it was done, on the clock that only counts, in seconds.
    done_s: float
    #: What the files of the brain looked like when it began: names, sizes and times, as a hash.
    seen: str


class Examinations:
    """Runs the checks of one brain, one run at a time, and keeps the last result."""

    def __init__(self, ports: Ports) -> None:
        """Keep the brain; nothing is examined yet."""
        self._ports = ports
        self._lock = threading.Lock()
        self._latest: Examination | None = None
        self._going: Future[Examination] | None = None
        #: What the files looked like last, how long looking took, and when that was, in seconds.
        self._sight = ("", 0.0, 0.0)

    @property
    def latest(self) -> Examination | None:
        """The last result; None before the first."""
        return self._latest

    @property
    def is_running(self) -> bool:
        """Whether the checks run now."""
        return self._going is not None

    def is_current(self) -> bool:
        """Tell whether the brain's files look as they did for the last result.

        Where looking takes long, what was seen a moment ago is believed.
        """
        latest = self._latest
        if latest is None:
            return False
        now = self._ports.clock.monotonic_s()
        seen, took_s, looked_s = self._sight
        if took_s < _SLOW_S or now - looked_s >= _BELIEVED_TIMES * took_s:
            seen = self._look()
            looked_s = self._ports.clock.monotonic_s()
            self._sight = (seen, looked_s - now, looked_s)
        return latest.seen == seen

    def find_age(self, found: Examination) -> float:
        """Return how old a result is, in seconds."""
        return max(0.0, self._ports.clock.monotonic_s() - found.done_s)

    def run(self) -> Examination:
        """Run the checks, or wait for the run that is going on, and return the result.

        Raises:
            UsageError: The brain's directory is gone.
        """
        mine, going = self._join()
        if mine:
            self._carry_out(going)
        return going.result()

    def start(self, on_done: Callable[[], None] = lambda: None, *, wait_s: float = 0.0) -> bool:
        """Run the checks in the background; False when they run already.

        Args:
            on_done: Called when the result is there.
            wait_s: How long to wait for the result all the same, in seconds; a small brain needs no longer.
        """
        mine, going = self._join()
        if mine:
            going.add_done_callback(lambda _going: on_done())
            work = threading.Thread(target=self._try, args=(going,), name="omnislash-doctor", daemon=True)
            work.start()
        done = threading.Event()
        going.add_done_callback(lambda _going: done.set())
        done.wait(wait_s)
        return mine

    def _join(self) -> tuple[bool, Future[Examination]]:
        """Return the run that goes on, or a new one, and whether it is new and to be carried out."""
        with self._lock:
            if self._going is not None:
                return False, self._going
            self._going = Future()
            return True, self._going

    def _try(self, going: Future[Examination]) -> None:
        try:
            self._carry_out(going)
        except OmnislashError as error:
            _LOG.warning("The checks did not run: %s", error.message, extra={"action": "checks_failed"})

    def _carry_out(self, going: Future[Examination]) -> None:
        try:
            found = self._examine()
        except OmnislashError as error:
            self._end(going)
            going.set_exception(error)
            raise
        except BaseException:
            self._end(going)
            going.set_exception(StorageError("The checks broke off; the log has the details."))
            raise
        self._latest = found
        self._end(going)
        going.set_result(found)

    def _end(self, going: Future[Examination]) -> None:
        with self._lock:
            if self._going is going:
                self._going = None

    def _examine(self) -> Examination:
        ports = self._ports
        began, seen = ports.clock.monotonic_s(), self._look()
        self._sight = (seen, (looked_s := ports.clock.monotonic_s()) - began, looked_s)
        at = ports.clock.now()
        report = examine(ports.root, shipped=constitution_directory(), now=at, environment=ports.environment)
        done = ports.clock.monotonic_s()
        return Examination(report=report, at=at, took_s=done - began, done_s=done, seen=seen)

    def _look(self) -> str:
        """Return a hash of what doctor lists, without hidden files: the engine's own ones change all the time."""
        listed = Listing(self._ports.root, self._ports.config().sources).run()
        visible = (entry for entry in listed if not any(part.startswith(".") for part in entry.path.split("/")))
        text = "\n".join(f"{entry.path!r} {entry.size} {entry.mtime_ns} {entry.mode}" for entry in visible)
        return hashlib.sha256(text.encode()).hexdigest()
