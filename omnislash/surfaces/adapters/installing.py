"""Putting our entries into a host's files, and taking them out again, so that nothing of its owner is lost.

1. Every file is read and judged before any is changed.
2. The bytes of each file that will change are backed up, and a receipt of the entry says how to go back.
3. Each file is replaced in one step, and only when it is still what the change was made from; when somebody saved it
   meanwhile, everything is planned again.
4. When a later file can't be written, the earlier ones go back to what they were.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.errors import StorageError, UsageError
from omnislash.store.disk import Disk
from omnislash.store.hashing import hash_bytes
from omnislash.store.lone_files import (
    FileChangedError,
    lone_error,
    read_lone,
    remove_lone,
    replace_lone,
    write_new,
)
from omnislash.surfaces.adapters.planning import NOTHING_DONE, plan_install, plan_uninstall, receipts_of
from omnislash.surfaces.adapters.receipts import (
    Receipt,
    Receipts,
    WayBack,
    make_directories,
    missing_directories,
    remove_directories,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash.surfaces.adapters.hosts import Entry, Host
    from omnislash.surfaces.adapters.planning import Change, Loaded, Where

#: Control characters, and halves of pairs, which stand for bytes of a path that are no UTF-8.
_UNCARRIED: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: How often everything is planned again when somebody saves a file meanwhile.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of a file."""

    change: Change
    #: Where its bytes from before lie; None when there were none, or it did not change.
    backup: Path | None


def find_program() -> tuple[str, ...]:
    """Return the words that start this omnislash from anywhere: its script, else its interpreter.

    `-P` keeps the directory that a session is started in off the path of modules: a file `json.py` there would be run.
    """
    here = Path(sys.executable).absolute()
    for name in ("omnislash", "omnislash.exe"):
        script = here.with_name(name)
        if script.is_file() and os.access(script, os.X_OK):
            return (str(script),)
    return (str(here), "-P", "-m", "omnislash")


def check_entry(entry: Entry) -> None:
    """Raise UsageError for an entry whose words a host could not keep as they are."""
    for word in entry.words():
        if "${" in word:
            message = f"{word} holds `${{`, which hosts replace by a variable. {NOTHING_DONE}"
            raise UsageError(message, hint="Give the directory another name.")
        if _UNCARRIED.search(word):
            message = f"{word!r} holds characters that settings can't carry. {NOTHING_DONE}"
            raise UsageError(message, hint="Give the directory another name.")


