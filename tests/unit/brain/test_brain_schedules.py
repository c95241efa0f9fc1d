"""Cron expressions are checked when they are read."""

from __future__ import annotations

import pytest

from omnislash.brain.fields import UnfitError
from omnislash.brain.schedules import parse_schedule


@pytest.mark.parametrize(
    "text",
    [
        "0 4 * * *",
        "*/15 8-18 * * 1-5",
        "0,30 4 1,15 * *",
        "0 4 * * MON",
        "0 4 L * *",
        "0 4 29 2 *",
        "0 4 * * 7",
        "@daily",
        "0 20 * * 0",
        "30 7 * * mon-fri",
        "0 0 31 1,3 *",
    ],
)
def test_schedule_is_taken(text: str) -> None:
    """Five fields with numbers, ranges, steps and names are a schedule."""
    assert parse_schedule(text) == text


def test_spaces_are_evened() -> None:
    """Several spaces between fields mean one."""
    assert parse_schedule(" 0  4 * * * ") == "0 4 * * *"


@pytest.mark.rule("PERIOD-O13")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "nightly",
        "0 4 * *",
        "61 * * * *",
        "0 24 * * *",
        "* * * * * *",
        "*/0 * * * *",
        "R * * * *",
        "H * * * *",
        "0 0 30 2 *",
        "0 0 31 4,6 *",
        "@reboot",
        "0 4 * * XYZ",
        "0 4 ? * (1)",
        "0 0 0 * *",
    ],
)
def test_what_never_comes_due_is_refused(text: str) -> None:
    """What is no schedule, is random, or names a day that never comes is refused with an example."""
    with pytest.raises(UnfitError) as caught:
        parse_schedule(text)
    assert "0 4 * * *" in (caught.value.hint or "")
