"""A model whose requests are counted, for its own turn and for every agent above and below."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.models.wrapper import WrapperModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from omnislash.runtime.loop.tree import Tree


class CountedModel(WrapperModel):
    """Asks as long as the tree of agents has requests left."""

    def __init__(self, wrapped: Model, tree: Tree) -> None:
        """Keep the model, and whom its requests are counted for."""
        super().__init__(wrapped)
        self._tree = tree

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Open a stream; UsageLimitExceeded when no request is left, as for the limit of a single turn."""
        if not self._tree.take_request():
            message = "The requests of this turn and of the agents below it are used up."
            raise UsageLimitExceeded(message)
        stream = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with stream as response:
            yield response
