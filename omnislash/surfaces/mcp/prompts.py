"""The prompt `memory`: what a turn of a session carries of memory, for a client that has no hooks.

Rules: ENVELOPE-02 to ENVELOPE-10, RECALL-02, ENVELOPE-27.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteResult,
    Completion,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)

from omnislash.errors import OmnislashError
from omnislash.surfaces.mcp.progress import run_told
from omnislash.surfaces.mcp.resources import may_read

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CompleteRequestParams, GetPromptRequestParams, PaginatedRequestParams

    from omnislash.runtime.delivery import Delivery
    from omnislash.surfaces.mcp.serving import Service

#: Name of the one prompt.
NAME: Final = "memory"
#: The most values that one completion may hold, by the protocol.
_MOST: Final = 100
_PROMPT: Final = Prompt(
    name=NAME,
    title="Memory of this agent",
    description=(
        "What memory has for this turn: MEMORY.md, the period summaries, the last days, and with a message what it "
        "recalls."
    ),
    arguments=[
        PromptArgument(
            name="session",
            title="Session",
            description=(
                "Id of the conversation. Only what it was not sent yet is returned, and noted as sent. "
                "Without it everything is returned and nothing is noted."
            ),
            required=False,
        ),
        PromptArgument(
            name="message",
            title="Message",
            description="What the user says; notes that belong to it are added.",
            required=False,
        ),
    ],
)


async def list_prompts(
    ctx: ServerRequestContext[Service, Any], _params: PaginatedRequestParams | None
) -> ListPromptsResult:
    """Return the prompt; none for a role without memory."""
    service = ctx.lifespan_context
    agent = await service.calls.run(service.seat.agent)
    return ListPromptsResult(prompts=[_PROMPT] if agent.scope.has_memory else [])


async def get_prompt(ctx: ServerRequestContext[Service, Any], params: GetPromptRequestParams) -> GetPromptResult:
    """Return what the turn carries, as the text of a user message; no message when it carries nothing.

    A session's delivery is noted as the last thing before it is returned: a call that is cancelled before that is
    delivered again.

    Raises:
        MCPError: There is no such prompt, or the role has no memory.
    """
    if params.name != NAME:
        fault = f"Unknown prompt: {params.name[:100]!r}. There is one, {NAME}."
        raise MCPError(code=INVALID_PARAMS, message=fault)
    service = ctx.lifespan_context
    given = params.arguments or {}
    session, message = given.get("session"), given.get("message")
    agent = await service.calls.run(service.seat.agent)
    if not agent.scope.has_memory:
        raise MCPError(
            code=INVALID_PARAMS, message=f"The role {agent.scope.role!r} has no memory, so no prompt either."
        )

    def deliver() -> Delivery | OmnislashError:
        try:
            return agent.deliver(session=session, message=message)
        except OmnislashError as error:
            return error

    found = await run_told(ctx, service.calls, deliver)
    if isinstance(found, OmnislashError):
        raise found
    if session is not None:
        await service.calls.run(lambda: agent.confirm(found), lands=True)
    text = found.render()
    messages = [PromptMessage(role="user", content=TextContent(type="text", text=text))] if text else []
    return GetPromptResult(description=_summarise(found, is_new=session is None), messages=messages)


def _summarise(found: Delivery, *, is_new: bool) -> str:
    if not found.render():
        return f"Nothing new for the session {found.session}."
    return f"Memory of the line {found.line}" + ("." if is_new else f", new to the session {found.session}.")


async def complete(ctx: ServerRequestContext[Service, Any], params: CompleteRequestParams) -> CompleteResult:
    """Return values that an argument may take: sessions of this role, or paths that it may read."""
    service = ctx.lifespan_context
    name, begun = params.argument.name, params.argument.value
    if isinstance(params.ref, PromptReference):
        values = await service.calls.run(lambda: _sessions(service, begun)) if name == "session" else []
    else:
        values = await service.calls.run(lambda: _paths(service, begun)) if name == "path" else []
    return CompleteResult(completion=Completion(values=values[:_MOST], has_more=len(values) > _MOST))


def _sessions(service: Service, begun: str) -> list[str]:
    found = service.seat.brain.sessions(role=service.seat.caller.role, limit=10 * _MOST)
    return [each.id for each in found.sessions if each.id.startswith(begun)]


def _paths(service: Service, begun: str) -> list[str]:
    agent = service.seat.agent()
    if not may_read(agent):
        return []
    return [entry.path for entry in agent.memory.list(prefix=begun, limit=_MOST + 1).entries]
