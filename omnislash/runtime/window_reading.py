"""The window and MEMORY.md of a turn, read from disk: those of the turn's own or borrowed line, and of no other.

Rules: ENVELOPE-13, ENVELOPE-16, ENVELOPE-O8, SCOPE-18, SCOPE-O6, RESOLVE-11, LINE-O3, KNOB-06 to KNOB-08.
"""

from __future__ import annotations

import os
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import effective_budget
from omnislash.core.lines import daily_path, memory_path
from omnislash.core.periods import days_in_folder
from omnislash.envelope.blocks import BlockName, render_unreadable
from omnislash.envelope.memory_block import render_memory
from omnislash.envelope.window import DayLog, render_window
from omnislash.errors import ScopeError, StorageError
from omnislash.store.os_errors import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.brain.manifest import ManifestMemory
    from omnislash.core.lines import LineName
    from omnislash.core.scopes import Settings
    from omnislash.envelope.blocks import Block
    from omnislash.runtime.turns import Ports
    from omnislash.store.files import MemoryFiles

_YEAR_CHARS: Final = 4
_MONTH_CHARS: Final = 2


def read_memory(ports: Ports, line: LineName, settings: Settings, *, memory: ManifestMemory) -> Block | None:
    """Return the block of the line's MEMORY.md; None when there is nothing to carry.

    A file that can't be read gives a block that says so.

    Args:
        ports: The brain.
        line: The line.
        settings: The knobs in force.
        memory: The manifest's block, for the budget of the file.
    """
    if not settings.priority_chars:
        return None
    path = memory_path(line)
    try:
        data = ports.files.read(path)
    except (ScopeError, StorageError) as error:
        return render_unreadable(BlockName.MEMORY, path, error.message)
    if not data:
        return None
    budget = effective_budget(memory.file_max_chars, memory.line_budgets, line)
    text = data.decode("utf-8", "surrogateescape")
    return render_memory(text, line=line, ceiling=settings.priority_chars, budget=budget)


def read_window(ports: Ports, line: LineName, settings: Settings, *, today: date) -> Block | None:
    """Return the block of the line's last `recentDays` days, today included; None when there is nothing to show.

    Args:
        ports: The brain.
        line: The line.
        settings: The knobs in force.
        today: Day in the brain's zone; a log of a later day is not shown.
    """
    if not settings.recent_days or not settings.recent_chars:
        return None
    days = min(settings.recent_days, today.toordinal()) - 1
    logs = _read_logs(ports.files, line, first=today - timedelta(days=days), last=today)
    try:
        return render_window(logs, line=line, ceiling=settings.recent_chars)
    except StorageError as error:  # a folder that can't be listed
        return render_unreadable(BlockName.DAILY, line, error.message)


def _read_logs(files: MemoryFiles, line: LineName, *, first: date, last: date) -> Iterator[DayLog]:
    """Yield the logs of some days, newest first; each is read when it is asked for."""
    for on in _list_days(files, line, first, last):
        path = daily_path(line, on)
        try:
            data = files.read(path)
        except (ScopeError, StorageError) as error:
            yield DayLog(on=on, text="", trouble=error.message)
            continue
        if data:
            yield DayLog(on=on, text=data.decode("utf-8", "replace"))


def _list_days(files: MemoryFiles, line: LineName, first: date, last: date) -> Iterator[date]:
    """Yield the days that have a log, newest first; folders that are links are not followed."""
    if first == last:  # the usual window needs no listing
        yield last
        return
    root = f"{files.memory}{os.sep}{line}"
    for year in _list_folders(root, _YEAR_CHARS, line, f"{first.year:04d}", f"{last.year:04d}"):
        for month in _list_folders(f"{root}{os.sep}{year}", _MONTH_CHARS, line, "01", "12"):
            if f"{first:%Y-%m}" <= f"{year}-{month}" <= f"{last:%Y-%m}":
                names = _list_names(f"{root}{os.sep}{year}{os.sep}{month}", line)
                yield from sorted(
                    (on for on in days_in_folder(year, month, names) if first <= on <= last), reverse=True
                )


def _list_folders(place: str, size: int, line: LineName, first: str, last: str) -> list[str]:
    """Return the names of the folders of so many digits between two of them, the last one first."""
    try:
        with os.scandir(place) as entries:
            found = [
                entry.name
                for entry in entries
                if len(entry.name) == size and entry.name.isdecimal() and entry.is_dir(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error(error, line) from error
    return sorted((name for name in found if first <= name <= last), reverse=True)


def _list_names(place: str, line: LineName) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - names alone
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error(error, line) from error
