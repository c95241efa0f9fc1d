"""The MCP server over HTTP: `/mcp` speaks streamable HTTP, `/` says what this is.

A session that nobody used for half an hour ends, and its id answers 404, upon which a client begins a new one. Nothing is
kept to be sent again to a client that lost its connection: the verdict of a write is in the action log, and asking
again with the same `requestId` answers what happened, so replaying streams would add a store and no safety.
The newest protocol revision has no sessions; the SDK serves it on the same path.

Source: modelcontextprotocol.io, "Transports", revisions 2025-03-26 to 2026-07-28.
"""

# ruff: noqa: A005 - named after the transport, as the SDK does; nobody imports it as plain http

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from omnislash.surfaces.web.guards import guard
from omnislash.surfaces.web.limits import Limits
from omnislash.surfaces.web.serving import GRACE_S, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.lowlevel import Server
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from omnislash.engine import Brain
    from omnislash.surfaces.mcp.server import Caller
    from omnislash.surfaces.web.binding import Binding

#: Where the protocol is spoken.
PATH = "/mcp"
#: Seconds without a request after which a session ends.
SESSION_IDLE_S = 30 * 60
#: Sessions open at a time; another one is refused until one ends.
MAX_SESSIONS = 256


def serve_http(
    brain: Brain,
    caller: Caller,
    binding: Binding,
    *,
    stop_descriptor: int,
    on_ready: Callable[[Binding], None],
) -> None:
    """Serve a role's memory over HTTP until a byte can be read from a descriptor.

    Args:
        brain: The brain.
        caller: The role, and the heartbeat, that every request acts as.
        binding: Where to listen; elsewhere than on loopback it holds the token.
        stop_descriptor: The descriptor.
        on_ready: Told the binding with its real port once requests are answered.

    Raises:
        UsageError: The address can't be listened on.
    """
    from omnislash.surfaces.mcp.server import make_server  # noqa: PLC0415 - the tests of this door bring their own

    server = make_server(brain, caller)
    serve(
        lambda real: make_app(server, real, role=caller.role),
        binding,
        on_ready=on_ready,
        stop=stop_descriptor,
        grace_s=GRACE_S,
    )


def make_app(
    server: Server[Any],
    binding: Binding,
    *,
    role: str,
    limits: Limits | None = None,
    max_sessions: int = MAX_SESSIONS,
    session_idle_s: float = SESSION_IDLE_S,
) -> ASGIApp:
    """Return the application of an MCP server behind all guards; it is good for one start.

    Args:
        server: What answers the protocol.
        binding: Where it listens.
        role: Named on the page at `/`.
        limits: What one caller may send.
        max_sessions: Sessions open at a time.
        session_idle_s: Seconds without a request after which one ends.
    """
    limits = limits or Limits()
    manager = StreamableHTTPSessionManager(
        server,
        session_idle_timeout=session_idle_s,
        max_sessions=max_sessions,
        max_request_body_size=limits.body_bytes,
    )

    @contextlib.asynccontextmanager
    async def run(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    def describe(_request: Request) -> PlainTextResponse:
        return PlainTextResponse(
            f"This is the MCP server of omnislash for the role {role}. An MCP client connects to {binding.url}{PATH}.\n"
        )

    routes = [Route("/", describe, methods=["GET"]), Route(PATH, StreamableHTTPASGIApp(manager))]
    return guard(Starlette(routes=routes, lifespan=run), binding, limits, is_browser=False)
