"""The offline model as the model of a turn: fixed rules, no network, no key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from omnislash.brain.config import OFFLINE
from omnislash.runtime.loop.conversations import read_conversation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as ChatModel
    from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

    from omnislash.runtime.loop.conversations import Conversation, Speech
    from omnislash.runtime.offline.requests import OfflineRequest, Said

#: What an empty answer of the rules becomes: a turn always ends in words.
_NOTHING: Final = "(The offline model has nothing to say to this.)"


def make_offline_chat() -> ChatModel:
    """Return the offline model."""
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel  # noqa: PLC0415 - heavy

    from omnislash.runtime.offline.turns import OfflineCall, answer_turn  # noqa: PLC0415 - not needed elsewhere

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        conversation = read_conversation(messages)
        tools = tuple(tool.name for tool in info.function_tools)
        said = answer_turn(make_request(conversation, system=info.instructions or "", tools=tools))
        if isinstance(said, OfflineCall):
            arguments = json.dumps(dict(said.arguments), ensure_ascii=False)
            yield {0: DeltaToolCall(said.tool, arguments, tool_call_id=conversation.next_call_id)}
        else:
            yield said or _NOTHING

    return FunctionModel(stream_function=answer, model_name=OFFLINE)


def make_request(conversation: Conversation, *, system: str, tools: tuple[str, ...]) -> OfflineRequest:
    """Return a model request in the offline model's terms."""
    from omnislash.runtime.offline.requests import OfflineRequest  # noqa: PLC0415 - not needed elsewhere

    context = [conversation.standing, conversation.opening]
    return OfflineRequest(
        message=conversation.newest.text,
        system=system,
        context="\n\n".join(part for part in context if part),
        history=tuple(_translate(speech) for speech in conversation.said if not _is_call(speech)),
        tools=tools,
    )


def _is_call(speech: Speech) -> bool:
    """Tell whether it is a call; its answer tells it again."""
    return speech.speaker == "assistant" and speech.tool is not None


def _translate(speech: Speech) -> Said:
    from omnislash.runtime.offline.requests import Said  # noqa: PLC0415 - as above

    if speech.speaker == "tool":
        return Said(role="tool", tool=speech.tool, arguments=speech.arguments, answer=speech.answer)
    return Said(role=speech.speaker, text=speech.text)
