"""The activity page: the log, the queue, and the deletions that a person grants or refuses there."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Outcome
from tests.integration.overseeing.conftest import JSON

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain
    from tests.integration.overseeing.conftest import Visitor


def _ask(visitor: Visitor, entry: str | None = "The cat is called Lisbet.") -> str:
    """Let nova ask for a deletion, and return the id of the question."""
    verdict = visitor.brain.agent("nova").memory.delete("main/MEMORY.md", entry=entry)
    assert verdict.outcome is Outcome.APPROVAL_REQUIRED
    assert verdict.approval is not None
    return verdict.approval


@pytest.mark.rule("WRITE-11", "DASH-06")
def test_every_attempt_is_a_row_with_who_and_what(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Writes and refusals alike are listed newest first, with role, heartbeat, tool, outcome and linked files."""
    sample.beat("daily", "nova")
    visitor = visit()
    visitor.brain.agent("nova").memory.write("It rains.")
    visitor.brain.agent("nova", heartbeat="daily").memory.edit("ops/MEMORY.md", old="a", new="b")

    rows = visitor.ask("/activity")["log"]["rows"]

    assert [(row["outcome"], row["role"], row.get("heartbeat"), row["tool"]) for row in rows] == [
        ("refused", "nova", "daily", "memory_edit"),
        ("written", "nova", None, "memory_write"),
    ]
    assert rows[1]["paths"] == [{"path": "main/2026/08/2026-08-30.md", "href": "/knowledge/main/2026/08/2026-08-30.md"}]
    html = visitor.see("/activity")
    assert '<a class="mono" href="/knowledge/main/2026/08/2026-08-30.md" dir="auto">' in html
    assert '<a href="/agents/nova" dir="auto">nova</a> <span class="soft" dir="auto">· daily</span>' in html


def test_instants_are_in_the_brain_s_zone(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """What happened at 09:05 in UTC happened at 14:35 in Kolkata, and the page says in which zone it counts."""
    sample.manifest(timezone="Asia/Kolkata")
    visitor = visit()
    visitor.brain.agent("nova").turn(session="s1")
    visitor.brain.agent("nova").memory.write("It rains.")
    answer = visitor.ask("/activity")

    assert answer["log"]["rows"][0]["at"] == "2026-08-30T14:35:00+05:30"
    assert answer["queue"]["verdicts"][0]["finishedAt"] == "2026-08-30T14:35:00+05:30"
    assert answer["sessions"]["sessions"][0]["usedAt"] == "2026-08-30T14:35:00+05:30"
    html = visitor.see("/activity")
    assert "times in Asia/Kolkata" in html
    assert "2026-08-30 14:35" in html
    assert "09:05" not in html


def test_the_log_is_paged_and_filtered(visit: Callable[..., Visitor]) -> None:
    """Older rows are one link away, each row once; a file or a line narrows the rows, with `memory/` in front or not."""
    visitor = visit()
    for number in range(5):
        visitor.brain.agent("nova").memory.write(f"note {number}", priority=number == 0)
        visitor.brain.agent("ops").memory.write(f"note {number}")

    jobs: list[str] = []
    path: str | None = "/activity?limit=4&line=main"
    while path:
        page = visitor.ask(path)
        assert all(row["paths"][0]["path"].startswith("main/") for row in page["log"]["rows"])
        jobs += [row["job"] for row in page["log"]["rows"]]
        path = page["older"]

    assert len(jobs) == len(set(jobs)) == 5
    for name in ("main/MEMORY.md", "memory/main/MEMORY.md"):
        assert len(visitor.ask("/activity", path=name)["log"]["rows"]) == 1
    assert visitor.ask("/activity", path="main/none.md")["log"]["rows"] == []
    assert "Older rows" in visitor.see("/activity", limit="4")
    assert "Older rows" not in visitor.see("/activity")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        pytest.param({"cursor": "nonsense"}, "cursor", id="a cursor of nobody"),
        pytest.param({"limit": "0"}, "limit", id="no rows"),
        pytest.param({"limit": "many"}, "limit", id="no number"),
        pytest.param({"path": "x" * 2000}, "path", id="a path without end"),
    ],
)
def test_filters_that_make_no_sense_are_said(visit: Callable[..., Visitor], query: dict[str, str], field: str) -> None:
    """A filter that makes no sense gets a sentence; the rest of the page stands."""
    answer = visit().ask("/activity", status=400, **query)

    assert list(answer["errors"]) == [field]
    assert answer["approvals"]["total"] == 0


