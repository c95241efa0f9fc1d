"""Sessions of a model: resumed by id, by one role, after a restart, when a row is damaged, and when they grow long."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from omnislash import StorageError, UsageError
from omnislash.runtime.loop import session_turns
from omnislash.runtime.loop.run_values import RunOptions, TextSaid
from omnislash.testing import ScriptedCall, ScriptedChatModel
from tests.integration.running.conftest import read_rows, read_session
from tests.integration.running.test_cancelled_turns import WRITE, open_scripted, said_to

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

LIST = ScriptedCall("memory_list")


@pytest.mark.rule("ENVELOPE-O7")
def test_a_session_goes_on_after_a_restart(sample: SampleBrain) -> None:
    """Another process has the whole conversation, tools included, and sends no block again that did not change."""
    sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 08:00 Tea with Ada.\n")
    first = ScriptedChatModel([WRITE], "Noted.")
    with open_scripted(sample, first) as brain:
        brain.agent("nova").run("Note it.", session="s1")
    second = ScriptedChatModel("Yes.")

    open_scripted(sample, second).agent("nova").run("Did you?", session="s1")

    assert [(speaker, tool) for speaker, tool, _ in said_to(second)] == [
        ("user", None),
        ("assistant", "memory_write"),
        ("tool", "memory_write"),
        ("assistant", None),
        ("user", None),
    ]
    assert "<agent-memory-daily" in second.requests[0].said[0].opening
    assert "<agent-memory-daily" not in second.requests[0].opening
    assert "<agent-environment>" not in second.requests[0].opening


def test_rows_hold_what_was_said_and_nothing_that_moves(sample: SampleBrain) -> None:
    """The same turn makes the same row, on any day and in any run; standing blocks and the prompt are not in it."""
    sample.put_memory("main/MEMORY.md", "- Standing words.\n")
    brain = open_scripted(sample, ScriptedChatModel([LIST], "Noted.", [LIST], "Noted."))

    for session in ("s1", "s2"):
        brain.agent("nova").run("Note it.", session=session)

    one, two = (row[3] for row in read_rows(sample, "session_turns"))
    assert one == two
    assert "Standing words." not in one
    assert "You are nova" not in one
    assert "Note it." in one


@pytest.mark.parametrize("keeps", [True, False])
def test_a_turn_of_its_own_leaves_nothing(sample: SampleBrain, *, keeps: bool) -> None:
    """With `keeps_session` False neither messages nor ledger are touched."""
    open_scripted(sample, ScriptedChatModel()).agent("nova").run(
        "x", session="s1", options=RunOptions(keeps_session=keeps)
    )

    assert [bool(rows) for rows in read_session(sample).values()] == [keeps, keeps, keeps]


def test_a_session_belongs_to_one_role(sample: SampleBrain) -> None:
    """Another role is refused before its model is asked, and the session is untouched."""
    sample.role("ops")
    model = ScriptedChatModel()
    brain = open_scripted(sample, model)
    brain.agent("nova").run("x", session="s1")
    before = read_session(sample)

    with pytest.raises(UsageError, match="The session 's1' belongs to the role 'nova', not to 'ops'"):
        brain.agent("ops").run("x", session="s1")

    assert read_session(sample) == before
    assert len(model.requests) == 1


@pytest.mark.parametrize("damage", ["[{", "{}", '[{"kind": "letter"}]', "null"])
def test_a_damaged_row(sample: SampleBrain, damage: str) -> None:
    """It is said which session and when, no model is asked, and another session is not affected."""
    model = ScriptedChatModel()
    brain = open_scripted(sample, model)
    brain.agent("nova").run("x", session="s1")
    with closing(sqlite3.connect(sample.root / ".omnislash" / "state.db")) as connection, connection:
        connection.execute("UPDATE session_turns SET messages = ?", (damage,))

    with pytest.raises(StorageError, match="'s1' can't be resumed: its turn of 2026-08-30T09:05:00"):
        brain.agent("nova").run("x", session="s1")

    assert len(model.requests) == 1
    assert brain.agent("nova").run("x", session="s2").text == "Done."


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-11")
def test_a_replay_has_no_past_and_leaves_none(sample: SampleBrain) -> None:
    """It reads memory, its writes are refused, nothing is flushed, and no session knows of it."""
    sample.role("nova", more="memoryFlush: true\n")
    model = ScriptedChatModel("First.", [WRITE], "Second.")
    brain = open_scripted(sample, model)
    brain.agent("nova").run("x", session="s1", options=RunOptions(flushes=False))
    before, files = read_session(sample), sample.files()

    run = brain.agent("nova", replay=True).run("y", session="s1")

    assert run.calls[0].answer["outcome"] == "read-only"
    assert run.flush is None
    assert [text for speaker, _, text in said_to(model) if speaker == "user"] == ["y"]
    assert read_session(sample) == before
    assert sample.files() == files


def test_a_long_conversation_is_shortened(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest turns are left out whole, it is said so, and day and window come again, once.

    MEMORY.md stands above the history all the time, so nothing in it may call void what stands above.
    """
    monkeypatch.setattr(session_turns, "MOST_BYTES", 9_000)
    monkeypatch.setattr(session_turns, "KEPT_BYTES", 5_000)
    sample.put_memory("main/MEMORY.md", "- We ship on Fridays.\n")
    sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 08:00 Tea with Ada.\n")
    model = ScriptedChatModel(*[f"Answer {number}." for number in range(9)])
    brain = open_scripted(sample, model)

    for number in range(9):
        brain.agent("nova").run(f"Question {number}: {'word ' * 300}", session="s1")

    asked = [[text[:10] for speaker, _, text in _said(request) if speaker == "user"] for request in model.requests]
    shortened = [bool(request.conversation.shortened) for request in model.requests]
    days = ["<agent-environment" in request.opening for request in model.requests]
    windows = ["<agent-memory-daily" in request.opening for request in model.requests]
    cut = shortened.index(True)
    assert asked[cut - 1][0] == "Question 0"
    assert asked[cut][0] != "Question 0"
    assert asked[cut][-1] == f"Question {cut}"
    assert shortened[cut:] == [True] * len(shortened[cut:])
    assert (days[0], days[cut]) == (True, True)
    assert days.count(True) < len(days) - cut
    assert windows == days
    assert all("We ship on Fridays." in request.standing for request in model.requests)
    assert not any("<agent-context-snapshot" in each.opening for request in model.requests for each in request.said)
    assert len(read_rows(sample, "session_turns")) == 9, "the rows stay"


