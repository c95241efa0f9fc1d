"""Runs of heartbeats that a person starts and does not wait for, such as on the dashboard.

A run is claimed before the person is told that it began, so that it is noted from then on, whatever becomes of the page.

Rules: KNOB-26; failure case O-39.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.runtime.beats.beat_runs import BeatRun, Claim, carry_out, give_up
from omnislash.runtime.beats.heartbeats import claim_heartbeat
from omnislash.runtime.loop.run_values import RunOptions

if TYPE_CHECKING:
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.turns import Ports

_LOG = logging.getLogger(__name__)
#: How long a stop waits for what runs, in seconds; a model call is cancelled within a moment.
_STOP_S: Final = 10.0


class HandRuns:
    """The runs of one open brain that a person started."""

    def __init__(self) -> None:
        """Run nothing yet."""
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    def start(self, ports: Ports, name: str, *, run_turn: RunTurn) -> BeatRun:
        """Begin a run of a heartbeat, and return it as it stands: running, or skipped because it asks for nothing.

        Raises:
            UsageError: There is no such heartbeat.
            WriterUnavailableError: A run of it is going on.
        """
        claimed = claim_heartbeat(ports, name)
        if isinstance(claimed, BeatRun):
            return claimed
        work = (ports, claimed, run_turn)
        thread = threading.Thread(target=self._carry_out, args=work, name="omnislash-hand-run", daemon=True)
        with self._lock:
            self._running.add(thread)
        try:
            thread.start()
        except RuntimeError as error:  # the machine has no thread left
            self._leave(thread)
            return give_up(ports, claimed, error)
        return claimed.run

    def wait(self, timeout_s: float) -> bool:
        """Return once nothing runs; False when that takes longer."""
        deadline = time.monotonic() + timeout_s
        for thread in self._list_running():
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        return not self._list_running()

    def stop(self) -> None:
        """End within seconds; what runs is cancelled, and noted as interrupted."""
        self._stopping.set()
        self.wait(_STOP_S)

    def _list_running(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._running)

    def _carry_out(self, ports: Ports, claimed: Claim, run_turn: RunTurn) -> None:
        try:
            carry_out(ports, claimed, run_turn=run_turn, options=RunOptions(is_over=self._stopping.is_set))
        except OmnislashError as error:
            extra = {"action": "beat_not_noted", "beat": claimed.order.beat.id}
            text = "What became of %s could not be noted: %s"
            _LOG.error(text, claimed.order.beat.id, error.message, extra=extra)
        finally:
            self._leave(threading.current_thread())

    def _leave(self, thread: threading.Thread) -> None:
        with self._lock:
            self._running.discard(thread)
