"""What the offline model of turns is asked, and what it can answer: values."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One piece of a conversation: what a person said, what was answered, or a tool that was called."""

    role: Literal["user", "assistant", "tool"]
    #: What was said, without the blocks of the turn; '' for a tool.
    text: str = ""
    #: Name of the tool that was called.
    tool: str | None = None
    #: What it was called with.
    arguments: Mapping[str, Any] | None = None
    #: What it answered, or `{error: {…}}`.
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineRequest:
    """One request of the loop: all that the model sees."""

    #: Newest message, as a person or a heartbeat wrote it.
    message: str
    #: System prompt.
    system: str = ""
    #: Blocks and recall: those that stand, and those of the newest turn.
    context: str = ""
    #: The conversation, oldest first. Its last piece of a user is `message`; the tools called since then follow it.
    history: tuple[Said, ...] = ()
    #: Names of the tools that are granted.
    tools: tuple[str, ...] = ()
    #: `flush` for a curator's turn; '' lets the marker in the message decide.
    role_hint: str = ""


@dataclass(frozen=True, slots=True)
class OfflineCall:
    """A tool that the model calls."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


#: The steps of one turn: yields the tools it calls, is sent their answers, and returns the answer of the turn.
Script: TypeAlias = Generator[OfflineCall, Mapping[str, Any], str]
