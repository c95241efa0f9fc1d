"""The check of the runs of heartbeats and hooks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.store.locks import Owner, WriterLock
from omnislash.store.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
ROLE = {"features/nova.agent.md": "---\nmemory: {}\n---\nA role.\n"}
BEAT = "---\nagent: nova\nschedule: '0 7 * * *'\n---\nSay good morning.\n"
HOOK = "---\nagent: nova\non: [memory:written]\n---\nLook at it.\n"
MORNING = {**ROLE, "features/morning.heartbeat.md": BEAT}
WORKER = "Run `omnislash worker`; heartbeats and hooks run while it does."
OWNER = Owner(pid=1, role="worker", since="")


@pytest.fixture
def state(brain_root: Path) -> Iterator[State]:
    """Return the state database of the brain."""
    (brain_root / ".omnislash").mkdir()
    with closing(State(brain_root / ".omnislash" / "state.db")) as opened:
        yield opened


def run(
    state: State, outcome: str, message: str = "", *, beat: str = "morning", kind: str = "heartbeat", day: int = 1
) -> None:
    """Note a run that came due at seven and began five minutes later."""
    due = datetime(2026, 12, day, 7, tzinfo=UTC)
    key = f"{kind}:{beat}:{day}"
    row = {"key": key, "kind": kind, "beat": beat, "role": "nova", "line": "main", "session": None}
    started = (due + timedelta(minutes=5)).isoformat()
    with state.transaction():
        state.run("start_run", **row, due_at=due.isoformat(), started_at=started)
        state.run("finish_run", key=key, outcome=outcome, message=message, at=started)


def look(state: State, *, at: datetime, beat: str = "morning") -> None:
    """Note that a worker has looked for what is due."""
    with state.transaction():
        state.run("set_beat_look", id=beat, schedule="0 7 * * *", timezone="UTC", looked_at=at.isoformat())


def find(examine: Examine, files: dict[str, str] = MORNING, **options: Any) -> tuple[Finding, ...]:
    """Return what the check finds."""
    return examine(files, "runs", **options)["runs"].findings


def warning(message: str, hint: str, path: str | None = "features/morning.heartbeat.md") -> Finding:
    """Return a warning."""
    return Finding(Severity.WARN, message, path=path, hint=hint)


def test_brain_without_heartbeats_passes(examine: Examine) -> None:
    """Where nothing runs by itself, nothing is said."""
    result = examine({}, "runs")["runs"]
    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.parametrize("outcome", ["done", "skipped"])
def test_run_that_went_well_passes(examine: Examine, state: State, outcome: str) -> None:
    """A run that was done, or left out on purpose, passes without a word."""
    run(state, outcome, "The run before was still going.")
    look(state, at=NOW)
    assert find(examine) == ()


def test_heartbeat_that_nobody_has_looked_for_is_told(examine: Examine) -> None:
    """A new brain with a heartbeat is told what makes it run, and passes."""
    result = examine(MORNING, "runs")["runs"]
    message = "The heartbeat morning is switched on, and no worker has looked for what is due yet."
    assert result.findings == (Finding(Severity.INFO, message, hint=WORKER),)
    assert result.status is Status.PASS


def test_heartbeats_that_are_switched_off_need_nobody(examine: Examine) -> None:
    """A heartbeat that is off does not run, and nobody needs to look for it."""
    off = {**ROLE, "features/morning.heartbeat.md": BEAT.replace("schedule", "enabled: false\nschedule")}
    assert find(examine, off) == ()


def test_failed_run_is_a_warning(examine: Examine, state: State) -> None:
    """A heartbeat whose newest run failed is named with the time in the brain's zone and the reason on one line."""
    run(state, "failed", "The model\n gave no answer.", day=1)
    look(state, at=NOW)
    files = {**MORNING, "constitution/MANIFEST.yaml": "locale:\n  timezone: Europe/Berlin\n"}
    message = "The last run of the heartbeat morning, 2026-12-01 08:05, failed: The model gave no answer."
    assert find(examine, files) == (warning(message, "Run `omnislash heartbeat run morning`."),)


def test_failure_that_was_made_good_is_over(examine: Examine, state: State) -> None:
    """Only the newest run counts."""
    run(state, "failed", "no answer", day=1)
    run(state, "done", day=2)
    look(state, at=NOW)
    assert find(examine) == ()


def test_interrupted_run_is_a_warning(examine: Examine, state: State) -> None:
    """A run that was stopped is named as stopped."""
    run(state, "interrupted", "It was stopped while it ran.")
    look(state, at=NOW)
    message = "The last run of the heartbeat morning, 2026-12-01 07:05, was stopped before it was done: It was stopped while it ran."
    assert find(examine) == (warning(message, "Run `omnislash heartbeat run morning`."),)


