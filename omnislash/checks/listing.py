"""The one listing that doctor makes, and the one read of each file.

Listed are `memory/`, the declared sources, `features/` and `constitution/` with everything below them, and the entries
of the brain's own directory; other directories there are a person's own and are not entered. Links are listed and not
followed, hidden entries are listed and not entered, and the index database is not read.

Rules: DOCTOR-16, SOURCE-O8, LINE-10.
"""

from __future__ import annotations

import os
import stat as stat_bits
from typing import TYPE_CHECKING, Final

from omnislash.checks.examined import Area, Kind, Listed, SeenFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Largest file that is read, in bytes; a larger one is named by the check of large files.
BYTES_MAX: Final = 64 << 20
#: Names that are read beside `.md` files, where they stand at the top or in the constitution.
_SETTINGS: Final = (".yaml", ".yml", ".json")
_AREAS: Final = {"memory": Area.MEMORY, "features": Area.FEATURES, "constitution": Area.CONSTITUTION}


class Listing:
    """Lists a brain; what can't be listed is kept with its reason."""

    def __init__(self, root: Path, sources: Iterable[str]) -> None:
        """Keep the brain and its declared sources."""
        self._root = os.fspath(root)
        self._sources = tuple(sources)
        self._found: dict[str, Listed] = {}
        #: Directories that could not be listed, with the reason.
        self.unlistable: dict[str, str] = {}

    def run(self) -> tuple[Listed, ...]:
        """Return every entry, in the order of paths."""
        for entry in self._scan("", Area.TOP):
            area = _AREAS.get(entry.path)
            if area is not None and entry.kind is Kind.DIRECTORY:
                self._walk(entry.path, area)
        for source in self._sources:
            self._take_source(source)
        return tuple(self._found[path] for path in sorted(self._found))

    def _take_source(self, source: str) -> None:
        try:
            found = os.lstat(f"{self._root}/{source}")
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self.unlistable[source] = explain(error)
            return
        entry = _as_listed(source, Area.SOURCE, found)
        self._found[source] = entry
        if entry.kind is Kind.DIRECTORY:
            self._walk(source, Area.SOURCE)

    def _walk(self, directory: str, area: Area) -> None:
        pending = [directory]
        while pending:
            found = self._scan(pending.pop(), area)
            pending += [each.path for each in found if each.kind is Kind.DIRECTORY and not each.name.startswith(".")]

    def _scan(self, directory: str, area: Area) -> list[Listed]:
        """Take the entries of one directory and return them."""
        above = f"{directory}/" if directory else ""
        taken: list[Listed] = []
        try:
            with os.scandir(f"{self._root}/{directory}") as entries:
                for entry in entries:
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:  # removed since it was listed
                        continue
                    except OSError as error:  # it may not be entered, or the path is too long for the system
                        self.unlistable[directory or "."] = explain(error)
                        continue
                    taken.append(_as_listed(above + entry.name, area, found))
        except OSError as error:
            self.unlistable[directory or "."] = explain(error)
        for each in taken:
            self._found.setdefault(each.path, each)
        return taken


def explain(error: OSError) -> str:
    """Return the reason of the operating system, as half a sentence."""
    return (error.strerror or str(error)).lower()


def _as_listed(path: str, area: Area, found: os.stat_result) -> Listed:
    return Listed(
        path=path,
        area=area,
        kind=_kind_of(found.st_mode),
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        mode=stat_bits.S_IMODE(found.st_mode),
        device=found.st_dev,
        inode=found.st_ino,
    )


def _kind_of(mode: int) -> Kind:
    if stat_bits.S_ISREG(mode):
        return Kind.FILE
    if stat_bits.S_ISDIR(mode):
        return Kind.DIRECTORY
    return Kind.LINK if stat_bits.S_ISLNK(mode) else Kind.OTHER


def is_read(entry: Listed) -> bool:
    """Tell whether doctor reads a file: markdown everywhere but at the top, and files of settings."""
    if entry.kind is not Kind.FILE or any(part.startswith(".") for part in entry.path.split("/")):
        return False
    if entry.area in {Area.TOP, Area.CONSTITUTION} and entry.path.endswith(_SETTINGS):
        return True
    return entry.is_markdown and entry.area is not Area.TOP


def read_file(root: Path, entry: Listed) -> SeenFile:
    """Return a file with its bytes, or with the reason why there are none."""
    if entry.size > BYTES_MAX:
        return SeenFile(entry, None, f"larger than {BYTES_MAX >> 20} MiB")
    try:
        descriptor = os.open(f"{os.fspath(root)}/{entry.path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return SeenFile(entry, _read_all(descriptor, entry.size))
        finally:
            os.close(descriptor)
    except OSError as error:
        return SeenFile(entry, None, explain(error))


def _read_all(descriptor: int, size: int) -> bytes:
    """Return the bytes of a file: with one call where it is as large as it was listed, of one that grows not without end."""
    data = os.read(descriptor, size + 1)
    while len(data) != size and len(data) <= BYTES_MAX and (more := os.read(descriptor, BYTES_MAX)):
        data += more
    return data
