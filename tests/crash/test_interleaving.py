"""A person saves beside each call that changes the disk: what either side saved stands in the file or in a copy.

Rules: architecture.md section 4 ("a person may save the same file in the same instant"); WRITE-O5.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnislash.core.verdicts import Outcome
from omnislash.testing import CountingDisk, InterruptingDisk
from tests.crash.harness import (
    DAY,
    MEMORY,
    Kind,
    ToolCall,
    Work,
    all_text,
    leftovers,
    restart,
    text_of,
    write_once_more,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.core.verdicts import Verdict

LOG = "# 2026-11-30\n\n- 08:00 The heating was repaired.\n"
NOTES = "# Notes\n\nThe workshop opens at nine.\n\n## Memory (2026-11-29)\n\n- The old key is blue.\n"
FILES = {DAY: LOG, MEMORY: NOTES}
#: What a person adds; it stands at the end, so that a save with it is told from one without it.
MARK = "A person was here."

#: A sweep of many seconds; its kinds of work are swept in the everyday run by the other files here.
pytestmark = pytest.mark.long


def save_by_rename(target: Path, text: str) -> None:
    """Save as most editors do: a new file takes the name."""
    aside = target.with_name(f".{target.name}.swp")
    aside.write_text(text, encoding="utf-8")
    aside.replace(target)


def save_in_place(target: Path, text: str) -> None:
    """Save as simple editors do: empty the file, then fill it."""
    with target.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        os.fsync(file.fileno())
        file.write(text[len(text) // 2 :])


SAVES: dict[str, Callable[[Path, str], None]] = {"by rename": save_by_rename, "in place": save_in_place}
CALLS = {
    "write": (DAY, (ToolCall("memory_write", {"content": "The choir came."}),)),
    "priority, in MEMORY.md": (MEMORY, (ToolCall("memory_write", {"content": "The choir came.", "priority": True}),)),
    "priority, in the log": (DAY, (ToolCall("memory_write", {"content": "The choir came.", "priority": True}),)),
    "edit": (MEMORY, (ToolCall("memory_edit", {"path": MEMORY, "old": "at nine", "new": "at ten"}),)),
    "two writes": (
        MEMORY,
        (
            ToolCall("memory_write", {"content": "The choir came.", "priority": True}),
            ToolCall("memory_write", {"content": "The choir sang.", "priority": True}),
        ),
    ),
    "new file": (
        "main/soup.md",
        (
            ToolCall(
                "memory_write_file", {"path": "main/soup.md", "content": "# Soup of the day\n", "expectHash": "absent"}
            ),
        ),
    ),
    "delete": (DAY, (ToolCall("memory_delete", {"path": DAY, "entry": "The heating was repaired."}),)),
    "move, save at the target": ("main/old.md", (ToolCall("memory_move", {"from": DAY, "to": "main/old.md"}),)),
    "move": (DAY, (ToolCall("memory_move", {"from": DAY, "to": "main/old.md"}),)),
}


def save(root: Path, path: str, how: str, text: str | None, mark: str) -> None:
    """Save what the person read, or what stands there now, with the mark at its end."""
    target = root / "memory" / path
    if text is None:
        text = target.read_text(encoding="utf-8") if target.exists() else ""
    target.parent.mkdir(parents=True, exist_ok=True)
    SAVES[how](target, f"{text}\n{mark}\n")


def check_nothing_lost(work: Work, root: Path, verdicts: list[Verdict], marks: list[str], point: str) -> None:
    """Check that every mark and every confirmed text is there, once in its file or in a conflict copy."""
    restart(root)
    write_once_more(root)
    text = all_text(root)
    if work.kind.name.startswith("move"):
        marks = [*marks, "The heating was repaired."]
    for mark in marks:
        assert mark in text, f"{point}: a person's save has vanished"
    for call, verdict in zip(work.kind.calls, verdicts, strict=True):
        for path in verdict.paths if verdict.outcome in {Outcome.WRITTEN, Outcome.PARTIAL} and call.told else ():
            assert call.told in text_of(root, path), f"{point}: a confirmed text has vanished from {path}"
    assert not leftovers(root), point


@pytest.mark.rule("WRITE-O5", "WRITE-01")
@pytest.mark.parametrize("stale", [False, True], ids=["reads first", "has read long ago"])
@pytest.mark.parametrize("how", sorted(SAVES))
@pytest.mark.parametrize("calls", sorted(CALLS))
def test_person_saves_at_every_call(calls: str, how: str, stale: bool, place: Path) -> None:
    """A save beside any call, before or after it, is never lost, and neither is what the engine confirmed."""
    path, tool_calls = CALLS[calls]
    work = Work(Kind(calls, tool_calls, 5, FILES), place)
    counting = CountingDisk()
    work.run(work.copy(), disk=counting)
    for at in range(1, len(counting.calls) + 1):
        for when in ("before", "after"):
            root = work.copy()
            read = FILES.get(path, "") if stale else None

            def person(root: Path = root, read: str | None = read) -> None:
                save(root, path, how, read, MARK)

            verdicts = work.run(root, disk=InterruptingDisk({at: person}, when=when))
            point = f"{when} call {at} ({counting.names[at - 1]})"
            check_nothing_lost(work, root, verdicts, [MARK], point)
            shutil.rmtree(root)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    saves=st.dictionaries(
        st.integers(1, 45),
        st.tuples(st.sampled_from([DAY, MEMORY]), st.sampled_from(sorted(SAVES)), st.booleans()),
        min_size=1,
        max_size=4,
    ),
    when=st.sampled_from(["before", "after"]),
)
def test_any_interleaving_loses_nothing(place: Path, saves: dict[int, tuple[str, str, bool]], when: str) -> None:
    """Several saves anywhere among several jobs: the last save of a file and all confirmed texts are kept."""
    jobs = tuple(
        ToolCall("memory_write", {"content": f"The choir came, part {number}.", "priority": bool(number % 2)})
        for number in range(3)
    )
    work = Work(Kind("three writes", jobs, 5, FILES), place / os.urandom(8).hex())
    root = work.copy()
    marks: dict[str, str] = {}

    def person(at: int, path: str, how: str, stale: bool) -> None:
        mark = f"A person was here at {at}."
        kept = f"\n{marks[path]}\n" if path in marks and stale else ""
        save(root, path, how, FILES[path] + kept if stale else None, mark)
        marks[path] = f"{marks[path]}\n{mark}" if path in marks else mark

    actions = {at: (lambda at=at, given=given: person(at, *given)) for at, given in saves.items()}
    disk = InterruptingDisk(actions, when="before" if when == "before" else "after")
    verdicts = work.run(root, disk=disk)
    lines = [line for text in marks.values() for line in text.split("\n")]
    check_nothing_lost(work, root, verdicts, lines, str(saves))
