"""Which events call which hooks, and that none calls itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ModelError
from omnislash.core.events import EVENT_NAMES, MemoryFlushed
from omnislash.runtime.beats.hooks import RUNS_PER_HOUR
from tests.integration.beats.conftest import Beats, put_beat, put_hook

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


def read_events(message: str) -> list[dict[str, Any]]:
    """Return the events that a run was handed."""
    text = message.split("<agent-events>\n")[1].split("\n</agent-events>", maxsplit=1)[0]
    events: list[dict[str, Any]] = json.loads(text)
    return events


@pytest.fixture
def hooked(sample: SampleBrain) -> Beats:
    """Return a brain with one hook, `watcher`, on what is written; it was looked at once."""
    put_hook(sample, "watcher")
    beats = Beats(sample)
    sample.agent().memory.write("Before anybody looked.")
    beats.go()
    assert beats.turns.calls == []
    return beats


@pytest.mark.rule("EVENT-01", "EVENT-O1")
def test_a_hook_runs_on_what_happens_after_it_was_seen(hooked: Beats, sample: SampleBrain) -> None:
    """A write calls it once, with its prompt and the event as data, in a session of its own."""
    sample.agent().memory.write("The choir came.")
    for _ in range(3):
        hooked.go(seconds=5)

    (call,) = hooked.turns.calls
    assert call.turn.scope.heartbeat == "watcher"
    assert call.message.startswith("Look at it.\n\n")
    (event,) = read_events(call.message)
    assert (event["event"], event["file"], event["role"]) == ("memory:written", "main/2026/08/2026-08-20.md", "nova")
    assert call.session
    assert call.session.startswith("hook:watcher:")
    assert hooked.last("watcher")["outcome"] == "done"
    assert ("hook", "watcher", "done") in hooked.audit()


def test_what_waits_is_handed_over_together(hooked: Beats, sample: SampleBrain) -> None:
    """Five writes between two looks are one run; a restart hands nothing over again."""
    for number in range(5):
        sample.agent().memory.write(f"Entry {number}.")
    hooked.go(seconds=5)
    hooked.restart()
    hooked.go(seconds=5)

    assert [len(read_events(call.message)) for call in hooked.turns.calls] == [5]


def test_what_another_process_wrote_while_no_worker_ran(hooked: Beats, sample: SampleBrain) -> None:
    """A write of another brain object, with no scheduler looking, is handed over when one looks again."""
    with sample.open() as other:
        other.agent("nova").memory.write("Written elsewhere.")
    hooked.restart()
    hooked.go(hours=30)

    assert len(hooked.turns.calls) == 1


@pytest.mark.rule("EVENT-02", "EVENT-03", "EVENT-07")
def test_a_hook_hears_only_what_it_names(sample: SampleBrain) -> None:
    """Edits, deletions and flushes call the hook that names them, and the writes before do not."""
    sample.open_gate()
    for number, name in enumerate(("memory:edited", "memory:deleted", "agent:memory_flushed")):
        put_hook(sample, f"on{number}", on=name)
    beats = Beats(sample)
    beats.go()
    agent = beats.brain.agent("nova")
    path = agent.memory.write("The choir came.").paths[0]
    agent.memory.edit(path, old="The choir came.", new="The choir left.")
    agent.memory.delete(path, entry="The choir left.")
    flushed = MemoryFlushed(outcome="saved", scope="main", role="nova", heartbeat_id=None, session=None, writes=1)
    beats.brain._announcer.announce(flushed)

    beats.go(seconds=5)

    assert beats.turns.beats == ["on0", "on1", "on2"]
    events = [read_events(call.message) for call in beats.turns.calls]
    assert [[each["event"] for each in found] for found in events] == [
        ["memory:edited"],
        ["memory:deleted"],
        ["agent:memory_flushed"],
    ]


@pytest.mark.rule("EVENT-04", "EVENT-05")
def test_what_a_hook_did_runs_no_hook(sample: SampleBrain) -> None:
    """Writes, compactions, refusals and the flush of a hook's own turn call neither it nor another one."""
    sample.manifest("{fileMaxChars: 400}")
    put_hook(sample, "first", on=", ".join(EVENT_NAMES))
    put_hook(sample, "second", on=", ".join(EVENT_NAMES))
    beats = Beats(sample)
    seen: set[str] = set()
    beats.brain.on_event(lambda event: seen.add(event.name))

    def work(agent: Any, _options: object) -> None:
        if agent.scope.heartbeat == "first" and not seen & {"memory:compacted", "memory:budget-refused"}:
            agent.memory.write("y" * 250, priority=True)
            agent.memory.write("w" * 600, priority=True)
            beats.brain._announcer.announce(
                MemoryFlushed(outcome="saved", scope="main", role="nova", heartbeat_id="first", session=None, writes=1)
            )

    beats.turns.during = work
    sample.put_memory("main/MEMORY.md", f"## Memory (2026-08-01)\n\n- {'x' * 200}\n")
    beats.go()
    beats.brain.agent("nova").memory.write("The choir came.")
    for _ in range(5):
        beats.go(seconds=5)

    assert sorted(map(str, beats.turns.beats)) == ["first", "second"]
    assert seen >= {"memory:written", "memory:compacted", "memory:budget-refused", "agent:memory_flushed"}
    assert all(len(read_events(call.message)) == 1 for call in beats.turns.calls)


