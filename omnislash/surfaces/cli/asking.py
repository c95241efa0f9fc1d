"""One tool call of a role: over the worker's socket when one runs, else in this process.

Both ways give the same answer.
When the socket broke after the request was sent, the job id is used again, so that the queue's table answers for a
write that landed already and it is never made twice.

Rules: WRITE-03, WRITE-O5, WRITE-O8, BOUNDARY-08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnislash.store import ids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.surfaces.cli.options import Settings


def call_tool(
    settings: Settings, tool: str, *, role: str, heartbeat: str | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer of a tool as an object.

    Args:
        settings: The brain and the rest.
        tool: Name of the tool.
        role: Who acts.
        heartbeat: The heartbeat or hook that runs it; None in a chat.
        arguments: As JSON has them; None means left out.

    Raises:
        OmnislashError: As the tool says, or the brain does not load.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    job = ids.new_job_id()
    if settings.now is None and not settings.replay:
        from omnislash.surfaces.cli import fast  # noqa: PLC0415 - not needed for a replay

        root = settings.find_root()
        answer = fast.call(root, tool, role=role, heartbeat=heartbeat, arguments=given, job=job)
        if answer is not None:
            return answer
    with settings.open_brain() as brain:
        agent = brain.agent(role, heartbeat=heartbeat, replay=settings.replay)
        return agent.call(tool, given, job_id=job).to_json()
