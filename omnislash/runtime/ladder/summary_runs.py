"""One run of a tick: read the sources of a period, ask the model, file what it answers.

A run creates its file or leaves nothing. It reads the sources again after the model has answered: where one has changed
in between, the model is asked once more, and when that happens twice the run is given up, because its text would tell
of another state than the record.

Rules: PERIOD-14 to PERIOD-22, PERIOD-34, PERIOD-37 to PERIOD-40, PERIOD-O8, PERIOD-O9, PERIOD-O11, SECRET-O2; failure
cases O-35, O-36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.clipping import clip_sources
from omnislash.core.credentials import mask_secrets
from omnislash.core.daily import has_writing
from omnislash.core.lines import ManagedPath
from omnislash.core.periods import Level, level_below, split_period
from omnislash.core.verdicts import Outcome
from omnislash.errors import ModelError, OmnislashError
from omnislash.runtime.ladder.files import decode_text
from omnislash.runtime.ladder.summarising import Refused, Source, SummaryRequest, check_answer
from omnislash.runtime.ladder.tick_answers import Discarded, Done, Failed
from omnislash.runtime.models.harness import ANSWER_MAX_BYTES
from omnislash.runtime.models.summarisers import CONSOLIDATOR
from omnislash.writer.jobs import FileSummaryRequest, Job

if TYPE_CHECKING:
    from omnislash.core.ladder import Run
    from omnislash.core.lines import LineName
    from omnislash.core.periods import Period
    from omnislash.runtime.ladder.tick_answers import RunResult
    from omnislash.runtime.models.summarisers import Model
    from omnislash.runtime.turns import Ports

#: How often a model is asked for one summary: once more when a source was changed meanwhile.
_ASKED_MOST: Final = 2


class _GivenUpError(Exception):
    """A run that comes to nothing, with the sentence that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSettings:
    """What every run of a line is told."""

    line: LineName
    #: The levels that the line enables, finest first.
    levels: tuple[Level, ...]
    #: Writes the summaries.
    model: Model
    #: The body of the consolidator's role.
    criteria: str
    #: The length to ask for; None = none.
    target_chars: int | None
    #: `maxSourceChars`.
    max_source_chars: int


@dataclass(frozen=True, slots=True)
class _Input:
    """A file that feeds a summary, as it is right now."""

    period: Period
    data: bytes


def run_summary(ports: Ports, run: Run, settings: LineSettings) -> RunResult:
    """Return what came of writing one summary; nothing is raised for what a model, a person or the disk does."""
    path = run.period.path_in(settings.line)
    try:
        for _ in range(_ASKED_MOST):
            if ports.files.read(path) is not None:
                return _discard(run.period, path)
            inputs = _gather(ports, run, settings)
            request = _make_request(run.period, inputs, settings)
            text = _ask(settings.model, request)
            if _gather(ports, run, settings) == inputs:
                return _file(ports, request, text, settings)
    except _GivenUpError as given_up:
        return Failed(run.period, given_up.reason)
    except OmnislashError as error:
        return Failed(run.period, error.message)
    return Failed(run.period, "Its sources were changed again and again while the model wrote; the text was dropped.")


def _discard(period: Period, path: ManagedPath) -> Discarded:
    return Discarded(period, path, f"{path} was saved by somebody else meanwhile, and stays.")


# -- sources ---------------------------------------------------------------------------------------------------------


def _gather(ports: Ports, run: Run, settings: LineSettings) -> tuple[_Input, ...]:
    """Return the sources as they are now, oldest first.

    Summaries are those of the plan: what a tick writes feeds no other run of it (PERIOD-33), and one that is gone since
    leaves the period to a later tick. Of the days every log counts that says something by now.
    """
    below = level_below(settings.levels, run.period.level)
    parts = split_period(run.period, below)
    summaries = [period for period in run.sources if period.level is not Level.DAY]
    inputs: list[_Input] = []
    for period in summaries:
        data = ports.files.read_settled(period.path_in(settings.line))
        if data is None:
            message = f"The summary of {period}, on which it rests, is gone since the tick began."
            raise _GivenUpError(message)
        inputs.append(_Input(period, data))
    for day in parts.units if below is Level.DAY else parts.rest:
        data = ports.files.read_settled(day.path_in(settings.line))
        if data is not None and has_writing(decode_text(data)):
            inputs.append(_Input(day, data))
    return tuple(inputs)


def _make_request(period: Period, inputs: tuple[_Input, ...], settings: LineSettings) -> SummaryRequest:
    """Return what the model is given: sources without credentials, cut at their oldest end to what a prompt may hold.

    Rules: PERIOD-14, PERIOD-O8, SECRET-O2.
    """
    texts = [mask_secrets(decode_text(each.data)) for each in inputs]
    clipped = clip_sources(texts, max_chars=settings.max_source_chars)
    sources = tuple(
        Source(f"memory/{each.period.path_in(settings.line)}", each.period.first, each.period.last, text)
        for each, text in zip(inputs, clipped.texts, strict=True)
        if text.strip()
    )
    if not sources:
        message = "Its sources say nothing any more."
        raise _GivenUpError(message)
    return SummaryRequest(
        line=settings.line,
        period=period,
        sources=sources,
        target_chars=settings.target_chars,
        is_clipped=not clipped.is_complete,
        lost=clipped.render_loss(),
        criteria=settings.criteria,
    )


# -- the model -------------------------------------------------------------------------------------------------------


def _ask(model: Model, request: SummaryRequest) -> str:
    """Return the text of the file that the model's answer makes, or give the run up."""
    try:
        answer = model.summarise(request)
    except ModelError as error:
        raise _GivenUpError(error.message) from error
    except Exception as error:  # a model may be somebody else's code, and ends no tick
        message = f"The model {model.name} failed: {type(error).__name__}: {error}"
        raise _GivenUpError(message) from error
    if not isinstance(answer, str):
        message = f"The model {model.name} answered no text."
        raise _GivenUpError(message)
    if len(answer.encode("utf-8", "surrogatepass")) > ANSWER_MAX_BYTES:
        message = f"The model {model.name} answered more than {ANSWER_MAX_BYTES} bytes."
        raise _GivenUpError(message)
    checked = check_answer(answer, request)
    if isinstance(checked, Refused):
        raise _GivenUpError(checked.reason)
    return checked


# -- the file --------------------------------------------------------------------------------------------------------


def _file(ports: Ports, request: SummaryRequest, text: str, settings: LineSettings) -> RunResult:
    """Create the summary through the brain's one writer; a file that is there by now stays (PERIOD-21, PERIOD-O11)."""
    period, line = request.period, settings.line
    path = period.path_in(line)
    sources = tuple(ManagedPath(source.path.removeprefix("memory/")) for source in request.sources)
    job = Job(
        id=ports.new_job_id(),
        line=line,
        request=FileSummaryRequest(path, text, request.target_chars, sources),
        created_at=ports.clock.now(),
        role=CONSOLIDATOR,
        actor="engine",
    )
    verdict = ports.writer.submit(job)
    done = Done(period, path, count_chars(text), request.target_chars, sources)
    if verdict.outcome is Outcome.WRITTEN:
        return done
    there = ports.files.read(path)
    if there is None:
        return Failed(period, verdict.message)
    if verdict.outcome is Outcome.UNCONFIRMED and there == text.encode():
        return done
    return _discard(period, path)
