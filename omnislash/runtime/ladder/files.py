"""What is on disk of a line's period ladder: its daily logs, its summaries, and which logs say something.

Names of files are enough to know what may be due: a line is listed folder by folder, and no log is opened unless a
closed period without a summary depends on it.
Folders that are links are not followed, as in every listing.

Rules: PERIOD-04 to PERIOD-08, PERIOD-22, PERIOD-O1, PERIOD-O3.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from omnislash.core.daily import has_writing
from omnislash.core.ladder import LineState, days_to_read
from omnislash.core.lines import daily_path
from omnislash.core.periods import days_in_folder, summaries_in_folder
from omnislash.errors import OmnislashError
from omnislash.store.os_errors import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from omnislash.core.lines import LineName
    from omnislash.core.periods import Level
    from omnislash.store.files import MemoryFiles

_YEAR_CHARS, _MONTH_CHARS = 4, 2


def read_state(files: MemoryFiles, line: LineName, levels: tuple[Level, ...], today: date) -> LineState:
    """Return what the ladder of a line follows from; nothing is opened when nothing can be due.

    A log that can't be read counts as one that says something, so that the run that needs it fails and says why.

    Args:
        files: The managed files.
        line: The line.
        levels: The levels that it enables, finest first.
        today: Local day.

    Raises:
        StorageError: A folder can't be listed.
    """
    return drop_silent(files, list_line(files, line, levels), today)


def drop_silent(files: MemoryFiles, state: LineState, today: date) -> LineState:
    """Return the state of a listed line without those days on which the ladder depends and whose logs say nothing."""
    silent = {on for on in days_to_read(state, today) if not _says_something(files, state.line, on)}
    return state.without(silent)


def _says_something(files: MemoryFiles, line: LineName, on: date) -> bool:
    try:
        data = files.read(daily_path(line, on))
    except OmnislashError:
        return True
    return data is not None and has_writing(decode_text(data))


def list_line(files: MemoryFiles, line: LineName, levels: tuple[Level, ...]) -> LineState:
    """Return the logs and summaries of a line by their names alone.

    Raises:
        StorageError: A folder can't be listed.
    """
    days: set[date] = set()
    found = set()
    root = f"{files.memory}{os.sep}{line}"
    for year in _list_folders(root, _YEAR_CHARS, line):
        place = f"{root}{os.sep}{year}"
        names: list[str] = []
        for month in _list_folders(place, _MONTH_CHARS, line, names):
            days |= days_in_folder(year, month, _list_names(f"{place}{os.sep}{month}", line))
        found |= summaries_in_folder(year, names)
    return LineState(line, levels, days, found)


def _list_folders(place: str, size: int, line: LineName, names: list[str] | None = None) -> Iterator[str]:
    """Yield the names of the folders in a place that have so many digits; the names of everything else go to `names`."""
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if len(entry.name) == size and entry.name.isdecimal() and entry.is_dir(follow_symlinks=False):
                    yield entry.name
                elif names is not None:
                    names.append(entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise storage_error(error, line) from error


def _list_names(place: str, line: LineName) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - names alone, without an object for each of 73,000
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error(error, line) from error


def decode_text(data: bytes) -> str:
    """Return the text of a file; bytes that are no UTF-8 show as U+FFFD, and a byte order mark is gone."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")
