"""One file of a line: read, raw, edited as a whole against the hash at which it was opened, or deleted.

As JSON a file is `{path, line, view, file, typed, hash, refusal, zone}`: `file` is `FileView.to_json` and null where there is
none, `typed` what a refused save held, `hash` what the next save has to send, `refusal` `{message, stale}` or null.
A form sends `action` (`save` or `delete`), `hash`, and `content` for a save; as JSON its answer is `Saved.to_json`.

Rules: DASH-05, DASH-06, DASH-O3, BUDGET-05, BUDGET-07, BUDGET-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError
from omnislash.runtime.knowledge.documents import EDIT_MAX_BYTES, PAGE_CHARS
from omnislash.store.hashing import ABSENT
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form, wants_json
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.zones import localise

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.engine import Brain
    from omnislash.runtime.knowledge.documents import FileView
    from omnislash.runtime.knowledge.knowledge import Knowledge
    from omnislash.runtime.knowledge.saving import Saved
    from omnislash.surfaces.dashboard.forms import Form

_VIEWS: Final = ("read", "raw", "edit", "delete")
#: Digits of a number in an address; a longer one is none that a page gave.
_DIGITS_MAX: Final = 12


def parse_number(text: str | None, default: int) -> int:
    """Return a whole number of an address; the default for anything else."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX
    return int(text) if text is not None and is_number else default


def view_of(request: Request) -> str:
    """Return which view of a file is asked for: `read`, `raw`, `edit` or `delete`."""
    asked = request.query_params.get("view", "read")
    return asked if asked in _VIEWS else "read"


def mood_of(saved: Saved) -> Mood:
    """Return how the notice of a change looks."""
    if not saved.is_settled:
        return Mood.BAD
    return Mood.GOOD if saved.verdict.outcome is Outcome.WRITTEN else Mood.PLAIN


def status_of(saved: Saved) -> int:
    """Return the HTTP status of a change: 409 for a stale hash, 422 for a refusal, 503 when the machine said no."""
    if saved.is_stale:
        return 409
    return {Outcome.REFUSED: 422, Outcome.FAILED: 503}.get(saved.verdict.outcome, 200)


def show_file(request: Request) -> Response:
    """Show a file of a line."""
    line, rest = request.path_params["line"], request.path_params["path"]
    if not rest:
        return RedirectResponse(link(f"/knowledge/{line}"), status_code=303)
    path, view = f"{line}/{rest}", view_of(request)
    brain = desk_of(request).brain
    offset = parse_number(request.query_params.get("offset"), 0) if view == "raw" else 0
    limit = EDIT_MAX_BYTES if view == "edit" else PAGE_CHARS
    file = brain.knowledge.read(path, offset=offset, limit=limit)
    return show(request, Shown("knowledge_file.html", describe_file(path, file, view, zone=zone_of(brain))))


def zone_of(brain: Brain) -> str:
    """Return the time zone of a brain."""
    return brain.config.manifest.locale.timezone


def tell_times(content: dict[str, Any], zone: str) -> dict[str, Any]:
    """Return an object with its instants in the brain's zone, and `zone`."""
    told: dict[str, Any] = localise(content, ZoneInfo(zone))
    return {**told, "zone": zone}


def describe_file(path: str, file: FileView | None, view: str, *, zone: str) -> dict[str, Any]:
    """Return a file as its page and its JSON have it."""
    content = {
        "path": path,
        "line": path.partition("/")[0],
        "view": view,
        "file": file.to_json() if file else None,
        "typed": None,
        "hash": file.hash if file else ABSENT,
        "refusal": None,
    }
    return tell_times(content, zone)


@takes_form
def change_file(request: Request, form: Form) -> Response:
    """Save or delete a file."""
    path = f"{request.path_params['line']}/{request.path_params['path']}"
    is_deletion = form.word("action") == "delete"
    knowledge = desk_of(request).brain.knowledge
    typed, expected = form.text("content"), form.word("hash") or ""
    try:
        if is_deletion:
            saved = knowledge.delete(path, expect_hash=expected)
        else:
            saved = knowledge.save(path, typed, expect_hash=expected)
    except OmnislashError as error:
        if wants_json(request) or is_deletion:
            raise
        return _show_again(request, path, typed, error.message, status=422)
    if wants_json(request):
        return JSONResponse(saved.to_json(), status_code=status_of(saved))
    if saved.is_settled or is_deletion:
        return _lead_on(request, saved, is_deletion=is_deletion)
    return _show_again(request, path, typed, saved.verdict.message, status=status_of(saved), is_stale=saved.is_stale)


def _lead_on(request: Request, saved: Saved, *, is_deletion: bool) -> Response:
    """Lead on to the file, or to the line when there is no file any more."""
    is_gone = is_deletion and saved.hash == ABSENT
    place = saved.path.partition("/")[0] if is_gone else saved.path
    return go(request, f"/knowledge/{place}", Notice(mood_of(saved), saved.verdict.message))


def _show_again(
    request: Request, path: str, typed: str, message: str, *, status: int, is_stale: bool = False
) -> Response:
    """Show what was typed beside what is on disk now, and why it was not saved."""
    brain = desk_of(request).brain
    file = _try_read(brain.knowledge, path)
    content = describe_file(path, file, "edit", zone=zone_of(brain))
    content |= {"typed": typed, "refusal": {"message": message, "stale": is_stale}}
    return show(request, Shown("knowledge_file.html", content, status=status, notice=Notice(Mood.BAD, message)))


def _try_read(knowledge: Knowledge, path: str) -> FileView | None:
    try:
        return knowledge.read(path, limit=EDIT_MAX_BYTES)
    except OmnislashError:
        return None


ROUTES: Final[tuple[Route, ...]] = (
    Route("/knowledge/{line}/{path:path}", show_file),
    Route("/knowledge/{line}/{path:path}", change_file, methods=["POST"]),
)
