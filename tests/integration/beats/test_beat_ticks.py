"""When heartbeats run, on machines that sleep, clocks that are set, and files that are changed."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ModelError
from omnislash.engine import ModelOptions
from omnislash.runtime.beats import beat_runs
from omnislash.runtime.beats.beat_runs import NOTHING_ASKED, STILL_RUNNING, BeatKind, claim, lock_path
from omnislash.runtime.beats.due import Seen
from omnislash.runtime.beats.heartbeats import Schedules
from omnislash.runtime.beats.scheduler import LOOK_S, RUNS_MAX, Scheduler
from omnislash.store.locks import is_locked
from omnislash.testing import ScriptedChatModel
from tests.integration.beats.conftest import SIX, Beats, put_beat, put_hook

if TYPE_CHECKING:
    from omnislash.runtime.beats.beat_runs import BeatRun
    from tests.integration.conftest import SampleBrain

SEVEN = SIX + timedelta(hours=1)


def test_a_beat_runs_at_its_time(beats: Beats) -> None:
    """First seen at six it runs at seven, once, as its role, in a session of its own, with its text as the prompt."""
    assert beats.go() == LOOK_S
    beats.at(SEVEN - timedelta(seconds=2))
    assert beats.turns.calls == []
    assert beats.go(seconds=1) == pytest.approx(1.0)

    for _ in range(3):
        beats.go(seconds=1)

    (call,) = beats.turns.calls
    assert (call.turn.scope.role, call.turn.scope.heartbeat, call.turn.scope.line) == ("nova", "briefing", "main")
    assert call.session == "heartbeat:briefing:2026-08-20T07:00:00Z"
    assert call.message == "Do it.\n"
    assert beats.last("briefing") == {"at": "2026-08-20T07:00:00+00:00", "outcome": "done"}
    assert beats.audit() == [("heartbeat", "briefing", "done")]
    beats.go(days=1)
    assert beats.turns.calls[1].session == "heartbeat:briefing:2026-08-21T07:00:00Z"


@pytest.mark.rule("DECLARE-01", "RESOLVE-03", "REPORT-02", "REPORT-07", "KNOB-23")
def test_it_works_with_its_own_patch_and_report_set(sample: SampleBrain) -> None:
    """The heartbeat's memory block decides line and deposits, and what it deposits is signed with both names."""
    sample.role("mute", None)
    sample.role("ops", "{write: ops}")
    sample.beat("notes", "mute", "{write: circles, report: [ops]}")
    beats = Beats(sample)
    beats.turns.during = lambda agent, _options: agent.memory.write("The boiler is cold.", line="ops")
    beats.go()

    beats.at(SEVEN)

    assert beats.turns.calls[0].turn.scope.line == "circles"
    assert sample.text("ops/2026/08/2026-08-20.md") == "# 2026-08-20\n\n- 07:00 The boiler is cold. — mute · notes\n"
    assert beats.audit() == [("memory_write", "notes", "written"), ("heartbeat", "notes", "done")]


def test_a_night_without_a_worker(beats: Beats) -> None:
    """What was slept through for three days is one run, when it is not too old, and one row with the number."""
    beats.go()
    beats.restart()
    beats.at(SEVEN + timedelta(days=3, hours=4))

    assert [call.session for call in beats.turns.calls] == ["heartbeat:briefing:2026-08-23T07:00:00Z"]
    assert beats.audit() == [("heartbeat", "briefing", "missed"), ("heartbeat", "briefing", "done")]
    assert beats.last("briefing")["outcome"] == "done"


def test_too_late_is_noted_and_not_run(beats: Beats) -> None:
    """Thirteen hours late nothing runs; the list says how many were missed, and the next day is as always."""
    beats.go()
    beats.restart()
    beats.at(SEVEN + timedelta(days=2, hours=13))
    beats.go(minutes=1)

    assert beats.turns.calls == []
    assert beats.last("briefing") == {
        "at": "2026-08-22T20:00:00+00:00",
        "outcome": "missed",
        "message": "3 runs were missed while no worker looked, the last one due at 2026-08-22 07:00 UTC.",
    }
    beats.at(SEVEN + timedelta(days=3))
    assert len(beats.turns.calls) == 1
    assert beats.audit() == [("heartbeat", "briefing", "missed"), ("heartbeat", "briefing", "done")]


