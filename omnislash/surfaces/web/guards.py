"""Who may come in: plain ASGI applications around an application, each usable alone.

Together they stand in this order: the framing, the Host, the Origin, the rate, the token, the size. So a page that has no business
here learns nothing but that, and nothing is read from a caller who may not come in.

Source: OWASP on DNS rebinding and cross-site requests; Fetch Metadata (`Sec-Fetch-Site`); RFC 6750 (bearer tokens).
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from omnislash.surfaces.web.answers import SAFE_METHODS, answer, read_headers, refuse_socket
from omnislash.surfaces.web.bearer import carries_token, refuse_token
from omnislash.surfaces.web.limits import Limits, RateGuard, SizeGuard
from omnislash.surfaces.web.login import LoginGuard

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from omnislash.surfaces.web.binding import Binding
    from omnislash.surfaces.web.login import LoginPage


class HostGuard:
    """Answers 421 to a request that was made out to another host: a name that was made to point here."""

    def __init__(self, app: ASGIApp, binding: Binding) -> None:
        """Guard an application."""
        self._app = app
        self._binding = binding
        #: The last one that was right: a browser sends the same one each time.
        self._right: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and not self._is_own(read_headers(scope, b"host")):
            text = f"This server answers to {self._binding.url} and to no other host; nothing was done."
            await answer(scope, send, HTTPStatus.MISDIRECTED_REQUEST, text)
            return
        await self._app(scope, receive, send)

    def _is_own(self, hosts: list[str]) -> bool:
        if len(hosts) != 1:
            return False
        if hosts[0] != self._right:
            if not self._binding.allows_host(hosts[0]):
                return False
            self._right = hosts[0]
        return True


class OriginGuard:
    """Answers 403 to a request that a page of another site makes."""

    def __init__(self, app: ASGIApp, binding: Binding) -> None:
        """Guard an application."""
        self._app = app
        self._binding = binding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and self._is_foreign(scope):
            text = "This request comes from a page of another site; nothing was done."
            await answer(scope, send, HTTPStatus.FORBIDDEN, text)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        """Tell whether the browser says so: by an Origin, or by the kind of request; a link from elsewhere may be followed."""
        if any(not self._binding.allows_origin(origin) for origin in read_headers(scope, b"origin")):
            return True
        sites = _read_words(scope, b"sec-fetch-site")
        if sites <= {"same-origin", "none"}:
            return False
        return scope["method"] not in SAFE_METHODS or not _read_words(scope, b"sec-fetch-mode") <= {"navigate"}


def _read_words(scope: Scope, name: bytes) -> set[str]:
    return {value.strip().lower() for value in read_headers(scope, name)}


class TokenGuard:
    """Answers 401 to a request without the bearer token; without a token everybody may come in."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        """Guard an application."""
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and self._token is not None and not carries_token(scope, self._token):
            await refuse_token(scope, send)
            return
        await self._app(scope, receive, send)


class FramingGuard:
    """Answers 400 to a request that says in two ways where it ends, and hangs up.

    A proxy in front may have read the other one, and then takes the rest for another caller's request.

    Source: RFC 9112 section 6.1.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Guard an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and {b"content-length", b"transfer-encoding"} <= {
            name for name, _ in scope["headers"]
        }:
            text = "A request has a Content-Length or a Transfer-Encoding and never both; nothing was done."
            await answer(scope, send, HTTPStatus.BAD_REQUEST, text, headers=[(b"connection", b"close")])
            return
        await self._app(scope, receive, send)


class SocketGuard:
    """Turns web sockets down; what is no request at all passes."""

    def __init__(self, app: ASGIApp) -> None:
        """Guard an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "websocket":
            await refuse_socket(send)
        else:
            await self._app(scope, receive, send)


def guard(
    app: ASGIApp,
    binding: Binding,
    limits: Limits | None = None,
    *,
    is_browser: bool,
    login_page: LoginPage | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """Return the application behind all guards.

    Args:
        app: What is guarded.
        binding: Where it listens, with the port that it really has.
        limits: What one caller may send.
        is_browser: True lets a person log in with the token and stay logged in by a cookie, where a token is needed.
        login_page: Makes the page of the form; a plain one by default.
        monotonic: Returns seconds that never run backwards.
    """
    limits = limits or Limits()
    app = SizeGuard(app, limits)
    if is_browser and binding.token is not None:
        app = LoginGuard(app, binding.token, page=login_page, monotonic=monotonic)
    else:
        app = TokenGuard(app, binding.token)
    app = RateGuard(app, limits, monotonic=monotonic)
    return SocketGuard(FramingGuard(HostGuard(OriginGuard(app, binding), binding)))
