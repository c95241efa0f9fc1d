"""A provider's model as the writer of summaries.

Rules: PERIOD-15, PERIOD-O9.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from omnislash.errors import ModelError, OmnislashError
from omnislash.runtime.ladder.summarising import render_prompt
from omnislash.runtime.loop import model_turns
from omnislash.runtime.loop.run_values import RunLimits
from omnislash.runtime.loop.tool_loop import CatalogToolset
from omnislash.runtime.loop.turn_threads import run_in_thread
from omnislash.runtime.models.chat_models import resolve_chat_model
from omnislash.runtime.models.provider_errors import explain_failure
from omnislash.runtime.models.references import name_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.ladder.summarising import SummaryRequest
    from omnislash.runtime.loop.model_turns import Spoken
    from omnislash.runtime.loop.run_values import RunEvent
    from omnislash.runtime.loop.turn_threads import Stop


class ProviderModel:
    """Satisfies `omnislash.runtime.models.summarisers.Model` with the model of a provider."""

    def __init__(
        self,
        reference: str,
        config: BrainFiles,
        *,
        environment: Mapping[str, str],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Keep the model.

        Args:
            reference: A name of `models:`, or a model string.
            config: Holds the models.
            environment: Variables of the provider.
            is_over: True once nobody waits for the answer any more.

        Raises:
            ModelError: Nothing is called so, its package is not installed, or its key is missing.
        """
        self.name = name_model(reference, config)
        self._environment = environment
        self._is_over = is_over
        self._model = resolve_chat_model(reference, config, environment=environment, is_over=is_over)

    def summarise(self, request: SummaryRequest) -> str:
        """Return what the model answers to the prompt of a request.

        Raises:
            ModelError: It gave no answer; one sentence says why.
        """
        work = partial(self._ask, render_prompt(request))
        try:
            spoken = run_in_thread(work, on_event=None, is_over=self._is_over, is_late=lambda: False)
        except OmnislashError:
            raise
        except Exception as error:  # noqa: BLE001 - a provider's library raises what it likes; it becomes one sentence
            raise explain_failure(error, self.name, self._environment) from None
        if spoken.is_stopped:
            message = f"{self.name} was stopped, because nobody waits for it any more."
            raise ModelError(message)
        return spoken.text

    def _ask(self, prompt: str, tell: Callable[[RunEvent], None], stop: Stop) -> Spoken:
        question = model_turns.Question(system="", history=(), opening="", message=prompt)
        nothing = CatalogToolset((), lambda _name, _arguments: {}, tell=tell, stop=stop, most_calls=1)
        return model_turns.converse(self._model, question, nothing, limits=RunLimits(), tell=tell, stop=stop)
