"""Fold a brain older than lines into the line `main`, before anything is written.

Each file, and each year that `main` does not have yet, moves with one rename onto a free name, so a process that dies
in between has lost nothing and the next start goes on.
Nothing is copied, changed or overwritten: what finds its place taken stays where it is and is named.
No commit is made; to git the moves are plain renames.

Rules: MIGRATE-01 to MIGRATE-09, MIGRATE-O1, MIGRATE-O2, EVENT-10.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.core.corpora import EVERY_LINE
from omnislash.core.lines import DEFAULT_LINE, is_line_name, memory_path
from omnislash.core.migration import (
    is_older_than_lines,
    kept_message,
    spell_name,
    taken_reason,
    undeclared_hint,
    undeclared_message,
    unusable_reason,
)
from omnislash.errors import OmnislashError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from omnislash.store.files import MemoryFiles
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)
#: How many names one line of the log has, at most; all of them are in the action log.
_NAMES = 20
#: How many of those that stay are named at a start; doctor names them all.
_KEPT = 5


@dataclass(slots=True)
class Migration:
    """What a migration did."""

    #: Managed paths that came to be: files, and years that moved as a whole.
    moved: list[str] = field(default_factory=list)
    #: What stays at the root of `memory/`, each with the reason.
    kept: dict[str, str] = field(default_factory=dict)
    #: Directories that were left in place and that no role declares.
    undeclared: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Tell whether the brain was older than lines."""
        return bool(self.moved or self.kept)


def migrate(files: MemoryFiles, *, named: Callable[[], Collection[str]]) -> Migration:
    """Move what a brain older than lines has at the root of `memory/`; only for the holder of the writer's lock.

    Trouble with one file is a reason why it stays, and keeps no other one from moving.

    Args:
        files: The brain's managed files.
        named: Returns the lines that a role or a beat names; `*` for every line.

    Returns:
        What was done; nothing for a brain that has lines already.

    Raises:
        OSError: The disk can't make the moves durable.
    """
    entries = _list(files.memory)
    old = _choose_old(entries)
    if not old:
        return Migration()
    move = _Move(files)
    move.run(old)
    others = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and is_line_name(entry.name)]
    known = {DEFAULT_LINE, *named()}
    if move.done.moved and EVERY_LINE not in known:
        move.done.undeclared = tuple(name for name in others if name not in known)
    return move.done


def foresee_migration(files: MemoryFiles, *, taken: Collection[str] = ()) -> Migration:
    """Return what :func:`migrate` would move and keep; nothing is touched, and lines that nobody declares are not told.

    Args:
        files: The managed files.
        taken: Managed paths of files that will be there by then.
    """
    old = _choose_old(_list(files.memory))
    if not old:
        return Migration()
    move = _Foresight(files, taken)
    move.run(old)
    return move.done


def _choose_old(entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    return [entry for entry in entries if is_older_than_lines(entry.name, is_directory=entry.is_dir())]


def _list(directory: Path) -> list[os.DirEntry[str]]:
    try:
        return _scan(directory)
    except OSError:  # no memory yet, or none that can be listed: whoever reads or writes there says so
        return []


def _scan(directory: Path) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _find_reason(entry: os.DirEntry[str]) -> str | None:
    """Return why an entry can't become a part of a line; None when it can."""
    if entry.is_symlink():
        return "it is a link; put the real file there"
    if not (entry.is_file() or entry.is_dir()):
        return "it is no regular file"
    return unusable_reason(entry.name)


class _Move:
    """Moves entries from the root of `memory/` into `main`, each under its own name."""

    def __init__(self, files: MemoryFiles) -> None:
        self.done = Migration()
        self._files = files
        self._memory = files.memory
        self._line = files.memory / DEFAULT_LINE
        #: Directories that got a name, and those that lost one.
        self._gained: set[Path] = set()
        self._lost: set[Path] = set()

    def run(self, entries: list[os.DirEntry[str]]) -> None:
        try:
            self._files.locate(memory_path(DEFAULT_LINE))
            self._open_line()
        except (OSError, OmnislashError) as error:
            why = error.message if isinstance(error, OmnislashError) else _explain(error)
            self.done.kept = {entry.name: why.rstrip(".") for entry in entries}
            return
        usable = []
        for entry in entries:
            reason = _find_reason(entry)
            if reason is None:
                usable.append(entry.name)
            else:
                self.done.kept[entry.name] = reason
        self._move_all(usable)
        self._sync()

    def _open_line(self) -> None:
        """Make the line's directory, or raise OSError where something else is in its place."""
        self._files.make_directories(self._line, made=[])
        if not self._line.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "memory/main is no directory")

    def _sync(self) -> None:
        for directory in (*sorted(self._gained), *sorted(self._lost)):  # a new name is durable before the old one goes
            if directory.is_dir():
                self._files.disk.sync_directory(directory)

    def _move_all(self, names: Sequence[str]) -> None:
        """Move entries by their paths relative to `memory/`; what both sides have as a directory is entered.

        A list in place of recursion: a year may be nested deeper than Python can call.
        """
        pending, entered = list(reversed(names)), []
        while pending:
            name = pending.pop()
            if not self._move(name):
                continue
            entered.append(name)
            try:
                pending += [f"{name}/{entry.name}" for entry in reversed(_scan(self._memory / name))]
            except OSError as error:
                self.done.kept[name] = _explain(error)
        for name in reversed(entered):  # the inner ones first
            self._remove_empty(self._memory / name)

    def _move(self, name: str) -> bool:
        """Move a file or a directory; True where its place is a directory already, so that it has to be entered."""
        source, target = self._memory / name, self._line / name
        try:
            self._rename(source, target)
        except FileExistsError:
            return self._meet(name, source, target)
        except FileNotFoundError:  # somebody took it away meanwhile
            return False
        except OSError as error:
            self.done.kept[name] = _explain(error)
        else:
            self._note(name, source, target)
        return False

    def _rename(self, source: Path, target: Path) -> None:
        self._files.disk.rename_new(source, target)

    def _note(self, name: str, source: Path, target: Path) -> None:
        self.done.moved.append(f"{DEFAULT_LINE}/{name}".encode("utf-8", "backslashreplace").decode())
        self._gained.add(target.parent)
        self._lost.add(source.parent)

    def _meet(self, name: str, source: Path, target: Path) -> bool:
        """Tell whether to go on inside, where both are directories; otherwise the file stays, with its reason."""
        if self._is_directory(source) and self._is_directory(target):
            return True
        if _is_same_file(source, target):  # a rename that a crash cut into two halves: the file has both names
            self._end_rename(name, source, target)
        else:
            self.done.kept[name] = taken_reason(name, is_same=_hold_the_same(source, target))
        return False

    def _is_directory(self, place: Path) -> bool:
        return place.is_dir() and not place.is_symlink()

    def _end_rename(self, name: str, source: Path, target: Path) -> None:
        try:
            self._files.disk.unlink(source)
        except OSError as error:
            self.done.kept[name] = _explain(error)
        else:
            self._note(name, source, target)

    def _remove_empty(self, directory: Path) -> None:
        try:
            self._files.disk.remove_directory(directory)
        except OSError:  # something stays in it, and is named
            return
        self._lost.add(directory.parent)


