"""What broke is tried again, soon at first and then more and more seldom."""

from __future__ import annotations

from omnislash.core.pauses import Pauses


def test_each_pause_is_twice_the_one_before_up_to_a_minute() -> None:
    """1, 2, 4, 8, 16 and 32 seconds, and then a minute each time."""
    pauses, now, seen = Pauses(), 100.0, []
    for _ in range(9):
        pauses.begin(now)
        seen.append(pauses.after_break(now + 0.5))
        now += 0.5 + seen[-1]
    assert seen == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_what_held_for_more_than_a_minute_begins_with_the_first_pause() -> None:
    """A break after a long time is another one than those before."""
    pauses = Pauses()
    for now in (0.0, 10.0, 20.0):
        pauses.begin(now)
        last = pauses.after_break(now)
    assert last == 4
    pauses.begin(30.0)
    assert [pauses.after_break(91.0), pauses.after_break(91.0)] == [1, 1]
    pauses.begin(92.0)
    assert pauses.after_break(93.0) == 2


def test_what_never_began_waits_for_the_first_pause() -> None:
    """The very first try may break before it stands."""
    assert Pauses().after_break(5.0) == 1
