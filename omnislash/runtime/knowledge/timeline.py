"""The period ladder of a line as a timeline: each year in numbers, and one year as a tree.

Rules: PERIOD-03, PERIOD-08 to PERIOD-10, PERIOD-19 to PERIOD-36, PERIOD-O1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from omnislash.core.ladder import LineState, Stage, survey_ladder
from omnislash.core.periods import Level, order_levels
from omnislash.runtime.ladder.files import drop_silent
from omnislash.runtime.ladder.tick_answers import LineLadder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.brain.files import BrainFiles
    from omnislash.core.ladder import Rung
    from omnislash.core.lines import LineName
    from omnislash.runtime.knowledge.listing import FoundLine
    from omnislash.runtime.turns import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The ladder of a line, of which one year is open."""

    ladder: LineLadder
    #: True when the line has summaries written; False shows what is left of another time.
    is_enabled: bool
    #: When summaries are written: a cron expression.
    schedule: str
    #: The year that is open, as four digits; None when there is nothing to show.
    year: str | None

    @property
    def years(self) -> tuple[str, ...]:
        """Return the years in which the line has periods, the newest first."""
        return tuple(sorted({_year_of(rung) for rung in self.ladder.rungs}, reverse=True))

    def to_json(self) -> dict[str, Any]:
        """Return `{levels, enabled, schedule, year, years, rungs}`.

        `years` are `{year, filed, due, waiting, open, silent, off}`, the newest first; `rungs` those of the open year,
        oldest first: `{period, level, first, last, stage, path, waitsFor, parts}`, with `parts` of the same shape and
        `path` null without a file.
        """
        stages: dict[str, Counter[str]] = {year: Counter() for year in self.years}
        for rung in self.ladder.rungs:
            stages[_year_of(rung)][rung.stage.value] += 1
        shown = [rung for rung in self.ladder.rungs if _year_of(rung) == self.year]
        return {
            "levels": [level.value for level in self.ladder.levels],
            "enabled": self.is_enabled,
            "schedule": self.schedule,
            "year": self.year,
            "years": [{"year": year, **{stage.value: stages[year][stage.value] for stage in Stage}} for year in stages],
            "rungs": _nest(shown, self.ladder.line),
        }


def _year_of(rung: Rung) -> str:
    """Return the year to which a period belongs: for a week the one in which it ends, as everywhere in the ladder."""
    return rung.period.belongs_to(Level.YEAR).name


def _nest(rungs: Sequence[Rung], line: LineName) -> list[dict[str, Any]]:
    """Return the rungs, which come in the order of a tree, each with its parts."""
    top: list[dict[str, Any]] = []
    above: list[list[dict[str, Any]]] = [top]
    for rung in rungs:
        node = _show(rung, line)
        del above[rung.depth + 1 :]
        above[-1].append(node)
        above.append(node["parts"])
    return top


def _show(rung: Rung, line: LineName) -> dict[str, Any]:
    period = rung.period
    return {
        "period": period.name,
        "level": period.level.value,
        "first": period.first.isoformat(),
        "last": period.last.isoformat(),
        "stage": rung.stage.value,
        "path": period.path_in(line) if rung.stage is Stage.FILED else None,
        "waitsFor": [each.name for each in rung.waits_for],
        "parts": [],
    }


def make_timeline(ports: Ports, config: BrainFiles, line: LineName, found: FoundLine, year: str | None) -> Timeline:
    """Return the timeline of a line from what a pass has found; logs are read only where a summary is missing.

    Args:
        ports: The brain.
        config: Its configuration.
        line: The line.
        found: Its files.
        year: The year to open; None = the newest.
    """
    consolidation = config.manifest.memory.consolidation
    enabled = consolidation.lines.get(line)
    levels = order_levels(enabled.periods) if enabled else ()
    today = ports.clock.now().astimezone(ZoneInfo(config.manifest.locale.timezone)).date()
    state = drop_silent(ports.files, LineState(line, levels, found.days, found.summaries.keys()), today)
    shown = levels or order_levels({period.level for period in state.files})
    ladder = LineLadder(line, shown, survey_ladder(state, today))
    years = {_year_of(rung) for rung in ladder.rungs}
    opened = year if year in years else max(years, default=None)
    return Timeline(ladder=ladder, is_enabled=bool(levels), schedule=consolidation.schedule, year=opened)
