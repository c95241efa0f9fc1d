"""A session is sent every block once, then only what changed; a restart, a kill and a second process change nothing."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.errors import UsageError

if TYPE_CHECKING:
    from tests.integration.envelope.conftest import Desk

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.rule("ENVELOPE-01", "ENVELOPE-02", "ENVELOPE-03", "ENVELOPE-06", "ENVELOPE-O2")
def test_first_turn_has_everything_and_the_second_nothing(desk: Desk, everything: list[str]) -> None:
    """Each block with its tag and place, in the order of delivery; then silence."""
    first = desk.turn()

    assert [
        f"{block.why} {block.name.removeprefix('agent-')} {block.place}".rstrip() for block in first.blocks
    ] == everything
    assert first.render().split("\n")[0] == "<agent-environment>"
    assert '<agent-memory path="main/MEMORY.md">\n41 of 10000 fileMaxChars (0%)\n' in first.render()
    assert '<agent-memory-periods line="main">\n[main/2026/2026-W34.md]\n- The hall was painted.\n' in first.render()
    assert '<agent-memory-daily line="main">\n[main/2026/08/2026-08-30.md]\n- 08:00 The carrier' in first.render()
    assert (first.session, first.line) == ("s", "main")
    second = desk.turn()
    assert second.blocks == ()
    assert second.render() == ""


@pytest.mark.rule("ENVELOPE-04", "ENVELOPE-05", "ENVELOPE-06")
def test_each_change_sends_its_own_block(desk: Desk) -> None:
    """A priority write re-sends MEMORY.md alone, a week that rolls over the ladder alone, midnight the day alone."""
    desk.turn()

    desk.brain.agent("nova").memory.write("Ida decides about money.", priority=True)
    assert desk.sent() == ["changed memory main/MEMORY.md"]

    desk.sample.clock.at = datetime(2026, 8, 30, 23, 59, tzinfo=UTC)
    assert desk.sent() == []
    desk.sample.clock.at = datetime(2026, 8, 31, 0, 0, tzinfo=UTC)
    assert desk.sent() == ["changed environment"]
    assert desk.sent() == []

    desk.sample.put_memory("main/2026/2026-W35.md", "# 2026-W35\n\n- The pump came.\n")
    rolled = desk.turn().blocks
    assert [(block.name, block.place, block.why) for block in rolled] == [("agent-memory-periods", "main", "changed")]
    assert "The pump came." in rolled[0].text
    assert desk.sent() == []


@pytest.mark.rule("WRITE-18")
def test_each_change_of_memory_goes_to_every_session_of_the_line(desk: Desk) -> None:
    """Each running session gets the whole file once, whoever wrote; a session of another line gets nothing."""
    desk.sample.role("ida")
    desk.sample.role("ops", "{write: ops}")
    sessions = {"a": "nova", "b": "nova", "c": "ida", "d": "ops"}
    for session, role in sessions.items():
        desk.turn(session, role=role)

    desk.brain.agent("ida").memory.write("Ida decides about money.", priority=True)
    sent = {session: desk.turn(session, role=role).blocks for session, role in sessions.items()}

    assert {session: [block.place for block in blocks] for session, blocks in sent.items()} == {
        "a": ["main/MEMORY.md"],
        "b": ["main/MEMORY.md"],
        "c": ["main/MEMORY.md"],
        "d": [],
    }
    assert all("Tomek is not rung" in sent[each][0].text and "Ida decides" in sent[each][0].text for each in "abc")
    assert [desk.sent(session, role=role) for session, role in sessions.items()] == [[], [], [], []]


@pytest.mark.rule("ENVELOPE-13", "ENVELOPE-O4")
def test_window_is_sent_when_a_session_opens(desk: Desk) -> None:
    """Entries written later are not sent, nor is a new day; another session is shown them."""
    desk.turn()
    desk.brain.agent("nova").memory.write("The carrier did not come.", priority=False)
    desk.sample.clock.at += timedelta(days=1)

    assert desk.sent() == ["changed environment"]
    desk.sample.clock.at -= timedelta(days=1)
    assert "did not come" in desk.turn("another").render()


@pytest.mark.rule("ENVELOPE-07")
def test_everything_again_after_a_compaction(desk: Desk, everything: list[str]) -> None:
    """The snapshot line comes first, then every block, window included and as it is now; then silence again."""
    desk.turn()
    desk.brain.agent("nova").memory.write("The carrier did not come.", priority=False)

    turn = desk.turn(is_compacted=True)

    assert [f"{block.why} {block.name.removeprefix('agent-')} {block.place}".rstrip() for block in turn.blocks] == [
        "snapshot context-snapshot",
        *everything,
    ]
    assert turn.render().startswith("<agent-context-snapshot>")
    assert "did not come" in turn.render()
    assert desk.sent() == []


@pytest.mark.rule("ENVELOPE-O7")
def test_restart_sends_nothing_again(desk: Desk, everything: list[str]) -> None:
    """What was sent is known to the next process; what changed meanwhile is sent."""
    assert desk.sent() == everything
    desk.restart()

    assert desk.sent() == []
    desk.sample.put_memory("main/MEMORY.md", "- Only this.\n")
    desk.restart()
    assert desk.sent() == ["changed memory main/MEMORY.md"]


_ONE_TURN = """
import os, sys
from datetime import UTC, datetime
from omnislash import Brain

class Standing:
    def now(self): return datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
    def monotonic_s(self): return 0.0

