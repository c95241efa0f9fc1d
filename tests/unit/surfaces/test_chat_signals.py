"""A signal that a waiting line editor has missed is sent again until the wait is over."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.surfaces.cli.chat_signals import send_again

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def came() -> Iterator[list[float]]:
    """When SIGTERM came; its handler ends nothing."""
    times: list[float] = []
    former = signal.signal(signal.SIGTERM, lambda _number, _frame: times.append(time.monotonic()))
    try:
        yield times
    finally:
        signal.signal(signal.SIGTERM, former)


def test_a_signal_is_sent_again_until_the_wait_is_over(came: list[float]) -> None:
    """Twice at least in a wait of a second, and never after it."""
    with send_again():
        signal.raise_signal(signal.SIGTERM)
        assert len(came) == 1
        time.sleep(1.0)
    during = len(came)
    time.sleep(0.5)
    assert during >= 3
    assert len(came) == during


def test_other_signals_are_left_alone() -> None:
    """A window that changes its size asks for no end."""
    times: list[float] = []
    former = signal.signal(signal.SIGWINCH, lambda _number, _frame: times.append(time.monotonic()))
    try:
        with send_again():
            signal.raise_signal(signal.SIGWINCH)
            time.sleep(0.6)
    finally:
        signal.signal(signal.SIGWINCH, former)
    assert len(times) == 1


def test_what_a_handler_raises_leaves_the_wait_at_once() -> None:
    """Ctrl-C ends the wait, and nothing comes after it."""
    with pytest.raises(KeyboardInterrupt):
        _wait_through_ctrl_c()
    time.sleep(0.5)


def _wait_through_ctrl_c() -> None:
    with send_again():
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)
