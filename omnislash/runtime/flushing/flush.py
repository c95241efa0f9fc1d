"""The flush: after a turn a curator reads it, and writes down what is worth keeping, which is usually nothing.

The curator is the role `system:memory` in the line of the agent whose turn it reads. It sees that line's memory through
its own delivery, and the turn as what was said in it: never the blocks or the recall of that turn. Its own recall is
off, for it would search with the words of the transcript and lay what was remembered beside what was said; it has
`memory_search` when it wants to look. The report set of neither role is handed to it: what it writes lands in the line.

A flush never fails the turn that it follows: whatever goes wrong is its outcome.

Rules: FLUSH-01 to FLUSH-14, FLUSH-O1 to FLUSH-O6, RESOLVE-10, REPORT-10, DECLARE-07, DECLARE-O2, EVENT-07, EVENT-08,
BOUNDARY-11, TENSION-04.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from omnislash.core.credentials import mask_secrets
from omnislash.core.events import MemoryFlushed
from omnislash.core.verdicts import failed
from omnislash.errors import ModelError, OmnislashError, UsageError
from omnislash.runtime.flushing.flush_prompt import render_flush_message
from omnislash.runtime.flushing.injected import strip_injected
from omnislash.runtime.flushing.spoken import Speaker, Spoken, Transcript
from omnislash.runtime.loop.run_values import FlushOutcome, FlushReport, RunLimits, RunOptions, ToolAnswered, Usage
from omnislash.runtime.loop.tree import Tree
from omnislash.runtime.tools.catalog import TOOLS
from omnislash.runtime.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.models import Model as ChatModel

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.core.scopes import Scope
    from omnislash.runtime.loop.run_values import RunEvent
    from omnislash.runtime.turns import Ports

_LOG = logging.getLogger(__name__)
#: The role of the curator, and the role whose `memoryKeep` holds where an agent has none (FLUSH-08).
CURATOR: Final = "system:memory"
_GENERAL: Final = "system:general"
_CURATOR_FILE: Final = "role-memory.md"
#: What an audit row of a flush calls its tool.
FLUSH_TOOL: Final = "flush"
#: A review writes a few entries at most; one that asks for more requests goes round in circles.
_LIMITS: Final = RunLimits(requests=12, turn_s=600.0)


# -- whether it runs -------------------------------------------------------------------------------------------------


def is_flush_due(turn: Turn, config: BrainFiles) -> bool:
    """Tell whether a turn is followed by a flush: its agent asks for one, and one can run.

    Rules: FLUSH-01 to FLUSH-03, FLUSH-07, FLUSH-O2, FLUSH-O3, FLUSH-O6, DECLARE-07, DECLARE-O2, BOUNDARY-11.
    """
    return asks_for_flush(turn.scope, config) and find_obstacle(turn, config) is None


def asks_for_flush(scope: Scope, config: BrainFiles) -> bool:
    """Tell whether `memoryFlush` is true for a turn: the heartbeat's word, else the role's (FLUSH-O2, FLUSH-O3)."""
    role, beat = _find_agent(scope, config)
    if beat is not None and beat.memory_flush is not None:
        return beat.memory_flush
    return role is not None and role.memory_flush


def find_obstacle(turn: Turn, config: BrainFiles) -> str | None:
    """Return why no flush of a turn can run, asked for or not, as a sentence; None when one can."""
    scope = turn.scope
    if turn.replay:
        return "No flush runs in a replay."
    if scope.role == CURATOR:
        return f"The turns of {CURATOR} are not flushed: it is the role that does it."
    if not scope.has_memory:
        return f"The role {scope.role!r} has no memory, so there is nothing to flush into."
    if not config.manifest.memory.flush.enabled:
        return "memory.flush.enabled is false in constitution/MANIFEST.yaml, so no flush runs in this brain."
    curator = config.roles.get(CURATOR)
    if curator is not None and curator.declaration is None:
        return f"{curator.path} has no memory block, so no flush runs. Add `memory: {{}}` to it."
    return None


def find_keep(scope: Scope, config: BrainFiles) -> str | None:
    """Return what the agent of a turn finds worth keeping, None for nothing of its own.

    The heartbeat's `memoryKeep` wins over the role's, and that over the one of `role-general.md` (FLUSH-08, FLUSH-O4).
    """
    role, beat = _find_agent(scope, config)
    tiers: tuple[Beat | Role | None, ...] = (beat, role, config.roles.get(_GENERAL))
    return next((tier.memory_keep for tier in tiers if tier is not None and tier.memory_keep is not None), None)


def _find_agent(scope: Scope, config: BrainFiles) -> tuple[Role | None, Beat | None]:
    """Return role and beat of a turn as the files say now; None for one that has gone since."""
    beat = None
    if scope.heartbeat is not None:
        beat = config.heartbeats.get(scope.heartbeat) or config.hooks.get(scope.heartbeat)
    if beat is not None and beat.role != scope.role:  # a sub-agent, whose turn carries the heartbeat of its caller
        beat = None
    return config.roles.get(scope.role), beat


# -- running it ------------------------------------------------------------------------------------------------------


def flush_turn(  # noqa: PLR0913 - what a turn leaves behind
    turn: Turn,
    ports: Ports,
    *,
    message: str,
    answer: str,
    calls: Sequence[ToolAnswered] = (),
    session: str | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - a frozen value
    model: ChatModel | None = None,
) -> FlushReport | None:
    """Review a turn that is over, when that is due; never raises but for a Ctrl-C.

    Args:
        turn: The turn.
        ports: Its brain.
        message: What the user wrote, without blocks and recall; what a heartbeat or hook was told is nobody's word.
        answer: What was answered.
        calls: The tools that were called; the curator learns their names.
        session: Session of the turn.
        options: Those of the turn; `model` is the reference that it ran on.
        model: What the turn ran on when it was handed in; the curator runs on the same, unless its own role names one.

    Returns:
        None when no flush is due; then nothing has been reported either (FLUSH-O1).
    """
    config = ports.config()
    if not options.flushes or not is_flush_due(turn, config):
        return None
    tools = tuple(dict.fromkeys(call.tool for call in calls))
    said = (
        Spoken(speaker=Speaker.USER, text=strip_injected(message)),
        Spoken(speaker=Speaker.ASSISTANT, text=strip_injected(answer), tools=tools, first=2),
    )
    is_own = _names_model(config)
    shared = replace(options, model=None if is_own else options.model, chat_model=None if is_own else model)
    return flush_transcript(turn, ports, Transcript(turns=said, records=2), session=session, options=shared)


def flush_transcript(
    turn: Turn,
    ports: Ports,
    transcript: Transcript,
    *,
    session: str | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - a frozen value
) -> FlushReport | None:
    """Let the curator read what was said, and report what came of it: as an event, a log line and an audit row.

    Whether the agent asks for it is not looked at here.

    Args:
        turn: Whose turn is read; the curator works in its line.
        ports: Its brain.
        transcript: What was said; of a turn of a heartbeat or hook only what its agent said is read.
        session: Session of the turn; None for a transcript that names none.
        options: A model in it wins over that of the curator's role.

    Returns:
        None when no flush can run (`find_obstacle`), or nothing was said: then nothing is reported (FLUSH-O1).

    Rules: FLUSH-03, FLUSH-04, FLUSH-09, FLUSH-11 to FLUSH-14, FLUSH-O5.
    """
    config = ports.config()
    transcript = leave_prompts(turn.scope, transcript)
    if turn.scope.line is None or find_obstacle(turn, config) is not None or not any(t.text for t in transcript.turns):
        return None
    notes = _Notes()
    message = mask_secrets(_review(turn, ports, transcript, options=options, notes=notes))
    report = FlushReport(
        outcome=FlushOutcome.FAILED if message else notes.outcome,
        line=turn.scope.line,
        writes=tuple(notes.writes),
        message=message,
        usage=notes.usage,
    )
    _tell(turn, ports, report, session=session)
    return report


def leave_prompts(scope: Scope, transcript: Transcript) -> Transcript:
    """Return what was said in a turn: in that of a heartbeat or hook nobody spoke, so its prompt is left out.

    The prompt is a file of the brain, and a hook's holds events; taken for the words of a user, it would be filed as if
    somebody had said it today.

    Rules: FLUSH-04.
    """
    return transcript if scope.heartbeat is None else transcript.unattended()


@dataclass(slots=True)
class _Notes:
    """What the curator did, as it happens: kept also when its turn fails later."""

    writes: list[Mapping[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def outcome(self) -> FlushOutcome:
        """What it came to: a write that was asked for counts, whatever became of it (FLUSH-14)."""
        return FlushOutcome.SAVED if self.writes else FlushOutcome.NOTHING_SAVED

    def take(self, event: RunEvent) -> None:
        """Note an answer of a tool that writes."""
        if isinstance(event, ToolAnswered) and event.tool in TOOLS and TOOLS[event.tool].mutates:
            self.writes.append(_as_verdict(event))


def _as_verdict(answered: ToolAnswered) -> Mapping[str, Any]:
    """Return the verdict of a write; a call that was wrong itself is one that failed."""
    if not answered.has_failed:
        return answered.answer
    error = answered.answer["error"]
    return failed(str(error.get("message", error)) if isinstance(error, dict) else str(error)).to_json()


def _review(turn: Turn, ports: Ports, transcript: Transcript, *, options: RunOptions, notes: _Notes) -> str:
    """Run the curator's turn; return why it failed, '' when it did not."""
    try:
        _run_curator(turn, ports, transcript, options=options, notes=notes)
    except OmnislashError as error:
        return f"{error.message} {error.hint}" if error.hint and error.hint not in error.message else error.message
    except Exception as error:  # noqa: BLE001 - a flush fails no turn, whatever a model or a tool does (FLUSH-O5)
        _LOG.exception("The memory flush broke", extra={"action": "flush_broke", "role": turn.scope.role})
        return f"The flush broke: {type(error).__name__}: {error}".rstrip(".") + "."
    return ""


