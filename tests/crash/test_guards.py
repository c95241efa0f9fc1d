"""Each guard of the writer is needed: with it taken out the harness reports a loss, with it in place it reports nothing.

Rules: WRITE-01, WRITE-05, WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.verdicts import Verdict
from omnislash.store.files import MemoryFiles
from omnislash.store.locks import Owner, WriterLock
from omnislash.testing import CountingDisk, InterruptingDisk, NoExchangeDisk, PowerLossDisk, StoppingDisk
from omnislash.writer.applying import Applier
from omnislash.writer.tidying import Leftovers
from tests.crash.harness import (
    DAY,
    MEMORY,
    Kind,
    ToolCall,
    Work,
    all_text,
    job_states,
    leftovers,
    query,
    restart,
    run_in_child,
)
from tests.crash.test_interleaving import FILES, MARK, save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOLD = "The choir came."
WRITE = Kind("write", (ToolCall("memory_write", {"content": TOLD}),), 9, FILES)
PRIORITY = Kind("priority", (ToolCall("memory_write", {"content": TOLD, "priority": True}),), 9, FILES)
#: An edit that could be made twice: a job that runs again without being recognised shows.
EDIT = Kind(
    "edit",
    (ToolCall("memory_edit", {"path": "main/notes.md", "old": "green", "new": "green grass"}),),
    9,
    {**FILES, "main/notes.md": "The new key is green.\n"},
)


def number_of(work: Work, name: str, *, nth: int = 1) -> int:
    """Return the number of the n-th call with a name in the quiet run."""
    counting = CountingDisk()
    work.run(work.copy(), disk=counting)
    return [call.number for call in counting.calls if call.name == name][nth - 1]


def judge(root: Path, *, mark: str = "") -> str:
    """Return what became of the write and of a person's save: `lost`, `double`, `a temporary file is left` or `ok`."""
    text = all_text(root)
    if "grass grass" in text or text.count(TOLD) > 2:
        return "double"
    if mark not in text or ("grass" not in text and TOLD not in text):
        return "lost"
    return "a temporary file is left" if leftovers(root) else "ok"


# -- each experiment returns what the harness reports -------------------------------------------------------------------


def cut_power_after_the_answer(place: Path) -> str:
    """Write, hear the verdict, cut the power, look."""
    work = Work(WRITE, place)
    root = work.copy()
    disk = PowerLossDisk(root / "memory")
    work.run(root, disk=disk)
    disk.cut_power()
    restart(root)
    return judge(root)


def crash_after_the_exchange(place: Path) -> str:
    """Edit, die between exchange and verdict, start again, look."""
    work = Work(EDIT, place)
    root, at = work.copy(), number_of(work, "exchange")
    run_in_child(lambda: work.run(root, disk=StoppingDisk(at=at, when="after")))
    restart(root)
    return judge(root)


def let_a_second_writer_in(place: Path) -> str:
    """Let a second process drain the queue while the first is about to exchange."""
    work = Work(EDIT, place)
    root, at = work.copy(), number_of(work, "exchange")

    def second() -> None:
        lock = WriterLock(root / ".omnislash" / "writer.lock")
        if lock.acquire(Owner(pid=1, role="call", since="now")):
            restart(root)
            lock.release()

    def run() -> None:
        work.run(root, disk=InterruptingDisk({at - 1: second}))

    run()
    restart(root)
    return judge(root)


def save_before_the_exchange(place: Path) -> str:
    """Let a person save between the last look and the exchange."""
    work = Work(WRITE, place)
    root, at = work.copy(), number_of(work, "exchange")

    def person() -> None:
        save(root, DAY, "by rename", None, MARK)

    work.run(root, disk=InterruptingDisk({at: person}))
    restart(root)
    return judge(root, mark=MARK)


def save_before_the_look(place: Path) -> str:
    """Let a person save while the new file is being written, on a disk that can't exchange."""
    work = Work(WRITE, place)
    root, at = work.copy(), number_of(work, "sync")

    def person() -> None:
        save(root, DAY, "by rename", None, MARK)

    work.run(root, disk=InterruptingDisk({at: person}, inner=NoExchangeDisk()))
    restart(root)
    return judge(root, mark=MARK)


def die_after_the_answer(place: Path) -> str:
    """Die right after a caller heard the verdict; it has to be durable by then."""
    work = Work(WRITE, place)
    for at in range(1, 20):
        root = work.copy()
        heard = root.parent / f"{root.name}.heard"

        def answered(_job: str, verdict: Verdict, heard: Path = heard) -> None:
            heard.write_text(json.dumps(verdict.to_json()), encoding="utf-8")

        def run(root: Path = root, at: int = at, answered: Callable[[str, Verdict], None] = answered) -> None:
            work.run(root, disk=StoppingDisk(at=at, when="before"), answered=answered)

        run_in_child(run)
        states = job_states(root)
        if heard.exists() and any(state != "done" for state, _ in states.values()):
            return "lost"
    return "ok"


