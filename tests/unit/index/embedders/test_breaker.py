"""An endpoint that failed is left alone for a while."""

from __future__ import annotations

from omnislash.index.embedders.breaker import Breaker


class Seconds:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_starts_closed() -> None:
    """An endpoint that has not failed may be asked."""
    assert Breaker(Seconds()).seconds_left() == 0


def test_failure_is_remembered_for_half_a_minute() -> None:
    """After a failure the next 30 s ask nobody."""
    clock = Seconds()
    breaker = Breaker(clock)
    breaker.trip("It is down.")
    clock.now += 29

    assert breaker.seconds_left() == 1
    assert breaker.reason == "It is down."


def test_one_caller_is_let_through_after_the_pause() -> None:
    """When the pause is over one asks, and the others wait for what becomes of it."""
    clock = Seconds()
    breaker = Breaker(clock)
    breaker.trip("It is down.")
    clock.now += 30

    assert breaker.seconds_left() == 0
    assert breaker.seconds_left() == 30


def test_answer_closes_it() -> None:
    """Once it has answered everybody may ask."""
    clock = Seconds()
    breaker = Breaker(clock)
    breaker.trip("It is down.")
    breaker.close()

    assert breaker.seconds_left() == 0
    assert breaker.seconds_left() == 0


def test_pause_that_was_asked_for_is_kept_within_reason() -> None:
    """A longer pause is kept, up to five minutes; a shorter one is half a minute all the same."""
    breaker = Breaker(Seconds())
    left = []
    for pause in (1.0, 90.0, 86_400.0):
        breaker.trip("Too many requests.", pause)
        left.append(breaker.seconds_left())

    assert left == [30, 90, 300]
