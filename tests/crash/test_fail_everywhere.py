"""Let the disk fail at every call, once and for good, and hold the verdict against what is there.

An answer that says that something was written is right, one that says that it was not is right as well, and only what
is in the queue may be called unconfirmed.

Rules: WRITE-03, WRITE-05, WRITE-O5, WRITE-O7; architecture.md section 7.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError
from omnislash.testing import CountingDisk, FailingDisk
from tests.crash.harness import (
    Work,
    all_text,
    empty_directories,
    job_id,
    job_states,
    leftovers,
    query,
    restart,
    snapshot,
)
from tests.crash.kinds import SWEPT

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.core.verdicts import Verdict
    from tests.crash.harness import Kind

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
#: Calls that may have happened although they report an error: a commit whose sync fails, a name on a network disk.
AMBIGUOUS = {"commit", "exchange", "link", "rename_new", "replace", "unlink", "make_directory"}
LANDED = {Outcome.WRITTEN, Outcome.PARTIAL, Outcome.DUPLICATE}
NOT_LANDED = {Outcome.FAILED, Outcome.REFUSED}


def without_temporary(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files that a person sees."""
    return {path: data for path, data in files.items() if path.endswith(".md")}


def check_answers(work: Work, root: Path, verdicts: list[Verdict], point: str) -> None:
    """Check that each answer is true at the moment in which it is given."""
    text, states = all_text(root), job_states(root)
    for number, (call, verdict) in enumerate(zip(work.kind.calls, verdicts, strict=True), start=1):
        if call.told and not is_told_twice(work, call.told):
            if verdict.outcome in LANDED:
                assert call.told in text, f"{point}: {verdict}"
            if verdict.outcome in NOT_LANDED:
                assert call.told not in text, f"{point}: {verdict}"
        if verdict.outcome is Outcome.UNCONFIRMED and work.kind.through != "approval":
            assert job_id(number) in states, f"{point}: called durable, but it is not in the queue"
        if verdict.outcome is Outcome.FAILED and job_id(number) in states:
            assert states[job_id(number)][0] == "done", f"{point}: called failed, and may still land"


def is_told_twice(work: Work, told: str) -> bool:
    """Tell whether another call, or a file from before, says the same."""
    before = b"".join(work.before.values()).decode()
    return told in before or sum(told in call.told for call in work.kind.calls) > 1


def check_files(work: Work, root: Path, verdicts: list[Verdict], quiet: dict[str, bytes], point: str) -> None:
    """Check the files where the answers leave only one state."""
    outcomes = {verdict.outcome for verdict in verdicts}
    found = without_temporary(snapshot(root))
    if outcomes <= NOT_LANDED:
        assert found == work.before, point
    elif outcomes <= LANDED:
        assert found == quiet, point


def run_on(work: Work, root: Path, disk: FailingDisk) -> list[Verdict]:
    """Return the answers; none when there was no caller, or when the caller was told with an exception."""
    if work.kind.through in {"call", "worker"}:
        return work.run(root, disk=disk)
    with contextlib.suppress(OmnislashError, OSError):
        return work.run(root, disk=disk)
    return []


def approvals(root: Path) -> list[str]:
    """Return the deletions that still wait for a person."""
    return [row["id"] for row in query(root, "SELECT id FROM approvals WHERE state = 'open'")]


def fail_at(work: Work, disk: FailingDisk, quiet: dict[str, bytes], outcomes: list[str], point: str) -> None:
    """Run the work on a disk that fails, then on a sound one, and check both ends."""
    root = work.copy()
    directories = empty_directories(root)
    verdicts = run_on(work, root, disk)
    assert disk.failed, point
    if verdicts:
        check_answers(work, root, verdicts, point)
        check_files(work, root, verdicts, quiet, point)
    restart(root)
    states = job_states(root)
    assert not leftovers(root), point
    assert all(state == "done" for state, _ in states.values()), point
    final = [states.get(job_id(n), ("", verdict))[1] or verdict for n, verdict in enumerate(verdicts, start=1)]
    if not verdicts:
        final = [verdict for _, verdict in states.values() if verdict]
    if not final:
        assert len(approvals(root)) == 1, f"{point}: neither granted nor open"
        return
    check_answers(work, root, final, point)
    check_files(work, root, final, quiet, point)
    if {verdict.outcome for verdict in final} <= NOT_LANDED:
        assert empty_directories(root) == directories, point
    shutil.rmtree(root)
    outcomes += [verdict.outcome.value for verdict in final]


@pytest.mark.rule("WRITE-03", "WRITE-05", "WRITE-O5")
@pytest.mark.parametrize("kind", SWEPT)
def test_answer_agrees_with_the_disk(kind: Kind, place: Path) -> None:
    """Whichever call fails, in whichever way, the answer is true, and after a restart nothing is half done."""
    work = Work(kind, place)
    root, counting = work.copy(), CountingDisk()
    work.run(root, disk=counting)
    quiet = without_temporary(snapshot(root))
    outcomes: list[str] = []
    points = 0
    for at, name in enumerate(counting.names, start=1):
        for error in ERRORS:
            for forever in (False, True):
                point = f"call {at} ({name}) fails with {errno.errorcode[error]} {'for good' if forever else 'once'}"
                fail_at(work, FailingDisk(at=at, error=error, forever=forever), quiet, outcomes, point)
                points += 1
        if name in AMBIGUOUS:
            point = f"call {at} ({name}) happens and reports an error"
            fail_at(work, FailingDisk(at=at, error=errno.EIO, late=True), quiet, outcomes, point)
    assert points >= 6 * kind.floor
    assert "written" in outcomes or kind.name in {"duplicate", "priority refused"}
