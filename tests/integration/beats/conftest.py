"""A brain whose beats are run by a turn of the test's, and a scheduler that is driven look by look."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.agents import Agent
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.runtime.loop.run_values import Run
from omnislash.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash import Brain
    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.turns import Ports, Turn
    from tests.integration.conftest import SampleBrain

#: Thursday, 20 August 2026, six o'clock in UTC.
SIX = datetime(2026, 8, 20, 6, 0, tzinfo=UTC)


@dataclass
class Call:
    """One turn that was asked for."""

    turn: Turn
    session: str | None
    message: str
    options: RunOptions


@dataclass
class FakeTurns:
    """Stands in for `run_turn`: notes each turn, and does in it what the test says."""

    during: Callable[[Agent, RunOptions], object] = lambda _agent, _options: None
    calls: list[Call] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        with self.lock:
            self.calls.append(Call(turn, session, message, options))
        self.during(Agent(turn, ports), options)
        return Run(
            session=session or "made",
            role=turn.scope.role,
            line=turn.scope.line,
            model="fake",
            text="Done.",
            is_cancelled=options.is_over(),
        )

    @property
    def beats(self) -> list[str | None]:
        """Ids of the beats that ran, in order."""
        return [call.turn.scope.heartbeat for call in self.calls]


class Beats:
    """A brain with a scheduler on a clock of the test's."""

    def __init__(self, sample: SampleBrain, now: datetime = SIX) -> None:
        self.sample = sample
        self.clock = FixedClock(now)
        self.turns = FakeTurns()
        self.brain: Brain = sample.open(clock=self.clock)
        self.restart()

    def restart(self) -> None:
        """Go on with a scheduler that remembers nothing."""
        self.scheduler = Scheduler(self.brain._ports(), self.turns, threaded=False)

    def at(self, now: datetime) -> float:
        """Set the clock and look."""
        self.clock.advance(now - self.clock.now())
        return self.scheduler.look()

    def go(self, **by: float) -> float:
        """Let time go by and look."""
        return self.at(self.clock.now() + timedelta(**by))

    def last(self, name: str) -> dict[str, Any]:
        """Return the last run of a beat, as the list has it; {} when it never ran."""
        answer = self.brain.heartbeats().to_json()
        found = next(each for each in [*answer["heartbeats"], *answer["hooks"]] if each["name"] == name)
        return dict(found.get("last") or {})

    def audit(self) -> list[tuple[str, str | None, str]]:
        """Return tool, beat and outcome of each row of the action log, oldest first."""
        rows = self.brain.audit(limit=100).rows
        return [(row.tool, row.heartbeat, row.outcome) for row in reversed(rows)]


def put_beat(
    sample: SampleBrain, name: str, *, schedule: str = "0 7 * * *", body: str = "Do it.\n", more: str = ""
) -> None:
    """Write a heartbeat's file."""
    sample.put(
        f"features/team/{name}.heartbeat.md", f"---\nschedule: '{schedule}'\nagent: {{role: nova}}\n{more}---\n{body}"
    )


def put_hook(
    sample: SampleBrain, name: str, *, on: str = "memory:written", body: str = "Look at it.\n", more: str = ""
) -> None:
    """Write a hook's file."""
    sample.put(f"features/team/{name}.hook.md", f"---\non: [{on}]\nagent: {{role: nova}}\n{more}---\n{body}")


@pytest.fixture
def beats(sample: SampleBrain) -> Beats:
    """Return a brain with one heartbeat, `briefing`, at seven."""
    put_beat(sample, "briefing")
    return Beats(sample)