def test_what_a_heartbeat_did_runs_a_hook(sample: SampleBrain) -> None:
    """Only hooks are kept from calling hooks."""
    put_beat(sample, "briefing")
    put_hook(sample, "watcher")
    beats = Beats(sample)
    beats.turns.during = lambda agent, _options: (
        agent.memory.write("Looked.") if agent.scope.heartbeat == "briefing" else None
    )
    beats.go()
    beats.go(hours=1)
    beats.go(seconds=5)

    assert beats.turns.beats == ["briefing", "watcher"]


@pytest.mark.rule("EVENT-O4")
def test_a_hook_that_fails_undoes_nothing_and_is_not_run_again(hooked: Beats, sample: SampleBrain) -> None:
    """The write stays, the reason is noted, and the event is not handed over a second time."""

    def fail(_agent: object, _options: object) -> None:
        raise ModelError("The model is away.")

    hooked.turns.during = fail
    verdict = sample.agent().memory.write("The choir came.")
    for _ in range(3):
        hooked.go(seconds=5)

    assert len(hooked.turns.calls) == 1
    assert "The choir came." in sample.text(verdict.paths[0])
    assert hooked.last("watcher")["message"] == "The model is away."


def test_a_hook_that_runs_away_is_slowed_down(hooked: Beats, caplog: pytest.LogCaptureFixture) -> None:
    """So many runs an hour; what comes then waits, is said once, and is handed over together when the hour is over."""
    writer = hooked.brain.agent("nova")
    for number in range(RUNS_PER_HOUR + 5):
        writer.memory.write(f"Entry {number}.")
        hooked.go(seconds=5)
    assert len(hooked.turns.calls) == RUNS_PER_HOUR
    assert caplog.text.count("ran 20 times within an hour") == 1

    hooked.go(hours=1)
    assert len(hooked.turns.calls) == RUNS_PER_HOUR + 1
    assert len(read_events(hooked.turns.calls[-1].message)) == 5


def test_a_hook_that_is_switched_off_and_on(hooked: Beats, sample: SampleBrain) -> None:
    """What happened meanwhile is not made up for; with faults in its file it waits, and then hears of it."""
    put_hook(sample, "watcher", more="enabled: false\n")
    hooked.go(seconds=5)
    sample.agent().memory.write("Nobody listens.")
    put_hook(sample, "watcher")
    hooked.go(seconds=5)
    assert hooked.turns.calls == []

    sample.put("features/team/watcher.hook.md", "---\non: memory:written\n---\nLook at it.\n")
    hooked.go(seconds=5)
    sample.agent().memory.write("It will listen.")
    hooked.go(seconds=5)
    put_hook(sample, "watcher")
    hooked.go(seconds=5)
    assert len(hooked.turns.calls) == 1


def test_an_event_waits_while_its_hook_runs(hooked: Beats, sample: SampleBrain) -> None:
    """What happens during a run is handed to the next one, whoever carries the first one out."""
    other = Beats(sample, hooked.clock.now())

    def work(agent: Any, _options: object) -> None:
        if len(hooked.turns.calls) == 1:
            sample.agent().memory.write("Meanwhile.")
            other.go(seconds=5)
            assert other.turns.calls == []

    hooked.turns.during = work
    sample.agent().memory.write("First.")
    hooked.go(seconds=5)
    hooked.go(seconds=5)

    assert [len(read_events(call.message)) for call in hooked.turns.calls] == [1, 1]


@pytest.mark.parametrize("days", [1, 100])
def test_old_events_that_were_removed_call_nobody(hooked: Beats, sample: SampleBrain, days: int) -> None:
    """A state database that was tidied, or is new, makes no hook deaf."""
    state = hooked.brain._ports().state()
    with state.transaction():
        state.run("prune_events", before="9999")
    hooked.go(days=days)
    assert hooked.turns.calls == []
    sample.agent().memory.write("The choir came.")
    hooked.go(seconds=5)
    assert len(hooked.turns.calls) == 1


def test_an_unknown_event_is_a_warning(sample: SampleBrain) -> None:
    """A name that never happens is named with its place and the nearest that does; the hook loads."""
    put_hook(sample, "watcher", on="memory:writen, memory:edited")
    config = sample.open().config

    assert config.hooks["watcher"].events == ("memory:writen", "memory:edited")
    (warning,) = [each for each in config.warnings if each.path.endswith("watcher.hook.md")]
    assert (warning.line, warning.key) == (2, "on")
    assert "There is no event 'memory:writen'" in warning.message
    assert warning.hint
    assert "memory:written" in warning.hint


def test_a_hook_with_the_id_of_a_heartbeat_does_not_load(sample: SampleBrain) -> None:
    """By its id a run is told apart; the heartbeat runs on."""
    put_beat(sample, "briefing")
    put_hook(sample, "briefing")
    config = sample.open().config

    assert "briefing" in config.heartbeats
    assert not config.hooks
    assert any("also that of the heartbeat" in fault.message for fault in config.faults)


def test_an_event_between_two_looks_is_not_lost(hooked: Beats, sample: SampleBrain) -> None:
    """Two workers saw different ends of the same queue: the one that comes second hands over nothing twice."""
    other = Beats(sample, hooked.clock.now())
    now = hooked.clock.now()
    sample.agent().memory.write("First.")
    (short,) = hooked.scheduler._calls.look(now)
    sample.agent().memory.write("Second.")
    (long,) = other.scheduler._calls.look(now)

    hooked.scheduler._start(short)
    other.scheduler._start(long)
    assert other.turns.calls == []
    other.go(seconds=5)

    assert [len(read_events(call.message)) for call in (*hooked.turns.calls, *other.turns.calls)] == [1, 1]
