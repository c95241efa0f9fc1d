"""A model of the period ladder that is written from the text of the rules and shares nothing with the product.

It knows names and days. It finds periods by listing days, and what is due by looking at all periods.
The property tests and the soak hold the product against it.

Rules: PERIOD-04 to PERIOD-10, PERIOD-19, PERIOD-22, PERIOD-23, PERIOD-26 to PERIOD-35, PERIOD-O1 to PERIOD-O5.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta

FINEST_FIRST = ["week", "month", "quarter", "year"]


def name_of(level: str, on: date) -> str:
    """Return the name of the week, month, quarter or year of a day, as PERIOD-04 to -07 and PERIOD-O1 have it."""
    iso = on.isocalendar()
    return {
        "day": on.isoformat(),
        "week": f"{iso.year:04d}-W{iso.week:02d}",
        "month": on.isoformat()[:7],
        "quarter": f"{on.year:04d}-Q{'111222333444'[on.month - 1]}",
        "year": on.isoformat()[:4],
    }[level]


def list_days(first: date, last: date) -> list[date]:
    """Return the days from the first to the last."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


@dataclass
class Model:
    """All periods of a span of years, and what the rules say of them."""

    #: Name of each period to its days, level by level; in the order of the calendar.
    calendar: dict[str, dict[str, list[date]]]

    @classmethod
    def of(cls, first: date, last: date) -> Model:
        """Return the model of the years from the first day's to the last day's, with a margin for their weeks."""
        calendar: dict[str, dict[str, list[date]]] = {level: defaultdict(list) for level in FINEST_FIRST}
        for on in list_days(date(first.year - 1, 1, 1), date(last.year + 1, 12, 31)):
            for level in FINEST_FIRST:
                calendar[level][name_of(level, on)].append(on)
        return cls(calendar)

    def is_missing(self, level: str, name: str, line: Line, today: date) -> bool:
        """Tell whether a period is closed (-08), written in (-22, -23) and has no file (-19)."""
        days = self.calendar[level][name]
        return days[-1] < today and name not in line.files and any(on in line.logs for on in days)

    def split(self, level: str, name: str, below: str) -> tuple[list[str], list[date]]:
        """Return the periods below that end in a period (-26, -32, -O2), and the last days that they leave (-29)."""
        days = self.calendar[level][name]
        met = dict.fromkeys(name_of(below, on) for on in days)
        own = [part for part in met if self.calendar[below][part][-1] in days]
        covered = {on for part in own for on in self.calendar[below][part]}
        return own, [on for on in days if on not in covered]

    def read(self, level: str, name: str, line: Line) -> tuple[list[str], list[str]]:
        """Return the names of the files from which a period is made (-09, -10), and of the summaries they need to be."""
        lower = [other for other in FINEST_FIRST[: FINEST_FIRST.index(level)] if other in line.levels]
        if not lower:
            return [on.isoformat() for on in self.calendar[level][name] if on in line.logs], []
        own, rest = self.split(level, name, lower[-1])
        files = [part for part in own if part in line.files] + [on.isoformat() for on in rest if on in line.logs]
        wanted = [part for part in own if any(on in line.logs for on in self.calendar[lower[-1]][part])]
        return files, [part for part in wanted if part not in line.files]

    def tick(self, line: Line, today: date) -> tuple[list[tuple[str, list[str]]], dict[str, list[str]]]:
        """Return what is due, finest level first and oldest first (-O5), from what; and what waits for what (-O4)."""
        due: list[tuple[str, list[str]]] = []
        waiting: dict[str, list[str]] = {}
        for level in [level for level in FINEST_FIRST if level in line.levels]:
            for name in self.calendar[level]:
                if not self.is_missing(level, name, line, today):
                    continue
                files, blockers = self.read(level, name, line)
                if blockers:
                    waiting[name] = blockers
                else:
                    due.append((name, files))
        return due, waiting


@dataclass
class Line:
    """A line as the model sees it."""

    levels: set[str]
    logs: set[date]
    files: set[str] = field(default_factory=set)
