"""What people write, decide and set in the dashboard, in a real browser before a real worker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.example import MEMORY, SETTINGS

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

    from tests.browser.conftest import Watch
    from tests.browser.running import Dashboard

NOTICE = ".notice[role]"
#: A file as it is, what a person adds at its end, and the file after that: nothing else of it is another.
EXACT = {
    # An empty first line, spaces at line ends, and empty lines at the end.
    "ops/exact.md": (
        b"\n  indented  \nends in spaces   \n\ttab\t\n\n\n",
        "- new\n",
        b"\n  indented  \nends in spaces   \n\ttab\t\n\n\n- new\n",
    ),
    # A byte order mark, CR LF, and no last line end.
    "ops/exact-windows.md": (
        b"\xef\xbb\xbf\r\nfirst\r\n\r\nlast",
        "\nnew",
        b"\xef\xbb\xbf\r\nfirst\r\n\r\nlast\r\nnew",
    ),
}


@pytest.mark.rule("DASH-06")
def test_a_save_is_exact_on_disk_and_in_the_log(page: Page, dashboard: Dashboard) -> None:
    """What a person saves stands in the file byte by byte, and as a row of a person in the action log."""
    for path, (before, added, after) in EXACT.items():
        dashboard.put(f"memory/{path}", before)
        page.goto(f"/knowledge/{path}")
        page.get_by_role("link", name="Edit").click()
        text = page.get_by_label("The whole file")
        text.fill(text.input_value() + added)
        page.get_by_role("button", name="Save").click()

        expect(page.locator(NOTICE)).to_contain_text(path)
        expect(page.locator("#note")).to_contain_text("new")
        assert dashboard.read(f"memory/{path}") == after

    page.goto("/activity")
    row = page.locator("#log tbody tr", has_text="ops/exact-windows.md")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("a person")
    expect(row).to_contain_text("written")


@pytest.mark.rule("DASH-O3")
def test_a_file_that_changed_meanwhile_is_not_overwritten(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """Who saves over a change is refused, keeps what was typed and sees what is on disk; saving again is allowed."""
    watch.expected.add(409)
    place = dashboard.put("memory/main/recipes/rye.md", "# Rye\n")
    page.goto("/knowledge/main/recipes/rye.md?view=edit")
    page.get_by_label("The whole file").fill("# Mine\n")
    place.write_text("# Theirs\n", encoding="utf-8")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("What you typed")).to_have_value("# Mine\n")
    expect(page.locator("pre.difference")).to_contain_text("−# Theirs")
    expect(page.locator("pre:not(.difference)")).to_contain_text("# Theirs")
    assert place.read_text(encoding="utf-8") == "# Theirs\n"
    page.get_by_role("button", name="Save over what is on disk now").click()
    expect(page.locator("#note")).to_contain_text("Mine")
    assert place.read_text(encoding="utf-8") == "# Mine\n"


@pytest.mark.rule("DASH-05")
def test_a_memory_that_is_too_long_is_refused_with_numbers(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """A save over the budget changes nothing, and says how long it would be and how long it may be."""
    watch.expected.add(422)
    text = MEMORY + "- Bread is bread. " * 40 + "\n"
    page.goto("/knowledge/main/MEMORY.md?view=edit")
    page.get_by_label("The whole file").fill(text)
    page.get_by_role("button", name="Save").click()

    notice = page.get_by_role("alert")
    expect(notice).to_contain_text(str(len(text)))
    expect(notice).to_contain_text("600")
    expect(page.get_by_label("What you typed")).to_have_value(text)
    assert dashboard.read("memory/main/MEMORY.md") == MEMORY.encode()


@pytest.mark.rule("TOOL-16")
def test_deletions_are_decided(page: Page, dashboard: Dashboard) -> None:
    """What an agent wants deleted is shown with its text; a question comes first; what is refused stays."""
    questions: list[str] = []

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.message)
        (dialog.dismiss if len(questions) == 1 else dialog.accept)()

    page.on("dialog", answer)
    page.goto("/activity")
    entry = page.locator("#approvals article", has_text="main/suppliers.md")
    expect(entry.locator("pre")).to_contain_text("Dairy: closed since March.")
    entry.get_by_role("button", name=re.compile("Approve")).click()
    assert dashboard.read("memory/main/suppliers.md").endswith(b"- Dairy: closed since March.\n")
    entry.get_by_role("button", name=re.compile("Approve")).click()

    expect(entry).to_have_count(0)
    assert dashboard.read("memory/main/suppliers.md") == b"# Suppliers\n\n- Mill: Tuesdays.\n"
    row = page.locator("#log tbody tr", has_text="main/suppliers.md", has=page.get_by_text("written", exact=True))
    expect(row).to_contain_text("memory_delete")
    assert len(questions) == 2
    assert all("main/suppliers.md" in question for question in questions)

    page.locator("#approvals article", has_text="main/old-prices.md").get_by_role("button", name="Refuse").click()
    expect(page.locator(NOTICE)).to_contain_text("main/old-prices.md stays")
    expect(page.locator("#approvals")).to_contain_text("Nothing waits for a person.")
    assert dashboard.read("memory/main/old-prices.md") == b"# Old prices\n\nRye was 4.90.\n"


@pytest.mark.rule("DASH-06")
def test_a_file_is_deleted_by_hand(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """The page asks first and can be left; then the file is gone, the log has a row of a person, and its page says so."""
    watch.expected.add(404)
    place = dashboard.put("memory/ops/100% done? #1.md", "# Done\n")
    page.goto("/knowledge/ops")
    page.get_by_role("link", name=place.name).click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("link", name="Keep it").click()
    assert place.read_bytes() == b"# Done\n"
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete this file").click()

    expect(page.locator(NOTICE)).to_contain_text(f"ops/{place.name}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Knowledge: ops")
    expect(page.get_by_role("link", name=place.name)).to_have_count(0)
    assert not place.exists()
    page.goto("/activity")
    row = page.locator("#log tbody tr", has_text=place.name)
    expect(row).to_contain_text("a person")
    expect(row).to_contain_text("memory_delete")
    row.get_by_role("link", name=place.name).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")


def test_a_second_click_sends_nothing_more(page: Page, dashboard: Dashboard) -> None:
    """Who clicks twice on Save sends one form, and is told that it was saved."""
    dashboard.put("memory/ops/twice.md", "# Once\n")
    page.goto("/knowledge/ops/twice.md?view=edit")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.get_by_label("The whole file").fill("# Twice\n")
    page.get_by_role("button", name="Save").dblclick()

    expect(page.locator(NOTICE)).to_contain_text("Changed ops/twice.md")
    assert len(sent) == 1
    assert dashboard.read("memory/ops/twice.md") == b"# Twice\n"


def test_a_heartbeat_is_run_by_hand(page: Page) -> None:
    """Run now begins a run at once, even of one that is switched off; its outcome comes to the page, and stays listed."""
    page.goto("/heartbeats/briefing")
    expect(page.locator("#runs")).to_contain_text("It never ran.")
    page.get_by_role("button", name="Run now").click()

    expect(page.locator("#begun")).to_contain_text("is over: done.", timeout=PATIENCE_MS)
    expect(page.locator("#runs tbody tr")).to_contain_text("done")
    page.get_by_role("link", name="All heartbeats and hooks").click()
    expect(page.locator("#beats tr", has_text="briefing")).to_contain_text("done")


@pytest.mark.rule("DASH-07", "DASH-O2")
def test_a_setting_is_changed_in_the_drawer(page: Page, dashboard: Dashboard, watch: Watch) -> None:
    """The drawer writes the manifest with its comments, leads back to the page, and refuses what would not load."""
    watch.expected.add(422)
    before = dashboard.read("constitution/MANIFEST.yaml").decode()
    assert all(line in before for line in SETTINGS.splitlines())
    page.goto("/agents")
    page.get_by_role("link", name="Memory settings").click()
    page.get_by_role("dialog").get_by_label(re.compile("^Recent days")).fill("5")
    page.get_by_role("dialog").get_by_role("button", name="Save settings").click()

    expect(page.locator(NOTICE)).to_contain_text("in force")
    expect(page).to_have_url(re.compile(r"/agents(\?|$)"))
    changed = before.replace("recentDays: 3 ", "recentDays: 5 ").encode()
    assert dashboard.read("constitution/MANIFEST.yaml") == changed
    page.get_by_role("link", name="Memory settings").click()
    page.get_by_role("dialog").get_by_label(re.compile("^Recent days")).fill("-1")
    page.get_by_role("dialog").get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    refused = page.get_by_label(re.compile("^Recent days"))
    expect(refused).to_have_value("-1")
    expect(refused).to_have_attribute("aria-invalid", "true")
    expect(refused).to_have_accessible_description(re.compile("Fault.*0"))
    assert dashboard.read("constitution/MANIFEST.yaml") == changed
