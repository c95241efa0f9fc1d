"""Every page of the dashboard in a real browser: readable for everybody, on a desk and on a phone, by day and by night."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import axe_playwright_python
import pytest

from tests.browser.conftest import NARROW, WIDE
from tests.browser.running import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, ViewportSize

#: Where pictures of the pages are put; read here, for every test takes away what a person has set.
SCREENSHOTS = Path(os.environ.get("OMNISLASH_SCREENSHOTS") or ROOT / "build" / "screenshots")
#: axe-core, which comes with its wrapper for Playwright.
AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
#: Each page, by the name of its pictures.
PAGES = {
    "knowledge": "/knowledge",
    "drawer": "",  # over the page before it
    "knowledge-file": "/knowledge/main/MEMORY.md",
    "knowledge-edit": "/knowledge/main/MEMORY.md?view=edit",
    "knowledge-new": "/knowledge/main/new",
    "sources": "/sources",
    "search-found": "/search?q=Who+sells+the+bread%3F&role=baker&target=content/prices.md",
    "activity": "/activity",
    "agents": "/agents",
    "agent": "/agents/baker",
    "heartbeats": "/heartbeats",
    "heartbeat": "/heartbeats/briefing",
    "doctor": "/doctor",
    "help": "/help",
    "help-page": "/help/dashboard",
    "settings": "/settings",
    "missing": "/knowledge/main/no-such-file.md",
}
#: Other views of the same pages.
VIEWS = {
    "knowledge-raw": "/knowledge/main/MEMORY.md?view=raw",
    "knowledge-delete": "/knowledge/main/MEMORY.md?view=delete",
    "knowledge-rtl": "/knowledge/main/recipes/arabic.md",
    "knowledge-hostile": "/knowledge/main/hostile.md",
    "source": "/sources/content/prices.md",
    "source-folder": "/sources/content",
    "search": "/search",
    "search-recall": "/search?q=Who+sells+the+bread%3F&role=baker&mode=recall",
}
#: Pages that have every kind of tag, notice, field and button between them.
COLOURFUL = ("knowledge", "activity", "doctor", "settings")
Look = tuple["ViewportSize", Literal["light", "dark"]]
DAY: Look = (WIDE, "light")
NIGHT: Look = (WIDE, "dark")
PHONE: Look = (NARROW, "light")
PHONE_NIGHT: Look = (NARROW, "dark")


@pytest.fixture(autouse=True)
def _is_one_missing(watch: Any) -> None:
    """One of the pages is the one that says that there is none."""
    watch.expected.add(404)


@pytest.fixture(scope="module")
def pictures() -> Path:
    """The directory of the pictures."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


def look(page: Page, as_what: Look) -> None:
    """Show a page in another width and by day or by night."""
    size, scheme = as_what
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def each_page(page: Page, pages: dict[str, str]) -> Iterator[str]:
    """Open one page after the other."""
    for name, address in pages.items():
        if name != "drawer":
            page.goto(address)
        else:
            page.get_by_role("link", name="Memory settings").click()
            page.get_by_role("dialog").get_by_role("heading", name="Memory settings").wait_for()
        yield name


def find_violations(page: Page, *, with_colours: bool = True) -> list[str]:
    """Return what axe finds wrong with the page for people who see, hear or move otherwise.

    Colours are looked at under each word, which takes longer than everything else together.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(
        """async (enabled) => (await axe.run({
            resultTypes: ["violations"], preload: false, rules: {"color-contrast": {enabled}},
        })).violations.flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.target} ${node.failureSummary}`))""",
        with_colours,
    )
    return found


def find_overflow(page: Page) -> list[str]:
    """Return what a person would have to scroll sideways: the page, or a table of the dashboard's own."""
    found: list[str] = page.evaluate(
        """() => {
            const folded = [...document.querySelectorAll("details:not([open])")];
            for (const each of folded) each.open = true;
            const wide = [document.documentElement, ...document.querySelectorAll(".scroll")]
                .filter((each) => each.scrollWidth > each.clientWidth)
                .map((each) => `${each.tagName} ${each.parentElement?.id}: ${each.scrollWidth} in ${each.clientWidth}`);
            for (const each of folded) each.open = false;
            return wide;
        }"""
    )
    return found


def take(page: Page, pictures: Path, name: str, as_what: Look) -> None:
    """Keep a picture."""
    page.screenshot(path=pictures / f"{name}-{as_what[0]['width']}-{as_what[1]}.png")


def test_every_page_suits_everybody(page: Page, pictures: Path) -> None:
    """No rule of axe is broken on any page, colours on those that have all of them, and nothing scrolls sideways."""
    faults: dict[str, list[str]] = {}
    looks = [DAY, PHONE_NIGHT]
    for name in each_page(page, PAGES):
        faults[name] = []
        for as_what in looks:
            if page.viewport_size != as_what[0]:
                look(page, as_what)
            faults[name] += find_overflow(page)
            take(page, pictures, name, as_what)
            if as_what is DAY or name in COLOURFUL:
                faults[name] += find_violations(page, with_colours=name in COLOURFUL)
        looks.reverse()  # the next page is loaded as this one was seen last

    assert not any(faults.values()), faults


@pytest.mark.long
@pytest.mark.parametrize("as_what", [DAY, NIGHT, PHONE, PHONE_NIGHT], ids=["day", "night", "phone", "phone, night"])
def test_every_page_suits_everybody_everywhere(page: Page, pictures: Path, as_what: Look) -> None:
    """The same holds of every view of every page with its colours, by day and by night, on a desk and on a phone."""
    look(page, as_what)
    faults = {}
    for name in each_page(page, PAGES | VIEWS):
        take(page, pictures, name, as_what)
        faults[name] = find_violations(page) + find_overflow(page)

    assert not any(faults.values()), faults


def test_night_is_dark(page: Page) -> None:
    """The page behind the text is light by day and dark by night, and the text the other way round."""
    page.goto("/help")
    shades = {}
    for as_what in (DAY, NIGHT):
        look(page, as_what)
        # The colour as the screen has it: a canvas turns every way of writing one into red, green and blue.
        shades[as_what[1]] = page.evaluate(
            """() => ["backgroundColor", "color"].map((name) => {
                const pen = document.createElement("canvas").getContext("2d");
                pen.fillStyle = getComputedStyle(document.body)[name];
                pen.fillRect(0, 0, 1, 1);
                const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
                return red + green + blue;
            })"""
        )

    (day, day_text), (night, night_text) = shades["light"], shades["dark"]
    assert min(day, night_text) > 600
    assert max(night, day_text) < 150


def test_text_runs_its_own_way(page: Page) -> None:
    """A paragraph in Arabic runs from right to left inside a page that does not, and one in English beside it does not."""
    page.goto("/knowledge/main/recipes/arabic.md")
    directions = "[...document.querySelectorAll('#note h2, #note p')].map((each) => getComputedStyle(each).direction)"

    assert page.evaluate("getComputedStyle(document.documentElement).direction") == "ltr"
    assert page.locator("#note h2, #note p").count() == 3
    assert page.evaluate(directions) == ["rtl", "rtl", "ltr"]
    page.goto("/knowledge/main/recipes/hebrew.md")
    gap = page.evaluate(
        "document.querySelector('#note').getBoundingClientRect().right - document.querySelector('#note li').getBoundingClientRect().right"
    )
    assert gap >= 32  # a bullet and its distance are about 24 wide, in the padding of the note
