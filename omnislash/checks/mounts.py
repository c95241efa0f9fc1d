"""What kind of file system a directory lies on, without changing anything."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The kernel's list of mounts, as this process sees them.
MOUNTS_FILE: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
#: Where the fields stand in a line, see proc_pid_mountinfo(5).
_PLACE_FIELD, _FIRST_OPTIONAL_FIELD = 4, 6
#: `struct statfs` of macOS with 64-bit inodes: its size, and where the name of the type stands.
#: Source: <sys/mount.h> of the macOS SDK.
_STATFS_BYTES: Final = 2168
_NAME_AT, _NAME_BYTES = 72, 16


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system that is mounted somewhere."""

    #: The directory that it is mounted on.
    place: str
    #: Its type: `ext4`, `nfs4`, `fuse.sshfs`.
    type: str


def find_mount(directory: Path, *, mounts: Path = MOUNTS_FILE) -> Mount | None:
    """Return the file system on which a directory lies; None where the system does not tell.

    Args:
        directory: A directory that exists.
        mounts: The kernel's list of mounts.
    """
    place = os.path.realpath(directory)
    if sys.platform == "darwin":
        return _ask_macos(place)
    try:
        text = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    around = [mount for mount in parse_mounts(text) if _holds(mount.place, place)]
    # Of several on one place the last one hides the others.
    return max(reversed(around), key=lambda mount: len(mount.place), default=None)


def parse_mounts(text: str) -> Iterator[Mount]:
    """Yield the mounts of a list like that of the kernel, in its order; lines that are none are passed over."""
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if separator and len(fields) >= _FIRST_OPTIONAL_FIELD:
            place = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[_PLACE_FIELD])
            yield Mount(place, after.split(" ", 1)[0])


def _holds(place: str, path: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _ask_macos(place: str) -> Mount | None:
    """Return what `statfs` says on macOS."""
    import ctypes  # noqa: PLC0415  only there

    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "statfs$INODE64", None) or library.statfs
    return None if call(os.fsencode(place), buffer) else Mount(place, read_statfs_type(buffer.raw))


def read_statfs_type(raw: bytes) -> str:
    """Return the type in the bytes of a `struct statfs` of macOS."""
    return raw[_NAME_AT : _NAME_AT + _NAME_BYTES].split(b"\0")[0].decode("ascii", "replace")
