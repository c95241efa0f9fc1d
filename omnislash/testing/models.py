"""A model that answers as it was told to, remembers what it was asked, and lets something happen meanwhile."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.ladder.summarising import SummaryRequest


class ScriptedModel:
    """Satisfies `omnislash.runtime.models.summarisers.Model`, and stands in for every model of a tick (`Brain.consolidate`).

    Without a script, or after its end, it answers with the first statement of every source and the day of it.
    """

    def __init__(
        self,
        *script: str | BaseException,
        name: str = "scripted",
        during: Callable[[SummaryRequest], object] | None = None,
    ) -> None:
        """Keep the script.

        Args:
            script: Answers in the order of the calls; an exception is raised.
            name: What it is called in messages.
            during: Called with each request before it is answered.
        """
        self.name = name
        #: May be changed between two calls.
        self.during = during
        #: Every request, in the order of the calls.
        self.requests: list[SummaryRequest] = []
        #: Every reference for which it was asked to stand in.
        self.references: list[str | None] = []
        self._script = list(script)
        self._lock = threading.Lock()

    def __call__(self, reference: str | None, config: BrainFiles) -> ScriptedModel:  # noqa: ARG002 - a factory's argument
        """Return itself, whatever model is wanted: hand it to `Brain.consolidate` as `models`."""
        self.references.append(reference)
        return self

    @property
    def periods(self) -> list[str]:
        """Names of the periods that it was asked for, in order."""
        return [request.period.name for request in self.requests]

    def summarise(self, request: SummaryRequest) -> str:
        """Return the next answer, or raise it."""
        with self._lock:
            self.requests.append(request)
            answer = self._script.pop(0) if self._script else digest(request)
        if self.during is not None:
            self.during(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def digest(request: SummaryRequest) -> str:
    """Return the first statement of every source, with its day: the same text for the same sources."""
    stated = ((source, _first_statement(source.text)) for source in request.sources)
    return "\n".join(f"- {text} ({source.first})" for source, text in stated if text) + "\n"


def _first_statement(text: str) -> str:
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")