def _run_curator(turn: Turn, ports: Ports, transcript: Transcript, *, options: RunOptions, notes: _Notes) -> None:
    """Run the curator's turn.

    Raises:
        OmnislashError: The curator's role does not load, or its model gave no answer.
    """
    config = ports.config()
    message = render_flush_message(
        transcript.turns,
        keep=find_keep(turn.scope, config),
        zone=ZoneInfo(config.manifest.locale.timezone),
        skipped=transcript.skipped,
        is_unattended=transcript.is_unattended,
    )
    tree = Tree(_LIMITS.requests)
    quiet = replace(
        _choose_model(turn.scope, config, options),
        on_event=notes.take,
        keeps_session=False,
        flushes=False,
        depth=options.depth + 1,
        limits=_LIMITS,
        tree=tree,
    )
    try:
        run = ports.run_turn(make_curator(turn, config), ports, session=None, message=message, options=quiet)
    finally:
        notes.usage = Usage(requests=tree.used)  # all that is known of the cost of a turn that fails
    notes.usage = run.usage
    if run.is_cancelled:
        raise ModelError("The flush was stopped before the curator was done.")


def make_curator(turn: Turn, config: BrainFiles) -> Turn:
    """Return the turn of the curator of a turn: its role, in that turn's line and with that turn's heartbeat.

    Raises:
        UsageError: The curator's role does not load.

    Rules: FLUSH-04, RESOLVE-02, RESOLVE-10, REPORT-10.
    """
    if CURATOR not in config.roles:
        fault = next((fault for fault in config.faults if _CURATOR_FILE in fault.path), None)
        hint = fault.render() if fault else f"constitution/Agents/system/{_CURATOR_FILE} is missing."
        raise UsageError(f"The role {CURATOR} does not load, so no flush can run.", hint=hint)
    scope = config.resolve_scope(CURATOR, handed=turn.scope.line)
    silent = replace(scope.settings, recall_results=0)
    scope = replace(scope, heartbeat=turn.scope.heartbeat, settings=silent)
    return Turn(scope=scope, capabilities=frozenset(config.roles[CURATOR].capabilities), actor="engine")


