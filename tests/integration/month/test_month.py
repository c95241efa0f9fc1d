"""The simulated month, shortened: it holds what it promises, and says so when it does not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash.testing.embedders import CountingEmbedder
from tests.soak import month
from tests.soak.month_simulation import Simulation
from tests.soak.month_values import ZONE, list_ticks, load_talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.soak.month_values import Talk

SCRIPT = Path(__file__).parents[2] / "soak" / "month.py"


def live(place: Path, first: str, last: str, talk: Sequence[Talk] = ()) -> Simulation:
    """Return a simulation that is over."""
    start, end = (datetime.fromisoformat(text).replace(tzinfo=ZONE) for text in (first, last))
    simulation = Simulation(place / "brain", start, end, talk, (CountingEmbedder(),))
    simulation.run()
    return simulation


@pytest.mark.long
@pytest.mark.rule("ENVELOPE-04", "ENVELOPE-06", "FLUSH-11", "REPORT-03", "REPORT-07")
def test_five_days_hold_every_promise_and_are_the_same_in_a_second_process() -> None:
    """Beats, talk, deposits, flushes, envelopes and summaries from Monday evening to Friday night."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--embedder", "cheap", "--last", "2026-12-04"],
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[-1].startswith("HELD: ")
    assert lines[-1].endswith(" promises held, 0 broken")
    assert lines[5] == ""
    assert lines[6].startswith("5 days: 15 turns, 7 beats, 2 deposits, 0 summaries, ")
    assert lines[2].startswith("2026-12-02 Wed · turns: 3, 2 entries · beats: briefing 07:30: 1 deposited, 1 own; ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        ("2027-03-27T17:30", "2027-03-29T09:00", ["2027-03-28T18:00", "2027-03-28T18:30", "2027-03-29T05:30"]),
        ("2027-10-30T17:30", "2027-11-01T09:00", ["2027-10-31T19:00", "2027-10-31T19:30", "2027-11-01T06:30"]),
    ],
)
def test_beats_keep_to_the_wall_clock_when_it_is_changed(
    tmp_path: Path, first: str, last: str, ticks: list[str]
) -> None:
    """20:00 and 20:30 on the Sunday of a change, and 7:30 on the Monday, in UTC; worked out by hand."""
    simulation = live(tmp_path, first, last)

    assert simulation.verdicts.broken == []
    assert [run[:16] for run in simulation.list_runs()] == ticks


def test_a_promise_that_is_broken_is_told(tmp_path: Path) -> None:
    """Words that nobody was answered, and an entry that nobody kept."""
    talk = load_talk()[:2]
    wrong = [replace(talk[0], says=("65 €",)), replace(talk[1], kept=("We decided to close.",))]

    simulation = live(tmp_path, "2026-11-30T17:00", "2026-12-01T05:00", wrong)

    broken = "\n".join(simulation.verdicts.broken)
    assert "is answered with '65 €'" in broken
    assert "the flush is saved, not nothing_saved" in broken
    assert "kept 'We decided to close.'" in broken


def test_two_runs_that_differ_end_in_a_verdict_of_broken(capsys: pytest.CaptureFixture[str]) -> None:
    """The first difference of each kind is shown, and the exit code is 1."""
    one = {"trace": {"files": ["a 1", "b 2"], "events": ["x"]}, "days": [], "counts": {}, "held": 3, "broken": []}
    other = {**one, "trace": {"files": ["a 1", "b 3"], "events": ["x"]}}

    assert month.report(one, one, took_s=1.0) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "HELD: 6 promises held, 0 broken"
    assert month.report(one, other, took_s=1.0) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-2] == "BROKEN two runs have the same files; one has 'b 2', the other 'b 3'"
    assert told[-1] == "BROKEN: 6 promises held, 1 broken"


@pytest.mark.parametrize(
    ("schedule", "days", "ticks"),
    [
        ("30 7 * * 1-5", 4, ["12-01T06:30", "12-02T06:30", "12-03T06:30", "12-04T06:30"]),
        ("0 20 * * 0", 14, ["12-06T19:00", "12-13T19:00"]),
        ("0 20 1 * *", 40, ["12-01T19:00", "01-01T19:00"]),
        ("0,30 4 2,3 12 *", 10, ["12-02T03:00", "12-02T03:30", "12-03T03:00", "12-03T03:30"]),
    ],
)
def test_cron_is_told_by_looking_at_every_minute(schedule: str, days: int, ticks: list[str]) -> None:
    """In Europe/Berlin, an hour ahead of UTC in winter; 30 November 2026 was a Monday."""
    first = datetime(2026, 11, 30, 17, 0, tzinfo=ZONE)

    found = list_ticks(schedule, first, first + timedelta(days=days))

    assert [f"{tick.astimezone(UTC):%m-%dT%H:%M}" for tick in found] == ticks
