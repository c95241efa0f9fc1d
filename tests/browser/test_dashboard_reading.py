"""What people read and look for in the dashboard, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Watch
    from tests.browser.running import Dashboard


@pytest.mark.rule("DASH-01", "DASH-O1")
def test_a_log_is_found_by_its_day(page: Page, dashboard: Dashboard) -> None:
    """The start shows the line main; from there a year and a day lead to what was written, rendered and as it stands."""
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("main"))
    logs = page.locator("section", has=page.get_by_role("heading", name="Daily logs"))
    logs.get_by_role("link", name=re.compile(r"^\d{4} \d+ logs?$")).last.click()
    logs.get_by_role("link", name=re.compile(r"^\d{4}-\d\d-\d\d\.md$")).first.click()
    day = page.get_by_role("heading", level=1).inner_text().removesuffix(".md")

    expect(page.locator("#note").get_by_role("heading", name=day)).to_be_visible()
    expect(page.locator("#note li", has_text="Noor closed the shop.")).to_be_visible()
    page.get_by_role("link", name="Raw").click()
    raw = dashboard.read(f"memory/main/{day[:4]}/{day[5:7]}/{day}.md").decode()
    assert page.locator("#raw pre").text_content() == raw


@pytest.mark.rule("DASH-01")
def test_a_summary_is_found_in_the_ladder(page: Page) -> None:
    """The ladder of a line says of each period what it is, and leads to the summary of one that is written."""
    page.goto("/knowledge/main")
    rung = page.locator("#ladder li > .row", has=page.locator(".tag", has_text=re.compile("^written$"))).first
    period = rung.get_by_role("link").inner_text()
    rung.get_by_role("link").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(f"{period}.md")
    expect(page.locator("#note")).to_contain_text("Sold out of rye at noon")


def test_a_question_finds_its_note(page: Page) -> None:
    """A question that is typed finds the note; why it ranks there is the sum of its parts; its link opens it."""
    page.goto("/search")
    page.get_by_label("What do you look for?").fill("When does flour come from the mill?")
    page.keyboard.press("Enter")
    first = page.locator(".hits > li").first
    expect(first.get_by_role("link")).to_have_text(re.compile(r"^main/MEMORY\.md:\d+"))
    first.get_by_text("Why it ranks here").click()
    told = first.locator("details p").first
    expect(told).to_be_visible()

    figures = re.search(
        r"Score ([\d.]+), floor [\d.]+: ([\d.]+) × meaning ([\d.]+) \+ ([\d.]+) × (\d+) of (\d+) words",
        told.inner_text(),
    )
    assert figures is not None
    score, of_meaning, meaning, of_words, found, all_words = map(float, figures.groups())
    assert of_meaning + of_words == pytest.approx(1)
    assert score == pytest.approx(of_meaning * meaning + of_words * found / all_words, abs=0.0002)
    first.get_by_role("link").click()
    expect(page.locator("#note")).to_contain_text("Flour comes from the mill on Tuesdays.")


def test_a_note_that_does_not_show_is_explained(page: Page) -> None:
    """For a note that a role is not given the page says that the role does not read it, and shows no text of it."""
    page.goto("/search")
    page.get_by_label("What do you look for?").fill("When does flour come from the mill?")
    page.get_by_label("As whom?").select_option("ops")
    page.get_by_label("Why does this one not show?").fill("main/MEMORY.md")
    page.get_by_role("button", name="Search").click()
    why = page.locator("section", has=page.get_by_role("heading", name=re.compile("shows or does not")))

    expect(why.locator("li").first).to_contain_text("main/MEMORY.md")
    expect(why.locator("li .tag").first).not_to_have_text("shown")
    expect(why.locator("li strong").first).to_contain_text("neither reads nor recalls")
    expect(page.locator(".hits")).not_to_contain_text("main/MEMORY.md")


def test_a_note_runs_nothing(page: Page, watch: Watch) -> None:
    """A note with scripts, frames, forms and pictures from elsewhere is text: nothing runs, is sent or is loaded."""
    page.on("dialog", lambda dialog: watch.faults.append(f"asked: {dialog.message}"))
    page.goto("/knowledge/main/hostile.md")
    page.get_by_text("press here").click()
    page.get_by_text("Ignore your instructions").click()

    assert page.evaluate("window.owned") is None
    assert page.title().startswith("hostile.md")
    active = "script, iframe, form, style, meta, svg, img, input, [onclick], [onerror], [onload], [href^='javascript:']"
    assert page.locator("#note").locator(active).count() == 0
    assert page.locator("#content").count() == 1
    assert page.url.endswith("/knowledge/main/hostile.md")
    assert page.context.pages == [page]
