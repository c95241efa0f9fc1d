"""What comes to an open page by itself, in a real browser, and what a page survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Watch
    from tests.browser.running import Dashboard


def await_following(page: Page, dashboard: Dashboard) -> None:
    """Return once the page asks again after a change: the watch of the files begins a moment after the page is there."""
    asked: list[str] = []
    page.on("response", lambda answer: asked.append(answer.url))
    for number in range(200):
        if page.url.partition("#")[0] in asked:
            return
        dashboard.put("memory/ops/tick.md", f"# {number}\n")
        page.wait_for_timeout(100)
    pytest.fail("The page does not follow.")


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
    """A page that was open while the dashboard was started anew follows again, and what was being typed is saved.

    While nobody answers, the page says so, and a save leaves what was typed where it is.
    """
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
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_role("alert")).to_contain_text("Not sent: the dashboard does not answer.")
    expect(editor.get_by_label("The whole file")).to_have_value("# Typed before\n")
    for each in (page, editor):
        expect(each.locator("#live-status")).to_contain_text("The dashboard does not answer.", timeout=PATIENCE_MS)
    dashboard.start()

    for each in (page, editor):
        expect(each.locator("#live-status")).not_to_contain_text("does not answer")
    expect(page.get_by_role("link", name="made-meanwhile.md")).to_be_visible()
    watch.is_away = False
    dashboard.put("memory/ops/made-afterwards.md", "# Afterwards\n")
    expect(page.get_by_role("link", name="made-afterwards.md")).to_be_visible()
    assert page.evaluate("window.mark") == "the same page"
    editor.get_by_role("button", name="Save").click()
    expect(editor.locator("#note")).to_contain_text("Typed before")
    assert place.read_bytes() == b"# Typed before\n"


def test_a_page_of_a_file_that_went_says_so(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """What somebody reads stays in sight when an agent deletes the file, with a sentence; it is followed if it is back."""
    watch.expected.add(404)
    place = dashboard.put("memory/ops/going.md", "# Going\n")
    page.goto("/knowledge/ops/going.md")
    await_following(page, dashboard)
    place.unlink()
    status = page.locator("#live-status")
    expect(status).to_contain_text("not there any more")
    expect(page.locator("#note")).to_contain_text("Going")

    place.write_text("# Back again\n", encoding="utf-8")
    expect(page.locator("#note")).to_contain_text("Back again")
    expect(status).not_to_contain_text("not there any more")


def test_what_came_while_somebody_was_in_a_part_comes_when_they_leave(page: Page, dashboard: Dashboard) -> None:
    """A link that has the focus is not taken away; what changed around it shows as soon as the focus is elsewhere."""
    dashboard.put("memory/ops/held/first.md", "# First\n")
    page.goto("/knowledge/ops?folder=held")
    link, other = (page.locator("#documents").get_by_role("link", name=name) for name in ("first.md", "second.md"))
    await_following(page, dashboard)
    link.focus()
    with page.expect_response("**/knowledge/ops?folder=held"):
        dashboard.put("memory/ops/held/second.md", "# Second\n")
    expect(link).to_be_focused()
    expect(other).to_have_count(0)

    page.get_by_role("link", name="Search").focus()
    expect(other).to_be_visible()


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
