"""Every call of the program that changes the disk, behind one small port.

Nothing else in omnislash creates, writes, renames or removes a file of a brain, so a test that stops or fails the
n-th call of a `Disk` has stopped or failed the n-th change of the disk.
A replacement is: temporary file in the same directory, fsync, atomic exchange, fsync of the directory; there is no
path that writes in place.

Source: renameat2(2) for RENAME_EXCHANGE and RENAME_NOREPLACE; renamex_np(2) for RENAME_SWAP and RENAME_EXCL;
fcntl(2) F_FULLFSYNC, because fsync on macOS does not reach the platter; fcntl(2) F_SETLEASE for open writers.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import stat
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl, and fsync is enough there
    fcntl = None  # type: ignore[assignment]

_AT_FDCWD = -100
_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_DARWIN_SWAP, _DARWIN_EXCL = 2, 4
#: What the kernel or the file system answers when it can't do the operation at all.
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
#: What a file system without hard links, or out of them, answers.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
#: What a file system that can't sync a directory answers; there is nothing that could be done instead.
_NO_DIRECTORY_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class ExchangeUnsupportedError(OSError):
    """This file system can't exchange two names in one step."""


@functools.cache
def _libc_rename() -> Callable[[bytes, bytes, bool], int] | None:
    """Return `rename(a, b, exchange) -> 0 or -1` of the C library, or None where it has none."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            linux: Any = libc.renameat2
            linux.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
            flags = (_LINUX_NOREPLACE, _LINUX_EXCHANGE)
            return lambda a, b, exchange: int(linux(_AT_FDCWD, a, _AT_FDCWD, b, flags[exchange]))
        darwin: Any = libc.renamex_np
        darwin.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
    except (OSError, TypeError, AttributeError):  # no libc under that name, or an old one without the call
        return None
    return lambda a, b, exchange: int(darwin(a, b, _DARWIN_SWAP if exchange else _DARWIN_EXCL))


def _special_rename(source: Path, target: Path, *, exchange: bool) -> bool:
    """Rename with a flag; False when the platform can't, OSError when the disk says no."""
    rename = _libc_rename()
    if rename is None:
        return False
    if rename(os.fsencode(source), os.fsencode(target), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(target))


class Disk:
    """The real disk."""

    def create_temp(self, path: Path, *, mode: int) -> int:
        """Create a new empty file and return its descriptor; never follows or reuses an existing name."""
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, mode)
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:  # the umask took something away
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, mode)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all the bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def sync(self, descriptor: int) -> None:
        """Make the file's bytes survive a power cut."""
        if sys.platform == "darwin":  # pragma: no cover - macOS only
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
                return
        os.fsync(descriptor)

    def exchange(self, temp: Path, target: Path) -> None:
        """Swap two existing names in one step.

        Raises:
            ExchangeUnsupportedError: Where the platform or the file system can't; nothing has happened.
        """
        if not _special_rename(temp, target, exchange=True):
            raise ExchangeUnsupportedError(errno.ENOSYS, "no atomic exchange here", str(target))

    def replace(self, temp: Path, target: Path) -> None:
        """Put `temp` in the place of `target` in one step; what was there is gone (the fallback of exchange)."""
        os.replace(temp, target)

    def link(self, temp: Path, target: Path) -> None:
        """Give the file a second name; FileExistsError when the name is taken."""
        os.link(temp, target)

    def rename_new(self, source: Path, target: Path) -> None:
        """Rename onto a free name; FileExistsError when it is taken.

        A file system with neither such a rename nor hard links gets the closest that it has: look, then rename.
        """
        if _special_rename(source, target, exchange=False):
            return
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
            os.rename(source, target)
        else:
            os.unlink(source)

    def unlink(self, path: Path) -> None:
        """Remove a name."""
        os.unlink(path)

    def make_directory(self, path: Path) -> None:
        """Create one directory; its parent must exist."""
        os.mkdir(path)

    def remove_directory(self, path: Path) -> None:
        """Remove one empty directory."""
        os.rmdir(path)

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory survive a power cut."""
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            self.sync(descriptor)
        except OSError as error:
            if error.errno not in _NO_DIRECTORY_SYNC:
                raise
        finally:
            os.close(descriptor)

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit a transaction of the state database; durable when it returns (synchronous=FULL)."""
        connection.execute("COMMIT")


def has_open_writer(descriptor: int) -> bool | None:
    """Tell whether another descriptor has this file open for writing; None where nobody can tell.

    A read lease is granted only when nobody has the file open for writing.
    The signal of a broken lease is set to SIGURG, which is ignored by default: SIGIO would end the process.
    """
    set_lease = getattr(fcntl, "F_SETLEASE", None)
    if set_lease is None:
        return None
    import signal  # noqa: PLC0415 - only Linux comes here

    try:
        fcntl.fcntl(descriptor, getattr(fcntl, "F_SETSIG", 10), signal.SIGURG)
        fcntl.fcntl(descriptor, set_lease, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(descriptor, set_lease, fcntl.F_UNLCK)
    return False


def open_regular(path: Path) -> int:
    """Open a regular file for reading and return its descriptor.

    Never follows a link in the last segment and never hangs on a pipe.

    Raises:
        FileNotFoundError: There is nothing there.
        IsADirectoryError, OSError: Something is there that is not a regular file (ELOOP for a link).
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_descriptor(descriptor: int) -> bytes:
    """Return all bytes from the start of the file."""
    parts: list[bytes] = []
    offset, wanted = 0, os.fstat(descriptor).st_size + 1
    while part := os.pread(descriptor, wanted, offset):
        parts.append(part)
        offset += len(part)
        if len(part) < wanted:
            break
        wanted = 1 << 20
    return b"".join(parts)


def read_regular(path: Path) -> bytes | None:
    """Return the bytes of a regular file; None when there is nothing of that name.

    Raises:
        OSError: Something else is in the way, or the disk refuses.
    """
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return None
    try:
        return read_descriptor(descriptor)
    finally:
        os.close(descriptor)
