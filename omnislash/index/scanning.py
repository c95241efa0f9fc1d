"""The stat pass: which files of the brain belong into the index, and how each looks from outside.

Every `.md` file of every line and of every declared source; hidden files, symbolic links and files that no tool could
name are left out.

Rules: LINE-10, LINE-11, LINE-O2, SOURCE-08, SOURCE-O4, SOURCE-O5, SOURCE-O8, SOURCE-O9, MIGRATE-06.
"""

from __future__ import annotations

import functools
import os
import stat as stat_bits
from typing import TYPE_CHECKING

from omnislash.core.corpora import MANAGED_ROOT, Located, Zone, is_shadowed
from omnislash.core.lines import ManagedPath, is_line_name, kind_of, parse_authored_path, parse_managed_path
from omnislash.errors import InvalidNameError
from omnislash.index.diff import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash.core.lines import AuthoredPath

#: The kind of a document of a source.
SOURCE_KIND = "source"
_SUFFIX = ".md"
#: Makes a `Stat` of a tuple without looking at the names: it runs for every file on every search.
_make_stat = functools.partial(tuple.__new__, Stat)


class Scanner:
    """Walks the brain; remembers which names it has judged, so that a pass over known files only asks for their stat."""

    def __init__(self, root: Path, sources: tuple[AuthoredPath, ...]) -> None:
        """Keep the brain's directory and its declared sources."""
        self.root = root
        self.sources = sources
        self._root = os.fspath(root)
        self._located: dict[str, Located | None] = {}
        #: Directories and files that could not be looked at in the last pass, with the reason.
        self.unreadable: dict[str, str] = {}

    def scan(self) -> dict[str, Stat]:
        """Return every file that belongs into the index, by its path from the brain's directory."""
        self.unreadable = {}
        found: dict[str, Stat] = {}
        for place in self._tops():
            self._walk(place, found)
        return found

    def locate(self, place: str) -> Located | None:
        """Return the zone and the path that tools use for a file, or None when none can name it."""
        if place not in self._located:
            self._located[place] = self._judge(place)
        return self._located[place]

    def kind(self, place: str) -> str:
        """Return memory, daily, week, month, quarter, year or document for a managed file, else source."""
        located = self.locate(place)
        if located is None or located.zone is Zone.AUTHORED:
            return SOURCE_KIND
        return kind_of(ManagedPath(located.path)).value

    def _judge(self, place: str) -> Located | None:
        try:
            place.encode()
            inner = place.removeprefix(f"{MANAGED_ROOT}/")
            if inner == place:
                return Located(Zone.AUTHORED, parse_authored_path(place))
            return (
                None if is_shadowed(inner, sources=self.sources) else Located(Zone.MANAGED, parse_managed_path(inner))
            )
        except (InvalidNameError, UnicodeEncodeError):
            return None

    def _tops(self) -> Iterator[str]:
        """Yield the lines, then the sources."""
        for entry in self._list(MANAGED_ROOT):
            if is_line_name(entry.name) and entry.is_dir(follow_symlinks=False):
                yield f"{MANAGED_ROOT}/{entry.name}"
        yield from self.sources

    def _walk(self, place: str, found: dict[str, Stat]) -> None:
        if place.endswith(_SUFFIX) and self._take_file(place, found):
            return
        pending = [place]
        while pending:
            directory = pending.pop()
            for entry in self._list(directory):
                name = entry.name
                if name.startswith("."):
                    continue
                if name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    self._take(f"{directory}/{name}", entry, found)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(f"{directory}/{name}")

    def _take(self, place: str, entry: os.DirEntry[str], found: dict[str, Stat]) -> None:
        if (self._located[place] if place in self._located else self.locate(place)) is None:
            return
        try:
            seen = entry.stat(follow_symlinks=False)
        except OSError:  # removed since it was listed
            return
        found[place] = _make_stat((seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino))

    def _take_file(self, place: str, found: dict[str, Stat]) -> bool:
        """Take a source that is a single file; False when it is something else."""
        try:
            seen = os.stat(f"{self._root}/{place}")
        except OSError:
            return False
        if not stat_bits.S_ISREG(seen.st_mode):
            return False
        found[place] = Stat(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
        return True

    def _list(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(f"{self._root}/{directory}") as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.unreadable[directory] = error.strerror or str(error)
            return []
