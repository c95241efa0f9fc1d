"""A door is opened, served and closed; whatever stands in the way is one sentence."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from omnislash.errors import UsageError
from omnislash.surfaces.web import serving
from omnislash.surfaces.web.binding import Binding
from omnislash.surfaces.web.guards import guard
from omnislash.surfaces.web.limits import Limits
from omnislash.surfaces.web.serving import serve
from tests.unit.surfaces.web.doors import PATIENCE_S, open_door

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from tests.unit.surfaces.web.doors import Door


class Rooms:
    """An application with a page, a stream of news, a slow page and a broken one."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.entered = threading.Event()
        self.app = Starlette(
            routes=[
                Route("/", self.page, methods=["GET", "POST"]),
                Route("/news", self.news),
                Route("/slow", self.slow, methods=["GET", "POST"]),
                Route("/broken", self.broken),
            ],
            lifespan=self.live,
        )

    @contextlib.asynccontextmanager
    async def live(self, _app: Starlette) -> AsyncIterator[None]:
        """Note the end."""
        yield
        self.ended.append("the application")

    async def page(self, request: Request) -> PlainTextResponse:
        """Answer at once."""
        return PlainTextResponse(f"{request.method} {len(await request.body())}")

    async def news(self, _request: Request) -> StreamingResponse:
        """Send one piece of news, then wait for ever."""

        async def tell() -> AsyncIterator[str]:
            try:
                yield "data: first\n\n"
                await asyncio.Event().wait()
            finally:
                self.ended.append("the stream")

        return StreamingResponse(tell(), media_type="text/event-stream")

    async def slow(self, request: Request) -> PlainTextResponse:
        """Take as long as the address says."""
        self.entered.set()
        await asyncio.sleep(float(request.query_params["s"]))
        self.ended.append("the slow page")
        return PlainTextResponse("done at last")

    def broken(self, _request: Request) -> PlainTextResponse:
        """Fail."""
        message = "a secret of the inside"
        raise ValueError(message)

    def make(self, real: Binding) -> ASGIApp:
        """Return it behind the guards."""
        return guard(self.app, real, Limits(body_bytes=100_000), is_browser=False)


@pytest.fixture
def rooms() -> Rooms:
    """The application."""
    return Rooms()


@pytest.fixture
def door(rooms: Rooms) -> Iterator[Door]:
    """The application, served."""
    with open_door(rooms.make) as opened:
        yield opened


def in_background(call: Any) -> tuple[threading.Thread, list[Any]]:
    """Run a request in a thread and return where its answer comes."""
    got: list[Any] = []

    def run() -> None:
        try:
            got.append(call())
        except httpx.HTTPError as error:
            got.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, got


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_port_0_takes_a_free_one(host: str, rooms: Rooms) -> None:
    """The application and whoever waits are told the port that was taken, and the door answers there."""
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(open_door(rooms.make, Binding(host=host, port=0)))
        except UsageError:
            assert host == "::1"  # a machine without IPv6
            return
        answer = httpx.get(opened.url, timeout=PATIENCE_S)

    assert opened.binding.port > 0
    assert (answer.status_code, answer.text) == (200, "GET 0")
    assert "server" not in answer.headers


def test_the_end_comes_by_a_byte_or_by_a_closed_pipe(rooms: Rooms) -> None:
    """Both end the server, its application is told, and the port is free again."""
    with open_door(rooms.make) as first:
        first.stop()
        first.wait()
    with open_door(rooms.make, first.binding):
        pass

    assert rooms.ended == ["the application"] * 2


def test_a_stop_ends_streams_at_once_and_lets_requests_finish(rooms: Rooms) -> None:
    """A page that is being made is sent; a stream that waits for news ends properly, without waiting for the grace."""
    with (
        open_door(rooms.make, grace_s=20) as opened,
        httpx.stream("GET", f"{opened.url}/news", timeout=PATIENCE_S) as stream,
    ):
        pieces = stream.iter_text()
        assert next(pieces) == "data: first\n\n"
        slow, got = in_background(lambda: httpx.post(f"{opened.url}/slow?s=1.0", timeout=PATIENCE_S))
        assert rooms.entered.wait(10)
        opened.stop()
        rest = list(pieces)
        first = list(rooms.ended)
        slow.join(15)
        opened.wait()

    assert rest == []
    assert first == ["the stream"]
    assert got[0].text == "done at last"
    assert rooms.ended == ["the stream", "the slow page", "the application"]


