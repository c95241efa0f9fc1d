"""The messages of a model request, told apart: what stands, what opens the turn, who said what.

A turn puts its memory beside the person's words, each in a content of its own that carries a mark.
The marks are ours, are kept in a session's rows, and never reach a provider.
What a library adds to a request carries none, and so is taken for nobody's words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from pydantic_ai.messages import (
        ModelMessage,
        TextContent,
        ToolCallPart,
        ToolReturnPart,
        UserContent,
        UserPromptPart,
    )


class Mark(StrEnum):
    """What a text of a user message is."""

    #: MEMORY.md and the ladder as they are now; never stored.
    STANDING = "standing"
    #: Says that the oldest turns were left out; never stored.
    SHORTENED = "shortened"
    #: What the turn opens with: window, recall, withdrawals.
    OPENING = "opening"
    #: A person's words.
    MESSAGE = "message"


_MARKS = frozenset(Mark)


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
    """Return a text as a content that carries its mark."""
    from pydantic_ai.messages import TextContent  # noqa: PLC0415 - heavy

    return TextContent(text, metadata=str(mark))


def read_conversation(messages: Iterable[ModelMessage]) -> Conversation:
    """Return the messages of a request, told apart; where a message carries its mark, those without are passed over."""
    from pydantic_ai.messages import TextPart, ToolCallPart, ToolReturnPart, UserPromptPart  # noqa: PLC0415 - heavy

    messages = tuple(messages)
    words = {Mark.MESSAGE} if _has_marked_message(messages) else {Mark.MESSAGE, None}
    ours = dict.fromkeys(Mark, "")
    said: list[Speech] = []
    calls: dict[str, ToolCallPart] = {}
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, UserPromptPart):
            said += _read_prompt(part, ours, words)
        elif isinstance(part, ToolReturnPart):
            said.append(_read_answer(part, calls.get(part.tool_call_id)))
        elif isinstance(part, TextPart) and part.content:
            said.append(Speech("assistant", part.content))
        elif isinstance(part, ToolCallPart):
            calls[part.tool_call_id] = part
            said.append(Speech("assistant", "", tool=part.tool_name, arguments=read_arguments(part.args)))
    return Conversation(standing=ours[Mark.STANDING], shortened=ours[Mark.SHORTENED], said=tuple(said))


def _has_marked_message(messages: Iterable[ModelMessage]) -> bool:
    from pydantic_ai.messages import UserPromptPart  # noqa: PLC0415 - heavy

    prompts = (part for message in messages for part in message.parts if isinstance(part, UserPromptPart))
    return any(mark == Mark.MESSAGE for part in prompts for mark, _ in _read_contents(part))


def _read_contents(part: UserPromptPart) -> Iterable[tuple[Mark | None, str]]:
    """Yield the texts of a prompt, each with the mark that it carries."""
    contents: Sequence[UserContent] = [part.content] if isinstance(part.content, str) else part.content
    for content in contents:
        mark, text = getattr(content, "metadata", None), getattr(content, "content", content)
        if isinstance(text, str):
            yield (Mark(mark) if isinstance(mark, str) and mark in _MARKS else None), text


def _read_prompt(part: UserPromptPart, ours: dict[Mark, str], words: Container[Mark | None]) -> list[Speech]:
    """Return the message of a prompt, with its opening; note in `ours` what stands.

    Args:
        part: The prompt.
        ours: Filled with the texts that stand.
        words: Marks of what a person said; None among them for a text without one.
    """
    opening, said = "", []
    for mark, text in _read_contents(part):
        if mark in words:
            said.append(text)
        elif mark is Mark.OPENING:
            opening = text
        elif mark is not None:
            ours[mark] = text
    return [Speech("user", "\n\n".join(said), opening=opening)] if said else []


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
