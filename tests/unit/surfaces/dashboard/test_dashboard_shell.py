"""What holds for every page of the dashboard: its headers, its forms, its errors, and the same answer as JSON."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jinja2 import UndefinedError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from omnislash import Brain
from omnislash.errors import MissingFileError, ScopeError, UsageError, WriterUnavailableError
from omnislash.surfaces.dashboard import answering, forms
from omnislash.surfaces.dashboard import app as dashboard
from omnislash.surfaces.dashboard.answering import Shown, go, link, show, takes_form
from omnislash.surfaces.dashboard.desk import Desk, Mood, Notice, Notices
from omnislash.surfaces.dashboard.live import Changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.responses import Response
    from starlette.types import Message

    from omnislash.surfaces.dashboard.forms import Form

BASE = "http://127.0.0.1:4111"


@takes_form
def _save(request: Request, form: Form) -> Response:
    return go(request, "/knowledge/a b", Notice(Mood.GOOD, f"Saved {form.text('text')!r}."))


def _raise(error: Exception) -> Callable[[Request], Response]:
    def endpoint(_request: Request) -> Response:
        raise error

    return endpoint


class _Page:
    """A page that only these tests have."""

    ROUTES = (
        Route("/save", _save, methods=["POST"]),
        Route(
            "/form",
            lambda request: show(request, Shown("error.html", {"error": {"message": "hm", "hint": None}, "status": 1})),
        ),
        Route("/missing", _raise(MissingFileError("There is no file x."))),
        Route("/scope", _raise(ScopeError("Not yours."))),
        Route("/usage", _raise(UsageError("No sense.", hint="Try <b>less</b>."))),
        Route("/busy", _raise(WriterUnavailableError("Closed."))),
        Route("/broken", _raise(RuntimeError("secret detail"))),
    )


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client of a dashboard with a page of our own."""
    root = tmp_path / "brain"
    root.mkdir()
    (root / "omnislash.yaml").write_text("memory: {}\n")
    monkeypatch.setattr(dashboard, "_PAGES", (_Page,))
    with Brain.open(root) as brain:
        desk = Desk(brain=brain, secret=b"s" * 32, changes=Changes(root, brain.open_version()))
        with TestClient(
            dashboard.make_app(desk), base_url=BASE, follow_redirects=False, raise_server_exceptions=False
        ) as made:
            yield made


def _sign(client: TestClient) -> str:
    """Return what a form of this client has to carry."""
    client.get("/form")
    return forms.sign(b"s" * 32, client.cookies["omnislash_form"])


def test_every_answer_forbids_what_the_pages_do_not_need(client: TestClient) -> None:
    """Nothing inline, nothing from elsewhere, no frame: on pages, errors and assets alike."""
    for path in ("/form", "/nowhere", "/static/style.css", "/broken"):
        headers = client.get(path).headers

        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_no_template_and_no_script_needs_what_the_policy_forbids() -> None:
    """No template holds an inline script, style or handler, and no asset names another host."""
    here = Path(dashboard.__file__).parent
    templates = {each.name: each.read_text() for each in (here / "templates").rglob("*.html")}
    assets = {each.name: each.read_text() for each in (here / "static").iterdir()}

    assert "base.html" in templates
    for name, text in templates.items():
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=|javascript:", text), name
    for name, text in {**templates, **assets}.items():
        elsewhere = set(re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]{2,}", text)) - {"http://www.w3.org"}
        assert not elsewhere, name
        assert "| safe" not in text, name
        assert "|safe" not in text, name


def test_a_browser_keeps_assets_and_nothing_else(client: TestClient) -> None:
    """An asset is asked for again and answered 304 while it is the same; pages and errors are stored nowhere."""
    asset = client.get("/static/style.css")
    again = client.get("/static/style.css", headers={"If-None-Match": asset.headers["etag"]})
    others = [client.get(path) for path in ("/form", "/missing", "/static/none.css")]

    assert (asset.status_code, again.status_code, again.content) == (200, 304, b"")
    assert {asset.headers["cache-control"], again.headers["cache-control"]} == {"no-cache"}
    assert {each.headers["cache-control"] for each in others} == {"no-store"}


def test_asking_for_the_head_of_the_stream_does_not_listen(client: TestClient) -> None:
    """HEAD gets the type and ends; a stream has no end of its own."""
    answer = client.head("/events")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/form/", "/form"),
        ("/form/?q=a%20b&page=2", "/form?q=a%20b&page=2"),
        ("/a%3Fb//", "/a%3Fb"),
        ("//evil.example/", None),
        ("/%2Fevil.example/", None),
        ("/%5Cevil.example/", "/%5Cevil.example"),
    ],
)
def test_a_slash_too_many_leads_to_the_page(client: TestClient, path: str, place: str | None) -> None:
    """The way goes to a path of this site without its scheme and host, which a proxy in front may have otherwise."""
    answer = client.get(f"{BASE}{path}")

    assert answer.headers.get("location") == place
    assert answer.status_code == (404 if place is None else 307)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/missing", 404), ("/scope", 403), ("/usage", 400), ("/busy", 503), ("/broken", 500), ("/no", 404)],
)
def test_an_error_is_a_page_with_its_status(client: TestClient, path: str, status: int) -> None:
    """An error of the engine is its sentence under the right status, and a surprise tells no detail."""
    answer = client.get(path)

    assert answer.status_code == status
    heading = {404: "Not found", 403: "Not allowed"}.get(status, "That did not work")
    assert f"<h1>{heading}</h1>" in answer.text
    assert f"<title>{heading} " in answer.text
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text


