"""The pages that ship are shown in the browser as `omnislash help` shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.loading import load_checks
from omnislash.surfaces.dashboard import app
from omnislash.surfaces.dashboard.drawing import draw_help
from omnislash.surfaces.help_pages import ALIASES, ORDER, list_pages, read_page

if TYPE_CHECKING:
    from tests.integration.dashboard_settings.conftest import Pages

TOPICS = [*ORDER, *(f"checks/{check.id}" for check in load_checks())]


def test_every_page_is_listed(pages: Pages) -> None:
    """The list has each topic in its order, and the page of each check."""
    content, html = pages.json("/help"), pages.html("/help")

    assert [page["topic"] for page in content["topics"]] == list(ORDER)
    assert [page["topic"] for page in content["checks"]] == [f"checks/{check.id}" for check in load_checks()]
    assert all(f'href="/help/{topic}"' in html for topic in TOPICS)


def test_every_page_is_shown(pages: Pages) -> None:
    """Each page has its title once, as its first heading, and its text is what ships."""
    for topic in TOPICS:
        page = read_page(topic)
        html = pages.html(f"/help/{topic}")

        assert len(re.findall(r"<h1[ >]", html)) == 1
        assert pages.json(f"/help/{topic}")["text"] == page.text


@pytest.mark.parametrize("topic", TOPICS)
def test_links_of_a_page_lead_to_pages(topic: str) -> None:
    """Each link of a page to another one leads to a page that is there, and none is lost."""
    html = draw_help(read_page(topic).text, topic)
    links = re.findall(r'href="(/[^"#]*)', html)
    mentions = re.findall(
        r"`omnislash help ([a-z/-]+)`", re.sub(r"```.*?```", "", read_page(topic).text, flags=re.DOTALL)
    )

    assert {link.removeprefix("/help/") for link in links} <= set(TOPICS)
    assert len(links) >= len(mentions)


def test_other_names_lead_to_the_page(pages: Pages) -> None:
    """A name that people try leads on; one that nobody knows is a page that says so."""
    for alias, topic in ALIASES.items():
        answer = pages.client.get(f"/help/{alias}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/help/{topic}")
    assert "There is no help page" in pages.html("/help/%2e%2e/%2e%2e/secrets", status=404)
    assert "There is no help page" in pages.html("/help/nothing%2F..%2Fbrain", status=404)


def test_pages_are_searched(pages: Pages) -> None:
    """A page with every word of the query is found, those that have one in the title first."""
    found = pages.json("/help?q=Token%20PROXY")["found"]

    assert "dashboard" in [page["topic"] for page in found]
    assert all(page["lines"] for page in found)
    assert pages.json("/help?q=ladder")["found"][0]["topic"] == "ladder"
    assert pages.json("/help?q=")["found"] == []
    assert "No page has all of these words." in pages.html("/help?q=%3Cb%3Exyzzy")


def test_the_page_about_the_dashboard_names_every_page() -> None:
    """The table of pages has each first step of a path that the dashboard has for a person."""
    paths = {route.path.split("/")[1] for page in app._PAGES for route in page.ROUTES}
    told = set(re.findall(r"^\| `/([a-z]+)` \|", read_page("dashboard").text, re.MULTILINE))

    assert paths == told


def test_titles_are_those_of_the_pages() -> None:
    """The title of a page is its first line."""
    assert all(page.text.startswith(f"# {page.title}\n") for page in list_pages())
