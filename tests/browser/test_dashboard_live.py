"""What comes to an open page by itself, in a real browser, and what a page survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Watch
    from tests.browser.running import Dashboard


def test_a_write_arrives_by_itself(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """What another process writes shows on the open pages without a reload: the row of the log, and the file."""
    page.goto("/activity")
    page.evaluate("window.mark = 'the same page'")
    other = page.context.new_page()
    watch.follow(other)
    other.goto("/knowledge/ops")
    told = dashboard.command("memory", "write", "--role", "ops", "The mill calls at ten.")

    path = told["paths"][0]
    expect(page.locator("#log")).to_contain_text(path)
    expect(other.get_by_role("link", name=path.rpartition("/")[2])).to_be_visible()
    assert page.evaluate("window.mark") == "the same page"


def test_a_restart_loses_nothing(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """A page that was open while the dashboard was started anew follows again, and what was being typed is saved."""
    place = dashboard.put("memory/ops/restart.md", "# Before\n")
    page.goto("/knowledge/ops")
    page.evaluate("window.mark = 'the same page'")
    editor = page.context.new_page()
    watch.follow(editor)
    editor.goto("/knowledge/ops/restart.md?view=edit")
    editor.get_by_label("The whole file").fill("# Typed before\n")
    watch.is_away = True
    dashboard.stop()
    dashboard.put("memory/ops/made-meanwhile.md", "# Meanwhile\n")
    dashboard.start()

    expect(page.get_by_role("link", name="made-meanwhile.md")).to_be_visible()
    watch.is_away = False
    dashboard.put("memory/ops/made-afterwards.md", "# Afterwards\n")
    expect(page.get_by_role("link", name="made-afterwards.md")).to_be_visible()
    assert page.evaluate("window.mark") == "the same page"
    editor.get_by_role("button", name="Save").click()
    expect(editor.locator("#note")).to_contain_text("Typed before")
    assert place.read_bytes() == b"# Typed before\n"


@pytest.mark.long
def test_many_tabs_stay_quick_and_all_follow(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """More tabs than a browser opens connections load and follow, also after the one that listened was closed."""
    tabs = [page, *(page.context.new_page() for _ in range(6))]
    for tab in tabs[1:]:
        watch.follow(tab)
    for tab in tabs:
        tab.goto("/knowledge/ops")
    dashboard.put("memory/ops/for-all-tabs.md", "# One\n")
    for tab in tabs:
        expect(tab.get_by_role("link", name="for-all-tabs.md")).to_be_visible()
    for tab in tabs[:5]:
        tab.close()
    dashboard.put("memory/ops/for-those-left.md", "# Two\n")
    for tab in tabs[5:]:
        expect(tab.get_by_role("link", name="for-those-left.md")).to_be_visible()
