"""Serving an ASGI application until it is asked to stop, with uvicorn in this thread.

uvicorn neither hears signals, nor prints, nor writes an access log: the command that serves does what is to be done of
that. A stop ends open streams at once, lets running requests finish for a moment, and cancels what is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from omnislash.errors import StorageError, UsageError
from omnislash.surfaces.web.answers import answer, list_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from omnislash.surfaces.web.binding import Binding

_LOG = logging.getLogger("omnislash.web")
#: Seconds that running requests get to finish in once a stop was asked for.
GRACE_S = 3
#: Connections open at a time; a browser takes about six, an agent one or two.
_CONNECTIONS = 512
#: Seconds in which the head of a request has to arrive: from its first byte on, of the first one from the connection on.
_HEAD_S = 20.0
#: Seconds that a connection stays open between two requests.
_IDLE_S = 30
#: Seconds after which uvicorn itself cancels what could not be ended.
_LAST_S = 2
_BODY = "http.response.body"
#: Bytes of the head of a request.
_HEAD_BYTES = 64 * 1024
#: What is said to a connection whose bytes are no request.
_NO_REQUEST = {
    HTTPStatus.BAD_REQUEST: "This is no valid HTTP request; nothing was done.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        f"Address and headers of a request may have at most {_HEAD_BYTES} bytes; nothing was done."
    ),
    HTTPStatus.NOT_IMPLEMENTED: "The only Transfer-Encoding that is known here is chunked; nothing was done.",
}
#: Connections that wait to be accepted.
_BACKLOG = 128
#: Ports that only the machine's owner may take on most systems.
_LAST_RESERVED_PORT = 1023


def serve(
    make_app: Callable[[Binding], ASGIApp],
    binding: Binding,
    *,
    on_ready: Callable[[Binding], None],
    stop: int,
    grace_s: int = GRACE_S,
) -> None:
    """Serve until a byte can be read from a descriptor, or until its other end is closed.

    Args:
        make_app: Makes the application; told the binding with the port that the door really has.
        binding: Where to listen; port 0 takes any free one.
        on_ready: Told the same binding once requests are answered.
        stop: The descriptor.
        grace_s: Seconds that running requests get to finish in.

    Raises:
        UsageError: The address can't be listened on: taken, not allowed, or none of this machine's.
        StorageError: The machine has no room for another socket.
    """
    with _listen(binding) as sockets, _forward_logs("uvicorn.error", "mcp"):
        real = replace(binding, port=sockets[0].getsockname()[1])
        ender = _Ender(make_app(real), grace_s)
        config = uvicorn.Config(
            ender,
            http=_Protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=grace_s + _LAST_S,
            limit_concurrency=_CONNECTIONS,
            h11_max_incomplete_event_size=_HEAD_BYTES,
        )
        server = _Server(config, stop=stop, on_stop=ender.stop, on_started=lambda: on_ready(real))
        try:
            server.run(sockets=sockets)
        except SystemExit as error:  # uvicorn's way to say that the application did not start; it has logged why
            message = "The server could not start."
            raise UsageError(message, hint="The log says why.") from error


class _Server(uvicorn.Server):
    """A server that a descriptor stops, and no signal."""

    def __init__(
        self, config: uvicorn.Config, *, stop: int, on_stop: Callable[[], None], on_started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._stop, self._on_stop, self._on_started = stop, on_stop, on_started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the door, then say so."""
        await super().startup(sockets=sockets)
        asyncio.get_running_loop().add_reader(self._stop, self._hear_stop)
        self._on_started()

    def _hear_stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._stop)
        self._on_stop()
        self.should_exit = True


