"""The threads of a worker that run heartbeats by the clock and hooks by the events of memory.

One thread looks at the clock, the configuration and the events every few seconds, so that a changed schedule, another
zone, a clock that was set and a machine that slept are noticed. What is due is claimed in the state database, and runs
in a thread of its own: beats do not hold each other up, nor the writer. There are only so many at a time; what is due
beyond them stays due. A stop cancels what runs.

Rules: KNOB-26, EVENT-O4, EVENT-09; failure cases O-38 and O-39.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.runtime.beats.beat_runs import Claim, carry_out, claim, give_up, note_cut_off, stamp
from omnislash.runtime.beats.heartbeats import Schedules
from omnislash.runtime.beats.hooks import HookCalls
from omnislash.runtime.loop.run_values import RunOptions

if TYPE_CHECKING:
    from datetime import datetime

    from omnislash.runtime.beats.heartbeats import DueRun
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.turns import Ports

_LOG = logging.getLogger(__name__)
#: How often the clock, the configuration and the events are looked at, in seconds.
LOOK_S: Final = 5.0
#: How long the first look waits, in seconds: a worker that starts serves its callers first, and notes nothing meanwhile.
_FIRST_S: Final = 1.0
#: The shortest wait, in seconds: a clock that stands still must not be asked without end.
_SHORTEST_S: Final = 0.05
#: Runs at a time; a provider that is asked by more at once turns them away.
RUNS_MAX: Final = 4
#: How long a stop waits for what runs, in seconds; a model call is cancelled within a moment.
_STOP_S: Final = 10.0
#: Runs are kept so long; of each beat the newest is kept for good.
_KEPT: Final = timedelta(days=90)
#: How often old runs are removed.
_PRUNED_EVERY: Final = timedelta(days=1)


class Scheduler:
    """Runs heartbeats and hooks until it is stopped."""

    def __init__(self, ports: Ports, run_turn: RunTurn, *, threaded: bool = True) -> None:
        """Keep the ports.

        Args:
            ports: The brain.
            run_turn: Runs a turn with a model.
            threaded: False carries every run out within the look that finds it, one after another; for a simulation.
        """
        self._ports = ports
        self._run_turn = run_turn
        self._threaded = threaded
        self._schedules = Schedules(ports)
        self._calls = HookCalls(ports)
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()
        self._thread: threading.Thread | None = None
        self._pruned_at: datetime | None = None

    # -- starting and stopping ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin in the background."""
        self._thread = threading.Thread(target=self._loop, name="omnislash-beats", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End within seconds; what runs is cancelled, and noted as interrupted."""
        self._stopping.set()
        self._wake.set()
        deadline = time.monotonic() + _STOP_S
        if self._thread:
            self._thread.join(timeout=_STOP_S)
        for thread in self._list_running():
            thread.join(timeout=max(0.0, deadline - time.monotonic()))

    def wait(self, timeout_s: float) -> bool:
        """Return once nothing runs; False when that takes longer."""
        deadline = time.monotonic() + timeout_s
        for thread in self._list_running():
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        return not self._list_running()

    def _list_running(self) -> list[threading.Thread]:
        with self._lock:
            return [thread for thread in self._running if thread is not threading.current_thread()]

    def _loop(self) -> None:
        self._wake.wait(_FIRST_S)
        while not self._stopping.is_set():
            pause = self.look()
            self._wake.wait(pause)
            self._wake.clear()

    # -- looking -----------------------------------------------------------------------------------------------------

    def look(self) -> float:
        """Start what is due, and return how long to wait before the next look, in seconds."""
        try:
            return self._look()
        except OmnislashError as error:
            _LOG.warning("No heartbeats and hooks this time: %s", error.message, extra={"action": "beats_skipped"})
        except Exception:  # noqa: BLE001 - the worker writes on without heartbeats
            _LOG.exception("looking for heartbeats failed", extra={"action": "beats_failed"})
        return LOOK_S

    def _look(self) -> float:
        now = self._ports.clock.now()
        note_cut_off(self._ports)
        self._prune(now)
        look = self._schedules.look(now)
        for due in (*look.due, *self._calls.look(now)):
            if not self._has_room():
                break
            self._start(due)
        if look.next is None:
            return LOOK_S
        return min(LOOK_S, max(_SHORTEST_S, (look.next - self._ports.clock.now()).total_seconds()))

    def _has_room(self) -> bool:
        with self._lock:
            return len(self._running) < RUNS_MAX and not self._stopping.is_set()

    def _start(self, due: DueRun) -> None:
        """Claim a run and begin it; what keeps one beat from running keeps no other from its own."""
        try:
            claimed = claim(self._ports, due.order, also=due.also, waits=due.waits)
        except OmnislashError as error:
            extra = {"action": "beat_not_started", "beat": due.order.beat.id}
            _LOG.warning("%s did not start: %s", due.order.beat.id, error.message, extra=extra)
            return
        if not isinstance(claimed, Claim):
            return
        if not self._threaded:
            self._carry_out(claimed)
            return
        thread = threading.Thread(target=self._carry_out, args=(claimed,), name="omnislash-beat", daemon=True)
        with self._lock:
            self._running.add(thread)
        try:
            thread.start()
        except RuntimeError as error:  # the machine has no thread left
            self._leave(thread)
            self._give_up(claimed, error)

    def _give_up(self, claimed: Claim, error: Exception) -> None:
        """Note a run that could not begin as failed; its beat runs again when it comes due next."""
        try:
            give_up(self._ports, claimed, error)
        except OmnislashError as trouble:
            self._tell_unnoted(claimed, trouble.message)

    def _carry_out(self, claimed: Claim) -> None:
        """Run what was claimed; an error that comes up here ends neither the worker nor the look that it runs in."""
        try:
            options = RunOptions(is_over=self._stopping.is_set)
            carry_out(self._ports, claimed, run_turn=self._run_turn, options=options)
        except OmnislashError as error:
            self._tell_unnoted(claimed, error.message)
        except Exception as error:  # noqa: BLE001 - noting a run went wrong in a way that nobody foresaw
            _LOG.exception("%s broke off", claimed.order.beat.id, extra={"action": "beat_error"})
            self._give_up(claimed, error)
        finally:
            self._leave(threading.current_thread())

    def _leave(self, thread: threading.Thread) -> None:
        """Give the place of a run to the next one."""
        with self._lock:
            self._running.discard(thread)
        self._wake.set()

    @staticmethod
    def _tell_unnoted(claimed: Claim, why: str) -> None:
        extra = {"action": "beat_not_noted", "beat": claimed.order.beat.id}
        _LOG.error("What became of %s could not be noted: %s", claimed.order.beat.id, why, extra=extra)

    def _prune(self, now: datetime) -> None:
        if self._pruned_at is not None and self._pruned_at <= now < self._pruned_at + _PRUNED_EVERY:
            return
        self._pruned_at = now
        state = self._ports.state()
        with state.transaction():
            state.run("prune_runs", before=stamp(now - _KEPT))
