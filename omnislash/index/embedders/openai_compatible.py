"""An embedder behind any OpenAI-compatible endpoint: `POST {url}/embeddings`.

A message is held for `QUERY_LIMIT_S` at most, and an endpoint that is dead costs that once and not at every turn.
The key comes in with the endpoint, and stands in no message, log line or identity.

Rules: RECALL-11, RECALL-16, RECALL-O8, KNOB-21.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

from omnislash.index.embedders.answers import BadAnswerError, parse_vectors, read_retry_after, read_words
from omnislash.index.embedders.breaker import PAUSE_S, Breaker
from omnislash.index.embedders.endpoint import KEY, URL
from omnislash.index.embedders.loading import Once
from omnislash.index.embedders.ports import REFERENCE, Calibration, EmbedderUnavailableError, make_identity
from omnislash.index.embedders.preparing import prepare_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from httpx import Client, Response
    from tenacity import RetryCallState

    from omnislash.core.languages import Script
    from omnislash.index.embedders.endpoint import Endpoint
    from omnislash.index.embedders.ports import Vectors

#: Seconds that a message may wait for its vector, all tries together: a turn is held meanwhile.
QUERY_LIMIT_S = 5.0
#: Seconds that one request with notes may take, all tries together: nobody waits for it.
PASSAGES_LIMIT_S = 60.0
#: Texts of a request. The reference endpoint takes 2,048; servers on a machine of one's own are no faster with more.
MOST_TEXTS = 64
#: UTF-8 bytes of a request's texts. A token has at least one byte, so the 300,000 tokens of the reference are never met.
MOST_BYTES = 100_000
#: Bytes of one text: the reference reads 8,191 tokens and refuses a text that has more. A note has about 1,000.
MOST_TEXT_BYTES = 8_191
#: Tries of one request, and the first pause between two in seconds; each further pause is twice as long, up to the last.
_TRIES, _FIRST_PAUSE_S, _LONGEST_WAIT_S = 5, 0.5, 10.0
#: Bytes of an answer: 64 vectors of 4,096 numbers as text have 6 million.
_MOST_ANSWER_BYTES = 64 * 1024 * 1024


class _TryAgainError(EmbedderUnavailableError):
    """A try failed in a way that the next one may not."""

    def __init__(self, message: str, *, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class RefusedError(EmbedderUnavailableError):
    """The endpoint will not embed this, however often it is asked."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The time that an embedder lives in; tests hand in their own."""

    #: Seconds that never run backwards.
    monotonic: Callable[[], float] = time.monotonic
    #: Wait for some seconds.
    sleep: Callable[[float], None] = time.sleep
    #: Seconds that a message, and a request with notes, may take.
    query_limit_s: float = QUERY_LIMIT_S
    passages_limit_s: float = PASSAGES_LIMIT_S


def plan_requests(sizes: Sequence[int]) -> list[range]:
    """Return which texts go into one request, by their sizes in bytes; the order stays."""
    requests: list[range] = []
    total = 0
    for place, size in enumerate(sizes):
        if requests and len(requests[-1]) < MOST_TEXTS and total + size <= MOST_BYTES:
            requests[-1] = range(requests[-1].start, place + 1)
            total += size
        else:
            requests.append(range(place, place + 1))
            total = size
    return requests


def cut_bytes(text: str) -> str:
    """Return the beginning of a text that has `MOST_TEXT_BYTES` at most."""
    prepared = prepare_text(text, limit_chars=MOST_TEXT_BYTES)
    return prepared.encode("utf-8")[:MOST_TEXT_BYTES].decode("utf-8", "ignore")


