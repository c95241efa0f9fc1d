"""Failure cases: schedules, days whose clocks are changed, and prompts that ask for nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omnislash import UsageError
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.runtime.loop.run_values import Run

if TYPE_CHECKING:
    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.turns import Ports, Turn
    from tests.cases.conftest import CaseBrain, MakeBrain

FILE = "features/team/round.heartbeat.md"


class CountedTurns:
    """Stands in for the model of a turn, and counts."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def __call__(self, turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        del ports, options
        self.messages.append(message)
        return Run(session=session or "", role=turn.scope.role, line=turn.scope.line, model="stub", text="Done.")


def heartbeat(body: str, *, schedule: str = "0 10 * * *") -> str:
    """Return a heartbeat's file."""
    return f"---\nschedule: '{schedule}'\nagent: ops\n---\n{body}"


def tick(brain: CaseBrain, turns: CountedTurns, instant: str) -> None:
    """Set the clock, and let a scheduler that remembers nothing look once."""
    brain.at(instant)
    Scheduler(brain.brain._ports(), turns, threaded=False).look()


@pytest.mark.rule("LINE-O3")
def test_o_38_midnight_that_does_not_exist(make_brain: MakeBrain) -> None:
    """Five Sundays in Santiago: the list names rising instants, each runs once, and that one before two o'clock."""
    zone = ZoneInfo("America/Santiago")
    brain = make_brain(zone=zone.key, files={FILE: heartbeat("Do the round.", schedule="0 0 * * 0")})
    turns = CountedTurns()
    named: list[str] = []
    now = datetime.fromisoformat("2027-08-22T12:00-04:00")
    tick(brain, turns, now.isoformat())
    while len(named) < 5:
        (listed,) = brain.brain.heartbeats().to_json()["heartbeats"]
        named.append(listed["next"])
        following = datetime.fromisoformat(listed["next"])
        assert following > now
        now = following
        tick(brain, turns, now.astimezone(UTC).isoformat())
        tick(brain, turns, (now + timedelta(minutes=40)).astimezone(UTC).isoformat())

    assert named == [
        "2027-08-29T00:00:00-04:00",
        "2027-09-05T01:00:00-03:00",
        "2027-09-12T00:00:00-03:00",
        "2027-09-19T00:00:00-03:00",
        "2027-09-26T00:00:00-03:00",
    ]
    assert turns.messages == ["Do the round."] * 5


IDLE = {
    "only a heading": heartbeat("# The round\n"),
    "only a comment": heartbeat("<!-- nothing yet -->\n"),
    "only frontmatter": heartbeat(""),
    "a mark and spaces": heartbeat("\ufeff   \n"),
    "an empty task": heartbeat("- [ ] \n"),
}


@pytest.mark.parametrize("text", IDLE.values(), ids=IDLE)
def test_o_39_nothing_to_do_no_call(make_brain: MakeBrain, text: str) -> None:
    """No model is called, and the state says skipped and why; with a real task there is one call."""
    brain = make_brain(files={FILE: text})
    turns = CountedTurns()
    tick(brain, turns, "2026-11-30T09:30:00+00:00")
    tick(brain, turns, "2026-11-30T10:00:00+00:00")
    assert turns.messages == []
    (listed,) = brain.command("heartbeat", "list").answer["heartbeats"]
    assert listed["last"]["outcome"] == "skipped"
    assert "asks for nothing" in listed["last"]["message"]

    brain.named.add(FILE)
    (brain.root / FILE).write_text(heartbeat("- [ ] call Lena\n"))
    tick(brain, turns, "2026-12-01T10:00:00+00:00")
    assert turns.messages == ["- [ ] call Lena\n"]


@pytest.mark.parametrize("data", [b"", b"# The round\n", b"<!-- later -->\n", b"\xef\xbb\xbf   \n", b"- [ ] \n"])
def test_o_39_a_file_without_a_schedule(make_brain: MakeBrain, data: bytes) -> None:
    """Such a file has no time at which to run: it is named with what is missing, and no model is called."""
    brain = make_brain(files={FILE: data})
    turns = CountedTurns()
    tick(brain, turns, "2026-11-30T09:30:00+00:00")
    tick(brain, turns, "2026-12-01T12:00:00+00:00")

    done = brain.command("heartbeat", "list")
    assert turns.messages == []
    assert (done.code, done.answer["heartbeats"]) == (0, [])
    assert {each["path"] for each in done.answer["faulty"]} == {FILE}
    assert any("schedule" in each["message"] for each in done.answer["faulty"])


def test_o_39_no_file(make_brain: MakeBrain) -> None:
    """Without a file nothing runs and nothing breaks; to run it by hand is a mistake with a sentence."""
    brain = make_brain()
    turns = CountedTurns()
    tick(brain, turns, "2026-11-30T09:30:00+00:00")
    tick(brain, turns, "2026-12-01T12:00:00+00:00")
    assert brain.command("heartbeat", "list").answer == {"heartbeats": [], "hooks": [], "faulty": []}
    assert turns.messages == []
    with pytest.raises(UsageError, match="There is no heartbeat or hook 'round'"):
        brain.brain.run_heartbeat("round", run_turn=turns)
    done = brain.command("heartbeat", "run", "round")
    assert (done.code, done.answer["error"]["kind"]) == (2, "usage")
