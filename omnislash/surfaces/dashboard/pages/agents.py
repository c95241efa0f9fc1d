"""`/agents`: every role with what it may do and see; `/agents/{role}`: what a turn of it would carry, block by block.

`GET /agents` answers `{roles, faults, warnings, rejected}`, each role as
`{id, name, description, path, shipped, model, modelRef, skills, capabilities: [{capability, tools, needsApproval}], line,
reads, recalls, reports, memory: [{key, value, origin, unit, help}], fileMaxChars, memoryFlush, memoryKeep, heartbeats,
chats}`, with a line of null for a role without memory.

`GET /agents/{role}?heartbeat=&session=&message=` answers:

    form       what was asked, as it was written
    errors     what is wrong with it, a sentence by field
    role       the role as above, as the heartbeat runs it when one is named
    sessions   {sessions, truncated} of this role
    fresh      what the first turn of a new session carries: {session, carrier, line, blocks, recall, notice, chars}
    resumed    the same for the session that was named; null without one

Nothing is sent and nothing is noted.

Rules: DECLARE-01, KNOB-24, TOOL-05, TOOL-06, ENVELOPE-03 to ENVELOPE-10, RECALL-02, BOUNDARY-13 to BOUNDARY-15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.routing import Route

from omnislash.errors import MissingFileError, UsageError
from omnislash.surfaces.dashboard.answering import Shown, show
from omnislash.surfaces.dashboard.desk import desk_of
from omnislash.surfaces.dashboard.places import link_file
from omnislash.surfaces.dashboard.zones import localise

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.brain.files import BrainFiles
    from omnislash.engine import Brain

#: Sessions of a role that may be chosen.
_SESSIONS: Final = 30
_FIELDS: Final = ("heartbeat", "session", "message")


def show_agents(request: Request) -> Response:
    """Show every role, and what keeps others from loading."""
    return show(request, Shown("agents.html", desk_of(request).brain.oversight.roles().to_json()))


def show_agent(request: Request) -> Response:
    """Show one role, and what a turn of it would carry."""
    brain = desk_of(request).brain
    role = _find_role(brain.config, request.path_params["role"])
    typed = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
    errors: dict[str, str] = {}
    zone = ZoneInfo(brain.config.manifest.locale.timezone)
    beat = _find_beat(brain, role, typed["heartbeat"], errors)
    content = {
        "form": typed,
        "errors": errors,
        "role": brain.oversight.role(role, heartbeat=beat).to_json(),
        "sessions": localise(brain.sessions(role=role, limit=_SESSIONS).to_json(), zone),
        **_preview(brain, role, beat, typed, errors),
    }
    return show(request, Shown("agent.html", content, status=400 if errors else 200))


def _find_role(config: BrainFiles, asked: str) -> str:
    """Return the id of a role.

    Raises:
        MissingFileError: There is no such role; the hint says what is wrong with its file.
    """
    try:
        return config.find_role(asked).id
    except UsageError as error:
        raise MissingFileError(error.message, hint=error.hint) from error


def _find_beat(brain: Brain, role: str, asked: str, errors: dict[str, str]) -> str | None:
    """Return the heartbeat or hook that was named; None when there is none, or it runs another role."""
    if not asked:
        return None
    try:
        beat = brain.agent(role, heartbeat=asked).scope.heartbeat
    except UsageError as error:
        errors["heartbeat"] = error.message
        return None
    return beat


def _preview(
    brain: Brain, role: str, beat: str | None, typed: dict[str, str], errors: dict[str, str]
) -> dict[str, dict[str, Any] | None]:
    agent, message = brain.agent(role, heartbeat=beat), typed["message"] or None
    resumed = None
    if typed["session"]:
        try:
            resumed = agent.preview(session=typed["session"], message=message).to_json()
        except UsageError as error:
            errors["session"] = error.message
    fresh = agent.preview(message=message).to_json()
    for seen in (fresh, resumed):
        for block in seen["blocks"] if seen else ():
            block["href"] = link_file(block["place"], brain.config.sources) if "/" in block["place"] else None
    return {"fresh": fresh, "resumed": resumed}


ROUTES: Final = (Route("/agents", show_agents), Route("/agents/{role}", show_agent))
