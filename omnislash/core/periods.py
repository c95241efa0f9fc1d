"""The periods of the calendar: days, ISO weeks, months, quarters and years as values.

A period is its level and its number: the how-manieth day, week, month, quarter or year since the year 1.
So the next one is one more, and which contains which is arithmetic; nothing here depends on a locale, a clock or a
time zone.

::

    2026-08-20   <line>/2026/08/2026-08-20.md   the daily log
    2026-W34     <line>/2026/2026-W34.md        in the directory of its ISO year
    2026-08      <line>/2026/2026-08.md
    2026-Q3      <line>/2026/2026-Q3.md
    2026         <line>/2026/2026.md

A month, a quarter or a year belongs to what contains it. A week belongs to the month, quarter or year in which it ends.

Rules: PERIOD-03 to PERIOD-08, PERIOD-26 to PERIOD-32, PERIOD-O1, PERIOD-O2, PERIOD-O10.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from omnislash.core.lines import FileKind, LineName, ManagedPath, quote_name
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_DAYS_OF_WEEK: Final = 7
#: Folders whose possible names are kept: forty years of months. A brain has the same ones in every line.
_FOLDERS_KEPT: Final = 512
_NAME = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?:W(?P<week>[0-9]{2})|Q(?P<quarter>[1-4])|(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?))?"
)
_HINT: Final = (
    "Write a day as 2026-08-20, a week as 2026-W34, a month as 2026-08, a quarter as 2026-Q3, a year as 2026."
)


class Level(StrEnum):
    """How long a period is; `LADDER` has those that are summarised, finest first."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    @property
    def rank(self) -> int:
        """Return 0 for a day up to 4 for a year."""
        return _RANKS[self]


#: The levels of the period ladder, finest first (PERIOD-03). A day is no rung: its log is what the finest rung rests on.
LADDER: Final = (Level.WEEK, Level.MONTH, Level.QUARTER, Level.YEAR)
_RANKS: Final = {level: rank for rank, level in enumerate(Level)}
_FILE_KINDS: Final = {level: FileKind(level.value) for level in LADDER} | {Level.DAY: FileKind.DAILY}
#: The number of the period of a level in which a day lies. Ordinal 1 (0001-01-01) is a Monday.
_NUMBERS: Final[dict[Level, Callable[[date], int]]] = {
    Level.DAY: date.toordinal,
    Level.WEEK: lambda on: (on.toordinal() - 1) // _DAYS_OF_WEEK,
    Level.MONTH: lambda on: on.year * 12 + on.month - 1,
    Level.QUARTER: lambda on: on.year * 4 + (on.month - 1) // 3,
    Level.YEAR: lambda on: on.year,
}
#: How many months one period has.
_MONTHS: Final = {Level.MONTH: 1, Level.QUARTER: 3, Level.YEAR: 12}


