"""A deletion that a person has to agree to, asked about in the client where it can ask.

The engine has noted the question already; what the person says there is the decision that `omnislash approvals` would take.
Without an answer the question stays open.

A client of the protocol up to 2025-11-25 is sent a request of ours while its call waits.
A later one gets the question as the answer of its call, and calls again with what the person said.

Rules: TOOL-16.
Source: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from omnislash.core import verdicts
from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError
from omnislash.surfaces.mcp.answered import Answered

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams

    from omnislash.engine import Brain
    from omnislash.runtime.approvals import Approval
    from omnislash.surfaces.mcp.seat import Seat
    from omnislash.surfaces.mcp.serving import Service

#: The tool that this is about.
TOOL: Final = "memory_delete"
#: How long a person may think about it before the question is left to `omnislash approvals`, in seconds.
PATIENCE_S: Final = 600.0
#: Name of the one field of the form, and of the one question in an answer.
_FIELD: Final = "delete"
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "boolean",
            "title": "Delete it",
            "description": "Yes deletes it now; no keeps it.",
            "default": False,
        }
    },
    "required": [_FIELD],
}
#: How much of an entry a person is shown, in characters; more does not fit into a form.
_SHOWN: Final = 1500


async def ask_person(
    ctx: ServerRequestContext[Service, Any], answer: dict[str, Any]
) -> CallToolResult | InputRequiredResult | None:
    """Ask about a deletion that waits for approval, and return what came of it.

    Args:
        ctx: The request.
        answer: The verdict of the deletion.

    Returns:
        None where nothing is to be asked, nobody can be asked, or nobody said yes or no.
    """
    if answer["outcome"] != Outcome.APPROVAL_REQUIRED.value or not _can_ask(ctx):
        return None
    service, approval_id = ctx.lifespan_context, answer["approval"]
    approval = await service.calls.run(lambda: _find(service.seat.brain, approval_id))
    if approval is None or approval.state != "open":
        return None
    question = ElicitRequestFormParams(message=describe(approval), requested_schema=_FORM)
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return InputRequiredResult(input_requests={_FIELD: ElicitRequest(params=question)}, request_state=approval_id)
    said = await _ask_now(ctx, question)
    decided = None if said is None else await _decide(service, approval_id, said)
    return None if decided is None else Answered(decided).to_result()


async def take_reply(ctx: ServerRequestContext[Service, Any], params: CallToolRequestParams) -> dict[str, Any] | None:
    """Return the verdict that a person's reply in this call leads to; None when the call carries no yes or no.

    The state that names the approval is sealed on its way: a client can't make up another one.
    """
    reply = (params.input_responses or {}).get(_FIELD)
    if params.name != TOOL or params.request_state is None or not isinstance(reply, ElicitResult):
        return None
    return await _decide(ctx.lifespan_context, params.request_state, reply)


def describe(approval: Approval) -> str:
    """Return the question for a person: exactly what would be deleted, and who wants it."""
    arguments, path = approval.arguments, approval.arguments["path"]
    if entry := arguments.get("entry"):
        shown = entry if len(entry) <= _SHOWN else f"{entry[:_SHOWN]} … ({len(entry)} characters)"
        what = f"this entry from {path}:\n\n{shown}\n\n"
    elif section := arguments.get("section"):
        what = f"the section {section!r} from {path}? "
    else:
        what = f"the whole file {path}? "
    who = f"{approval.role} · {approval.heartbeat}" if approval.heartbeat else f"{approval.role}"
    return f"Delete {what}The agent {who} asks for it. Git history keeps what was committed."


def _can_ask(ctx: ServerRequestContext[Service, Any]) -> bool:
    """Tell whether the client shows forms; one that only says it can ask means forms."""
    capabilities = ctx.session.client_capabilities
    asks = capabilities.elicitation if capabilities else None
    if asks is None or (asks.form is None and asks.url is not None):
        return False
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.can_send_request


async def _ask_now(ctx: ServerRequestContext[Service, Any], question: ElicitRequestFormParams) -> ElicitResult | None:
    """Return what the person said; None when the client could not ask, or the person took too long."""
    with anyio.move_on_after(PATIENCE_S):
        try:
            return await ctx.session.elicit_form(question.message, question.requested_schema, ctx.request_id)
        except (MCPError, ValidationError):
            return None
    return None


async def _decide(service: Service, approval_id: str, said: ElicitResult) -> dict[str, Any] | None:
    """Do what the person said and return the verdict; None leaves the question open."""
    yes = (said.content or {}).get(_FIELD)
    if said.action == "accept" and yes is True:
        return await service.calls.run(lambda: _grant(service.seat, approval_id), lands=True)
    if said.action == "decline" or (said.action == "accept" and yes is False):
        return await service.calls.run(lambda: _turn_down(service.seat.brain, approval_id), lands=True)
    return None


def _grant(seat: Seat, approval_id: str) -> dict[str, Any]:
    """Delete what was granted, as long as the role may still ask for it: a right taken away meanwhile counts (TOOL-05)."""
    try:
        agent = seat.agent()
        if TOOL not in agent.tools:
            message = f"The role {agent.scope.role!r} may not delete any more; nothing was deleted, and the question stays open."
            return verdicts.refused(message).to_json()
        return seat.brain.approve(approval_id).to_json()
    except OmnislashError as error:
        return verdicts.refused(error.message).to_json()


def _turn_down(brain: Brain, approval_id: str) -> dict[str, Any]:
    try:
        what = brain.refuse(approval_id).what
    except OmnislashError as error:
        return verdicts.refused(error.message).to_json()
    return verdicts.refused(f"A person was asked and declined: {what} stays. Do not ask for it again.").to_json()


def _find(brain: Brain, approval_id: str) -> Approval | None:
    return next((each for each in brain.approvals(state=None) if each.id == approval_id), None)
