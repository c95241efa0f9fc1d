"""Trouble of several kinds at once, and the small things that keep it from spreading.

Rules: WRITE-03 to WRITE-06, WRITE-O3; architecture.md section 7.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.core.verdicts import Outcome
from omnislash.store import disk as disk_module
from omnislash.store.disk import Disk
from omnislash.store.locks import Owner, WriterLock, is_locked
from omnislash.testing import CountingDisk, FailingDisk, FixedClock, InterruptingDisk, NoExchangeDisk
from omnislash.writer.client import WriterClient
from tests.crash.harness import (
    DAY,
    Kind,
    ToolCall,
    Work,
    all_text,
    job_states,
    leftovers,
    make_brain,
    query,
    restart,
    write_once_more,
)
from tests.crash.test_interleaving import FILES, SAVES, save

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.core.verdicts import Verdict

OWNER = Owner(pid=1, role="call", since="now")
WRITE = Kind("write", (ToolCall("memory_write", {"content": "The choir came."}),), 9, FILES)


def person_beside(root: Path, how: str, number: int, inner: Disk) -> Disk:
    """Return a disk beside whose n-th call a person saves twice, just before it and just after it."""

    def first() -> None:
        save(root, DAY, how, FILES[DAY], "First.")

    def second() -> None:
        save(root, DAY, how, None, "Second.")

    return InterruptingDisk({number: first}, inner=InterruptingDisk({number: second}, when="after", inner=inner))


@pytest.mark.rule("WRITE-O5")
@pytest.mark.parametrize("forever", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("how", sorted(SAVES))
def test_person_saves_twice_on_a_failing_disk(how: str, forever: bool, place: Path) -> None:
    """A save just before the exchange and one just after it are both kept, even when the disk fails from then on."""
    work = Work(WRITE, place)
    counting = CountingDisk()
    work.run(work.copy(), disk=counting)
    exchange = counting.names.index("exchange") + 1
    for at in range(exchange + 1, exchange + 14):
        for error in (errno.ENOSPC, errno.EIO):
            root = work.copy()
            failing = FailingDisk(at=at, error=error, forever=forever)
            disk = person_beside(root, how, exchange, failing)
            (verdict,) = work.run(root, disk=disk)
            point = f"call {at} fails: {verdict}"
            if verdict.outcome in {Outcome.FAILED, Outcome.REFUSED}:
                assert job_states(root)["00000000000000000001"][0] == "done", point
            restart(root)
            write_once_more(root)
            restart(root)
            final = job_states(root)["00000000000000000001"][1]
            text = all_text(root)
            assert final, point
            assert "First." in text, point
            assert "Second." in text, point
            assert final.outcome is not Outcome.WRITTEN or "The choir came." in text, point
            assert not leftovers(root), point
            shutil.rmtree(root)


@pytest.mark.rule("WRITE-03", "WRITE-05", "WRITE-06")
def test_full_disk_under_a_worker_answers_everybody(place: Path) -> None:
    """When the queue's disk fills up under a worker, every caller hears soon that nothing was written."""
    root = make_brain(place / "brain", FILES)
    disk = FailingDisk(at=10**9, error=errno.ENOSPC)
    with Brain.open(root, disk=disk, clock=FixedClock()) as brain:
        worker = brain.start_worker()
        agent = brain.agent("nova")

        def write(number: int) -> Verdict:
            return agent.memory.write(f"Entry {number}.")

        assert write(0).outcome is Outcome.WRITTEN
        disk._at, disk._forever = len(disk.calls) + 1, True
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(write, range(1, 9), timeout=30))
        assert {answer.outcome for answer in answers} == {Outcome.FAILED}
        assert all("Nothing was written" in answer.message for answer in answers)
        disk.mend()
        assert write(9).outcome is Outcome.WRITTEN
        worker.stop()
    text = all_text(root)
    assert [number for number in range(10) if f"Entry {number}." in text] == [0, 9]


