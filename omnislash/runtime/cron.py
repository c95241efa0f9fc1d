"""When a cron expression comes due, in a zone whose clocks are changed twice a year.

The expression is read on the wall clock. What it names in the hour that a change leaves out comes due once, at the same
distance behind the change; what it names in the hour that a change repeats comes due in the first of the two. So the
instants always rise, and no day loses or doubles one.

Rules: PERIOD-12, LINE-O3; failure case O-38.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


def next_instant(schedule: str, *, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant behind `after` at which a schedule comes due, in UTC.

    Args:
        schedule: A cron expression that `omnislash.brain.schedules.parse_schedule` accepted.
        after: Aware.
        zone: In which the expression is read.
    """
    from croniter import croniter  # noqa: PLC0415 - its import costs more than reading a whole brain

    wall = croniter(schedule, after.astimezone(zone).replace(tzinfo=None))
    while True:
        found: datetime = wall.get_next(datetime)
        instant = found.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if instant > after:
            return instant
