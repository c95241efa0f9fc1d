"""What stands in a line or a source, by one pass over its folders: names, sizes and times; no file is opened.

Folders and files that are links are passed over, and so is what is hidden, as in every listing of the engine.

Rules: LINE-05, PERIOD-04 to PERIOD-07, PERIOD-O1, SOURCE-O8.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from omnislash.core.lines import MEMORY_FILE
from omnislash.core.periods import days_in_folder, summaries_in_folder
from omnislash.store.os_errors import place_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date
    from typing import Any

    from omnislash.core.periods import Period

_YEAR_CHARS, _MONTH_CHARS = 4, 2
_SUFFIX: Final = ".md"


#: Size and times of a file; None where they were not asked for, because a pass takes most of its time to ask.
Stat: TypeAlias = os.stat_result | None


@dataclass(slots=True)
class Found:
    """The files below a folder."""

    #: Whether sizes and times are asked for.
    has_stats: bool = True
    #: Files by the folder in which they stand (`''` for the folder itself, `topics/plants`), then by name.
    folders: dict[str, dict[str, Stat]] = field(default_factory=dict)
    #: What can't be listed, as sentences.
    problems: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return how many files there are."""
        return sum(map(len, self.folders.values()))

    @property
    def changed_ns(self) -> int | None:
        """Return when the last one was changed, in nanoseconds since 1970; None without any, or without times."""
        times = (stat.st_mtime_ns for files in self._groups() for stat in files.values() if stat is not None)
        return max(times, default=None)

    def _groups(self) -> Iterator[Mapping[Any, Stat]]:
        yield from self.folders.values()


@dataclass(slots=True)
class FoundLine(Found):
    """The files of a line: `folders` has its documents, MEMORY.md and those of the calendar stand by themselves."""

    #: MEMORY.md by its name, where there is one.
    memory: dict[str, Stat] = field(default_factory=dict)
    #: Daily logs by month (`2026-11`), then by name.
    logs: dict[str, dict[str, Stat]] = field(default_factory=dict)
    #: The days of those logs.
    days: set[date] = field(default_factory=set)
    summaries: dict[Period, Stat] = field(default_factory=dict)
    #: Files below a year that are none of the calendar, as paths below the line; no tool can name them.
    misplaced: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return how many files there are that a tool can name."""
        return sum(map(len, self._groups()))

    def _groups(self) -> Iterator[Mapping[Any, Stat]]:
        yield self.memory
        yield self.summaries
        yield from self.logs.values()
        yield from self.folders.values()


def scan_folder(place: str, label: str) -> Found:
    """Return the files below a folder, or nothing with a problem when it can't be listed.

    Args:
        place: Where it lies on disk.
        label: Its path in the brain, for problems.
    """
    found = Found()
    _scan(place, "", found, label)
    return found


def scan_line(place: str, line: str, *, has_stats: bool) -> FoundLine:
    """Return the files of a line; nothing when it has no folder."""
    found = FoundLine(has_stats=has_stats)
    files, folders = _look(place, found, f"memory/{line}")
    if MEMORY_FILE in files:
        found.memory[MEMORY_FILE] = files.pop(MEMORY_FILE)
    if files:
        found.folders[""] = files
    for name in folders:
        if len(name) == _YEAR_CHARS and name.isascii() and name.isdecimal():
            _scan_year(f"{place}{os.sep}{name}", name, found, f"memory/{line}/{name}")
        else:
            _scan(f"{place}{os.sep}{name}", name, found, f"memory/{line}/{name}")
    return found


def _scan_year(place: str, year: str, found: FoundLine, label: str) -> None:
    files, folders = _look(place, found, label)
    for period in summaries_in_folder(year, files):
        found.summaries[period] = files.pop(f"{period.name}{_SUFFIX}")
    found.misplaced += [f"{year}/{name}" for name in files]
    for name in folders:
        inside = f"{place}{os.sep}{name}"
        if len(name) == _MONTH_CHARS and name.isascii() and name.isdecimal():
            _scan_month(inside, (year, name), found, f"{label}/{name}")
        else:
            found.misplaced += _list_all(inside, f"{year}/{name}", found, f"{label}/{name}")


def _scan_month(place: str, month: tuple[str, str], found: FoundLine, label: str) -> None:
    files, folders = _look(place, found, label)
    days = days_in_folder(*month, files)
    found.days |= days
    below = "/".join(month)
    if len(days) != len(files):
        logs = {f"{on.isoformat()}{_SUFFIX}" for on in days}
        found.misplaced += [f"{below}/{name}" for name in files if name not in logs]
        files = {name: stat for name, stat in files.items() if name in logs}
    if files:
        found.logs["-".join(month)] = files
    for name in folders:
        found.misplaced += _list_all(f"{place}{os.sep}{name}", f"{below}/{name}", found, f"{label}/{name}")


def _list_all(place: str, below: str, found: Found, label: str) -> Iterator[str]:
    inside = Found(has_stats=False, problems=found.problems)
    _scan(place, below, inside, label)
    return (f"{folder}/{name}" for folder, files in inside.folders.items() for name in files)


def _scan(place: str, below: str, found: Found, label: str) -> None:
    """Add the files of a folder and of those in it; `below` is its path as `folders` has it."""
    pending = [(place, below, label)]
    while pending:
        place, below, label = pending.pop()
        files, folders = _look(place, found, label)
        if files:
            found.folders[below] = files
        pending += [
            (f"{place}{os.sep}{name}", f"{below}/{name}" if below else name, f"{label}/{name}") for name in folders
        ]


def _look(place: str, found: Found, label: str) -> tuple[dict[str, Stat], list[str]]:
    """Return the `.md` files and the folders in a folder, hidden ones and links left out."""
    files: dict[str, Stat] = {}
    folders: list[str] = []
    has_stats = found.has_stats
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    files[name] = entry.stat(follow_symlinks=False) if has_stats else None
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        found.problems.append(place_error(error, label).message)
    return files, folders
