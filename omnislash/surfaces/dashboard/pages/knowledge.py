"""The Knowledge page: every line with its memory, ladder, logs and documents, and a new file in a line.

As JSON, `/knowledge` and `/knowledge/<line>` are `LineView.to_json`: `{line, summary, lines, days, ladder, documents,
conflictCopies, misplaced}`, with the `zone` of the instants.

Rules: DASH-01 to DASH-04, DASH-O1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse
from starlette.routing import Route

from omnislash.errors import OmnislashError
from omnislash.runtime.knowledge.line_views import Browse
from omnislash.store.hashing import ABSENT
from omnislash.surfaces.dashboard.answering import Shown, go, show, takes_form, wants_json
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.pages import files, sources
from omnislash.surfaces.dashboard.pages.files import mood_of, status_of, tell_times, zone_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.surfaces.dashboard.forms import Form


def show_start(request: Request) -> Response:
    """Show the line on which a person starts."""
    return _show_line(request, None)


def show_line(request: Request) -> Response:
    """Show a line."""
    return _show_line(request, request.path_params["line"])


def _show_line(request: Request, line: str | None) -> Response:
    asked = request.query_params
    browse = Browse(
        year=asked.get("year"),
        month=asked.get("month"),
        folder=asked.get("folder", "").strip("/"),
        page=files.parse_number(asked.get("page"), 1),
    )
    brain = desk_of(request).brain
    view = brain.knowledge.line(line, browse)
    return show(request, Shown("knowledge.html", tell_times(view.to_json(), zone_of(brain))))


# -- a new file ------------------------------------------------------------------------------------------------------


def show_new(request: Request) -> Response:
    """Show the form of a new file: `{line, name, typed, drop}`, empty."""
    line = request.path_params["line"]
    desk_of(request).brain.knowledge.check_line(line)
    return show(request, Shown("knowledge_new.html", {"line": line, "name": "", "typed": "", "drop": None}))


@takes_form
def make_file(request: Request, form: Form) -> Response:
    """Make a file of `name` and `content`; as JSON the answer is `Saved.to_json`."""
    line, name, typed = request.path_params["line"], form.word("name") or "", form.text("content")
    path = f"{line}/{name}" if name.endswith(".md") else f"{line}/{name}.md"
    knowledge = desk_of(request).brain.knowledge
    knowledge.check_line(line)
    shown: dict[str, Any] = {"line": line, "name": name, "typed": typed, "drop": None}
    try:
        saved = knowledge.save(path, typed, expect_hash=ABSENT, agreed=form.word("agreed") or "")
    except OmnislashError as error:
        return _show_refused(request, shown, error.message, 422)
    if wants_json(request):
        return JSONResponse(saved.to_json(), status_code=status_of(saved))
    if saved.is_settled:
        return go(request, f"/knowledge/{path}", Notice(mood_of(saved), saved.verdict.message))
    message = saved.verdict.message
    if saved.is_stale:
        message = f"There is a file {path} already; nothing was saved. Choose another name."
    shown["drop"] = saved.drop.to_json() if saved.drop else None
    return _show_refused(request, shown, message, status_of(saved))


def _show_refused(request: Request, content: dict[str, Any], message: str, status: int) -> Response:
    notice = Notice(Mood.BAD, message)
    shown = {**content, "message": message} if wants_json(request) else content
    return show(request, Shown("knowledge_new.html", shown, status=status, notice=notice))


ROUTES: Final[tuple[Route, ...]] = (
    Route("/knowledge", show_start),
    Route("/knowledge/{line}", show_line),
    Route("/knowledge/{line}/new", show_new),
    Route("/knowledge/{line}/new", make_file, methods=["POST"]),
    *files.ROUTES,
    *sources.ROUTES,
)
