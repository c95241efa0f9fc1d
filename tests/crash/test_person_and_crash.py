"""A person saves, and the writer dies a moment later: recovery keeps what either side saved.

Each row of the table in `writer/recovery.py` comes up here.

Rules: WRITE-05, WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Outcome
from omnislash.testing import CountingDisk, InterruptingDisk, StoppingDisk
from tests.crash.harness import (
    Kind,
    ToolCall,
    Work,
    all_text,
    job_id,
    job_states,
    leftovers,
    restart,
    run_in_child,
    text_of,
    write_once_more,
)
from tests.crash.test_interleaving import CALLS, FILES, MARK, SAVES, save

if TYPE_CHECKING:
    from pathlib import Path

#: How many calls after the person's save the process dies.
LATER = 3

#: A sweep of many seconds; its kinds of work are swept in the everyday run by the other files here.
pytestmark = pytest.mark.long


def check_end(root: Path, calls: tuple[ToolCall, ...], point: str) -> None:
    """Restart, and check that the person's text and every text that the verdicts confirm are there."""
    restart(root)
    states = job_states(root)
    write_once_more(root)
    restart(root)
    assert MARK in all_text(root), f"{point}: a person's save has vanished"
    if calls[0].tool == "memory_move":
        assert "The heating was repaired." in all_text(root), f"{point}: what was moved has vanished"
    for number, call in enumerate(calls, start=1):
        state, verdict = states.get(job_id(number), ("missing", None))
        if state == "missing":
            continue
        assert verdict, f"{point}: not done"
        if verdict.outcome in {Outcome.WRITTEN, Outcome.PARTIAL} and call.told:
            for path in verdict.paths:
                assert call.told in text_of(root, path), f"{point}: a confirmed text has vanished from {path}"
    assert not leftovers(root), point


@pytest.mark.rule("WRITE-05", "WRITE-O5")
@pytest.mark.parametrize("stale", [False, True], ids=["reads first", "has read long ago"])
@pytest.mark.parametrize("how", sorted(SAVES))
@pytest.mark.parametrize(
    "calls",
    [
        *("edit", "new file"),
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("move", "move, save at the target", "priority, in MEMORY.md")
        ),
    ],
)
def test_save_then_crash(calls: str, how: str, stale: bool, place: Path) -> None:
    """A person saves before any call and the process dies within the next few, before it could look again."""
    path, tool_calls = CALLS[calls]
    work = Work(Kind(calls, tool_calls, 5, FILES), place)
    counting = CountingDisk()
    work.run(work.copy(), disk=counting)
    read = FILES.get(path, "") if stale else None
    for at in range(3, len(counting.calls) + 1):
        for later in range(LATER):
            root = work.copy()

            def run(root: Path = root, at: int = at, later: int = later) -> None:
                stopping = StoppingDisk(at=at + later, when="before")
                disk = InterruptingDisk({at: lambda: save(root, path, how, read, MARK)}, inner=stopping)
                work.run(root, disk=disk)

            run_in_child(run)
            check_end(
                root, tool_calls, f"save before call {at}, death before call {at + later}: {counting.names[at - 1]}"
            )
            shutil.rmtree(root)


@pytest.mark.rule("WRITE-05", "WRITE-O5")
@pytest.mark.parametrize("stale", [False, True], ids=["reads first", "has read long ago"])
@pytest.mark.parametrize(
    "calls",
    [pytest.param(each, marks=() if each in {"edit", "new file"} else pytest.mark.long) for each in sorted(CALLS)],
)
def test_crash_then_save(calls: str, stale: bool, place: Path) -> None:
    """The process dies at any call, and a person saves before anybody starts again."""
    path, tool_calls = CALLS[calls]
    work = Work(Kind(calls, tool_calls, 5, FILES), place)
    counting = CountingDisk()
    work.run(work.copy(), disk=counting)
    for at in range(1, len(counting.calls) + 1):
        for how in sorted(SAVES):
            root = work.copy()
            run_in_child(lambda: work.run(root, disk=StoppingDisk(at=at, when="after")))  # noqa: B023
            save(root, path, how, FILES.get(path, "") if stale else None, MARK)
            check_end(root, tool_calls, f"death after call {at} ({counting.names[at - 1]}), then a save {how}")
            shutil.rmtree(root)
