"""What a brain keeps of the files of hosts that were changed for it: the bytes before, and how to go back.

All of it lies in the brain's `.omnislash/`, which git never sees: a host's settings may hold keys.
A backup is never overwritten and never removed.

Several entries may stand in one file, each at its own keys and with a receipt of its own, perhaps in another brain.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omnislash.store.hashing import hash_bytes
from omnislash.store.locks import make_lock_directory
from omnislash.store.lone_files import read_lone, remove_lone, replace_lone, write_new

if TYPE_CHECKING:
    from omnislash.store.disk import Disk

#: The file that makes a directory a brain.
SIGN: Final = "omnislash.yaml"
_STATE: Final = ".omnislash"
_BACKUPS: Final = "backups"
_HOSTS: Final = "hosts"
#: Backups may hold what the host keeps for this person alone.
_MODE: Final = 0o600
#: How many names are tried for a backup of one instant.
_TRIES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """How a file gets bytes that it had before; open as long as it is what we left."""

    #: Hash of the bytes that we left.
    after: str
    #: Name of the backup with the bytes to go back to; None when there was no file.
    restore: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was done to one file of a host for one entry."""

    #: The file.
    file: str
    #: The keys that lead to the object that holds the entry.
    keys: tuple[str, ...]
    #: True when the file was there before the first entry of ours.
    existed: bool
    #: To what was there before this entry; None when somebody changed the file before the entry was renewed.
    own: WayBack | None = None
    #: To what was there before the first entry of ours, for when no other is left; it follows each change of ours.
    first: WayBack | None = None
    #: Keys of objects and lists that were there before, and empty.
    kept: tuple[tuple[str, ...], ...] = ()
    #: Directories that were made for the file, by whichever entry of ours, outermost first.
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharer:
    """Another entry of ours in a file, and what is kept of it."""

    receipts: Receipts
    receipt: Receipt


class Receipts:
    """The receipts and backups of one brain."""

    def __init__(self, brain: Path, host: str, disk: Disk) -> None:
        """Name the brain and the host; nothing is made yet."""
        self.brain = brain
        self._state = brain / _STATE
        self._host = host
        self._disk = disk

    def _place(self, target: Path, keys: tuple[str, ...]) -> Path:
        named = b"\0".join([os.fsencode(target), *(key.encode("utf-8", "surrogatepass") for key in keys)])
        return self._state / _HOSTS / f"{self._host}-{hash_bytes(named)[:16]}.json"

    def read(self, target: Path, keys: tuple[str, ...]) -> Receipt | None:
        """Return what was done to a file for an entry; None when nothing is known, or what is kept makes no sense."""
        try:
            receipt = _parse(json.loads(read_lone(self._place(target, keys)) or b"{}"))
        except (OSError, ValueError, TypeError, LookupError):
            return None
        return receipt if (receipt.file, receipt.keys) == (str(target), keys) else None

    def write(self, receipt: Receipt) -> None:
        """Keep what is done to a file for an entry.

        Raises:
            OSError: The disk said no.
        """
        place = self._place(Path(receipt.file), receipt.keys)
        data = json.dumps(asdict(receipt), indent=2).encode() + b"\n"
        self._make(place.parent)
        there = read_lone(place)
        if there is None:
            write_new(place, data, mode=_MODE, disk=self._disk)
        elif there != data:
            replace_lone(place, before=there, after=data, disk=self._disk)

    def drop(self, target: Path, keys: tuple[str, ...]) -> None:
        """Forget what was done to a file for an entry; a receipt that can't be removed does no harm."""
        place = self._place(target, keys)
        with contextlib.suppress(OSError):
            there = read_lone(place)
            if there is not None:
                remove_lone(place, before=there, disk=self._disk)

    def back_up(self, target: Path, data: bytes, *, stamp: str) -> Path:
        """Keep the bytes of a file under a name that is new, and return its place.

        Raises:
            OSError: The disk said no.
        """
        directory = self._state / _BACKUPS
        self._make(directory)
        base = f"{stamp}-{target.name.lstrip('.')}"
        for number in range(1, _TRIES):
            place = directory / (base if number == 1 else f"{base}.{number}")
            with contextlib.suppress(FileExistsError):
                write_new(place, data, mode=_MODE, disk=self._disk)
                return place
        raise FileExistsError(directory / base)

    def read_backup(self, name: str) -> bytes | None:
        """Return the bytes of a backup; None when it is not there any more."""
        if "/" in name or "\\" in name:
            return None
        try:
            return read_lone(self._state / _BACKUPS / name)
        except OSError:
            return None

    def _make(self, directory: Path) -> None:
        for place in (self._state, directory):
            make_lock_directory(place)
        hidden = self._state / ".gitignore"
        with contextlib.suppress(FileExistsError):
            if not hidden.exists():
                write_new(hidden, b"*\n", mode=0o644, disk=self._disk)


def _parse(kept: dict[str, Any]) -> Receipt:
    return Receipt(
        file=kept["file"],
        keys=tuple(kept["keys"]),
        existed=bool(kept["existed"]),
        own=_parse_way(kept["own"]),
        first=_parse_way(kept["first"]),
        kept=tuple(tuple(path) for path in kept["kept"]),
        made=tuple(map(str, kept["made"])),
    )


def _parse_way(kept: dict[str, Any] | None) -> WayBack | None:
    if kept is None:
        return None
    return WayBack(after=kept["after"], restore=None if kept["restore"] is None else str(kept["restore"]))


def missing_directories(directory: Path) -> list[Path]:
    """Return a directory and its parents as far as they are not there, outermost first."""
    missing: list[Path] = []
    while not directory.is_dir() and directory != directory.parent:
        missing.insert(0, directory)
        directory = directory.parent
    return missing


def make_directories(directory: Path, *, disk: Disk) -> list[Path]:
    """Make a directory with its missing parents and return those that were made, outermost first.

    Raises:
        OSError: The disk said no.
    """
    made: list[Path] = []
    for place in missing_directories(directory):
        with contextlib.suppress(FileExistsError):
            disk.make_directory(place)
            disk.sync_directory(place.parent)
            made.append(place)
    return made


def remove_directories(made: tuple[Path, ...], *, disk: Disk) -> None:
    """Remove directories that were made, innermost first, as far as they are empty."""
    with contextlib.suppress(OSError):
        for place in reversed(made):
            disk.remove_directory(place)