def _names_model(config: BrainFiles) -> bool:
    curator = config.roles.get(CURATOR)
    return curator is not None and (curator.model_ref or curator.model) is not None


def _choose_model(scope: Scope, config: BrainFiles, options: RunOptions) -> RunOptions:
    """Return the options with the model that holds: what they name, the curator's own, else the agent's."""
    role = config.roles.get(scope.role)
    if options.model or options.chat_model or _names_model(config) or role is None:
        return options
    return replace(options, model=role.model_ref or role.model)


# -- telling ---------------------------------------------------------------------------------------------------------


def _tell(turn: Turn, ports: Ports, report: FlushReport, *, session: str | None) -> None:
    """Report an outcome in every place that is looked at; a state database that is out of reach stops none of it."""
    scope = turn.scope
    event = MemoryFlushed(
        outcome=report.outcome.value,
        scope=report.line,
        role=scope.role,
        heartbeat_id=scope.heartbeat,
        session=session,
        writes=len(report.writes),
    )
    routing = {"role": scope.role, "heartbeatId": scope.heartbeat, "line": report.line, "session": session}
    extra = {"action": "memory_flushed", "outcome": report.outcome.value, "writes": len(report.writes), **routing}
    _LOG.info("Memory flush finished", extra=extra)
    try:
        _record(scope, ports, report)
        ports.emit(event)
    except OmnislashError as error:
        _LOG.error("a flush could not be noted: %s", error, extra={"action": "flush_unnoted"})


def _record(scope: Scope, ports: Ports, report: FlushReport) -> None:
    """Note the run in the action log; each of its writes has a row of its own."""
    state = ports.state()
    with state.transaction():
        state.run(
            "insert_audit",
            at=ports.clock.now().isoformat(),
            actor="engine",
            role=CURATOR,
            heartbeat=scope.heartbeat,
            tool=FLUSH_TOOL,
            line=report.line,
            paths="[]",
            outcome=report.outcome.value,
            chars=0,
            job=None,
        )