def test_an_error_is_escaped(client: TestClient) -> None:
    """What stands in a hint is text and no markup."""
    assert "Try &lt;b&gt;less&lt;/b&gt;." in client.get("/usage").text


def test_a_program_gets_the_object(client: TestClient) -> None:
    """`Accept: application/json` gets what the page shows."""
    answer = client.get("/usage", headers={"accept": "application/json"})

    assert answer.json() == {
        "error": {"kind": "usage", "message": "No sense.", "hint": "Try <b>less</b>."},
        "status": 400,
    }


def test_a_form_of_this_site_is_taken_and_its_notice_shown_once(client: TestClient) -> None:
    """The form leads on, and the page that it leads to says what was done, once."""
    answer = client.post("/save", data={"csrf": _sign(client), "text": "one\r\ntwo"})

    assert answer.status_code == 303
    place = answer.headers["location"]
    assert place.startswith("/knowledge/a%20b?notice=")
    key = place.rpartition("=")[2]
    assert "Saved &#39;one\\ntwo&#39;." in client.get(f"/form?notice={key}").text
    assert "Saved" not in client.get(f"/form?notice={key}").text


def test_a_note_of_a_million_bytes_is_taken(client: TestClient) -> None:
    """A sign that is three times as long when it is sent counts as one: the longest note arrives whole."""
    answer = client.post("/save", data={"csrf": _sign(client), "text": "=" * 1_000_000})

    key = answer.headers["location"].rpartition("=")[2]
    assert "=" * 1_000_000 in client.get(f"/form?notice={key}").text


def test_a_form_that_breaks_off_is_no_fault_of_ours() -> None:
    """A browser that hangs up in the middle of a form gets a plain refusal, and no trace fills the log."""

    async def hang_up() -> Message:
        return {"type": "http.disconnect"}

    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, hang_up)

    with pytest.raises(HTTPException) as refused:
        asyncio.run(forms.read(request, b"s" * 32))
    assert refused.value.status_code == 400


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_from_elsewhere_is_refused(client: TestClient, token: str) -> None:
    """Without the signature of the browser's own cookie nothing is done."""
    client.get("/form")

    answer = client.post("/save", data={"csrf": token, "text": "x"})

    assert answer.status_code == 403
    assert "Nothing was changed" in answer.text


def test_a_signature_is_good_for_its_own_browser_only(client: TestClient) -> None:
    """A signature that another browser was given is refused."""
    stolen = _sign(client)
    client.cookies.clear()
    client.get("/form")

    assert client.post("/save", data={"csrf": stolen, "text": "x"}).status_code == 403


def test_a_method_that_a_page_has_not_is_told_with_those_that_it_has(client: TestClient) -> None:
    """HTTP wants the methods that are right beside a 405."""
    answer = client.get("/save")

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_pages_in_two_tabs_can_both_be_sent(client: TestClient) -> None:
    """A page that is opened meanwhile takes nothing from the form of the one before."""
    before = _sign(client)
    after = _sign(client)

    assert [client.post("/save", data={"csrf": each, "text": "x"}).status_code for each in (before, after)] == [303] * 2


def test_a_form_without_cookie_is_refused(client: TestClient) -> None:
    """A browser that never loaded a page can't send a form."""
    assert client.post("/save", data={"csrf": "x"}).status_code == 403


def test_a_template_finds_keys_before_methods() -> None:
    """What a page's object holds is found by its name, `items` and `count` too; methods and missing names stay as in Jinja."""
    template = answering._templates().from_string(
        "{{ a.count }} {{ a.items }} {% for k, v in b.items() %}{{ k }}{% endfor %}"
    )

    assert template.render(a={"count": 3, "items": "two"}, b={"x": 1}) == "3 two x"
    with pytest.raises(UndefinedError):
        answering._templates().from_string("{{ a.nothing }}").render(a={})


def test_links_are_quoted() -> None:
    """Names with spaces, signs and other scripts make a path; what is None is left out."""
    assert link("/knowledge/a b/50%?#.md", view=None) == "/knowledge/a%20b/50%25%3F%23.md"
    assert link("/search", q="ü&x", limit=3) == "/search?q=%C3%BC%26x&limit=3"


def test_notices_that_nobody_takes_are_forgotten() -> None:
    """The oldest go first, so that they never fill the memory."""
    notices = Notices()
    keys = [notices.leave(Notice(Mood.PLAIN, str(number))) for number in range(501)]

    assert notices.take(keys[0]) is None
    last = notices.take(keys[-1])
    assert last is not None
    assert last.text == "500"


def test_the_root_leads_to_knowledge(client: TestClient) -> None:
    """`/` is the Knowledge page."""
    assert client.get("/").headers["location"] == "/knowledge"
