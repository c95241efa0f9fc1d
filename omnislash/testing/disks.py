"""Twins of the disk that see every call that changes it.

Each wraps another disk, the real one by default, so that they can be combined.
A call has a number, counted from 1, and the numbers are the same in each run of the same work: that is what makes a
sweep over all of them possible.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

from omnislash.store.disk import Disk, ExchangeUnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

T = TypeVar("T")

#: The exit code of a process that :class:`StoppingDisk` ended: that of a SIGKILL in a shell.
STOPPED = 137
#: What SQLite says when a commit meets such an error of the operating system.
_COMMIT_MESSAGES = {
    errno.ENOSPC: "database or disk is full",
    errno.EDQUOT: "database or disk is full",
    errno.EIO: "disk I/O error",
    errno.EACCES: "attempt to write a readonly database",
    errno.EROFS: "attempt to write a readonly database",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call that changes the disk."""

    #: Counted from 1.
    number: int
    #: Name of the method of `Disk`.
    name: str
    #: The file's name, or empty where a call has none.
    subject: str = ""


class WrappedDisk(Disk):
    """A disk that passes every call on and lets a subclass act before and after it."""

    def __init__(self, inner: Disk | None = None) -> None:
        """Wrap a disk; the real one by default."""
        self.inner = inner or Disk()
        #: Every call so far, in order.
        self.calls: list[Call] = []

    def before(self, call: Call) -> None:
        """Act before a call."""

    def after(self, call: Call) -> None:
        """Act after a call that succeeded."""

    def _pass(self, name: str, subject: str, action: Callable[[], T]) -> T:
        call = Call(len(self.calls) + 1, name, subject)
        self.calls.append(call)
        self.before(call)
        result = action()
        self.after(call)
        return result

    def create_temp(self, path: Path, *, mode: int) -> int:
        """As `Disk.create_temp`."""
        return self._pass("create_temp", path.name, lambda: self.inner.create_temp(path, mode=mode))

    def write(self, descriptor: int, data: bytes) -> None:
        """As `Disk.write`."""
        self._pass("write", "", lambda: self.inner.write(descriptor, data))

    def sync(self, descriptor: int) -> None:
        """As `Disk.sync`."""
        self._pass("sync", "", lambda: self.inner.sync(descriptor))

    def exchange(self, temp: Path, target: Path) -> None:
        """As `Disk.exchange`."""
        self._pass("exchange", target.name, lambda: self.inner.exchange(temp, target))

    def replace(self, temp: Path, target: Path) -> None:
        """As `Disk.replace`."""
        self._pass("replace", target.name, lambda: self.inner.replace(temp, target))

    def link(self, temp: Path, target: Path) -> None:
        """As `Disk.link`."""
        self._pass("link", target.name, lambda: self.inner.link(temp, target))

    def rename_new(self, source: Path, target: Path) -> None:
        """As `Disk.rename_new`."""
        self._pass("rename_new", target.name, lambda: self.inner.rename_new(source, target))

    def unlink(self, path: Path) -> None:
        """As `Disk.unlink`."""
        self._pass("unlink", path.name, lambda: self.inner.unlink(path))

    def make_directory(self, path: Path) -> None:
        """As `Disk.make_directory`."""
        self._pass("make_directory", path.name, lambda: self.inner.make_directory(path))

    def remove_directory(self, path: Path) -> None:
        """As `Disk.remove_directory`."""
        self._pass("remove_directory", path.name, lambda: self.inner.remove_directory(path))

    def sync_directory(self, path: Path) -> None:
        """As `Disk.sync_directory`."""
        self._pass("sync_directory", path.name, lambda: self.inner.sync_directory(path))

    def commit(self, connection: sqlite3.Connection) -> None:
        """As `Disk.commit`."""
        self._pass("commit", "", lambda: self.inner.commit(connection))


class CountingDisk(WrappedDisk):
    """A disk that counts and names the calls."""

    @property
    def names(self) -> list[str]:
        """The calls so far, by name."""
        return [call.name for call in self.calls]


