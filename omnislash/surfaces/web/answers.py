"""Short answers that a guard gives in place of the application, as plain ASGI messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from http import HTTPStatus

    from starlette.types import Scope, Send

#: The methods that change nothing.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: What every answer of a guard carries: it is nobody's business to keep it, to guess at it or to frame it.
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


async def answer(
    scope: Scope,
    send: Send,
    status: HTTPStatus,
    text: str,
    *,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Send one sentence as plain text, or as an error in JSON to a program that asks so; only its headers to HEAD."""
    kind, body = b"text/plain; charset=utf-8", f"{text}\n"
    if wants_json(scope):
        kind, body = b"application/json", json.dumps({"error": {"kind": "http", "message": text}})
    await answer_body(scope, send, status, body.encode(), headers=((b"content-type", kind), *headers))


def wants_json(scope: Scope) -> bool:
    """Tell whether a program asks: the first type that it accepts is JSON.

    A client of MCP takes event streams beside it, and expects nothing but JSON-RPC in JSON.
    """
    accepted = ",".join(read_headers(scope, b"accept")).lower()
    first = accepted.partition(",")[0].partition(";")[0].strip()
    return first == "application/json" and "text/event-stream" not in accepted


async def answer_body(
    scope: Scope,
    send: Send,
    status: HTTPStatus,
    body: bytes,
    *,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Send bytes with the headers that every answer of a guard carries, unless others of the same name are given."""
    given = list(headers)
    names = {name for name, _ in given}
    usual = [header for header in list_headers(body) if header[0] not in names]
    await send({"type": "http.response.start", "status": int(status), "headers": [*given, *usual]})
    await send({"type": "http.response.body", "body": b"" if scope.get("method") == "HEAD" else body})


def list_headers(body: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers that every answer of a door carries that is none of its application's."""
    return [*_HEADERS, (b"content-length", str(len(body)).encode())]


async def refuse_socket(send: Send) -> None:
    """Turn a web socket down before it opens; no door speaks that."""
    await send({"type": "websocket.close", "code": 1008})


def read_headers(scope: Scope, name: bytes) -> list[str]:
    """Return every value of a header, in the order in which they came."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
