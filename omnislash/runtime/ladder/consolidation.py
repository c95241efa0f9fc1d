"""The tick that grows the period ladder: which summaries are due, and writing them.

What is due is decided for every line before the first model is asked, from the files that are there then. One tick of a
brain runs at a time; nothing is remembered from one to the next.
Where no line is enabled, nothing is listed and no model is made.

Rules: PERIOD-01, PERIOD-02, PERIOD-13 to PERIOD-22, PERIOD-25, PERIOD-33, PERIOD-37, PERIOD-38, PERIOD-40, PERIOD-O5 to
PERIOD-O7, PERIOD-O9, KNOB-20, EVENT-09.
"""

from __future__ import annotations

import contextlib
import logging
import os
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from omnislash.core.declarations import resolve_settings
from omnislash.core.ladder import plan_tick, survey_ladder
from omnislash.core.ladder_block import frame_chars
from omnislash.core.lines import LineName, quote_name
from omnislash.core.periods import order_levels
from omnislash.core.targets import target_chars
from omnislash.errors import OmnislashError, StorageError, UsageError, WriterUnavailableError
from omnislash.runtime.ladder.files import read_state
from omnislash.runtime.ladder.summary_runs import LineSettings, run_summary
from omnislash.runtime.ladder.tick_answers import (
    Failed,
    LadderView,
    LineLadder,
    LineTick,
    TickAnswer,
    report_plan,
    report_runs,
)
from omnislash.runtime.models.summarisers import find_consolidator, find_reference, resolve_model
from omnislash.store.locks import Owner, WriterLock, read_owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.core.ladder import TickPlan
    from omnislash.core.periods import Level
    from omnislash.runtime.ladder.tick_answers import RunResult
    from omnislash.runtime.models.summarisers import Model
    from omnislash.runtime.turns import Ports

    #: Returns the model that a reference means, None for the offline one; ModelError when there is none.
    Models = Callable[[str | None, BrainFiles], Model]
    #: Told how far a tick is: `summaries`, runs done, of all.
    Progress = Callable[[str, int, int], None]

_LOG = logging.getLogger(__name__)
#: Held by the process that ticks, beside the state database.
LOCK_FILE = ".omnislash/consolidation.lock"


