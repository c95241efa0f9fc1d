"""Whether a file can get a place: no link and no file on the way there, and both ends on one file system. Reads only."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Why a file on another file system stays: it could only be copied, and an adoption copies nothing.
ELSEWHERE: Final = "it is on another file system than the brain, so it can't be moved in one step"


class Ways:
    """The directories of a folder, each looked at once."""

    def __init__(self, root: Path) -> None:
        """Name the folder."""
        self._root = root
        self._problems: dict[str, str | None] = {}
        self._devices: dict[str, int | None] = {}

    def find_problem(self, directory: str) -> str | None:
        """Return why nothing can come to lie in a directory of the folder; None where it can, or where it is not there yet."""
        if directory not in self._problems:
            self._problems[directory] = find_obstacle(self._root, directory)
        return self._problems[directory]

    def find_move_problem(self, source: str, target: str) -> str | None:
        """Return why a file can't be renamed to its new place; None when it can."""
        directory = target.rpartition("/")[0]
        problem = self.find_problem(directory)
        if problem is None and device_of(self._root / source) not in {None, self._find_device(directory)}:
            return ELSEWHERE
        return problem

    def _find_device(self, directory: str) -> int | None:
        """Return the device of a directory, or of the nearest one above it that is there."""
        if directory not in self._devices:
            there = [path for path in ("", *_prefixes(directory)) if os.path.lexists(self._root / path)]
            self._devices[directory] = device_of(self._root / there[-1]) if there else None
        return self._devices[directory]


def device_of(place: Path) -> int | None:
    """Return the number of the file system that something lies on, links not followed; None when it can't be told."""
    try:
        return os.lstat(place).st_dev
    except OSError:
        return None


def find_obstacle(root: Path, directory: str) -> str | None:
    """Return which part of a directory's path below the folder is a link or no directory; None where there is none.

    What is not there yet is no obstacle.
    """
    for path in _prefixes(directory):
        try:
            mode = os.lstat(root / path).st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{path} can't be looked at: {(error.strerror or str(error)).lower()}"
        if stat.S_ISLNK(mode):
            return f"{path} is a link, so its files lie elsewhere"
        if not stat.S_ISDIR(mode):
            return f"{path} is no directory"
    return None


def check_way(root: Path, path: str) -> None:
    """Make sure that what lies at a path is really in the folder.

    Raises:
        OSError: Something above it is a link or no directory.
    """
    problem = find_obstacle(root, path.rpartition("/")[0])
    if problem is not None:
        raise OSError(errno.ELOOP, problem)


def _prefixes(directory: str) -> Iterator[str]:
    """Yield a directory and those above it, outermost first."""
    path = ""
    for name in filter(None, directory.split("/")):
        path = f"{path}/{name}" if path else name
        yield path
