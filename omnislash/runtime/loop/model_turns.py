"""One turn of a model with its tools, as it streams: what was said, which tools were called, what is kept of it.

A turn that is ended early leaves a history that any model can go on from: every tool call in it has its answer, and
what a tool did is told even when the model never heard of it.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic_ai import Agent as ModelAgent
from pydantic_ai import exceptions as errors
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from omnislash.runtime.loop.conversations import Mark, mark_text, mend_text, read_arguments
from omnislash.runtime.loop.run_values import TextSaid, ToolAnswered, ToolCalled, Usage
from omnislash.runtime.loop.tool_loop import check_complete, explain_rejection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pydantic_ai.agent import AgentRunEvents
    from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelRequestPart, ModelResponsePart, UserContent
    from pydantic_ai.models import Model as ChatModel
    from pydantic_ai.run import AgentRunResultEvent

    from omnislash.runtime.loop.run_values import RunEvent, RunLimits
    from omnislash.runtime.loop.tool_loop import CatalogToolset
    from omnislash.runtime.loop.turn_threads import Stop


#: Told behind an answer that reached the model's length limit; it is not kept.
CUT_OFF: Final = "\n\n(The answer was cut off here: it reached the model's length limit.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked."""

    #: The system prompt; '' for none.
    system: str
    #: What goes before the newest message, oldest first.
    history: tuple[ModelMessage, ...]
    #: What our marks carry beside the newest message; '' for nothing.
    opening: str
    #: The newest message, as the person wrote it.
    message: str

    def render(self) -> list[UserContent]:
        """Return the contents of the newest message."""
        message = mark_text(self.message, Mark.MESSAGE)
        return [mark_text(self.opening, Mark.OPENING), message] if self.opening else [message]


def make_preface(ours: Mapping[Mark, str]) -> list[ModelMessage]:
    """Return what goes before a session's history in every request and is never stored; nothing for empty texts."""
    contents: list[UserContent] = [mark_text(text, mark) for mark, text in ours.items() if text]
    return [ModelRequest(parts=[UserPromptPart(contents)])] if contents else []


@dataclass(slots=True)
class Spoken:
    """What came of it."""

    #: The answer; of a turn that was ended early what had come in of it.
    text: str = ""
    #: What the session keeps.
    messages: list[ModelMessage] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    #: True when it was ended early.
    is_stopped: bool = False


def converse(
    model: ChatModel,
    question: Question,
    toolset: CatalogToolset,
    *,
    limits: RunLimits,
    tell: Callable[[RunEvent], None],
    stop: Stop,
) -> Spoken:
    """Return what a model answers, its tools run; in an event loop of its own.

    Raises:
        Exception: What the model or its provider's library raises; nothing has been stored then.
    """
    return asyncio.run(_Talk(model, question, toolset, limits, tell, stop).run())


class _Talk:
    """One turn as it streams."""

    def __init__(  # noqa: PLR0917 - what a turn consists of
        self,
        model: ChatModel,
        question: Question,
        toolset: CatalogToolset,
        limits: RunLimits,
        tell: Callable[[RunEvent], None],
        stop: Stop,
    ) -> None:
        self._model = model
        self._question = question
        self._toolset = toolset
        self._limits = limits
        self._tell = tell
        self._stop = stop
        self._spoken = Spoken()
        #: First half of a character whose second half comes with the next piece.
        self._half = ""

    async def run(self) -> Spoken:
        agent = ModelAgent(
            self._model,
            name="omnislash",
            instructions=self._question.system or None,
            toolsets=[self._toolset],
            retries={"tools": self._limits.requests, "output": 0},
            model_settings=make_settings(self._limits),
        )
        turn = agent.run_stream_events(
            self._question.render(),
            message_history=list(self._question.history),
            usage_limits=UsageLimits(request_limit=self._limits.requests),
        )
        with quote_as_it_is():
            async with self._model, turn as events:
                self._stop.bind(events.cancel)
                try:
                    await self._listen(events)
                except errors.RunCancelled as ended:
                    self._keep(ended.new_messages(), is_stopped=True)
        return self._spoken

    async def _listen(self, events: AgentRunEvents[str]) -> None:
        async for event in events:
            self._take(event)
        result = events.result
        if result is None:
            return
        check_complete(result.response)
        self._spoken.text = mend_text(result.output)
        if result.response.finish_reason == "content_filter":
            raise errors.ContentFilterError("half of an answer")
        if result.response.finish_reason == "length":
            self._say(CUT_OFF)
        self._keep(result.new_messages(), is_stopped=False)

    def _take(self, event: AgentStreamEvent | AgentRunResultEvent[str]) -> None:
        if isinstance(event, PartStartEvent):
            if event.index == 0:  # a new response begins
                self._spoken.text = ""
            if isinstance(event.part, TextPart):
                self._say(event.part.content)
        elif isinstance(event, PartDeltaEvent):
            if isinstance(event.delta, TextPartDelta):
                self._say(event.delta.content_delta)
        elif isinstance(event, FunctionToolCallEvent):
            part = event.part
            self._tell(ToolCalled(part.tool_call_id, part.tool_name, read_arguments(part.args)))
        elif isinstance(event, FunctionToolResultEvent):
            self._note_rejection(event.part)
            self._stop.deliver()

    def _say(self, text: str) -> None:
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = mend_text(text)
        if text:
            self._spoken.text += text
            self._tell(TextSaid(text))

    def _note_rejection(self, part: ToolReturnPart) -> None:
        """Keep the answer to a call that never reached the toolset."""
        if part.outcome == "retried":
            answer = explain_rejection(part.content)
            self._toolset.note(ToolAnswered(part.tool_call_id, part.tool_name, {}, answer))

    def _keep(self, messages: Sequence[ModelMessage], *, is_stopped: bool) -> None:
        self._spoken.is_stopped = is_stopped
        self._spoken.usage = count_usage(messages)
        asked = messages or [ModelRequest(parts=[UserPromptPart(self._question.render())])]
        answers = {answered.call: answered.answer for answered in self._toolset.answers}
        self._spoken.messages = close_messages(asked, answers)


