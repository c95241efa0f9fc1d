"""Files that become directories and directories that become files: what goes before what comes can have its name.

Rules: failure case O-51; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.runtime.syncing.changes import show_path
from omnislash.runtime.syncing.merging_trees import STOPPED, MergeStoppedError
from omnislash.runtime.syncing.values import Conflict
from omnislash.store.replacement import Replacement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from omnislash.runtime.syncing.merging_objects import Difference
    from omnislash.store.disk import Disk


class Rooms:
    """Knows which files that go stand where others come."""

    def __init__(self, top: Path, differences: Mapping[str, Difference]) -> None:
        """Look at the paths; nothing on disk is touched."""
        self._top = top
        self._new = {path for path, each in differences.items() if each.before is None}
        self._gone = {path for path, each in differences.items() if each.after is None}
        self._files = self._gone & {up for path in self._new for up in _list_above(path)}
        #: The new file that takes the name of a directory, by what goes from there.
        self._directories = {path: up for path in self._gone for up in _list_above(path) if up in self._new}

    def has(self, path: str) -> bool:
        """Tell whether a file has to be gone before others can come."""
        return path in self._files or path in self._directories

    def move_temp(self, change: Replacement, path: str) -> Replacement:
        """Return the change with its temporary name beside the directory that goes, where it lies in one."""
        if path not in self._directories:
            return change
        levels = path.count("/") - self._directories[path].count("/")
        temp = change.target.parents[levels] / change.temp.name
        return Replacement(change.path, change.target, temp, change.before, change.after)

    def refuse_occupied(self) -> None:
        """Stop where something that does not go stands in the way of what comes.

        Raises:
            MergeStoppedError: It names the file that a person has to move.
        """
        for path in sorted(self._new):
            found = self._find_in_way(path)
            if found is not None:
                note = "a file that the other side does not have stands in its way."
                message = (
                    f"{show_path(path)} can't be put on disk: {show_path(found)} is in its way. Nothing was merged. "
                    "Move your file away; the next sync goes on from there."
                )
                raise MergeStoppedError(message, (Conflict(found, STOPPED, note),))

    def _find_in_way(self, path: str) -> str | None:
        place = self._top / path
        if place.is_dir() and not place.is_symlink():
            return next((file for file in self._walk(path) if file not in self._gone), None)
        if place.parent.is_dir():
            return None
        files = (up for up in _list_above(path) if os.path.lexists(self._top / up) and not (self._top / up).is_dir())
        return next((up for up in files if up not in self._gone), None)

    def _walk(self, directory: str) -> Iterator[str]:
        for folder, folders, names in os.walk(self._top / directory):
            places = [Path(folder, name) for name in (*folders, *names)]
            found = (place for place in places if place.is_symlink() or not place.is_dir())
            yield from (os.path.relpath(place, self._top) for place in sorted(found))

    @staticmethod
    def clear(gone: Iterable[Replacement], new: Iterable[Replacement], disk: Disk) -> None:
        """Remove the empty directories whose names new files take, and make durable what went."""
        for change in new:
            if change.before is None and change.target.is_dir() and not change.target.is_symlink():
                for folder, _, _ in os.walk(change.target, topdown=False):
                    with contextlib.suppress(OSError):
                        disk.remove_directory(change.target.parent / folder)
        for directory in sorted({change.ready.parent for change in gone}):
            disk.sync_directory(directory)


def _list_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