# -- each guard, and how it is taken out ----------------------------------------------------------------------------------


def no_file_sync(patch: pytest.MonkeyPatch) -> None:
    """Skip the sync of the new file's bytes."""
    patch.setattr(PowerLossDisk, "sync", lambda _self, _descriptor: None)


def no_directory_sync(patch: pytest.MonkeyPatch) -> None:
    """Skip the sync of the directory."""
    patch.setattr(PowerLossDisk, "sync_directory", lambda _self, _path: None)


def no_intent(patch: pytest.MonkeyPatch) -> None:
    """Skip the record of what a batch is about to do."""
    patch.setattr(Applier, "_record_intent", lambda _self, _batch: None)


def no_lock(patch: pytest.MonkeyPatch) -> None:
    """Let everybody have the lock."""
    patch.setattr(WriterLock, "acquire", lambda _self, _owner: True)


def no_look_after(patch: pytest.MonkeyPatch) -> None:
    """Take for granted that the planned bytes came out of the exchange."""
    patch.setattr(MemoryFiles, "displaced", lambda _self, change: (change.before, False))
    patch.setattr(Leftovers, "_clear_change", lambda leftovers, change: leftovers._files.discard(change))


def no_look_before(patch: pytest.MonkeyPatch) -> None:
    """Take for granted that the file is still as it was planned against."""
    patch.setattr(MemoryFiles, "read_target", lambda _self, change: change.before)


def no_verdict(patch: pytest.MonkeyPatch) -> None:
    """Answer before the verdict is durable."""

    def settle(self: Any, job: Any, deadline: float, trouble: Any) -> Verdict:
        del deadline, trouble
        self._insert(self._state(), job)
        return Verdict.from_json({"outcome": "written", "paths": [DAY], "message": "Written.", "job": job.id})

    patch.setattr("omnislash.writer.client.WriterClient._settle", settle)


GUARDS: dict[str, tuple[Callable[[Path], str], Callable[[pytest.MonkeyPatch], None], set[str]]] = {
    "fsync of the file": (cut_power_after_the_answer, no_file_sync, {"lost"}),
    "fsync of the directory": (cut_power_after_the_answer, no_directory_sync, {"lost"}),
    "intent": (crash_after_the_exchange, no_intent, {"double"}),
    "lock": (let_a_second_writer_in, no_lock, {"double"}),
    "look after the exchange": (save_before_the_exchange, no_look_after, {"lost"}),
    "look before the replacement": (save_before_the_look, no_look_before, {"lost"}),
    "verdict before the answer": (die_after_the_answer, no_verdict, {"lost"}),
}


@pytest.mark.rule("WRITE-01", "WRITE-05", "WRITE-O5")
@pytest.mark.parametrize("guard", sorted(GUARDS))
def test_guard_is_needed(guard: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness reports a loss or a double when the guard is out, and nothing when it is in place."""
    experiment, take_out, expected = GUARDS[guard]
    assert experiment(place / "with") == "ok"
    take_out(monkeypatch)
    assert experiment(place / "without") in expected


@pytest.mark.rule("WRITE-O5")
def test_look_before_spares_an_exchange(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that is seen before the exchange is never taken out from under its name, not even for a moment."""

    def exchanges(directory: Path) -> int:
        work = Work(WRITE, directory)
        root, at = work.copy(), number_of(work, "sync")
        disk = InterruptingDisk({at: lambda: save(root, DAY, "by rename", None, MARK)})
        work.run(root, disk=disk)
        assert judge(root, mark=MARK) == "ok"
        return [call.name for call in disk.calls].count("exchange")

    assert exchanges(place / "with") == 1
    monkeypatch.setattr(MemoryFiles, "read_target", lambda _self, change: change.before)
    assert exchanges(place / "without") == 3


@pytest.mark.rule("WRITE-O5")
def test_intent_rows_do_not_pile_up(place: Path) -> None:
    """However many processes write one after another, only the last batch of a directory leaves its rows."""
    work = Work(PRIORITY, place)
    root = work.copy()
    for _ in range(5):
        work.run(root)
        with contextlib.suppress(FileNotFoundError):
            (root / "memory" / MEMORY).unlink()
        restart(root)
    assert len(query(root, "SELECT * FROM changes")) <= 2
