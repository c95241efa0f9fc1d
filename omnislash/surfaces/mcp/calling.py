"""`tools/list` and `tools/call`: the tools of the grant, run by the engine.

An expected outcome is an answer with its verdict; what the engine raises is an answer too, marked as an error, so that an
agent sees the sentence and can act on it.

Rules: TOOL-01 to TOOL-06, TOOL-10, TOOL-11, TOOL-14, TOOL-15, WRITE-09, BOUNDARY-08, BOUNDARY-10; failure case O-55.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ListToolsResult

from omnislash.errors import OmnislashError
from omnislash.runtime.tools.catalog import TOOLS
from omnislash.surfaces.mcp import deleting
from omnislash.surfaces.mcp.answered import Answered
from omnislash.surfaces.mcp.progress import run_told
from omnislash.surfaces.mcp.seat import explain
from omnislash.surfaces.mcp.shapes import offer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult, PaginatedRequestParams

    from omnislash.surfaces.mcp.seat import Seat
    from omnislash.surfaces.mcp.serving import Service

_LOG = logging.getLogger(__name__)
#: Tools that may take long enough for a client to want to know how far they are.
_LONG: Final = frozenset({"memory_search", "doctor_report", "agent_task"})
#: Tools that may change memory: their thread is waited for before the server ends.
_LANDING: Final = frozenset(name for name, tool in TOOLS.items() if tool.mutates or name == "agent_task")


async def list_tools(
    ctx: ServerRequestContext[Service, Any], _params: PaginatedRequestParams | None
) -> ListToolsResult:
    """Return the tools that the role is granted now."""
    service = ctx.lifespan_context
    names = await service.calls.run(lambda: service.seat.agent().tools)
    return ListToolsResult(tools=[offer(TOOLS[name]) for name in names])


async def call_tool(
    ctx: ServerRequestContext[Service, Any], params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    """Run a tool and return its answer.

    A deletion that a person has to agree to is asked about where the client can ask (TOOL-16).

    Raises:
        MCPError: There is no tool of that name at all.
    """
    if params.name not in TOOLS:
        message = f"Unknown tool: {params.name[:100]!r}. tools/list shows the ones that this role has."
        raise MCPError(code=INVALID_PARAMS, message=message)
    decided = await deleting.take_reply(ctx, params)
    if decided is not None:
        return Answered(decided).to_result()
    found = await _run(ctx, params.name, params.arguments or {})
    is_first = params.request_state is None  # who gave no yes or no is not asked the same again
    if params.name == deleting.TOOL and is_first and found.answer is not None:
        asked = await deleting.ask_person(ctx, found.answer)
        return asked if asked is not None else found.to_result()
    return found.to_result()


async def _run(ctx: ServerRequestContext[Service, Any], name: str, arguments: Mapping[str, Any]) -> Answered:
    service = ctx.lifespan_context
    work = partial(attempt, service.seat, name, arguments)
    lands = name in _LANDING
    if name in _LONG:
        return await run_told(ctx, service.calls, work, lands=lands)
    return await service.calls.run(work, lands=lands)


def attempt(seat: Seat, name: str, arguments: Mapping[str, Any]) -> Answered:
    """Run a tool in this thread and return what came of it, whatever that is."""
    try:
        return Answered(seat.agent().call(name, arguments).to_json())
    except OmnislashError as error:
        return Answered(None, explain(error))
    except Exception as error:  # noqa: BLE001 - a mistake of ours is told to the agent and ends no connection
        _LOG.exception("the tool %s failed", name, extra={"action": "tool_failed", "tool": name})
        return Answered(None, f"Something went wrong inside omnislash: {type(error).__name__}. Nothing more is known.")
