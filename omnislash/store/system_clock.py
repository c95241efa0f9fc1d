"""The one real clock of the program."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Tells the machine's time."""

    def now(self) -> datetime:
        """Return this instant, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()


def file_time_ns() -> int:
    """Return the time by which the file system stamps files, in nanoseconds; never another clock's.

    It only tells how long ago a file was changed, so it stays the machine's when a test sets the clock.
    """
    return time.time_ns()
