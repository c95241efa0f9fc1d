"""The clock as an argument: nobody in the core asks what time it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """Tells the time; the one real clock is `store.system_clock.SystemClock`."""

    def now(self) -> datetime:
        """Return this instant as an aware datetime, in any zone."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards, for time limits."""
        ...
