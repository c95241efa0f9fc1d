"""The files as a batch sees them: the disk, and on top of it what the earlier jobs of the batch have planned.

The folded entries of each file are remembered between batches together with the exact bytes they were read from, so
that a write to a long daily log costs the comparison of bytes and not a parse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.core.daily import parse_daily
from omnislash.core.dedupe import fold
from omnislash.core.lines import FileKind, kind_of
from omnislash.core.sections import memory_units, parse_memory
from omnislash.writer.plans import decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.core.lines import ManagedPath
    from omnislash.store.files import MemoryFiles
    from omnislash.writer.plans import PlannedChange

#: How many files the writer remembers; the least recently written one goes first.
_REMEMBERED = 64


def parse_units(path: ManagedPath, data: bytes | None) -> set[str]:
    """Return the folded text of each entry of a file; those of MEMORY.md with its curated items and paragraphs."""
    if data is None:
        return set()
    text = decode(data)
    if kind_of(path) is FileKind.MEMORY:
        return {fold(unit) for unit in memory_units(parse_memory(text))}
    return {fold(entry.text) for entry in parse_daily(text)}


class UnitCache:
    """Folded entries by path, each with the bytes they belong to."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._known: dict[ManagedPath, tuple[bytes | None, set[str]]] = {}

    def knows(self, path: ManagedPath, data: bytes | None) -> bool:
        """Tell whether the file still holds exactly what was left there."""
        return path in self._known and self._known[path][0] == data

    def known(self, path: ManagedPath) -> bytes | None:
        """Return the bytes that were left in a file, or None when nothing is known of it."""
        return self._known[path][0] if path in self._known else None

    def units(self, path: ManagedPath, data: bytes | None) -> set[str]:
        """Return the folded entries of these bytes, parsed only when they are not the remembered ones."""
        if not self.knows(path, data):
            self.put(path, data, parse_units(path, data))
        return self._known[path][1]

    def put(self, path: ManagedPath, data: bytes | None, units: set[str]) -> None:
        """Remember the entries of a file."""
        self._known.pop(path, None)
        self._known[path] = (data, units)
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def forget(self, path: ManagedPath) -> None:
        """Forget one file."""
        self._known.pop(path, None)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()


class BatchView:
    """The files for the planning of one batch."""

    def __init__(self, files: MemoryFiles, cache: UnitCache) -> None:
        """Read nothing yet."""
        self._files = files
        self._cache = cache
        #: What stood on disk when the batch first looked.
        self.originals: dict[ManagedPath, bytes | None] = {}
        #: What shall stand there.
        self.planned: dict[ManagedPath, bytes | None] = {}
        self._added: dict[ManagedPath, set[str]] = {}
        self._reshaped: set[ManagedPath] = set()
        self._foreign: list[ManagedPath] = []

    def read(self, path: ManagedPath) -> bytes | None:
        """Return the bytes of the file, planned changes included; StorageError when something is in the way."""
        if path in self.planned:
            return self.planned[path]
        if path not in self.originals:
            self.originals[path] = self._files.read_settled(path, known=self._cache.known(path))
            if not self._cache.knows(path, self.originals[path]):  # asked now: planning teaches the cache these bytes
                self._foreign.append(path)
        return self.originals[path]

    def holds(self, path: ManagedPath, unit: str) -> bool:
        """Tell whether an entry with this folded text stands in the file, planned changes included."""
        data = self.read(path)
        if path in self._reshaped:
            return unit in parse_units(path, data)
        if unit in self._added.get(path, ()):
            return True
        return unit in self._cache.units(path, self.originals[path])

    def apply(self, changes: Iterable[PlannedChange]) -> None:
        """Put planned changes on top of what is there."""
        for change in changes:
            self.read(change.path)
            self.planned[change.path] = change.after
            if change.appended is None or change.unit is None:
                self._reshaped.add(change.path)
            else:
                self._added.setdefault(change.path, set()).add(change.unit)

    def foreign(self) -> list[ManagedPath]:
        """Return the files that do not hold what this process last left there, or that it does not know."""
        return self._foreign

    def settle(self) -> None:
        """Remember the planned files as they now are: the changes are on disk."""
        for path, data in self.planned.items():
            if path in self._reshaped:
                self._cache.forget(path)
            else:
                units = self._cache.units(path, self.originals[path])
                units |= self._added.get(path, set())
                self._cache.put(path, data, units)
