"""What an installation does to each file of a host, worked out before anything is changed.

A file that can't be read, or has another form than the host knows, stops everything.
Taking out gives a file the bytes it had before, as long as nobody changed it since; else only the entry goes.

Several entries may share a file, those of another scope or project: each has a receipt of its own.
What was made for the first of them is handed on to the others, so that it goes with the last one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.checks.quoting import quote_path
from omnislash.errors import ConfigError, Fault, OmnislashError, StorageError, UsageError
from omnislash.store.hashing import hash_bytes
from omnislash.store.lone_files import lone_error, read_lone, resolve_link
from omnislash.surfaces.adapters import json_settings
from omnislash.surfaces.adapters.hosts import Scope
from omnislash.surfaces.adapters.receipts import SIGN, Receipt, Receipts, Sharer, WayBack
from omnislash.surfaces.adapters.settings_text import SettingsTextError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from omnislash.store.disk import Disk
    from omnislash.surfaces.adapters.hosts import Entry, Host, HostFile

#: Longest file that is taken for settings, in bytes: far above what hosts gather in years.
BYTES_MAX: Final = 32 * 1024 * 1024
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

    def describe_removal(self) -> str:
        """Return the words behind `omnislash` that take out what is installed here, from any directory."""
        project = "" if self.scope is Scope.USER else f" --project {quote_path(str(self.project))}"
        return f"hooks uninstall {self.host.id} --scope {self.scope.value}{project}"


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
    #: Other entries of ours in the file.
    sharers: tuple[Sharer, ...] = ()

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
        UsageError: Another brain is installed there, or a file can't carry the project's name.
    """
    for file in where.files():
        _check_keys(file)
    loaded = [load(where.host, file) for file in where.files()]
    for each in loaded:
        _check_others(where, each, entry)
    return [_plan_addition(where, each, entry, disk) for each in loaded]


def _check_keys(file: HostFile) -> None:
    """Refuse a project whose name holds halves of pairs, which stand for bytes of a path that are no UTF-8."""
    for key in file.keys:
        if any("\ud800" <= char <= "\udfff" for char in key):
            message = f"{key!r} is no UTF-8, so {file.path} can't carry it. {NOTHING_DONE}"
            raise UsageError(message, hint="Give the directory another name, or use --scope project or user.")


def _check_others(where: Where, loaded: Loaded, entry: Entry) -> None:
    """Refuse to take the place of a brain that is still there; one that was moved or deleted gives way."""
    for other in loaded.found.entries:
        if not _is_same_brain(other.brain, entry.brain) and Path(other.brain, SIGN).is_file():
            message = f"{loaded.file.path} already carries {other.describe()}. {NOTHING_DONE}"
            hint = f"Take it out first: omnislash {where.describe_removal()}"
            raise UsageError(message, path=str(loaded.file.path), hint=hint)