class OpenAICompatible:
    """Satisfies `ports.Embedder`."""

    #: Tokens: what the reference reads.
    window: ClassVar[int] = MOST_TEXT_BYTES

    def __init__(
        self, model: str, endpoint: Endpoint, *, calibration: Calibration = REFERENCE, timing: Timing | None = None
    ) -> None:
        """Keep who is asked for what; nothing is sent yet.

        Args:
            model: The model's name as the endpoint knows it.
            endpoint: Where, and with which key.
            calibration: Of this model's cosines; the common scale is that of text-embedding-3-small, and another model
                is taken to share it until it is calibrated.
            timing: Clock, pauses and limits; None for the real ones.
        """
        self.name = model
        self.calibration = calibration
        self.identity = make_identity(endpoint=endpoint.url, model=model, cut=MOST_TEXT_BYTES, version=1)
        self._endpoint = endpoint
        self._timing = timing or Timing()
        self._breaker = Breaker(self._timing.monotonic)
        self._client = Once(endpoint.connect)
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """Numbers in the last vector that came; 0 before one came."""
        return self._dimension

    @staticmethod
    def reads(script: Script | None, language: str | None) -> bool:  # noqa: ARG004 - the port asks for both
        """Return True: what the model reads is for those who chose it to know."""
        return True

    def load(self) -> None:
        """Make sure that it can be asked; nothing is sent.

        Raises:
            EmbedderUnavailableError: The key is missing, or the address is none.
        """
        self._client.get()

    def close(self) -> None:
        """Close the connections."""
        with contextlib.suppress(EmbedderUnavailableError):
            self._client.get().close()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes, in their order; all of one length.

        Raises:
            EmbedderUnavailableError: The endpoint does not answer, or answers nonsense; nothing is returned then.
        """
        import numpy as np  # noqa: PLC0415 - only when there is something to embed

        cut = [cut_bytes(text) for text in texts]
        answers = [
            self._ask([cut[place] for place in request], self._timing.passages_limit_s)
            for request in plan_requests([len(text.encode("utf-8")) for text in cut])
        ]
        if not answers:
            return np.empty((0, self._dimension), np.float32)
        sizes = sorted({answer.shape[1] for answer in answers})
        if len(sizes) > 1:
            message = (
                f"{self._say()} changed the size of its vectors while it was asked, from {sizes[0]} to {sizes[-1]}."
            )
            raise EmbedderUnavailableError(message, hint="Ask again.")
        return np.concatenate(answers)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message.

        Raises:
            EmbedderUnavailableError: The endpoint does not answer in time, or answers nonsense.
        """
        vector: Vectors = self._ask([cut_bytes(text)], self._timing.query_limit_s)[0]
        return vector

    def _say(self) -> str:
        return f"The embedding endpoint {self._endpoint.host}"

    def _ask(self, texts: list[str], limit_s: float) -> Vectors:
        """Return the vectors of one request's texts, tried again while there is time."""
        client = self._client.get()
        left = self._breaker.seconds_left()
        if left > 0:
            message = f"{self._breaker.reason} It is asked again in {left:.0f} s."
            raise EmbedderUnavailableError(message)
        try:
            vectors = self._try(client, texts, self._timing.monotonic() + limit_s)
        except _TryAgainError as error:
            self._breaker.trip(error.message, error.wait_s or PAUSE_S)
            raise EmbedderUnavailableError(error.message, hint=f"See that {URL} is right and up.") from error
        except RefusedError:
            self._breaker.close()
            raise
        except EmbedderUnavailableError as error:
            self._breaker.trip(error.message)
            raise
        self._breaker.close()
        self._dimension = int(vectors.shape[1])
        return vectors

    def _try(self, client: Client, texts: list[str], deadline: float) -> Vectors:
        import tenacity  # noqa: PLC0415 - as above

        def wait(state: RetryCallState) -> float:
            asked = _find_wait(state)
            backoff = _FIRST_PAUSE_S * 2.0 ** (state.attempt_number - 1)
            return min(backoff, _LONGEST_WAIT_S) if asked is None else asked

        def is_over(state: RetryCallState) -> bool:
            return state.attempt_number >= _TRIES or self._timing.monotonic() + state.upcoming_sleep >= deadline

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_TryAgainError),
            wait=wait,
            stop=is_over,
            sleep=self._timing.sleep,
            reraise=True,
        )
        return retrying(self._send, client, texts, deadline)

    def _send(self, client: Client, texts: list[str], deadline: float) -> Vectors:
        """Return the vectors of one try."""
        import httpx  # noqa: PLC0415 - as above

        left = max(deadline - self._timing.monotonic(), 0.001)
        asked = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            with client.stream("POST", f"{self._endpoint.url}/embeddings", json=asked, timeout=left) as response:
                body = b"".join(self._read(response, deadline))
        except httpx.TimeoutException as error:
            raise _TryAgainError(f"{self._say()} did not answer in time.") from error
        except (httpx.TransportError, httpx.DecodingError, httpx.InvalidURL) as error:
            raise _TryAgainError(f"{self._say()} can't be reached ({type(error).__name__}).") from error
        self._check_status(response, body)
        try:
            return parse_vectors(body, len(texts))
        except BadAnswerError as error:
            message = f"{self._say()} answered {error.message}."
            raise EmbedderUnavailableError(message, hint=f"See that {URL} serves {self.name!r}.") from error

    def _read(self, response: Response, deadline: float) -> Iterator[bytes]:
        """Yield the parts of an answer while there is time: an endpoint that drips is as dead as one that is silent."""
        total = 0
        for part in response.iter_bytes():
            total += len(part)
            if self._timing.monotonic() >= deadline:
                raise _TryAgainError(f"{self._say()} did not answer in time.")
            if total > _MOST_ANSWER_BYTES:
                raise EmbedderUnavailableError(f"{self._say()} sends an answer without end.")
            yield part

    def _check_status(self, response: Response, body: bytes) -> None:
        """Raise what a status means; return when it is 200."""
        status = response.status_code
        if status == HTTPStatus.OK:
            return
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:  # its words may repeat the key
            message = f"{self._say()} refused the key ({status})."
            raise EmbedderUnavailableError(message, key=KEY, hint=f"See that {KEY} is right.")
        words = read_words(body, self._endpoint.key)
        message = f"{self._say()} answered {status}{f': {words}' if words else ''}."
        if status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS} or status >= 500:  # noqa: PLR2004 - every 5xx
            raise _TryAgainError(message, wait_s=read_retry_after(response.headers))
        if status == HTTPStatus.NOT_FOUND or status < 400:  # noqa: PLR2004 - a redirect is not followed
            raise EmbedderUnavailableError(message, hint=f"See that {URL} is right, and serves {self.name!r}.")
        raise RefusedError(message, hint=f"See that the endpoint serves {self.name!r}.")


def _find_wait(state: RetryCallState) -> float | None:
    """Return the seconds that the endpoint asked to wait; None when it did not."""
    error = state.outcome.exception() if state.outcome is not None else None
    return error.wait_s if isinstance(error, _TryAgainError) else None
