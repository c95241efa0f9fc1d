"""Days and periods in words, as a calendar of 2026 has them."""

from __future__ import annotations

from datetime import date

import pytest

from omnislash.index.date_words import (
    find_heading_day,
    is_date_alone,
    name_period,
    parse_day,
    render_day,
    render_period,
)


@pytest.mark.parametrize(
    ("on", "said"),
    [
        (date(2026, 3, 2), "2 March 2026, Monday, 2026-03-02"),
        (date(2024, 2, 29), "29 February 2024, Thursday, 2024-02-29"),
        (date(1, 1, 1), "1 January 1, Monday, 0001-01-01"),
    ],
)
def test_a_day_in_words(on: date, said: str) -> None:
    """Day, month, year, weekday, and the same in numbers."""
    assert render_day(on) == said


@pytest.mark.rule("PERIOD-04", "PERIOD-05", "PERIOD-06", "PERIOD-07")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("2026-W45", "week 45, 2 November to 8 November 2026, 2026-W45"),
        ("2026-W53", "week 53, 28 December 2026 to 3 January 2027, 2026-W53"),
        ("2025-W53", ""),
        ("2026-03", "March 2026, 2026-03"),
        ("2026-13", ""),
        ("2026-Q1", "quarter 1, January, February and March 2026, 2026-Q1"),
        ("2026-Q4", "quarter 4, October, November and December 2026, 2026-Q4"),
        ("2026", "year 2026"),
        ("0000", ""),
        ("9999-W52", "week 52 of 9999, 9999-W52"),
        ("Suppliers", ""),
        ("", ""),
    ],
)
def test_a_period_in_words(name: str, said: str) -> None:
    """A week says which days it spans, a quarter which months; what is no period says nothing."""
    assert render_period(name) == said


@pytest.mark.parametrize(
    ("kind", "name"),
    [("week", "2027-W52"), ("month", "2028-01"), ("quarter", "2028-Q1"), ("year", "2028"), ("daily", "")],
)
def test_the_period_of_a_day(kind: str, name: str) -> None:
    """1 January 2028 is a Saturday; its ISO week is the last of the year before."""
    assert name_period(kind, date(2028, 1, 1)) == name


@pytest.mark.rule("MIGRATE-O3")
@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("Memory (2026-03-02)", date(2026, 3, 2)),
        ("2026-03-02", date(2026, 3, 2)),
        ("2026-03-02 Kickoff", date(2026, 3, 2)),
        ("2026-03-02: Kickoff", date(2026, 3, 2)),
        ("Kickoff (2026-03-02)", date(2026, 3, 2)),
        ("Plan until 2026-03-02", None),
        ("Memory (2026-02-30)", None),
        ("2026-03-021", None),
        ("2026-03-02-draft", None),
        ("", None),
    ],
)
def test_the_day_of_a_heading(heading: str, day: date | None) -> None:
    """A heading is dated when it begins with a day or ends in one in brackets, and the calendar has it."""
    assert find_heading_day(heading) == day


@pytest.mark.parametrize(
    ("heading", "is_alone"),
    [
        ("2026-03-02", True),
        ("Memory (2026-03-02)", True),
        ("2026-W10", True),
        ("2026", True),
        ("2026-03-02 Kickoff", False),
        ("2026-02-30", False),
        ("Memory (2026-02-30)", False),
        ("Memory", False),
    ],
)
def test_a_heading_that_is_only_a_date(heading: str, is_alone: bool) -> None:
    """It says nothing beside a real day or period."""
    assert is_date_alone(heading) is is_alone


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-30", date(2026, 11, 30)),
        ("2026-11-30 08:00:00", date(2026, 11, 30)),
        ("2026-11-30T08:00:00Z", date(2026, 11, 30)),
        ("2026-02-30", None),
        ("2026-13-45", None),
        ("soon", None),
    ],
)
def test_the_day_of_a_value(text: str, day: date | None) -> None:
    """O-22: a day that the calendar doesn't have is none, and nothing fails."""
    assert parse_day(text) == day
