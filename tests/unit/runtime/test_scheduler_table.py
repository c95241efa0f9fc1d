"""What of a schedule is due: on days whose clocks are changed, after sleep, and when the clock itself is set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnislash.runtime.beats.cron import count_instants, last_instant, list_instants, next_instant
from omnislash.runtime.beats.due import CATCH_UP, COUNTED_MAX, Due, Seen, find_due, find_next

if TYPE_CHECKING:
    from collections.abc import Iterator


def at(text: str) -> datetime:
    """Return an instant."""
    return datetime.fromisoformat(text)


#: Schedule, zone, from where, and the instants that follow in local time: set down from the zones' published changes.
TABLE = [
    pytest.param(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00+01:00",
        ["2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"],
        id="Berlin, the hour that is left out",
    ),
    pytest.param(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-29T03:15+02:00",
        ["2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"],
        id="Berlin, looked at behind the change and before the run",
    ),
    pytest.param(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00+02:00",
        ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
        id="Berlin, the hour that comes twice",
    ),
    pytest.param(
        "0 1,2,3 * * *",
        "America/New_York",
        "2026-03-08T00:30-05:00",
        ["2026-03-08T01:00-05:00", "2026-03-08T03:00-04:00", "2026-03-09T01:00-04:00"],
        id="New York, two names for one instant",
    ),
    pytest.param(
        "30 1 * * *",
        "America/New_York",
        "2026-11-01T00:00-04:00",
        ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"],
        id="New York, the hour that comes twice",
    ),
    pytest.param(
        "0 0 * * *",
        "America/Santiago",
        "2027-09-04T12:00-04:00",
        ["2027-09-05T01:00-03:00", "2027-09-06T00:00-03:00"],
        id="Santiago, a midnight that does not exist",
    ),
    pytest.param(
        "15,30 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T12:00+10:30",
        ["2026-10-04T02:30+11:00", "2026-10-04T02:45+11:00", "2026-10-05T02:15+11:00"],
        id="Lord Howe, half an hour is left out, and the two change places",
    ),
    pytest.param(
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2026-04-04T12:00+11:00",
        ["2026-04-05T01:45+11:00", "2026-04-06T01:45+10:30"],
        id="Lord Howe, half an hour comes twice",
    ),
    pytest.param(
        "0 7 * * *",
        "Pacific/Apia",
        "2011-12-28T12:00-10:00",
        ["2011-12-29T07:00-10:00", "2011-12-31T07:00+14:00", "2012-01-01T07:00+14:00"],
        id="Apia, a day that does not exist",
    ),
    pytest.param(
        "0 7 29 2 *",
        "Europe/Berlin",
        "2026-01-01T00:00+01:00",
        ["2028-02-29T07:00+01:00", "2032-02-29T07:00+01:00"],
        id="a leap day",
    ),
]


@pytest.mark.rule("LINE-O3")
@pytest.mark.parametrize(("schedule", "zone", "after", "expected"), TABLE)
def test_instants_in_local_time(schedule: str, zone: str, after: str, expected: list[str]) -> None:
    """The zone's wall clock decides; what a change leaves out comes once, what it repeats comes once."""
    found = list_instants(schedule, after=at(after), zone=ZoneInfo(zone))

    assert [next(found) for _ in expected] == [at(each) for each in expected]


def walk_walls(
    matches: tuple[set[int], set[int]], zone: ZoneInfo, start: datetime, end: datetime
) -> Iterator[datetime]:
    """Yield the instants of a schedule, found by looking at every minute of the wall clock; in no order.

    A minute that the clock shows twice counts the first time; one that it never shows counts as the clock before the
    change would have had it.
    """
    minutes, hours = matches
    wall = start.astimezone(zone).replace(tzinfo=None) - timedelta(days=1)
    last = end.astimezone(zone).replace(tzinfo=None) + timedelta(days=1)
    while wall < last:
        if wall.minute in minutes and wall.hour in hours:
            instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
            if start < instant <= end:
                yield instant
        wall += timedelta(minutes=1)


