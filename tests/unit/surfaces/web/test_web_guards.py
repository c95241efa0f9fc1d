"""Each guard lets in who belongs in and gives everybody else one sentence; the application is not reached."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.surfaces.web.binding import Binding
from omnislash.surfaces.web.guards import HostGuard, OriginGuard, TokenGuard, guard
from omnislash.surfaces.web.limits import Buckets, Limits, RateGuard, SizeGuard, name_caller
from tests.unit.surfaces.web.asgi_calls import Echo, ask, call, make_scope

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

DOOR = Binding(host="127.0.0.1", port=4112)
HOST = ("Host", "127.0.0.1:4112")
TOKEN = "a-token-of-some-length"


def of_host(app: ASGIApp) -> ASGIApp:
    """Guard by the Host."""
    return HostGuard(app, DOOR)


def of_origin(app: ASGIApp) -> ASGIApp:
    """Guard by the Origin."""
    return OriginGuard(app, DOOR)


def of_token(app: ASGIApp) -> ASGIApp:
    """Guard by the token."""
    return TokenGuard(app, TOKEN)


def test_the_own_host_passes() -> None:
    """A request made out to the door comes through as it is."""
    got = ask(of_host, make_scope(headers=[HOST]))

    assert got.status == 200
    assert got.body == "inside"


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([], id="none"),
        pytest.param([("Host", "")], id="empty"),
        pytest.param([("Host", "rebound.example:4112")], id="another name"),
        pytest.param([HOST, HOST], id="twice the same"),
        pytest.param([HOST, ("Host", "rebound.example")], id="a second one"),
        pytest.param([("X-Forwarded-Host", "127.0.0.1:4112"), ("Host", "rebound.example")], id="a forwarded one"),
    ],
)
def test_another_host_is_misdirected(headers: list[tuple[str, str]]) -> None:
    """A missing, doubled or foreign Host is answered 421 with the address that is right."""
    got = ask(of_host, make_scope("POST", headers=headers))

    assert got.status == 421
    assert not got.reached
    assert "http://127.0.0.1:4112" in got.body


def test_a_host_that_was_right_once_opens_for_no_other() -> None:
    """Each request is looked at for itself, whatever came before it."""
    app = of_host(Echo())
    statuses = [
        call(app, make_scope(headers=headers)).status
        for headers in ([HOST], [("Host", "rebound.example")], [HOST], [HOST, HOST], [])
    ]

    assert statuses == [200, 421, 200, 421, 421]


def test_a_request_with_two_ends_is_refused() -> None:
    """A Content-Length beside a Transfer-Encoding is answered 400 before anything else, and the connection is closed."""
    both = [("Transfer-Encoding", "chunked"), ("Content-Length", "5")]
    got = ask(whole, make_scope("POST", headers=[HOST, *both]))

    assert got.status == 400
    assert got.headers["connection"] == "close"
    assert not got.reached


def test_a_program_is_refused_in_json() -> None:
    """Who accepts JSON first gets the sentence as an object, with the same status; a client of MCP and others get text."""
    bodies = {
        accept: ask(of_host, make_scope(headers=[("Host", "rebound.example"), ("Accept", accept)]))
        for accept in ("application/json", "application/json, text/event-stream", "text/html, application/json")
    }

    assert {got.status for got in bodies.values()} == {421}
    told = [got.headers["content-type"] for got in bodies.values()]
    assert told == ["application/json", "text/plain; charset=utf-8", "text/plain; charset=utf-8"]
    error = json.loads(bodies["application/json"].body)["error"]
    assert error["kind"] == "http"
    assert f"{error['message']}\n" == bodies["text/html, application/json"].body


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        pytest.param("POST", [], id="a program"),
        pytest.param("POST", [("Origin", "http://127.0.0.1:4112")], id="the own page"),
        pytest.param(
            "POST", [("Origin", "http://localhost:4112"), ("Sec-Fetch-Site", "same-origin")], id="a new browser"
        ),
        pytest.param("POST", [("Sec-Fetch-Site", "none")], id="typed by a person"),
        pytest.param("GET", [("Sec-Fetch-Site", "cross-site")], id="a link on another site"),
        pytest.param(
            "GET", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], id="a new browser's link"
        ),
    ],
)
def test_own_pages_and_programs_pass(method: str, headers: list[tuple[str, str]]) -> None:
    """No Origin, the own Origin, and reading by a link are right."""
    assert ask(of_origin, make_scope(method, headers=headers)).reached


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        pytest.param("POST", [("Origin", "null")], id="a sandboxed page"),
        pytest.param("GET", [("Origin", "http://evil.example")], id="reading from another page"),
        pytest.param("POST", [("Origin", "http://localhost:4111")], id="another port"),
        pytest.param("POST", [("Origin", "http://localhost:4112"), ("Origin", "http://evil.example")], id="two"),
        pytest.param("POST", [("Origin", "")], id="an empty one"),
        pytest.param("POST", [("Sec-Fetch-Site", "cross-site")], id="cross-site"),
        pytest.param("POST", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], id="a form elsewhere"),
        pytest.param(
            "GET", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")], id="a picture elsewhere"
        ),
        pytest.param("POST", [("Sec-Fetch-Site", "same-site")], id="a neighbour on the same site"),
        pytest.param("DELETE", [("Sec-Fetch-Site", "CROSS-SITE")], id="in capitals"),
        pytest.param("PUT", [("Origin", "http://localhost:4112"), ("Sec-Fetch-Site", "cross-site")], id="a forged one"),
    ],
)
def test_pages_of_other_sites_are_refused(method: str, headers: list[tuple[str, str]]) -> None:
    """Another Origin never comes in; without one a browser's word counts, unless it is that a link was followed."""
    got = ask(of_origin, make_scope(method, headers=headers))

    assert got.status == 403
    assert not got.reached


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_opens(scheme: str) -> None:
    """The scheme is a word in any case (RFC 9110), the token is exact."""
    assert ask(of_token, make_scope(headers=[("Authorization", f"{scheme} {TOKEN}")])).reached


