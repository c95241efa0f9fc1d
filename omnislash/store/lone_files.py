"""One file outside of a brain, that another program owns too: read safely, and replaced durably in one step.

A symbolic link is followed by whoever calls, so that the link stays and its target is replaced.
What was there is exchanged with what is new, and looked at: when it is not what the change was made from, it goes back,
so that nothing which somebody saved in the same instant is lost.

Rules: architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.store import ids
from omnislash.store.disk import NO_LINKS, Disk, ExchangeUnsupportedError, read_regular
from omnislash.store.os_errors import place_error
from omnislash.store.settling import wait_for_writers

if TYPE_CHECKING:
    from omnislash.errors import StorageError


class FileChangedError(Exception):
    """Somebody else saved the file meanwhile; it stands as they left it."""


def lone_error(error: OSError, path: Path, *, doing: str = "used") -> StorageError:
    """Return the operating system's error as one sentence with the path, the cause and a next step."""
    return place_error(error, str(path), doing=doing)


def resolve_link(path: Path) -> Path:
    """Return the file that a path leads to, links followed; it need not be there.

    Raises:
        OSError: The links lead in a circle.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return found


def read_lone(path: Path) -> bytes | None:
    """Return the file's bytes; None when there is none.

    Raises:
        OSError: Something else is in the way, or the disk refuses.
    """
    return read_regular(path)


def write_new(path: Path, data: bytes, *, mode: int, disk: Disk) -> None:
    """Make a file under a name that is free, whole and durable.

    Raises:
        FileExistsError: The name is taken.
        OSError: The disk said no; nothing is left behind.
    """
    temp = path.parent / ids.new_temp_name()
    _stage(temp, data, mode=mode, disk=disk)
    try:
        try:
            disk.link(temp, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            disk.rename_new(temp, path)
    finally:
        _discard(temp, {data}, disk)
    disk.sync_directory(path.parent)


def replace_lone(path: Path, *, before: bytes, after: bytes, disk: Disk) -> None:
    """Put new bytes in the place of old ones and keep the permissions.

    Raises:
        FileChangedError: Something else than `before` stood there, and stands there still.
        OSError: The disk said no, or the file is marked read-only; nothing has changed.
    """
    mode = stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode)
    _check_writable(path, mode)
    temp = path.parent / ids.new_temp_name()
    _stage(temp, after, mode=mode, disk=disk)
    try:
        _exchange(temp, path, before=before, after=after, disk=disk)
    finally:
        _discard(temp, {before, after}, disk)
    disk.sync_directory(path.parent)


def remove_lone(path: Path, *, before: bytes, disk: Disk) -> None:
    """Remove a file.

    Raises:
        FileChangedError: Something else than `before` stood there, and stands there still.
        OSError: The disk said no; nothing has changed.
    """
    _check_writable(path, os.stat(path, follow_symlinks=False).st_mode)
    temp = path.parent / ids.new_temp_name()
    disk.rename_new(path, temp)
    try:
        wait_for_writers(temp)
        if read_lone(temp) != before:
            raise FileChangedError
        disk.unlink(temp)
    except (OSError, FileChangedError):
        disk.rename_new(temp, path)
        raise
    disk.sync_directory(path.parent)


def _check_writable(path: Path, mode: int) -> None:
    """Refuse a file that its owner has marked read-only, although a directory that is not would let it be replaced."""
    if not mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _stage(temp: Path, data: bytes, *, mode: int, disk: Disk) -> None:
    """Write a temporary file and make its bytes durable; nothing is left of one that could not be written."""
    descriptor = disk.create_temp(temp, mode=mode)
    try:
        disk.write(descriptor, data)
        disk.sync(descriptor)
    except OSError:
        with contextlib.suppress(OSError):
            disk.unlink(temp)
        raise
    finally:
        os.close(descriptor)


def _exchange(temp: Path, path: Path, *, before: bytes, after: bytes, disk: Disk) -> None:
    try:
        disk.exchange(temp, path)
    except ExchangeUnsupportedError:
        wait_for_writers(path)
        if read_lone(path) != before:
            raise FileChangedError from None
        disk.replace(temp, path)
        return
    wait_for_writers(temp)
    if read_lone(temp) == before:
        return
    _give_back(temp, path, after=after, disk=disk)
    raise FileChangedError


def _give_back(temp: Path, path: Path, *, after: bytes, disk: Disk) -> None:
    """Put back what came out; whoever saves once more in this moment has the last word."""
    disk.exchange(temp, path)
    wait_for_writers(temp)
    if read_lone(temp) != after:
        disk.exchange(temp, path)


def _discard(temp: Path, known: set[bytes], disk: Disk) -> None:
    """Remove a temporary file, where there is one, unless it holds somebody else's bytes."""
    with contextlib.suppress(OSError):
        if read_lone(temp) in known:
            disk.unlink(temp)