@dataclass(frozen=True, slots=True, repr=False)
class Period:
    """One day, week, month, quarter or year; `period_on` and `parse_period` make only those that exist.

    Periods are ordered as a tick takes them: finest level first, then oldest first (PERIOD-O5).
    """

    #: How long it is.
    level: Level
    #: How many of its level came before it, counted from a fixed one.
    number: int

    def __lt__(self, other: Period) -> bool:
        """Tell whether a tick would take this period earlier."""
        return (self.level.rank, self.number) < (other.level.rank, other.number)

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def __repr__(self) -> str:
        """Return the name in angle brackets."""
        return f"<{self.name}>"

    @property
    def first(self) -> date:
        """Return its first day."""
        if self.level is Level.DAY:
            return date.fromordinal(self.number)
        if self.level is Level.WEEK:
            return date.fromordinal(self.number * _DAYS_OF_WEEK + 1)
        year, month = divmod(self.number * _MONTHS[self.level], 12)
        return date(year, month + 1, 1)

    @property
    def last(self) -> date:
        """Return its last day; for the week that the year 9999 cuts short, the last day of that year."""
        if self.level is Level.DAY:
            return self.first
        if self.level is Level.WEEK:
            return date.fromordinal(min((self.number + 1) * _DAYS_OF_WEEK, date.max.toordinal()))
        year, month = divmod((self.number + 1) * _MONTHS[self.level] - 1, 12)
        return date(year, month + 1, calendar.monthrange(year, month + 1)[1])

    @property
    def day_count(self) -> int:
        """Return how many days it has: 1, 7, 28 to 31, 90 to 92, 365 or 366 (PERIOD-O10)."""
        return self.last.toordinal() - self.first.toordinal() + 1

    @property
    def name(self) -> str:
        """Return how it is written, which is also the name of its file without `.md`."""
        first = self.first
        match self.level:
            case Level.DAY:
                return first.isoformat()
            case Level.WEEK:
                year, week, _ = first.isocalendar()
                return f"{year:04d}-W{week:02d}"
            case Level.MONTH:
                return f"{first.year:04d}-{first.month:02d}"
            case Level.QUARTER:
                return f"{first.year:04d}-Q{(first.month + 2) // 3}"
            case Level.YEAR:
                return f"{first.year:04d}"

    @property
    def file_kind(self) -> FileKind:
        """Return the kind of its file."""
        return _FILE_KINDS[self.level]

    def path_in(self, line: LineName) -> ManagedPath:
        """Return the path of its file in a line: a daily log or a summary (PERIOD-04 to PERIOD-07, PERIOD-O1)."""
        name = self.name
        folder = f"{name[:4]}/{name[5:7]}" if self.level is Level.DAY else name[:4]
        return ManagedPath(f"{line}/{folder}/{name}.md")

    def holds(self, on: date) -> bool:
        """Tell whether a day lies in it."""
        return number_of(self.level, on) == self.number

    def is_closed(self, today: date) -> bool:
        """Tell whether its last day is over (PERIOD-08)."""
        return self.number < number_of(self.level, today)

    def step(self, by: int) -> Period | None:
        """Return the period of this level so many further on; None where the calendar has none."""
        beyond = Period(self.level, self.number + by)
        lowest, highest = number_of(self.level, date.min), number_of(self.level, date.max)
        return beyond if lowest <= beyond.number <= highest else None

    def belongs_to(self, level: Level) -> Period:
        """Return the period of a longer level to which it belongs: the one in which it ends.

        Rules: PERIOD-26 to PERIOD-28, PERIOD-32, PERIOD-O2.
        """
        return period_on(level, self.last)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a period is made of."""

    #: The periods of the level below that belong to it, oldest first.
    units: tuple[Period, ...]
    #: Its last days, which no such period covers: the week in which they lie ends later (PERIOD-29).
    rest: tuple[Period, ...]


def number_of(level: Level, on: date) -> int:
    """Return the number of the period of that level in which a day lies."""
    return _NUMBERS[level](on)


def numbers_by_level(days: Iterable[date]) -> dict[Level, set[int]]:
    """Return, for each level of the ladder, the numbers of the periods in which any of the days lies.

    It says the same as `number_of` of each day, for thousands of them at once.
    """
    ordinals, months = set(), set()
    for on in days:
        ordinals.add(on.toordinal())
        months.add(on.year * 12 + on.month - 1)
    return {
        Level.WEEK: {(ordinal - 1) // _DAYS_OF_WEEK for ordinal in ordinals},
        Level.MONTH: months,
        Level.QUARTER: {month // _MONTHS[Level.QUARTER] for month in months},
        Level.YEAR: {month // _MONTHS[Level.YEAR] for month in months},
    }


def period_on(level: Level, on: date) -> Period:
    """Return the period of that level in which a day lies."""
    return Period(level, number_of(level, on))


def split_period(period: Period, level: Level) -> Parts:
    """Return the periods of a shorter level that belong to a period, and the days that none of them covers.

    Rules: PERIOD-26 to PERIOD-32, PERIOD-O2.
    """
    first, last = period.first, period.last
    if level is not Level.WEEK:
        return Parts(_span(level, number_of(level, first), number_of(level, last)), ())
    final = number_of(Level.WEEK, last)
    if period_on(Level.WEEK, last).last != last:
        final -= 1
    rest_from = max(first.toordinal(), (final + 1) * _DAYS_OF_WEEK + 1)
    rest = _span(Level.DAY, rest_from, last.toordinal())
    return Parts(_span(Level.WEEK, number_of(Level.WEEK, first), final), rest)


def _span(level: Level, first: int, last: int) -> tuple[Period, ...]:
    return tuple(Period(level, number) for number in range(first, last + 1))


def find_period(name: str) -> Period | None:
    """Return the period of that name, None when the calendar has none: `2026-W53` is a week, `2027-W53` is not."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    year, week, quarter, month, day = (int(part) if part else None for part in found.groups())
    if year is None:
        return None
    try:
        if week is not None:
            return period_on(Level.WEEK, date.fromisocalendar(year, week, 1))
        on = date(year, quarter * 3 if quarter else month if month is not None else 1, 1 if day is None else day)
    except ValueError:
        return None
    return period_on(_find_level(quarter, month, day), on)