def test_without_a_token_everybody_may_come_in() -> None:
    """A door on loopback asks for none."""
    assert ask(lambda app: TokenGuard(app, None), make_scope()).reached


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([f"Bearer {TOKEN.upper()}"], id="in capitals"),
        pytest.param([f"Bearer {TOKEN[:-1]}"], id="cut"),
        pytest.param([f"Bearer {TOKEN}x"], id="longer"),
        pytest.param(["Bearer "], id="empty"),
        pytest.param(["Bearer"], id="only the word"),
        pytest.param([TOKEN], id="without the word"),
        pytest.param([f"Basic {TOKEN}"], id="another scheme"),
        pytest.param([f"Bearer {TOKEN}", f"Bearer {TOKEN}"], id="twice"),
        pytest.param([f"Bearer {TOKEN}\xe9"], id="not ASCII"),
        pytest.param(["Bearer " + "x" * 5000], id="huge"),
    ],
)
def test_another_token_is_refused(values: list[str]) -> None:
    """A wrong token is 401 `invalid_token`, and the answer does not hold the right one."""
    got = ask(of_token, make_scope("POST", headers=[("Authorization", value) for value in values]))

    assert got.status == 401
    assert not got.reached
    assert got.headers["www-authenticate"] == 'Bearer realm="omnislash", error="invalid_token"'
    assert TOKEN not in got.body + str(got.headers)


def test_no_token_is_asked_for() -> None:
    """Without one the challenge is plain `Bearer`, as RFC 6750 has it; a token in the address or a cookie is none."""
    scope = make_scope(query=f"token={TOKEN}", headers=[("Cookie", f"omnislash_session={TOKEN}")])
    got = ask(of_token, scope)

    assert got.status == 401
    assert got.headers["www-authenticate"] == 'Bearer realm="omnislash"'
    assert "Authorization: Bearer" in got.body


