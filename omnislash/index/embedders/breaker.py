"""Keeps a turn from waiting again for an endpoint that has just failed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds for which an endpoint that failed is left alone: a conversation has a turn every few seconds, and one of them
#: waits, not all.
PAUSE_S = 30.0
#: An endpoint may ask for a longer pause, up to this.
LONGEST_PAUSE_S = 300.0


class Breaker:
    """Remembers the last failure for a while; may be used by several threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Start closed.

        Args:
            monotonic: Seconds that never run backwards.
        """
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._until: float | None = None
        self._pause = PAUSE_S
        self._reason = ""

    def seconds_left(self) -> float:
        """Return how long the endpoint is still left alone, in seconds; 0 when it may be asked.

        After the pause one caller is let through; the others go on to wait as if the pause had begun anew, until that
        one calls `close` or `open`.
        """
        with self._lock:
            if self._until is None:
                return 0.0
            left = self._until - self._monotonic()
            if left > 0:
                return left
            self._until = self._monotonic() + self._pause
            return 0.0

    @property
    def reason(self) -> str:
        """Why it is open, as a sentence; empty when nothing failed yet."""
        return self._reason

    def trip(self, reason: str, pause_s: float = PAUSE_S) -> None:
        """Leave the endpoint alone for `pause_s`, held between `PAUSE_S` and `LONGEST_PAUSE_S`."""
        with self._lock:
            self._pause = min(max(pause_s, PAUSE_S), LONGEST_PAUSE_S)
            self._until = self._monotonic() + self._pause
            self._reason = reason

    def close(self) -> None:
        """Say that the endpoint has answered."""
        with self._lock:
            self._until = None
