"""What a tick, a dry run and a view of the ladder answer.

Every length is in UTF-16 code units; a file is named by its managed path, a period by its name.

Rules: PERIOD-25, PERIOD-O6, PERIOD-O7, PERIOD-O9; interface.md, "Command line" (`consolidate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core.targets import is_over_target

if TYPE_CHECKING:
    from datetime import datetime

    from omnislash.core.ladder import Run, Rung, TickPlan, Waiting
    from omnislash.core.lines import LineName, ManagedPath
    from omnislash.core.periods import Level, Period


@dataclass(frozen=True, slots=True)
class Done:
    """A summary that was filed."""

    period: Period
    file: ManagedPath
    #: Its size.
    chars: int
    #: The length that was asked for; None where none was.
    target_chars: int | None
    #: What it was made from, oldest first.
    sources: tuple[ManagedPath, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{level, period, file, chars, targetChars, overTarget, sources}`."""
        return {
            **_name(self.period),
            "file": self.file,
            "chars": self.chars,
            "targetChars": self.target_chars,
            "overTarget": is_over_target(self.chars, self.target_chars),
            "sources": list(self.sources),
        }


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that left no file; its period is due again (PERIOD-O9)."""

    period: Period
    #: Why, as a sentence.
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return `{level, period, reason}`."""
        return {**_name(self.period), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Discarded:
    """A run whose file somebody else saved first; theirs stands (PERIOD-21)."""

    period: Period
    file: ManagedPath
    #: What happened, as a sentence.
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return `{level, period, file, reason}`."""
        return {**_name(self.period), "file": self.file, "reason": self.reason}


RunResult = Done | Failed | Discarded


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTick:
    """What a tick did for one line, or would do."""

    line: LineName
    done: tuple[Done, ...] = ()
    failed: tuple[Failed, ...] = ()
    discarded: tuple[Discarded, ...] = ()
    #: What would run; empty after a tick.
    due: tuple[Run, ...] = ()
    #: What is due as well, beyond `maxRunsPerTick`.
    later: tuple[Run, ...] = ()
    #: What waits for a level below.
    waiting: tuple[Waiting, ...] = ()
    #: Summaries that are still missing afterwards (PERIOD-O6).
    queued: int = 0
    #: The sentence of the log, or why the line could not be looked at.
    message: str
    #: True when the line could not be looked at.
    is_broken: bool = False

    @property
    def attempted(self) -> int:
        """Return how many summaries the tick tried to write."""
        return len(self.done) + len(self.failed) + len(self.discarded)

    def to_json(self) -> dict[str, Any]:
        """Return `{line, done, failed, discarded, due, later, waiting, queued, message}`, and `error` when broken."""
        return {
            "line": self.line,
            "done": [each.to_json() for each in self.done],
            "failed": [each.to_json() for each in self.failed],
            "discarded": [each.to_json() for each in self.discarded],
            "due": [_run_to_json(self.line, run) for run in self.due],
            "later": [_run_to_json(self.line, run) for run in self.later],
            "waiting": [_waiting_to_json(each) for each in self.waiting],
            "queued": self.queued,
            "message": self.message,
            **({"error": self.message} if self.is_broken else {}),
        }


@dataclass(frozen=True, slots=True)
class TickAnswer:
    """What a tick did, line by line."""

    #: The instant that decided what was over, in the brain's zone.
    now: datetime
    #: In the order of the manifest; empty when no line is enabled.
    lines: tuple[LineTick, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{now, lines}`."""
        return {"now": self.now.isoformat(), "lines": [line.to_json() for line in self.lines]}


@dataclass(frozen=True, slots=True)
class LineLadder:
    """The periods of one line, as a tree."""

    line: LineName
    #: The levels that it enables, finest first.
    levels: tuple[Level, ...]
    #: Each period under the longer one to which it belongs.
    rungs: tuple[Rung, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{line, levels, rungs: [{level, period, depth, stage, file, waitsFor}]}`."""
        return {
            "line": self.line,
            "levels": [level.value for level in self.levels],
            "rungs": [
                {
                    **_name(rung.period),
                    "depth": rung.depth,
                    "stage": rung.stage.value,
                    "file": rung.period.path_in(self.line),
                    "waitsFor": [period.name for period in rung.waits_for],
                }
                for rung in self.rungs
            ],
        }


@dataclass(frozen=True, slots=True)
class LadderView:
    """The ladders of several lines."""

    #: The instant that decided what is over, in the brain's zone.
    now: datetime
    lines: tuple[LineLadder, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{now, lines}`."""
        return {"now": self.now.isoformat(), "lines": [line.to_json() for line in self.lines]}


def report_runs(plan: TickPlan, results: tuple[RunResult, ...]) -> LineTick:
    """Return what a tick did for a line, with its numbers.

    Rules: PERIOD-25, PERIOD-O6, PERIOD-O7, PERIOD-O9.
    """
    done = tuple(each for each in results if isinstance(each, Done))
    failed = tuple(each for each in results if isinstance(each, Failed))
    discarded = tuple(each for each in results if isinstance(each, Discarded))
    report = plan.report(done=len(done), failed=len(failed), discarded=len(discarded))
    return LineTick(
        line=plan.line,
        done=done,
        failed=failed,
        discarded=discarded,
        later=plan.later,
        waiting=plan.waiting,
        queued=report.queued,
        message=report.render(),
    )


def report_plan(plan: TickPlan) -> LineTick:
    """Return what a tick would do for a line; `queued` is what it would leave if every run succeeded."""
    queued = len(plan.later) + len(plan.waiting)
    more = f", {queued} more queued for the next tick" if queued else ""
    return LineTick(
        line=plan.line,
        due=plan.runs,
        later=plan.later,
        waiting=plan.waiting,
        queued=queued,
        message=f"Would consolidate {len(plan.runs)} due period(s){more}",
    )


def _name(period: Period) -> dict[str, str]:
    return {"level": period.level.value, "period": period.name}


def _run_to_json(line: LineName, run: Run) -> dict[str, Any]:
    sources = [source.path_in(line) for source in run.sources]
    return {**_name(run.period), "file": run.period.path_in(line), "sources": sources}


def _waiting_to_json(waiting: Waiting) -> dict[str, Any]:
    return {**_name(waiting.period), "waitsFor": [period.name for period in waiting.waits_for]}