def of_size(app: ASGIApp) -> ASGIApp:
    """Guard bodies of ten bytes."""
    return SizeGuard(app, Limits(body_bytes=10, body_s=0.05))


@pytest.mark.parametrize(
    "pieces",
    [[b""], [b"0123456789"], [b"01234", b"56789"], [b"", b"", b"x"]],
    ids=["none", "full", "two", "empty ones"],
)
def test_a_body_within_the_limit_comes_through_whole(pieces: list[bytes]) -> None:
    """However it was cut on the way, the application reads the same bytes."""
    got = ask(of_size, make_scope("POST"), body=pieces)

    assert got.status == 200
    assert got.read == b"".join(pieces)


@pytest.mark.parametrize(
    ("headers", "pieces"),
    [
        pytest.param([("Content-Length", "11")], [b""], id="announced"),
        pytest.param([("Content-Length", "9" * 400)], [b""], id="announced with 400 digits"),
        pytest.param([("Content-Length", "5"), ("Content-Length", "50")], [b""], id="announced twice"),
        pytest.param([], [b"0123456789x"], id="in one piece"),
        pytest.param([("Transfer-Encoding", "chunked")], [b"01234", b"56789", b"x"], id="in chunks without a length"),
        pytest.param([("Content-Length", "3")], [b"0123456789x"], id="more than announced"),
        pytest.param([("Content-Length", "-1")], [b"0123456789x"], id="an impossible length"),
        pytest.param([("Content-Length", "²")], [b"0123456789x"], id="a length that is no number"),
    ],
)
def test_a_body_over_the_limit_is_refused(headers: list[tuple[str, str]], pieces: list[bytes]) -> None:
    """What counts is what comes; an announcement only lets the answer come sooner."""
    got = ask(of_size, make_scope("POST", headers=headers), body=pieces)

    assert got.status == 413
    assert not got.reached
    assert "10 bytes" in got.body


def test_a_caller_who_hangs_up_is_known_to_the_application() -> None:
    """A body that was cut is passed on as such, and no answer is made for it."""
    inside = Echo()
    got = call(of_size(inside), make_scope("POST"), body=[b"01"], cut=True)

    assert inside.read == b"01"
    assert inside.ends == ["http.disconnect"]
    assert got.status == 0


def test_a_caller_who_leaves_later_is_known_too() -> None:
    """A stream that is being sent hears that nobody listens any more, behind a body that was read before."""
    seen: list[str] = []

    async def follow(_scope: Scope, receive: Receive, _send: Send) -> None:
        seen.extend([(await receive())["type"], (await receive())["type"]])

    said: list[Message] = [{"type": "http.request", "body": b"01"}, {"type": "http.disconnect"}]
    messages = iter(said)

    async def receive() -> Message:
        return next(messages)

    asyncio.run(of_size(follow)(make_scope("POST"), receive, None))  # type: ignore[arg-type]

    assert seen == ["http.request", "http.disconnect"]


def test_a_slow_body_is_given_up() -> None:
    """A body that does not end in time is 408, and the connection is closed."""

    async def run() -> list[Message]:
        sent: list[Message] = []
        pieces = iter([{"type": "http.request", "body": b"0", "more_body": True}])

        async def receive() -> Message:
            if (piece := next(pieces, None)) is None:
                await asyncio.Event().wait()
            return piece or {}

        async def send(message: Message) -> None:
            sent.append(message)

        await of_size(Echo())(make_scope("POST"), receive, send)
        return sent

    start, body = asyncio.run(run())
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert b"0.05 seconds" in body["body"]


class Watch:
    """A clock for the tests."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return seconds."""
        return self.now


def test_too_many_requests_wait() -> None:
    """Three at once are right; the fourth is told when to come again, and then it may; others are not held up."""
    watch = Watch()
    app = RateGuard(Echo(), Limits(rate=0.5, burst=3), monotonic=watch)
    first = [call(app, make_scope()).status for _ in range(3)]
    refused = call(app, make_scope())
    neighbour = call(app, make_scope(client="10.0.0.9"))
    watch.now += 1.0
    still = call(app, make_scope())
    watch.now += 1.0
    later = call(app, make_scope())

    assert first == [200, 200, 200]
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert neighbour.status == 200
    assert (still.status, still.headers["retry-after"]) == (429, "1")
    assert later.status == 200


