"""A schedule is told in words only where the words are true of it."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from croniter import croniter

from omnislash.surfaces.dashboard.schedule_words import tell_schedule


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("0 7 * * *", "every day at 07:00"),
        ("30 7,19 * * *", "every day at 07:30 and 19:30"),
        ("0 6,12,18 * * *", "every day at 06:00, 12:00 and 18:00"),
        ("15 9 * * 1", "every Monday at 09:15"),
        ("15 9 * * 0,6", "every Sunday and Saturday at 09:15"),
        ("15 9 * * 7", "every Sunday at 09:15"),
        ("5 8 * * 1-5", "from Monday to Friday at 08:05"),
        ("0 4 1 * *", "on day 1 of every month at 04:00"),
        ("0 4 24 12 *", "on 24 December of every year at 04:00"),
        ("* * * * *", "every minute"),
        ("*/10 * * * *", "every 10 minutes"),
        ("20 * * * *", "every hour at minute 20"),
        ("5 */6 * * *", "every 6 hours from 00:05"),
        ("@daily", "every day at 00:00"),
        ("@weekly", "every Sunday at 00:00"),
        ("@yearly", "on 1 January of every year at 00:00"),
        ("*/7 * * * *", None),
        ("0 */5 * * *", None),
        ("0 9 13 * 5", None),
        ("0 9 * 1-3 *", None),
        ("0 9-17 * * *", None),
        ("0 9 L * *", None),
        ("0 9 * * mon", None),
        ("0 9 * * 1#2", None),
        ("@reboot", None),
        ("", None),
    ],
)
def test_schedule_in_words(schedule: str, words: str | None) -> None:
    """A usual schedule has its phrase, and every other one none rather than a wrong one."""
    assert tell_schedule(schedule) == words


@pytest.mark.parametrize(("schedule", "step_min"), [("*/10 * * * *", 10), ("* * * * *", 1), ("5 */6 * * *", 360)])
def test_every_means_every(schedule: str, step_min: int) -> None:
    """A phrase with `every N` is said only of instants that are N apart, over midnight too."""
    named = croniter(schedule, datetime(2026, 8, 30, 12, 3, tzinfo=UTC))
    instants = [named.get_next(datetime) for _ in range(300)]

    assert tell_schedule(schedule)
    assert {later - sooner for sooner, later in itertools.pairwise(instants)} == {timedelta(minutes=step_min)}
