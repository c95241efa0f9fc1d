"""A dashboard over the sample brain, in this process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from omnislash.surfaces.dashboard.app import make_app
from omnislash.surfaces.dashboard.desk import Desk
from omnislash.surfaces.dashboard.forms import sign
from omnislash.surfaces.dashboard.live import Changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.conftest import SampleBrain

_SECRET = b"s" * 32
_BASE = "http://127.0.0.1:4111"


class Pages:
    """What a browser and a program see of the dashboard."""

    def __init__(self, client: TestClient, desk: Desk) -> None:
        self.client = client
        self.desk = desk
        self.brain = desk.brain

    def html(self, path: str, *, status: int = 200) -> str:
        """Return a page."""
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    def json(self, path: str) -> dict[str, Any]:
        """Return the object of a page."""
        answer = self.client.get(path, headers={"accept": "application/json"})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def send(self, path: str, fields: dict[str, str] | None = None, *, accept: str = "text/html") -> Any:
        """Send a form of this site, and return the answer."""
        if "omnislash_form" not in self.client.cookies:
            self.client.get("/settings")
        csrf = sign(_SECRET, self.client.cookies["omnislash_form"])
        return self.client.post(path, data={**(fields or {}), "csrf": csrf}, headers={"accept": accept})

    def follow(self, answer: Any) -> str:
        """Return the page that a form leads to."""
        assert answer.status_code == 303, answer.text
        return self.html(answer.headers["location"])


def fields_of(html: str, action: str) -> dict[str, str]:
    """Return what a browser would send of an untouched form: hidden and text fields, selects, text areas, ticked boxes."""
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', html, re.DOTALL)
    assert form is not None
    return _fields(form[0])


def _fields(form: str) -> dict[str, str]:
    from html import unescape

    found: dict[str, str] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given.get("type") != "checkbox" or " checked" in tag:
            found[unescape(given["name"])] = unescape(given.get("value", "on"))
    for name, text in re.findall(r'<textarea[^>]* name="([^"]*)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL):
        found[unescape(name)] = unescape(text)
    for name, options in re.findall(r'<select[^>]* name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', options)
        found[unescape(name)] = unescape(chosen[1] or chosen[2]) if chosen else ""
    found.pop("csrf", None)
    return {name: value.replace("\n", "\r\n") for name, value in found.items()}


@pytest.fixture
def pages(sample: SampleBrain) -> Iterator[Pages]:
    """Return the dashboard of the sample brain."""
    brain = sample.open()
    desk = Desk(brain=brain, secret=_SECRET, changes=Changes(sample.root, brain.open_version()))
    with TestClient(make_app(desk), base_url=_BASE, follow_redirects=False) as client:
        yield Pages(client, desk)
