"""What the operating system says no with, as a sentence for a person.

Source: errno(3).
"""

from __future__ import annotations

import errno

from omnislash.errors import StorageError

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again."),
    errno.EROFS: ("the file system is read-only", "Mount it writable and try again."),
    errno.EACCES: ("permission denied", "Give this user write access to it."),
    errno.EPERM: ("the operation is not permitted", "Check its owner, flags and file system."),
    errno.EISDIR: ("there is a directory where a file should be", "Move the directory away."),
    errno.ENOTDIR: ("there is a file where a directory should be", "Move that file away."),
    errno.EIO: ("the disk reported an I/O error", "Check the disk before you write more."),
    errno.ELOOP: ("it is a symbolic link", "Replace the link by a real file."),
    errno.ENAMETOOLONG: ("the name is too long", "Use a shorter name."),
}


def place_error(error: OSError, place: str, *, doing: str = "used") -> StorageError:
    """Return an error of the operating system as one sentence with the place, the cause and a next step.

    Args:
        error: What it said.
        place: The file, as a person knows it.
        doing: What could not be done: `used`, `read`, `saved`.
    """
    reason, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Check the file and try again."))
    return StorageError(f"{place} can't be {doing}: {reason}. {hint}", path=place, hint=hint)


def storage_error(error: OSError, path: str) -> StorageError:
    """Return the same for a managed path."""
    return place_error(error, f"memory/{path}")
