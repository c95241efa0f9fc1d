"""The thread of a worker that does something by a schedule of the manifest.

It looks at the clock and at the configuration every half minute, so that a changed schedule, another zone, a clock that
was set and a machine that slept are noticed, and never sleeps up to an instant that may have been computed wrongly.
A time that passed before the worker started, or before the schedule was saved, is not made up for: nothing gets too old
for the next one. A time that passed while the machine slept comes due once when it wakes.

Rules: PERIOD-01, PERIOD-12, PERIOD-O14, KNOB-20, KNOB-26, EVENT-09.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final
from zoneinfo import ZoneInfo

from omnislash.errors import OmnislashError
from omnislash.runtime.beats.cron import next_instant

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.manifest import Manifest
    from omnislash.core.clock import Clock

_LOG = logging.getLogger(__name__)
#: How often the clock and the configuration are looked at, in seconds.
LOOK_S: Final = 30.0
#: The shortest wait, in seconds: a clock that stands still must not be asked without end.
_SHORTEST_S: Final = 0.05
#: A clock that went back further than this was set by somebody; less is what keeps it right.
_SET_BACK: Final = timedelta(minutes=1)
#: How long a stop waits for the run that is under way, in seconds; a command is killed within a moment.
_STOP_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """The schedule as it was read, and what follows from it."""

    schedule: str
    timezone: str
    #: When the next tick is due.
    due: datetime


class ScheduledThread:
    """Does something at the times of a schedule until it is stopped."""

    #: Name of the thread.
    thread_name: ClassVar[str]
    #: What it does, for the log: with and without an article, and as the first part of an action.
    deed: ClassVar[tuple[str, str]]
    action: ClassVar[str]

    def __init__(self, config: Callable[[], BrainFiles], clock: Clock) -> None:
        """Keep the ports; `config` returns the configuration as the brain's files say now."""
        self._config = config
        self._clock = clock
        self._plan: _Plan | None = None
        self._looked_at = clock.now()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def find_schedule(self, manifest: Manifest) -> str | None:
        """Return the cron expression, or None while there is nothing to do."""
        raise NotImplementedError

    def tick(self, now: datetime, is_over: Callable[[], bool]) -> None:
        """Do it; `is_over` tells whether to end early."""
        raise NotImplementedError

    @property
    def due(self) -> datetime | None:
        """When the next tick is due, in UTC; None while there is nothing to do, and before the first look."""
        return self._plan.due if self._plan else None

    def start(self) -> None:
        """Begin in the background."""
        self._thread = threading.Thread(target=self._run, name=self.thread_name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; the run that is under way is finished, or its command killed."""
        self._stopping.set()
        if self._thread:
            self._thread.join(timeout=_STOP_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(self.look())

    def look(self) -> float:
        """Run the tick when it is due, and return how long to wait before the next look, in seconds."""
        try:
            return self._look()
        except OmnislashError as error:
            extra = {"action": f"{self.action}_skipped"}
            _LOG.warning("No %s this time: %s", self.deed[1], error.message, extra=extra)
        except Exception:  # noqa: BLE001 - the worker writes on without it
            _LOG.exception("%s failed", self.deed[0], extra={"action": f"{self.action}_failed"})
        return LOOK_S

    def _look(self) -> float:
        now = self._clock.now()
        self._plan = self._find_plan(now)
        self._looked_at = now
        if self._plan is None:
            return LOOK_S
        if now >= self._plan.due:
            due = next_instant(self._plan.schedule, after=now, zone=ZoneInfo(self._plan.timezone))
            self._plan = _Plan(self._plan.schedule, self._plan.timezone, due)
            self.tick(now, self._stopping.is_set)
            return 0.0
        return min(LOOK_S, max(_SHORTEST_S, (self._plan.due - now).total_seconds()))

    def _find_plan(self, now: datetime) -> _Plan | None:
        """Return when the next tick is due: as known already, unless the schedule, the zone or the clock was changed."""
        manifest = self._config().manifest
        schedule, timezone = self.find_schedule(manifest), manifest.locale.timezone
        if schedule is None:
            return None
        plan = self._plan
        was_set_back = now < self._looked_at - _SET_BACK
        if plan and (plan.schedule, plan.timezone) == (schedule, timezone) and not was_set_back:
            return plan
        return _Plan(schedule, timezone, next_instant(schedule, after=now, zone=ZoneInfo(timezone)))