ZONES = ["Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo", "UTC"]
#: Days around which the zones above change their clocks in 2026, and one on which none does.
DAYS = ["2026-03-07", "2026-03-28", "2026-04-04", "2026-04-23", "2026-07-01", "2026-09-05", "2026-10-03", "2026-10-24"]
WINDOW = timedelta(days=2)


@settings(max_examples=15)
@given(
    zone=st.sampled_from(ZONES),
    day=st.sampled_from(DAYS),
    minutes=st.sets(st.integers(0, 59), min_size=1, max_size=3),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=6),
    steps=st.lists(st.integers(900, 11 * 3600), min_size=1, max_size=40),
)
@example(zone="Europe/Berlin", day="2026-03-28", minutes={30}, hours={2}, steps=[600])
@example(zone="Australia/Lord_Howe", day="2026-10-03", minutes={15, 30}, hours={2}, steps=[1200])
def test_a_walk_through_days_finds_every_instant_once(
    zone: str, day: str, minutes: set[int], hours: set[int], steps: list[int]
) -> None:
    """Whatever the steps: what ran and what was counted as missed is what the wall clock names, each once, none lost."""
    place = ZoneInfo(zone)
    schedule = f"{','.join(map(str, sorted(minutes)))} {','.join(map(str, sorted(hours)))} * * *"
    start = at(f"{day}T00:00:00").replace(tzinfo=UTC)
    now, seen, ran, missed = start, Seen(schedule, zone, start), [], 0
    turn = 0
    while now < start + WINDOW:
        now += timedelta(seconds=steps[turn % len(steps)])
        turn += 1
        due = find_due(seen, schedule, zone, now=now)
        assert not due.starts_anew
        if due.tick:
            assert seen.looked_at < due.tick <= now
            ran.append(due.tick)
            missed += due.missed_count
            seen = Seen(schedule, zone, now)  # a restart reads exactly this back
        else:
            assert due == Due()

    expected = sorted(set(walk_walls((minutes, hours), place, start, seen.looked_at)))
    assert ran == sorted(set(ran))
    assert set(ran) <= set(expected)
    assert len(ran) + missed == len(expected)
    assert list(walk_walls((minutes, hours), place, seen.looked_at, now)) == []


