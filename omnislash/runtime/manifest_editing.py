"""Changing `constitution/MANIFEST.yaml` itself, for a person: key by key, or as text.

What would not load is not saved: the new text is read by the loader of the whole brain, in memory, before anything is
written. A file that somebody else changed since it was read is not written over. The file is exchanged in one step and
keeps its permissions; a link stays a link, and what it leads to is changed. A worker takes the change up by itself.

Rules: DASH-07, DASH-O2, KNOB-26, KNOB-O6.
"""

from __future__ import annotations

import difflib
import logging
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.brain.file_text import decode_text
from omnislash.brain.loading import inspect_brain
from omnislash.brain.manifest import MANIFEST_FILE, parse_manifest
from omnislash.brain.yaml_editing import UneditableError, edit_yaml
from omnislash.errors import Fault, InvalidContentError, StorageError
from omnislash.store.disk import Disk
from omnislash.store.hashing import hash_bytes
from omnislash.store.lone_files import (
    FileChangedError,
    lone_error,
    read_lone,
    replace_lone,
    resolve_link,
    write_new,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.tree import Mapping as Keys
    from omnislash.brain.yaml_editing import Value

_LOG = logging.getLogger(__name__)
_BOM: Final = "\ufeff"
#: Permissions of a manifest that is made here, before the umask.
_NEW_MODE: Final = 0o644
#: As many pairs of changed lines are compared, which takes a second at worst; beyond it all get the usual line end.
_PAIRS_MAX: Final = 1_000_000


class SaveOutcome(StrEnum):
    """What became of a save."""

    SAVED = "saved"
    #: There was nothing to change.
    UNCHANGED = "unchanged"
    #: The new text would not load; nothing was written.
    REFUSED = "refused"
    #: The file is another one than the change was made from; nothing was written.
    STALE = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestText:
    """The file as it is."""

    #: Its text without a byte order mark; '' when there is no file, None when it is not UTF-8.
    text: str | None
    #: SHA-256 of its bytes, or `absent`.
    hash: str
    #: What keeps it from loading; the defaults, or the last good file, hold then.
    faults: tuple[Fault, ...]
    #: What it says, also of a file with faults; None when not even the syntax holds.
    root: Keys | None

    @property
    def exists(self) -> bool:
        """Whether the brain has the file; without one, the defaults hold."""
        return self.hash != hash_bytes(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSave:
    """What became of a save, and what is to be said about it."""

    outcome: SaveOutcome
    #: What is wrong with the new text; for a saved one, what it keeps from loading elsewhere.
    faults: tuple[Fault, ...] = ()
    #: Whether faults of other files keep what was saved from taking effect.
    is_blocked: bool = False


class ManifestEditor:
    """Reads and changes the manifest of one brain."""

    def __init__(self, root: Path, *, shipped: Path, disk: Disk | None = None) -> None:
        """Keep the brain and the shipped constitution; nothing is read yet."""
        self._root = root
        self._shipped = shipped
        self._disk = disk or Disk()
        self._place = root / MANIFEST_FILE

    def read(self) -> ManifestText:
        """Return the file as it is now.

        Raises:
            StorageError: Something else is in the way, or the disk refuses.
        """
        data = self._read()
        text, faults = decode_text(data or b"", path=MANIFEST_FILE)
        if faults:
            return ManifestText(text=None, hash=hash_bytes(data), faults=faults, root=None)
        found = parse_manifest(text)
        return ManifestText(text=text, hash=hash_bytes(data), faults=found.faults, root=found.root)

    def save(self, changes: Mapping[tuple[str, ...], Value | None], *, expect: str) -> ManifestSave:
        """Set keys to other values, or remove them with None; everything else stays as it is.

        Args:
            changes: By chain of keys.
            expect: Hash of the file that the change was made from.

        Raises:
            InvalidContentError: The file is written in a way that allows no such change; its text can be edited.
            StorageError: The disk refuses; nothing has changed.
        """
        data = self._read()
        if hash_bytes(data) != expect:
            return ManifestSave(outcome=SaveOutcome.STALE)
        text, faults = decode_text(data or b"", path=MANIFEST_FILE)
        if faults:
            return ManifestSave(outcome=SaveOutcome.REFUSED, faults=faults)
        mark = _BOM if data and data.startswith(_BOM.encode()) else ""
        try:
            new = edit_yaml(text, changes)
        except UneditableError as error:
            key = str(error) or None
            message = (
                f"{key or 'This'} can't be changed by the form: the file spells it in a way of its own. Nothing was "
                "changed. Edit it as text."
            )
            raise InvalidContentError(message, path=MANIFEST_FILE, key=key) from error
        return self._write(data, (mark + new).encode())

    def save_text(self, text: str, *, expect: str) -> ManifestSave:
        """Replace the whole text; lines that are in both keep their line ends, and the file keeps its byte order mark.

        Args:
            text: With line feeds, as a form sends it.
            expect: Hash of the file that the change was made from.

        Raises:
            InvalidContentError: The text holds what can't be stored.
            StorageError: The disk refuses; nothing has changed.
        """
        data = self._read()
        if hash_bytes(data) != expect:
            return ManifestSave(outcome=SaveOutcome.STALE)
        old = (data or b"").decode("utf-8", "replace")
        mark = _BOM if old.startswith(_BOM) and not text.startswith(_BOM) else ""
        try:
            new = (mark + keep_line_ends(old.removeprefix(_BOM), text)).encode()
        except UnicodeEncodeError as error:
            message = "The text holds half of a character. Nothing was changed. Delete it, or type the whole character."
            raise InvalidContentError(message, path=MANIFEST_FILE) from error
        return self._write(data, new)

    # -- the file ----------------------------------------------------------------------------------------------------

    def _read(self) -> bytes | None:
        try:
            return read_lone(resolve_link(self._place))
        except OSError as error:
            raise lone_error(error, Path(MANIFEST_FILE)) from error

    def _write(self, before: bytes | None, after: bytes) -> ManifestSave:
        if after == before or (before is None and not after):
            return ManifestSave(outcome=SaveOutcome.UNCHANGED)
        now = self._inspect(before)
        coming = self._inspect(after)
        faults = _find_new(coming, now)
        if faults:
            return ManifestSave(outcome=SaveOutcome.REFUSED, faults=faults)
        try:
            self._replace(before, after)
        except (FileChangedError, FileExistsError):
            return ManifestSave(outcome=SaveOutcome.STALE)
        except OSError as error:
            raise self._explain(error, after) from error
        _LOG.info("The settings were saved.", extra={"action": "settings_saved", "path": MANIFEST_FILE})
        is_blocked = any(fault.fatal for fault in coming.faults)
        return ManifestSave(outcome=SaveOutcome.SAVED, faults=_minus(coming.faults, now.faults), is_blocked=is_blocked)

    def _explain(self, error: OSError, after: bytes) -> StorageError:
        """Return why the disk refused, and say so when the new text stands there all the same."""
        wrapped = lone_error(error, Path(MANIFEST_FILE), doing="saved")
        if self._read() != after:
            return wrapped
        message = f"{MANIFEST_FILE} holds the new text, but the disk does not confirm that it lasts. {wrapped.message}"
        return StorageError(message, path=MANIFEST_FILE, hint=wrapped.hint)

    def _inspect(self, data: bytes | None) -> BrainFiles:
        return inspect_brain(self._root, shipped=self._shipped, instead={} if data is None else {MANIFEST_FILE: data})

    def _replace(self, before: bytes | None, after: bytes) -> None:
        place = resolve_link(self._place)
        if before is not None:
            replace_lone(place, before=before, after=after, disk=self._disk)
            return
        if not place.parent.is_dir():
            self._disk.make_directory(place.parent)
            self._disk.sync_directory(place.parent.parent)
        write_new(place, after, mode=_NEW_MODE, disk=self._disk)


def _find_new(coming: BrainFiles, now: BrainFiles) -> tuple[Fault, ...]:
    """Return why a brain must not become another one: every fault of the manifest, and each new one that stops a boot."""
    own = tuple(fault for fault in coming.faults if fault.path == MANIFEST_FILE)
    return own + tuple(fault for fault in _minus(coming.faults, now.faults) if fault.fatal and fault not in own)


def _minus(faults: Iterable[Fault], known: Iterable[Fault]) -> tuple[Fault, ...]:
    old = set(known)
    return tuple(fault for fault in faults if fault not in old)


def keep_line_ends(old: str, new: str) -> str:
    """Return a text with line feeds with the line ends of the text that it was made from.

    A line that is in both keeps its own; a new one gets those that most lines have.
    """
    if "\r" not in old:
        return new
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    bare_before, bare_after = [line.rstrip("\r\n") for line in before], [line.rstrip("\r\n") for line in after]
    usual = "\r\n" if 2 * old.count("\r\n") > old.count("\n") else "\n"
    kept: dict[int, str] = {}
    for low, first, size in _find_same(bare_before, bare_after):
        kept |= {first + step: before[low + step][len(bare_before[low + step]) :] for step in range(size)}
    ends = [(kept.get(number) or usual) if line != bare_after[number] else "" for number, line in enumerate(after)]
    return "".join(map("".join, zip(bare_after, ends, strict=True)))


def _find_same(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield where lines are the same: the first one in the old text and in the new one, and how many."""
    fewer = min(len(old), len(new))
    head = next((number for number in range(fewer) if old[number] != new[number]), fewer)
    tail = next((number for number in range(fewer - head) if old[-1 - number] != new[-1 - number]), fewer - head)
    yield 0, 0, head
    yield len(old) - tail, len(new) - tail, tail
    changed, instead = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(changed) * len(instead) <= _PAIRS_MAX:
        for low, first, size in difflib.SequenceMatcher(a=changed, b=instead, autojunk=False).get_matching_blocks():
            yield head + low, head + first, size