def test_a_clock_that_is_set(beats: Beats) -> None:
    """Set back by two hours it runs no tick twice; a year ahead and back again it comes on time as if nothing was."""
    beats.go()
    beats.at(SEVEN)
    beats.at(SEVEN - timedelta(hours=2))
    beats.at(SEVEN)
    beats.go(minutes=1)
    assert len(beats.turns.calls) == 1

    beats.go(days=365)
    ahead = len(beats.turns.calls)
    beats.at(SEVEN + timedelta(hours=1))
    beats.at(SEVEN + timedelta(days=1))
    assert [call.session for call in beats.turns.calls[ahead:]] == ["heartbeat:briefing:2026-08-21T07:00:00Z"]


def test_a_clock_that_goes_back_and_forth_misses_nothing(sample: SampleBrain) -> None:
    """What ran before the clock was set back is neither run again nor counted as missed."""
    put_beat(sample, "hourly", schedule="0 * * * *")
    beats = Beats(sample)
    beats.go()
    for hour in (1, 2, 3):
        beats.at(SIX + timedelta(hours=hour))
    beats.at(SIX)

    beats.at(SIX + timedelta(hours=3))

    assert len(beats.turns.calls) == 3
    assert {row[2] for row in beats.audit()} == {"done"}


@pytest.mark.rule("KNOB-26")
def test_a_file_that_is_changed_counts_from_now(beats: Beats, sample: SampleBrain) -> None:
    """Another schedule, another zone, off and on again: nothing of the past is made up for."""
    beats.go()
    put_beat(sample, "briefing", schedule="30 5 * * *")
    beats.go(seconds=5)
    sample.manifest(timezone="Europe/Berlin")
    put_beat(sample, "briefing", schedule="0 8 * * *")
    beats.go(seconds=5)
    assert beats.turns.calls == []
    put_beat(sample, "briefing", schedule="0 9 * * *", more="enabled: false\n")
    beats.at(SEVEN + timedelta(minutes=5))
    put_beat(sample, "briefing", schedule="0 9 * * *")
    beats.go(minutes=1)

    assert beats.turns.calls == []
    assert beats.brain.heartbeats().to_json()["heartbeats"][0]["next"] == "2026-08-21T09:00:00+02:00"
    beats.at(datetime.fromisoformat("2026-08-21T09:00+02:00"))
    assert [call.session for call in beats.turns.calls] == ["heartbeat:briefing:2026-08-21T07:00:00Z"]


def test_a_file_with_faults_waits(beats: Beats, sample: SampleBrain) -> None:
    """While it does not load it never runs; mended within the half day it has its run, for nothing was changed."""
    beats.go()
    sample.put("features/team/briefing.heartbeat.md", "---\nschedule: soon\nagent: nova\n---\nDo it.\n")
    beats.at(SEVEN)
    assert beats.turns.calls == []
    (faulty,) = beats.brain.heartbeats().to_json()["faulty"]
    assert (faulty["name"], faulty["kind"]) == ("briefing", "heartbeat")
    assert faulty["message"].startswith("features/team/briefing.heartbeat.md:2:")
    put_beat(sample, "briefing")
    beats.go(hours=1)
    assert len(beats.turns.calls) == 1


def test_a_file_that_was_away_starts_from_now(beats: Beats, sample: SampleBrain) -> None:
    """A heartbeat that was deleted and comes back under its name makes nothing up."""
    beats.go()
    (sample.root / "features/team/briefing.heartbeat.md").unlink()
    beats.at(SEVEN - timedelta(minutes=1))
    put_beat(sample, "briefing")
    beats.at(SEVEN + timedelta(minutes=1))
    assert beats.turns.calls == []


# -- what comes of a run ---------------------------------------------------------------------------------------------


def test_nothing_asked_calls_nobody(beats: Beats, sample: SampleBrain) -> None:
    """A prompt of headings is skipped, with the reason in the list and in the action log."""
    put_beat(sample, "briefing", body="# Morning\n\n- [ ] \n")
    beats.go()
    beats.at(SEVEN)

    assert beats.turns.calls == []
    assert beats.last("briefing") == {"at": SEVEN.isoformat(), "outcome": "skipped", "message": NOTHING_ASKED}
    assert beats.audit() == [("heartbeat", "briefing", "skipped")]


