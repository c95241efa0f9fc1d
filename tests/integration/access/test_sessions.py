"""The sessions that are kept, as a person sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


def keep(sample: SampleBrain, number: int, *, turns: int = 0, role: str = "nova") -> None:
    """Keep a session that was used in that hour."""
    state = sample.open()._open_state()
    at = f"2026-08-30T{number:02d}:00:00+00:00"
    with state.transaction():
        state.run("open_session", id=f"s{number}", role=role, at=at)
        for _ in range(turns):
            state.run("add_session_turn", session=f"s{number}", at=at, messages="[]")


def test_sessions_are_listed_last_used_first(sample: SampleBrain) -> None:
    """Each has its role, its turns and when it was used; a limit cuts the older ones and says so."""
    keep(sample, 1, turns=2)
    keep(sample, 3)
    keep(sample, 2, turns=1, role="ops")
    found = sample.open().sessions()
    assert [(each.id, each.role, each.turns) for each in found.sessions] == [
        ("s3", "nova", 0),
        ("s2", "ops", 1),
        ("s1", "nova", 2),
    ]
    assert not found.is_cut
    cut = sample.open().sessions(role="nova", limit=1)
    assert [each.id for each in cut.sessions] == ["s3"]
    assert cut.is_cut
    at = "2026-08-30T01:00:00+00:00"
    first = {"id": "s1", "role": "nova", "startedAt": at, "usedAt": at, "turns": 2}
    assert found.to_json()["sessions"][2] == first


def test_a_session_is_found_by_its_id(sample: SampleBrain) -> None:
    """An id that nothing is kept under is None, however much it looks like a pattern."""
    keep(sample, 1, turns=2)
    found = sample.open().find_session("s1")
    assert found is not None
    assert (found.role, found.turns) == ("nova", 2)
    assert [sample.open().find_session(name) for name in ("s", "%", "S1", "")] == [None] * 4
