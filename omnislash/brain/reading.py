"""Reading the files of a brain, and knowing later whether one of them is another now.

Every file that is read and every directory that is listed leaves a stamp: times, size and inode.
Comparing the stamps tells whether anything changed without opening a file: some 75 calls of stat, a quarter of a
millisecond.
A directory whose stamp differs is listed again, because editors and the index leave files beside ours; only other
names of our kind count as a change.
A file that was saved in the very moment in which it was read may be saved again within the same tick of the file
system's clock and keep its stamp; such a file is compared by its bytes until the tick is over.

An unchanged file is neither read nor decoded again: its result is taken from the reading before.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from omnislash.brain.decoding import Decoded
from omnislash.brain.file_text import FILE_MAX_BYTES, decode_text, too_large
from omnislash.errors import Fault
from omnislash.store.system_clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Mapping as MappingType
    from pathlib import Path

T = TypeVar("T")

#: Times of change, size, inode and device; None = there is nothing.
Stamp: TypeAlias = tuple[int, int, int, int, int] | None

#: Longest tick of a usual file system's clock, with room to spare, in seconds.
TICK_S: Final = 0.1
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory."""

    name: str
    is_directory: bool
    #: True for a link to a directory, which is not followed.
    is_link: bool = False


def show_path(path: str) -> str:
    """Return a path as it may be printed: bytes that are no UTF-8 and control characters are escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in path)


def stamp_of(path: str) -> Stamp:
    """Return the stamp of what lies at a path, links followed."""
    try:
        return _stamp(os.stat(path))  # noqa: PTH116  a Path costs more than the call
    except (OSError, ValueError):
        return None


def _stamp(found: os.stat_result) -> Stamp:
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


class Reading:
    """One pass over the files of a brain."""

    def __init__(self, previous: Reading | None = None, *, instead: MappingType[str, bytes] | None = None) -> None:
        """Begin a pass.

        Args:
            previous: What it read and did not change is taken from it.
            instead: Bytes by path that stand for what lies there, to see what would become of a change.
        """
        self._instead = instead or {}
        self._before: dict[str, tuple[Stamp, Any]] = previous.results if previous else {}
        #: Files whose stamp says nothing about what was read of them before.
        self._doubted = frozenset(previous._young if previous else ())  # noqa: SLF001 - a pass and the one before it
        #: What became of each file, with the stamp that it had.
        self.results: dict[str, tuple[Stamp, Any]] = {}
        self._stamps: dict[str, Stamp] = {}
        self._listings: dict[str, tuple[Callable[[Entry], bool], tuple[Entry, ...] | None]] = {}
        self._young: dict[str, bytes] = {}

    def read(self, file: Path, parse: Callable[[str], Decoded[T]], *, label: str) -> Decoded[T] | None:
        """Return what `parse` makes of a file, or the fault of reading it; None when there is no file.

        Args:
            file: Where it lies; a link to a file is followed.
            parse: Makes a value of the text; the same for the same file in every pass.
            label: Name of the file in faults.
        """
        path = str(file)
        if path in self._instead:
            return _parse(self._instead[path], len(self._instead[path]), parse, label)
        now = stamp_of(path)
        before = self._before.get(path)
        if before is None or before[0] != now or now is None or path in self._doubted:
            before = self._read(path, parse, label)
        self.results[path] = before
        self._stamps[path] = before[0]
        result: Decoded[T] | None = before[1]
        return result

    def _read(self, path: str, parse: Callable[[str], Decoded[T]], label: str) -> tuple[Stamp, Decoded[T] | None]:
        begun = _now()
        try:
            found, data = _read_bytes(path)
        except FileNotFoundError:
            is_link = os.path.islink(path)  # noqa: PTH114  a text, as above
            return None, Decoded(None, (_dead_link(label),)) if is_link else None
        except OSError as error:
            return stamp_of(path), Decoded(None, (_unreadable(error, label),))
        stamp = _stamp(found)
        if _is_young(stamp, begun):
            self._young[path] = data
        return stamp, _parse(data, found.st_size, parse, label)

    def list(self, directory: Path, keep: Callable[[Entry], bool]) -> tuple[Entry, ...] | None:
        """Return the names in a directory that `keep` keeps, sorted; None when it can't be listed.

        A directory that does not exist holds nothing.
        """
        path = str(directory)
        self._stamps[path] = stamp_of(path)
        entries = _list(path, keep)
        self._listings[path] = (keep, entries)
        return entries

    def has_changed(self) -> bool:
        """Tell whether a file or directory of this pass is another now."""
        for path, stamp in self._stamps.items():
            now = stamp_of(path)
            if now != stamp and not self._is_same_listing(path, now):
                return True
        return any(self._is_other(path) for path in tuple(self._young))

    def _is_same_listing(self, path: str, now: Stamp) -> bool:
        """Tell whether a directory with another stamp holds the same names of our kind; remember the stamp then."""
        keep, entries = self._listings.get(path, (None, None))
        if keep is None or _list(path, keep) != entries:
            return False
        self._stamps[path] = now
        return True

    def _is_other(self, path: str) -> bool:
        """Compare a young file by its bytes; forget about it once its stamp can be trusted."""
        is_settled = not _is_young(self._stamps.get(path), _now())
        try:
            is_other = _read_bytes(path)[1] != self._young[path]
        except OSError:
            return True
        if is_settled and not is_other:
            del self._young[path]
        return is_other


def _parse(data: bytes, size: int, parse: Callable[[str], Decoded[T]], label: str) -> Decoded[T]:
    """Return what `parse` makes of the bytes of a file of so many bytes, or the fault of reading them."""
    if len(data) > FILE_MAX_BYTES:
        return Decoded(None, (too_large(label, size),))
    text, faults = decode_text(data, path=label)
    if faults and not text:
        return Decoded(None, faults)
    result = parse(text)
    return Decoded(None, (*faults, *result.faults), result.root) if faults else result


def _is_young(stamp: Stamp, begun: float) -> bool:
    """Tell whether a file that was read from that moment on may have been saved again with the same stamp."""
    return stamp is not None and begun - max(stamp[:2]) / 1e9 < TICK_S


def _now() -> float:
    return SystemClock().now().timestamp()


def _read_bytes(path: str) -> tuple[os.stat_result, bytes]:
    """Return state and bytes of a regular file, at most one byte more than allowed; a pipe never blocks."""
    descriptor = os.open(path, _OPEN_FLAGS)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor has no Path
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            message = "it is no regular file"
            raise OSError(message)
        return found, _read_all(file.read)


def _read_all(read: Callable[[int], bytes | None]) -> bytes:
    parts: list[bytes] = []
    left = FILE_MAX_BYTES + 1
    while left > 0 and (part := read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _unreadable(error: OSError, label: str) -> Fault:
    reason = error.strerror or str(error)
    return Fault(label, f"The file can't be read: {reason[0].lower()}{reason[1:]}.", hint="Put a readable file there.")


def _dead_link(label: str) -> Fault:
    return Fault(label, "The file is a link that leads nowhere.", hint="Mend the link, or remove it.")


def _list(path: str, keep: Callable[[Entry], bool]) -> tuple[Entry, ...] | None:
    try:
        with os.scandir(path) as found:
            entries = sorted(map(_as_entry, found), key=lambda entry: entry.name)
    except FileNotFoundError:
        return ()
    except OSError:
        return None
    return tuple(entry for entry in entries if keep(entry))


def _as_entry(found: os.DirEntry[str]) -> Entry:
    try:
        is_directory = found.is_dir()
        return Entry(found.name, is_directory, is_directory and found.is_symlink())
    except OSError:
        return Entry(found.name, is_directory=False)
