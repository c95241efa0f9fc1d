"""How long what broke is left alone before it is tried again."""

from __future__ import annotations

from typing import Final

#: The first pause and the longest, in seconds. Each is twice as long as the one before.
FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0


class Pauses:
    """The pauses of one thing that is tried again and again; they begin anew when it has held for the longest of them."""

    def __init__(self) -> None:
        """Begin with the first pause."""
        self._next_s = FIRST_S
        self._began = float("-inf")

    def begin(self, now: float) -> None:
        """Note that it is tried, at a moment of any clock that only goes forward, in seconds."""
        self._began = now

    def after_break(self, now: float) -> float:
        """Return how long to leave it alone, in seconds, now that it broke."""
        pause = FIRST_S if now - self._began > LONGEST_S else self._next_s
        self._next_s = min(2 * pause, LONGEST_S)
        return pause
