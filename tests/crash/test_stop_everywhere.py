"""Stop the writer at every call that changes the disk, for every kind of work, and hold the end against the quiet run.

Rules: WRITE-01, WRITE-05, WRITE-11, WRITE-O3, WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Verdict
from omnislash.testing import CountingDisk, StoppingDisk
from omnislash.testing.disks import STOPPED
from tests.crash.harness import Kind, Work, job_states, leftovers, read_result, restart, run_in_child
from tests.crash.kinds import SWEPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Literal

    from tests.crash.harness import Result


def quiet_run(work: Work) -> tuple[Result, list[str]]:
    """Return the result of the undisturbed run and the names of its disk calls."""
    root, disk = work.copy(), CountingDisk()
    work.run(root, disk=disk)
    result = read_result(root)
    assert not leftovers(root)
    assert all(verdict.startswith("done") for verdict in result.verdicts)
    return result, disk.names


def bring_to_an_end(work: Work, root: Path, *, again_first: bool) -> None:
    """Do what follows a crash: the caller asks again, or a worker starts; in the end both have happened."""
    if again_first:
        work.submit_again(root)
        restart(root)
    else:
        restart(root)
        work.submit_again(root)


def answers_file(root: Path) -> Path:
    """Return where a child notes what its callers heard."""
    return root.parent / f"{root.name}.answers"


def note_answers(root: Path) -> Callable[[str, Verdict], None]:
    """Return a function that notes an answer, durable against the end of the process."""
    file = answers_file(root)
    file.touch()

    def note(job: str, verdict: Verdict) -> None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"job": job, "verdict": verdict.to_json()}) + "\n")

    return note


def check_answers(root: Path) -> None:
    """Check that every verdict that a caller heard was durable when the process ended."""
    states = job_states(root)
    for line in answers_file(root).read_text(encoding="utf-8").splitlines():
        heard = json.loads(line)
        verdict = Verdict.from_json(heard["verdict"])
        assert states[heard["job"]] == ("done", verdict), "a caller heard a verdict that was not durable"


def stop_at(work: Work, at: int, when: Literal["before", "during", "after"]) -> Path:
    """Run the work in a process that ends at one call; return the brain that it leaves."""
    root = work.copy()
    note = note_answers(root)
    code = run_in_child(lambda: work.run(root, disk=StoppingDisk(at=at, when=when), answered=note))
    assert code == STOPPED
    check_answers(root)
    return root


@pytest.mark.rule("WRITE-01", "WRITE-05", "WRITE-O3", "WRITE-O5", "WRITE-11", "WRITE-O8")
@pytest.mark.parametrize("kind", SWEPT)
def test_ends_as_the_quiet_run(kind: Kind, place: Path) -> None:
    """Whatever call the process dies at, files, verdicts, audit and events end as if it had not died."""
    work = Work(kind, place)
    quiet, names = quiet_run(work)
    assert len(names) >= kind.floor
    stops = 0
    for at, name in enumerate(names, start=1):
        for when in ("before", "during", "after") if name == "write" else ("before", "after"):
            stopped = stop_at(work, at, when)
            for again_first, root in (
                (True, shutil.copytree(stopped, stopped.with_name(f"{stopped.name}-b"))),
                (False, stopped),
            ):
                bring_to_an_end(work, root, again_first=again_first)
                point = f"{when} call {at} ({name}), {'asked again' if again_first else 'worker started'} first"
                assert read_result(root) == quiet, point
                assert not leftovers(root), point
                shutil.rmtree(root)
            stops += 1
    assert stops >= 2 * kind.floor
