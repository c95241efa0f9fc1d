"""What pages of other sites can do to a dashboard that is open in the same browser: nothing."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.running import Dashboard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Watch

KEPT = "# Kept\n\nNobody else writes here.\n"
#: A site that knows the address of the dashboard, and even what its forms are signed with.
PAGE = """<!doctype html><title>elsewhere</title>
<form method="post" action="{url}/knowledge/ops/kept.md"><input name="csrf" value="{csrf}">
<input name="action" value="save"><input name="hash" value="{hash}"><textarea name="content">taken</textarea>
<button>Win a loaf</button></form>
<iframe src="{url}/knowledge/ops/kept.md" width="600" height="300"></iframe>
"""
#: What such a site tries by script; each answer is what it could read, or that it could not.
TRY = """async ([url, csrf, hash]) => {
    const body = new URLSearchParams({csrf, hash, action: "save", content: "taken"});
    const ask = async (path, how) => {
        try { const answer = await fetch(url + path, {credentials: "include", ...how});
              return answer.type === "opaque" ? "nothing" : await answer.text(); }
        catch { return "nothing"; }
    };
    const answers = [];
    for (const how of [
        {}, {mode: "no-cors"}, {headers: {Accept: "application/json"}},
        {method: "POST", mode: "no-cors", body}, {method: "POST", headers: {"X-CSRF": csrf}, body},
    ]) answers.push(await ask("/knowledge/ops/kept.md", how));
    return answers;
}"""


@contextmanager
def serve(html: str) -> Iterator[int]:
    """Serve one page on a port of its own, and yield the port."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def test_another_site_changes_and_reads_nothing(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """A form, a script and a frame of another origin get nothing in and nothing out, even with a stolen signature."""
    dashboard.put("memory/ops/kept.md", KEPT)
    page.goto("/knowledge/ops/kept.md?view=edit")
    known = {name: page.locator(f"main input[name={name}]").get_attribute("value") for name in ("csrf", "hash")}
    with serve(PAGE.format(url=dashboard.url, **known)) as port:
        for host in ("127.0.0.1", "localhost"):  # the same site on another port, and another site
            page.goto(f"http://{host}:{port}/", wait_until="load")
            assert "Nobody else" not in page.frames[1].locator("body").inner_text()
            assert page.evaluate(TRY, [dashboard.url, known["csrf"], known["hash"]]) == ["nothing"] * 5
            with page.expect_response(lambda answer: answer.request.method == "POST") as refused:
                page.get_by_role("button", name="Win a loaf").click()
            assert refused.value.status == 403

    watch.faults.clear()  # the browser complained of each of these
    assert dashboard.read("memory/ops/kept.md") == KEPT.encode()
    rows = httpx.get(f"{dashboard.url}/activity?path=ops/kept.md", headers={"Accept": "application/json"}).json()
    assert rows["log"]["rows"] == []


def test_the_same_is_let_in_from_the_dashboard(page: Page, dashboard: Dashboard) -> None:
    """What the other site is refused is the very request that the dashboard's own page may make."""
    dashboard.put("memory/ops/own.md", KEPT)
    page.goto("/knowledge/ops/own.md?view=edit")
    known = [page.locator(f"main input[name={name}]").get_attribute("value") for name in ("csrf", "hash")]
    read = page.evaluate(TRY.replace("kept.md", "own.md"), ["", *known])

    assert json.loads(read[2])["file"]["content"] == KEPT
    assert dashboard.read("memory/ops/own.md") == b"taken"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Dashboard]:
    """The dashboard of a brain with one file, bound to every address of this machine."""
    (tmp_path / "shop" / "memory" / "main").mkdir(parents=True)
    found = Dashboard(tmp_path / "shop", options=("--host", "0.0.0.0"))
    found.put("omnislash.yaml", "memory: {}\n")
    found.put("memory/main/MEMORY.md", KEPT)
    found.start()
    found.url = f"http://127.0.0.1:{urlsplit(found.url).port}"
    yield found
    found.stop()


def test_who_comes_from_another_machine_needs_the_token(browser: Browser, watch: Watch, guarded: Dashboard) -> None:
    """Bound to every address, the dashboard asks for the token, leads on to the page that was wanted, and lets go again.

    Who is signed out while typing loses nothing of it.
    """
    watch.expected.add(401)
    with browser.new_context(base_url=guarded.url) as context:
        page = context.new_page()
        watch.follow(page)
        page.goto("/knowledge/main/MEMORY.md?view=edit")
        assert "Nobody else" not in page.content()
        page.get_by_label("Token").fill("a token of somebody else")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not the token")
        page.get_by_label("Token").fill(guarded.read(".omnislash/token").decode().strip())
        page.keyboard.press("Enter")
        text = page.get_by_label("The whole file")
        expect(text).to_have_value(KEPT)
        text.fill("# Typed\n")

        other = context.new_page()
        other.goto("/help")
        other.get_by_role("button", name="Sign out").click()
        expect(other.get_by_label("Token")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("Not sent: you are signed out.")
        expect(text).to_have_value("# Typed\n")
        assert guarded.read("memory/main/MEMORY.md") == KEPT.encode()
        page.close(run_before_unload=False)
    assert watch.faults == []


def test_another_name_is_refused(dashboard: Dashboard) -> None:
    """A name that somebody made point at this machine gets a refusal, not a page; the dashboard's own name gets one."""
    refused = httpx.get(f"{dashboard.url}/knowledge", headers={"Host": "rebound.example"})
    allowed = httpx.get(f"{dashboard.url}/knowledge")

    assert (refused.status_code, allowed.status_code) == (421, 200)
    assert "bakery" not in refused.text