def test_a_pause_gives_no_more_than_one_burst() -> None:
    """After a day of silence a caller has as much room as at first."""
    watch = Watch()
    buckets = Buckets(rate=10, burst=2, monotonic=watch)
    buckets.take("a")
    watch.now += 86_400

    assert [buckets.take("a") > 0 for _ in range(3)] == [False, False, True]


def test_many_callers_do_not_fill_the_memory() -> None:
    """Ten thousand addresses are seen, and no more than 4096 are remembered; who asks often stays among them."""
    buckets = Buckets(rate=0.001, burst=1, monotonic=Watch())
    buckets.take("busy")
    for number in range(10_000):
        buckets.take(f"caller {number}")
        assert buckets.take("busy") > 0

    assert len(buckets._buckets) == 4096
    assert buckets.take("caller 9999") > 0


def test_one_machine_is_one_caller() -> None:
    """IPv6 addresses of a network count together, and a socket without an address is a caller too."""
    assert name_caller({"client": ("2001:db8::1", 1)}) == name_caller({"client": ("2001:db8::ffff:2", 1)})
    assert name_caller({"client": ("2001:db8:0:1::1", 1)}) != name_caller({"client": ("2001:db8::1", 1)})
    assert name_caller({"client": ("10.0.0.1", 1)}) != name_caller({"client": ("10.0.0.2", 1)})
    assert name_caller({"client": None}) == ""


def whole(app: ASGIApp, **given: Any) -> ASGIApp:
    """Put all guards around an application."""
    door = Binding(host="127.0.0.1", port=4112, token=TOKEN)
    return guard(app, door, Limits(body_bytes=10, rate=0.001, burst=3), is_browser=False, **given)


def test_the_guards_stand_in_order() -> None:
    """A foreign page learns nothing about the token, and nobody's body is read before the token is seen."""
    key = ("Authorization", f"Bearer {TOKEN}")
    app = whole(Echo(), monotonic=Watch())
    statuses = [
        call(app, make_scope("POST", headers=headers), body=[b"x" * 50]).status
        for headers in (
            [("Host", "rebound.example"), ("Origin", "null"), key],
            [HOST, ("Origin", "null"), key],
            [HOST],
            [HOST, key],
            [HOST, key],
            [HOST, key],
        )
    ]

    assert statuses == [421, 403, 401, 413, 413, 429]


def test_a_good_request_passes_all_guards() -> None:
    """The right Host, Origin and token reach the application."""
    headers = [HOST, ("Origin", "http://127.0.0.1:4112"), ("Authorization", f"Bearer {TOKEN}")]

    assert ask(whole, make_scope("POST", headers=headers), body=[b"12345"]).read == b"12345"


def test_web_sockets_are_turned_down() -> None:
    """No door speaks them, and one that did would have to check all of this again."""
    scope = {**make_scope(headers=[HOST]), "type": "websocket"}
    got = ask(whole, scope)

    assert got.body == "websocket.close"
    assert not got.reached


def test_the_start_of_the_server_passes_all_guards() -> None:
    """What is no request at all is the application's own business."""
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    for is_browser in (False, True):
        door = Binding(host="127.0.0.1", port=4112, token=TOKEN)
        asyncio.run(guard(app, door, is_browser=is_browser)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]

    assert seen == ["lifespan", "lifespan"]


def test_answers_are_inert() -> None:
    """What a guard says is plain text that no browser keeps, guesses at or frames; HEAD gets the headers alone."""
    got = ask(of_host, make_scope())
    head = ask(of_host, make_scope("HEAD"))

    assert got.headers["content-type"] == "text/plain; charset=utf-8"
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"].startswith("default-src 'none'")
    assert head.body == ""
    assert head.headers["content-length"] == str(len(got.body))
