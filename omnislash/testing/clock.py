"""A clock that stands still until it is told to go on."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_START = datetime(2026, 11, 30, 9, 5, tzinfo=UTC)


class FixedClock:
    """The twin of `store.system_clock.SystemClock`; satisfies `core.clock.Clock`.

    The time of day stands still.
    Time limits are real, because what waits for them is real as well.
    """

    def __init__(self, now: datetime = _START) -> None:
        """Stand at an aware instant; 2026-11-30 09:05 UTC, a Monday, by default.

        Raises:
            ValueError: The instant has no zone.
        """
        if now.tzinfo is None:
            message = "a clock needs an aware instant"
            raise ValueError(message)
        self._now = now

    def now(self) -> datetime:
        """Return the instant at which it stands."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Go on (or back: a machine's clock does that too)."""
        self._now += by

    @staticmethod
    def monotonic_s() -> float:
        """Return real seconds that never run backwards."""
        return time.monotonic()
