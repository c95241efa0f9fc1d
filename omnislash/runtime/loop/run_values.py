"""What a turn with a model is asked, what it says while it runs, and what came of it: values, and their JSON.

Rules: FLUSH-11, FLUSH-13, FLUSH-14, FLUSH-O5, BOUNDARY-09; interface.md, "Command line" and "Embedding the engine".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_ai.models import Model as ChatModel

    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.loop.tree import Tree


# -- while it runs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextSaid:
    """A piece of the answer, as it comes in."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model calls a tool."""

    #: Id of the call within the turn.
    call: str
    tool: str
    #: As the model gave them.
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool answered."""

    #: Id of the call within the turn.
    call: str
    tool: str
    arguments: Mapping[str, Any]
    #: What the model was told: the tool's answer, or `{error: {…}}`.
    answer: Mapping[str, Any]

    @property
    def has_failed(self) -> bool:
        """Tell whether the call itself was wrong: no such tool, bad arguments, not allowed."""
        return "error" in self.answer

    def to_json(self) -> dict[str, Any]:
        """Return `{tool, arguments, answer}`."""
        return {"tool": self.tool, "arguments": dict(self.arguments), "answer": dict(self.answer)}


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """The answer is complete; what follows is housekeeping such as the flush (FLUSH-O5)."""

    text: str


RunEvent = TextSaid | ToolCalled | ToolAnswered | AnswerEnded


# -- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Where a turn is ended although the model would go on."""

    #: Requests to models in one turn: tool rounds and those of its sub-agents included, its flush not.
    requests: int = 40
    #: Seconds for one request.
    request_s: float = 300.0
    #: Seconds for the whole turn, its sub-agents included.
    turn_s: float = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a turn is run."""

    #: Reference of a model in place of the role's own; None = the role's.
    model: str | None = None
    #: A model in place of all of that; for the turn of a sub-agent or curator that shares its caller's.
    chat_model: ChatModel | None = None
    #: Told what happens, in the thread of the caller.
    on_event: Callable[[RunEvent], None] | None = None
    #: Asked now and then: True ends the turn as if it was cancelled.
    is_over: Callable[[], bool] = lambda: False
    #: False keeps neither messages nor ledger: a turn of its own, such as a curator's.
    keeps_session: bool = True
    #: False never flushes this turn (FLUSH-O6).
    flushes: bool = True
    #: How many agents are above this one: 0 for the first, 1 for its sub-agent.
    depth: int = 0
    limits: RunLimits = RunLimits()
    #: What the agents of one turn share; None for the first of them, whose limits hold for all.
    tree: Tree | None = None


# -- what came of it -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a turn cost, as far as the provider says."""

    #: Requests to the model.
    requests: int = 0
    #: Tokens in and out; None where the provider gives no figure.
    input_tokens: int | None = None
    output_tokens: int | None = None
    #: Price in US dollars; None where it is not known.
    cost_usd: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{requests, inputTokens, outputTokens, costUsd}`; null where a figure is not known."""
        return {
            "requests": self.requests,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "costUsd": self.cost_usd,
        }


class FlushOutcome(StrEnum):
    """What a flush came to (FLUSH-13, FLUSH-O1)."""

    SAVED = "saved"
    NOTHING_SAVED = "nothing_saved"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushReport:
    """What a flush did."""

    outcome: FlushOutcome
    #: The line that it wrote into.
    line: str
    #: Verdicts of the writes that the curator asked for, as the tools answer them.
    writes: tuple[Mapping[str, Any], ...] = ()
    #: Why it failed; '' otherwise.
    message: str = ""
    #: What the curator's turn cost; it is no part of the usage of the turn that it read.
    usage: Usage = field(default_factory=Usage)

    def to_json(self) -> dict[str, Any]:
        """Return `{outcome, line, writes, usage, message?}`."""
        said = {"message": self.message} if self.message else {}
        return {
            "outcome": self.outcome.value,
            "line": self.line,
            "writes": [dict(each) for each in self.writes],
            "usage": self.usage.to_json(),
            **said,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A turn with a model, ended."""

    session: str
    role: str
    #: The line it worked in; None without memory.
    line: str | None
    #: What the model is called.
    model: str
    #: The answer; of a cancelled turn what had come in.
    text: str
    #: The tools that were called, in order, with their answers.
    calls: tuple[ToolAnswered, ...] = ()
    #: What it cost, its sub-agents included; its flush has a usage of its own.
    usage: Usage = field(default_factory=Usage)
    #: What memory the turn carried.
    delivery: Delivery | None = None
    #: True when it was cancelled: what was said and done until then is kept.
    is_cancelled: bool = False
    #: None when no flush ran.
    flush: FlushReport | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{session, role, line, model, text, calls, usage, cancelled, recall?, flush?}`."""
        recall = self.delivery.recall if self.delivery else None
        return {
            "session": self.session,
            "role": self.role,
            "line": self.line,
            "model": self.model,
            "text": self.text,
            "calls": [call.to_json() for call in self.calls],
            "usage": self.usage.to_json(),
            "cancelled": self.is_cancelled,
            **({"recall": recall.to_json()} if recall else {}),
            **({"flush": self.flush.to_json()} if self.flush else {}),
        }
