"""The period ladder of one line: what is due, from which files, what waits for what, and what a tick takes.

All of it follows from four facts: the levels that the line enables, the days on which something was written, the
summaries that exist, and today's date. Nothing is remembered from tick to tick, so nothing has to be reset when a file
is deleted, a level is added or taken away, or the engine was down for a month.

To keep a tick that has nothing to do from opening a single log, it goes in two steps: `days_to_read` names, from the
names of the files alone, the logs whose text matters, and `plan_tick` wants to know which of these say something.

Rules: PERIOD-08 to PERIOD-10, PERIOD-13, PERIOD-19 to PERIOD-36, PERIOD-O2 to PERIOD-O7, PERIOD-O9, PERIOD-O15, EVENT-09.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from omnislash.core.periods import Level, Period, level_below, number_of, numbers_by_level, split_period

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from datetime import date

    from omnislash.core.lines import LineName


@dataclass(frozen=True, slots=True)
class LineState:
    """What the ladder of a line follows from."""

    #: The line.
    line: LineName
    #: The levels that it enables, finest first, as `order_levels` returns them.
    levels: tuple[Level, ...]
    #: The days whose daily log says something beyond headings (PERIOD-O3); those in the future do no harm.
    #: For `days_to_read` it is enough that there is a log.
    days: AbstractSet[date]
    #: The summaries that exist, of whatever level above a day, enabled or not.
    files: AbstractSet[Period]

    def without(self, silent: AbstractSet[date]) -> LineState:
        """Return the state without days whose logs turned out to say nothing."""
        return replace(self, days=self.days - silent) if silent else self


@dataclass(frozen=True, slots=True)
class Run:
    """A summary that can be written."""

    #: What is summarised.
    period: Period
    #: The files from which, oldest first: days stand for their logs, longer periods for their summaries. Never empty.
    sources: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A summary that can't be written yet."""

    #: What would be summarised.
    period: Period
    #: The periods below that were written in and have no summary, oldest first. Never empty.
    waits_for: tuple[Period, ...]

    def render(self) -> str:
        """Return why, as a sentence: `2026-08 waits for 2026-W31, which has no summary yet.`."""
        first, last, count = self.waits_for[0], self.waits_for[-1], len(self.waits_for)
        if count == 1:
            return f"{self.period} waits for {first}, which has no summary yet."
        return f"{self.period} waits for {count} periods from {first} to {last}, which have no summary yet."


@dataclass(frozen=True, slots=True)
class TickPlan:
    """What one tick does for a line, decided before its first run (PERIOD-33)."""

    #: The line.
    line: LineName
    #: What it runs, in this order.
    runs: tuple[Run, ...]
    #: What is due as well and comes in a later tick, because `maxRunsPerTick` are enough for this one.
    later: tuple[Run, ...]
    #: What waits for a level below.
    waiting: tuple[Waiting, ...]

    @property
    def pending(self) -> int:
        """Return how many summaries are missing: closed periods, written in, without a file."""
        return len(self.runs) + len(self.later) + len(self.waiting)

    def report(self, *, done: int, failed: int = 0, discarded: int = 0) -> TickReport:
        """Return the numbers of the tick after its runs.

        Args:
            done: Runs that created their file.
            failed: Runs that left no file, whatever the reason; they are due again.
            discarded: Runs whose file somebody else saved meanwhile: attempted, not done by this tick, and settled.

        Rules: PERIOD-21, PERIOD-O6, PERIOD-O9.
        """
        return TickReport(done, done + failed + discarded, self.pending - done - discarded)


@dataclass(frozen=True, slots=True)
class TickReport:
    """How a tick ended for a line."""

    #: Summaries that it wrote.
    done: int
    #: Summaries that it tried to write.
    attempted: int
    #: Closed periods that were written in and have no summary after it.
    queued: int

    def render(self) -> str:
        """Return `Consolidated 4/4 due period(s), 9 more queued for the next tick` (PERIOD-25, PERIOD-O7, EVENT-09)."""
        more = f", {self.queued} more queued for the next tick" if self.queued else ""
        return f"Consolidated {self.done}/{self.attempted} due period(s){more}"


def days_to_read(state: LineState, today: date) -> tuple[date, ...]:
    """Return the days on whose logs the plan depends, oldest first: those of closed periods without a summary.

    It is empty when there is nothing to do.
    """
    wanted = [(level, numbers) for level, numbers in _find_missing(state, today).items() if numbers]
    if not wanted:
        return ()
    return tuple(sorted(on for on in state.days if any(number_of(level, on) in numbers for level, numbers in wanted)))


def find_pending(state: LineState, today: date) -> list[Period]:
    """Return the closed periods that were written in and have no summary: finest level first, then oldest first.

    What was written inside decides, not which files feed a period, and it never gets too old.

    Rules: PERIOD-08, PERIOD-19 to PERIOD-24, PERIOD-36, PERIOD-O3, PERIOD-O5, PERIOD-O15.
    """
    missing = _find_missing(state, today)
    return [Period(level, number) for level in state.levels for number in sorted(missing[level])]


