"""Carrying the moves of an adoption out: one rename each, onto a free name, and never a copy.

A process that dies in between has lost nothing; the same command goes on from there, because the file that makes the
folder a brain is made last.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from omnislash.errors import StorageError
from omnislash.runtime.adopting.values import Left, spell
from omnislash.runtime.adopting.ways import ELSEWHERE, check_way
from omnislash.store.files import MemoryFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omnislash.runtime.adopting.values import Move
    from omnislash.store.disk import Disk


def carry_out(
    root: Path, moves: Sequence[Move], *, emptied: Iterable[str] = (), disk: Disk | None = None
) -> tuple[Left, ...]:
    """Move the files; return those that stayed because something changed since they were planned.

    Directories that have become empty go too.

    Args:
        root: The folder.
        moves: What to move.
        emptied: Directories that an adoption which was cut off had emptied.
        disk: In place of the real one.

    Raises:
        StorageError: The disk refuses, or a link has come to stand on the way; what was moved until then stays moved.
    """
    files = MemoryFiles(root / "memory", disk=disk)
    left: list[Left] = []
    for number, move in enumerate(moves):
        try:
            _move(root, move, files)
        except OSError as error:
            reason = _find_reason(move, error)
            if reason is None:
                raise _stopped(move, number, len(moves), error) from error
            left.append(Left(move.source, reason))
    stayed = {each.path for each in left}
    moved = [move for move in moves if move.source not in stayed]
    _settle(root, moved, emptied, files)
    return tuple(left)


def _find_reason(move: Move, error: OSError) -> str | None:
    """Return why one file stays and the others go on; None for trouble that meets all of them."""
    if isinstance(error, FileNotFoundError):
        return "it is gone"
    if isinstance(error, FileExistsError):
        return f"{spell(move.target)} is there already"
    return ELSEWHERE if error.errno == errno.EXDEV else None


def _move(root: Path, move: Move, files: MemoryFiles) -> None:
    for path in (move.source, move.target):  # the plan has looked too, and somebody may have put a link there since
        check_way(root, path)
    target = root / move.target
    files.make_directories(target.parent, made=[])
    files.disk.rename_new(root / move.source, target)


def _stopped(move: Move, done: int, count: int, error: OSError) -> StorageError:
    message = (
        f"{spell(move.source)} can't be moved: {error.strerror or error}. {done} of {count} files are at their new "
        "place, and nothing is lost."
    )
    return StorageError(message, path=spell(move.source), hint="Mend that and run the same command again: it goes on.")


def _settle(root: Path, moved: Sequence[Move], emptied: Iterable[str], files: MemoryFiles) -> None:
    """Make the new names durable before the old ones go, and remove what is empty now.

    The directories above the new places are synced as well: a dead process may have made them and not come to it.
    """
    gaining = {parent for move in moved for parent in _parents(root, root / move.target)}
    for directory in _deepest_first(gaining):
        files.disk.sync_directory(directory)
    losing = {parent for move in moved for parent in _parents(root, root / move.source)}
    for directory in _deepest_first(losing | {root / path for path in emptied}):
        try:
            files.disk.remove_directory(directory)
        except OSError:  # something stays in it
            files.disk.sync_directory(directory)
    files.disk.sync_directory(root)


def _deepest_first(places: Iterable[Path]) -> list[Path]:
    return sorted(places, key=lambda place: (-len(place.parts), place))


def _parents(root: Path, place: Path) -> Iterable[Path]:
    """Yield the directories above a file, below the root."""
    for parent in place.parents:
        if parent == root:
            return
        yield parent
