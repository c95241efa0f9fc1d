"""Logging in with the token, for a person at a browser: a form, and a cookie that was made from the token.

The cookie holds no token, but what only its owner can compute; another token ends every session.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

from omnislash.surfaces.web.answers import SAFE_METHODS, answer, answer_body, read_headers, wants_json
from omnislash.surfaces.web.bearer import carries_token, is_token, refuse_token
from omnislash.surfaces.web.limits import Buckets, Limits, SizeGuard, name_caller, refuse_rate

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: How the name of the cookie begins.
COOKIE = "omnislash_session"
LOGIN_PATH, LOGOUT_PATH = "/login", "/logout"
#: What everybody may load, so that the form looks like the rest.
OPEN_PREFIX = "/static/"
#: The form holds a token of at most 512 characters and the page to go to.
_FORM = Limits(body_bytes=8 * 1024, body_s=10.0)
#: Wrong tokens that one caller may send: ten at once, then one every two seconds.
_TRIES, _TRIES_A_SECOND = 10, 0.5
_PURPOSE = b"omnislash dashboard session 1"
_NAMING, _NAME_DIGITS = b"omnislash dashboard session name 1", 12
_TARGET_CHARS = 2000
_COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict"
_FORM_POLICY = b"default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginForm:
    """What the page of the form shows."""

    #: The page that follows, a path of this server.
    target: str
    #: What was wrong with the last try; None at first.
    problem: str | None = None


#: Makes the page of the form, as HTML.
LoginPage = Callable[[LoginForm], str]


class LoginGuard:
    """Lets in who has the cookie or the bearer token, and shows everybody else the form."""

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        *,
        page: LoginPage | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Guard an application."""
        self._app = app
        self._token = token
        self._page = page or render_form
        self._tries = Buckets(rate=_TRIES_A_SECOND, burst=_TRIES, monotonic=monotonic)
        self._form = SizeGuard(self._log_in, _FORM)
        self._cookie = name_cookie(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, show the form, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == LOGIN_PATH:
            await self._form(scope, receive, send)
        elif scope["path"] == LOGOUT_PATH and scope["method"] == "POST":
            await _redirect(scope, send, LOGIN_PATH, cookie=f"{self._cookie}=; Max-Age=0; {_COOKIE_RULES}")
        elif self._is_known(scope):
            await self._app(scope, receive, send)
        elif _is_visitor(scope):
            await _redirect(scope, send, f"{LOGIN_PATH}?next={quote(_own_target(scope), safe='')}")
        else:
            await refuse_token(scope, send)

    def _is_known(self, scope: Scope) -> bool:
        if scope["path"].startswith(OPEN_PREFIX) and scope["method"] in SAFE_METHODS:
            return True
        return carries_token(scope, self._token) or any(
            is_token(value, make_session(self._token)) for value in _read_cookies(scope, self._cookie)
        )

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the form, or look at what was sent with it."""
        if scope["method"] in {"GET", "HEAD"}:
            asked = parse_qs(scope["query_string"].decode("latin-1"))
            await self._show(scope, send, LoginForm(target=choose_target(asked)))
            return
        if scope["method"] != "POST":
            allowed = [(b"allow", b"GET, HEAD, POST")]
            await answer(scope, send, HTTPStatus.METHOD_NOT_ALLOWED, "The form is sent with POST.", headers=allowed)
            return
        caller = name_caller(scope)
        given = parse_qs((await receive()).get("body", b"").decode("latin-1"))
        target = choose_target(given)
        if is_token(given.get("token", [""])[0].strip(), self._token):
            await _redirect(scope, send, target, cookie=f"{self._cookie}={make_session(self._token)}; {_COOKIE_RULES}")
        elif wait := self._tries.take(caller):
            await refuse_rate(scope, send, wait, "Too many wrong tokens came from this address; try again later.")
        else:
            await self._show(scope, send, LoginForm(target=target, problem="That is not the token of this server."))

    async def _show(self, scope: Scope, send: Send, form: LoginForm) -> None:
        if form.problem is not None and wants_json(scope):
            await answer(scope, send, HTTPStatus.UNAUTHORIZED, form.problem)
            return
        status = HTTPStatus.OK if form.problem is None else HTTPStatus.UNAUTHORIZED
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", _FORM_POLICY)]
        await answer_body(scope, send, status, self._page(form).encode(), headers=headers)


def name_cookie(token: str) -> str:
    """Return the name of the cookie, another one for each token.

    Cookies know no port: two dashboards of one machine would overwrite each other's.
    """
    return f"{COOKIE}_{hmac.new(token.encode(), _NAMING, hashlib.sha256).hexdigest()[:_NAME_DIGITS]}"


def make_session(token: str) -> str:
    """Return the value of the cookie: 64 hexadecimal digits that only the owner of the token can compute."""
    return hmac.new(token.encode(), _PURPOSE, hashlib.sha256).hexdigest()


def choose_target(given: dict[str, list[str]]) -> str:
    """Return the page that follows a login: a path of this server, and `/` in place of anything else."""
    target = given.get("next", ["/"])[0]
    is_path = target.startswith("/") and not target.startswith("//") and "\\" not in target
    return target if is_path and target.isprintable() and len(target) <= _TARGET_CHARS else "/"


def render_form(form: LoginForm) -> str:
    """Return the plain page of the form."""
    problem = f'<p role="alert">{html.escape(form.problem)}</p>' if form.problem else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Log in - omnislash</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/static/style.css"></head>'
        f'<body><main><h1>omnislash</h1>{problem}<form method="post" action="{LOGIN_PATH}">'
        f'<input type="hidden" name="next" value="{html.escape(form.target)}">'
        '<p><label for="token">Token</label> '
        '<input id="token" name="token" type="password" autocomplete="current-password" required autofocus></p>'
        "<p>It is in the brain's .omnislash/token, or it is what OMNISLASH_TOKEN was set to.</p>"
        '<p><button type="submit">Log in</button></p></form></main></body></html>'
    )


def _own_target(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")


def _is_visitor(scope: Scope) -> bool:
    """Tell whether a request is a person's look at a page, who is shown the form; a program is told what is missing."""
    return scope["method"] in SAFE_METHODS and not read_headers(scope, b"authorization") and not wants_json(scope)


def _read_cookies(scope: Scope, wanted: str) -> list[str]:
    """Return the values of the cookie; there may be several, and a broken header has none."""
    found = []
    for header in read_headers(scope, b"cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == wanted:
                found.append(value)
    return found


async def _redirect(scope: Scope, send: Send, target: str, *, cookie: str | None = None) -> None:
    location = quote(target, safe="/?&=%:+,;@~!$'()*#-._")
    headers = [(b"location", location.encode("ascii"))]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode("ascii")))
    await answer(scope, send, HTTPStatus.SEE_OTHER, f"See {location}", headers=headers)
