"""An embedder that nobody waits for long: where a person waits for a prompt, words that are found now beat meaning later.

The model is loaded, and asked, in a thread; when its answer is not there in time, the search goes on without it and says so
(RECALL-11, RECALL-12). The thread goes on, so a later question may find the model loaded.

Rules: RECALL-11, RECALL-12, RECALL-O3, RECALL-O8.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Final, TypeVar

from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash.core.languages import Script
    from omnislash.index.embedders.ports import Calibration, Embedder, Vectors

T = TypeVar("T")

_LATE: Final = "there was no time for the model, because a prompt waits; a running worker has it loaded"


class Hurried:
    """Satisfies `ports.Embedder` with another one, for as long as there is time."""

    def __init__(
        self, inner: Embedder, *, patience_s: float, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep the embedder; the time runs from now on.

        Args:
            inner: The embedder.
            patience_s: Seconds from now after which no answer is waited for; 0 = the model is not even loaded.
            monotonic_s: Tells the time.
        """
        self._inner = inner
        self._monotonic_s = monotonic_s
        self._deadline = monotonic_s() + patience_s

    @property
    def name(self) -> str:
        """What people call the model."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._inner.dimension

    @property
    def window(self) -> int:
        """Tokens of a text that are read."""
        return self._inner.window

    @property
    def identity(self) -> str:
        """Name of the space."""
        return self._inner.identity

    @property
    def calibration(self) -> Calibration:
        """How the cosines of the space lie on the common scale."""
        return self._inner.calibration

    def reads(self, script: Script | None, language: str | None) -> bool:
        """Tell whether floors hold for such text."""
        return self._inner.reads(script, language)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes; EmbedderUnavailableError when there is no time for them."""
        return self._wait(lambda: self._inner.embed_passages(texts))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message; EmbedderUnavailableError when there is no time for it."""
        return self._wait(lambda: self._inner.embed_query(text))

    def load(self) -> None:
        """Make ready, for as long as it takes; nothing is begun when there is no time left."""
        if not self._is_late():
            self._inner.load()

    def _is_late(self) -> bool:
        return self._monotonic_s() >= self._deadline

    def _wait(self, work: Callable[[], T]) -> T:
        if self._is_late():
            raise EmbedderUnavailableError(_LATE)
        done: queue.SimpleQueue[T | EmbedderUnavailableError] = queue.SimpleQueue()

        def run() -> None:
            try:
                done.put(work())
            except EmbedderUnavailableError as error:
                done.put(error)

        threading.Thread(target=run, name="omnislash-hurried", daemon=True).start()
        try:
            found = done.get(timeout=max(self._deadline - self._monotonic_s(), 0.001))
        except queue.Empty:
            raise EmbedderUnavailableError(_LATE) from None
        if isinstance(found, EmbedderUnavailableError):
            raise found
        return found