def test_a_request_that_takes_too_long_is_ended(rooms: Rooms) -> None:
    """After the grace a caller is told that the server stops, and the server does stop."""
    with open_door(rooms.make, grace_s=0) as opened:
        slow, got = in_background(lambda: httpx.get(f"{opened.url}/slow?s=60", timeout=PATIENCE_S))
        assert rooms.entered.wait(5)
        opened.stop()
        opened.wait()
        slow.join(15)

    assert got[0].status_code == 503
    assert got[0].text == "The server is stopping.\n"
    assert rooms.ended == ["the application"]


def test_a_port_that_is_taken_is_one_sentence(door: Door, rooms: Rooms) -> None:
    """The second door says which port and what to do, and the first one goes on."""
    with (
        pytest.raises(UsageError, match=f"port {door.binding.port} already") as error,
        open_door(rooms.make, door.binding),
    ):
        pass

    assert "--port" in (error.value.hint or "")
    assert httpx.get(door.url, timeout=PATIENCE_S).status_code == 200


@pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7", "no-such-host.invalid", "a..b", "x" * 300])
def test_a_host_that_is_not_here_is_one_sentence(host: str) -> None:
    """An address of another machine and a name that nobody knows name the option."""
    reading, writing = os.pipe()
    with pytest.raises(UsageError) as error:
        serve(lambda _: Rooms().app, Binding(host=host, port=0, token="x"), on_ready=lambda _: None, stop=reading)
    os.close(reading)
    os.close(writing)

    assert error.value.key == "--host"


def test_an_application_that_does_not_start_is_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    """The trouble is in the log, and the port is free again."""

    @contextlib.asynccontextmanager
    async def fail(_app: Starlette) -> AsyncIterator[None]:
        message = "the cellar is flooded"
        raise RuntimeError(message)
        yield

    with (
        caplog.at_level(logging.ERROR, "omnislash"),
        pytest.raises(UsageError, match="could not start"),
        open_door(lambda _: Starlette(lifespan=fail)),
    ):
        pass

    assert "the cellar is flooded" in caplog.text


