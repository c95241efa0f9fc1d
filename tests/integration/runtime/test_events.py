"""Events: one for each change, after the file is on disk, with sizes in UTF-16 units."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.verdicts import Outcome
from omnislash.store.disk import Disk

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from omnislash import Brain
    from omnislash.core.events import Event
    from omnislash.core.verdicts import Verdict
    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


def listen(brain: Brain) -> list[tuple[str, dict[str, Any]]]:
    """Return the list to which the brain's events will be added."""
    heard: list[tuple[str, dict[str, Any]]] = []
    brain.on_event(lambda event: heard.append((event.name, event.to_json())))
    return heard


def change(file: str, chars: int, *, role: str | None = "nova", beat: str | None = None) -> dict[str, Any]:
    """Return the fields of a change in the line `main`."""
    return {"file": file, "scope": "main", "chars": chars, "role": role, "heartbeatId": beat}


@pytest.mark.rule("EVENT-01", "EVENT-O1", "BUDGET-19")
def test_written_is_sent_for_each_file(sample: SampleBrain) -> None:
    """A priority write sends one `memory:written` for each half, with the file's size in UTF-16 units."""
    sample.beat("rounds", "nova")
    brain = sample.open()
    heard = listen(brain)

    brain.agent("nova", heartbeat="rounds").memory.write("👍", priority=True)

    # `# 2026-08-30`, an empty line, `- 09:05 👍`; then `## Memory (2026-08-30)`, an empty line, `- 👍`.
    assert heard == [
        ("memory:written", change(TODAY, 14 + 11, beat="rounds")),
        ("memory:written", change("main/MEMORY.md", 24 + 5, beat="rounds")),
    ]


@pytest.mark.rule("EVENT-02", "EVENT-O1", "BUDGET-19")
def test_edited_is_sent_for_edits_and_saves(sample: SampleBrain) -> None:
    """An edit and a whole-file save send `memory:edited` with the size afterwards."""
    sample.put_memory("main/MEMORY.md", "- rules\n")
    brain = sample.open()
    heard = listen(brain)
    memory = brain.agent("nova").memory

    memory.edit("main/MEMORY.md", old="rules", new="👍")
    memory.write_file("main/a.md", "👍👍\n")

    assert heard == [
        ("memory:edited", change("main/MEMORY.md", 5)),
        ("memory:edited", change("main/a.md", 5)),
    ]


@pytest.mark.rule("EVENT-03", "EVENT-O1", "BUDGET-19")
def test_deleted_tells_what_is_left(sample: SampleBrain) -> None:
    """Deleting an entry or a section sends `memory:deleted` with what is left; deleting the file sends 0."""
    sample.open_gate()
    sample.put_memory("main/MEMORY.md", "# 👍\n- a\n- b\n## C\n- c\n")
    brain = sample.open()
    heard = listen(brain)
    memory = brain.agent("nova").memory

    memory.delete("main/MEMORY.md", entry="a")
    memory.delete("main/MEMORY.md", section="C")
    memory.delete("main/MEMORY.md")

    assert heard == [
        ("memory:deleted", change("main/MEMORY.md", 18)),
        ("memory:deleted", change("main/MEMORY.md", 9)),
        ("memory:deleted", change("main/MEMORY.md", 0)),
    ]


@pytest.mark.rule("EVENT-04", "EVENT-O2", "BUDGET-07", "BUDGET-19")
def test_compacted_names_the_dropped_days(sample: SampleBrain) -> None:
    """A drop sends `memory:compacted` with the dates and the sizes before and after."""
    sample.manifest("{fileMaxChars: 100}")
    old = "".join(f"## Memory (2026-08-0{day})\n\n- {'👍' * 5}\n" for day in (2, 1))
    sample.put_memory("main/MEMORY.md", old)
    brain = sample.open()
    heard = listen(brain)

    # Each section has 37 units; the new one 24 + 3 + 20, and the empty line in front of it.
    verdict = brain.agent("nova").memory.write("x" * 20, priority=True)

    assert [name for name, _ in heard].count("memory:compacted") == 1
    assert dict(heard)["memory:compacted"] == {
        "file": "main/MEMORY.md",
        "scope": "main",
        "dates": ["2026-08-01"],
        "charsBefore": 74,
        "charsAfter": 85,
        "budget": 100,
    }
    assert "2026-08-01" in verdict.message
    assert "2026-08-02" not in verdict.message