def _find_missing(state: LineState, today: date) -> dict[Level, set[int]]:
    """Return the numbers of the pending periods of each enabled level."""
    written = numbers_by_level(state.days)
    missing = {}
    for level in state.levels:
        present = number_of(level, today)
        filed = {period.number for period in state.files if period.level is level}
        missing[level] = {number for number in written[level] - filed if number < present}
    return missing


def plan_tick(state: LineState, today: date, *, max_runs: int) -> TickPlan:
    """Return what a tick on that date does for a line.

    Args:
        state: The line as it is before the tick.
        today: The date in the brain's zone.
        max_runs: `maxRunsPerTick`; 0 runs nothing (TENSION-09).
    """
    pending = find_pending(state, today)
    unwritten = frozenset(pending)
    due: list[Run] = []
    waiting: list[Waiting] = []
    for period in pending:
        blockers = _find_blockers(state, period, unwritten)
        if blockers:
            waiting.append(Waiting(period, blockers))
        else:
            due.append(Run(period, find_sources(state, period)))
    return TickPlan(state.line, tuple(due[:max_runs]), tuple(due[max_runs:]), tuple(waiting))


def find_sources(state: LineState, period: Period) -> tuple[Period, ...]:
    """Return the files that exist from which a period is summarised, oldest first.

    They are the summaries of the next lower level that the line enables, with the logs of the last days that no such
    period covers, or the logs of all days when it enables none.
    A summary that a person wrote for a period without a log is a source like every other.

    Rules: PERIOD-09, PERIOD-10, PERIOD-26 to PERIOD-32, PERIOD-O2.
    """
    below = level_below(state.levels, period.level)
    parts = split_period(period, below)
    days = parts.units if below is Level.DAY else parts.rest
    summaries = () if below is Level.DAY else tuple(unit for unit in parts.units if unit in state.files)
    return summaries + tuple(day for day in days if day.first in state.days)


def _find_blockers(state: LineState, period: Period, unwritten: AbstractSet[Period]) -> tuple[Period, ...]:
    """Return the sources of a period that are still to be written (PERIOD-34, PERIOD-35, PERIOD-O4)."""
    below = level_below(state.levels, period.level)
    if below is Level.DAY:
        return ()
    return tuple(unit for unit in split_period(period, below).units if unit in unwritten)


class Stage(StrEnum):
    """How far a period has come."""

    #: It has a summary.
    FILED = "filed"
    #: The next tick can write it, if `maxRunsPerTick` allows.
    DUE = "due"
    #: It needs a summary of a level below first.
    WAITING = "waiting"
    #: It is not over.
    OPEN = "open"
    #: Nothing was written in it, so it gets no summary.
    SILENT = "silent"
    #: Its level is not enabled, and it has no summary.
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Rung:
    """One period in a view of the ladder."""

    #: Which.
    period: Period
    #: How deep it stands below the longest level shown, from 0.
    depth: int
    #: How far it has come.
    stage: Stage
    #: What it waits for; empty unless `stage` says that it does.
    waits_for: tuple[Period, ...] = ()


def survey_ladder(state: LineState, today: date) -> tuple[Rung, ...]:
    """Return every period with a summary or with writing in it, each under the longer one to which it belongs.

    The order is that of a tree: a period, then what belongs to it, oldest first. A period that only its parts put
    there is shown too, so that a week which feeds a month without writing has a place. Levels that are not enabled are
    shown as far as they have files.
    """
    plan = plan_tick(state, today, max_runs=0)
    due = {run.period for run in plan.later}
    waiting = {entry.period: entry.waits_for for entry in plan.waiting}

    def find_stage(period: Period) -> Stage:
        if period in state.files:
            return Stage.FILED
        if period.level not in state.levels:
            return Stage.OFF
        if not period.is_closed(today):
            return Stage.OPEN
        if period in waiting:
            return Stage.WAITING
        return Stage.DUE if period in due else Stage.SILENT

    return tuple(
        Rung(chain[-1], len(chain) - 1, find_stage(chain[-1]), waiting.get(chain[-1], ()))
        for chain in _find_chains(state, today)
    )


def _find_chains(state: LineState, today: date) -> list[tuple[Period, ...]]:
    """Return the periods of a view, each with those above it, longest first, in the order of a tree."""
    written = numbers_by_level(on for on in state.days if on <= today)
    shown = {Period(level, number) for level in state.levels for number in written[level]} | state.files
    enabled = {*state.levels, *(period.level for period in state.files)}
    levels = sorted(enabled, key=lambda level: -level.rank)
    longest = {
        tuple(period.belongs_to(level) for level in levels if level.rank >= period.level.rank) for period in shown
    }
    chains = {chain[:size] for chain in longest for size in range(1, len(chain) + 1)}
    return sorted(chains, key=lambda chain: [period.number for period in chain])