def test_a_fault_of_the_application_is_told_to_the_log_only(
    door: Door, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The caller gets 500 and no trace, the log of omnislash has it, and nothing is printed."""
    with caplog.at_level(logging.INFO):
        answer = httpx.get(f"{door.url}/broken", timeout=PATIENCE_S)
        deadline = time.monotonic() + 10
        while not any(record.name == "omnislash.web" for record in caplog.records) and time.monotonic() < deadline:
            time.sleep(0.01)  # the answer is sent before the log is written

    assert answer.status_code == 500
    assert "secret" not in answer.text
    [record] = [record for record in caplog.records if record.name == "omnislash.web"]
    assert record.exc_info is not None
    assert "a secret of the inside" in str(record.exc_info[1])
    assert capfd.readouterr().out == ""


def test_nothing_is_logged_of_ordinary_requests(door: Door, capfd: pytest.CaptureFixture[str]) -> None:
    """There is no access log, and neither a refusal nor rubbish writes a line."""
    httpx.get(door.url, timeout=PATIENCE_S)
    httpx.get(door.url, headers={"Host": "rebound.example"}, timeout=PATIENCE_S)
    rubbish = door.talk(b"\x16\x03\x01 is no HTTP\r\n\r\n")

    assert b" 400 " in rubbish
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, id="two hosts"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(b"GET / HTTP/1.0\r\n\r\n", 421, id="no host in the old protocol"),
        pytest.param(b"GET http://rebound.example/ HTTP/1.1\r\nHost: rebound.example\r\n\r\n", 421, id="as to a proxy"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", 431, id="a huge header"),
        pytest.param(b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n", 431, id="a huge address"),
    ],
)
def test_odd_requests_are_refused_on_the_wire(door: Door, request_bytes: bytes, status: int) -> None:
    """What the guards never see is turned down by the protocol, and the door goes on."""
    head = request_bytes.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    try:
        answer = door.talk(head)
    except ConnectionResetError:  # the server hung up while the rest was still being sent
        answer = b"HTTP/1.1 431 "

    assert int(answer.split()[1]) in {status, 400}
    assert httpx.get(door.url, timeout=PATIENCE_S).status_code == 200


@pytest.mark.parametrize(
    ("request_bytes", "status", "words"),
    [
        pytest.param(b"\x16\x03\x01\r\n\r\n", b"400 Bad Request", b"no valid HTTP request", id="rubbish"),
        pytest.param(
            b"GET / HTTP/1.1\r\nX: " + b"x" * 66_000 + b"\r\n",
            b"431 Request Header Fields Too Large",
            b"at most 65536 bytes",
            id="a huge head",
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"501 Not Implemented",
            b"chunked",
            id="a coding that is not known",
        ),
    ],
)
def test_what_is_no_request_is_told_why(door: Door, request_bytes: bytes, status: bytes, words: bytes) -> None:
    """The status is that of the fault, the answer is a sentence of known length and inert like every other one."""
    head, _, body = door.talk(request_bytes).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 " + status)
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert b"cache-control: no-store" in head.lower()
    assert words in body
    assert body.endswith(b"; nothing was done.\n")


def test_rubbish_behind_an_answer_only_ends_the_connection(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """Who goes on with a broken body after a refusal is hung up on, and no trace is logged."""
    with socket.create_connection((door.binding.host, door.binding.port), timeout=10) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: rebound.example\r\nTransfer-Encoding: chunked\r\n\r\n")
        refusal = receive_until(line, b"nothing was done.\n")
        line.sendall(b"this is no chunk\r\n")
        rest = line.recv(5000)

    assert refusal.startswith(b"HTTP/1.1 421")
    assert rest == b""
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_no_request_hides_behind_another(door: Door) -> None:
    """A request with two ends is refused and the connection closed, so that what follows it is never a request."""
    host = f"Host: 127.0.0.1:{door.binding.port}\r\n".encode()
    told = door.talk(
        b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        b"GET / HTTP/1.1\r\n" + host + b"\r\n"
    )

    assert told.startswith(b"HTTP/1.1 400")
    assert told.count(b"HTTP/1.1 ") == 1


def test_a_web_socket_does_not_open(door: Door) -> None:
    """An upgrade is answered as the plain request that it is."""
    host = f"127.0.0.1:{door.binding.port}".encode()
    answer = door.talk(
        b"GET /news HTTP/1.0\r\nHost: " + host + b"\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\nOrigin: null\r\n\r\n"
    )

    assert b" 403 " in answer.splitlines()[0]


def test_a_large_body_is_refused_and_the_caller_hears_it(door: Door) -> None:
    """With a length and without one, the answer arrives although the body was never read to its end."""
    announced = httpx.post(door.url, content=b"x" * 3_000_000, timeout=PATIENCE_S)
    streamed = httpx.post(door.url, content=(b"x" * 50_000 for _ in range(60)), timeout=PATIENCE_S)
    fitting = httpx.post(door.url, content=(b"x" * 50_000 for _ in range(2)), timeout=PATIENCE_S)

    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert "100000 bytes" in streamed.text
    assert fitting.text == "POST 100000"


def test_callers_who_say_nothing_hold_nobody_up(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty connections without a request, and half a request, leave the door open for others and are hung up on."""
    monkeypatch.setattr(serving, "_HEAD_S", 0.5)
    with open_door(rooms.make) as opened, contextlib.ExitStack() as stack:
        place = (opened.binding.host, opened.binding.port)
        silent = [stack.enter_context(socket.create_connection(place, timeout=10)) for _ in range(40)]
        silent[0].sendall(b"GET / HTTP/1.1\r\nHost: ")
        answer = httpx.get(opened.url, timeout=PATIENCE_S)
        ends = [line.recv(100) for line in silent]

    assert answer.status_code == 200
    assert ends == [b""] * 40


def receive_until(line: socket.socket, end: bytes) -> bytes:
    """Return what comes, up to a text; less when the other side ends."""
    found = b""
    while not found.endswith(end) and (more := line.recv(5000)):
        found += more
    return found


def test_half_a_request_holds_up_no_connection_for_long(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that was answered once and then sends the next request byte by byte is hung up on; a whole one is not."""
    monkeypatch.setattr(serving, "_HEAD_S", 0.5)
    with open_door(rooms.make) as opened, contextlib.ExitStack() as stack:
        place = (opened.binding.host, opened.binding.port)
        slow, quick = (stack.enter_context(socket.create_connection(place, timeout=10)) for _ in range(2))
        head = f"GET / HTTP/1.1\r\nHost: {opened.binding.host}:{opened.binding.port}\r\n".encode()
        for line in (slow, quick):
            line.sendall(head + b"\r\n")
            assert receive_until(line, b"GET 0").startswith(b"HTTP/1.1 200")
        end = time.monotonic() + 8
        slow.sendall(head)
        slow.settimeout(0.1)
        ended = None
        while ended is None and time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                ended = slow.recv(100)
            with contextlib.suppress(OSError):
                slow.sendall(b"X-A: b\r\n")
        quick.sendall(head + b"\r\n")
        again = receive_until(quick, b"GET 0")

    assert ended == b""
    assert again.startswith(b"HTTP/1.1 200")
