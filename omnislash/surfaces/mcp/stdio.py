"""Serving over stdin and stdout.

The SDK's own transport ends a connection by cancelling what runs. This one answers first what was asked already, so that a
write that is on its way gets its verdict when stdin ends or the process is told to stop; it says so when a line is no
message, and it never waits for a thread that reads.

Rules: failure case O-63; interface.md, "Command line".
Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import threading
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio import from_thread, lowlevel
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from omnislash.surfaces.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server
    from mcp_types import JSONRPCMessage, RequestId

    from omnislash.engine import Brain
    from omnislash.surfaces.mcp.seat import Caller
    from omnislash.surfaces.mcp.wire import Wire

#: The longest line that is taken for a message, in bytes. A whole file of a line fits many times over.
LONGEST: Final = 16 * 1024 * 1024
#: How long the end waits for what was asked already, in seconds.
GRACE_S: Final = 10.0
#: How long a client that does not read gets for the last answers, in seconds.
_LAST_S: Final = 2.0
_CHUNK: Final = 65_536
#: What a call into the event loop raises once that has ended, or is about to.
_OVER: Final = (
    RuntimeError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    asyncio.CancelledError,
    CancelledError,
)
#: A request that is answered only when the client goes.
_STANDING: Final = "subscriptions/listen"
_NO_JSON: Final = "This line is no JSON, or is nested too deeply; send one message a line."
_NO_ID: Final = (
    "The id of a request is a whole number or a text; with this one it can't be answered, and nothing was done."
)
_UNREADABLE: Final = (
    "This message holds what can't be read, such as half of a surrogate pair or a value that is nested too deeply; "
    "nothing was done."
)


def serve_stdio(brain: Brain, caller: Caller, wire: Wire) -> None:
    """Serve until stdin ends, or the process is asked to stop.

    Raises:
        UsageError: There is no such role or heartbeat.
    """
    anyio.run(_serve, make_server(brain, caller), wire)


async def _serve(server: Server[Any], wire: Wire) -> None:
    talk = _Talk()
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as group:
        group.start_soon(_hear_signals, talk, group.cancel_scope)
        group.start_soon(_end, talk, to_server)
        group.start_soon(_write, talk, from_server, _start_writing(wire.writing))
        async with to_client.clone() as refusals:
            _start_reading(wire.reading, _Reader(talk, to_server, refusals))
            await server.run(from_client, to_client, server.create_initialization_options())
        with anyio.move_on_after(_LAST_S):
            await talk.written.wait()
        group.cancel_scope.cancel()


class _Talk:
    """What was asked and not answered yet, by either side."""

    def __init__(self) -> None:
        #: Set when nothing more is read.
        self.ended = anyio.Event()
        #: Set when nothing more is written.
        self.written = anyio.Event()
        self._settled = anyio.Event()
        self._asked: set[RequestId] = set()
        self._asking: set[RequestId] = set()

    def hear(self, message: JSONRPCMessage) -> None:
        """Take note of a message of the client's."""
        if isinstance(message, JSONRPCRequest):
            if message.method != _STANDING:
                self._asked.add(message.id)
        elif isinstance(message, JSONRPCNotification):
            self._asked.discard(_find_cancelled(message))
        elif message.id is not None:
            self._asking.discard(message.id)

    def say(self, message: JSONRPCMessage) -> None:
        """Take note of a message of ours."""
        if isinstance(message, JSONRPCRequest):
            self._asking.add(message.id)
        elif isinstance(message, JSONRPCNotification):
            self._asking.discard(_find_cancelled(message))
        elif message.id is not None:
            self._asked.discard(message.id)
        if self.is_settled:
            self._settled.set()

    @property
    def is_settled(self) -> bool:
        """Whether all that is open waits for the client: each question of ours holds up one of its requests."""
        return len(self._asked) <= len(self._asking)

    async def settle(self) -> None:
        """Return when it is settled."""
        while not self.is_settled:
            self._settled = anyio.Event()
            await self._settled.wait()


def _find_cancelled(message: JSONRPCNotification) -> RequestId:
    """Return the request that a side wants no answer to any more; an empty text, which is none, for other news."""
    given = (message.params or {}).get("requestId") if message.method == "notifications/cancelled" else None
    return given if isinstance(given, int | str) else ""