brain = Brain.open(sys.argv[1], clock=Standing())
turn = brain.agent("nova").turn(session="s")
print(" ".join(block.name for block in turn.blocks), flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.rule("ENVELOPE-O7")
def test_killed_right_after_the_turn(desk: Desk, everything: list[str]) -> None:
    """A process that dies once it has the turn leaves it noted, and two processes share one session."""
    first = subprocess.run(
        [sys.executable, "-c", _ONE_TURN, str(desk.sample.root)], cwd=ROOT, capture_output=True, check=False
    )

    assert first.returncode == -9, first.stderr
    assert len(first.stdout.split()) == len(everything)
    second = subprocess.run(
        [sys.executable, "-c", _ONE_TURN, str(desk.sample.root)], cwd=ROOT, capture_output=True, check=False
    )
    assert second.stdout.split() == []
    assert desk.sent() == []


def test_turns_of_one_session_at_the_same_time(desk: Desk, everything: list[str]) -> None:
    """Each gets whole blocks and none fails; once they are through, the session has everything."""
    brains = [Brain.open(desk.sample.root, clock=desk.sample.clock) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda brain: brain.agent("nova").turn(session="s"), brains * 5))
    for brain in brains:
        brain.close()

    assert {len(turn.blocks) for turn in turns} <= {0, len(everything)}
    assert any(turn.blocks for turn in turns)
    assert desk.sent() == []


@pytest.mark.rule("ENVELOPE-O7")
def test_turn_that_was_never_confirmed_comes_again(desk: Desk, everything: list[str]) -> None:
    """Delivering changes nothing; only the confirmation does, also when it comes from a copy of the receipt."""
    agent = desk.brain.agent("nova")
    lost = agent.deliver(session="s")

    assert len(lost.blocks) == len(everything)
    assert desk.sent() == everything
    agent.confirm(lost)
    assert desk.sent() == []


def test_quiet_turn_writes_nothing(desk: Desk) -> None:
    """A turn without news leaves the database as it is; the session's last use is noted once a day."""
    desk.turn()
    with Brain.open(desk.sample.root, clock=desk.sample.clock) as other:
        other.agent("nova").turn(session="s")
        state = other._open_state()
        before = state.data_version()
        desk.turn()
        assert state.data_version() == before
        desk.sample.clock.at += timedelta(days=2)
        desk.turn()
        assert state.data_version() != before


def test_sessions_are_apart(desk: Desk, everything: list[str]) -> None:
    """What one was sent, another was not; without an id each turn is a session of its own."""
    assert desk.sent("a") == everything
    assert desk.sent("b") == everything
    agent = desk.brain.agent("nova")
    opened, again = agent.turn(), agent.turn()
    assert len(opened.blocks) == len(again.blocks) == len(everything)
    assert opened.session != again.session
    assert agent.turn(session=opened.session).blocks == ()


def test_old_sessions_are_forgotten(desk: Desk, everything: list[str]) -> None:
    """One that nobody used for more than 90 days is new again; one in use stays."""
    desk.turn("left")
    desk.turn("used")
    for _ in range(4):
        desk.sample.clock.at += timedelta(days=30)
        desk.turn("used")
        desk.turn("between")
    desk.sample.clock.at += timedelta(days=2)
    desk.turn("opens")

    rows = desk.brain._open_state().rows("list_sessions", role=None, limit=10)
    assert {row["id"] for row in rows} == {"used", "between", "opens"}
    assert desk.sent("left") == [each for each in everything if "daily" not in each]


@pytest.mark.parametrize("session", ["", "  ", "a\nb", "x" * 201, "a\x00b", "a\u202eb"])
def test_session_that_cannot_be_one(desk: Desk, session: str) -> None:
    """It is refused with what a session id may be."""
    with pytest.raises(UsageError, match="1 to 200 visible characters"):
        desk.turn(session)


@pytest.mark.rule("BOUNDARY-08")
def test_replay_leaves_the_ledger_alone(desk: Desk, everything: list[str]) -> None:
    """It neither reads nor notes: each of its turns is the first, and the live session goes on as if it had not been."""
    assert desk.sent(replay=True) == everything
    assert desk.sent() == everything
    assert desk.sent(replay=True) == everything
    assert desk.sent() == []


def test_ledger_that_cannot_be_used_costs_a_delivery(
    desk: Desk, everything: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Memory is delivered without it, again and again, and the log says why."""
    place = desk.sample.root / ".omnislash"
    place.mkdir(exist_ok=True)
    (place / "state.db").write_bytes(b"this is no database" * 100)

    assert desk.sent() == everything
    assert desk.sent() == everything
    assert "session ledger" in caplog.text


@pytest.mark.rule("ENVELOPE-O1")
def test_placement_for_api_sessions(desk: Desk) -> None:
    """MEMORY.md and ladder stand after the system prompt of every request, the rest goes with the newest message."""
    first = desk.turn(message="When does the carrier come?")
    second = desk.turn(message="When does the carrier come?")

    for turn in (first, second):
        assert [block.name for block in turn.standing] == ["agent-memory", "agent-memory-periods"]
        assert "Tomek" in turn.render_standing()
        assert "Tomek" not in turn.render_opening()
    assert "<agent-memory-daily" in first.render_opening()
    assert "<agent-environment>" in first.render_opening()
    assert "<agent-" not in second.render_opening()
    assert second.render_opening().startswith("### Memory recall")
    assert first.to_json()["blocks"][1]["path"] == "main/MEMORY.md"
