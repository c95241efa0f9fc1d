"""The managed files of a brain: where they lie, safe reads, and the steps of a durable replacement.

A path is resolved before it is used, so that a symbolic link inside `memory/` leads neither a read nor a write out of
its line (SCOPE-O6).
A replacement never writes in place: see :mod:`omnislash.store.disk`, and :mod:`omnislash.store.replacement` for the
names that it goes through.

Rules: SCOPE-02, SCOPE-O6, LINE-01, LINE-04; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from omnislash.core.lines import ManagedPath, split_path
from omnislash.errors import ScopeError, StorageError
from omnislash.store import ids
from omnislash.store.directories import Directories
from omnislash.store.disk import NO_LINKS, Disk, ExchangeUnsupportedError, read_regular
from omnislash.store.os_errors import place_error
from omnislash.store.replacement import Replacement
from omnislash.store.settling import read_settled, wait_for_writers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NEW_FILE_MODE = 0o644


class MemoryFiles:
    """The files under one brain's `memory/`."""

    def __init__(self, memory: Path, *, disk: Disk | None = None, shown_as: str = "memory/") -> None:
        """Name the directory; it may not exist yet.

        Args:
            memory: The brain's `memory/`.
            disk: The calls that change the disk; the real ones by default.
            shown_as: What a person reads before a path in a message; '' for a directory that is not `memory/`.
        """
        self.memory = memory
        self.disk = disk or Disk()
        self._shown_as = shown_as
        self._directories = Directories(self.disk)
        self._checked_lines: set[str] = set()

    # -- where a path lies -------------------------------------------------------------------------------------------

    def locate(self, path: ManagedPath) -> Path:
        """Return the absolute place of a managed path.

        Raises:
            ScopeError: A symbolic link on the way leads out of the line.
            StorageError: The line's folder has a twin that differs in letter case only.
        """
        line, _ = split_path(path)
        if line not in self._checked_lines:
            self._check_line(line)
        place = self.memory / path
        if self._meets_link(path) and not self._resolves_inside(place, line):
            shown = self._shown_as + path
            message = f"{shown} leads out of its line through a symbolic link; nothing was read or written."
            raise ScopeError(message, path=shown, hint="Replace the link by a real file or folder.")
        return place

    def _meets_link(self, path: ManagedPath) -> bool:
        """Tell whether a segment of the path is a symbolic link; the usual answer is no, and cheap."""
        place = os.fspath(self.memory)
        try:
            for segment in path.split("/"):
                place = f"{place}{os.sep}{segment}"
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    return True
        except OSError:
            return False
        return False

    def _resolves_inside(self, place: Path, line: str) -> bool:
        root = os.path.realpath(self.memory)
        return os.path.realpath(place).startswith(os.path.join(root, line) + os.sep)

    def _check_line(self, line: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for name in os.listdir(self.memory):
                if name != line and name.casefold() == line.casefold():
                    shown, other = self._shown_as + name, self._shown_as + line
                    raise StorageError(
                        f"{shown} and {other} differ in letter case only. Rename one of them.", path=shown
                    )
                if name == line:
                    self._checked_lines.add(line)

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, path: ManagedPath) -> bytes | None:
        """Return the file's bytes, or None when there is no such file.

        Raises:
            StorageError: Something else is in the way, or the disk refuses.
        """
        return self._read_at(self.locate(path), path)

    def _read_at(self, place: Path, path: ManagedPath) -> bytes | None:
        try:
            return read_regular(place)
        except OSError as error:
            raise self.explain(error, path) from error

    def explain(self, error: OSError, path: ManagedPath) -> StorageError:
        """Return an error of the operating system as one sentence with the path, the cause and a next step."""
        return place_error(error, self._shown_as + path)

    def read_settled(self, path: ManagedPath, *, known: bytes | None = None) -> bytes | None:
        """Return the file's bytes once nobody is in the middle of saving it in place.

        Waits at most `OPEN_WRITER_LIMIT_S` for an open writer, then reads what is there.
        Bytes that are the `known` ones are no half of a save, and nobody is waited for.

        Raises:
            StorageError: Something else is in the way, or the disk refuses.
        """
        try:
            return read_settled(self.locate(path), known=known)[0]
        except OSError as error:
            raise self.explain(error, path) from error

    def read_target(self, change: Replacement) -> bytes | None:
        """Return the bytes that stand under the real name of a change right now."""
        return self._read_at(change.target, change.path)

    # -- the steps of a replacement ----------------------------------------------------------------------------------

    def prepare(self, path: ManagedPath, *, before: bytes | None, after: bytes | None) -> Replacement:
        """Choose the temporary name of a change; nothing is on disk yet."""
        target = self.locate(path)
        return Replacement(path, target, target.parent / ids.new_temp_name(), before, after)

    def stage(self, changes: Iterable[Replacement]) -> None:
        """Write the new bytes of each change under its temporary name and make them durable.

        All of them are written before the first sync: the file system then commits their metadata once.

        Raises:
            FileNotFoundError: A file that was to be changed is gone.
            OSError: The disk said no; temporary files may be there and have to be cleaned.
        """
        opened: list[tuple[Replacement, int]] = []
        try:
            for change in changes:
                mode = self._mode_of(change)
                if change.after is None:
                    continue
                self.make_directories(change.target.parent, made=change.made)
                opened.append((change, self.disk.create_temp(change.unfinished, mode=mode)))
                self.disk.write(opened[-1][1], change.after)
            for change, descriptor in opened:
                self.disk.sync(descriptor)
                self.disk.replace(change.unfinished, change.ready)
                change.staged = True
        finally:
            for _, descriptor in opened:
                os.close(descriptor)

    @staticmethod
    def _mode_of(change: Replacement) -> int:
        """Return the permissions that the new file takes over; refuse a file that is marked read-only."""
        if change.before is None:
            return _NEW_FILE_MODE if change.mode is None else change.mode
        mode = stat.S_IMODE(os.stat(change.target, follow_symlinks=False).st_mode)
        if not mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "the file is marked read-only", str(change.target))
        return mode if change.mode is None else change.mode

    def make_directories(self, directory: Path, *, made: list[Path]) -> None:
        """Create a directory and its missing parents, each made durable in its parent.

        Args:
            directory: The directory that has to be there.
            made: Receives those that were created, outermost first, also when it ends with an error.
        """
        self._directories.make(directory, made=made)

    def remove_made(self, change: Replacement) -> None:
        """Remove the directories that were made for a change which did not come about, unless they are in use."""
        self._directories.remove(change.made)

    def swap(self, change: Replacement) -> None:
        """Put the new bytes under the real name in one step; what was there waits under the temporary name.

        Raises:
            FileExistsError: A new file was to be made, and somebody made one first.
            FileNotFoundError: The file that was to be changed is gone.
            OSError: The disk said no; nothing has changed.
        """
        if change.after is None:
            self.disk.rename_new(change.target, change.ready)
        elif change.before is None:
            self._place_new(change)
        else:
            self._exchange(change)
        change.applied = True

    def _place_new(self, change: Replacement) -> None:
        try:
            self.disk.link(change.ready, change.target)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            self.disk.rename_new(change.ready, change.target)

    def _exchange(self, change: Replacement) -> None:
        try:
            self.disk.exchange(change.ready, change.target)
        except ExchangeUnsupportedError:
            if self.read_target(change) != change.before:
                raise FileNotFoundError(errno.ENOENT, "the file changed", str(change.target)) from None
            self.disk.replace(change.ready, change.target)
            change.blind = True

    def has_swapped(self, change: Replacement) -> bool:
        """Tell whether a swap that reported an error has happened all the same, as it may on a network disk."""
        with contextlib.suppress(OSError, StorageError):
            there, ready = self.read_target(change), self.read_ready(change)
            if change.before is None:
                return (ready is None and there == change.after) or os.path.samefile(change.ready, change.target)
            return there == change.after and ready == change.before
        return False

    def displaced(self, change: Replacement) -> tuple[bytes | None, bool]:
        """Return what a swap brought out, and whether somebody still holds it open for writing.

        Waits for an in-place save that was under way; where the platform can't tell, a file saved within the last two
        seconds is looked at twice.
        """
        if change.before is None or change.blind:
            return change.before, False
        return read_settled(change.ready)

    @staticmethod
    def read_ready(change: Replacement) -> bytes | None:
        """Return the bytes under the `.new` name, or None when there are none."""
        try:
            return read_regular(change.ready)
        except NotADirectoryError:
            return None

    def take_back(self, change: Replacement) -> bool:
        """Undo an applied change: what came out of the swap goes in again.

        Returns:
            True when the file is as it was before.
            False when a person saved on top of the new bytes in that moment: their save stays, and what came out of
            the first swap waits under the `.new` name.

        Raises:
            OSError: The disk said no a second time; the new bytes stay under the real name.
        """
        if change.after is None:
            clean = self._put_back_removed(change)
        elif change.before is None:
            clean = self._withdraw_new(change)
        elif change.blind:
            clean = self._restore_blind(change)
        else:
            clean = self._exchange_back(change)
        change.applied = False
        change.foreign = not clean
        return clean

    def _put_back_removed(self, change: Replacement) -> bool:
        try:
            self.disk.rename_new(change.ready, change.target)
        except FileExistsError:
            return False
        return True

    def _withdraw_new(self, change: Replacement) -> bool:
        """Take a new file away again; what is under its name by now comes out under `.new`, as it does elsewhere."""
        with contextlib.suppress(FileNotFoundError):
            self.disk.unlink(change.ready)
        try:
            self.disk.rename_new(change.target, change.ready)
        except FileNotFoundError:
            return True
        if self._came_back(change):
            return True
        with contextlib.suppress(FileExistsError):
            self.disk.rename_new(change.ready, change.target)
        return False

    def _came_back(self, change: Replacement) -> bool:
        """Tell whether the engine's own bytes came out, and nobody is about to write into them."""
        return not wait_for_writers(change.ready) and self.read_ready(change) == change.after

    def _restore_blind(self, change: Replacement) -> bool:
        if self.read_target(change) != change.after:
            return False
        self.stage([Replacement(change.path, change.target, change.temp, change.after, change.before)])
        self.disk.replace(change.ready, change.target)
        return True

    def _exchange_back(self, change: Replacement) -> bool:
        try:
            self.disk.exchange(change.ready, change.target)
        except FileNotFoundError:
            return False
        if self._came_back(change):
            return True
        self.disk.exchange(change.ready, change.target)
        return False

    def sync_parents(self, changes: Iterable[Replacement]) -> None:
        """Make the new names durable: one sync for each directory."""
        for directory in sorted({change.target.parent for change in changes}):
            self.disk.sync_directory(directory)

    def sync_chain(self, changes: Iterable[Replacement]) -> None:
        """Make names durable up to `memory/` itself: a dead process may have made directories and not synced them."""
        root = self.memory.parent
        parents = {place for each in changes for place in each.target.parents if place == root or root in place.parents}
        for directory in sorted(parents):
            if directory.is_dir():
                self.disk.sync_directory(directory)

    def discard(self, change: Replacement) -> bool:
        """Remove the temporary names; True when none is left.

        A `.new` that may hold somebody else's bytes stays.
        """
        if change.staged and not change.foreign:
            return self._remove(change.ready)
        names = (change.unfinished,) if change.foreign else (change.unfinished, change.ready)
        for name in names:
            if not _is_gone(name):
                self._remove(name)
        return _is_gone(change.unfinished) and _is_gone(change.ready)

    def _remove(self, name: Path) -> bool:
        """Remove a name that may be gone already; False when it stays."""
        try:
            self.disk.unlink(name)
        except OSError:
            return _is_gone(name)
        return True

    def keep_copy(self, change: Replacement, copy: ManagedPath) -> None:
        """Give the bytes that came out of an exchange a name that a person finds.

        Raises:
            OSError: The disk said no; the bytes stay under the temporary name.
        """
        target = self.locate(copy)
        self.make_directories(target.parent, made=[])
        self.disk.rename_new(change.ready, target)
        change.foreign = False
        self.disk.sync_directory(target.parent)


def _is_gone(place: Path) -> bool:
    try:
        os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
