"""What the tests of a person's pages share: a small brain with two lines and a source, and its dashboard in-process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from omnislash.engine import SearchOptions
from omnislash.surfaces.dashboard import forms
from omnislash.surfaces.dashboard.app import make_app
from omnislash.surfaces.dashboard.desk import Desk
from omnislash.surfaces.dashboard.live import Changes
from omnislash.testing.embedders import CountingEmbedder
from tests.integration.conftest import SampleBrain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from httpx2 import Response

    from omnislash import Brain

_SECRET = b"s" * 32
JSON = {"Accept": "application/json"}


class Visitor:
    """A browser without script, and a program, in front of the dashboard of a brain."""

    def __init__(self, brain: Brain) -> None:
        desk = Desk(brain=brain, secret=_SECRET, changes=Changes(brain.root, brain.open_version()))
        self.brain = brain
        self.client = TestClient(make_app(desk), base_url="http://127.0.0.1:4111", follow_redirects=False)

    def see(self, path: str, /, **query: Any) -> str:
        """Return the text of a page; it must be one that was found."""
        answer = self.client.get(path, params=query or None)
        assert answer.status_code == 200, answer.text
        return answer.text

    def ask(self, path: str, /, *, status: int = 200, **query: Any) -> dict[str, Any]:
        """Return the object of a page."""
        answer = self.client.get(path, params=query or None, headers=JSON)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, **fields: str) -> Response:
        """Send a form of a page of this site."""
        if "omnislash_form" not in self.client.cookies:
            self.client.get("/search")
        signed = forms.sign(_SECRET, self.client.cookies["omnislash_form"])
        return self.client.post(path, data={"csrf": signed, **fields})


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[SampleBrain]:
    """A brain with nova, who reads main alone, and ops, who reads everything; both with notes."""
    made = SampleBrain(tmp_path / "brain")
    made.sources("content")
    made.role("nova", more="description: Helps everybody.\n")
    made.role("ops", "{write: ops, read: ['*', content]}")
    made.put_memory("main/MEMORY.md", "# Main\n\n- Releases ship on Fridays at noon.\n- The cat is called Lisbet.\n")
    made.put_memory("ops/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 10:00 The printer on floor three is broken.\n")
    made.put("content/handbook.md", "# Handbook\n\nHolidays are asked for a month ahead.\n")
    yield made
    made.close()


@pytest.fixture
def visit(sample: SampleBrain) -> Iterator[Callable[..., Visitor]]:
    """Opens the dashboard of the sample."""
    visitors: list[Visitor] = []

    def open_dashboard(**options: Any) -> Visitor:
        search = SearchOptions(embedders=(CountingEmbedder(),), catch_up_s=None)
        visitors.append(Visitor(sample.open(**{"search": search, **options})))
        return visitors[-1]

    yield open_dashboard
    for each in visitors:
        each.client.close()
