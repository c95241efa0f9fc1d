"""The tools of a turn as its model calls them: one after another, in order, each to its end.

Whatever is wrong with a call goes back to the model as `{error: {…}}`; it never ends the turn.

Rules: TOOL-05, TOOL-10, TOOL-11, BOUNDARY-10.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from omnislash.errors import OmnislashError, UsageError
from omnislash.runtime.loop.conversations import read_arguments
from omnislash.runtime.loop.run_values import ToolAnswered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage

    from omnislash.runtime.loop.run_values import RunEvent
    from omnislash.runtime.loop.turn_threads import Stop
    from omnislash.runtime.tools.catalog import Tool

#: Key under which arguments that are no JSON object travel to the tool.
_UNREADABLE: Final = "unreadable"
#: Providers whose protocol always says why an answer ended.
_ENDING: Final = frozenset({"openai", "anthropic"})
_STOPPED: Final = {
    "error": {"kind": "cancelled", "message": "The turn was ended before this tool ran; nothing was done."}
}


class _AnyArguments:
    """Lets every argument through: the catalog judges them, and its sentences are the better ones."""

    def validate_json(self, input: str | bytes | bytearray, **_options: Any) -> dict[str, Any]:  # noqa: A002 - the port's
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        return read_arguments(text)

    def validate_python(self, input: Any, **_options: Any) -> dict[str, Any]:  # noqa: A002 - the port's
        return read_arguments(input)


class CatalogToolset(AbstractToolset[object]):
    """The tools that a turn is offered."""

    def __init__(
        self,
        tools: tuple[Tool, ...],
        call: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
        *,
        tell: Callable[[RunEvent], None],
        stop: Stop,
        most_calls: int,
    ) -> None:
        """Keep them.

        Args:
            tools: What is offered.
            call: Runs a tool by name and returns its answer as JSON has it.
            tell: Told each answer.
            stop: Once it is set, no further tool runs.
            most_calls: How often one tool may be called wrongly in a turn.
        """
        #: What was called and answered, in order.
        self.answers: list[ToolAnswered] = []
        #: True while a tool runs, and for ever after one broke.
        self.is_inside = False
        self._tools = tools
        self._call = call
        self._tell = tell
        self._stop = stop
        self._most = most_calls

    @property
    def id(self) -> str:
        """Name of the set."""
        return "omnislash"

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:  # noqa: ARG002 - the port's
        """Return what the model is told about each."""
        return {tool.name: self._describe(tool) for tool in self._tools}

    def _describe(self, tool: Tool) -> ToolsetTool[object]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.arguments.model_json_schema(by_alias=True),
            sequential=True,
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=self._most, args_validator=_AnyArguments())

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[object],
        tool: ToolsetTool[object],  # noqa: ARG002 - the port's
    ) -> dict[str, Any]:
        """Run a tool to its end, whoever wants to stop meanwhile, and return its answer.

        Raises:
            ModelConnectionError: The stream ended before the answer that calls it was complete; nothing is run.
        """
        check_complete(ctx.messages[-1])
        with self._stop.hold():
            answer = await self._answer(name, tool_args)
        self.note(ToolAnswered(ctx.tool_call_id or "", name, tool_args, answer))
        return dict(answer)

    async def _answer(self, name: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        if self._stop.is_set():
            return _STOPPED
        if arguments.keys() == {_UNREADABLE}:
            return _refuse(name)
        self.is_inside = True
        try:
            answer = await anyio.to_thread.run_sync(self._call, name, arguments)
        except OmnislashError as error:
            answer = {"error": error.to_json()}
        self.is_inside = False
        return answer

    def note(self, answered: ToolAnswered) -> None:
        """Keep and tell an answer."""
        self.answers.append(answered)
        self._tell(answered)


def _refuse(name: str) -> dict[str, Any]:
    error = UsageError(f"{name}: the arguments are not one JSON object; nothing was done. Send them again.", key=name)
    return {"error": error.to_json()}


def check_complete(message: ModelMessage) -> None:
    """Raise ModelConnectionError when a stream ended in good order, but before its provider said that this is all."""
    if not isinstance(message, ModelResponse) or message.provider_name not in _ENDING:
        return
    if message.finish_reason is None:
        text = "The stream ended before the answer was complete."
        raise ModelConnectionError(message.model_name or "", text, phase="read", in_stream=True)


def explain_rejection(content: object) -> dict[str, Any]:
    """Return the answer to a call that never reached a tool, such as one of a tool that is not offered."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    return {"error": UsageError(text).to_json()}
