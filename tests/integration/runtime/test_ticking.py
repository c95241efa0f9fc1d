"""The worker's thread of ticks: when it runs one, on days and machines that are not ordinary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.ladder.ticking import Ticker
from omnislash.runtime.ticking import LOOK_S
from omnislash.testing import FixedClock, ScriptedModel
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash import Brain
    from omnislash.runtime.ladder.tick_answers import TickAnswer
    from tests.integration.conftest import SampleBrain

#: Thursday, 20 August 2026, noon in UTC.
NOON = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)


def enable(sample: SampleBrain, *, schedule: str = "0 4 * * *", timezone: str = "UTC") -> None:
    """Switch the ladder of `main` on."""
    lines = "{main: {periods: [week]}}"
    sample.manifest(f"{{consolidation: {{lines: {lines}, schedule: '{schedule}'}}}}", timezone=timezone)


class Watched:
    """A ticker of a real brain on a clock of the test's, driven look by look."""

    def __init__(self, sample: SampleBrain, now: datetime = NOON, *, tick: Callable[..., Any] | None = None) -> None:
        self.clock = FixedClock(now)
        self.brain: Brain = sample.open(clock=self.clock)
        self.model = ScriptedModel()
        #: When ticks ran.
        self.ticks: list[datetime] = []
        self._tick = tick
        self.ticker = Ticker(lambda: self.brain.config, self.clock, self._run)

    def _run(self, now: datetime, is_over: Callable[[], bool]) -> TickAnswer:
        self.ticks.append(now)
        if self._tick:
            self._tick()
        return self.brain.consolidate(now=now, models=self.model, is_over=is_over)

    def look(self) -> float:
        """Look once."""
        return self.ticker.look()

    def run_until(self, end: datetime) -> None:
        """Let time go by as the thread would: look, wait as long as it says, look again."""
        while self.clock.now() < end:
            pause = self.look()
            assert 0 <= pause <= LOOK_S
            self.clock.advance(timedelta(seconds=pause or 0.001))
        self.look()


@pytest.mark.rule("PERIOD-12", "PERIOD-O14")
def test_it_ticks_at_the_schedule_and_not_before(sample: SampleBrain) -> None:
    """A worker that starts at noon runs no tick for the four o'clock that has passed; the next ones come on time."""
    enable(sample)
    watched = Watched(sample)

    watched.run_until(NOON + timedelta(days=2))

    assert [at.replace(microsecond=0) for at in watched.ticks] == [
        datetime(2026, 8, 21, 4, 0, tzinfo=UTC),
        datetime(2026, 8, 22, 4, 0, tzinfo=UTC),
    ]


@pytest.mark.rule("PERIOD-01", "KNOB-26")
def test_no_tick_while_no_line_is_named(sample: SampleBrain) -> None:
    """Nothing is planned, nothing runs; a line that is enabled while the worker runs has its tick the next night."""
    sample.manifest()
    watched = Watched(sample)
    watched.run_until(NOON + timedelta(days=1))
    assert watched.ticker.due is None

    enable(sample)
    watched.look()
    assert watched.ticker.due == datetime(2026, 8, 22, 4, 0, tzinfo=UTC)
    sample.manifest()
    watched.run_until(NOON + timedelta(days=2))
    assert watched.ticker.due is None
    assert watched.ticks == []


@pytest.mark.rule("PERIOD-12", "LINE-O3")
@pytest.mark.parametrize(
    ("zone", "schedule", "start", "expected"),
    [
        pytest.param(
            "Europe/Berlin",
            "0 4 * * *",
            "2026-10-24T00:00+02:00",
            ["2026-10-24T04:00+02:00", "2026-10-25T04:00+01:00", "2026-10-26T04:00+01:00"],
            id="autumn",
        ),
        pytest.param(
            "Europe/Berlin",
            "30 2 * * *",
            "2026-10-24T12:00+02:00",
            ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00", "2026-10-27T02:30+01:00"],
            id="autumn, in the hour that comes twice",
        ),
        pytest.param(
            "Europe/Berlin",
            "30 2 * * *",
            "2027-03-27T12:00+01:00",
            ["2027-03-28T03:30+02:00", "2027-03-29T02:30+02:00", "2027-03-30T02:30+02:00"],
            id="spring, in the hour that does not come",
        ),
        pytest.param(
            "America/Santiago",
            "0 0 * * *",
            "2027-09-04T12:00-04:00",
            ["2027-09-05T01:00-03:00", "2027-09-06T00:00-03:00", "2027-09-07T00:00-03:00"],
            id="a midnight that does not exist",
        ),
    ],
)
def test_one_tick_a_night_whatever_the_clocks_do(
    sample: SampleBrain, zone: str, schedule: str, start: str, expected: list[str]
) -> None:
    """Local time decides, and each night has one."""
    enable(sample, schedule=schedule, timezone=zone)
    begin = datetime.fromisoformat(start)
    watched = Watched(sample, begin)

    watched.run_until(begin + timedelta(days=2, hours=18))

    assert [at.replace(microsecond=0) for at in watched.ticks] == [datetime.fromisoformat(at) for at in expected]


