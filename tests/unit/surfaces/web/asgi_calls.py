"""One request to an ASGI application without a socket, and what came back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True, kw_only=True)
class Answer:
    """What an application sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    #: Whether the application behind the guards was reached, and the body that it read.
    reached: bool = False
    read: bytes = b""


class Echo:
    """Answers 200 and remembers what it was given."""

    def __init__(self) -> None:
        self.reached = False
        self.read = b""
        self.ends: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body, then answer."""
        self.reached = True
        while True:
            message = await receive()
            if message["type"] != "http.request":
                self.ends.append(message["type"])
                return
            self.read += message["body"]
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})


def make_scope(
    method: str = "GET",
    path: str = "/",
    *,
    headers: Iterable[tuple[str, str]] = (),
    query: str = "",
    client: str = "127.0.0.1",
) -> dict[str, Any]:
    """Return the scope of a request with exactly these headers."""
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": (client, 50_000),
    }


def call(app: ASGIApp, scope: dict[str, Any], *, body: Iterable[bytes] = (b"",), cut: bool = False) -> Answer:
    """Send one request in the given pieces; `cut` hangs up after them in place of ending the body."""
    return asyncio.run(_call(app, scope, list(body), cut=cut))


async def _call(app: ASGIApp, scope: dict[str, Any], pieces: list[bytes], *, cut: bool) -> Answer:
    last = len(pieces) - 1
    waiting: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": cut or number < last}
        for number, piece in enumerate(pieces)
    ]
    if cut:
        waiting.append({"type": "http.disconnect"})
    got = Answer()

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            got.status = message["status"]
            got.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif message["type"] == "http.response.body":
            got.body += message.get("body", b"").decode()
        else:
            got.body += message["type"]

    await app(scope, receive, send)
    return got


def ask(make_app: Any, scope: dict[str, Any], *, body: Iterable[bytes] = (b"",), cut: bool = False) -> Answer:
    """Put a guard that `make_app` makes around an application that echoes, and send one request through it."""
    inside = Echo()
    got = call(make_app(inside), scope, body=body, cut=cut)
    got.reached, got.read = inside.reached, inside.read
    return got
