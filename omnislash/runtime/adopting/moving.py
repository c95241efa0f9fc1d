"""Carrying the moves of an adoption out: one rename each, onto a free name, and never a copy.

A process that dies in between has lost nothing; the same command goes on from there, because the file that makes the
folder a brain is made last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.errors import StorageError
from omnislash.runtime.adopting.values import Left, show
from omnislash.store.files import MemoryFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omnislash.runtime.adopting.values import Move
    from omnislash.store.disk import Disk


def carry_out(root: Path, moves: Sequence[Move], *, disk: Disk | None = None) -> tuple[Left, ...]:
    """Move the files; return those that stayed because something changed since they were planned.

    Directories that have become empty go too.

    Raises:
        StorageError: The disk refuses; what was moved until then stays moved.
    """
    files = MemoryFiles(root / "memory", disk=disk)
    left: list[Left] = []
    for number, move in enumerate(moves):
        try:
            _move(root, move, files)
        except (FileExistsError, FileNotFoundError) as error:
            gone = isinstance(error, FileNotFoundError)
            left.append(Left(move.source, "it is gone" if gone else f"{show(move.target)} is there already"))
        except OSError as error:
            raise _stopped(move, number, len(moves), error) from error
    stayed = {each.path for each in left}
    moved = [move for move in moves if move.source not in stayed]
    _settle(root, moved, files)
    return tuple(left)


def _move(root: Path, move: Move, files: MemoryFiles) -> None:
    target = root / move.target
    files.make_directories(target.parent, made=[])
    files.disk.rename_new(root / move.source, target)


def _stopped(move: Move, done: int, count: int, error: OSError) -> StorageError:
    message = (
        f"{show(move.source)} can't be moved: {error.strerror or error}. {done} of {count} files are at their new "
        "place, and nothing is lost."
    )
    return StorageError(message, path=show(move.source), hint="Mend that and run the same command again: it goes on.")


def _settle(root: Path, moved: Sequence[Move], files: MemoryFiles) -> None:
    """Make the new names durable before the old ones go, and remove what is empty now."""
    for directory in sorted({(root / move.target).parent for move in moved}):
        files.disk.sync_directory(directory)
    emptied = {parent for move in moved for parent in _parents(root, root / move.source)}
    for directory in sorted(emptied, key=lambda place: len(place.parts), reverse=True):
        try:
            files.disk.remove_directory(directory)
        except OSError:  # something stays in it
            files.disk.sync_directory(directory)
    files.disk.sync_directory(root)


def _parents(root: Path, place: Path) -> Iterable[Path]:
    """Yield the directories above a file, below the root."""
    for parent in place.parents:
        if parent == root:
            return
        yield parent
