"""Exchange one file with its new bytes, unless a person saved it in that moment.

Used by a batch and by the recovery of one.

Rules: architecture.md section 4 ("their bytes are never lost").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.writer.displaced import save_displaced

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.core.lines import ManagedPath
    from omnislash.store.files import MemoryFiles
    from omnislash.store.replacement import Replacement


class FileMovedOnError(Exception):
    """Somebody saved one of the files between planning and exchange; the batch has to be planned again."""

    def __init__(self, path: ManagedPath, *, came_out: bytes | None = None, clean: bool = True) -> None:
        """Keep what is known.

        Args:
            path: The file.
            came_out: Bytes that others may have missed while the new ones stood there; None when there are none.
            clean: False when what the jobs wanted may be part of the file now.
        """
        super().__init__(path)
        self.path = path
        self.came_out = came_out
        self.clean = clean


def swap_unless_saved(
    change: Replacement, *, files: MemoryFiles, now: datetime, save: Callable[..., object] = save_displaced
) -> None:
    """Put the new bytes of one file under its name.

    Args:
        change: The file.
        files: Where it lies.
        now: The instant, for the name of a conflict copy.
        save: Keeps what a person saved in that very moment; called as `save_displaced` is.

    Raises:
        FileMovedOnError: Somebody saved it; their bytes stand under the real name again.
        OSError, StorageError: The disk said no. When `change.applied` is set, the new bytes stand there.
    """
    if files.read_target(change) != change.before:
        raise FileMovedOnError(change.path)
    try:
        files.swap(change)
    except OSError as error:
        change.applied = files.has_swapped(change)
        if not change.applied and isinstance(error, FileExistsError | FileNotFoundError):
            raise FileMovedOnError(change.path) from error
        raise
    came_out, still_open = files.displaced(change)
    if came_out != change.before:
        change.foreign = True
        clean = give_back(change, files=files, now=now, save=save)
        raise FileMovedOnError(change.path, came_out=came_out, clean=clean)
    if still_open:
        save(change, files=files, now=now)


def give_back(
    change: Replacement, *, files: MemoryFiles, now: datetime, save: Callable[..., object] = save_displaced
) -> bool:
    """Put what an exchange brought out under the real name again; True when that went as planned.

    When somebody saved on top of the new bytes in that moment, that save stays and may hold what the jobs wanted;
    what came out before becomes a conflict copy, unless the save holds all of it.

    Raises:
        OSError: The disk said no.
    """
    clean = files.take_back(change)
    if not clean:
        save(change, files=files, now=now, unless_held=True)
    return clean
