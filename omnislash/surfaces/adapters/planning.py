"""What an installation does to each file of a host, worked out before anything is changed.

A file that can't be read, or has another form than the host knows, stops everything.
Taking out gives a file the bytes it had before, as long as nobody changed it since; else only our entries go.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.errors import ConfigError, Fault, StorageError, UsageError
from omnislash.store.hashing import hash_bytes
from omnislash.store.lone_files import lone_error, read_lone, resolve_link
from omnislash.surfaces.adapters import json_settings
from omnislash.surfaces.adapters.receipts import Receipt, Receipts
from omnislash.surfaces.adapters.settings_text import SettingsTextError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.store.disk import Disk
    from omnislash.surfaces.adapters.base import Entry, Host, HostFile, Scope

#: Longest file that is taken for settings, in bytes: far above what hosts gather in years.
BYTES_MAX: Final = 32 * 1024 * 1024
#: The file that makes a directory a brain.
SIGN: Final = "omnislash.yaml"
NOTHING_DONE: Final = "Nothing was changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which files of which host."""

    host: Host
    scope: Scope
    #: The project's directory, absolute and without links.
    project: Path
    #: Variables that move the host's files.
    environment: Mapping[str, str]

    def files(self) -> tuple[HostFile, ...]:
        """Return the files of the scope."""
        return self.host.files(self.scope, self.project, self.environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A file of a host as it stands."""

    file: HostFile
    #: Where it really lies, links followed.
    target: Path
    #: None when there is no file.
    data: bytes | None
    #: Entries of ours in it.
    found: json_settings.Found

    @property
    def text(self) -> str:
        """The file as text; empty when there is none."""
        return (self.data or b"").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to become of a file."""

    loaded: Loaded
    #: None = the file goes.
    after: bytes | None
    #: What to keep for going back; None = forget what was kept.
    receipt: Receipt | None
    #: Directories that go with the file, as far as they are empty.
    unmade: tuple[Path, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Tell whether the file changes at all."""
        return self.after != self.loaded.data


# -- looking ---------------------------------------------------------------------------------------------------------


def load(host: Host, file: HostFile) -> Loaded:
    """Return a file of a host with our entries in it.

    Raises:
        ConfigError: It is no UTF-8 or no JSON, or has another form than the host knows.
        StorageError: It can't be read, or is far too long.
    """
    try:
        target = resolve_link(file.path)
        data = read_lone(target)
    except OSError as error:
        raise lone_error(error, file.path, doing="read") from error
    if data is not None and len(data) > BYTES_MAX:
        message = f"{file.path} holds more than {BYTES_MAX} bytes, too much for settings. {NOTHING_DONE}"
        raise StorageError(message, path=str(file.path), hint="Look whether it is the right file.")
    try:
        found = json_settings.find(host, file, (data or b"").decode())
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _refuse(file, "it is no UTF-8 text", line=line, hint="Save it as UTF-8.") from error
    except SettingsTextError as error:
        hint = error.hint or f"{host.title} can't read it either: mend it and try again."
        raise _refuse(file, error.message, line=error.line, column=error.column, hint=hint) from error
    return Loaded(file=file, target=target, data=data, found=found)


def _refuse(file: HostFile, what: str, *, line: int, hint: str, column: int | None = None) -> ConfigError:
    message = f"{what[0].upper()}{what[1:]}. {NOTHING_DONE}"
    return ConfigError((Fault(path=str(file.path), message=message, line=line, column=column, hint=hint),))


# -- planning --------------------------------------------------------------------------------------------------------


def plan_install(where: Where, entry: Entry, disk: Disk) -> list[Change]:
    """Return what an installation does to each file.

    Raises:
        ConfigError, StorageError: A file can't be read or has another form.
        UsageError: Another brain is installed there.
    """
    loaded = [load(where.host, file) for file in where.files()]
    for each in loaded:
        _check_others(where, each, entry)
    receipts = Receipts(Path(entry.brain), where.host.id, disk)
    return [_plan_addition(where.host, each, entry, receipts) for each in loaded]


def _check_others(where: Where, loaded: Loaded, entry: Entry) -> None:
    """Refuse to take the place of a brain that is still there; one that was moved or deleted gives way."""
    for other in loaded.found.entries:
        if not _is_same_brain(other.brain, entry.brain) and Path(other.brain, SIGN).is_file():
            message = f"{loaded.file.path} already carries {other.describe()}. {NOTHING_DONE}"
            hint = f"Take it out first: omnislash hooks uninstall {where.host.id} --scope {where.scope.value}"
            raise UsageError(message, path=str(loaded.file.path), hint=hint)


def _is_same_brain(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _plan_addition(host: Host, loaded: Loaded, entry: Entry, receipts: Receipts) -> Change:
    try:
        text = json_settings.add(host, loaded.file, loaded.text, entry)
    except SettingsTextError as error:
        hint = error.hint or "Mend it and try again."
        raise _refuse(loaded.file, error.message, line=error.line, column=error.column, hint=hint) from error
    after = text.encode()
    if loaded.found.entries and after == loaded.data:
        return Change(loaded=loaded, after=after, receipt=receipts.read(loaded.target))
    return Change(loaded=loaded, after=after, receipt=_write_receipt(host, loaded, after, receipts))


def _write_receipt(host: Host, loaded: Loaded, after: bytes, receipts: Receipts) -> Receipt:
    """Return how to go back: to what is there now, or, for a renewed entry, to what was there before the first."""
    known = receipts.read(loaded.target) if loaded.found.entries else None
    if known is not None:
        is_untouched = known.after == hash_bytes(loaded.data)
        restore = known.restore if is_untouched else None
        return replace(known, after=hash_bytes(after), restore=restore, existed=known.existed)
    return Receipt(
        file=str(loaded.target),
        existed=loaded.data is not None,
        after=hash_bytes(after),
        kept=tuple(sorted(json_settings.empty_places(host, loaded.file, loaded.text))),
    )


def plan_uninstall(where: Where, disk: Disk) -> list[Change]:
    """Return what taking out does to each file; a file without entries of ours is left as it is.

    Raises:
        ConfigError, StorageError: A file can't be read or has another form.
    """
    return [_plan_removal(where.host, load(where.host, file), disk) for file in where.files()]


def _plan_removal(host: Host, loaded: Loaded, disk: Disk) -> Change:
    if not loaded.found.entries or loaded.data is None:
        return Change(loaded=loaded, after=loaded.data, receipt=None)
    receipts = receipts_of(loaded, host, disk)
    receipt = receipts.read(loaded.target) if receipts else None
    unmade = tuple(Path(place) for place in receipt.made) if receipt else ()
    if receipts and receipt and receipt.can_restore and receipt.after == hash_bytes(loaded.data):
        before = receipts.read_backup(receipt.restore) if receipt.restore else None
        if before is not None or not receipt.existed:
            return Change(loaded=loaded, after=before, receipt=None, unmade=unmade)
    kept = frozenset(receipt.kept) if receipt else frozenset()
    text = json_settings.take_out(host, loaded.file, loaded.text, kept=kept)
    is_ours = receipt is not None and not receipt.existed and json_settings.is_blank(text)
    return Change(loaded=loaded, after=None if is_ours else text.encode(), receipt=None, unmade=unmade)


def receipts_of(loaded: Loaded, host: Host, disk: Disk) -> Receipts | None:
    """Return the receipts of the brain that a file carries; None when that brain is gone."""
    brains = [Path(entry.brain) for entry in loaded.found.entries if Path(entry.brain, SIGN).is_file()]
    return Receipts(brains[0], host.id, disk) if brains else None
