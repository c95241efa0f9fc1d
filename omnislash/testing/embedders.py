"""An embedder without a model: texts that share words lie near each other, and every call is counted."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from typing import TYPE_CHECKING

from omnislash.index.embedders.ports import REFERENCE, Calibration, EmbedderUnavailableError, make_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omnislash.core.languages import Script
    from omnislash.index.embedders.ports import Vectors

#: Places of a vector that one word fills; with eight of 64 two words seldom look alike.
_PLACES_OF_WORD = 8


def _read_everything(script: Script | None, language: str | None) -> bool:  # noqa: ARG001 - what the port hands over
    return True


class CountingEmbedder:
    """Satisfies `omnislash.index.embedders.ports.Embedder`; the same text always has the same vector.

    The cosine of two texts is about the share of words that they have in common, so that the right values of a test can
    be told in advance.
    It can be slow, fail, give fixed vectors, and change its size between two calls, as real ones do.
    """

    window = 256

    def __init__(  # noqa: PLR0913 - each is one thing that a test may want
        self,
        *,
        name: str = "counting",
        dimension: int = 64,
        calibration: Calibration = REFERENCE,
        readable: Callable[[Script | None, str | None], bool] = _read_everything,
        vectors: Mapping[str, Sequence[float]] | None = None,
        delay_s: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make one that answers at once and never fails.

        Args:
            name: Decides the identity: two of one name share a space.
            dimension: Numbers in a vector, > 0; may be changed later.
            calibration: Onto the common scale.
            readable: What `reads` answers.
            vectors: Vectors of certain texts, whole and word for word; brought to unit length.
            delay_s: Seconds that each call takes.
            sleep: What waits for them.
        """
        self.name = name
        self.dimension = dimension
        self.calibration = calibration
        self.reads = readable
        self.delay_s = delay_s
        #: Vectors of certain texts; may be changed between two calls.
        self.vectors = dict(vectors or {})
        #: Texts of every call with notes, in the order of the calls, failed ones included.
        self.passage_calls: list[tuple[str, ...]] = []
        #: Every message that was embedded.
        self.query_calls: list[str] = []
        #: How often `load` was called by a test or by the engine.
        self.loads = 0
        self._sleep = sleep
        self._lock = threading.Lock()
        self._failures: list[EmbedderUnavailableError] = []

    @property
    def identity(self) -> str:
        """Name of the space, by the name alone: a model that changes its size keeps its name, as real ones do."""
        return make_identity(twin=self.name)

    @property
    def calls(self) -> int:
        """How often it was asked for vectors, of notes or of messages."""
        return len(self.passage_calls) + len(self.query_calls)

    @property
    def texts(self) -> int:
        """How many vectors it was asked for."""
        return sum(map(len, self.passage_calls)) + len(self.query_calls)

    def fail(self, times: int = 1, message: str = "The embedder was told to fail.") -> None:
        """Let the next calls fail, `load` among them."""
        with self._lock:
            self._failures += [EmbedderUnavailableError(message) for _ in range(times)]

    def load(self) -> None:
        """Count the call; fail when told to."""
        with self._lock:
            self.loads += 1
        self._begin()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes, shape (n, dimension).

        Raises:
            EmbedderUnavailableError: It was told to fail.
            ValueError: A text is blank, which no caller may hand in.
        """
        import numpy as np  # noqa: PLC0415 - importing omnislash.testing stays cheap

        with self._lock:
            self.passage_calls.append(tuple(texts))
        self._begin()
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message, shape (dimension,); raises what `embed_passages` raises."""
        with self._lock:
            self.query_calls.append(text)
        self._begin()
        return self._embed(text)

    def _begin(self) -> None:
        if self.delay_s:
            self._sleep(self.delay_s)
        with self._lock:
            if self._failures:
                raise self._failures.pop(0)

    def _embed(self, text: str) -> Vectors:
        import numpy as np  # noqa: PLC0415 - as above

        if not text.strip():
            message = "an embedder never gets a blank text"
            raise ValueError(message)
        vector: Vectors = np.zeros(self.dimension, np.float32)
        if text in self.vectors:
            vector += np.asarray(self.vectors[text], np.float32)
        else:
            for word in set(re.findall(r"\w+", text.casefold())) or {text}:
                self._add_word(vector, word)
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit

    @staticmethod
    def _add_word(vector: Vectors, word: str) -> None:
        """Add the word's direction, in place: some places by its hash, up or down by its hash."""
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        for step in range(_PLACES_OF_WORD):
            number = int.from_bytes(digest[step * 3 : step * 3 + 3], "big")
            vector[(number >> 1) % len(vector)] += 1.0 if number & 1 else -1.0
