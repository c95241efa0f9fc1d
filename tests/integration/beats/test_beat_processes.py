"""Two workers on one state database, and a worker that dies: each tick and each event is handed over once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash import WriterUnavailableError
from omnislash.runtime.beats.beat_runs import CUT_OFF
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.testing import FixedClock
from tests.integration.beats.conftest import SIX, Beats, FakeTurns, put_beat, put_hook
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import SampleBrain

#: Walks a clock through minutes and looks at each; a turn notes its session in a file, or ends the process in it.
_WORKER = """
import os, sys
from datetime import datetime, timedelta
from omnislash import Brain
from omnislash.runtime.loop.run_values import Run
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.testing import FixedClock

root, start, minutes, log, deed = sys.argv[1:]
clock = FixedClock(datetime.fromisoformat(start))

def run_turn(turn, ports, *, session, message, options):
    with open(log, "a") as file:
        file.write(f"{session}\\n")
    if deed == "die":
        os._exit(9)
    return Run(session=session, role=turn.scope.role, line=turn.scope.line, model="fake", text="Done.")

with Brain.open(root, clock=clock) as brain:
    scheduler = Scheduler(brain._ports(), run_turn, threaded=False)
    if deed != "die":
        scheduler.look()
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(minutes)):
        clock.advance(timedelta(minutes=1))
        scheduler.look()
"""


def start(sample: SampleBrain, at: datetime, log: Path, *, minutes: int, deed: str = "run") -> subprocess.Popen[str]:
    """Start a process that waits at the gate."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(sample.root), at.isoformat(), str(minutes), str(log), deed],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def release(processes: list[subprocess.Popen[str]]) -> list[int]:
    """Open the gate for all of them at once, and return how each ended."""
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    return [process.returncode for process in processes]


def outcomes(beats: Beats, name: str) -> Counter[str]:
    """Return how often each outcome is in the action log for a beat."""
    return Counter(outcome for _, beat, outcome in beats.audit() if beat == name)


def test_two_processes_run_each_tick_once(sample: SampleBrain) -> None:
    """Two workers walk through the same half hour: every minute has one run, and none is missed."""
    put_beat(sample, "often", schedule="* * * * *")
    log = sample.root.parent / "ran"
    beats = Beats(sample)
    beats.go()

    assert release([start(sample, SIX, log, minutes=30) for _ in range(2)]) == [0, 0]

    ran = log.read_text().split()
    assert len(ran) == len(set(ran))
    counted = outcomes(beats, "often")
    assert counted["done"] == len(ran)
    assert set(counted) <= {"done", "skipped"}
    assert counted.total() == 30


def test_two_schedulers_at_the_same_moment(sample: SampleBrain) -> None:
    """Two brains in one process look at the same instant, again and again: one of them runs the tick."""
    put_beat(sample, "often", schedule="* * * * *")
    clock = FixedClock(SIX)
    turns = [FakeTurns(), FakeTurns()]
    schedulers = [Scheduler(sample.open(clock=clock)._ports(), each, threaded=False) for each in turns]
    for scheduler in schedulers:
        scheduler.look()
    for _ in range(25):
        clock.advance(timedelta(minutes=1))
        gate = threading.Barrier(2)

        def look(scheduler: Scheduler, gate: threading.Barrier = gate) -> None:
            gate.wait()
            scheduler.look()

        threads = [threading.Thread(target=look, args=(each,)) for each in schedulers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    sessions = [call.session for each in turns for call in each.calls]
    assert len(sessions) == len(set(sessions)) == 25


def test_two_schedulers_and_one_hook(sample: SampleBrain) -> None:
    """Every event is handed over once, whoever looks first."""
    put_hook(sample, "watcher")
    clock = FixedClock(SIX)
    turns = [FakeTurns(), FakeTurns()]
    brains = [sample.open(clock=clock) for _ in turns]
    schedulers = [Scheduler(brain._ports(), each, threaded=False) for brain, each in zip(brains, turns, strict=True)]
    for scheduler in schedulers:
        scheduler.look()
    for number in range(15):
        threads = [threading.Thread(target=each.look) for each in schedulers]
        threads += [threading.Thread(target=brains[0].agent("nova").memory.write, args=(f"Entry {number}.",))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for scheduler in schedulers:
        scheduler.look()

    handed = [call.message.count('"memory:written"') for each in turns for call in each.calls]
    assert sum(handed) == 15


def test_a_worker_that_dies_in_a_run(sample: SampleBrain) -> None:
    """The run is noted as interrupted by whoever looks next, is not run again, and the beat goes on."""
    put_beat(sample, "briefing")
    log = sample.root.parent / "ran"
    beats = Beats(sample)
    beats.go()
    assert release([start(sample, SIX + timedelta(minutes=59), log, minutes=1, deed="die")]) == [9]
    assert log.read_text() == "heartbeat:briefing:2026-08-20T07:00:00Z\n"
    assert beats.last("briefing")["outcome"] == "interrupted"
    assert beats.audit() == []

    beats.at(SIX + timedelta(hours=1, minutes=1))

    assert beats.turns.calls == []
    assert beats.last("briefing") == {"at": "2026-08-20T07:00:00+00:00", "outcome": "interrupted", "message": CUT_OFF}
    assert beats.audit() == [("heartbeat", "briefing", "interrupted")]
    beats.at(SIX + timedelta(days=1, hours=1))
    assert beats.last("briefing")["outcome"] == "done"


def test_a_run_by_hand_says_which_run_was_cut_off(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """The notice names the run before by the time of its start in the brain's zone, so that nobody takes it for this one."""
    sample.manifest(timezone="Europe/Warsaw")
    put_beat(sample, "briefing")
    log = sample.root.parent / "ran"
    beats = Beats(sample)
    beats.go()
    assert release([start(sample, SIX + timedelta(hours=22, minutes=59), log, minutes=1, deed="die")]) == [9]

    assert beats.brain.run_heartbeat("briefing", run_turn=beats.turns).outcome == "done"

    (notice,) = (record.getMessage() for record in caplog.records if "interrupted" in record.getMessage())
    assert notice == f"The run of the heartbeat briefing (nova) of 2026-08-21 07:00 was interrupted: {CUT_OFF}"


def test_a_run_by_hand_and_a_tick_keep_apart(sample: SampleBrain) -> None:
    """While one goes on the other is turned away: the tick is skipped, the person gets a sentence."""
    put_beat(sample, "briefing")
    beats = Beats(sample)
    beats.go()
    entered, go_on = threading.Event(), threading.Event()

    def hold(_agent: object, _options: object) -> None:
        entered.set()
        assert go_on.wait(20)

    by_hand = FakeTurns(during=hold)
    thread = threading.Thread(target=lambda: beats.brain.run_heartbeat("briefing", run_turn=by_hand))
    thread.start()
    assert entered.wait(20)
    beats.at(SIX + timedelta(hours=1))
    assert beats.turns.calls == []
    with pytest.raises(WriterUnavailableError, match="'briefing' is running already"):
        beats.brain.run_heartbeat("briefing", run_turn=beats.turns)
    go_on.set()
    thread.join()

    assert outcomes(beats, "briefing") == {"skipped": 1, "done": 1}
    assert beats.brain.run_heartbeat("briefing", run_turn=beats.turns).outcome == "done"