@pytest.mark.rule("EVENT-05", "BUDGET-11", "BUDGET-O4")
@pytest.mark.parametrize("door", ["write", "edit", "write-file", "move"])
def test_refused_names_the_numbers(sample: SampleBrain, door: str) -> None:
    """A refusal by the budget sends `memory:budget-refused` with the size after all drops, through every door."""
    sample.manifest("{fileMaxChars: 60}")
    sample.put_memory("main/notes.md", "x" * 70)
    if door != "move":
        sample.put_memory("main/MEMORY.md", "x" * 59 + "\n")
    brain = sample.open()
    heard = listen(brain)
    memory = brain.agent("nova").memory

    # What is there and what would be: with an empty line, a header and an entry; edited; as a whole; moved there.
    size = {"write": 60 + 1 + 24 + 12, "edit": 62, "write-file": 71, "move": 70}[door]
    if door == "write":
        verdict = memory.write("y" * 9, priority=True)
    elif door == "edit":
        verdict = memory.edit("main/MEMORY.md", old="x\n", new="yyy\n")
    elif door == "write-file":
        verdict = memory.write_file("main/MEMORY.md", "y" * 70)
    else:
        verdict = memory.move("main/notes.md", "main/MEMORY.md")

    assert verdict.outcome is (Outcome.PARTIAL if door == "write" else Outcome.REFUSED)
    assert (str(size) in verdict.message, "60" in verdict.message) == (True, True)
    assert ("memory:budget-refused", {"file": "main/MEMORY.md", "scope": "main", "chars": size, "budget": 60}) in heard
    assert not [payload for name, payload in heard if payload["file"] == "main/MEMORY.md" and "role" in payload]


@pytest.mark.rule("EVENT-O4")
def test_event_comes_after_the_file(sample: SampleBrain) -> None:
    """When a listener hears of a write, the file, the verdict and the action log already have it."""
    brain = sample.open()
    seen: list[tuple[str, int]] = []
    brain.on_event(lambda event: seen.append((sample.text(event.to_json()["file"]), len(brain.audit().rows))))

    brain.agent("nova").memory.write("x")

    assert seen == [("# 2026-08-30\n\n- 09:05 x\n", 1)]


def _fail(_event: Event) -> None:
    message = "the hook is broken"
    raise RuntimeError(message)


@pytest.mark.rule("EVENT-O4")
@pytest.mark.parametrize("with_worker", [False, True])
def test_failing_listener_undoes_nothing(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture, with_worker: bool
) -> None:
    """A listener that fails is logged; the write stands, the other listeners hear of it, and so does the next write."""
    brain = sample.open()
    worker = brain.start_worker() if with_worker else None
    brain.on_event(_fail)
    heard = listen(brain)
    memory = brain.agent("nova").memory

    with caplog.at_level(logging.ERROR):
        outcomes = [memory.write(content).outcome for content in ("one", "two")]

    assert outcomes == [Outcome.WRITTEN, Outcome.WRITTEN]
    assert [name for name, _ in heard] == ["memory:written", "memory:written"]
    assert [record.__dict__["action"] for record in caplog.records] == ["listener_failed"] * 2
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n- 09:05 two\n"
    if worker:
        worker.stop()


class Broken(Disk):
    """Can change no file that exists."""

    def exchange(self, temp: Path, target: Path) -> None:
        raise OSError(5, os.strerror(5), str(target))


