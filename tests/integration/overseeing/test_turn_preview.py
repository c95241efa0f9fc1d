"""What a turn would carry, for a person: the very blocks of a delivery, and nothing noted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from omnislash import UsageError
from omnislash.core.budgets import count_chars

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain
    from tests.integration.overseeing.conftest import Visitor


def _kept(sample: SampleBrain) -> list[tuple[object, ...]]:
    """Return what the state database keeps of sessions."""
    with closing(sqlite3.connect(sample.root / ".omnislash" / "state.db")) as database:
        tables = ("sessions", "session_blocks", "session_turns", "audit")
        return [row for table in tables for row in database.execute(f"SELECT * FROM {table}")]


@pytest.mark.rule("ENVELOPE-03", "ENVELOPE-05")
def test_a_new_session_is_shown_as_it_is_delivered(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """The blocks, their order and the recall are those that a delivery has, each with its length and its ceiling."""
    visitor = visit()
    agent = visitor.brain.agent("nova")
    agent.memory.write("Today it rained.")
    message = "the printer on floor three"

    seen = agent.preview(message=message).to_json()
    sent = agent.deliver(session="compare", message=message)

    assert [block["text"] for block in seen["blocks"]] == [block.text for block in sent.blocks]
    assert [(block["name"], block["setting"], block["ceiling"]) for block in seen["blocks"]] == [
        ("agent-environment", None, None),
        ("agent-memory", "priorityChars", 12_000),
        ("agent-memory-daily", "recentChars", 4_000),
    ]
    assert sent.recall is not None
    assert seen["recall"]["block"] == sent.recall.block
    assert (seen["recall"]["ceiling"], seen["session"], seen["line"]) == (3_000, None, "main")
    assert seen["chars"] == sum(count_chars(block.text) for block in sent.blocks) + count_chars(sent.recall.block)


@pytest.mark.rule("ENVELOPE-05", "ENVELOPE-06")
def test_a_known_session_gets_what_changed(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """A session that was sent everything gets nothing more, until a file changes; a new session gets all of it."""
    agent = visit().brain.agent("nova")
    agent.turn(session="s1")

    quiet = agent.preview(session="s1").to_json()
    sample.put_memory("main/MEMORY.md", "# Main\n\n- Only this now.\n")
    changed = agent.preview(session="s1").to_json()

    assert (quiet["blocks"], quiet["chars"]) == ([], 0)
    assert [(block["name"], block["why"]) for block in changed["blocks"]] == [("agent-memory", "changed")]
    assert len(agent.preview().blocks) == 2


def test_a_preview_notes_nothing(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """However often it is looked at, no session, no block and no row comes of it, so the next turn gets everything."""
    agent = visit().brain.agent("nova")
    agent.turn(session="s1")
    sample.put_memory("main/MEMORY.md", "# Main\n\n- Only this now.\n")
    before = _kept(sample)

    for session in (None, "s1", "s1"):
        agent.preview(session=session, message="anything")

    assert _kept(sample) == before
    assert [block.name.value for block in agent.turn(session="s1").blocks] == ["agent-memory"]


@pytest.mark.rule("ENVELOPE-O1")
def test_a_session_with_a_model_shows_what_stands(visit: Callable[..., Visitor]) -> None:
    """In a session that omnislash runs a model in, MEMORY.md goes with every request, and is shown so."""
    agent = visit().brain.agent("nova")
    agent.run("Hello", session="talk")

    seen = agent.preview(session="talk").to_json()

    assert seen["carrier"] == "model"
    assert [(block["name"], block["why"]) for block in seen["blocks"]] == [("agent-memory", "standing")]


def test_a_session_that_is_not_the_role_s_is_refused(visit: Callable[..., Visitor]) -> None:
    """Neither an unknown session nor that of another role is shown as one of this role."""
    brain = visit().brain
    brain.agent("ops").turn(session="theirs")

    for session in ("theirs", "nobody's", "\x00", ""):
        with pytest.raises(UsageError, match=r"session"):
            brain.agent("nova").preview(session=session)


@pytest.mark.rule("DECLARE-04")
def test_a_role_without_memory_carries_the_day_alone(sample: SampleBrain) -> None:
    """Without memory there is the environment, no block of memory and no recall."""
    sample.role("plain", None)

    seen = sample.open().agent("plain").preview(message="the printer").to_json()

    assert [block["name"] for block in seen["blocks"]] == ["agent-environment"]
    assert (seen["line"], seen["recall"]) == (None, None)
