"""The directories of a brain's files: made when a file needs them, and durable before that file is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.store.disk import Disk


class Directories:
    """Makes and removes directories, and knows which of them a power cut could still take away."""

    def __init__(self, disk: Disk) -> None:
        """Nothing is made yet."""
        self._disk = disk
        #: Made by this process, and not known to be durable in their parent: a sync of it failed or never came.
        self._unsynced: set[Path] = set()

    def make(self, directory: Path, *, made: list[Path]) -> None:
        """Create a directory and its missing parents each made durable in its parent.

        Args:
            directory: The directory that has to be there.
            made: Receives those that were created, outermost first, also when it ends with an error.
        """
        if not self._unsynced and os.path.isdir(directory):
            return
        missing: list[Path] = []
        while not directory.exists():
            missing.append(directory)
            directory = directory.parent
        unsynced = [path for path in (directory, *directory.parents) if path in self._unsynced]
        for path in reversed([*missing, *unsynced]):
            if path in missing:
                self._make_one(path, made)
            self._disk.sync_directory(path.parent)
            self._unsynced.discard(path)

    def _make_one(self, path: Path, made: list[Path]) -> None:
        self._unsynced.add(path)
        try:
            self._disk.make_directory(path)
        except FileExistsError:
            return
        except OSError:
            made.append(path)  # a network disk may have made it all the same
            raise
        made.append(path)

    def remove(self, made: list[Path]) -> None:
        """Remove directories that :meth:`make` has made, unless they are in use; those that are gone leave the list."""
        while made:
            path = made.pop()
            try:
                self._disk.remove_directory(path)
            except FileNotFoundError:
                self._unsynced.discard(path)
            except OSError:
                return
            else:
                self._unsynced.discard(path)
