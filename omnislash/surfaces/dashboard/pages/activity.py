"""`/activity`: who wrote what and what became of it, what waits, and the deletions that a person has to decide about.

`GET /activity?path=&line=&limit=&cursor=` answers:

    form       the filters, as they were written
    errors     what is wrong with them, a sentence by field
    lines      the lines that there are
    zone       IANA name of the zone that every instant here is given in
    log        {rows, nextCursor?} as audit_list has them, newest first; each path as {path, href}
    queue      {worker, waiting, running, lines, jobs, truncated, verdicts}
    approvals  {open, total, decided}; each open one with the text that would go
    sessions   {sessions, truncated} as `omnislash chat` lists them

`POST /activity/approve` and `/activity/refuse` take `id`, and answer with the verdict as a notice.

Rules: DASH-06, TOOL-04, TOOL-16, WRITE-11, WRITE-O7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.routing import Route

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError, UsageError
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.pages.search_form import parse_limit
from omnislash.surfaces.dashboard.places import link_file
from omnislash.surfaces.dashboard.zones import localise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.brain.files import BrainFiles
    from omnislash.engine import Brain
    from omnislash.surfaces.dashboard.forms import Form

#: Rows on a page when nobody says, and at most.
_ROWS: Final = 50
_ROWS_MAX: Final = 500
#: Longest filters, as `audit_list` takes them.
_PATH_MAX: Final = 1_000
_LINE_MAX: Final = 100
#: Sessions that are listed.
_SESSIONS: Final = 10
_MOODS: Final = {
    Outcome.WRITTEN: Mood.GOOD,
    Outcome.QUEUED: Mood.PLAIN,
    Outcome.UNCONFIRMED: Mood.PLAIN,
}


def show_activity(request: Request) -> Response:
    """Show the action log, the queue, the approvals and the sessions."""
    brain = desk_of(request).brain
    config = brain.config  # asked for once: each time it looks at the files of the configuration
    typed = {name: request.query_params.get(name, "").strip() for name in ("path", "line", "limit", "cursor")}
    errors: dict[str, str] = {}
    log = _read_log(brain, typed, errors)
    content = {
        "form": typed,
        "errors": errors,
        "lines": sorted(config.lines_on_disk),
        "log": log,
        "queue": brain.oversight.queue().to_json(),
        "approvals": brain.oversight.approvals().to_json(),
        "sessions": brain.sessions(limit=_SESSIONS).to_json(),
        "older": _link_older(request.query_params, log),
    }
    _link_paths(content, config)
    zone = config.manifest.locale.timezone
    shown = {**localise(content, ZoneInfo(zone)), "zone": zone}
    return show(request, Shown("activity.html", shown, status=400 if errors else 200))


def _read_log(brain: Brain, typed: Mapping[str, str], errors: dict[str, str]) -> dict[str, Any]:
    """Return the rows that are asked for; no rows and a sentence when that makes no sense."""
    limit = _ROWS if not typed["limit"] else parse_limit(typed["limit"], most=_ROWS_MAX)
    path = typed["path"].removeprefix(f"{MANAGED_ROOT}/")
    if limit is None:
        errors["limit"] = f"Write a whole number from 1 to {_ROWS_MAX}."
    if len(path) > _PATH_MAX:
        errors["path"] = f"A path has at most {_PATH_MAX} characters."
    if len(typed["line"]) > _LINE_MAX:
        errors["line"] = f"The name of a line has at most {_LINE_MAX} characters."
    if errors or limit is None:
        return {"rows": []}
    try:
        page = brain.audit(path=path or None, line=typed["line"] or None, limit=limit, cursor=typed["cursor"] or None)
    except UsageError as error:
        errors["cursor"] = error.message
        return {"rows": []}
    return page.to_json()


def _link_older(asked: QueryParams, log: Mapping[str, Any]) -> str | None:
    if "nextCursor" not in log:
        return None
    filters: dict[str, str | float | None] = {name: asked.get(name) or None for name in ("path", "line", "limit")}
    return link("/activity", **filters, cursor=log["nextCursor"])


def _link_paths(content: Mapping[str, Any], config: BrainFiles) -> None:
    """Put beside each managed path the link to it."""
    for row in (*content["log"]["rows"], *content["queue"]["verdicts"]):
        row["paths"] = [{"path": path, "href": _link(path, config)} for path in row["paths"]]
    for approval in (*content["approvals"]["open"], *content["approvals"]["decided"]):
        approval["href"] = _link(approval["arguments"]["path"], config)


def _link(path: str, config: BrainFiles) -> str | None:
    """Return the link to a file of a line that there is; of a path that somebody made up None."""
    return link_file(path, config.sources) if path.partition("/")[0] in config.lines_on_disk else None


# -- approvals -------------------------------------------------------------------------------------------------------


@takes_form
def approve(request: Request, form: Form) -> Response:
    """Grant a deletion, wait for the writer, and say what came of it (TOOL-16)."""
    try:
        verdict = desk_of(request).brain.approve(form.text("id"))
    except OmnislashError as error:
        return go(request, "/activity", Notice(Mood.BAD, error.message))
    return go(request, "/activity", Notice(_MOODS.get(verdict.outcome, Mood.BAD), verdict.message))


@takes_form
def refuse(request: Request, form: Form) -> Response:
    """Turn a deletion down; nothing is deleted."""
    try:
        approval = desk_of(request).brain.refuse(form.text("id"))
    except OmnislashError as error:
        return go(request, "/activity", Notice(Mood.BAD, error.message))
    return go(request, "/activity", Notice(Mood.GOOD, f"Refused: {approval.what} stays."))


ROUTES: Final = (
    Route("/activity", show_activity),
    Route("/activity/approve", approve, methods=["POST"]),
    Route("/activity/refuse", refuse, methods=["POST"]),
)