def make_settings(limits: RunLimits) -> ModelSettings:
    """Return how each request is sent: within its time, from the provider's cache where it has one, tried by us only.

    The library adds nothing to the system prompt: what a text of others is, the memory module and the blocks say.
    """
    return ModelSettings(
        request_timeout=limits.request_s,
        timeout=limits.request_s,
        max_retries=0,
        cache=True,
        framing_announcement="never",
    )


def quote_as_it_is() -> AbstractContextManager[None]:
    """Return a context in which the library sends no messages of its own about texts that look like its tags.

    It would otherwise put a system message beside every note, message or tool answer with such a text in it: then what a
    note says would change what the system says, from turn to turn (ENVELOPE-12), and who wrote it would be told wrongly.
    The setting `framing_announcement` leaves these messages in, and the library has no public switch for them; this one
    is what it uses itself for texts that are read rather than followed.
    A version of the library that lacks it has no such messages, or is found out by the tests.
    """
    try:
        from pydantic_ai._framing import second_model_prompt  # noqa: PLC0415 - not in every version
    except ImportError:
        return nullcontext()
    return second_model_prompt()


# -- what is kept ----------------------------------------------------------------------------------------------------


def close_messages(messages: Iterable[ModelMessage], answers: Mapping[str, Mapping[str, object]]) -> list[ModelMessage]:
    """Return messages in which every tool call is answered, also when the turn was ended in their midst.

    Args:
        messages: What a turn has added.
        answers: What the tools answered, by the id of the call; a call that never ran is taken out.
    """
    closed: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            _close_response(closed, message, answers)
        else:
            _close_request(closed, message)
    return closed


def _close_response(
    closed: list[ModelMessage], response: ModelResponse, answers: Mapping[str, Mapping[str, object]]
) -> None:
    parts = [part for part in response.parts if _is_kept(part, response, answers)]
    if not parts:
        return
    closed.append(replace(response, parts=parts, state="complete"))
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    if calls:
        returns: list[ModelRequestPart] = [
            ToolReturnPart(call.tool_name, dict(answers[call.tool_call_id]), call.tool_call_id) for call in calls
        ]
        closed.append(ModelRequest(parts=returns))


def _is_kept(part: ModelResponsePart, response: ModelResponse, answers: Mapping[str, Mapping[str, object]]) -> bool:
    if isinstance(part, ToolCallPart):
        return part.tool_call_id in answers
    if isinstance(part, TextPart):
        return bool(part.content)
    return not (isinstance(part, ThinkingPart) and response.state == "interrupted")  # half a thought has no signature


def _close_request(closed: list[ModelMessage], request: ModelRequest) -> None:
    """Keep what is no answer of a tool; those stand behind their calls already."""
    parts = [part for part in request.parts if not isinstance(part, ToolReturnPart)]
    if parts:
        closed.append(replace(request, parts=parts, state="complete"))


# -- what it cost ----------------------------------------------------------------------------------------------------


def count_usage(messages: Iterable[ModelMessage]) -> Usage:
    """Return what the responses cost, as far as their providers say."""
    total = Usage()
    for message in messages:
        if isinstance(message, ModelResponse):
            total = add_usage(total, _count_response(message))
    return total


def _count_response(response: ModelResponse) -> Usage:
    if response.provider_name is None:  # a model of ours: its library only guesses
        return Usage(requests=1)
    tokens = response.usage
    known = tokens.has_values()
    return Usage(
        requests=1,
        input_tokens=tokens.input_tokens if known else None,
        output_tokens=tokens.output_tokens if known else None,
        cost_usd=_find_price(response) if known else None,
    )


def _find_price(response: ModelResponse) -> float | None:
    if response.usage.cost is not None:
        return float(response.usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def add_usage(first: Usage, second: Usage) -> Usage:
    """Return what both cost; a figure that one of them lacks is not known, unless that one asked nothing."""
    if not first.requests:
        return second
    if not second.requests:
        return first
    return Usage(
        requests=first.requests + second.requests,
        input_tokens=_add(first.input_tokens, second.input_tokens),
        output_tokens=_add(first.output_tokens, second.output_tokens),
        cost_usd=_add(first.cost_usd, second.cost_usd),
    )


N = TypeVar("N", int, float)


def _add(first: N | None, second: N | None) -> N | None:
    return None if first is None or second is None else first + second