@pytest.mark.rule("TOOL-16", "DASH-06")
def test_a_person_approves_what_is_shown(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """The page shows the very text that would go; approving deletes exactly that, and is a row of the log."""
    visitor = visit()
    approval = _ask(visitor)
    html = visitor.see("/activity")
    assert unescape(re.findall(r'<pre class="going"[^>]*>\n(.*?)</pre>', html, re.DOTALL)[0]) == (
        "- The cat is called Lisbet.\n"
    )
    assert "data-confirm=" in html

    answer = visitor.post("/activity/approve", id=approval)

    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/activity")
    assert sample.text("main/MEMORY.md") == "# Main\n\n- Releases ship on Fridays at noon.\n"
    after = visitor.see(answer.headers["location"])
    assert '<p class="notice good" role="status">Deleted the entry from main/MEMORY.md.' in after
    assert "Nothing waits for a person." in after
    row = visitor.ask("/activity")["log"]["rows"][0]
    assert (row["actor"], row["outcome"], row["tool"], row["role"]) == ("person", "written", "memory_delete", "nova")
    assert visitor.ask("/activity")["approvals"]["decided"][0]["state"] == "approved"


@pytest.mark.rule("TOOL-16")
def test_a_person_refuses(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Refusing deletes nothing and closes the question."""
    visitor = visit()
    approval, before = _ask(visitor), sample.files()

    after = visitor.see(visitor.post("/activity/refuse", id=approval).headers["location"])

    assert "Refused: the entry &#39;The cat is called Lisbet.&#39; of main/MEMORY.md stays." in after
    assert sample.files() == before
    assert visitor.ask("/activity")["approvals"]["decided"][0]["state"] == "refused"


@pytest.mark.rule("TOOL-16")
def test_what_changed_since_it_was_asked_is_not_deleted(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """A file that is another one now offers no approval; an approval that is sent all the same deletes nothing."""
    visitor = visit()
    approval = _ask(visitor, entry=None)
    sample.put_memory("main/MEMORY.md", "# Main\n\n- Quite another text.\n")

    html = visitor.see("/activity")
    answer = visitor.post("/activity/approve", id=approval)

    assert "has changed since the deletion was asked for" in html
    assert "/activity/approve" not in html
    assert "/activity/refuse" in html
    assert 'class="notice bad"' in visitor.see(answer.headers["location"])
    assert sample.text("main/MEMORY.md") == "# Main\n\n- Quite another text.\n"


def test_a_decision_counts_once(visit: Callable[..., Visitor]) -> None:
    """Deciding again, or about nothing, says so on the page and changes nothing."""
    visitor = visit()
    approval = _ask(visitor)
    visitor.post("/activity/refuse", id=approval)

    for path, name in (("/activity/approve", approval), ("/activity/refuse", "nothing"), ("/activity/approve", "")):
        answer = visitor.post(path, id=name)
        assert answer.status_code == 303
        assert 'class="notice bad"' in visitor.see(answer.headers["location"])


def test_a_program_decides_by_the_same_form(visit: Callable[..., Visitor]) -> None:
    """With `Accept: application/json` the notice is an object, and what could not be done is a conflict."""
    visitor = visit()
    approval = _ask(visitor)
    visitor.client.headers.update(JSON)
    visitor.client.get("/search", headers={"Accept": "text/html"})

    first, second = (visitor.post("/activity/refuse", id=approval) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 409)
    assert first.json()["message"].startswith("Refused: ")


def test_only_a_form_of_this_site_decides(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Without the form's signature, and by another method than POST, nothing is decided."""
    visitor = visit()
    approval, before = _ask(visitor), sample.files()

    assert visitor.client.post("/activity/approve", data={"id": approval}).status_code == 403
    assert visitor.client.get("/activity/approve", params={"id": approval}).status_code == 405
    assert sample.files() == before
    assert visitor.ask("/activity")["approvals"]["total"] == 1


@pytest.mark.rule("WRITE-08")
def test_a_queue_without_a_worker_is_said(visit: Callable[..., Visitor]) -> None:
    """What waits is listed with its line, and that no worker runs is said beside it."""
    visitor = visit(queue_only=True)
    visitor.brain.agent("nova").memory.write("It rains.")

    html = visitor.see("/activity")

    assert "no worker running" in html
    assert "1 waiting, 0 running" in html
    assert '<a href="/knowledge/main" dir="auto">main</a> 1.' in html
    assert "It rains" not in html
    visitor.brain.start_worker()
    assert "worker running" in visitor.see("/activity")


def test_script_in_what_would_go_is_text(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Neither the text of a deletion nor a path that an agent made up is markup, in the page or in its questions."""
    script = "<script>alert(1)</script>\"'>"
    sample.put_memory("main/MEMORY.md", f"# Main\n\n- {script}\n")
    visitor = visit()
    _ask(visitor, entry=script)
    visitor.brain.agent("nova").memory.edit(f"main/{script}.md", old="a", new="b")

    html = visitor.client.get("/activity", params={"path": script, "line": script}).text

    assert "<script>alert" not in html + visitor.see("/activity")


@pytest.mark.parametrize("name", ['main/a "b".md', "main/a\\b.md", "main/ä.md", "main/100%_.md"])
def test_a_file_of_any_name_is_found_in_the_log(visit: Callable[..., Visitor], name: str) -> None:
    """The filter by file finds exactly that name, with quotes, slashes, accents or wildcards in it, and no other."""
    visitor = visit()
    for each in (name, "main/x.md", "main/100_x.md"):
        visitor.brain.agent("nova").memory.edit(each, old="a", new="b")

    rows = visitor.ask("/activity", path=name)["log"]["rows"]

    assert [[each["path"] for each in row["paths"]] for row in rows] == [[name]]
    assert len(visitor.ask("/activity", path=name, line="main")["log"]["rows"]) == 1


def test_sessions_lead_to_what_their_next_turn_carries(visit: Callable[..., Visitor]) -> None:
    """Each conversation is linked to its role's page, as that session."""
    visitor = visit()
    visitor.brain.agent("nova").turn(session="chat:a&b")

    assert 'href="/agents/nova?session=chat%3Aa%26b"' in visitor.see("/activity")
