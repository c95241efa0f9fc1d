"""The pages about roles: what each may do and see, and what a turn of it would carry."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain
    from tests.integration.overseeing.conftest import Visitor


def _blocks(html: str) -> list[str]:
    """Return the texts of the blocks on a page."""
    return [unescape(text) for text in re.findall(r'<pre dir="auto"[^>]*>\n(.*?)</pre>', html, re.DOTALL)]


def test_every_role_is_listed_with_what_it_may(visit: Callable[..., Visitor]) -> None:
    """The engine's own roles and the brain's stand there, with line, reach, tools, settings and model."""
    visitor = visit()
    answer = visitor.ask("/agents")
    nova = next(role for role in answer["roles"] if role["id"] == "nova")

    assert {"nova", "ops", "system:memory"} <= {role["id"] for role in answer["roles"]}
    assert (nova["line"], nova["description"], nova["model"]) == ("main", "Helps everybody.", "offline")
    assert answer == visitor.brain.oversight.roles().to_json()
    html = visitor.see("/agents")
    assert "Helps everybody." in html
    assert '<a href="/agents/system:memory" dir="auto">' in html
    assert "every line" in html  # of ops, whose list says '*'


@pytest.mark.rule("KNOB-O5")
def test_a_role_that_does_not_load_is_named_with_its_fault(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """File, line, key and what to do stand on the page; asking for the role itself is not found, with the same hint."""
    sample.put("features/team/broken.agent.md", "---\nmemory: {recalResults: 3}\n---\nx\n")
    visitor = visit()

    html = visitor.see("/agents")
    missing = visitor.client.get("/agents/broken")

    assert "features/team/broken.agent.md:2" in html
    assert "memory.recalResults" in html
    assert missing.status_code == 404
    assert "Did you mean" in unescape(missing.text)


def test_the_list_follows_files_that_do_not_load(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """A manifest that breaks while the dashboard runs is said in words, and the last good one stays in force."""
    visitor = visit()
    sample.manifest("{recallScore: 7}")

    html = visitor.see("/agents")

    assert "The changed files were not taken; the last good ones are in force" in html
    assert "constitution/MANIFEST.yaml" in html


@pytest.mark.rule("ENVELOPE-03", "ENVELOPE-05")
def test_a_turn_is_shown_block_by_block(visit: Callable[..., Visitor]) -> None:
    """The page holds the exact texts of a delivery in their order, and the recall for a message that was typed."""
    visitor = visit()
    agent = visitor.brain.agent("ops")
    agent.memory.write("It rains today.", priority=True)
    message = "when do releases ship"

    html = visitor.see("/agents/ops", message=message)

    sent = agent.deliver(session="compare", message=message)
    assert sent.recall is not None
    expected = [block.text for block in sent.blocks] + [text for text in [sent.recall.block] if text]
    assert _blocks(html) == expected
    assert "of 12\N{NARROW NO-BREAK SPACE}000 chars" in html
    assert 'aria-label="' in html


@pytest.mark.rule("ENVELOPE-06")
def test_a_session_sees_only_what_changed(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Beside a new session the page shows what a chosen one would get, and looking at it changes nothing."""
    visitor = visit()
    visitor.brain.agent("nova").turn(session="s1")
    sample.put_memory("main/MEMORY.md", "# Main\n\n- Only this now.\n")

    first, again = (visitor.ask("/agents/nova", session="s1") for _ in range(2))

    assert [block["name"] for block in first["resumed"]["blocks"]] == ["agent-memory"]
    assert first["resumed"]["blocks"][0]["href"] == "/knowledge/main/MEMORY.md"
    assert [block["name"] for block in first["fresh"]["blocks"]] == ["agent-environment", "agent-memory"]
    assert again == first
    assert [each["id"] for each in first["sessions"]["sessions"]] == ["s1"]


@pytest.mark.rule("KNOB-24")
def test_a_heartbeat_changes_what_is_shown(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """As a heartbeat runs it the role shows the heartbeat's patch, in its settings and in its blocks."""
    sample.beat("daily", "nova", "{priorityChars: 0}")
    visitor = visit()

    plain, patched = (visitor.ask("/agents/nova", heartbeat=beat) for beat in ("", "daily"))

    assert "agent-memory" in [block["name"] for block in plain["fresh"]["blocks"]]
    assert "agent-memory" not in [block["name"] for block in patched["fresh"]["blocks"]]
    knob = next(each for each in patched["role"]["memory"] if each["key"] == "priorityChars")
    assert (knob["value"], knob["origin"]) == (0, "heartbeat")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        pytest.param({"heartbeat": "nightly"}, "heartbeat", id="no such heartbeat"),
        pytest.param({"heartbeat": "theirs"}, "heartbeat", id="one that runs another role"),
        pytest.param({"session": "s9"}, "session", id="no such session"),
        pytest.param({"session": "of-ops"}, "session", id="a session of another role"),
        pytest.param({"session": "<script>alert(1)</script>"}, "session", id="script"),
    ],
)
def test_what_is_not_the_role_s_is_said(
    visit: Callable[..., Visitor], sample: SampleBrain, query: dict[str, str], field: str
) -> None:
    """A heartbeat or a session that does not belong to the role gets a sentence, and nothing of it is shown."""
    sample.beat("theirs", "ops")
    visitor = visit()
    visitor.brain.agent("ops").turn(session="of-ops")

    answer = visitor.ask("/agents/nova", status=400, **query)

    assert list(answer["errors"]) == [field]
    assert answer["resumed"] is None
    assert "<script>alert" not in visitor.client.get("/agents/nova", params=query).text


def test_no_such_role_is_not_found(visit: Callable[..., Visitor]) -> None:
    """A role that there is not, whatever its name looks like, is a page that is not found, and a near name is offered."""
    visitor = visit()

    for name in ("nobody", "%2e%2e", "<script>alert(1)</script>", "a" * 3000):
        answer = visitor.client.get(f"/agents/{name}")
        assert answer.status_code == 404
        assert "<script>alert" not in answer.text
    assert "nova" in visitor.client.get("/agents/novaa").text


def test_notes_are_text_on_the_page(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Script in MEMORY.md or in a role's description is shown as it is written, bytes that are no text included."""
    sample.role("odd", "{write: odd}", more="description: '<script>alert(1)</script>'\n")
    sample.put_memory("odd/MEMORY.md", b"# Odd\n\n- <script>alert(2)</script> caf\xe9 \xff\n")
    visitor = visit()

    for path in ("/agents", "/agents/odd"):
        assert "<script>alert" not in visitor.see(path)
    assert "<script>alert(2)</script>" in "".join(_blocks(visitor.see("/agents/odd")))
    assert visitor.ask("/agents/odd")["fresh"]["line"] == "odd"
