"""The ladder of a turn, read from disk: the latest summaries of the turn's own or borrowed line.

Rules: ENVELOPE-28, PERIOD-41, PERIOD-44, PERIOD-45, KNOB-13, KNOB-14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from omnislash.core.periods import number_of, order_levels, summaries_in_folder
from omnislash.core.targets import choose_summaries
from omnislash.envelope.blocks import Block, BlockName
from omnislash.envelope.ladder import Summary, render_rungs
from omnislash.errors import ScopeError
from omnislash.store.os_errors import storage_error

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date, datetime
    from pathlib import Path

    from omnislash.brain.files import BrainFiles
    from omnislash.core.lines import LineName
    from omnislash.core.periods import Level, Period
    from omnislash.core.scopes import Scope
    from omnislash.runtime.turns import Ports
    from omnislash.store.files import MemoryFiles

_YEAR_DIGITS: Final = 4


def read_ladder(ports: Ports, scope: Scope, *, now: datetime) -> str:
    """Return the text of the ladder's block, as `read_ladder_block` gives it; '' when there is none to show."""
    block = read_ladder_block(ports, scope, now=now)
    return block.text if block else ""


def read_ladder_block(ports: Ports, scope: Scope, *, now: datetime, config: BrainFiles | None = None) -> Block | None:
    """Return the ladder's block for a turn; None when there is none to show.

    It has what is on disk now. Summaries of levels that the line does not enable are left out, and so are those of
    periods that have not begun.

    Args:
        ports: The brain.
        scope: Names the line, and how many summaries and characters of it the turn is shown.
        now: Aware time of the turn.
        config: The brain's configuration as the turn began with it; None = as it is now.

    Raises:
        StorageError: The disk refuses.
    """
    line, settings = scope.line, scope.settings
    if line is None or not settings.period_count or not settings.period_chars:
        return None
    manifest = (config or ports.config()).manifest
    enabled = manifest.memory.consolidation.lines.get(line)
    if enabled is None:
        return None
    today = now.astimezone(ZoneInfo(manifest.locale.timezone)).date()
    levels = order_levels(enabled.periods)
    found = _find_latest(ports.files.memory / line, levels, today, count=settings.period_count)
    chosen = choose_summaries(found, levels, count=settings.period_count)
    summaries = [summary for period in chosen if (summary := _read(ports.files, line, period))]
    ladder = render_rungs(summaries, line=line, ceiling=settings.period_chars)
    if not ladder.text:
        return None
    return Block(name=BlockName.PERIODS, place=line, text=ladder.text, is_partial=ladder.is_partial, shown=ladder.shown)


def _find_latest(folder: Path, levels: Collection[Level], today: date, *, count: int) -> set[Period]:
    """Return the summaries in a line's folder, newest year first until there are enough of every level."""
    found: set[Period] = set()
    for year in sorted(_list_names(folder), reverse=True):
        if len(year) == _YEAR_DIGITS and year.isdecimal():
            found |= {
                period
                for period in summaries_in_folder(year, _list_names(folder / year))
                if period.number <= number_of(period.level, today)
            }
            if all(sum(period.level is level for period in found) >= count for level in levels):
                break
    return found


def _list_names(folder: Path) -> list[str]:
    """Return the names in a folder; none where there is no folder."""
    try:
        return [entry.name for entry in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error(error, f"{folder.parent.name}/{folder.name}") from error


def _read(files: MemoryFiles, line: LineName, period: Period) -> Summary | None:
    """Return a summary; None when it is gone by now, or leads out of its line through a link (SCOPE-O6)."""
    try:
        data = files.read(period.path_in(line))
    except ScopeError:
        return None
    return None if data is None else Summary(period, data.decode("utf-8", "replace"))
