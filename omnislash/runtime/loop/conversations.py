"""The messages of a model request, told apart: what stands, what opens the turn, who said what.

A turn puts its memory beside the person's words, in contents of their own that carry a mark.
The marks are ours, are kept in a session's rows, and never reach a provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic_ai.messages import (
        ModelMessage,
        TextContent,
        ToolCallPart,
        ToolReturnPart,
        UserContent,
        UserPromptPart,
    )


class Mark(StrEnum):
    """What a text of ours beside a person's words is."""

    #: MEMORY.md and the ladder as they are now; never stored.
    STANDING = "standing"
    #: Says that the oldest turns were left out; never stored.
    SHORTENED = "shortened"
    #: What the turn opens with: window, recall, withdrawals.
    OPENING = "opening"


@dataclass(frozen=True, slots=True)
class Speech:
    """One thing that was said in a conversation."""

    speaker: Literal["user", "assistant", "tool"]
    #: A person's words without what our marks carry; a tool's answer as JSON.
    text: str
    #: Name of the tool of a call or an answer.
    tool: str | None = None
    #: Arguments of a call, or of the call that is answered.
    arguments: Mapping[str, Any] | None = None
    #: Answer of a tool.
    answer: Mapping[str, Any] | None = None
    #: What stood beside the person's words.
    opening: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a model is sent, apart from system prompt and tools."""

    #: Standing blocks; '' for none.
    standing: str = ""
    #: The sentence about turns that were left out; '' when there are all.
    shortened: str = ""
    #: Everything that was said, oldest first, the calls and answers of the newest turn included.
    said: tuple[Speech, ...] = field(default=())

    @property
    def newest(self) -> Speech:
        """The person's newest message; an empty one when there is none."""
        asked = (each for each in reversed(self.said) if each.speaker == "user")
        return next(asked, Speech("user", ""))

    @property
    def next_call_id(self) -> str:
        """An id for the next call: the same in the same conversation, and new in it."""
        return f"call-{len(self.said)}"

    @property
    def opening(self) -> str:
        """What the newest turn opened with."""
        return self.newest.opening


def mend_text(text: str) -> str:
    """Return a text that can be encoded: halves of a character that stand together become it, a lone one U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mark_text(text: str, mark: Mark) -> TextContent:
    """Return a text of ours as a content that carries its mark."""
    from pydantic_ai.messages import TextContent  # noqa: PLC0415 - heavy

    return TextContent(text, metadata=str(mark))


def read_conversation(messages: Iterable[ModelMessage]) -> Conversation:
    """Return the messages of a request, told apart."""
    from pydantic_ai.messages import TextPart, ToolCallPart, ToolReturnPart, UserPromptPart  # noqa: PLC0415 - heavy

    ours = dict.fromkeys(Mark, "")
    said: list[Speech] = []
    calls: dict[str, ToolCallPart] = {}
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, UserPromptPart):
            said += _read_prompt(part, ours)
        elif isinstance(part, ToolReturnPart):
            said.append(_read_answer(part, calls.get(part.tool_call_id)))
        elif isinstance(part, TextPart) and part.content:
            said.append(Speech("assistant", part.content))
        elif isinstance(part, ToolCallPart):
            calls[part.tool_call_id] = part
            said.append(Speech("assistant", "", tool=part.tool_name, arguments=read_arguments(part.args)))
    return Conversation(standing=ours[Mark.STANDING], shortened=ours[Mark.SHORTENED], said=tuple(said))


def _read_prompt(part: UserPromptPart, ours: dict[Mark, str]) -> list[Speech]:
    """Return the message of a prompt, with its opening; note in `ours` what stands."""
    contents: Sequence[UserContent] = [part.content] if isinstance(part.content, str) else part.content
    opening, words = "", []
    for content in contents:
        mark, text = getattr(content, "metadata", None), getattr(content, "content", content)
        if mark in {Mark.STANDING, Mark.SHORTENED}:
            ours[Mark(mark)] = str(text)
        elif mark == Mark.OPENING:
            opening = str(text)
        elif isinstance(text, str):
            words.append(text)
    return [Speech("user", "\n\n".join(words), opening=opening)] if words else []


def _read_answer(part: ToolReturnPart, call: ToolCallPart | None) -> Speech:
    answer = part.content if isinstance(part.content, Mapping) else {"error": {"message": str(part.content)}}
    arguments = read_arguments(call.args) if call else {}
    text = json.dumps(answer, ensure_ascii=False)
    return Speech("tool", text, tool=part.tool_name, arguments=arguments, answer=answer)


def read_arguments(given: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call as the model gave them; what is no JSON object stands under `unreadable`."""
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    try:
        parsed = json.loads(given or "{}")
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"unreadable": given}