async def _hear_signals(talk: _Talk, scope: anyio.CancelScope) -> None:
    """End at the first signal as at the end of stdin; at the second at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if talk.ended.is_set():
                scope.cancel()
            talk.ended.set()


async def _end(talk: _Talk, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    """Let the server end once what was asked is answered, or nobody reads the answers."""
    await talk.ended.wait()
    with anyio.move_on_after(GRACE_S):
        await talk.settle()
    await to_server.aclose()


# -- writing ---------------------------------------------------------------------------------------------------------

#: Lines on their way out, each with what is set once it is out; None ends the writing.
_Lines = queue.SimpleQueue[tuple[bytes, "Future[None]"] | None]


async def _write(talk: _Talk, messages: MemoryObjectReceiveStream[SessionMessage], lines: _Lines) -> None:
    """Write what the server says, one line a message; a client that has gone ends the talk quietly."""
    has_gone = False
    async with messages:
        async for each in messages:
            if not has_gone:
                done: Future[None] = Future()
                lines.put((_to_line(each.message), done))
                try:
                    await asyncio.wrap_future(done)
                except OSError:
                    has_gone = True
                    talk.ended.set()
            talk.say(each.message)
    lines.put(None)
    talk.written.set()


def _to_line(message: JSONRPCMessage) -> bytes:
    """Return a message as a line; half of a surrogate pair in it, which is no text, shows as `?` and ends nothing."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        found = message.model_dump(by_alias=True, exclude_unset=True)
        return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _start_writing(descriptor: int) -> _Lines:
    """Return where a thread takes lines from; it keeps no process from ending, however slow the client reads."""
    lines: _Lines = queue.SimpleQueue()

    def work() -> None:
        while (each := lines.get()) is not None:
            data, done = each
            done.set_running_or_notify_cancel()
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            except OSError as error:
                done.set_exception(error)
            else:
                done.set_result(None)

    threading.Thread(target=work, name="omnislash-mcp-out", daemon=True).start()
    return lines


# -- reading ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns lines into messages for the server; runs in the event loop."""

    def __init__(
        self,
        talk: _Talk,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        to_client: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        self._talk = talk
        self._to_server = to_server
        self._to_client = to_client

    async def take(self, line: bytes) -> None:
        """Hand a line to the server, or say that it is no message."""
        if self._talk.ended.is_set() or not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            await self.refuse(_find_fault(line, error))
            return
        if isinstance(message, JSONRPCNotification) and json.loads(line).get("id") is not None:
            await self.refuse(_fault(INVALID_REQUEST, _NO_ID))
            return
        self._talk.hear(message)
        await self._to_server.send(SessionMessage(message))

    async def refuse(self, fault: JSONRPCError | None) -> None:
        """Say that a line is no message."""
        if fault is not None:
            await self._to_client.send(SessionMessage(fault))

    def end(self) -> None:
        """Take note that nothing more comes."""
        self._talk.ended.set()


def _start_reading(descriptor: int, reader: _Reader) -> None:
    """Read in a thread that keeps no process from ending."""
    token = lowlevel.current_token()

    def call(what: Callable[..., Any], *arguments: object) -> None:
        from_thread.run(what, *arguments, token=token)

    def work() -> None:
        with contextlib.suppress(*_OVER), contextlib.ExitStack() as last:
            # Also when a line breaks something: a talk that hears nothing has to end.
            last.callback(lambda: from_thread.run_sync(reader.end, token=token))
            for line in _read_lines(descriptor):
                if line is None:
                    call(reader.refuse, _fault(INVALID_REQUEST, f"A message may have at most {LONGEST} bytes."))
                else:
                    call(reader.take, line)

    threading.Thread(target=work, name="omnislash-mcp-in", daemon=True).start()


def _read_lines(descriptor: int) -> Iterator[bytes | None]:
    """Yield the lines of a stream, the last one also without its end; None for one that is too long."""
    held = bytearray()
    is_passing = False
    while data := _read_some(descriptor):
        *lines, rest = data.split(b"\n")
        for line in lines:
            held += line
            if not is_passing:
                yield bytes(held)
            held.clear()
            is_passing = False
        held += rest
        if is_passing or len(held) > LONGEST:
            held.clear()
            if not is_passing:
                yield None
            is_passing = True
    if held and not is_passing:
        yield bytes(held)


def _read_some(descriptor: int) -> bytes:
    """Return what there is, at the latest when something comes; nothing at the end."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # a terminal that went away, a directory
        return b""


def _find_fault(line: bytes, error: ValidationError) -> JSONRPCError | None:
    """Return what to answer to a line that is no message; None for a broken answer, which nobody waits for."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return _fault(PARSE_ERROR, _NO_JSON)
    if isinstance(found, dict) and "method" not in found and {"result", "error"} & set(found):
        return None
    given = found.get("id") if isinstance(found, dict) else None
    message = "This line is no JSON-RPC request: one object with jsonrpc, id, method and params is expected."
    if error.errors()[0]["type"] == "json_invalid":
        message = _UNREADABLE
    return _fault(INVALID_REQUEST, message, request=given if _is_id(given) else None)


def _is_id(given: object) -> bool:
    """Tell whether a request may be answered under this id: a whole number, or a text that can be sent back."""
    if isinstance(given, str):
        return given.isascii()
    return type(given) is int


def _fault(code: int, message: str, *, request: RequestId | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))
