"""A harness command as the model of a turn: one prompt on its standard input, one answer from its standard output.

A command that is to call a tool answers with one JSON object, `{"tool": …, "arguments": {…}}`, and is asked again with
the tool's answer in the conversation.

Rules: issue 4, "Models"; failure case O-35.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from omnislash.runtime.loop.conversations import read_conversation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as ChatModel
    from pydantic_ai.models.function import AgentInfo, DeltaToolCalls
    from pydantic_ai.tools import ToolDefinition

    from omnislash.runtime.loop.conversations import Conversation, Speech

#: Characters of the mark between the parts of a prompt: 48 bits of a hash, so that no text holds it by chance.
_MARK_CHARS: Final = 12
_FENCE: Final = re.compile(r"```[a-z]*\n(.*)\n```", re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TOOLS: Final = (
    "You have tools. To call one, answer with one JSON object and nothing else: "
    '{"tool": "<name>", "arguments": {…}}. Its answer is then added to the conversation and you are asked again. '
    "When you need no tool, answer in plain text."
)
_TASK: Final = "The conversation follows. Write the assistant's next turn, and nothing else."


def make_cli_chat(name: str, ask: Callable[[str], str]) -> ChatModel:
    """Return a command as a model.

    Args:
        name: What it is called, `cli:<name>`.
        ask: Returns the command's answer to a prompt; raises ModelError.
    """
    import anyio.to_thread  # noqa: PLC0415 - heavy
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel  # noqa: PLC0415 - heavy

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        conversation = read_conversation(messages)
        prompt = render_cli_prompt(info.instructions or "", conversation, info.function_tools)
        text = await anyio.to_thread.run_sync(ask, prompt)
        called = parse_call(text) if info.function_tools else None
        if called is None:
            yield text.strip()
        else:
            arguments = json.dumps(called[1], ensure_ascii=False)
            yield {0: DeltaToolCall(called[0], arguments, tool_call_id=conversation.next_call_id)}

    return FunctionModel(stream_function=answer, model_name=name)


def parse_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and the arguments of an answer that is a call and nothing else; None for any other answer."""
    stripped = text.strip()
    fenced = _FENCE.fullmatch(stripped)
    try:
        value = json.loads(fenced[1] if fenced else stripped)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.keys() - {"arguments"} != {"tool"}:
        return None
    arguments = value.get("arguments", {})
    is_call = isinstance(value["tool"], str) and isinstance(arguments, dict)
    return (value["tool"], arguments) if is_call else None


def render_cli_prompt(system: str, conversation: Conversation, tools: Sequence[ToolDefinition]) -> str:
    """Return the whole prompt: system prompt, tools, memory, and the conversation, oldest first.

    Memory and each speech stand behind a line with a mark that occurs in no text of the conversation, so that none can
    pass for another part: neither a note for what the assistant said, nor an answer for what a person said.
    What can't be encoded as UTF-8 stands there as U+FFFD.
    """
    texts = [f"{speech.opening}\n{speech.text}\n{_render_call(speech)}" for speech in conversation.said]
    mark = _find_mark([system, conversation.standing, *texts])
    memory = _render_memory(conversation.standing, mark)
    parts = [system, _render_tools(tools), _TASK, memory, conversation.shortened]
    parts += [_render_speech(speech, mark) for speech in conversation.said]
    parts.append(f"----- assistant [{mark}] -----")
    return _SURROGATE.sub("\ufffd", "\n\n".join(part for part in parts if part) + "\n")


def _render_tools(tools: Sequence[ToolDefinition]) -> str:
    lines = [
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(tool.parameters_json_schema, ensure_ascii=False)}"
        for tool in tools
    ]
    return "\n".join([_TOOLS, *lines]) if lines else ""


def _render_speech(speech: Speech, mark: str) -> str:
    if speech.speaker == "user":
        said = f"----- user [{mark}] -----\n{speech.text}"
        return "\n\n".join(filter(None, (_render_memory(speech.opening, mark), said)))
    if speech.speaker == "tool":
        return f"----- answer of {speech.tool} [{mark}] -----\n{speech.text}"
    if speech.tool is None:
        return f"----- assistant [{mark}] -----\n{speech.text}"
    return f"----- assistant [{mark}] -----\n{_render_call(speech)}"


def _render_call(speech: Speech) -> str:
    if speech.tool is None:
        return ""
    return json.dumps({"tool": speech.tool, "arguments": speech.arguments}, ensure_ascii=False)


def _render_memory(text: str, mark: str) -> str:
    """Return what memory adds, behind a line of its own; '' for nothing."""
    return f"----- memory [{mark}] -----\n{text}" if text else ""


def _find_mark(texts: Sequence[str]) -> str:
    """Return hexadecimal digits that no text holds, the same ones for the same texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
    mark = digest.hexdigest()[:_MARK_CHARS]
    while any(mark in text for text in texts):
        digest.update(mark.encode())
        mark = digest.hexdigest()[:_MARK_CHARS]
    return mark