def test_halves_of_characters(sample: SampleBrain) -> None:
    """A stream that cuts an emoji in two, and a lone half, make no turn fail and no session unreadable."""
    seen: list[str] = []
    model = ScriptedChatModel("So \ud83d\ude00 and \ud83d.", "Again.", piece=1)
    brain = open_scripted(sample, model)
    options = RunOptions(on_event=lambda event: seen.append(event.text) if isinstance(event, TextSaid) else None)

    run = brain.agent("nova").run("A half: \udc00", session="s1", options=options)

    assert run.text == "".join(seen) == "So \U0001f600 and \ufffd."
    assert brain.agent("nova").run("Again?", session="s1").text == "Again."
    assert [text for _, _, text in said_to(model)][:2] == ["A half: \ufffd", "So \U0001f600 and \ufffd."]


@pytest.mark.parametrize("message", ["", " \n"])
def test_an_empty_message(sample: SampleBrain, message: str) -> None:
    """It is refused before a model is asked."""
    model = ScriptedChatModel()
    with pytest.raises(UsageError, match="The message is empty"):
        open_scripted(sample, model).agent("nova").run(message)
    assert not model.requests


def _said(request: object) -> list[tuple[str, str | None, str]]:
    return [(speech.speaker, speech.tool, speech.text) for speech in request.said]  # type: ignore[attr-defined]
