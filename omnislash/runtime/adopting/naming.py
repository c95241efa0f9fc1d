"""Where each note of a folder goes below one directory: names that every system can store, and no two that are twins."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Final

from omnislash.core.lines import MEMORY_FILE, check_portable, find_segment_problem, fold_name
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIX: Final = ".md"
#: Names at the top of a line that are the engine's own.
_RESERVED: Final = (MEMORY_FILE, "conflicts")
_YEAR: Final = re.compile(r"[0-9]{4}")


class DocumentNames:
    """Gives each note of a folder a place in a line; nothing on disk changes.

    A name is kept wherever it can be. Two names that some disk would take for one, and a name that stands in the line
    already, are kept apart by a number.
    """

    def __init__(self, line: Path) -> None:
        """Name the directory of the line; it need not be there."""
        self._line = line
        #: Directory in the line, by that in the folder.
        self._directories: dict[str, str] = {}
        #: Names in each directory of the line by their folded form; True where it is a directory that was there before.
        self._taken: dict[str, dict[str, tuple[str, bool]]] = {}

    def place(self, note: str) -> str:
        """Return the path of a note below the line."""
        directory, _, name = note.rpartition("/")
        target = self._place_directory(directory)
        stem = make_portable(name.removesuffix(_SUFFIX))
        return _join(target, self._choose(target, stem, _SUFFIX))

    def _place_directory(self, directory: str) -> str:
        path = target = ""
        for name in filter(None, directory.split("/")):  # no recursion: a folder may be deeper than Python can call
            path = _join(path, name)
            if path not in self._directories:
                wanted = make_portable(name)
                if not target and _YEAR.fullmatch(wanted):
                    wanted = f"notes-{wanted}"  # below a year of a line only the files of the calendar exist
                self._directories[path] = _join(target, self._choose(target, wanted, ""))
            target = self._directories[path]
        return target

    def _choose(self, directory: str, stem: str, suffix: str) -> str:
        """Return a name that is free in a directory of the line, and take it."""
        taken = self._names(directory)
        number = 1
        while True:
            name = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
            held = taken.get(fold_name(name))
            if held is None or (not suffix and held == (name, True)):
                taken[fold_name(name)] = (name, False)
                return name
            number += 1

    def _names(self, directory: str) -> dict[str, tuple[str, bool]]:
        if directory not in self._taken:
            found = {fold_name(name): (name, False) for name in _RESERVED} if not directory else {}
            try:
                with os.scandir(self._line / directory) as entries:
                    found |= {
                        fold_name(entry.name): (entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries
                    }
            except OSError:  # not there yet
                pass
            self._taken[directory] = found
        return self._taken[directory]


def _join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def make_portable(name: str) -> str:
    """Return a name that every system can store and every tool can spell: what can't stay becomes a hyphen."""
    kept = "".join(char if _is_portable(char) else "-" for char in name).strip(" ").rstrip(". ").lstrip(".") or "note"
    return kept if find_segment_problem(kept, managed=True) is None else f"note-{kept}"


@functools.lru_cache(maxsize=4096)
def _is_portable(char: str) -> bool:
    try:
        check_portable(char)
    except InvalidNameError:
        return False
    return find_segment_problem(f"x{char}x", managed=True) is None
