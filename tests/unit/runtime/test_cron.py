"""When a schedule comes due, on days whose clocks are changed too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.runtime.beats.cron import next_instant


def list_instants(schedule: str, *, after: str, zone: str, count: int) -> list[str]:
    """Return the next instants in local time."""
    found, at = [], datetime.fromisoformat(after)
    for _ in range(count):
        at = next_instant(schedule, after=at, zone=ZoneInfo(zone))
        found.append(at.astimezone(ZoneInfo(zone)).isoformat())
    return found


def test_o_38_midnight_that_does_not_exist() -> None:
    """Five rising Sundays; on that one once, before two o'clock."""
    assert list_instants("0 0 * * 0", after="2027-08-22T12:00-04:00", zone="America/Santiago", count=5) == [
        "2027-08-29T00:00:00-04:00",
        "2027-09-05T01:00:00-03:00",
        "2027-09-12T00:00:00-03:00",
        "2027-09-19T00:00:00-03:00",
        "2027-09-26T00:00:00-03:00",
    ]


@pytest.mark.rule("PERIOD-12")
@pytest.mark.parametrize(
    ("schedule", "after", "zone", "expected"),
    [
        pytest.param(
            "0 4 * * *",
            "2026-08-20T03:59:59+02:00",
            "Europe/Berlin",
            ["2026-08-20T04:00:00+02:00", "2026-08-21T04:00:00+02:00"],
            id="an ordinary night",
        ),
        pytest.param(
            "0 4 * * *",
            "2026-08-20T04:00:00+02:00",
            "Europe/Berlin",
            ["2026-08-21T04:00:00+02:00", "2026-08-22T04:00:00+02:00"],
            id="an instant is not behind itself",
        ),
        pytest.param(
            "0 4 * * *",
            "2026-10-24T12:00:00+02:00",
            "Europe/Berlin",
            ["2026-10-25T04:00:00+01:00", "2026-10-26T04:00:00+01:00"],
            id="after the hour that comes twice",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-10-24T12:00:00+02:00",
            "Europe/Berlin",
            ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
            id="in the hour that comes twice, once",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-10-25T02:10:00+01:00",
            "Europe/Berlin",
            ["2026-10-26T02:30:00+01:00"],
            id="asked in the hour that comes the second time",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-03-28T12:00:00+01:00",
            "Europe/Berlin",
            ["2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"],
            id="in the hour that does not come, once",
        ),
        pytest.param(
            "*/30 * * * *",
            "2026-03-29T01:40:00+01:00",
            "Europe/Berlin",
            ["2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:00:00+02:00"],
            id="every half hour through the gap",
        ),
        pytest.param(
            "@monthly",
            "2026-01-15T00:00:00+11:00",
            "Australia/Sydney",
            ["2026-02-01T00:00:00+11:00", "2026-03-01T00:00:00+11:00"],
            id="a nickname",
        ),
        pytest.param("0 0 29 2 *", "2026-01-15T00:00:00+00:00", "UTC", ["2028-02-29T00:00:00+00:00"], id="a rare day"),
    ],
)
def test_local_time_decides(schedule: str, after: str, zone: str, expected: list[str]) -> None:
    """The expression is read on the wall clock of the brain's zone."""
    assert list_instants(schedule, after=after, zone=zone, count=len(expected)) == expected


@given(
    st.integers(0, 40 * 365 * 24 * 60),
    st.sampled_from(["0 4 * * *", "30 2 * * *", "0 0 * * *", "*/7 * * * *", "15 1-3 * * 0", "0 0 1 1 *"]),
    st.sampled_from(
        ["UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu"]
    ),
)
def test_instants_rise_and_none_is_far(minutes: int, schedule: str, zone: str) -> None:
    """Whatever the clocks do, the next instant is later; daily ones are at most 25 hours apart."""
    at = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    found = next_instant(schedule, after=at, zone=ZoneInfo(zone))

    assert found > at
    assert found.second == 0
    if schedule in {"0 4 * * *", "30 2 * * *", "0 0 * * *"}:
        assert found - at <= timedelta(hours=25)
