"""Sessions that nobody uses are forgotten: little by little, and never because of a clock that is wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.envelope import forgetting

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain
    from tests.integration.envelope.conftest import Desk


def say(sample: SampleBrain, session: str, *, turns: int, size: int) -> None:
    """Keep turns of a session that was opened."""
    state = sample.open()._open_state()
    with state.transaction():
        for _ in range(turns):
            state.run("add_session_turn", session=session, at="2026-08-30T09:05:00+00:00", messages="x" * size)


def kept(desk: Desk) -> dict[str, int]:
    """Return the sessions that are kept, with the number of turns that are there."""
    state = desk.brain._open_state()
    rows = state.rows("list_sessions", role=None, limit=1000)
    return {row["id"]: len(state.rows("list_turn_sizes", session=row["id"], first=0)) for row in rows}


def pass_days(desk: Desk, days: int) -> None:
    """Let days pass in which the brain is used now and then."""
    for _ in range(days // 10):
        desk.sample.clock.at += timedelta(days=10)
        desk.turn(f"on {desk.sample.clock.at:%Y-%m-%d}")


@pytest.mark.parametrize("sessions", [1, 3])
def test_a_clock_that_runs_ahead(desk: Desk, sessions: int) -> None:
    """However many sessions are opened while it is wrong, nothing is forgotten."""
    desk.turn("talk")
    desk.sample.clock.at += timedelta(days=200)
    for number in range(sessions):
        desk.turn(f"wrong {number}")
        desk.sample.clock.at += timedelta(hours=1)
    desk.sample.clock.at -= timedelta(days=200)
    desk.turn("right")

    assert "talk" in kept(desk)


def test_after_a_long_holiday(desk: Desk) -> None:
    """Nothing is forgotten on the first day, and what is old on the day after the next."""
    desk.turn("talk")
    desk.sample.clock.at += timedelta(days=200)
    desk.turn("back")
    assert "talk" in kept(desk)
    desk.sample.clock.at += timedelta(days=2)
    desk.turn("goes on")

    assert set(kept(desk)) == {"back", "goes on"}


def test_a_long_session_is_forgotten_in_steps(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each session that is opened removes a little, the oldest first, until it is gone."""
    monkeypatch.setattr(forgetting, "STEP_BYTES", 1_000)
    desk.turn("talk")
    say(desk.sample, "talk", turns=25, size=100)
    pass_days(desk, 90)
    assert kept(desk)["talk"] == 25
    desk.sample.clock.at += timedelta(days=1)

    left = []
    for number in range(4):
        desk.turn(f"opens {number}")
        left.append(kept(desk).get("talk"))

    assert left == [15, 5, None, None]


def test_a_session_that_is_half_forgotten(desk: Desk, everything: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes back to it is sent everything, and none of its turns; the number of its turns stays."""
    from omnislash.runtime.loop.session_turns import load_history

    monkeypatch.setattr(forgetting, "STEP_BYTES", 1_000)
    desk.turn("talk")
    say(desk.sample, "talk", turns=25, size=100)
    pass_days(desk, 90)
    desk.sample.clock.at += timedelta(days=1)
    desk.turn("opens")

    history = load_history(desk.brain._open_state(), "talk")
    view = desk.brain.find_session("talk")

    assert (history.messages, history.is_shortened, history.is_compacted) == ((), True, False)
    assert view.turns == 25
    assert desk.sent("talk") == [each for each in everything if "daily" not in each]
