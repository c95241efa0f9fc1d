"""What of a schedule is due at an instant: the tick that runs now, and those that were missed. Pure.

Rules: KNOB-26, LINE-O3, PERIOD-O14 (which heartbeats do not share: a tick of theirs that was slept through is made up
for once); failure case O-38.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from omnislash.runtime.beats.cron import count_instants, last_instant, next_instant

if TYPE_CHECKING:
    from datetime import datetime

#: How late a tick may still be run, when the machine slept or no worker was there; half a day, so that a briefing of
#: the morning comes when the machine is opened at noon, and never together with that of the next morning.
CATCH_UP: Final = timedelta(hours=12)
#: A clock that went back further than this was set by somebody; less is what keeps it right.
SET_BACK: Final = timedelta(minutes=1)
#: Missed ticks are counted as far as this.
COUNTED_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a schedule was looked at."""

    schedule: str
    timezone: str
    #: In UTC.
    looked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What a look at a schedule found."""

    #: True when looking starts from now: the schedule is new or another, or the clock was set back.
    starts_anew: bool = False
    #: The tick to run, in UTC; None when there is none.
    tick: datetime | None = None
    #: The latest tick that is too late to run; it and the ones before it are only noted.
    missed: datetime | None = None
    #: How many those are, at most `COUNTED_MAX`.
    missed_count: int = 0


def find_due(seen: Seen | None, schedule: str, timezone: str, *, now: datetime) -> Due:
    """Return what is due.

    Args:
        seen: How far it was looked at; None when it was never seen.
        schedule: The cron expression as it is now.
        timezone: The zone as it is now.
        now: Aware.
    """
    if seen is None or (seen.schedule, seen.timezone) != (schedule, timezone) or now < seen.looked_at - SET_BACK:
        return Due(starts_anew=True)
    zone = ZoneInfo(timezone)
    latest = last_instant(schedule, after=seen.looked_at, until=now, zone=zone) if now > seen.looked_at else None
    if latest is None:
        return Due()
    tick = latest if now - latest <= CATCH_UP else None
    before = latest - timedelta(microseconds=1) if tick else latest
    missed = last_instant(schedule, after=seen.looked_at, until=before, zone=zone) if tick else latest
    if missed is None:
        return Due(tick=tick)
    count = count_instants(schedule, after=seen.looked_at, until=missed, zone=zone, limit=COUNTED_MAX)
    return Due(tick=tick, missed=missed, missed_count=count)


def find_next(seen: Seen | None, schedule: str, timezone: str, *, now: datetime) -> datetime:
    """Return the next tick that is not due yet, in UTC: none that was looked at already comes again."""
    after = max(now, seen.looked_at) if seen and now >= seen.looked_at - SET_BACK else now
    return next_instant(schedule, after=after, zone=ZoneInfo(timezone))
