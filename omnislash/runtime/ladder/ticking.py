"""The thread of a worker that writes period summaries by their schedule.

Rules: PERIOD-01, PERIOD-12, PERIOD-O14, KNOB-20, KNOB-26, EVENT-09.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from omnislash.runtime.ticking import ScheduledThread

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.manifest import Manifest
    from omnislash.core.clock import Clock
    from omnislash.runtime.ladder.tick_answers import TickAnswer

_LOG = logging.getLogger(__name__)


class Ticker(ScheduledThread):
    """Runs the tick at the times of `consolidation.schedule` until it is stopped; nothing is due while no line is enabled."""

    thread_name = "omnislash-ticks"
    deed = ("a consolidation", "consolidation")
    action = "tick"

    def __init__(
        self, config: Callable[[], BrainFiles], clock: Clock, tick: Callable[[datetime, Callable[[], bool]], TickAnswer]
    ) -> None:
        """Keep the ports.

        Args:
            config: The configuration as the brain's files say now.
            clock: The time.
            tick: Runs a tick for an instant; is handed what tells whether to end early.
        """
        super().__init__(config, clock)
        self._tick = tick

    def find_schedule(self, manifest: Manifest) -> str | None:
        """Return `consolidation.schedule`, or None while no line is enabled."""
        consolidation = manifest.memory.consolidation
        return consolidation.schedule if consolidation.lines else None

    def tick(self, now: datetime, is_over: Callable[[], bool]) -> None:
        """Write what is due."""
        _report(self._tick(now, is_over))


def _report(answer: TickAnswer) -> None:
    """Log what could not be written; the numbers of each line are in the log already."""
    for line in answer.lines:
        for failed in line.failed:
            extra = {"action": "summary_failed", "memory_line": line.line, "period": failed.period.name}
            _LOG.warning("%s: %s was not written: %s", line.line, failed.period, failed.reason, extra=extra)