def _find_level(quarter: int | None, month: int | None, day: int | None) -> Level:
    if quarter is not None:
        return Level.QUARTER
    if month is None:
        return Level.YEAR
    return Level.MONTH if day is None else Level.DAY


def parse_period(name: str) -> Period:
    """Return the period of that name.

    Raises:
        InvalidNameError: When the calendar has none; the message says why.
    """
    period = find_period(name)
    if period is not None:
        return period
    found = _NAME.fullmatch(name)
    reason = _explain_absence(found) if found else "it is written like no day, week, month, quarter or year"
    message = f"{quote_name(name)} is no period: {reason}."
    raise InvalidNameError(message, hint=_HINT)


def _explain_absence(found: re.Match[str]) -> str:
    """Return why a name of the right form is in no calendar."""
    year = found["year"]
    if int(year) == 0:
        return "years are counted from 0001"
    if found["week"]:
        return f"the ISO year {year} has the weeks W01 to W{_count_weeks(int(year))}"
    if not found["day"] or not 1 <= int(found["month"]) <= _MONTHS[Level.YEAR]:
        return "a year has the months 01 to 12"
    month = f"{year}-{found['month']}"
    return f"{month} has the days 01 to {calendar.monthrange(int(year), int(found['month']))[1]}"


def _count_weeks(year: int) -> int:
    """Return how many weeks an ISO year has: the 28th of December always lies in the last one."""
    return date(year, 12, 28).isocalendar().week


def period_at(path: ManagedPath) -> Period | None:
    """Return the day or period whose file stands at a path; None for MEMORY.md and for documents."""
    line, _, rest = path.partition("/")
    period = find_period(rest.rpartition("/")[2].removesuffix(".md"))
    return period if period is not None and path == period.path_in(LineName(line)) else None


def days_in_folder(year: str, month: str, names: Iterable[str]) -> set[date]:
    """Return the days whose daily logs are among the names of a folder `<line>/<year>/<month>`.

    It is made for many thousands of names: it parses none of them, and passes over what people put there.
    """
    logs = _list_logs(f"{year}-{month}")
    return {logs[name] for name in names if name in logs}


def summaries_in_folder(year: str, names: Iterable[str]) -> set[Period]:
    """Return the periods whose summaries are among the names of a folder `<line>/<year>`."""
    summaries = _list_summaries(year)
    return {summaries[name] for name in names if name in summaries}


@lru_cache(maxsize=_FOLDERS_KEPT)
def _list_logs(month: str) -> Mapping[str, date]:
    """Return the days of a month by the names of their logs; nothing when `month` names none."""
    folder = find_period(month)
    if folder is None or folder.level is not Level.MONTH:
        return {}
    days = (day.first for day in split_period(folder, Level.DAY).units)
    return {f"{on.isoformat()}.md": on for on in days}


@lru_cache(maxsize=_FOLDERS_KEPT)
def _list_summaries(year: str) -> Mapping[str, Period]:
    """Return the periods that are named after a year by the names of their files; nothing when `year` names none."""
    whole = find_period(year)
    if whole is None or whole.level is not Level.YEAR:
        return {}
    weeks = (find_period(f"{year}-W{week:02d}") for week in range(1, _count_weeks(whole.number) + 1))
    longer = (part for level in LADDER[1:] for part in split_period(whole, level).units)
    return {f"{period.name}.md": period for period in (*weeks, *longer) if period is not None}


def order_levels(names: Iterable[str]) -> tuple[Level, ...]:
    """Return the levels of the ladder among `names`, finest first, each once."""
    asked = set(names)
    return tuple(level for level in LADDER if level in asked)


def level_below(levels: Iterable[Level], level: Level) -> Level:
    """Return the next shorter of the levels, a day when there is none (PERIOD-09)."""
    return max((other for other in levels if other.rank < level.rank), key=lambda other: other.rank, default=Level.DAY)
