"""A person logs in with the token once and stays in by a cookie; nobody else comes further than the form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from omnislash.surfaces.web.login import LoginForm, LoginGuard, choose_target, make_session, name_cookie, render_form
from tests.unit.surfaces.web.asgi_calls import Answer, Echo, ask, call, make_scope

if TYPE_CHECKING:
    from starlette.types import ASGIApp

TOKEN = "a-token-of-some-length"
NAME = name_cookie(TOKEN)
COOKIE = ("Cookie", f"theme=dark; {NAME}={make_session(TOKEN)}")


def of_login(app: ASGIApp) -> ASGIApp:
    """Guard by token or cookie."""
    return LoginGuard(app, TOKEN, monotonic=lambda: 0.0)


def send_form(app: ASGIApp, token: str, target: str = "/") -> Answer:
    """Send the form."""
    return call(app, make_scope("POST", "/login"), body=[urlencode({"token": token, "next": target}).encode()])


def test_a_stranger_is_sent_to_the_form_and_back() -> None:
    """The way to the form remembers the page that was asked for; the form carries it, and the right token leads there."""
    sent = ask(of_login, make_scope(path="/knowledge", query="line=main&q=a b"))
    form = ask(of_login, make_scope(path="/login", query="next=%2Fknowledge%3Fline%3Dmain"))
    done = send_form(of_login(Echo()), TOKEN, "/knowledge?line=main")

    assert (sent.status, sent.reached) == (303, False)
    assert sent.headers["location"] == "/login?next=%2Fknowledge%3Fline%3Dmain%26q%3Da%20b"
    assert form.status == 200
    assert 'name="next" value="/knowledge?line=main"' in form.body
    assert (done.status, done.headers["location"]) == (303, "/knowledge?line=main")
    assert send_form(of_login(Echo()), f"  {TOKEN}\r\n").status == 303  # as it was copied


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_is_not_the_token() -> None:
    """It is HttpOnly, SameSite=Strict, for the whole door, and made from the token without holding it."""
    cookie = send_form(of_login(Echo()), TOKEN).headers["set-cookie"]

    assert cookie.startswith(f"{NAME}=")
    assert {"Path=/", "HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert TOKEN not in cookie


def test_two_dashboards_of_one_machine_do_not_log_each_other_out() -> None:
    """A browser sends the cookies of a host to all its ports: each door has a name of its own and finds its value."""
    other = (
        send_form(LoginGuard(Echo(), "another-token-here"), "another-token-here").headers["set-cookie"].split(";")[0]
    )
    both = ("Cookie", f"{COOKIE[1]}; {other}")

    assert other.partition("=")[0] != NAME
    assert ask(of_login, make_scope("POST", "/settings", headers=[both])).reached
    assert call(LoginGuard(Echo(), "another-token-here"), make_scope("POST", "/settings", headers=[both])).status == 200


def test_a_program_is_told_and_not_sent_to_the_form() -> None:
    """Who accepts JSON gets 401 with the error as an object, for a page as for a wrong token in the form."""
    asking = ("Accept", "application/json")
    got = ask(of_login, make_scope(path="/knowledge", headers=[asking]))
    wrong = call(of_login(Echo()), make_scope("POST", "/login", headers=[asking]), body=[b"token=wrong"])

    assert (got.status, got.reached, got.headers["content-type"]) == (401, False, "application/json")
    assert got.headers["www-authenticate"].startswith("Bearer")
    error = json.loads(got.body)["error"]
    assert error["kind"] == "http"
    assert "Authorization: Bearer" in error["message"]
    assert wrong.status == 401
    assert json.loads(wrong.body) == {"error": {"kind": "http", "message": "That is not the token of this server."}}


def test_cookie_and_bearer_let_in() -> None:
    """A browser shows the cookie, a program the token."""
    assert ask(of_login, make_scope("POST", "/settings", headers=[COOKIE])).reached
    assert ask(of_login, make_scope("GET", "/", headers=[("Authorization", f"Bearer {TOKEN}")])).reached


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([], id="nothing"),
        pytest.param([("Cookie", f"{NAME}={TOKEN}")], id="the token as cookie"),
        pytest.param([("Cookie", f"{NAME}={make_session('another-token-here')}")], id="of another token"),
        pytest.param([("Cookie", f"{NAME}=")], id="empty"),
        pytest.param([("Cookie", f"x{COOKIE[1]}".replace("; ", ""))], id="another name"),
        pytest.param([("Cookie", f"=;;=\xff; {NAME}")], id="broken"),
    ],
)
def test_others_change_nothing(headers: list[tuple[str, str]]) -> None:
    """Without the right cookie reading leads to the form, and changing is 401."""
    assert ask(of_login, make_scope("GET", "/x", headers=headers)).status == 303
    got = ask(of_login, make_scope("POST", "/x", headers=headers))
    assert (got.status, got.reached) == (401, False)


def test_a_wrong_bearer_is_told_so() -> None:
    """A program gets 401 and not a form."""
    got = ask(of_login, make_scope("GET", "/x", headers=[("Authorization", "Bearer wrong")]))

    assert (got.status, got.headers["www-authenticate"]) == (401, 'Bearer realm="omnislash", error="invalid_token"')


def test_a_wrong_token_is_asked_for_again_and_soon_slowly() -> None:
    """Ten tries come at once and then they are held up; who knows the token is not."""
    app = of_login(Echo())
    statuses = [send_form(app, f"wrong{number}", "/doctor").status for number in range(12)]
    again = send_form(of_login(Echo()), "wrong", "/doctor")

    assert statuses == [401] * 10 + [429] * 2
    assert 'role="alert"' in again.body
    assert 'value="/doctor"' in again.body
    assert "set-cookie" not in again.headers
    assert send_form(app, TOKEN).status == 303


def test_logging_out_takes_the_cookie_back() -> None:
    """The cookie is emptied, and only a form can do that: a link to it is an ordinary page."""
    got = ask(of_login, make_scope("POST", "/logout", headers=[COOKIE]))

    assert got.headers["set-cookie"].startswith(f"{NAME}=; Max-Age=0;")
    assert ask(of_login, make_scope("GET", "/logout", headers=[COOKIE])).reached


def test_the_looks_of_the_form_are_for_everybody() -> None:
    """Style sheets can be read and not written, and nothing beside them is open."""
    assert ask(of_login, make_scope("GET", "/static/style.css")).reached
    assert not ask(of_login, make_scope("POST", "/static/style.css")).reached
    assert not ask(of_login, make_scope("GET", "/staticx")).reached
    assert not ask(of_login, make_scope("GET", "/x/static/style.css")).reached


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "",
        "x",
        "/a\nb",
        "/" + "a" * 3000,
    ],
)
def test_the_form_leads_nowhere_else(target: str) -> None:
    """Whatever is no path of this server becomes the first page."""
    assert choose_target({"next": [target]}) == "/"
    assert send_form(of_login(Echo()), TOKEN, target).headers["location"] == "/"


def test_the_form_holds_text_as_text() -> None:
    """A target that would close the field, and a problem with markup, are escaped."""
    page = render_form(LoginForm(target='/"><script>', problem="<b>"))

    assert "<script>" not in page
    assert "<b>" not in page


@pytest.mark.parametrize("body", [b"", b"token", b"token=" + b"x" * 8000, b"\xff\xfe=%ff", b"%00=%00&token=%00"])
def test_odd_forms_are_wrong_tokens(body: bytes) -> None:
    """Whatever comes is no token, and the form is shown again."""
    got = call(of_login(Echo()), make_scope("POST", "/login"), body=[body])

    assert got.status == 401


def test_a_huge_form_is_refused() -> None:
    """The form holds a token and a path, and is not read beyond that."""
    assert call(of_login(Echo()), make_scope("POST", "/login"), body=[b"token=" + b"x" * 9000]).status == 413
    assert ask(of_login, make_scope("PUT", "/login")).status == 405