@pytest.mark.parametrize(
    ("zone", "hour", "minute", "step"),
    [
        ("Europe/Berlin", 2, 30, 7 * 3600),
        ("America/New_York", 1, 45, 11 * 3600 + 77),
        ("America/Santiago", 0, 0, 5 * 3600),
        ("Australia/Lord_Howe", 2, 15, 3 * 3600),
    ],
)
def test_a_year_in_steps_runs_a_daily_beat_every_day(zone: str, hour: int, minute: int, step: int) -> None:
    """With looks that are closer than half a day nothing is missed, and no day of the year has none or two."""
    schedule, place = f"{minute} {hour} * * *", ZoneInfo(zone)
    now = start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    seen, ran = Seen(schedule, zone, start), []
    while now < start + timedelta(days=365):
        idle_s = (find_next(seen, schedule, zone, now=now) - now).total_seconds()
        now += timedelta(seconds=step * max(1, int(idle_s // step)))
        due = find_due(seen, schedule, zone, now=now)
        assert due.missed is None
        if due.tick:
            ran.append(due.tick)
            seen = Seen(schedule, zone, now)

    first, last = ran[0].astimezone(place).date(), ran[-1].astimezone(place).date()
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    walls = [datetime(day.year, day.month, day.day, hour, minute, tzinfo=place) for day in days]
    assert len(ran) >= 365
    assert ran == [wall.astimezone(UTC) for wall in walls]


# -- sleep and downtime ----------------------------------------------------------------------------------------------

SEVEN = "0 7 * * *"
MORNING = datetime(2026, 8, 20, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("late", "tick", "missed", "count"),
    [
        pytest.param(timedelta(0), MORNING, None, 0, id="on time"),
        pytest.param(CATCH_UP, MORNING, None, 0, id="just in time"),
        pytest.param(CATCH_UP + timedelta(seconds=1), None, MORNING, 1, id="a second too late"),
        pytest.param(timedelta(days=3), MORNING + timedelta(days=3), MORNING + timedelta(days=2), 3, id="three days"),
        pytest.param(timedelta(days=3, hours=13), None, MORNING + timedelta(days=3), 4, id="three days and a half"),
    ],
)
def test_catching_up_is_bounded(late: timedelta, tick: datetime | None, missed: datetime | None, count: int) -> None:
    """The latest tick runs when it is at most half a day old; the others are counted."""
    seen = Seen(SEVEN, "UTC", MORNING - timedelta(hours=1))

    due = find_due(seen, SEVEN, "UTC", now=MORNING + late)

    assert due == Due(tick=tick, missed=missed, missed_count=count)


def test_a_year_of_minutes_is_counted_so_far() -> None:
    """A beat of every minute that slept for a year runs once, and the count has an end."""
    seen = Seen("* * * * *", "UTC", MORNING - timedelta(days=365))

    due = find_due(seen, "* * * * *", "UTC", now=MORNING)

    assert due == Due(tick=MORNING, missed=MORNING - timedelta(minutes=1), missed_count=COUNTED_MAX)


@pytest.mark.rule("KNOB-26")
@pytest.mark.parametrize(
    ("seen", "schedule", "zone"),
    [
        pytest.param(None, SEVEN, "UTC", id="never seen"),
        pytest.param(Seen("0 6 * * *", "UTC", MORNING - timedelta(days=9)), SEVEN, "UTC", id="another schedule"),
        pytest.param(Seen(SEVEN, "UTC", MORNING - timedelta(days=9)), SEVEN, "Europe/Berlin", id="another zone"),
        pytest.param(Seen(SEVEN, "UTC", MORNING + timedelta(minutes=2)), SEVEN, "UTC", id="the clock was set back"),
    ],
)
def test_what_starts_from_now(seen: Seen | None, schedule: str, zone: str) -> None:
    """Nothing of the past is run for what is new, was changed, or belongs to a wrong clock."""
    assert find_due(seen, schedule, zone, now=MORNING) == Due(starts_anew=True)


def test_a_clock_that_is_kept_right_repeats_nothing() -> None:
    """A step back of a few seconds, just behind a tick, makes it due no second time."""
    seen = Seen(SEVEN, "UTC", MORNING + timedelta(milliseconds=200))

    assert find_due(seen, SEVEN, "UTC", now=MORNING - timedelta(seconds=30)) == Due()
    assert find_due(seen, SEVEN, "UTC", now=MORNING + timedelta(milliseconds=100)) == Due()
    assert find_next(seen, SEVEN, "UTC", now=MORNING - timedelta(seconds=30)) == MORNING + timedelta(days=1)


@given(
    schedule=st.sampled_from(["* * * * *", "0 7 * * *", "0 7 1 * *", "*/5 3 * * *"]),
    hours=st.integers(0, 24 * 20),
    zone=st.sampled_from(ZONES),
)
@settings(max_examples=8)
def test_the_last_and_the_number_agree_with_the_list(schedule: str, hours: int, zone: str) -> None:
    """What is found from behind is the end of what is listed from the front."""
    place, until = ZoneInfo(zone), MORNING
    after = until - timedelta(hours=min(hours, 36) if schedule[0] == "*" else hours)
    listed = []
    instant = next_instant(schedule, after=after, zone=place)
    while instant <= until:
        listed.append(instant)
        instant = next_instant(schedule, after=instant, zone=place)

    assert last_instant(schedule, after=after, until=until, zone=place) == (listed[-1] if listed else None)
    assert count_instants(schedule, after=after, until=until, zone=place, limit=10**6) == len(listed)
