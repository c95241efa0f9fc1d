"""The threads of an open brain: the watcher of the index, the ticks of summaries and sync, the scheduler of heartbeats.

Rules: PERIOD-01, SCOPE-10, KNOB-26.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.core.clock import Clock
    from omnislash.index.live import LiveIndex
    from omnislash.index.watcher import Watcher
    from omnislash.runtime.beats.hand_runs import HandRuns
    from omnislash.runtime.beats.scheduler import Scheduler
    from omnislash.runtime.examinations import Examinations
    from omnislash.runtime.flushing.flush_queue import FlushQueue, MakeAgent
    from omnislash.runtime.ladder.tick_answers import TickAnswer
    from omnislash.runtime.ladder.ticking import Ticker
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.syncing.ticking import SyncTicker
    from omnislash.runtime.syncing.values import SyncAnswer
    from omnislash.runtime.turns import Ports


class Background:
    """What runs beside the callers of a brain; each is started once, and nothing is loaded before."""

    def __init__(self) -> None:
        """Run nothing yet."""
        self._watcher: Watcher | None = None
        self._ticker: Ticker | None = None
        self._scheduler: Scheduler | None = None
        self._syncer: SyncTicker | None = None
        self._flusher: FlushQueue | None = None
        self._hand_runs: HandRuns | None = None
        self._examinations: Examinations | None = None
        self._lock = threading.Lock()

    def start_indexing(self, index: Callable[[], LiveIndex]) -> Watcher:
        """Keep a search index up to date."""
        from omnislash.index.watcher import Watcher  # noqa: PLC0415 - numpy, which only a search needs

        if self._watcher is None:
            self._watcher = Watcher(index)
            self._watcher.start()
        return self._watcher

    def start_ticking(
        self,
        config: Callable[[], BrainFiles],
        clock: Clock,
        tick: Callable[[datetime, Callable[[], bool]], TickAnswer],
    ) -> Ticker:
        """Run a tick at the times of `consolidation.schedule`."""
        from omnislash.runtime.ladder.ticking import Ticker  # noqa: PLC0415 - what only a worker needs

        if self._ticker is None:
            self._ticker = Ticker(config, clock, tick)
            self._ticker.start()
        return self._ticker

    def start_syncing(
        self, config: Callable[[], BrainFiles], clock: Clock, sync: Callable[[], SyncAnswer]
    ) -> SyncTicker:
        """Sync at the times of `sync.schedule`."""
        from omnislash.runtime.syncing.ticking import SyncTicker  # noqa: PLC0415 - as above

        if self._syncer is None:
            self._syncer = SyncTicker(config, clock, sync)
            self._syncer.start()
        return self._syncer

    def start_scheduling(self, ports: Ports, run_turn: RunTurn | None) -> Scheduler:
        """Run heartbeats at their times, and hooks on their events; None runs them with their model."""
        from omnislash.runtime.beats import scheduler  # noqa: PLC0415 - as above

        if self._scheduler is None:
            self._scheduler = scheduler.Scheduler(ports, run_turn or ports.run_turn)
            self._scheduler.start()
        return self._scheduler

    def start_flushing(self, ports: Ports, make_agent: MakeAgent) -> FlushQueue:
        """Review the transcripts that hosts ask to have reviewed, one after the other."""
        from omnislash.runtime.flushing.flush_queue import FlushQueue  # noqa: PLC0415 - as above

        if self._flusher is None:
            self._flusher = FlushQueue(ports, make_agent)
            self._flusher.start()
        return self._flusher

    def find_hand_runs(self) -> HandRuns:
        """Return the runs of heartbeats that a person starts."""
        from omnislash.runtime.beats.hand_runs import HandRuns  # noqa: PLC0415 - what only a dashboard needs

        with self._lock:
            if self._hand_runs is None:
                self._hand_runs = HandRuns()
            return self._hand_runs

    def find_examinations(self, ports: Ports) -> Examinations:
        """Return what doctor found last, and what runs it again."""
        from omnislash.runtime.examinations import Examinations  # noqa: PLC0415 - as above

        with self._lock:
            if self._examinations is None:
                self._examinations = Examinations(ports)
            return self._examinations

    def stop(self) -> None:
        """End scheduler, ticks and reviews: a turn that runs and a talk with a remote are cut short, and nothing more begins.

        A summary, and what a sync does on this machine, is finished.
        """
        if self._scheduler is not None:
            self._scheduler.stop()
            self._scheduler = None
        if self._hand_runs is not None:
            self._hand_runs.stop()
            self._hand_runs = None
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None
        if self._syncer is not None:
            self._syncer.stop()
            self._syncer = None
        if self._flusher is not None:
            self._flusher.stop()
            self._flusher = None

    def stop_indexing(self) -> None:
        """End the watcher; the index must be closed behind it."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