class _Foresight(_Move):
    """Notes what a move would do, and does nothing."""

    def __init__(self, files: MemoryFiles, taken: Collection[str]) -> None:
        super().__init__(files)
        self._taken = {files.memory / path for path in taken}
        self._made = {parent for place in self._taken for parent in place.parents}

    def _open_line(self) -> None:
        if os.path.lexists(self._line) and not self._line.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "memory/main is no directory")

    def _sync(self) -> None:
        """Leave the disk alone."""

    def _rename(self, source: Path, target: Path) -> None:
        if target in self._taken or target in self._made or os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.lstat(source)

    def _is_directory(self, place: Path) -> bool:
        return place in self._made or super()._is_directory(place)

    def _end_rename(self, name: str, source: Path, target: Path) -> None:
        self._note(name, source, target)

    def _remove_empty(self, directory: Path) -> None:
        """Leave the disk alone."""


def _explain(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _is_same_file(source: Path, target: Path) -> bool:
    try:
        one, other = os.lstat(source), os.lstat(target)
    except OSError:
        return False
    return os.path.samestat(one, other)


def _hold_the_same(source: Path, target: Path) -> bool:
    try:
        return source.is_file() and target.is_file() and source.read_bytes() == target.read_bytes()
    except OSError:
        return False


def report_migration(done: Migration, *, state: State, now: datetime, is_brief: bool = False) -> None:
    """Note in the action log what moved, and say in the log of this process what did, what stays and what is left.

    Args:
        done: What was done.
        state: The state database.
        now: The time.
        is_brief: True for a process that writes for a moment: where nothing moved, it does not say again what stays.

    Raises:
        WriterUnavailableError: The state database can't be used.

    Rules: MIGRATE-08, MIGRATE-09, EVENT-10.
    """
    if done.moved:
        _note_moves(done.moved, state=state, now=now)
        _LOG.warning(
            "This brain was older than lines: moved into memory/%s: %s.",
            DEFAULT_LINE,
            _shorten([path.removeprefix(f"{DEFAULT_LINE}/") for path in done.moved]),
            extra={"action": "migrated", "paths": len(done.moved)},
        )
    elif is_brief:
        return
    for name, reason in list(done.kept.items())[:_KEPT]:
        extra = {"action": "migration_kept", "path": f"memory/{name}"}
        _LOG.warning("%s", kept_message(name, reason), extra=extra)
    if len(done.kept) > _KEPT:
        _LOG.warning("%d more stay at the root of memory/.", len(done.kept) - _KEPT, extra={"action": "migration_kept"})
    for name in done.undeclared:
        extra = {"action": "undeclared_line", "path": f"memory/{name}"}
        _LOG.warning("%s %s", undeclared_message(name), undeclared_hint(name), extra=extra)


def _note_moves(paths: list[str], *, state: State, now: datetime) -> None:
    with state.transaction():
        state.run(
            "insert_audit",
            at=now.isoformat(),
            actor="engine",
            role=None,
            heartbeat=None,
            tool="migrate",
            line=DEFAULT_LINE,
            paths=json.dumps(paths, ensure_ascii=False),
            outcome="written",
            chars=0,
            job=None,
        )


def _shorten(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(spell_name, names[:_NAMES])) + more
