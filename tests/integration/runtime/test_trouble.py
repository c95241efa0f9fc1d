"""What nobody foresaw stays with the job it happened to: the queue, the questions to a person and the callers go on."""

from __future__ import annotations

import errno
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Brain, UsageError
from omnislash.core.verdicts import Outcome
from omnislash.store.disk import Disk
from omnislash.writer.planning import plan_job

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import SampleBrain


class EndOfTime:
    """A clock at an instant that no other zone can show."""

    def now(self) -> datetime:
        return datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))

    def monotonic_s(self) -> float:
        return 0.0


class NoRemoval(Disk):
    """A disk that removes nothing."""

    def rename_new(self, source: Path, target: Path) -> None:
        del target
        raise OSError(errno.EIO, "Input/output error", str(source))


@pytest.mark.rule("WRITE-03", "WRITE-07")
def test_a_job_that_cannot_be_planned_fails_alone(sample: SampleBrain) -> None:
    """A write at an instant that the brain's zone does not have fails, and the next one is written."""
    with Brain.open(sample.root, clock=EndOfTime()) as brain:
        verdict = brain.agent("nova").memory.write("poison")
    assert verdict.outcome is Outcome.FAILED
    assert "OverflowError" in verdict.message

    assert sample.open().agent("nova").memory.write("cure").outcome is Outcome.WRITTEN
    assert b"poison" not in b"".join(sample.files().values())


def test_a_fault_of_ours_fails_one_job_and_a_worker_goes_on(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A surprise in planning is the verdict of its job; a worker that runs is there for the next."""

    def plan(job: Any, *rest: Any) -> Any:
        if "surprise" in str(job.request):
            message = "nobody foresaw this"
            raise ZeroDivisionError(message)
        return plan_job(job, *rest)

    monkeypatch.setattr("omnislash.writer.applying.plan_job", plan)
    brain = sample.open()
    brain.start_worker()
    memory = brain.agent("nova").memory
    assert memory.write("surprise").outcome is Outcome.FAILED
    assert memory.write("usual").outcome is Outcome.WRITTEN


def test_a_queued_row_that_makes_no_sense_blocks_nothing(sample: SampleBrain) -> None:
    """A row that an older or a broken program left in the queue ends as failed; what is behind it is written."""
    brain = sample.open()
    memory = brain.agent("nova").memory
    memory.write("first")
    state = brain._open_state()
    with state.transaction():
        row = {"request": None, "line": "main", "tool": "memory_write", "role": "nova", "heartbeat": None}
        state.run("insert_job", id="n" * 20, actor="agent", payload="{", created_at="yesterday", **row)
    assert memory.write("second").outcome is Outcome.WRITTEN
    done = state.row("find_job", id="n" * 20)
    assert done is not None
    assert (done["state"], '"failed"' in done["verdict"]) == ("done", True)


@pytest.mark.rule("TOOL-16")
def test_a_deletion_that_fails_asks_again(sample: SampleBrain) -> None:
    """When the machine fails an approved deletion, the question is open again and can be granted."""
    sample.put_memory("main/old.md", "# Old\n")
    brain = sample.open()
    asked = brain.agent("nova").memory.delete("main/old.md")
    with Brain.open(sample.root, disk=NoRemoval()) as failing:
        assert failing.approve(str(asked.approval)).outcome is Outcome.FAILED
    assert "main/old.md" in sample.files()
    (waiting,) = brain.approvals()
    assert waiting.id == asked.approval
    assert brain.approve(waiting.id).outcome is Outcome.WRITTEN
    assert "main/old.md" not in sample.files()


@pytest.mark.rule("TOOL-16")
def test_a_question_whose_file_has_changed_is_outdated(sample: SampleBrain) -> None:
    """Granting the deletion of a file that has changed deletes nothing, and the question does not look granted."""
    sample.put_memory("main/old.md", "# Old\n")
    brain = sample.open()
    asked = brain.agent("nova").memory.delete("main/old.md")
    sample.put_memory("main/old.md", "# Old\n\nStill needed.\n")
    assert brain.approve(str(asked.approval)).outcome is Outcome.REFUSED
    assert [approval.state for approval in brain.approvals(state=None)] == ["outdated"]


def test_a_forgotten_entry_is_forgotten_by_its_question(sample: SampleBrain) -> None:
    """Once an entry is deleted, the question that led to it no longer holds its text."""
    sample.put_memory("main/MEMORY.md", "# M\n\n- forget me 5521\n- keep me\n")
    brain = sample.open()
    asked = brain.agent("nova").memory.delete("main/MEMORY.md", entry="forget me 5521")
    assert brain.approve(str(asked.approval)).outcome is Outcome.WRITTEN
    assert "5521" not in str([approval.arguments for approval in brain.approvals(state=None)])


def test_old_rows_go_without_a_worker(sample: SampleBrain) -> None:
    """A brain that is only used by single commands forgets what it watched as well."""
    sample.clock.at = datetime(2025, 1, 1, 9, 0, tzinfo=UTC)
    sample.open().agent("nova").memory.write("long ago")
    sample.clock.at = datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
    brain = sample.open()
    brain.agent("nova").memory.write("today")
    state = brain._open_state()
    texts = [row["text"] for row in state.rows("list_additions", path="main/2025/01/2025-01-01.md")]
    assert texts == []
    assert [row["at"][:4] for row in state.rows("list_events", after=0, limit=10)] == ["2026"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda brain: brain.audit(limit=-1), id="limit"),
        pytest.param(lambda brain: brain.audit(path="\ud800"), id="half a character"),
        pytest.param(lambda brain: brain.audit(cursor="9" * 5000), id="cursor"),
        pytest.param(lambda brain: brain.approve("\ud800"), id="approval"),
        pytest.param(lambda brain: brain.agent("nova").memory.list(limit=0), id="list"),
        pytest.param(lambda brain: brain.agent("nova").memory.read("main/MEMORY.md", offset=-1), id="read"),
    ],
)
def test_wrong_calls_are_errors_of_ours(sample: SampleBrain, call: Any) -> None:
    """A call that makes no sense raises the error of the house, from every door of the engine."""
    with pytest.raises(UsageError):
        call(sample.open())
