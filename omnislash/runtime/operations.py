"""What a worker does for callers on its socket: the same as in their own process, with everything loaded already.

Rules: WRITE-O8, REPORT-O5; a replay is never asked of a worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from omnislash.errors import OmnislashError
from omnislash.runtime.delivery import Noted, Unsent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.runtime.agents import Agent
    from omnislash.runtime.tools.catalog import Answer

    #: Runs one request and returns `{answer}` or `{failure}`.
    Operation = Callable[[dict[str, Any]], dict[str, Any]]


class MakeAgent(Protocol):
    """Resolves a role for one turn, as `Brain.agent` does."""

    def __call__(self, role: str, *, heartbeat: str | None = None) -> Agent:
        """Return the agent; OmnislashError when there is none."""
        ...


def make_operations(make_agent: MakeAgent) -> Mapping[str, Operation]:
    """Return the operations of a worker by name; each request names `role`, `heartbeat` and the arguments."""

    def serve(run: Callable[[Agent, dict[str, Any]], Answer]) -> Operation:
        return lambda request: _answer(make_agent, request, run)

    return {
        "call": serve(lambda agent, given: agent.call(given["tool"], given["arguments"], job_id=given.get("job"))),
        "envelope": serve(lambda agent, given: Unsent(agent.deliver(**given["arguments"]))),
        "sent": serve(_confirm),
        "recall": serve(lambda agent, given: agent.recall(**given["arguments"])),
        "explain": serve(lambda agent, given: agent.memory.explain(**given["arguments"])),
    }


def _confirm(agent: Agent, given: dict[str, Any]) -> Noted:
    sent = Unsent.parse(given["arguments"])
    agent.confirm(sent)
    return Noted(sent.session)


def _answer(
    make_agent: MakeAgent, request: dict[str, Any], run: Callable[[Agent, dict[str, Any]], Answer]
) -> dict[str, Any]:
    try:
        agent = make_agent(request["role"], heartbeat=request.get("heartbeat"))
        return {"answer": run(agent, request).to_json()}
    except OmnislashError as error:
        return {"failure": error.to_json()}
