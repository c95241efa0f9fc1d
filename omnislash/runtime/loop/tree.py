"""What a turn shares with every agent below it: the requests that all of them may make together, and what they wrote."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Verdicts after which something stands on disk, or will.
_WROTE: Final = frozenset({"written", "partial", "queued", "unconfirmed"})


class Tree:
    """The first agent and its sub-agents, as one; safe to share between threads."""

    def __init__(self, requests: int) -> None:
        """Keep how many requests all of them may make together."""
        self._most = requests
        self._used = 0
        self._written: dict[str, None] = {}
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """Requests that were made, those that failed included."""
        return self._used

    def take_request(self) -> bool:
        """Count one more request; False when none is left."""
        with self._lock:
            if self._used >= self._most:
                return False
            self._used += 1
            return True

    def note(self, answer: Mapping[str, Any]) -> None:
        """Remember the files that a tool has written, as its answer names them."""
        if answer.get("outcome") in _WROTE:
            with self._lock:
                self._written.update(dict.fromkeys(str(path) for path in answer.get("paths", ())))

    @property
    def written(self) -> tuple[str, ...]:
        """Files that were written, in the order of writing."""
        with self._lock:
            return tuple(self._written)