def test_a_turn_that_fails(beats: Beats, caplog: pytest.LogCaptureFixture) -> None:
    """The reason is one sentence in the list and the log, without a credential; the next tick runs."""
    key = "sk-" + "ant-api03-" + "Zq8" * 30

    def fail(_agent: object, _options: object) -> None:
        raise ModelError(f"The provider\nrefused {key}.")

    beats.turns.during = fail
    beats.go()
    beats.at(SEVEN)

    last = beats.last("briefing")
    assert last["outcome"] == "failed"
    assert last["message"].startswith("The provider refused ")
    assert "Zq8Zq8" not in last["message"] + caplog.text
    assert beats.audit() == [("heartbeat", "briefing", "failed")]
    beats.at(SEVEN + timedelta(days=1))
    assert len(beats.turns.calls) == 2


def test_a_turn_that_breaks_ends_no_scheduler(beats: Beats, sample: SampleBrain) -> None:
    """An error in the program is a failed run like every other, and lets other beats run."""
    put_beat(sample, "other", schedule="1 7 * * *")

    def fail(agent: object, _options: object) -> None:
        if agent.scope.heartbeat == "briefing":  # type: ignore[attr-defined]
            raise ZeroDivisionError("boom")

    beats.turns.during = fail
    beats.go()
    beats.at(SEVEN)
    beats.go(minutes=1)

    assert beats.last("briefing")["message"] == "Something went wrong inside omnislash: ZeroDivisionError: boom."
    assert beats.last("other")["outcome"] == "done"


# -- threads ---------------------------------------------------------------------------------------------------------