class Work:
    """Carries changes out, all of them or none."""

    def __init__(self, host: Host, disk: Disk, *, brain: Path | None, stamp: str) -> None:
        """Name where backups and receipts go.

        Args:
            host: Whose files they are.
            disk: The calls that change the disk.
            brain: The brain whose entry it is; None = that of the entry in the file.
            stamp: Begins the names of backups.
        """
        self._host = host
        self._disk = disk
        self._brain = brain
        self._stamp = stamp
        #: Files that were changed and could not be put back.
        self.stuck: list[Path] = []
        self._done: list[tuple[Change, tuple[Path, ...]]] = []

    def carry_out(self, changes: Sequence[Change]) -> list[Done]:
        """Carry the changes out and return what became of each file.

        Raises:
            FileChangedError: Somebody saved a file meanwhile; nothing has changed, and planning again may help.
            StorageError: The disk said no; the sentence says what is the case.
        """
        needed = [change for change in changes if change.is_needed]
        backups = {id(change): self._prepare(change) for change in needed}
        for change in needed:
            try:
                self._apply(change)
            except FileChangedError:
                self.stuck = self._undo(change)
                raise
            except OSError as error:
                said = lone_error(error, change.loaded.file.path, doing="written")
                self.stuck = self._undo(change)
                raise StorageError(
                    f"{said.message} {describe_rest(self.stuck)}", path=said.path, hint=said.hint
                ) from error
        for change in needed:
            self._settle(change)
        return [Done(change=change, backup=backups.get(id(change))) for change in changes]

    def _receipts(self, change: Change) -> Receipts | None:
        if self._brain is not None:
            return Receipts(self._brain, self._host.id, self._disk)
        return receipts_of(change.loaded.found.entries, self._host, self._disk)

    def _prepare(self, change: Change) -> Path | None:
        """Back a file up, and write down how to go back; return the backup."""
        loaded, receipts = change.loaded, self._receipts(change)
        try:
            backup = None if loaded.data is None else self._back_up(loaded, loaded.data, receipts)
            if change.receipt is not None and receipts is not None:
                receipts.write(self._complete(change, change.receipt, receipts, backup))
        except OSError as error:
            raise _unchanged(lone_error(error, loaded.file.path, doing="backed up")) from error
        return backup

    def _back_up(self, loaded: Loaded, data: bytes, receipts: Receipts | None) -> Path:
        if receipts is not None:
            return receipts.back_up(loaded.target, data, stamp=self._stamp)
        place = loaded.target.with_name(f"{loaded.target.name}.omnislash-backup-{self._stamp}")
        write_new(place, data, mode=0o600, disk=self._disk)
        return place

    def _complete(self, change: Change, receipt: Receipt, receipts: Receipts, backup: Path | None) -> Receipt:
        """Return the receipt of a new entry with what is known only now; a renewed one stays."""
        loaded = change.loaded
        if loaded.found.entries:
            return receipt
        own = WayBack(after=hash_bytes(change.after), restore=None if backup is None else backup.name)
        first = self._follow_first(change, receipts) if loaded.found.elsewhere else own
        made = dict.fromkeys([*receipt.made, *map(str, missing_directories(loaded.target.parent))])
        return replace(receipt, own=own, first=first, made=tuple(sorted(made, key=len)))

    def _follow_first(self, change: Change, receipts: Receipts) -> WayBack | None:
        """Return the way to what was there before the first entry of ours, from one that shares the file.

        Its bytes are kept in this brain too, for the other brain may go.
        """
        loaded, after = change.loaded, hash_bytes(change.after)
        for sharer in change.sharers:
            way = sharer.receipt.first
            if way is None or way.after != hash_bytes(loaded.data):
                continue
            if way.restore is None or sharer.receipts.brain == receipts.brain:
                return replace(way, after=after)
            data = sharer.receipts.read_backup(way.restore)
            if data is not None:
                place = receipts.back_up(loaded.target, data, stamp=self._stamp)
                return WayBack(after=after, restore=place.name)
        return None

    def _apply(self, change: Change) -> None:
        loaded, disk = change.loaded, self._disk
        made = () if change.after is None else tuple(make_directories(loaded.target.parent, disk=disk))
        self._done.append((change, made))
        try:
            if change.after is None:
                remove_lone(loaded.target, before=loaded.data or b"", disk=disk)
            elif loaded.data is None:
                write_new(loaded.target, change.after, mode=loaded.file.mode, disk=disk)
            else:
                replace_lone(loaded.target, before=loaded.data, after=change.after, disk=disk)
        except (FileExistsError, FileNotFoundError) as error:  # somebody made it, or took it away
            raise FileChangedError from error

    def _undo(self, failed: Change) -> list[Path]:
        """Put back what is done already, the change that failed included as far as it happened.

        Returns:
            The files that could not be put back: the disk said no, or somebody saved them since.
        """
        stuck: list[Path] = []
        while self._done:
            change, made = self._done.pop()
            try:
                if change is not failed or read_lone(change.loaded.target) == change.after:
                    self._put_back(change)
                remove_directories(made, disk=self._disk)
            except (OSError, FileChangedError):
                stuck.append(change.loaded.file.path)
        return stuck

    def _put_back(self, change: Change) -> None:
        loaded = change.loaded
        if loaded.data is None:
            remove_lone(loaded.target, before=change.after or b"", disk=self._disk)
        elif change.after is None:
            write_new(loaded.target, loaded.data, mode=loaded.file.mode, disk=self._disk)
        else:
            replace_lone(loaded.target, before=change.after, after=loaded.data, disk=self._disk)

    def _settle(self, change: Change) -> None:
        """Forget what is not needed any more, and keep the ways back of others in the file open."""
        loaded, after = change.loaded, hash_bytes(change.after)
        if change.receipt is None and (receipts := self._receipts(change)) is not None:
            receipts.drop(loaded.target, loaded.file.keys)
        for sharer in change.sharers:
            way = sharer.receipt.first
            if way is not None and way.after == hash_bytes(loaded.data):
                with contextlib.suppress(OSError):  # without it, a later uninstall takes the entry out alone
                    sharer.receipts.write(replace(sharer.receipt, first=replace(way, after=after)))
        if change.after is None:
            remove_directories(change.unmade, disk=self._disk)


def _unchanged(said: StorageError) -> StorageError:
    return StorageError(f"{said.message} {NOTHING_DONE}", path=said.path, hint=said.hint)


def describe_rest(stuck: Sequence[Path]) -> str:
    """Return what is the case after a failure, as a sentence."""
    if not stuck:
        return NOTHING_DONE
    names = " and ".join(map(str, stuck))
    return f"{names} is changed already and could not be put back: run the same command again, or `hooks uninstall`."


def install(where: Where, entry: Entry, *, stamp: str, disk: Disk | None = None) -> list[Done]:
    """Put an entry into the files of a scope, and return what became of each.

    Raises:
        ConfigError, StorageError, UsageError: As planning and carrying out say; the sentence says what is the case.
    """
    disk = disk or Disk()
    return _try(
        where,
        lambda: Work(where.host, disk, brain=Path(entry.brain), stamp=stamp),
        lambda: plan_install(where, entry, disk),
    )


def uninstall(where: Where, *, stamp: str, disk: Disk | None = None) -> list[Done]:
    """Take the entry of a scope out of its files, and return what became of each.

    Raises:
        ConfigError, StorageError: As planning and carrying out say; the sentence says what is the case.
    """
    disk = disk or Disk()
    return _try(where, lambda: Work(where.host, disk, brain=None, stamp=stamp), lambda: plan_uninstall(where, disk))


def _try(where: Where, make_work: Callable[[], Work], plan: Callable[[], list[Change]]) -> list[Done]:
    """Plan and carry out, again when somebody saved a file meanwhile; what is done already needs no second time."""
    stuck: list[Path] = []
    for _ in range(_TRIES):
        work = make_work()
        try:
            return work.carry_out(plan())
        except FileChangedError:
            stuck = work.stuck
    names = " or ".join(str(file.path) for file in where.files())
    message = f"{names} is being changed by another program again and again. {describe_rest(stuck)}"
    raise StorageError(message, hint=f"End the running sessions of {where.host.title} and try again.")
