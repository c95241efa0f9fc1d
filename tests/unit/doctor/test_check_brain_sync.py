"""The check of brain-sync."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.store.locks import Owner, WriterLock
from omnislash.store.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
OFF = {"constitution/MANIFEST.yaml": "sync:\n  enabled: false\n"}
SWITCHED_OFF = Finding(
    Severity.INFO,
    "`sync.enabled` is false: a worker commits nothing by itself.",
    path="constitution/MANIFEST.yaml",
    hint="`omnislash sync run` commits by hand.",
)
SETTLE = "Run `omnislash sync status`; once that is settled, `omnislash sync run`."


@pytest.fixture
def state(brain_root: Path) -> Iterator[State]:
    """Return the state database of the brain."""
    (brain_root / ".omnislash").mkdir()
    with closing(State(brain_root / ".omnislash" / "state.db")) as opened:
        yield opened


def note(state: State, outcome: str, message: str, *, at: datetime = NOW) -> None:
    """Note what a sync came to."""
    with state.transaction():
        state.run("insert_sync", at=at.isoformat(), outcome=outcome, message=message, head=None, audit=0)


def find(examine: Examine, files: dict[str, str] | None = None) -> tuple[Finding, ...]:
    """Return what the check finds."""
    return examine(files or {}, "brain-sync")["brain-sync"].findings


def test_brain_that_was_never_synced_passes(examine: Examine) -> None:
    """A new brain is told what commits it, and passes."""
    result = examine({}, "brain-sync")["brain-sync"]
    hint = "Run `omnislash sync run`, or `omnislash worker`."
    assert result.findings == (Finding(Severity.INFO, "Brain-sync has not run here yet.", hint=hint),)
    assert result.status is Status.PASS


def test_sync_that_is_switched_off_is_told(examine: Examine) -> None:
    """A brain whose owner commits by hand is told so once."""
    assert find(examine, OFF) == (SWITCHED_OFF,)


@pytest.mark.parametrize("outcome", ["done", "nothing"])
def test_sync_that_went_well_passes(examine: Examine, state: State, outcome: str) -> None:
    """The last sync is told with its time in the brain's zone."""
    note(state, "failed", "The remote is away.", at=NOW - timedelta(hours=1))
    note(state, outcome, "2 commits were pushed.")
    files = {"constitution/MANIFEST.yaml": "locale:\n  timezone: Europe/Berlin\n"}
    message = "The last sync, 2026-12-01 10:30: 2 commits were pushed."
    assert find(examine, files) == (Finding(Severity.INFO, message),)


@pytest.mark.parametrize("outcome", ["stopped", "failed"])
def test_sync_that_did_not_end_well_is_a_warning(examine: Examine, state: State, outcome: str) -> None:
    """A sync that stopped or failed is named with its own message on one line."""
    note(state, outcome, "The remote\nis away.")
    result = examine({}, "brain-sync")["brain-sync"]
    message = f"The last sync, 2026-12-01 09:30, {outcome}: The remote is away."
    assert result.findings == (Finding(Severity.WARN, message, hint=SETTLE),)
    assert result.status is Status.WARN


def test_password_in_a_message_is_masked(examine: Examine, state: State) -> None:
    """What git said is never shown with a credential in it."""
    key = "ghp" + "_" + "A1b2C3d4E5" * 4
    note(state, "failed", f"could not read from {key}")
    (found,) = find(examine)
    assert key not in found.message


def test_worker_that_does_not_sync_is_a_warning(examine: Examine, state: State, brain_root: Path) -> None:
    """A worker that runs and has not synced for more than two days is named."""
    note(state, "done", "1 commit.", at=NOW - timedelta(days=2, minutes=1))
    last = Finding(Severity.INFO, "The last sync, 2026-11-29 09:29: 1 commit.")
    lock = WriterLock(brain_root / ".omnislash" / "writer.lock")
    assert lock.acquire(Owner(pid=1, role="worker", since=""))
    hint = "Look into .omnislash/logs/worker.log, or start the worker again."
    message = "A worker runs, and there was no sync since 2026-11-29 09:29."
    assert find(examine) == (last, Finding(Severity.WARN, message, hint=hint))
    lock.release()
    message = "No worker runs, so nothing was committed by itself since 2026-11-29 09:29."
    assert find(examine) == (last, Finding(Severity.INFO, message, hint="Run `omnislash worker`."))


def test_quiet_ticks_are_not_overdue(examine: Examine, state: State, brain_root: Path) -> None:
    """Ticks that find nothing to do are noted once, so an old one says nothing about the worker."""
    note(state, "nothing", "All was committed.", at=NOW - timedelta(days=30))
    lock = WriterLock(brain_root / ".omnislash" / "writer.lock")
    assert lock.acquire(Owner(pid=1, role="worker", since=""))
    assert find(examine) == (Finding(Severity.INFO, "The last sync, 2026-11-01 09:30: All was committed."),)
    lock.release()


def test_old_sync_of_a_brain_that_is_switched_off_is_fine(examine: Examine, state: State) -> None:
    """Where nothing commits by itself, nothing is overdue; a failure is told all the same."""
    note(state, "done", "1 commit.", at=NOW - timedelta(days=30))
    assert find(examine, OFF) == (SWITCHED_OFF, Finding(Severity.INFO, "The last sync, 2026-11-01 09:30: 1 commit."))
    note(state, "failed", "The remote is away.")
    message = "The last sync, 2026-12-01 09:30, failed: The remote is away."
    assert find(examine, OFF) == (SWITCHED_OFF, Finding(Severity.WARN, message, hint=SETTLE))


def test_damaged_state_says_nothing_here(examine: Examine) -> None:
    """In a brain whose settings and state do not load, other checks tell why."""
    files = {"omnislash.yaml": "memory: [\n", ".omnislash/state.db": "no database\n" * 100}
    assert [finding.message for finding in find(examine, files)] == ["Brain-sync has not run here yet."]
