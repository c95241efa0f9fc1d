"""`/heartbeats`: what runs by itself, when, and with what result; `/heartbeats/{name}`: one of them with its prompt.

`GET /heartbeats` answers `{timezone, heartbeats, hooks, faulty}`: heartbeats and hooks as `heartbeat list` has them, each
with `description`, `path`, `inWords` (null where no short phrase is true of the schedule), `isRunning`, `href` and
`roleHref`; `faulty` names the files that never run, with what is wrong.

`GET /heartbeats/{name}` answers `{timezone, kind, beat, prompt, agent, runs, begun}`: the beat as above, its prompt as it
was written, its agent as `/agents` has it (null when the role does not load), and its newest runs
`[{startedAt, dueAt, outcome, message?}]`, the last first. With `?run=<startedAt>` `begun` is that run with its `writes`,
`[{at, outcome, tool, paths: [{path, href}]}]`, the newest first; else null.

`POST /heartbeats/{name}/run` begins a run, and answers at once; what comes of it is seen in `runs`.

Rules: RESOLVE-03, KNOB-23, REPORT-02; failure case O-39.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.routing import Route

from omnislash.errors import MissingFileError, OmnislashError, UsageError
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form, wants_json
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.places import link_file
from omnislash.surfaces.dashboard.schedule_words import tell_schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.engine import Brain
    from omnislash.runtime.beats.beat_runs import BeatRun
    from omnislash.runtime.beats.listing import BeatState
    from omnislash.runtime.tools.auditing import AuditRow
    from omnislash.surfaces.dashboard.forms import Form

#: Runs that the page of one beat shows, and rows of the action log in which its writes are looked for.
_RUNS: Final = 20
_WRITES: Final = 200


def show_heartbeats(request: Request) -> Response:
    """Show every heartbeat and hook, and the files that never run."""
    brain = desk_of(request).brain
    found = brain.heartbeats()
    content = {
        "timezone": brain.config.manifest.locale.timezone,
        "heartbeats": [_draw(state) for state in found.heartbeats],
        "hooks": [_draw(state) for state in found.hooks],
        "faulty": found.to_json()["faulty"],
    }
    return show(request, Shown("heartbeats.html", content))


def show_heartbeat(request: Request) -> Response:
    """Show one heartbeat or hook."""
    brain = desk_of(request).brain
    state = _find(brain, request.path_params["name"])
    zone = ZoneInfo(brain.config.manifest.locale.timezone)
    drawn, runs = _draw(state), brain.beat_runs(state.beat.id, limit=_RUNS)
    content = {
        "timezone": zone.key,
        "kind": "heartbeat" if "schedule" in drawn else "hook",
        "beat": drawn,
        "prompt": state.beat.body,
        "agent": brain.oversight.role(state.beat.role, heartbeat=state.beat.id).to_json(),
        "runs": [_draw_run(run, zone) for run in runs],
        "begun": _draw_begun(brain, runs, request.query_params.get("run"), zone),
    }
    return show(request, Shown("heartbeat.html", content))


@takes_form
def run_heartbeat(request: Request, _form: Form) -> Response:
    """Begin a run; the answer comes before it is over."""
    brain, name = desk_of(request).brain, request.path_params["name"]
    state = _find(brain, name)
    try:
        run = brain.start_heartbeat(state.beat.id)
    except OmnislashError as error:
        hint = f" {error.hint}" if error.hint else ""
        return go(request, _href(state), Notice(Mood.BAD, f"{error.message}{hint}"))
    if run.message:
        return go(request, _href(state), Notice(Mood.PLAIN, f"{state.beat.id}: {run.outcome.value}. {run.message}"))
    if wants_json(request):
        return go(request, _href(state), Notice(Mood.GOOD, f"{state.beat.id} runs now."))
    zone = ZoneInfo(brain.config.manifest.locale.timezone)
    return go(request, _href(state), query=[("run", _draw_run(run, zone)["startedAt"])])


def _find(brain: Brain, name: str) -> BeatState:
    """Return a heartbeat or hook.

    Raises:
        MissingFileError: There is none; the hint says what is wrong with its file.
    """
    try:
        beat = brain.config.find_beat(name)
    except UsageError as error:
        raise MissingFileError(error.message, hint=error.hint) from error
    found = brain.heartbeats()
    states = [state for state in (*found.heartbeats, *found.hooks) if state.beat.id == beat.id]
    if not states:  # removed in this moment
        message = f"There is no heartbeat {name!r} any more."
        raise MissingFileError(message)
    return states[0]


def _href(state: BeatState) -> str:
    return f"/heartbeats/{state.beat.id}"


def _draw(state: BeatState) -> dict[str, Any]:
    drawn = state.to_json()
    return {
        **drawn,
        "last": drawn.get("last"),
        "inWords": tell_schedule(drawn["schedule"]) if "schedule" in drawn else None,
        "description": state.beat.description,
        "path": state.beat.path,
        "isRunning": state.last is not None and state.last.outcome.value == "running",
        "href": link(_href(state)),
        "roleHref": link(f"/agents/{state.beat.role}"),
    }


def _draw_run(run: BeatRun, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "startedAt": run.started_at.astimezone(zone).isoformat(timespec="seconds"),
        "dueAt": run.due_at.astimezone(zone).isoformat(timespec="seconds"),
        "outcome": run.outcome.value,
        "message": run.message or None,
    }


def _draw_begun(brain: Brain, runs: Sequence[BeatRun], asked: str | None, zone: ZoneInfo) -> dict[str, Any] | None:
    """Return the run that a person began, and what it has written; None when nobody asks or there is none."""
    for run in runs:
        drawn = _draw_run(run, zone)
        if drawn["startedAt"] == asked:
            rows = brain.audit(limit=_WRITES).rows
            return {**drawn, "writes": [_draw_write(brain, row) for row in rows if _belongs(row, run)]}
    return None


def _belongs(row: AuditRow, run: BeatRun) -> bool:
    """Tell whether a row of the action log is of a run: of its beat, since it began, and no note of the run itself."""
    is_later = datetime.fromisoformat(row.at) >= run.started_at
    return row.heartbeat == run.name and is_later and bool(row.paths)


def _draw_write(brain: Brain, row: AuditRow) -> dict[str, Any]:
    paths = [{"path": path, "href": link_file(path, brain.config.sources)} for path in row.paths]
    return {"at": row.at, "outcome": row.outcome, "tool": row.tool, "paths": paths}


ROUTES: Final[tuple[Route, ...]] = (
    Route("/heartbeats", show_heartbeats),
    Route("/heartbeats/{name}", show_heartbeat),
    Route("/heartbeats/{name}/run", run_heartbeat, methods=["POST"]),
)
