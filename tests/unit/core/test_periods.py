"""Days, ISO weeks, months, quarters and years as values: every row of the worked tables, and the ends of the calendar."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from omnislash.core.lines import FileKind, LineName, kind_of, parse_managed_path
from omnislash.core.periods import (
    LADDER,
    Level,
    Period,
    days_in_folder,
    find_period,
    level_below,
    order_levels,
    parse_period,
    period_at,
    period_on,
    split_period,
    summaries_in_folder,
)
from omnislash.errors import InvalidNameError

MAIN = LineName("main")

#: Day, ISO week, first and last day of the week, its file, and the month, quarter and year that it feeds.
WEEKS = """
2024-12-29 2024-W52 2024-12-23 2024-12-29 main/2024/2024-W52.md 2024-12 2024-Q4 2024
2024-12-30 2025-W01 2024-12-30 2025-01-05 main/2025/2025-W01.md 2025-01 2025-Q1 2025
2025-01-05 2025-W01 2024-12-30 2025-01-05 main/2025/2025-W01.md 2025-01 2025-Q1 2025
2025-12-29 2026-W01 2025-12-29 2026-01-04 main/2026/2026-W01.md 2026-01 2026-Q1 2026
2026-01-04 2026-W01 2025-12-29 2026-01-04 main/2026/2026-W01.md 2026-01 2026-Q1 2026
2026-02-01 2026-W05 2026-01-26 2026-02-01 main/2026/2026-W05.md 2026-02 2026-Q1 2026
2026-03-30 2026-W14 2026-03-30 2026-04-05 main/2026/2026-W14.md 2026-04 2026-Q2 2026
2026-07-05 2026-W27 2026-06-29 2026-07-05 main/2026/2026-W27.md 2026-07 2026-Q3 2026
2026-07-27 2026-W31 2026-07-27 2026-08-02 main/2026/2026-W31.md 2026-08 2026-Q3 2026
2026-08-02 2026-W31 2026-07-27 2026-08-02 main/2026/2026-W31.md 2026-08 2026-Q3 2026
2026-08-20 2026-W34 2026-08-17 2026-08-23 main/2026/2026-W34.md 2026-08 2026-Q3 2026
2026-08-30 2026-W35 2026-08-24 2026-08-30 main/2026/2026-W35.md 2026-08 2026-Q3 2026
2026-08-31 2026-W36 2026-08-31 2026-09-06 main/2026/2026-W36.md 2026-09 2026-Q3 2026
2026-09-06 2026-W36 2026-08-31 2026-09-06 main/2026/2026-W36.md 2026-09 2026-Q3 2026
2026-09-30 2026-W40 2026-09-28 2026-10-04 main/2026/2026-W40.md 2026-10 2026-Q4 2026
2026-12-27 2026-W52 2026-12-21 2026-12-27 main/2026/2026-W52.md 2026-12 2026-Q4 2026
2026-12-28 2026-W53 2026-12-28 2027-01-03 main/2026/2026-W53.md 2027-01 2027-Q1 2027
2027-01-03 2026-W53 2026-12-28 2027-01-03 main/2026/2026-W53.md 2027-01 2027-Q1 2027
2027-01-04 2027-W01 2027-01-04 2027-01-10 main/2027/2027-W01.md 2027-01 2027-Q1 2027
2021-01-03 2020-W53 2020-12-28 2021-01-03 main/2020/2020-W53.md 2021-01 2021-Q1 2021
2023-01-01 2022-W52 2022-12-26 2023-01-01 main/2022/2022-W52.md 2023-01 2023-Q1 2023
""".strip().splitlines()

#: Dates of case O-33 with their week.
ISO_WEEKS = {
    "2026-11-30": "2026-W49",
    "2026-12-27": "2026-W52",
    "2026-12-28": "2026-W53",
    "2026-12-31": "2026-W53",
    "2027-01-01": "2026-W53",
    "2027-01-03": "2026-W53",
    "2027-01-04": "2027-W01",
}


def day(text: str) -> date:
    """Return the day that is written there."""
    return date.fromisoformat(text)


def names(periods: tuple[Period, ...]) -> list[str]:
    """Return the names of periods."""
    return [period.name for period in periods]


class TestWeeks:
    """The table of weeks."""

    @pytest.mark.rule("PERIOD-04", "PERIOD-26", "PERIOD-27", "PERIOD-28", "PERIOD-O1", "PERIOD-O2")
    @pytest.mark.parametrize("row", WEEKS, ids=lambda row: row[:10])
    def test_worked_row(self, row: str) -> None:
        """Each day lies in its week, which has its days, its file, and its month, quarter and year."""
        on, name, first, last, path, month, quarter, year = row.split()

        week = period_on(Level.WEEK, day(on))

        assert (week.name, str(week.first), str(week.last)) == (name, first, last)
        assert week.path_in(MAIN) == path
        assert week.belongs_to(Level.MONTH).name == month
        assert week.belongs_to(Level.QUARTER).name == quarter
        assert week.belongs_to(Level.YEAR).name == year

    @pytest.mark.parametrize(("on", "name"), ISO_WEEKS.items())
    def test_the_iso_week_of_a_date(self, on: str, name: str) -> None:
        """The dates around New Year 2027 lie in the weeks that ISO 8601 gives (O-33)."""
        assert period_on(Level.WEEK, day(on)).name == name

    @pytest.mark.rule("PERIOD-O1")
    def test_the_53rd_week_exists(self) -> None:
        """From 2026-12-20 to 2027-01-10 there are four weeks, and one steps through the 53rd (O-34)."""
        days = [day("2026-12-20") + timedelta(days=number) for number in range(22)]
        weeks = sorted({period_on(Level.WEEK, on) for on in days})

        assert names(tuple(weeks)) == ["2026-W51", "2026-W52", "2026-W53", "2027-W01"]
        assert parse_period("2027-W01").step(-1) == parse_period("2026-W53")
        assert parse_period("2026-W52").step(1) == parse_period("2026-W53")
        logs = split_period(parse_period("2026-W53"), Level.DAY).units
        assert [log.path_in(MAIN) for log in logs] == [
            "main/2026/12/2026-12-28.md",
            "main/2026/12/2026-12-29.md",
            "main/2026/12/2026-12-30.md",
            "main/2026/12/2026-12-31.md",
            "main/2027/01/2027-01-01.md",
            "main/2027/01/2027-01-02.md",
            "main/2027/01/2027-01-03.md",
        ]

    @pytest.mark.parametrize(
        ("name", "weeks"), [("2027-W53", 52), ("2025-W53", 52), ("2026-W54", 53), ("2026-W00", 53)]
    )
    def test_an_impossible_week_is_an_error_that_says_so(self, name: str, weeks: int) -> None:
        """A week that its year does not have is refused, with the number of weeks that it has (O-34)."""
        assert find_period(name) is None
        with pytest.raises(InvalidNameError, match=rf"^'{name}' is no period: .* W01 to W{weeks}\.$"):
            parse_period(name)


class TestFiles:
    """Names and paths."""

    @pytest.mark.rule("PERIOD-04", "PERIOD-05", "PERIOD-06", "PERIOD-07")
    @pytest.mark.parametrize(
        ("name", "path", "kind"),
        [
            pytest.param("2026-08-20", "ops/2026/08/2026-08-20.md", FileKind.DAILY, id="day"),
            pytest.param("2026-W34", "ops/2026/2026-W34.md", FileKind.WEEK, id="week"),
            pytest.param("2026-08", "ops/2026/2026-08.md", FileKind.MONTH, id="month"),
            pytest.param("2026-Q3", "ops/2026/2026-Q3.md", FileKind.QUARTER, id="quarter"),
            pytest.param("2026", "ops/2026/2026.md", FileKind.YEAR, id="year"),
        ],
    )
    def test_each_level_has_its_file(self, name: str, path: str, kind: FileKind) -> None:
        """A period's path is where the layout of a line has it, and leads back to it."""
        period = parse_period(name)

        assert period.name == str(period) == name
        assert repr(period) == f"<{name}>"
        assert period.path_in(LineName("ops")) == path
        assert period.file_kind is kind is kind_of(parse_managed_path(path))
        assert period_at(parse_managed_path(path)) == period

    @pytest.mark.parametrize(
        "path",
        [
            "main/MEMORY.md",
            "main/notes.md",
            "main/archive/2026-W34.md",
            "main/archive/2026/08/2026-08-20.md",
            "main/2026.md",
        ],
    )
    def test_other_files_are_no_periods(self, path: str) -> None:
        """The curated file and documents belong to no period, whatever a document is called."""
        assert period_at(parse_managed_path(path)) is None

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            pytest.param("2026-13", "a year has the months 01 to 12", id="13th month"),
            pytest.param("2026-00-01", "a year has the months 01 to 12", id="month zero"),
            pytest.param("2026-02-29", "2026-02 has the days 01 to 28", id="no leap year"),
            pytest.param("2028-02-30", "2028-02 has the days 01 to 29", id="leap year"),
            pytest.param("2026-08-00", "2026-08 has the days 01 to 31", id="day zero"),
            pytest.param("0000", "years are counted from 0001", id="year zero"),
            pytest.param("0000-W01", "years are counted from 0001", id="week of year zero"),
            pytest.param("2026-Q5", "it is written like no day", id="fifth quarter"),
            pytest.param("2026-w34", "it is written like no day", id="small letter"),
            pytest.param("2026-W34-1", "it is written like no day", id="day of a week"),
            pytest.param("20260820", "it is written like no day", id="no hyphens"),
            pytest.param("٢٠٢٦", "it is written like no day", id="other digits"),
            pytest.param("2026\n", "it is written like no day", id="line end"),
            pytest.param("", "it is written like no day", id="empty"),
        ],
    )
    def test_a_name_of_nothing_is_refused(self, name: str, reason: str) -> None:
        """What the calendar does not have is no period, and the message says why."""
        assert find_period(name) is None
        with pytest.raises(InvalidNameError) as raised:
            parse_period(name)
        assert f"is no period: {reason}" in raised.value.message
        assert raised.value.hint is not None

    def test_names_of_a_folder_are_read_at_once(self) -> None:
        """A month's folder gives its days, a year's folder its summaries, and what people put there is passed over."""
        logs = ["2026-02-01.md", "2026-02-28.md", "2026-02-29.md", "2026-03-01.md", "2026-02-1.md", "notes.md", "x", ""]
        files = [
            "2026-W53.md",
            "2026-02.md",
            "2026-Q4.md",
            "2026.md",
            "2025-W01.md",
            "2026-W54.md",
            "2026-02-01.md",
            "2026",
        ]

        assert days_in_folder("2026", "02", logs) == {day("2026-02-01"), day("2026-02-28")}
        assert days_in_folder("2026", "13", ["2026-13-01.md"]) == set()
        assert days_in_folder("2026", "Q1", ["2026-01-01.md"]) == set()
        assert names(tuple(sorted(summaries_in_folder("2026", files)))) == ["2026-W53", "2026-02", "2026-Q4", "2026"]


