"""When a cron expression comes due, in a zone whose clocks are changed twice a year.

The expression is read on the wall clock. What it names in the hour that a change leaves out comes due once, at the same
distance behind the change; what it names in the hour that a change repeats comes due in the first of the two. So the
instants always rise, and no day loses or doubles one.

Rules: PERIOD-12, LINE-O3; failure case O-38.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

#: No change of the clocks leaves out more: Samoa left out a whole day in 2011.
#: Source: IANA time zone database, Pacific/Apia.
_LONGEST_GAP: Final = timedelta(hours=24)
#: Where the search for the latest instant begins: this far back, then twice as far, and so on.
_FIRST_WINDOW: Final = timedelta(hours=1)


def next_instant(schedule: str, *, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant behind `after` at which a schedule comes due, in UTC.

    Args:
        schedule: A cron expression that `omnislash.brain.schedules.parse_schedule` accepted.
        after: Aware.
        zone: In which the expression is read.
    """
    return next(list_instants(schedule, after=after, zone=zone))


def last_instant(schedule: str, *, after: datetime, until: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the latest instant behind `after`, and not behind `until`, in UTC; None when there is none."""
    if next_instant(schedule, after=after, zone=zone) > until:
        return None
    window = _FIRST_WINDOW
    while True:
        start = max(after, until - window)
        found = None
        for instant in list_instants(schedule, after=start, zone=zone):
            if instant > until:
                break
            found = instant
        if found is not None or start == after:
            return found
        window *= 2


def count_instants(schedule: str, *, after: datetime, until: datetime, zone: ZoneInfo, limit: int) -> int:
    """Return how many instants lie behind `after`, and not behind `until`; `limit` stands for that many or more."""
    count = 0
    for instant in list_instants(schedule, after=after, zone=zone):
        if instant > until or count == limit:
            break
        count += 1
    return count


def list_instants(schedule: str, *, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield every instant behind `after` at which a schedule comes due, rising, in UTC; arguments as `next_instant`."""
    last = after
    for instant in _sort_gaps(_walk(schedule, after=after, zone=zone)):
        if instant > last:
            last = instant
            yield instant


def _walk(schedule: str, *, after: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, bool]]:
    """Yield what the wall clock names, in its order, as an instant, and whether a change left it out."""
    from croniter import croniter  # noqa: PLC0415 - its import costs more than reading a whole brain

    # Behind a change that left time out, what it left out is still to come: the clock before the change named that.
    shown = after.astimezone(zone).replace(tzinfo=None)
    unchanged = (after - _LONGEST_GAP).astimezone(zone).replace(tzinfo=None) + _LONGEST_GAP
    start = min(shown, unchanged).replace(second=0, microsecond=0) - timedelta(minutes=1)
    named = croniter(schedule, start)
    while True:
        wall: datetime = named.get_next(datetime)
        instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
        yield instant, instant.astimezone(zone).replace(tzinfo=None) != wall


def _sort_gaps(walked: Iterator[tuple[datetime, bool]]) -> Iterator[datetime]:
    """Yield instants that rise: those that a change left out fall among the ones behind it."""
    waiting: list[datetime] = []
    for instant, is_left_out in walked:
        if is_left_out:
            waiting.append(instant)
            continue
        yield from (early for early in waiting if early <= instant)
        waiting = [late for late in waiting if late > instant]
        yield instant
