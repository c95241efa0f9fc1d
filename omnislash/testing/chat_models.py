"""A model for turns that answers as it was told to and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as ChatModel
    from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.loop.conversations import Conversation, Speech


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool that the model calls."""

    tool: str
    #: The arguments; a text stands for itself, for arguments that are no JSON.
    arguments: Mapping[str, Any] | str = field(default_factory=dict)

    def to_text(self) -> str:
        """Return the arguments as a model sends them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class ScriptedSilence:
    """The model says nothing more until its turn is ended."""

    #: Seconds after which it goes on all the same, so that no test hangs.
    most_s: float = 60.0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the model was sent in one request."""

    #: The system prompt.
    system: str
    #: Names of the tools that were offered.
    tools: tuple[str, ...]
    #: Everything else, told apart.
    conversation: Conversation
    #: The messages as the library hands them to a model.
    messages: tuple[ModelMessage, ...] = field(repr=False, default=())

    @property
    def message(self) -> str:
        """The newest message of the person, without what stands beside it."""
        return self.conversation.newest.text

    @property
    def opening(self) -> str:
        """What stands beside the newest message: window, recall, withdrawals."""
        return self.conversation.opening

    @property
    def standing(self) -> str:
        """What stands right after the system prompt: MEMORY.md and the ladder."""
        return self.conversation.standing

    @property
    def said(self) -> tuple[Speech, ...]:
        """What was said, oldest first."""
        return self.conversation.said


Part: TypeAlias = "str | ScriptedCall | ScriptedSilence"
Step: TypeAlias = "Part | Sequence[Part] | BaseException | Callable[[ChatRequest], Step]"


class ScriptedChatModel:
    """Stands in for every model of turns: hand it to `ModelOptions(chat=...)`, or `.model` to `RunOptions`.

    A step of the script answers one request: a text, a call (or several, with text and silence between), an exception
    that is raised, or a function from the request to such a step. After its end every request is answered with `Done.`
    """

    def __init__(self, *script: Step, name: str = "scripted", piece: int = 7) -> None:
        """Keep the script.

        Args:
            script: Steps in the order of the requests.
            name: What it is called.
            piece: How many characters come at a time.
        """
        self.name = name
        #: Every request, in the order of asking.
        self.requests: list[ChatRequest] = []
        #: Every reference for which it was asked to stand in.
        self.references: list[str | None] = []
        self._script = list(script)
        self._piece = piece
        self._lock = threading.Lock()

    def __call__(self, reference: str | None, config: BrainFiles) -> ChatModel:  # noqa: ARG002 - a factory's argument
        """Return the model, whatever is wanted."""
        self.references.append(reference)
        return self.model

    @property
    def model(self) -> ChatModel:
        """The model for one turn; all of them play the same script."""
        from pydantic_ai.models.function import FunctionModel  # noqa: PLC0415 - heavy

        return FunctionModel(stream_function=self._answer, model_name=self.name)

    def add(self, *steps: Step) -> None:
        """Add steps at the end of the script."""
        with self._lock:
            self._script += steps

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        import anyio.to_thread  # noqa: PLC0415 - heavy
        from pydantic_ai.models.function import DeltaToolCall  # noqa: PLC0415 - heavy

        request = _read(messages, info)
        with self._lock:
            self.requests.append(request)
            step = self._script.pop(0) if self._script else "Done."
        while callable(step):
            step = await anyio.to_thread.run_sync(step, request)
        if isinstance(step, BaseException):
            raise step
        parts = [step] if isinstance(step, str | ScriptedCall | ScriptedSilence) else step
        for place, part in enumerate(parts):
            if isinstance(part, str):
                for start in range(0, len(part), self._piece):
                    yield part[start : start + self._piece]
            elif isinstance(part, ScriptedSilence):
                await anyio.sleep(part.most_s)
            else:
                call = f"{request.conversation.next_call_id}-{place}"
                yield {place: DeltaToolCall(part.tool, part.to_text(), tool_call_id=call)}


def _read(messages: list[ModelMessage], info: AgentInfo) -> ChatRequest:
    from omnislash.runtime.loop.conversations import read_conversation  # noqa: PLC0415 - not needed before the first request

    tools = tuple(tool.name for tool in info.function_tools)
    return ChatRequest(info.instructions or "", tools, read_conversation(messages), tuple(messages))