def _is_same_brain(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _plan_addition(where: Where, loaded: Loaded, entry: Entry, disk: Disk) -> Change:
    try:
        text = json_settings.add(where.host, loaded.file, loaded.text, entry)
    except SettingsTextError as error:
        hint = error.hint or "Mend it and try again."
        raise _refuse(loaded.file, error.message, line=error.line, column=error.column, hint=hint) from error
    after = text.encode()
    receipts = Receipts(Path(entry.brain), where.host.id, disk)
    known = receipts.read(loaded.target, loaded.file.keys) if loaded.found.entries else None
    sharers = _find_sharers(where.host, loaded, disk)
    if loaded.found.entries and after == loaded.data:
        receipt = known
    elif known is not None:
        receipt = _renew(known, loaded, after)
    else:
        receipt = _make_receipt(where, loaded, sharers, disk)
    return Change(loaded=loaded, after=after, receipt=receipt, sharers=sharers)


def _renew(known: Receipt, loaded: Loaded, after: bytes) -> Receipt:
    """Return how to go back from a renewed entry: to what was there before the first, unless somebody edited that."""
    before, now = hash_bytes(loaded.data), hash_bytes(after)
    own, first = (
        replace(way, after=now) if way is not None and way.after == before else None for way in (known.own, known.first)
    )
    return replace(known, own=own, first=first)


def _make_receipt(where: Where, loaded: Loaded, sharers: Iterable[Sharer], disk: Disk) -> Receipt:
    """Return what to keep of a new entry, all but the ways back; what others found and made counts for it too."""
    others = [sharer.receipt for sharer in sharers]
    kept = json_settings.empty_places(where.host, loaded.file, loaded.text).union(
        path for other in others for path in other.kept if path == loaded.file.keys[: len(path)]
    )
    above = set(map(str, loaded.target.parents))
    made = {place for receipt in _receipts_nearby(where, disk) for place in receipt.made if place in above}
    return Receipt(
        file=str(loaded.target),
        keys=loaded.file.keys,
        existed=loaded.data is not None and all(other.existed for other in others),
        kept=tuple(sorted(kept)),
        made=tuple(sorted(made, key=len)),
    )


def plan_uninstall(where: Where, disk: Disk) -> list[Change]:
    """Return what taking out does to each file; a file without an entry of ours in this scope is left as it is.

    Raises:
        ConfigError, StorageError: A file can't be read or has another form.
    """
    return [_plan_removal(where.host, load(where.host, file), disk) for file in where.files()]


def _plan_removal(host: Host, loaded: Loaded, disk: Disk) -> Change:
    if not loaded.found.entries or loaded.data is None:
        return Change(loaded=loaded, after=loaded.data, receipt=None)
    receipts = receipts_of(loaded.found.entries, host, disk)
    receipt = receipts.read(loaded.target, loaded.file.keys) if receipts else None
    unmade = tuple(Path(place) for place in receipt.made) if receipt else ()
    sharers = _find_sharers(host, loaded, disk)
    if receipts and receipt:
        for way in _open_ways(receipt, loaded):
            before = receipts.read_backup(way.restore) if way.restore else None
            if before is not None or way.restore is None:
                return Change(loaded=loaded, after=before, receipt=None, unmade=unmade, sharers=sharers)
    kept = frozenset(receipt.kept) if receipt else frozenset()
    text = json_settings.take_out(host, loaded.file, loaded.text, kept=kept)
    is_ours = receipt is not None and not receipt.existed and json_settings.is_blank(text)
    after = None if is_ours else text.encode()
    return Change(loaded=loaded, after=after, receipt=None, unmade=unmade, sharers=sharers)


def _open_ways(receipt: Receipt, loaded: Loaded) -> Iterator[WayBack]:
    """Yield the ways back that lose nothing: nobody else changed the file, and no other entry of ours would go."""
    present = hash_bytes(loaded.data)
    if receipt.own is not None and receipt.own.after == present:
        yield receipt.own
    if receipt.first is not None and receipt.first.after == present and not loaded.found.elsewhere:
        yield receipt.first


# -- what is kept ----------------------------------------------------------------------------------------------------


def receipts_of(entries: Iterable[Entry], host: Host, disk: Disk) -> Receipts | None:
    """Return the receipts of the first brain among entries that is still there; None when there is none."""
    brains = [Path(entry.brain) for entry in entries if Path(entry.brain, SIGN).is_file()]
    return Receipts(brains[0], host.id, disk) if brains else None


def _find_sharers(host: Host, loaded: Loaded, disk: Disk) -> tuple[Sharer, ...]:
    """Return the other entries of ours in a file, as far as anything is kept of them."""
    found = []
    for keys, entry in loaded.found.elsewhere:
        receipts = receipts_of([entry], host, disk)
        receipt = receipts.read(loaded.target, keys) if receipts else None
        if receipts and receipt:
            found.append(Sharer(receipts=receipts, receipt=receipt))
    return tuple(found)


def _receipts_nearby(where: Where, disk: Disk) -> Iterator[Receipt]:
    """Yield what is kept of every entry of every scope; a file that can't be read is passed over."""
    for scope in Scope:
        for file in replace(where, scope=scope).files():
            try:
                loaded = load(where.host, file)
            except OmnislashError:
                continue
            yield from (sharer.receipt for sharer in _find_sharers(where.host, loaded, disk))
            receipts = receipts_of(loaded.found.entries, where.host, disk)
            if receipts and (receipt := receipts.read(loaded.target, file.keys)):
                yield receipt
