"""One line as a person browses it: all lines beside it, its logs by year and month, its ladder, its documents.

Rules: DASH-01, DASH-04.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core.lines import LineName, parse_managed_path
from omnislash.runtime.knowledge.folders import CONFLICTS, FolderView, make_row, printable, view_folder
from omnislash.runtime.knowledge.lines import LineSummary, missing_line, scan, see_lines, summarise_line
from omnislash.runtime.knowledge.timeline import Timeline, make_timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.runtime.knowledge.folders import FileRow
    from omnislash.runtime.knowledge.listing import FoundLine
    from omnislash.runtime.turns import Ports

#: Files named of those that stand where no tool finds them.
_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """What of a line is open."""

    #: Year of the ladder and the logs, as four digits; None = the newest.
    year: str | None = None
    #: Month of the logs, as `2026-11`; None = the newest of the year.
    month: str | None = None
    #: Folder of documents below the line; '' = the line itself.
    folder: str = ""
    #: Page of that folder, from 1.
    page: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DayView:
    """The daily logs of a line, of which one month is open."""

    #: Logs of each year and of each month of the open year, the newest first.
    years: Mapping[str, int]
    months: Mapping[str, int]
    #: What is open; None without any log.
    year: str | None
    month: str | None
    #: The logs of that month, the newest first.
    files: tuple[FileRow, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{year, month, years: [{year, files}], months: [{month, files}], files}`."""
        return {
            "year": self.year,
            "month": self.month,
            "years": [{"year": year, "files": files} for year, files in self.years.items()],
            "months": [{"month": month, "files": files} for month, files in self.months.items()],
            "files": [row.to_json() for row in self.files],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """A line, with all lines beside it."""

    line: LineSummary
    lines: tuple[LineSummary, ...]
    days: DayView
    ladder: Timeline
    documents: FolderView
    #: Copies that the writer kept when two saved at the same moment.
    conflict_copies: int
    #: Files that no tool can name, as paths below the line; the first ones, and how many there are.
    misplaced: tuple[tuple[str, ...], int]

    def to_json(self) -> dict[str, Any]:
        """Return `{line, summary, lines, days, ladder, documents, conflictCopies, misplaced: {count, first}}`."""
        first, count = self.misplaced
        return {
            "line": self.line.line,
            "summary": self.line.to_json(),
            "lines": [each.to_json() for each in self.lines],
            "days": self.days.to_json(),
            "ladder": self.ladder.to_json(),
            "documents": self.documents.to_json(),
            "conflictCopies": self.conflict_copies,
            "misplaced": {"count": count, "first": list(first)},
        }


def view_line(ports: Ports, name: str | None, browse: Browse) -> LineView:
    """Return a line; None = the one on which the page opens.

    Raises:
        MissingFileError: There is no such line, or no such folder in it.
    """
    config = ports.config()
    seen = see_lines(ports, config)
    line = seen.choose_default(config) if name is None else LineName(name)
    if line not in seen.found:
        raise missing_line(line, seen.found)
    found = seen.found[line] = scan(ports.files.memory, line, config, has_stats=True)
    summaries = tuple(summarise_line(ports.files, config, each, seen) for each in seen.found)
    return LineView(
        line=next(each for each in summaries if each.line == line),
        lines=summaries,
        days=_view_days(line, found, browse),
        ladder=make_timeline(ports, config, line, found, browse.year or (browse.month or "")[:4] or None),
        documents=view_folder(found.folders, browse.folder, browse.page, root=line, check=parse_managed_path),
        conflict_copies=len(found.folders.get(CONFLICTS, ())),
        misplaced=(tuple(printable(path) for path in found.misplaced[:_NAMED]), len(found.misplaced)),
    )


def _view_days(line: LineName, found: FoundLine, browse: Browse) -> DayView:
    years: Counter[str] = Counter()
    for name, files in found.logs.items():
        years[name[:4]] += len(files)
    asked = (browse.year, (browse.month or "")[:4])
    year = next((each for each in asked if each in years), max(years, default=None))
    months = {name: len(files) for name, files in found.logs.items() if name[:4] == year}
    month = browse.month if browse.month in months else max(months, default=None)
    logs = found.logs[month] if month else {}
    place = "/".join([line, *(month or "").split("-")])
    rows = tuple(make_row(f"{place}/{name}", logs[name], parse_managed_path) for name in sorted(logs, reverse=True))
    return DayView(years=_newest_first(years), months=_newest_first(months), year=year, month=month, files=rows)


def _newest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), reverse=True))