class Gate:
    """Holds turns until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, _agent: object, options: object) -> None:
        self.entered.release()
        while not self.open.wait(0.01) and not options.is_over():  # type: ignore[attr-defined]
            pass

    def wait_for(self, number: int) -> None:
        """Return when so many more turns have come in."""
        for _ in range(number):
            assert self.entered.acquire(timeout=20)


def start_threads(beats: Beats) -> Gate:
    """Have the turns held, in threads."""
    gate = Gate()
    beats.turns.during = gate
    beats.scheduler._threaded = True
    return gate


def test_a_tick_that_falls_into_a_run_is_skipped(sample: SampleBrain) -> None:
    """One run of a beat at a time; the one that was left out says why, and the next one runs."""
    put_beat(sample, "often", schedule="*/5 * * * *")
    beats = Beats(sample)
    gate = start_threads(beats)
    beats.go()
    beats.go(minutes=5)
    gate.wait_for(1)
    beats.go(minutes=5)
    assert beats.last("often")["message"] == STILL_RUNNING
    gate.open.set()
    assert beats.scheduler.wait(20)

    beats.go(minutes=5)
    assert beats.scheduler.wait(20)
    assert len(beats.turns.calls) == 2
    assert beats.audit() == [("heartbeat", "often", outcome) for outcome in ("skipped", "done", "done")]


def test_beats_do_not_hold_each_other_up(sample: SampleBrain) -> None:
    """Several run at once, so many and no more; those beyond stay due and run when there is room."""
    names = [f"beat{number}" for number in range(RUNS_MAX + 2)]
    for name in names:
        put_beat(sample, name)
    beats = Beats(sample)
    gate = start_threads(beats)
    beats.go()
    beats.at(SEVEN)
    gate.wait_for(RUNS_MAX)
    beats.go(seconds=5)
    assert len(beats.turns.calls) == RUNS_MAX
    gate.open.set()
    assert beats.scheduler.wait(20)

    beats.go(seconds=5)
    assert beats.scheduler.wait(20)
    assert sorted(map(str, beats.turns.beats)) == names
    assert {row[2] for row in beats.audit()} == {"done"}


def test_the_writer_goes_on_while_a_beat_runs(beats: Beats, sample: SampleBrain) -> None:
    """A write is answered while a turn is held."""
    gate = start_threads(beats)
    beats.go()
    beats.at(SEVEN)
    gate.wait_for(1)

    assert sample.agent().memory.write("The choir came.").outcome == "written"
    gate.open.set()
    assert beats.scheduler.wait(20)


def test_a_stop_cancels_what_runs(sample: SampleBrain) -> None:
    """The thread of a brain that is closed ends, its turn is told so, and the run is noted as interrupted."""
    put_beat(sample, "briefing")
    beats = Beats(sample)
    beats.go()
    beats.clock.advance(timedelta(hours=1))
    gate = Gate()
    beats.turns.during = gate
    scheduler = beats.brain.start_scheduling(run_turn=beats.turns)
    assert beats.brain.start_scheduling() is scheduler
    gate.wait_for(1)

    beats.brain.stop_background()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("omnislash-beat")]
    assert beats.last("briefing")["outcome"] == "interrupted"
    assert not is_locked(lock_path(sample.root, "heartbeat", "briefing"))
    beats.go(minutes=1)
    assert len(beats.turns.calls) == 1


def test_an_older_look_does_not_set_a_newer_one_back(beats: Beats) -> None:
    """A second scheduler that stood still between reading and noting changes nothing of what the first has noted."""
    state = beats.brain._open_state()
    beats.go()
    beats.at(SEVEN + timedelta(hours=13))
    noted = [tuple(row) for row in state.rows("list_beat_looks")]
    stale = Schedules(beats.brain._ports())
    before = Seen("0 7 * * *", "UTC", SIX)
    stale._read_seen = lambda: {"briefing": before}  # type: ignore[method-assign]

    look = stale.look(SEVEN + timedelta(minutes=1))
    for due in look.due:
        assert claim(beats.brain._ports(), due.order, also=due.also) is not None
    stale.look(SEVEN + timedelta(hours=12, minutes=30))

    assert look.due
    assert [tuple(row) for row in state.rows("list_beat_looks")] == noted


# -- what is left of a run -------------------------------------------------------------------------------------------


def test_a_run_leaves_no_conversation(sample: SampleBrain) -> None:
    """Nothing of what was said is kept, so the list of sessions holds those of people; list and log know of the run."""
    put_beat(sample, "briefing")
    model = ScriptedChatModel("All is well.", "Hello.")
    brain = sample.open(models=ModelOptions(environment={}, chat=model))

    done = brain.run_heartbeat("briefing")
    brain.agent("nova").run("Hi.", session="a person's")

    assert (done.outcome.value, done.run.text if done.run else "") == ("done", "All is well.")
    assert [each.id for each in brain.sessions().sessions] == ["a person's"]
    assert brain.heartbeats().to_json()["heartbeats"][0]["last"]["outcome"] == "done"
    assert [(row.tool, row.heartbeat, row.outcome) for row in brain.audit().rows] == [("heartbeat", "briefing", "done")]


def test_runs_by_clock_and_event_keep_no_conversation(beats: Beats) -> None:
    """Those of the scheduler do not either, whatever runs the turn."""
    put_hook(beats.sample, "watcher")
    beats.go()
    beats.brain.agent("nova").memory.write("Something new.")
    beats.at(SEVEN)

    assert {call.turn.scope.heartbeat: call.options.keeps_session for call in beats.turns.calls} == {
        "briefing": False,
        "watcher": False,
    }


# -- what goes wrong beside the turn ---------------------------------------------------------------------------------


def test_a_thread_that_does_not_start(beats: Beats, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run has failed, lock and place are free, and the next tick runs."""
    beats.scheduler = Scheduler(beats.brain._ports(), beats.turns)
    beats.go()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "omnislash-beat":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    beats.at(SEVEN)
    monkeypatch.undo()
    last = beats.last("briefing")

    assert (last["outcome"], "can't start new thread" in last["message"]) == ("failed", True)
    assert not is_locked(lock_path(beats.sample.root, BeatKind.HEARTBEAT, "briefing"))
    beats.go(days=1)
    assert beats.scheduler.wait(60)
    assert (beats.last("briefing")["outcome"], len(beats.turns.calls)) == ("done", 1)


def test_an_error_that_nobody_foresaw_is_a_failed_run(
    beats: Beats, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What goes wrong when a run is noted ends neither the scheduler nor the beat, and the run is no open one."""
    beats.go()
    finish = beat_runs.finish_row
    calls: list[str] = []

    def break_once(*given: Any, **more: Any) -> BeatRun:
        calls.append("noted")
        if len(calls) == 1:
            raise KeyError("surprise")
        return finish(*given, **more)

    monkeypatch.setattr(beat_runs, "finish_row", break_once)
    beats.at(SEVEN)
    last = beats.last("briefing")

    assert (last["outcome"], "surprise" in last["message"]) == ("failed", True)
    assert "briefing broke off" in caplog.text
    beats.go(days=1)
    assert beats.last("briefing")["outcome"] == "done"