def consolidate(
    ports: Ports,
    *,
    now: datetime,
    lines: Sequence[str] | None = None,
    on_progress: Progress | None = None,
    models: Models | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> TickAnswer:
    """Run one tick: write the summaries that are due, at most `maxRunsPerTick` a line.

    Args:
        ports: The brain; its `.omnislash/` exists.
        now: Aware; decides in the brain's zone which periods are over.
        lines: Only these of the enabled lines; None = all.
        on_progress: Told before the first run and after each.
        models: Makes the models; None = those that the configuration names.
        is_over: Asked before each run: True leaves the rest for the next tick.

    Raises:
        UsageError: A line is not enabled.
        WriterUnavailableError: A tick of this brain is running.
    """
    config = ports.config()
    names, local = _choose_lines(config, lines), _localise(config, now)
    if not names:
        return TickAnswer(local, ())
    with _hold_lock(ports):
        plans = [_plan_line(ports, config, line, local.date()) for line in names]
        tick = _Tick(
            ports,
            config,
            local.date(),
            models or partial(_make_model, environment=ports.environment, is_over=is_over),
            is_over,
        )
        tick.count(plans, on_progress)
        answer = TickAnswer(local, tuple(tick.run(plan) for plan in plans))
    for line in answer.lines:
        _log(line)
    return answer


def plan_consolidation(ports: Ports, *, now: datetime, lines: Sequence[str] | None = None) -> TickAnswer:
    """Return what a tick would do: `due` is what it would run, and nothing is done; UsageError as `consolidate`."""
    config = ports.config()
    names, local = _choose_lines(config, lines), _localise(config, now)
    plans = (_plan_line(ports, config, line, local.date()) for line in names)
    return TickAnswer(local, tuple(plan if isinstance(plan, LineTick) else report_plan(plan) for plan in plans))


def show_ladder(ports: Ports, *, now: datetime, lines: Sequence[str] | None = None) -> LadderView:
    """Return the periods of the enabled lines, or of the named ones, which need not be enabled, as trees.

    Raises:
        UsageError: There is no such line.
        StorageError: A line can't be listed.
    """
    config = ports.config()
    names, local = _choose_lines(config, lines, others=config.lines_on_disk), _localise(config, now)
    return LadderView(local, tuple(_show_line(ports, config, line, local.date()) for line in names))


def _show_line(ports: Ports, config: BrainFiles, line: LineName, today: date) -> LineLadder:
    levels = _levels_of(config, line)
    state = read_state(ports.files, line, levels, today)
    shown = levels or order_levels({period.level for period in state.files})
    return LineLadder(line, shown, survey_ladder(state, today))


# -- what is due -----------------------------------------------------------------------------------------------------


def _choose_lines(
    config: BrainFiles, lines: Sequence[str] | None, *, others: frozenset[LineName] = frozenset()
) -> tuple[LineName, ...]:
    """Return the enabled lines in the order of the manifest, or those of them, or of `others`, that were named."""
    enabled = tuple(config.manifest.memory.consolidation.lines)
    if lines is None:
        return enabled
    for line in lines:
        if line not in enabled and line not in others:
            raise UsageError(_explain_line(config, line, enabled))
    return tuple(LineName(line) for line in dict.fromkeys(lines))


def _explain_line(config: BrainFiles, line: str, enabled: tuple[LineName, ...]) -> str:
    known = f"those that have are {', '.join(enabled)}" if enabled else "no line has"
    if line in config.lines_on_disk:
        where = f"{line}: {{periods: [week]}} to memory.consolidation.lines in constitution/MANIFEST.yaml"
        return f"The line {line!r} has no period summaries ({known}): add {where}."
    return f"No line {quote_name(line)} has period summaries; {known}."


def _localise(config: BrainFiles, now: datetime) -> datetime:
    return now.astimezone(ZoneInfo(config.manifest.locale.timezone))


def _levels_of(config: BrainFiles, line: LineName) -> tuple[Level, ...]:
    enabled = config.manifest.memory.consolidation.lines.get(line)
    return order_levels(enabled.periods) if enabled else ()


def _plan_line(ports: Ports, config: BrainFiles, line: LineName, today: date) -> TickPlan | LineTick:
    """Return what a tick does for a line; a line that can't be listed keeps no other one from its own."""
    try:
        state = read_state(ports.files, line, _levels_of(config, line), today)
    except OmnislashError as error:
        return LineTick(line=line, message=error.message, is_broken=True)
    return plan_tick(state, today, max_runs=config.manifest.memory.consolidation.max_runs_per_tick)


# -- the tick --------------------------------------------------------------------------------------------------------


def _make_model(
    reference: str | None, config: BrainFiles, *, environment: Mapping[str, str], is_over: Callable[[], bool]
) -> Model:
    return resolve_model(reference, config, environment=environment, is_over=is_over)


class _Tick:
    """Runs the plans of all lines, one run after another."""

    def __init__(
        self, ports: Ports, config: BrainFiles, today: date, models: Models, is_over: Callable[[], bool]
    ) -> None:
        self._ports = ports
        self._config = config
        self._today = today
        self._models = models
        self._is_over = is_over
        self._on_progress: Progress | None = None
        self._total = self._count = 0

    def count(self, plans: Sequence[TickPlan | LineTick], on_progress: Progress | None) -> None:
        """Tell how much there is to do."""
        self._total = sum(len(plan.runs) for plan in plans if not isinstance(plan, LineTick))
        self._on_progress = on_progress
        self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress("summaries", self._count, self._total)

    def run(self, plan: TickPlan | LineTick) -> LineTick:
        """Run what is planned for a line, in its order."""
        if isinstance(plan, LineTick):
            return plan
        return report_runs(plan, tuple(self._run_all(plan)))

    def _run_all(self, plan: TickPlan) -> Iterator[RunResult]:
        settings: LineSettings | str | None = None
        for run in plan.runs:
            if self._is_over():
                return
            settings = settings or self._prepare(plan.line)
            if isinstance(settings, str):
                yield Failed(run.period, settings)
            else:
                yield run_summary(self._ports, run, settings)
            self._count += 1
            self._tell()

    def _prepare(self, line: LineName) -> LineSettings | str:
        """Return what the runs of a line are told, or why there is no model for them."""
        memory, levels = self._config.manifest.memory, _levels_of(self._config, line)
        try:
            model = self._models(find_reference(self._config, line), self._config)
        except OmnislashError as error:
            return f"{error.message} {error.hint}" if error.hint else error.message
        return LineSettings(
            line=line,
            levels=levels,
            model=model,
            criteria=find_consolidator(self._config).body,
            target_chars=self._target(line, levels),
            max_source_chars=memory.consolidation.max_source_chars,
        )

    def _target(self, line: LineName, levels: tuple[Level, ...]) -> int | None:
        """Return the length to ask of each summary of a line (PERIOD-37, PERIOD-38, PERIOD-40)."""
        shown = resolve_settings(self._config.manifest.memory.to_declaration())
        return target_chars(
            period_chars=shown.period_chars,
            period_count=shown.period_count,
            level_count=len(levels),
            framing_chars=frame_chars(levels, self._today, shown.period_count, line=line),
        )


def _log(line: LineTick) -> None:
    """Write the line of the log (EVENT-09)."""
    extra = {"action": "consolidated", "memory_line": line.line, "done": len(line.done), "queued": line.queued}
    _LOG.log(logging.ERROR if line.is_broken else logging.INFO, "%s: %s", line.line, line.message, extra=extra)


@contextlib.contextmanager
def _hold_lock(ports: Ports) -> Iterator[None]:
    """Keep every other tick of this brain out until the block is left."""
    path = ports.root / LOCK_FILE
    lock = WriterLock(path)
    owner = Owner(pid=os.getpid(), role="consolidation", since=ports.clock.now().isoformat())
    try:
        taken = lock.acquire(owner)
    except OSError as error:
        message = f"{LOCK_FILE} can't be made: {error.strerror}. Give this user write access to the brain's directory."
        raise StorageError(message, path=LOCK_FILE) from error
    if not taken:
        other = read_owner(path)
        who = f" (process {other.pid}, since {other.since_shown})" if other else ""
        message = (
            f"A consolidation of this brain is running already{who}; it writes what is due. Wait until it is done."
        )
        raise WriterUnavailableError(message)
    try:
        yield
    finally:
        lock.release()
