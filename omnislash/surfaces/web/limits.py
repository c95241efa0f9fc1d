"""How much and how fast one caller may send."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import math
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from omnislash.surfaces.web.answers import answer, read_headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Callers whose rate is remembered at a time; the one not seen for longest is forgotten, which gives it a new start.
_CALLERS = 4096
#: The digits of a Content-Length that can still be meant.
_LENGTH_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a door accepts."""

    #: Bytes that the body of a request may have: 4 MiB, as the MCP SDK has it, more than any file of a line needs.
    body_bytes: int = 4 * 1024 * 1024
    #: Seconds within which a body has to arrive.
    body_s: float = 30.0
    #: Requests a second that one caller may send for long; a page of the dashboard takes about five.
    rate: float = 100.0
    #: Requests that one caller may send at once after a pause.
    burst: int = 500


class SizeGuard:
    """Reads the body before the application does, and answers 413 when it is too large and 408 when it is too slow."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        """Guard an application."""
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_bytes(scope) > self._limits.body_bytes:
            await self._refuse_size(scope, send)
            return
        try:
            async with asyncio.timeout(self._limits.body_s):
                messages = await self._read(receive)
        except TimeoutError:
            text = f"The body did not arrive within {self._limits.body_s:g} seconds; nothing was done."
            await answer(scope, send, HTTPStatus.REQUEST_TIMEOUT, text, headers=[(b"connection", b"close")])
            return
        if messages is None:
            await self._refuse_size(scope, send)
            return
        await self._app(scope, _replay(messages, receive), send)

    async def _refuse_size(self, scope: Scope, send: Send) -> None:
        text = f"The body of a request may have at most {self._limits.body_bytes} bytes; nothing was done."
        await answer(scope, send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)

    async def _read(self, receive: Receive) -> deque[Message] | None:
        """Return the body as one message, and a disconnect that cut it short; None when it is too large."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return deque([{"type": "http.request", "body": bytes(body), "more_body": True}, message])
            body += message.get("body", b"")
            if len(body) > self._limits.body_bytes:
                return None
            if not message.get("more_body", False):
                return deque([{"type": "http.request", "body": bytes(body), "more_body": False}])


def _declared_bytes(scope: Scope) -> int:
    """Return the largest Content-Length; 0 when there is none that can be read, since the bytes are counted anyway."""
    lengths = [value.strip() for value in read_headers(scope, b"content-length")]
    return max((int(text[:_LENGTH_DIGITS]) for text in lengths if text.isascii() and text.isdigit()), default=0)


def _replay(messages: deque[Message], receive: Receive) -> Receive:
    async def replay() -> Message:
        return messages.popleft() if messages else await receive()

    return replay


class Buckets:
    """One bucket of tokens for each caller: it fills by time, and every request takes one out."""

    def __init__(self, *, rate: float, burst: int, monotonic: Callable[[], float]) -> None:
        """Keep what every bucket has: tokens a second, and how many it holds."""
        self._rate, self._burst = rate, float(burst)
        self._monotonic = monotonic
        #: Caller → tokens left, and when that was true; the one seen last at the end.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take a token out; return 0 when there was one, else the seconds until there is."""
        now = self._monotonic()
        left, since = self._buckets.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        return wait


class RateGuard:
    """Answers 429 with `Retry-After` to a caller that sends too many requests."""

    def __init__(self, app: ASGIApp, limits: Limits, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Guard an application; `monotonic` returns seconds that never run backwards."""
        self._app = app
        self._buckets = Buckets(rate=limits.rate, burst=limits.burst, monotonic=monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        wait = self._buckets.take(name_caller(scope)) if scope["type"] == "http" else 0.0
        if wait:
            await refuse_rate(scope, send, wait, "Too many requests came from this address; nothing was done.")
        else:
            await self._app(scope, receive, send)


async def refuse_rate(scope: Scope, send: Send, wait: float, text: str) -> None:
    """Answer 429 and say how many seconds to wait."""
    retry = (b"retry-after", str(max(1, math.ceil(wait))).encode())
    await answer(scope, send, HTTPStatus.TOO_MANY_REQUESTS, text, headers=[retry])


def name_caller(scope: Scope) -> str:
    """Return the address a request came from; of IPv6 the network, since one machine has as many addresses as it likes."""
    return _name_host(scope["client"][0] if scope.get("client") else "")


@functools.lru_cache(maxsize=256)
def _name_host(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    return str(address) if address.version == 4 else str(ipaddress.ip_network(f"{address}/64", strict=False))  # noqa: PLR2004 - IPv4