class StoppingDisk(WrappedDisk):
    """A disk at whose k-th call the process ends, as at a SIGKILL: nothing is cleaned up.

    `during` ends a write half way through; any other call has no middle, and ends as `before`.
    """

    def __init__(self, *, at: int, when: Literal["before", "during", "after"], inner: Disk | None = None) -> None:
        """Choose the call, counted from 1, and the side of it."""
        super().__init__(inner)
        self._at = at
        self._when = when

    def stop(self) -> NoReturn:
        """End the process."""
        os._exit(STOPPED)

    def before(self, call: Call) -> None:
        """End here, when that was asked."""
        if call.number == self._at and (self._when == "before" or (self._when == "during" and call.name != "write")):
            self.stop()

    def after(self, call: Call) -> None:
        """End here, when that was asked."""
        if call.number == self._at:
            self.stop()

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of it, or half of it and end."""
        half = self._when == "during" and len(self.calls) + 1 == self._at
        super().write(descriptor, data[: len(data) // 2] if half else data)


class FailingDisk(WrappedDisk):
    """A disk whose k-th call fails, once or with every later one as well.

    A commit fails with the words of SQLite; a write fails after it has written a part.
    """

    def __init__(
        self, *, at: int, error: int, forever: bool = False, late: bool = False, inner: Disk | None = None
    ) -> None:
        """Choose the call, counted from 1, and the error number.

        Args:
            at: The first call that fails.
            error: Its error number.
            forever: True lets every later call fail as well.
            late: True lets a call take effect before it reports the error.
            inner: The disk to wrap.
        """
        super().__init__(inner)
        self._late = late
        self._at = at
        self._error = error
        self._forever = forever
        #: Calls that failed.
        self.failed: list[Call] = []

    def mend(self) -> None:
        """Let no further call fail."""
        self._at, self._forever = 0, False

    def _fails(self, number: int) -> bool:
        return number == self._at or (self._forever and number > self._at)

    def before(self, call: Call) -> None:
        """Fail, when it is this call's turn.

        Raises:
            OSError: The chosen error.
            sqlite3.OperationalError: The same of a commit.
        """
        if not self._late:
            self._fail(call)

    def after(self, call: Call) -> None:
        """As :meth:`before`, for a late failure."""
        if self._late:
            self._fail(call)

    def _fail(self, call: Call) -> None:
        if not self._fails(call.number):
            return
        self.failed.append(call)
        if call.name == "commit":
            raise sqlite3.OperationalError(_COMMIT_MESSAGES.get(self._error, "disk I/O error"))
        raise OSError(self._error, os.strerror(self._error), call.subject)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of it, or a part of it and fail."""
        if self._fails(len(self.calls) + 1) and not self._late:
            self.inner.write(descriptor, data[: len(data) // 2])
        super().write(descriptor, data)


class InterruptingDisk(WrappedDisk):
    """A disk beside whose k-th call something else happens, such as a person's save."""

    def __init__(
        self,
        actions: Mapping[int, Callable[[], object]],
        *,
        when: Literal["before", "after"] = "before",
        inner: Disk | None = None,
    ) -> None:
        """Map the numbers of calls, counted from 1, to what happens beside them."""
        super().__init__(inner)
        self._actions = dict(actions)
        self._when = when

    def before(self, call: Call) -> None:
        """Run what was planned for before this call."""
        if self._when == "before":
            self._run(call)

    def after(self, call: Call) -> None:
        """Run what was planned for after this call."""
        if self._when == "after":
            self._run(call)

    def _run(self, call: Call) -> None:
        action = self._actions.pop(call.number, None)
        if action is not None:
            action()


class NoExchangeDisk(WrappedDisk):
    """A disk whose file system has no atomic exchange and, with `links=False`, no hard links either."""

    def __init__(self, *, links: bool = True, inner: Disk | None = None) -> None:
        """Choose what the file system has."""
        super().__init__(inner)
        self._links = links

    def exchange(self, temp: Path, target: Path) -> None:
        """Say that there is no such thing here."""
        del temp
        raise ExchangeUnsupportedError(errno.ENOSYS, "no atomic exchange here", str(target))

    def link(self, temp: Path, target: Path) -> None:
        """As `Disk.link`; PermissionError where there are none.

        Raises:
            PermissionError: This file system has no hard links.
        """
        if not self._links:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(target))
        super().link(temp, target)