class TestLengths:
    """First and last days."""

    @pytest.mark.rule("PERIOD-O10")
    @pytest.mark.parametrize(
        ("name", "first", "last", "days"),
        [
            ("2026-W34", "2026-08-17", "2026-08-23", 7),
            ("2026-02", "2026-02-01", "2026-02-28", 28),
            ("2028-02", "2028-02-01", "2028-02-29", 29),
            ("2100-02", "2100-02-01", "2100-02-28", 28),
            ("2000-02", "2000-02-01", "2000-02-29", 29),
            ("2026-04", "2026-04-01", "2026-04-30", 30),
            ("2026-08", "2026-08-01", "2026-08-31", 31),
            ("2026-Q1", "2026-01-01", "2026-03-31", 90),
            ("2028-Q1", "2028-01-01", "2028-03-31", 91),
            ("2026-Q2", "2026-04-01", "2026-06-30", 91),
            ("2026-Q3", "2026-07-01", "2026-09-30", 92),
            ("2026-Q4", "2026-10-01", "2026-12-31", 92),
            ("2026", "2026-01-01", "2026-12-31", 365),
            ("2028", "2028-01-01", "2028-12-31", 366),
            ("2026-08-20", "2026-08-20", "2026-08-20", 1),
        ],
    )
    def test_days_of_a_period(self, name: str, first: str, last: str, days: int) -> None:
        """A period has the days of the calendar, and its own number of them."""
        period = parse_period(name)

        assert (str(period.first), str(period.last), period.day_count) == (first, last, days)
        assert period.holds(period.first)
        assert period.holds(period.last)
        assert not period.holds(period.first - timedelta(days=1))
        assert not period.holds(period.last + timedelta(days=1))

    @pytest.mark.rule("PERIOD-08")
    def test_a_period_is_closed_when_its_last_day_is_over(self) -> None:
        """On a Sunday its week is open; on the Monday after it is closed."""
        week = parse_period("2026-W34")

        assert not week.is_closed(day("2026-08-10"))
        assert not week.is_closed(day("2026-08-23"))
        assert week.is_closed(day("2026-08-24"))

    @pytest.mark.rule("PERIOD-O5")
    def test_periods_sort_finest_first_and_oldest_first(self) -> None:
        """The order of periods is the order of a tick."""
        right = ["2026-08-31", "2025-W01", "2026-W53", "2026-08", "2026-12", "2026-Q1", "1999", "2026"]

        assert names(tuple(sorted(map(parse_period, reversed(right))))) == right

    @pytest.mark.rule("PERIOD-09")
    def test_levels_are_ordered_whatever_the_manifest_lists_first(self) -> None:
        """Levels come finest first, and the one below is the next that is enabled, or the day."""
        assert order_levels(["year", "week"]) == (Level.WEEK, Level.YEAR)
        assert order_levels(["day", "fortnight"]) == ()
        assert level_below((Level.WEEK, Level.YEAR), Level.YEAR) is Level.WEEK
        assert level_below(LADDER, Level.QUARTER) is Level.MONTH
        assert level_below((Level.MONTH, Level.YEAR), Level.MONTH) is Level.DAY