class _Protocol(H11Protocol):
    """HTTP/1.1 that hangs up on a connection which asks for nothing."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in theirs
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(_HEAD_S, self._hang_up)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head; uvicorn waits no longer once a byte of it is there."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(_HEAD_S, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - theirs says nothing that helps
        """Say what is wrong with a request that is none, unless its answer has begun; then hang up."""
        error = sys.exc_info()[1]
        hint = getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST)
        status = HTTPStatus(hint) if hint in _NO_REQUEST else HTTPStatus.BAD_REQUEST
        body = f"{_NO_REQUEST[status]}\n".encode()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), *list_headers(body), (b"connection", b"close")]
            reply = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
            for event in (reply, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


class _Ender:
    """Ends what runs when the server stops: a stream that only waits for news at once, anything else after a while."""

    def __init__(self, app: ASGIApp, grace_s: float) -> None:
        self._app, self._grace_s = app, grace_s
        #: Limits of the answers that are being made; none has an end until the server stops.
        self._running: dict[asyncio.Timeout, _Sending] = {}
        #: When the grace is over, by the loop's clock; None until the server stops.
        self._end: float | None = None

    def stop(self) -> None:
        """Give everything that runs its end."""
        now = asyncio.get_running_loop().time()
        self._end = now + self._grace_s
        for limit, sending in self._running.items():
            limit.reschedule(now if sending.is_waiting else self._end)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending, limit = _Sending(send, scope["method"]), asyncio.timeout_at(self._end)
        try:
            async with limit:
                self._running[limit] = sending
                await self._app(scope, receive, sending)
        except TimeoutError:
            if not limit.expired():
                raise
            await sending.finish(scope)
        finally:
            self._running.pop(limit, None)


class _Sending:
    """Passes an answer on and remembers how far it came."""

    def __init__(self, send: Send, method: str) -> None:
        self._send, self._method = send, method
        #: True while a stream is sent that only waits for news.
        self.is_waiting = False
        self._is_started = self._is_over = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_started, self.is_waiting = True, self._method == "GET" and _announces_stream(message)
        self._is_over = message["type"] == _BODY and not message.get("more_body", False)
        await self._send(message)

    async def finish(self, scope: Scope) -> None:
        """End an answer that was cut."""
        if not self._is_started:
            close = [(b"connection", b"close")]
            await answer(scope, self._send, HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping.", headers=close)
        elif not self._is_over:
            await self._send({"type": _BODY, "body": b"", "more_body": False})


def _announces_stream(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.lower().startswith(b"text/event-stream")
        for name, value in message["headers"]
    )


@contextlib.contextmanager
def _listen(binding: Binding) -> Iterator[list[socket.socket]]:
    """Open the sockets of an address, all with the same port; they are closed at the end, whatever happens."""
    with contextlib.ExitStack() as opened:
        sockets: list[socket.socket] = []
        port = binding.port
        for family, address in _resolve(binding):
            # With the protocol named, asyncio turns Nagle's algorithm off, which costs each answer 40 ms on Linux.
            opening = opened.enter_context(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            try:
                _open(opening, (address[0], port, *address[2:]))
            except OSError as error:
                if sockets and error.errno == errno.EADDRNOTAVAIL:  # a machine without IPv6 knows its name for it
                    continue
                raise _explain(error, binding) from error
            sockets.append(opening)
            port = sockets[0].getsockname()[1]
        yield sockets


def _resolve(binding: Binding) -> list[tuple[int, tuple[Any, ...]]]:
    """Return family and address of a host, IPv4 first."""
    host = binding.host.strip("[]")
    try:
        found = socket.getaddrinfo(host, binding.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        message = f"The host {binding.host!r} is not known to this machine, so nothing can listen there."
        raise UsageError(message, key="--host", hint="127.0.0.1 is this machine alone.") from error
    unique = dict.fromkeys((family, address) for family, _, _, _, address in found)
    return sorted(unique, key=lambda pair: pair[0] != socket.AF_INET)


def _open(opening: socket.socket, address: tuple[Any, ...]) -> None:
    if os.name == "posix":  # elsewhere the option lets two programs share a port
        opening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if opening.family == socket.AF_INET6:
        opening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if address[0] == "::" else 1)
    opening.bind(address)
    opening.listen(_BACKLOG)


def _explain(error: OSError, binding: Binding) -> UsageError | StorageError:
    place = f"{binding.host} port {binding.port}"
    match error.errno:
        case errno.EADDRINUSE:
            message = f"Another program listens on {place} already; nothing was started."
            return UsageError(message, key="--port", hint="Name another port with --port, or 0 for any free one.")
        case errno.EACCES | errno.EPERM:
            message = f"This user may not listen on {place}; nothing was started."
            return UsageError(message, key="--port", hint=f"Name a port from {_LAST_RESERVED_PORT + 1} on with --port.")
        case errno.EADDRNOTAVAIL | errno.EAFNOSUPPORT:
            message = f"{binding.host} is no address of this machine; nothing was started."
            return UsageError(message, key="--host", hint="127.0.0.1 is this machine alone, 0.0.0.0 all its addresses.")
    return StorageError(f"The machine can't listen on {place}: {error.strerror or error}; nothing was started.")


class _Forward(logging.Handler):
    """Hands the errors of a library to the log of omnislash; what it says beside them is of no use to a person."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it once more under our name."""
        _LOG.log(record.levelno, "%s", record.getMessage(), exc_info=record.exc_info, extra={"action": "server_error"})


@contextlib.contextmanager
def _forward_logs(*names: str) -> Iterator[None]:
    handler = _Forward(logging.ERROR)
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