def test_missed_run_is_a_warning(examine: Examine, state: State) -> None:
    """A run that nobody was there for is named with the time at which it came due."""
    run(state, "missed", "It came due 2026-12-01T07:00Z.")
    look(state, at=NOW)
    message = "The last run of the heartbeat morning, 2026-12-01 07:00, was missed: no worker looked when it came due."
    assert find(examine) == (warning(message, WORKER),)


def test_run_whose_process_is_gone_is_a_warning(examine: Examine, state: State) -> None:
    """A run that is noted as going on, while nobody holds its lock, was cut off."""
    run(state, "running")
    look(state, at=NOW)
    message = (
        "The last run of the heartbeat morning, 2026-12-01 07:05, was stopped before it was done: "
        "The process that ran it is gone."
    )
    assert find(examine) == (warning(message, "Run `omnislash heartbeat run morning`."),)


def test_run_that_goes_on_passes(examine: Examine, state: State, brain_root: Path) -> None:
    """A run whose process holds its lock goes on."""
    run(state, "running")
    look(state, at=NOW)
    (brain_root / ".omnislash" / "beats").mkdir()
    lock = WriterLock(brain_root / ".omnislash" / "beats" / "morning.heartbeat")
    assert lock.acquire(OWNER)
    assert find(examine) == ()
    lock.release()
    assert len(find(examine)) == 1


def test_failed_hook_is_a_warning(examine: Examine, state: State) -> None:
    """A hook is named as one, and a heartbeat of the same name is not mixed up with it."""
    run(state, "failed", "no answer", beat="care", kind="hook")
    files = {**ROLE, "features/care.hook.md": HOOK}
    message = "The last run of the hook care, 2026-12-01 07:05, failed: no answer"
    assert find(examine, files) == (warning(message, "It runs again at its next event.", "features/care.hook.md"),)


def test_long_reason_is_cut_and_masked(examine: Examine, state: State) -> None:
    """A reason is shown in part, and never with a credential in it."""
    key = "sk-" + "ant-api03-" + "A1b2C3d4E5" * 9
    run(state, "failed", f"The key {key} was refused. " + "x" * 1000)
    look(state, at=NOW)
    (found,) = find(examine)
    assert key not in found.message
    assert len(found.message) < 320


def test_unwatched_heartbeats_are_a_warning(examine: Examine, state: State) -> None:
    """Heartbeats that nobody has looked for in more than two days are a warning."""
    files = {**MORNING, "features/noon.heartbeat.md": BEAT}
    look(state, at=NOW - timedelta(days=2, minutes=1))
    message = "2 heartbeats are switched on, and no worker has looked for what is due since 2026-11-29 09:29."
    assert find(examine, files) == (warning(message, WORKER, None),)


def test_worker_off_for_a_night_is_fine(examine: Examine, state: State) -> None:
    """A machine that was off for a day is not worth a word."""
    look(state, at=NOW - timedelta(days=1, hours=23))
    assert find(examine) == ()


def test_running_worker_is_trusted(examine: Examine, state: State, brain_root: Path) -> None:
    """While a worker runs, it looks."""
    look(state, at=NOW - timedelta(days=9))
    lock = WriterLock(brain_root / ".omnislash" / "writer.lock")
    assert lock.acquire(OWNER)
    assert find(examine) == ()
    lock.release()


def test_two_faults_are_both_told(examine: Examine, state: State) -> None:
    """Two beats that came to nothing are told in order of their names, heartbeats first."""
    run(state, "failed", "a", beat="noon")
    run(state, "failed", "b")
    run(state, "failed", "c", beat="care", kind="hook")
    look(state, at=NOW)
    files = {**MORNING, "features/noon.heartbeat.md": BEAT, "features/care.hook.md": HOOK}
    assert [finding.path for finding in find(examine, files)] == [
        "features/morning.heartbeat.md",
        "features/noon.heartbeat.md",
        "features/care.hook.md",
    ]


def test_brain_that_does_not_load_is_looked_at(examine: Examine, state: State) -> None:
    """Settings that do not load leave the runs of the beats that do."""
    run(state, "failed", "a")
    look(state, at=NOW)
    broken = {**MORNING, "omnislash.yaml": "memory: [\n", "features/bad.heartbeat.md": "---\nschedule: [\n---\n"}
    assert [finding.path for finding in find(examine, broken)] == ["features/morning.heartbeat.md"]


def test_older_state_has_no_runs(examine: Examine, state: State, brain_root: Path) -> None:
    """A state database of before there were runs, and one that is damaged, say nothing here."""
    state.close()
    with closing(sqlite3.connect(brain_root / ".omnislash" / "state.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert [finding.severity for finding in find(examine)] == [Severity.INFO]
    damaged = {**MORNING, ".omnislash/state.db": "no database\n" * 100}
    assert [finding.severity for finding in find(examine, damaged)] == [Severity.INFO]
