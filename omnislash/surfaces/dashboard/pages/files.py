"""One file of a line: read, raw, edited as a whole against the hash at which it was opened, or deleted.

As JSON a file is `{path, line, view, file, typed, hash, refusal, zone}`: `file` is `FileView.to_json` and null where there is
none, `typed` what a refused save held, `hash` what the next save has to send, `refusal` `{message, stale}` or null,
`difference` the lines of a unified difference from what is on disk to `typed` after a stale save, `drop` the dated
sections that a save would drop, as `Drop.to_json`.
A form sends `action` (`save` or `delete`), `hash`, and `content` for a save; as JSON its answer is `Saved.to_json`.
A save that would drop dated sections answers 409 with `drop`, and is made when it is sent again with `agreed`.

Rules: DASH-05, DASH-06, DASH-O3, BUDGET-05, BUDGET-07, BUDGET-11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError
from omnislash.runtime.knowledge.documents import EDIT_MAX_BYTES, PAGE_CHARS
from omnislash.store.hashing import ABSENT
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form, wants_json
from omnislash.surfaces.dashboard.comparing import compare
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.zones import localise

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.engine import Brain
    from omnislash.runtime.knowledge.documents import FileView
    from omnislash.runtime.knowledge.dropping import Drop
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
    if saved.is_stale or saved.drop:
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
        "difference": None,
        "drop": None,
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
            saved = knowledge.save(path, typed, expect_hash=expected, agreed=form.word("agreed") or "")
    except OmnislashError as error:
        if wants_json(request) or is_deletion:
            raise
        return _show_again(request, path, typed, Refusal(error.message, 422))
    if wants_json(request):
        return JSONResponse(saved.to_json(), status_code=status_of(saved))
    if saved.is_settled or is_deletion:
        return _lead_on(request, saved, is_deletion=is_deletion)
    return _show_again(request, path, typed, Refusal(saved.verdict.message, status_of(saved), saved))


def _lead_on(request: Request, saved: Saved, *, is_deletion: bool) -> Response:
    """Lead on to the file, or to the line when there is no file any more."""
    is_gone = is_deletion and saved.hash == ABSENT
    place = saved.path.partition("/")[0] if is_gone else saved.path
    return go(request, f"/knowledge/{place}", Notice(mood_of(saved), saved.verdict.message))


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a save was not made."""

    message: str
    #: Of HTTP.
    status: int
    #: What the engine says of it; None when it never got so far.
    saved: Saved | None = None

    @property
    def is_stale(self) -> bool:
        """Tell whether the file is another one than the person had opened."""
        return self.saved is not None and self.saved.is_stale

    @property
    def drop(self) -> Drop | None:
        """Return what would be dropped, which a person has to agree to first."""
        return self.saved.drop if self.saved is not None else None


def _show_again(request: Request, path: str, typed: str, refusal: Refusal) -> Response:
    """Show what was typed beside what is on disk now, and why it was not saved."""
    brain = desk_of(request).brain
    file = _try_read(brain.knowledge, path)
    content = describe_file(path, file, "edit", zone=zone_of(brain))
    content |= {"typed": typed, "refusal": {"message": refusal.message, "stale": refusal.is_stale}}
    if refusal.is_stale and file is not None:
        content["difference"] = compare(file.text.shown, typed)
    content["drop"] = refusal.drop.to_json() if refusal.drop else None
    notice = Notice(Mood.BAD, refusal.message)
    return show(request, Shown("knowledge_file.html", content, status=refusal.status, notice=notice))


def _try_read(knowledge: Knowledge, path: str) -> FileView | None:
    try:
        return knowledge.read(path, limit=EDIT_MAX_BYTES)
    except OmnislashError:
        return None


ROUTES: Final[tuple[Route, ...]] = (
    Route("/knowledge/{line}/{path:path}", show_file),
    Route("/knowledge/{line}/{path:path}", change_file, methods=["POST"]),
)