@pytest.mark.rule("WRITE-05")
def test_worker_in_trouble_answers_those_who_wait(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When recovery fails, new callers hear that nothing was written, and those whose job is queued UNCONFIRMED."""
    root = make_brain(place / "brain", FILES)
    with Brain.open(root, queue_only=True) as brain:
        queued = brain.agent("nova").memory.write("This one is queued.")
    with Brain.open(root) as brain:
        worker = brain.start_worker()
        try:
            for _ in range(200):
                if job_states(root)[str(queued.job)][0] == "done":
                    break
                threading.Event().wait(0.02)

            def fail(*_arguments: object) -> None:
                raise OSError(errno.EIO, "the disk reported an I/O error")

            monkeypatch.setattr(type(worker._writer), "drain", fail)
            answer = brain.agent("nova").memory.write("Another one.")
            assert answer.outcome is Outcome.FAILED
            with Brain.open(root, queue_only=True) as aside:
                client = WriterClient(root / ".omnislash", state=aside._open_state, writer=None, clock=FixedClock())
                pending = aside.agent("nova").call("memory_write", {"content": "Queued as well."}, job_id="f" * 20)
                client.close()
            assert pending.to_json()["outcome"] in {"failed", "unconfirmed"}
        finally:
            monkeypatch.undo()
            worker.stop()
    assert "Another one." not in all_text(root)


@pytest.mark.rule("WRITE-01")
def test_full_disk_leaves_no_lock_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock whose label can't be written is held all the same, and let go again."""
    path = place / "writer.lock"
    real = os.pwrite

    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    lock = WriterLock(path)
    assert lock.acquire(OWNER)
    assert is_locked(path)
    lock.release()
    monkeypatch.setattr(os, "pwrite", real)
    assert not is_locked(path)


@pytest.mark.rule("WRITE-01")
def test_worker_waits_for_a_momentary_holder(place: Path) -> None:
    """A call that runs the queue at that moment, or looks at the lock, does not keep a worker from starting."""
    root = make_brain(place / "brain", FILES)
    (root / ".omnislash").mkdir()
    lock = WriterLock(root / ".omnislash" / "writer.lock")
    assert lock.acquire(OWNER)
    threading.Timer(0.4, lock.release).start()
    with Brain.open(root) as brain:
        worker = brain.start_worker()
        assert brain.agent("nova").memory.write("The choir came.").outcome is Outcome.WRITTEN
        worker.stop()


@pytest.mark.rule("WRITE-O5")
@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without"])
def test_plain_file_system_is_enough(links: bool, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without exchange, without flagged renames and without hard links every kind of write still works."""
    real = os.link

    def link(source: Path, target: Path) -> None:
        if not links:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(target))
        real(source, target)

    monkeypatch.setattr(disk_module, "_special_rename", lambda *_names, **_flags: False)
    monkeypatch.setattr(os, "link", link)
    root = make_brain(place / "brain", FILES)
    with Brain.open(root, disk=NoExchangeDisk(links=links), clock=FixedClock()) as brain:
        memory = brain.agent("nova").memory
        outcomes = [
            memory.write("The choir came.", priority=True).outcome,
            memory.write_file("main/soup.md", "# Soup\n").outcome,
            memory.move("main/soup.md", "main/stew.md").outcome,
            memory.move("main/stew.md", DAY).outcome,
            memory.delete("main/stew.md").outcome,
        ]
    assert outcomes == [Outcome.WRITTEN, Outcome.WRITTEN, Outcome.WRITTEN, Outcome.REFUSED, Outcome.WRITTEN]
    assert not leftovers(root)
    with pytest.raises(FileExistsError):
        Disk().rename_new(root / "omnislash.yaml", root / "memory" / DAY)


@pytest.mark.rule("WRITE-O5")
def test_temporary_file_that_stays_is_removed_later(place: Path) -> None:
    """A temporary file that can't be removed now goes with a later write or the next start, and is never forgotten."""
    work = Work(WRITE, place)
    root = work.copy()
    disk = FailingDisk(at=10**9, error=errno.EACCES)
    disk.unlink = refuse_unlink  # type: ignore[method-assign]
    work.run(root, disk=disk)
    assert leftovers(root)
    assert len(query(root, "SELECT * FROM changes")) == 1
    write_once_more(root)
    assert not leftovers(root)


def refuse_unlink(path: Path) -> None:
    """Fail as a directory does that this user may not change any more."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


@pytest.mark.rule("WRITE-05")
def test_read_only_file_is_refused_and_left_alone(place: Path) -> None:
    """A file that is marked read-only is neither changed nor removed, and the answer names it."""
    root = make_brain(place / "brain", FILES)
    target = root / "memory" / DAY
    target.chmod(0o444)
    before = target.read_bytes()
    with Brain.open(root, clock=FixedClock()) as brain:
        answers = [brain.agent("nova").memory.write("The choir came."), brain.agent("nova").memory.delete(DAY)]
    assert {answer.outcome for answer in answers} == {Outcome.FAILED}
    assert all(DAY in answer.message and "permission" in answer.message for answer in answers)
    assert target.read_bytes() == before
    assert not leftovers(root)