class ForgetfulCommit(Disk):
    """Loses the third commit, after the job and the intent: the one that holds the verdict."""

    def __init__(self) -> None:
        self.commits = 0

    def commit(self, connection: sqlite3.Connection) -> None:
        self.commits += 1
        if self.commits == 3:
            raise OSError(28, os.strerror(28))
        super().commit(connection)


@pytest.mark.rule("EVENT-O4", "EVENT-01")
def test_no_event_for_what_did_not_land(sample: SampleBrain) -> None:
    """A write that failed, was refused, or was a duplicate sends nothing."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 09:05 x\n")
    brain = sample.open(disk=Broken())
    heard = listen(brain)
    memory = brain.agent("nova").memory

    assert memory.write("y").outcome is Outcome.FAILED
    assert memory.write("x").outcome is Outcome.DUPLICATE
    assert memory.write("x", line="ops").outcome is Outcome.REFUSED
    assert heard == []


@pytest.mark.rule("EVENT-01", "WRITE-O5")
def test_recovered_write_sends_its_event_once(sample: SampleBrain) -> None:
    """A write whose verdict had to be recovered is told like any other, exactly once."""
    brain = sample.open(disk=ForgetfulCommit())
    heard = listen(brain)

    verdict = brain.agent("nova").memory.write("x")
    brain.agent("nova").memory.write("y")

    assert sample.text(TODAY).count("- 09:05 x\n") == 1
    assert verdict.outcome in {Outcome.WRITTEN, Outcome.UNCONFIRMED, Outcome.FAILED}
    assert [payload["chars"] for _, payload in heard] == [24, 34]


@pytest.mark.parametrize("action", ["memory:written", "memory:edited", "memory:deleted"])
def test_events_are_logged_by_name(sample: SampleBrain, caplog: pytest.LogCaptureFixture, action: str) -> None:
    """Each event is a log line whose `action` is its name, with its fields and without any content."""
    sample.open_gate()
    memory = sample.agent().memory
    with caplog.at_level(logging.DEBUG, logger="omnislash"):
        memory.write("xylophone")
        memory.edit(TODAY, old="xylophone", new="saxophone")
        memory.delete(TODAY)

    (record,) = [record for record in caplog.records if record.__dict__.get("action") == action]
    assert record.__dict__["event_file"] == TODAY
    assert "phone" not in str(record.__dict__)


def test_deposit_event_names_the_destination(sample: SampleBrain) -> None:
    """The event of a deposit has the destination as its scope and the depositor as its role."""
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    brain = sample.open()
    heard = listen(brain)

    brain.agent("nova", heartbeat="briefing").memory.write("x", line="ops")

    ((name, payload),) = heard
    assert (name, payload["scope"], payload["role"], payload["heartbeatId"]) == (
        "memory:written",
        "ops",
        "nova",
        "briefing",
    )


@pytest.mark.rule("EVENT-O4", "WRITE-07")
@pytest.mark.parametrize("with_worker", [False, True])
def test_a_listener_may_write(sample: SampleBrain, with_worker: bool) -> None:
    """What a listener writes is queued, said so at once, and lands behind the write that it was told of."""
    brain = sample.open()
    worker = brain.start_worker() if with_worker else None
    answers: list[Verdict] = []

    def listen_and_write(event: Event) -> None:
        if event.name == "memory:written" and not answers:
            answers.append(brain.agent("nova").memory.write("from the listener"))

    brain.on_event(listen_and_write)
    outer = brain.agent("nova").memory.write("the first")
    after = brain.agent("nova").memory.write("the last")
    if worker is not None:
        worker.stop()

    assert (outer.outcome, after.outcome) == ("written", "written")
    assert [verdict.outcome for verdict in answers] == ["queued"]
    assert "comes next" in answers[0].message
    assert [line[8:] for line in sample.text("main/2026/08/2026-08-30.md").split("\n")[2:-1]] == [
        "the first",
        "from the listener",
        "the last",
    ]
