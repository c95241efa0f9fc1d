"""The one writer's lock: held by the operating system, so it dies with its process.

The file is never removed and its text is only a label: who holds the lock, and where its socket listens.
Whether it is held is asked of the operating system, never read from the text.

Rules: WRITE-01; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import weakref
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

#: Name of the writer's lock file in a brain's state directory.
WRITER_LOCK = "writer.lock"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds the writer's lock."""

    #: Process id.
    pid: int
    #: What the process is: `worker`, or `call` for a process that drains the queue for a moment.
    role: str
    #: ISO instant at which it took the lock.
    since: str
    #: Path of its Unix socket; None when it does not listen.
    address: str | None = None
    #: Version of the protocol it speaks on that socket.
    protocol: int = 0

    @property
    def since_shown(self) -> str:
        """When it took the lock, to the minute, as a person reads it."""
        try:
            return datetime.fromisoformat(self.since).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        except ValueError:
            return self.since


def _try_lock(descriptor: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover - Windows
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


#: Locks that are held in this process; a forked child must let go of its copies at once, or the lock would outlive
#: the process that owns it.
_HELD: weakref.WeakSet[WriterLock] = weakref.WeakSet()


class WriterLock:
    """The lock of one brain's writer."""

    def __init__(self, path: Path) -> None:
        """Name the lock file; nothing is opened yet."""
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """True while this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, owner: Owner) -> bool:
        """Take the lock and write the owner's label; False when somebody else holds it."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(self._path, flags, 0o600)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        _HELD.add(self)
        with contextlib.suppress(OSError):  # the label only informs; a full disk must not leave a lock half taken
            self.label(owner)
        return True

    def label(self, owner: Owner) -> None:
        """Write who holds the lock; only for its holder."""
        if self._descriptor is None:
            message = "the lock is not held"
            raise RuntimeError(message)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(asdict(owner)).encode(), 0)

    def release(self) -> None:
        """Let go; nothing happens when it is not held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            self.abandon()

    def abandon(self) -> None:
        """Close the descriptor without touching the label."""
        if self._descriptor is not None:
            _HELD.discard(self)
            os.close(self._descriptor)
            self._descriptor = None


def _abandon_in_child() -> None:
    for lock in list(_HELD):
        lock.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_in_child)


def make_lock_directory(path: Path) -> None:
    """Make a directory for lock files or backups, for this user alone; nothing happens when it is there."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def is_locked(path: Path) -> bool:
    """Tell whether some process holds the lock right now."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return False
    try:
        return not _try_shared(descriptor)
    finally:
        os.close(descriptor)


def _try_shared(descriptor: int) -> bool:
    if fcntl is None:  # pragma: no cover - Windows
        return _try_lock(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def read_owner(path: Path) -> Owner | None:
    """Return the label of whoever took the lock last; None without one. It may be stale: ask :func:`is_locked`."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        return Owner(**data)
    except (OSError, ValueError, TypeError):
        return None
