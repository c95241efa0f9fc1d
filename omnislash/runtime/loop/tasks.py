"""The tool `agent_task`: an agent hands a task to another one, and with it the line that it works in.

What is handed down is the line and the replay, never the lines open for deposits, never what may be read.
The limits of a turn hold for the first agent and all agents below it together: each makes requests as long as some are
left, and all end when the first one's time is over.
The line travels here, in the dispatch; no argument and no text of a model names it.

Rules: DECLARE-15, RESOLVE-02, RESOLVE-11 to RESOLVE-13, RESOLVE-O1, RESOLVE-O2, REPORT-10, BOUNDARY-09.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import OmnislashError, ScopeError
from omnislash.runtime.loop.run_values import RunOptions, Usage
from omnislash.runtime.loop.tree import Tree
from omnislash.runtime.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.models import Model as ChatModel

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.runtime.loop.run_values import Run, ToolAnswered
    from omnislash.runtime.tools.arguments import TaskArguments
    from omnislash.runtime.turns import Ports

#: Name of the tool.
TOOL: Final = "agent_task"
#: How many agents may stand above one another before a task is refused: a chain that is longer goes round in circles.
DEPTH_MOST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the turn of the calling agent shares with its sub-agent."""

    #: How the caller is run.
    options: RunOptions = field(default_factory=RunOptions)
    #: The reference of its model; None for a model that was handed in, and for the offline one.
    reference: str | None = None
    #: The model that was handed in for it; None for one that a reference names.
    model: ChatModel | None = None
    #: True ends the sub-agent's turn with its caller's.
    is_over: Callable[[], bool] = lambda: False
    #: Told what the sub-agent cost.
    on_usage: Callable[[Usage], None] = lambda _usage: None


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What a sub-agent came back with."""

    run: Run

    def to_json(self) -> dict[str, Any]:
        """Return `{role, line, text, calls, cancelled?}`; of each call its tool and what became of it."""
        return {
            "role": self.run.role,
            "line": self.run.line,
            "text": self.run.text,
            "calls": [_summarise(call) for call in self.run.calls],
            **({"cancelled": True} if self.run.is_cancelled else {}),
        }


def _summarise(call: ToolAnswered) -> dict[str, Any]:
    """Return `{tool, outcome}`; the outcome of a tool that gives no verdict is `answered`, of a wrong call `error`."""
    outcome = "error" if call.has_failed else call.answer.get("outcome", "answered")
    paths = call.answer.get("paths")
    return {"tool": call.tool, "outcome": outcome, **({"paths": list(paths)} if paths else {})}


def run_task(turn: Turn, ports: Ports, arguments: TaskArguments, *, caller: Caller | None = None) -> TaskAnswer:
    """Run a sub-agent's turn to its end and return its answer.

    Its conversation is kept nowhere.

    Args:
        turn: The turn of the agent that asks.
        ports: The brain.
        arguments: Who is asked, and for what.
        caller: What that turn shares; None when no model asks.

    Raises:
        UsageError: There is no such role.
        ScopeError: Too many agents stand above it.
        ModelError: Its model gave no answer.

    Rules: DECLARE-15, RESOLVE-02, RESOLVE-11 to RESOLVE-13, RESOLVE-O1, RESOLVE-O2, REPORT-10, BOUNDARY-09.
    """
    caller = caller or Caller(is_over=ports.is_over)
    if caller.options.depth >= DEPTH_MOST:
        message = f"{DEPTH_MOST} agents stand above this one already; do the task yourself."
        raise ScopeError(message)
    config = ports.config()
    sub_turn = make_sub_turn(turn, config, arguments.role)
    options = _make_options(caller, config.find_role(arguments.role))
    tree = options.tree or Tree(options.limits.requests)
    used = tree.used
    try:
        run = ports.run_turn(sub_turn, ports, session=None, message=arguments.task, options=replace(options, tree=tree))
    except OmnislashError:  # what it cost is known in requests alone
        caller.on_usage(Usage(requests=tree.used - used))
        raise
    caller.on_usage(run.usage)
    return TaskAnswer(run)


def make_sub_turn(turn: Turn, config: BrainFiles, role: str) -> Turn:
    """Return the turn of a sub-agent: its own role in the caller's line; audit rows carry the caller's heartbeat.

    Raises:
        UsageError: There is no such role.

    Rules: DECLARE-15, RESOLVE-02, RESOLVE-12, REPORT-10, BOUNDARY-09.
    """
    scope = config.resolve_scope(role, handed=turn.scope.line)
    granted = frozenset(config.find_role(role).capabilities)
    scope = replace(scope, heartbeat=turn.scope.heartbeat)
    return Turn(scope=scope, capabilities=granted, replay=turn.replay, actor=turn.actor)


def _make_options(caller: Caller, role: Role) -> RunOptions:
    """Return how a sub-agent is run: on its own model where its role names one, else on its caller's.

    Its turn is not flushed: its task was written by a model that may have been shown memory, and no user said it.
    """
    own = role.model_ref or role.model
    return replace(
        caller.options,
        model=own or caller.reference,
        chat_model=None if own else caller.model,
        on_event=None,
        is_over=caller.is_over,
        keeps_session=False,
        flushes=False,
        depth=caller.options.depth + 1,
    )
