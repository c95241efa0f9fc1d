"""How a page answers: as HTML for a person, as the same object in JSON for a program; and how a form leads on.

A page's object has camelCase keys and holds nothing but what JSON has; the template draws that object.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from omnislash import errors
from omnislash.surfaces.dashboard import drawing, forms
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request

    from omnislash.surfaces.dashboard.forms import Form

#: Names and values of an address, as they stand in it.
Query: TypeAlias = "Sequence[tuple[str, str]]"
_HERE: Final = Path(__file__).parent
#: The pages in the order of the navigation.
NAVIGATION: Final = (
    ("/knowledge", "Knowledge"),
    ("/search", "Search"),
    ("/activity", "Activity"),
    ("/agents", "Agents"),
    ("/heartbeats", "Heartbeats"),
    ("/doctor", "Doctor"),
    ("/help", "Help"),
)
#: HTTP status of each kind of error; every other kind is a fault of this side.
_STATUSES: Final[Mapping[type[errors.OmnislashError], int]] = {
    errors.MissingFileError: 404,
    errors.ScopeError: 403,
    errors.InvalidNameError: 400,
    errors.InvalidContentError: 422,
    errors.UsageError: 400,
    errors.WriterUnavailableError: 503,
    errors.IndexUnavailableError: 503,
}


class _Templates(Environment):
    """Templates that look for a name in an object's keys first, as JSON has them.

    Jinja asks for an attribute before, in vain each time, which is a tenth of what drawing a page takes.
    """

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return what stands under a key; else an attribute, or what is undefined, as Jinja does."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@functools.cache
def _templates() -> Environment:
    """Return the templates: everything that is put into one is escaped, and a name that is not there is an error."""
    templates = _Templates(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    templates.filters.update(drawing.FILTERS)
    templates.globals["navigation"] = NAVIGATION
    return templates


def link(path: str, /, **query: str | float | None) -> str:
    """Return a path of this site with each part quoted, and the query's values that are not None."""
    asked = {name: value for name, value in query.items() if value is not None}
    return quote(path, safe="/@:~,") + (f"?{urlencode(asked)}" if asked else "")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page that is to be shown."""

    template: str
    #: What it shows, as JSON has it.
    content: Mapping[str, Any]
    status: int = 200
    #: Said above the page, beside what a form left behind.
    notice: Notice | None = None


def show(request: Request, page: Shown) -> Response:
    """Return the page as the request wants it: `Accept: application/json` gets the object, everybody else HTML."""
    if wants_json(request):
        return JSONResponse(page.content, status_code=page.status)
    desk = desk_of(request)
    nonce = forms.find_nonce(request) or forms.new_nonce()
    left = page.notice or desk.notices.take(request.query_params.get("notice"))
    html = (
        _templates()
        .get_template(page.template)
        .render(
            page.content,
            here=request.url.path,
            brain_name=desk.brain.root.name,
            csrf=forms.sign(desk.secret, nonce),
            notice=left,
            can_sign_out=desk.needs_token,
            link=link,
        )
    )
    answer = HTMLResponse(html, status_code=page.status)
    forms.remember(request, answer, nonce)
    return answer


def wants_json(request: Request) -> bool:
    """Tell whether a program asks: the first type that it accepts is JSON."""
    first = request.headers.get("accept", "").partition(",")[0].partition(";")[0]
    return first.strip().lower() == "application/json"


def go(request: Request, path: str, notice: Notice | None = None, *, query: Query = ()) -> Response:
    """Lead a form on to a page of this site, which says the notice; a program gets the notice as an object."""
    if wants_json(request):
        bad = notice is not None and notice.mood is Mood.BAD
        return JSONResponse({"message": notice.text if notice else None, "path": path}, status_code=409 if bad else 200)
    key = desk_of(request).notices.leave(notice) if notice else None
    asked = urlencode([*query, *([("notice", key)] if key else [])])
    return RedirectResponse(link(path) + (f"?{asked}" if asked else ""), status_code=303)


def back(request: Request, default: str) -> tuple[str, Query]:
    """Return path and query of this site's page that a form was sent from; the default when that can't be told."""
    came_from = urlsplit(request.headers.get("referer", ""))
    path = unquote(came_from.path)
    if came_from.netloc != request.headers.get("host") or not path.startswith("/") or path.startswith("//"):
        return default, ()
    return path, tuple(pair for pair in parse_qsl(came_from.query) if pair[0] != "notice")


# -- forms -----------------------------------------------------------------------------------------------------------


def takes_form(handle: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint of a function that takes a form: it runs in a thread, and only for a form of this site."""

    @functools.wraps(handle)
    async def endpoint(request: Request) -> Response:
        form = await forms.read(request, desk_of(request).secret)
        return await run_in_threadpool(handle, request, form)

    return endpoint


# -- errors ----------------------------------------------------------------------------------------------------------


def show_error(request: Request, error: Exception) -> Response:
    """Return the page of an error that is ours: its sentence, what to do, and a status."""
    if not isinstance(error, errors.OmnislashError):  # the table of handlers never leads another one here
        raise error
    status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), 500)
    return _show_trouble(request, error.to_json(), status)


def show_refusal(request: Request, error: Exception) -> Response:
    """Return the page of an error of HTTP: no such page, a method that it has not, a form from elsewhere.

    An address with a slash too many leads to the one without it.
    """
    status, detail = getattr(error, "status_code", 500), getattr(error, "detail", "")
    path, query = request.scope["path"], request.url.query
    if status == 404 and path.endswith("/") and path.rstrip("/") and not path.startswith("//"):  # noqa: PLR2004 - HTTP's
        return RedirectResponse(link(path.rstrip("/")) + (f"?{query}" if query else ""))
    sentences = {404: f"There is no page {request.url.path}.", 405: "This page can't be asked for in that way."}
    answer = _show_trouble(request, {"kind": "http", "message": sentences.get(status, detail)}, status)
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def show_surprise(request: Request, error: Exception) -> Response:
    """Return the page of an error in omnislash itself; the server logs the trace."""
    message = f"Something went wrong inside omnislash: {type(error).__name__}. The log of the process has the details."
    return _show_trouble(request, {"kind": "internal", "message": message}, 500)


def _show_trouble(request: Request, error: Mapping[str, Any], status: int) -> Response:
    return show(request, Shown("error.html", {"error": {"hint": None, **error}, "status": status}, status=status))
