"""Telling of what happened: the listeners of this process, and the hooks of every process.

Rules: EVENT-O4.
"""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.core.clock import Clock
    from omnislash.core.events import Event
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)


class Announcer:
    """Tells of events in this process."""

    def __init__(self, state: Callable[[], State], clock: Clock) -> None:
        """Nobody listens yet."""
        self._state = state
        self._clock = clock
        self._listeners: list[Callable[[Event], None]] = []
        self._telling = threading.local()

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call the listener with each event from now on, in the thread in which it happens."""
        self._listeners.append(listener)

    @property
    def is_telling(self) -> bool:
        """Whether this thread is calling listeners: the writer goes on when they have returned."""
        return getattr(self._telling, "is_on", False)

    def tell(self, event: Event) -> None:
        """Tell the listeners; what one of them does wrong is logged, and undoes nothing."""
        if _LOG.isEnabledFor(logging.DEBUG):  # the action log has every write; this is for looking on
            _LOG.debug("%s", event.name, extra={"action": event.name, **_loggable(event.to_json())})
        is_nested, self._telling.is_on = self.is_telling, True
        try:
            for listener in self._listeners:
                _tell(listener, event)
        finally:
            self._telling.is_on = is_nested

    def announce(self, event: Event) -> None:
        """Note an event for the hooks of every process, and tell the listeners of this one.

        Raises:
            WriterUnavailableError: The state database can't be written; nobody was told.
        """
        payload = json.dumps(event.to_json(), ensure_ascii=False)
        state = self._state()
        with state.transaction():
            cause = getattr(event, "heartbeat_id", None)
            at = self._clock.now().isoformat()
            state.run("insert_event", at=at, name=event.name, payload=payload, heartbeat=cause)
        self.tell(event)


def _tell(listener: Callable[[Event], None], event: Event) -> None:
    try:
        listener(event)
    except Exception:  # noqa: BLE001 - a listener is somebody else's code; its failure undoes no write
        _LOG.exception("a listener failed", extra={"action": "listener_failed"})


def _loggable(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event under names that a log record has free."""
    return {f"event_{key}": value for key, value in payload.items()}