class TestEndsOfTheCalendar:
    """The years 1 and 9999."""

    @pytest.mark.parametrize("level", Level)
    def test_the_first_period_begins_with_the_calendar(self, level: Level) -> None:
        """The first day is a Monday, so every first period begins with it, and nothing comes before."""
        period = period_on(level, date.min)

        assert period.first == date.min
        assert period.step(-1) is None
        assert find_period(period.name) == period
        assert period.name.startswith("0001")

    @pytest.mark.parametrize("level", Level)
    def test_the_last_period_ends_with_the_calendar(self, level: Level) -> None:
        """The last period of every level ends with the calendar, the last week too, and is never closed."""
        period = period_on(level, date.max)

        assert period.last == date.max
        assert period.step(1) is None
        assert find_period(period.name) == period
        assert not period.is_closed(date.max)

    @pytest.mark.parametrize("level", LADDER)
    def test_the_last_periods_can_be_split(self, level: Level) -> None:
        """The last week is cut short, and belongs to the last month, quarter and year."""
        week = parse_period("9999-W52")
        parts = split_period(period_on(level, date.max), Level.WEEK)

        assert week.day_count == 5
        assert parts.units[-1] == week
        assert parts.rest == ()
        assert week.belongs_to(level) == period_on(level, date.max)
