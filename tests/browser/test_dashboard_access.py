"""The dashboard without a mouse, and without scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Dialog, Page

    from tests.browser.conftest import Watch
    from tests.browser.running import Dashboard

#: Whether the element with the focus is in the window and has a line around it.
IS_SEEN = """() => {
    const box = document.activeElement.getBoundingClientRect(), look = getComputedStyle(document.activeElement);
    return box.top >= 0 && box.bottom <= innerHeight && box.width > 0 && look.outlineStyle !== "none"
        && parseFloat(look.outlineWidth) >= 2;
}"""
NAME = "document.activeElement.textContent.trim() || document.activeElement.labels?.[0].textContent.trim()"


@pytest.fixture
def plain_page(browser: Browser, dashboard: Dashboard, watch: Watch) -> Iterator[Page]:
    """A page of a visitor who has scripts switched off."""
    with browser.new_context(base_url=dashboard.url, viewport=WIDE, java_script_enabled=False) as context:
        context.set_default_timeout(PATIENCE_MS)
        found = context.new_page()
        watch.follow(found)
        yield found
    assert watch.faults == []


def press_tab(page: Page) -> str:
    """Go to the next stop, see that a person sees it, and return its name."""
    page.keyboard.press("Tab")
    name = str(page.evaluate(NAME))
    assert page.evaluate(IS_SEEN), name
    return name


def test_everything_is_reached_by_keys(page: Page) -> None:
    """The first stop leads past the menu, every stop is seen, menu and form follow in order, and Enter sends the form."""
    page.goto("/search?q=nothing")  # without a question, the field has the focus from the start
    stops = [press_tab(page) for _ in range(13)]
    assert stops[0] == "Skip to the content"
    assert stops[2:] == [
        "Knowledge", "Search", "Activity", "Agents", "Heartbeats", "Doctor", "Help", "Memory settings",
        "What do you look for?", stops[11], stops[12],
    ]  # fmt: skip
    page.get_by_label("What do you look for?").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("flour from the mill")
    page.keyboard.press("Enter")
    expect(page.locator(".hits").get_by_role("link").first).to_have_text(re.compile(r"^main/MEMORY\.md"))
    page.get_by_role("link", name="Skip to the content").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_drawer_is_used_by_keys(page: Page) -> None:
    """It opens with Enter, closes with Escape, and asks first when something was typed, however often Escape is pressed."""
    asked: list[str] = []
    may_close = False

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        (dialog.accept if may_close else dialog.dismiss)()

    page.on("dialog", answer)
    page.goto("/help")
    settings, drawer = page.get_by_role("link", name="Memory settings"), page.get_by_role("dialog")
    settings.focus()
    page.keyboard.press("Enter")
    expect(drawer).to_be_visible()
    assert page.evaluate("document.querySelector('dialog').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(settings).to_be_focused()
    assert asked == []

    page.keyboard.press("Enter")
    field = drawer.get_by_label(re.compile("^Recent days"))
    field.focus()
    page.keyboard.type("7")
    for presses in (1, 2, 3):
        page.keyboard.press("Escape")
        expect(field).to_be_visible()
        assert len(asked) == presses
    may_close = True
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(settings).to_be_focused()


def test_no_script_is_needed(plain_page: Page, dashboard: Dashboard) -> None:
    """Where scripts are off, files are found, made and changed, and settings are saved on a page."""
    page = plain_page
    page.goto("/knowledge/ops")
    page.get_by_role("link", name="New file").click()
    page.get_by_label("Name").fill("keys")
    page.get_by_label("Text").fill("# Keys\n\nUnder the third pot.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#note")).to_contain_text("Under the third pot.")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("The whole file").fill("# Keys\n\nUnder the fourth pot.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#note")).to_contain_text("Under the fourth pot.")
    assert dashboard.read("memory/ops/keys.md") == b"# Keys\n\nUnder the fourth pot.\n"

    page.get_by_role("link", name="Memory settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Memory settings")
    page.get_by_label(re.compile("^Recall results")).fill("4")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator(".notice[role]")).to_contain_text("in force")
    assert b"  recallResults: 4\n" in dashboard.read("constitution/MANIFEST.yaml")
