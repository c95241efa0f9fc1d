"""The dashboard as an application: its routes, its errors, and the headers of every answer.

Rules: DASH-01, DASH-04.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from omnislash.errors import OmnislashError
from omnislash.surfaces.dashboard import answering, live
from omnislash.surfaces.dashboard.desk import Desk, desk_of
from omnislash.surfaces.dashboard.pages import (
    activity,
    agents,
    doctor,
    heartbeats,
    help_pages,
    knowledge,
    search,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGES: Final = (knowledge, search, activity, agents, heartbeats, doctor, help_pages, settings)
#: Nothing is loaded or sent but from and to this site; nothing stands inline; nobody frames it.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # `no-referrer` would make the browser hide the origin of a form from us as well.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
#: Statuses of an asset that is there: whole, in part, or as the browser has it. Any other answer is a page of ours.
_KEPT: Final = frozenset({200, 206, 304})


def make_app(desk: Desk) -> ASGIApp:
    """Return the dashboard of a brain, without the guards that stand in front of it."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        desk.changes.close()

    app = Starlette(
        routes=[
            Route("/", lambda _request: RedirectResponse("/knowledge", status_code=303)),
            Route("/events", _listen),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
            *(route for page in _PAGES for route in page.ROUTES),
        ],
        exception_handlers={
            OmnislashError: answering.show_error,
            HTTPException: answering.show_refusal,
            Exception: answering.show_surprise,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would name scheme and host, and a proxy in front has another scheme
    app.state.desk = desk
    return _with_headers(app)


async def _listen(request: Request) -> Response:
    changes = desk_of(request).changes
    if changes.is_full:
        raise HTTPException(503, "Too many pages listen for changes already; this one is shown as it was loaded.")
    if request.method == "HEAD":  # the headers are the whole answer, and nobody listens
        return Response(headers=live.HEADERS, media_type=live.MEDIA_TYPE)
    return live.stream(changes, request)


def _with_headers(app: ASGIApp) -> ASGIApp:
    """Return the application with the headers of every answer."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        is_asset = str(scope.get("path", "")).startswith("/static/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, is_asset=is_asset)
            await send(message)

        await app(scope, receive, send_with_headers if scope["type"] == "http" else send)

    return guarded


def _add_headers(message: MutableMapping[str, Any], *, is_asset: bool) -> None:
    """Add the headers that the answer lacks; a browser keeps assets and asks whether they are still right."""
    given: list[tuple[bytes, bytes]] = message["headers"]
    names = {name for name, _ in given}
    is_kept = is_asset and message["status"] in _KEPT
    kept = (b"cache-control", b"no-cache" if is_kept else b"no-store")
    message["headers"] = [*given, *(header for header in (*_HEADERS, kept) if header[0] not in names)]