@pytest.mark.rule("PERIOD-O14")
def test_a_machine_that_slept(sample: SampleBrain) -> None:
    """Three nights pass between two looks: one tick when it wakes, and the next one at its time."""
    enable(sample)
    watched = Watched(sample)
    watched.look()
    woken = NOON + timedelta(days=3)
    watched.clock.advance(timedelta(days=3))

    watched.run_until(woken + timedelta(days=1))

    assert [at.replace(microsecond=0) for at in watched.ticks] == [woken, datetime(2026, 8, 24, 4, 0, tzinfo=UTC)]


def test_a_clock_that_was_wrong(sample: SampleBrain) -> None:
    """A clock that stood a year ahead and is set right has its tick the next night, not in a year."""
    enable(sample)
    watched = Watched(sample, NOON + timedelta(days=365))
    watched.look()
    watched.clock.advance(timedelta(days=-365))

    watched.run_until(NOON + timedelta(days=1))

    assert [at.replace(microsecond=0) for at in watched.ticks] == [datetime(2026, 8, 21, 4, 0, tzinfo=UTC)]


def test_a_clock_that_is_kept_right(sample: SampleBrain) -> None:
    """A step back by a second, at the moment of the tick, runs none twice."""
    enable(sample)
    watched = Watched(sample, datetime(2026, 8, 21, 3, 59, tzinfo=UTC))
    watched.run_until(datetime(2026, 8, 21, 4, 0, tzinfo=UTC))
    assert len(watched.ticks) == 1
    watched.clock.advance(timedelta(seconds=-1))

    watched.run_until(datetime(2026, 8, 21, 5, 0, tzinfo=UTC))

    assert len(watched.ticks) == 1


@pytest.mark.rule("KNOB-26", "PERIOD-O14")
def test_a_schedule_and_a_zone_that_are_changed(sample: SampleBrain) -> None:
    """They count from the next look on; a time of theirs that has passed today is not made up for."""
    enable(sample)
    watched = Watched(sample)
    watched.look()
    enable(sample, schedule="0 10 * * *")
    watched.look()
    assert watched.ticker.due == datetime(2026, 8, 21, 10, 0, tzinfo=UTC)
    enable(sample, schedule="0 10 * * *", timezone="Asia/Shanghai")
    watched.look()
    assert watched.ticker.due == datetime(2026, 8, 21, 2, 0, tzinfo=UTC)
    assert watched.ticks == []


