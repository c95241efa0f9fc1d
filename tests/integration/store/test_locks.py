"""The writer's lock: held by one, asked of the system and not of the label, gone with its process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from omnislash.store.locks import Owner, WriterLock, is_locked, read_owner

if TYPE_CHECKING:
    from pathlib import Path

_HOLDER = """
import os, sys
from pathlib import Path
from omnislash.store.locks import Owner, WriterLock
lock = WriterLock(Path(sys.argv[1]))
assert lock.acquire(Owner(pid=os.getpid(), role="worker", since="now"))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a lock."""
    return tmp_path / "writer.lock"


def owner(role: str = "call") -> Owner:
    """Return this process as the owner of a lock."""
    return Owner(pid=os.getpid(), role=role, since="2026-08-30T09:05:00+00:00")


@pytest.mark.rule("WRITE-01")
def test_one_holder_at_a_time(path: Path) -> None:
    """A held lock can't be taken, from this process either; released, it can."""
    first, second = WriterLock(path), WriterLock(path)

    assert first.acquire(owner())
    assert not second.acquire(owner("worker"))
    assert (first.held, second.held) == (True, False)
    assert read_owner(path) == owner()
    first.release()
    assert second.acquire(owner("worker"))
    second.release()


@pytest.mark.rule("WRITE-01")
def test_lock_dies_with_its_process(path: Path) -> None:
    """A killed holder holds nothing, whatever its label says."""
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    mine = WriterLock(path)
    assert not mine.acquire(owner())
    assert is_locked(path)

    holder.kill()
    holder.wait()
    holder.stdout.close()
    holder.stdin.close()

    label = read_owner(path)
    assert label is not None
    assert label.pid == holder.pid
    assert not is_locked(path)
    assert mine.acquire(owner())
    mine.release()


def test_asking_takes_nothing(path: Path) -> None:
    """Asking whether a lock is held neither takes nor frees it, and makes no file."""
    assert not is_locked(path)
    assert not path.exists()
    lock = WriterLock(path)
    lock.acquire(owner())

    assert [is_locked(path) for _ in range(3)] == [True] * 3
    lock.release()
    assert not is_locked(path)
    assert lock.acquire(owner())
    lock.release()


def test_released_lock_has_no_label(path: Path) -> None:
    """After a release nobody is named, the file stays, and releasing again does nothing."""
    lock = WriterLock(path)
    lock.acquire(owner())
    lock.release()
    lock.release()

    assert read_owner(path) is None
    assert path.exists()


def test_label_can_be_renewed_by_the_holder_only(path: Path) -> None:
    """A shorter label leaves nothing of a longer one; without the lock there is no label."""
    lock = WriterLock(path)
    lock.acquire(Owner(pid=1, role="worker", since="x" * 200))
    lock.label(owner())
    assert read_owner(path) == owner()
    lock.release()

    with pytest.raises(RuntimeError):
        lock.label(owner())


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"5", b"\xff", b'{"pid": 1}', b'{"pid": 1, "who": 2}'])
def test_nonsense_is_no_label(path: Path, text: bytes) -> None:
    """A label that makes no sense names nobody."""
    path.write_bytes(text)

    assert read_owner(path) is None


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_child_does_not_keep_the_lock(path: Path) -> None:
    """A child that was forked while the lock was held does not hold it on after its parent let go."""
    lock = WriterLock(path)
    lock.acquire(owner())
    reading, writing = os.pipe()
    started, starting = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.write(starting, b"x")
        os.read(reading, 1)
        os._exit(0)
    os.close(reading)
    os.read(started, 1)

    assert is_locked(path)
    lock.release()
    free = not is_locked(path)

    os.close(writing)
    os.waitpid(child, 0)
    assert free
