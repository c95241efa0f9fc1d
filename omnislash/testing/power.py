"""A disk that remembers what would be left of it after a power cut.

What counts as durable is what POSIX promises and no more: the bytes of a file once the file was synced, the names in a
directory once the directory was synced.
The state database is left alone: SQLite syncs its own files, and its commits count as durable.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.testing.disks import STOPPED, Call, WrappedDisk

if TYPE_CHECKING:
    from random import Random  # noqa: TID251 - it comes in as an argument

    from omnislash.store.disk import Disk


class _File:
    """The bytes of one file: what was written, and what of it is durable."""

    def __init__(self, data: bytes, *, durable: bool) -> None:
        self.data = data
        self.durable = data if durable else b""


#: The names of a directory: a file, or None for a directory.
_Names = dict[str, _File | None]


class PowerLossDisk(WrappedDisk):
    """Tracks below one directory which bytes and which names are durable.

    What others save there is taken to be durable as soon as its directory is synced.
    """

    def __init__(
        self, root: Path, *, at: int | None = None, chance: Random | None = None, inner: Disk | None = None
    ) -> None:
        """Take what stands below `root` as durable.

        Args:
            root: The directory to look after, such as a brain's `memory/`.
            at: Cut the power before this call, counted from 1, and end the process; None to cut it by hand.
            chance: See :meth:`cut_power`.
            inner: The disk to wrap.
        """
        super().__init__(inner)
        self._root = Path(root)
        self._at = at
        self._chance = chance
        self._files: dict[int, _File] = {}
        self._open: dict[int, _File] = {}
        self._durable: dict[Path, _Names] = {}
        self._learn(self._root)

    # -- what is durable ---------------------------------------------------------------------------------------------

    def _learn(self, directory: Path) -> None:
        """Take a directory and all below it as durable."""
        if directory.is_dir():
            self._keep_names(directory)
            for name, file in self._durable[directory].items():
                if file is None:
                    self._learn(directory / name)

    def _keep_names(self, directory: Path) -> None:
        self._durable[directory] = {
            entry.name: None if entry.is_dir(follow_symlinks=False) else self._file(Path(entry.path))
            for entry in os.scandir(directory)
        }

    def _file(self, path: Path) -> _File:
        """Return the file under a name; one that somebody else made or changed counts as durable."""
        data = path.read_bytes()
        file = self._files.get(path.stat().st_ino)
        if file is None or file.data != data:
            file = _File(data, durable=True)
            self._files[path.stat().st_ino] = file
        return file

    # -- calls that matter -------------------------------------------------------------------------------------------

    def before(self, call: Call) -> None:
        """Cut the power here, when that was asked."""
        if call.number == self._at:
            self.cut_power(self._chance)
            os._exit(STOPPED)

    def create_temp(self, path: Path, *, mode: int) -> int:
        """As `Disk.create_temp`; neither the name nor the bytes are durable yet."""
        descriptor = super().create_temp(path, mode=mode)
        self._open[descriptor] = self._files[os.fstat(descriptor).st_ino] = _File(b"", durable=False)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        """As `Disk.write`; the bytes are not durable yet."""
        super().write(descriptor, data)
        self._open[descriptor].data += data

    def sync(self, descriptor: int) -> None:
        """As `Disk.sync`; the bytes are durable now."""
        super().sync(descriptor)
        self._open[descriptor].durable = self._open[descriptor].data

    def sync_directory(self, path: Path) -> None:
        """As `Disk.sync_directory`; the names are durable now."""
        super().sync_directory(path)
        if path.is_relative_to(self._root):
            self._keep_names(path)
        elif path == self._root.parent and self._root.is_dir():
            self._durable.setdefault(self._root, {})

    # -- the power cut -----------------------------------------------------------------------------------------------

    def cut_power(self, chance: Random | None = None) -> None:
        """Rewrite the tree to what the disk may hold after a power cut at this moment.

        Without `chance` everything that was not made durable is gone: unsynced bytes, unsynced names.
        With it each directory keeps or loses its unsynced names at random, and each unsynced file a part of its
        bytes: a disk is free to have written any of it.
        """
        now = self._scan_all()
        left = {
            directory: now[directory] if chance and directory in now and chance.random() < 0.5 else names  # noqa: PLR2004
            for directory, names in self._durable.items()
        }
        if chance:
            left = {**{directory: names for directory, names in now.items() if directory not in left}, **left}
        shutil.rmtree(self._root, ignore_errors=True)
        if self._root in left:
            self._write_back(self._root, left, chance)

    def _scan_all(self) -> dict[Path, _Names]:
        found: dict[Path, _Names] = {}
        for directory, folders, files in os.walk(self._root):
            place = Path(directory)
            found[place] = {**dict.fromkeys(folders), **{name: self._file(place / name) for name in files}}
        return found

    def _write_back(self, directory: Path, left: dict[Path, _Names], chance: Random | None) -> None:
        directory.mkdir(parents=True)
        for name, file in left.get(directory, {}).items():
            if file is None:
                self._write_back(directory / name, left, chance)
            else:
                data = file.durable
                if chance and file.data != data:
                    data = file.data[: chance.randint(0, len(file.data))]
                (directory / name).write_bytes(data)
