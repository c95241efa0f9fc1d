"""Days and periods written out, so that a question that says `in March` meets a note of that month.

The words are English and depend on no locale; the numbers stand beside them for every other language.

Rules: MIGRATE-O3, PERIOD-04 to PERIOD-07.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9-])")
_LEADING = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])")
_TRAILING = re.compile(r"\(([0-9]{4}-[0-9]{2}-[0-9]{2})\)\s*\Z")
_MEMORY_DAY = re.compile(r"Memory \([0-9]{4}-[0-9]{2}-[0-9]{2}\)")
_PERIOD = re.compile(r"([0-9]{4})(?:-(?:W(?P<week>[0-9]{2})|Q(?P<quarter>[1-4])|(?P<month>0[1-9]|1[0-2])))?")


def render_short_day(on: date) -> str:
    """Return a day in words: `2 March 2026`."""
    return f"{_day_month(on)} {on.year}"


def render_day(on: date) -> str:
    """Return a day in words and numbers: `2 March 2026, Monday, 2026-03-02`."""
    return f"{render_short_day(on)}, {_WEEKDAYS[on.weekday()]}, {on.isoformat()}"


def render_period(name: str) -> str:
    """Return the period that a summary is named after, in words and as it is named; '' for any other name.

    `2026-W45` is `week 45, 2 November to 8 November 2026, 2026-W45`; `2026-03` is `March 2026, 2026-03`;
    `2026-Q1` is `quarter 1, January, February and March 2026, 2026-Q1`; `2026` is `year 2026`.
    """
    found = _PERIOD.fullmatch(name)
    if found is None or found[1] == "0000":
        return ""
    year = int(found[1])
    if found["week"]:
        return _render_week(year, int(found["week"]), name)
    if found["quarter"]:
        first = 3 * (int(found["quarter"]) - 1)
        one, two, three = _MONTHS[first : first + 3]
        return f"quarter {found['quarter']}, {one}, {two} and {three} {year}, {name}"
    return f"{_MONTHS[int(found['month']) - 1]} {year}, {name}" if found["month"] else f"year {name}"


def name_period(kind: str, on: date) -> str:
    """Return the name of the week, month, quarter or year in which a day lies; '' for any other kind."""
    match kind:
        case "week":
            year, week, _ = on.isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "month":
            return f"{on.year:04d}-{on.month:02d}"
        case "quarter":
            return f"{on.year:04d}-Q{(on.month + 2) // 3}"
        case "year":
            return f"{on.year:04d}"
        case _:
            return ""


def find_heading_day(heading: str) -> date | None:
    """Return the day of a heading that begins with one or ends in one in brackets; None when it has none.

    `2026-03-02`, `2026-03-02 Kickoff`, `Kickoff (2026-03-02)` and `Memory (2026-03-02)` have one;
    `Plan until 2026-03-02` speaks of one, but what stands under it need not be of that day.
    """
    found = _LEADING.match(heading) or _TRAILING.search(heading)
    return parse_day(found[1]) if found else None


def is_date_alone(heading: str) -> bool:
    """Tell whether a heading says nothing beyond a day or a period: `2026-03-02`, `Memory (2026-03-02)`, `2026-W10`."""
    text = heading.strip()
    if _MEMORY_DAY.fullmatch(text) or _DAY.fullmatch(text):
        return find_heading_day(text) is not None
    return bool(render_period(text))


def parse_day(text: str) -> date | None:
    """Return the day with which a text begins (`2026-11-30`, `2026-11-30 08:00`), None when it is none of the calendar."""
    found = _DAY.match(text)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _render_week(year: int, week: int, name: str) -> str:
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return ""
    if monday > date.max - timedelta(days=6):
        return f"week {week} of {year}, {name}"
    sunday = monday + timedelta(days=6)
    first = _day_month(monday) if monday.year == sunday.year else f"{_day_month(monday)} {monday.year}"
    return f"week {week}, {first} to {_day_month(sunday)} {sunday.year}, {name}"


def _day_month(on: date) -> str:
    return f"{on.day} {_MONTHS[on.month - 1]}"
