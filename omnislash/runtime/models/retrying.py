"""A provider's model that is asked again when a request failed before its first word.

The provider libraries' own attempts are switched off (`max_retries` 0), so that their number, their waits and a stop
are in one place.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from pydantic_ai import exceptions as pydantic_errors
from pydantic_ai.models.wrapper import WrapperModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

#: The longest wait that a provider may ask for, in seconds; it is told to the person instead of being waited for.
LONGEST_WAIT_S: Final = 10.0
#: What may be over soon.
_PASSING: Final = (
    pydantic_errors.ModelRateLimitError,
    pydantic_errors.ModelUnavailableError,
    pydantic_errors.ModelServerError,
    pydantic_errors.ModelConnectionError,
)


class RetryingModel(WrapperModel):
    """Asks again after what may be over soon: a rate limit, an overload, a failing server, a lost connection."""

    def __init__(self, wrapped: Model, delays_s: Sequence[float]) -> None:
        """Keep the model, and the waits before each further attempt."""
        super().__init__(wrapped)
        self._delays_s = tuple(delays_s)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Open a stream, several times if need be; once it is open, what happens to it is its own."""
        async with AsyncExitStack() as stack:
            for delay_s in (*self._delays_s, None):
                stream = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
                try:
                    response = await stack.enter_async_context(stream)
                except _PASSING as error:
                    wait_s = _find_wait(error, delay_s)
                    if wait_s is None:
                        raise
                    await asyncio.sleep(wait_s)
                else:
                    break
            yield response


def _find_wait(error: pydantic_errors.ModelAPIError, delay_s: float | None) -> float | None:
    """Return how long to wait before the next attempt; None when there is to be none."""
    if delay_s is None or isinstance(error, pydantic_errors.ModelTimeoutError):
        return None
    asked_s = error.retry_after
    if asked_s is None:
        return delay_s
    return None if asked_s > LONGEST_WAIT_S else max(asked_s, delay_s)
