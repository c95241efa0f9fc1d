"""The MCP server of one role: everything but the transport.

It is made with the low-level server of the official SDK, because what is offered depends on the role.

Rules: TOOL-01 to TOOL-16, BOUNDARY-08; interface.md, "Memory tools (agent, MCP and CLI share names, arguments and answers)".
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, NotificationParams
from pydantic import ValidationError

from omnislash import __version__
from omnislash.errors import OmnislashError
from omnislash.surfaces.mcp import calling, deleting, prompts, resources
from omnislash.surfaces.mcp.seat import Caller, Seat, to_protocol_error
from omnislash.surfaces.mcp.serving import Service, serve_seat

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp_types import ServerCapabilities, SubscriptionsListenRequestParams, SubscriptionsListenResult

    from omnislash.engine import Brain

__all__ = ["Caller", "make_server"]

_LOG = logging.getLogger(__name__)


class MemoryServer(Server[Service]):
    """The SDK's server, which says of itself what is true of this one."""

    def __init__(self, seat: Seat) -> None:
        """Make the server; use :func:`make_server`."""
        self._seat = seat

        def lifespan(_server: Server[Service]) -> AbstractAsyncContextManager[Service]:
            return serve_seat(seat)

        super().__init__(
            "omnislash",
            version=__version__,
            title="omnislash memory",
            description="Memory for AI agents that a person can read, edit, diff and trust.",
            instructions=seat.instructions(),
            lifespan=lifespan,
            on_list_tools=calling.list_tools,
            on_call_tool=calling.call_tool,
            on_list_resources=resources.list_resources,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read_resource,
            on_subscribe_resource=resources.subscribe,
            on_unsubscribe_resource=resources.unsubscribe,
            on_subscriptions_listen=_listen,
            on_list_prompts=prompts.list_prompts,
            on_get_prompt=prompts.get_prompt,
            on_completion=prompts.complete,
        )
        self.add_notification_handler("notifications/initialized", NotificationParams, _welcome)
        security = RequestStateSecurity.ephemeral(ttl=deleting.PATIENCE_S)
        self.middleware += [
            _explain_errors,
            self._introduce,
            RequestStateBoundary(security, default_audience=self.name),
        ]

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what a new connection is told, as the role's file says now."""
        self._read_instructions()
        return super().create_initialization_options(notification_options, experimental_capabilities, extensions)

    def _read_instructions(self) -> None:
        try:
            self.instructions = self._seat.instructions()
        except OmnislashError as error:
            self.instructions = error.message

    async def _introduce(self, ctx: ServerRequestContext[Service, Any], call_next: CallNext) -> HandlerResult:
        """Say what is true now to a client that asks by the newest protocol, which has no handshake."""
        if ctx.method == "server/discover":
            await ctx.lifespan_context.calls.run(self._read_instructions)
        return await call_next(ctx)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Return what the server can do; it tells of every list that changes."""
        del notification_options
        told = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().get_capabilities(told, experimental_capabilities, extensions, protocol_version=protocol_version)


def make_server(brain: Brain, caller: Caller) -> Server[Service]:
    """Return a server of one role's memory; it serves any number of connections.

    Args:
        brain: The brain, opened with `SearchOptions(on_progress=progress.tell, is_over=progress.is_given_up)`, so that long searches
            say how far they are and stop when they are cancelled.
        caller: For whom it acts.

    Raises:
        UsageError: There is no such role or heartbeat, or the heartbeat runs another role.
    """
    return MemoryServer(Seat(brain, caller))


async def _welcome(ctx: ServerRequestContext[Service, Any], _params: NotificationParams) -> None:
    ctx.lifespan_context.changes.welcome(ctx.session)


async def _listen(
    ctx: ServerRequestContext[Service, Any], params: SubscriptionsListenRequestParams
) -> SubscriptionsListenResult:
    return await ctx.lifespan_context.changes.listen(ctx, params)


async def _explain_errors(ctx: ServerRequestContext[Service, Any], call_next: CallNext) -> HandlerResult:
    """Turn what a handler raises into an error of the protocol with a sentence; no trace reaches a client."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except OmnislashError as error:
        raise to_protocol_error(error) from error
    except Exception as error:
        _LOG.exception("%s failed", ctx.method, extra={"action": "request_failed"})
        message = f"Something went wrong inside omnislash: {type(error).__name__}."
        raise MCPError(code=INTERNAL_ERROR, message=message) from error