@pytest.mark.rule("KNOB-O6")
def test_a_manifest_that_is_broken_meanwhile(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """The last good one stays in force: the tick comes, and writes what it says; the fault is in the log."""
    enable(sample)
    sample.put_memory("main/2026/08/2026-08-12.md", "# 2026-08-12\n\n- 09:00 The choir came.\n")
    watched = Watched(sample)
    watched.look()
    sample.put("constitution/MANIFEST.yaml", "memory: {consolidation: {lines: [\n")

    with caplog.at_level("INFO", logger="omnislash"):
        watched.run_until(NOON + timedelta(days=1))

    assert len(watched.ticks) == 1
    assert "choir" in sample.text("main/2026/2026-W33.md")
    assert "MANIFEST.yaml" in caplog.text
    assert "Consolidated 1/1 due period(s)" in caplog.text


def test_a_manifest_that_breaks_during_a_tick(sample: SampleBrain) -> None:
    """A tick goes to its end with the configuration with which it began."""
    enable(sample)
    for day in (5, 12):
        sample.put_memory(f"main/2026/08/2026-08-{day:02}.md", "- 09:00 The choir came.\n")
    watched = Watched(sample)
    watched.model.during = lambda _request: sample.put("constitution/MANIFEST.yaml", "memory: [\n")

    watched.run_until(NOON + timedelta(days=1))

    assert watched.model.periods == ["2026-W32", "2026-W33"]


@pytest.mark.parametrize("error", [RuntimeError("boom"), OSError("no disk")])
def test_a_tick_that_fails_ends_no_thread(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """It is in the log, and the next night has its tick."""
    enable(sample)

    def fail() -> None:
        raise error

    watched = Watched(sample, tick=fail)
    watched.run_until(NOON + timedelta(days=2))

    assert len(watched.ticks) == 2
    assert "a consolidation failed" in caplog.text


def test_a_tick_that_is_turned_away(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """While another process ticks, the worker's tick is left out with a sentence, and comes the next night."""
    enable(sample)
    sample.put_memory("main/2026/08/2026-08-12.md", "- 09:00 The choir came.\n")
    begun, go_on = threading.Event(), threading.Event()

    def wait(_request: object) -> None:
        begun.set()
        go_on.wait(20)

    other = sample.open(clock=FixedClock(NOON))
    thread = threading.Thread(target=lambda: other.consolidate(models=ScriptedModel(during=wait)))
    thread.start()
    assert begun.wait(20)
    watched = Watched(sample)
    watched.run_until(NOON + timedelta(days=1))
    go_on.set()
    thread.join()

    assert "No consolidation this time: A consolidation of this brain is running already" in caplog.text
    assert watched.ticker.due == datetime(2026, 8, 22, 4, 0, tzinfo=UTC)


@pytest.mark.rule("PERIOD-O9")
def test_what_failed_is_in_the_log(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """Each summary that could not be written is a warning with its reason."""
    enable(sample)
    sample.put_memory("main/2026/08/2026-08-12.md", "- 09:00 The choir came.\n")
    watched = Watched(sample)
    watched.model = ScriptedModel("")

    watched.run_until(NOON + timedelta(days=1))

    assert "main: 2026-W33 was not written: The answer is empty." in caplog.text


# -- the thread and the worker ---------------------------------------------------------------------------------------


def wait_until(check: Callable[[], object], *, limit_s: float = 20.0) -> None:
    """Return once something is the case."""
    deadline = time.monotonic() + limit_s
    while not check():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_the_thread_ticks_and_stops(sample: SampleBrain) -> None:
    """A moment before the time it waits no longer than that moment; a stop ends it at once."""
    enable(sample)
    sample.put_memory("main/2026/08/2026-08-12.md", "- 09:00 The choir came.\n")
    clock = FixedClock(datetime(2026, 8, 21, 3, 59, 59, 900_000, tzinfo=UTC))
    brain = sample.open(clock=clock)
    ticker = brain.start_ticking()
    assert brain.start_ticking() is ticker
    wait_until(lambda: ticker.due is not None)
    clock.advance(timedelta(seconds=1))
    wait_until((sample.root / "memory/main/2026/2026-W33.md").exists)

    started = time.monotonic()
    brain.close()
    assert time.monotonic() - started < 5
    assert not [thread for thread in threading.enumerate() if thread.name == "omnislash-ticks"]


#: The command line, with a schedule that comes due five times a second.
_HASTY = """
import sys
from datetime import timedelta
from omnislash.runtime import ticking
from omnislash.surfaces.cli.main import main
ticking.next_instant = lambda schedule, *, after, zone: after + timedelta(seconds=0.2)
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_worker_that_is_stopped_kills_the_command(sample: SampleBrain) -> None:
    """SIGTERM while a command writes a summary: the command is killed, nothing is filed, and the worker is gone soon."""
    child = sample.root / "child"
    code = f"import os, pathlib, time; pathlib.Path({str(child)!r}).write_text(str(os.getpid())); time.sleep(600)"
    sample.put("omnislash.yaml", f'harnesses: {{slow: ["{sys.executable}", -c, "{code}"]}}\n')
    lines = "{main: {periods: [week], modelRef: 'cli:slow'}}"
    sample.manifest(f"{{consolidation: {{lines: {lines}}}}}")
    sample.put_memory("main/2026/08/2026-08-12.md", "- 09:00 The choir came.\n")
    words = [sys.executable, "-c", _HASTY, "--brain", str(sample.root), "--json", "worker"]
    worker = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert worker.stdout
    assert json.loads(worker.stdout.readline())["state"] == "ready"
    wait_until(lambda: child.exists() and child.read_text())

    started = time.monotonic()
    worker.terminate()
    _, said = worker.communicate(timeout=30)

    assert time.monotonic() - started < 10
    assert worker.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(child.read_text()), 0)
    assert "nobody waits for it any more" in said
    assert not (sample.root / "memory/main/2026/2026-W33.md").exists()
