"""Bringing the files on disk, the index and the branch from one commit to another, so that a crash loses nothing.

1. look: each file that differs has to hold what the old commit holds, or already what the new one does, and nothing that
   a person staged may be in the way; otherwise nothing is touched;
2. two references name both commits, so that the next sync knows what was begun;
3. the intent: one row for each file, with its hash before and after;
4. the files, each by the writer's exchange: what came out is looked at, and who saved in that moment keeps the file;
5. one transaction: the audit row, what the writer watches, and the intent goes;
6. the index, then the branch, then the two references go.

A run that finds the references goes on from there: what is placed already is recognised by its bytes, and each other
step can be made twice.
Where somebody changed things meanwhile, what is begun is forgotten and joined anew: placing a half and joining it again
comes to the same, as joining keeps each entry once.

Rules: failure cases O-50, O-51; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn
from urllib.parse import quote_from_bytes

from omnislash.errors import GitTroubleError, OmnislashError
from omnislash.runtime.syncing.changes import is_state, show_path
from omnislash.runtime.syncing.merging_objects import DURABLE, Difference, diff_trees, read_blobs
from omnislash.runtime.syncing.merging_trees import STOPPED, MergeStoppedError
from omnislash.runtime.syncing.placing_files import SPARSE, Home, Homes, find_version, list_unwatched, read_for_disk
from omnislash.runtime.syncing.placing_left import FROM, TO, forget
from omnislash.runtime.syncing.placing_rooms import Rooms
from omnislash.runtime.syncing.values import Conflict
from omnislash.store.hashing import hash_bytes
from omnislash.writer.displaced import SYNC
from omnislash.writer.exchanging import FileMovedOnError, give_back, swap_unless_saved
from omnislash.writer.plans import Watch
from omnislash.writer.watching import note_watches, watch_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from omnislash.core.lines import ManagedPath
    from omnislash.runtime.syncing.merge_values import MergePlace
    from omnislash.store.replacement import Replacement

#: How many files are written before their first sync: each of them is open until then.
_OPEN_AT_ONCE: Final = 100
#: How often and after how many seconds the index is tried again while another git command holds it.
_INDEX_ATTEMPTS, _INDEX_STEP_S = 30, 0.1
_EXECUTABLE: Final = 0o111
_MODES: Final = {"100644": 0o644, "100755": 0o755}


class MovedOnError(Exception):
    """Somebody changed a file or the branch meanwhile; nothing of theirs is lost, and it has to be joined anew."""

    def __init__(self, message: str) -> None:
        """Keep the sentence."""
        super().__init__(message)
        self.message = message


@dataclass(slots=True)
class _Step:
    """One file on its way."""

    path: str
    home: Home
    difference: Difference
    change: Replacement


@dataclass(slots=True)
class Placing:
    """The way from one commit to another."""

    place: MergePlace
    old: str
    new: str
    now: datetime
    differences: dict[str, Difference]
    homes: Homes
    rooms: Rooms
    #: False where git takes no notice of what is executable.
    minds_modes: bool = True
    #: True when an earlier attempt came to step 5.
    is_noted: bool = False
    copies: list[str] = field(default_factory=list)
    #: Files that git is told not to look at, with the name of the flag.
    _unwatched: dict[str, str] = field(default_factory=dict)
    #: Hashes of the bytes that were put on disk, by path.
    _placed: dict[str, str] = field(default_factory=dict)

    def look(self) -> list[_Step]:
        """Return the files that have to change; nothing is touched.

        Raises:
            MovedOnError: A file does not hold what the old commit holds.
            MergeStoppedError: Something is in the way that a person has to move.
        """
        if self.place.repository.head() != self.old:
            message = "The branch has moved meanwhile; nothing was merged."
            raise MovedOnError(message)
        self._refuse_odd_kinds()
        self._refuse_twins()
        self._unwatched = list_unwatched(self.place.repository)
        self.rooms.refuse_occupied()
        steps = [step for path, each in self.differences.items() if (step := self._look_at(path, each)) is not None]
        self._change_index(dry_run=True)
        return steps

    def put(self, steps: list[_Step]) -> None:
        """Carry the steps out, and all that follows.

        Raises:
            MovedOnError: Somebody saved a file, or the branch moved, in that very moment.
            StorageError: The disk refused; the files are as they were, as far as it let them.
        """
        repository = self.place.repository
        repository.run(
            *DURABLE, "update-ref", "--stdin", input=f"update {FROM} {self.old}\nupdate {TO} {self.new}\n".encode()
        )
        if steps:
            self._note_intent(steps)
            self._replace(steps)
            self._tidy(steps)
        if self.differences and (steps or not self.is_noted):
            self._note()
        self._change_index(dry_run=False)
        answer = repository.ask(*DURABLE, "update-ref", "-m", "omnislash sync", "HEAD", self.new, self.old)
        if answer.status:
            message = "The branch moved while two sides were being joined; the next sync joins them anew."
            raise MovedOnError(message)
        forget(self.place)

    # -- 1. look -----------------------------------------------------------------------------------------------------

    def _refuse_odd_kinds(self) -> None:
        odd = [
            path
            for path, each in self.differences.items()
            if any(entry is not None and entry.mode not in _MODES for entry in (each.before, each.after))
        ]
        if odd:
            why = "a link or a submodule: it is not put on disk by a sync."
            message = (
                f"The other side changed {odd[0]}, which is {why} Nothing was merged. "
                "Run `git pull --no-rebase` in the brain; the next sync goes on from there."
            )
            raise MergeStoppedError(message, tuple(Conflict(path, STOPPED, why) for path in odd))

    def _refuse_twins(self) -> None:
        """Stop where a file only changed the spelling of its name and this disk takes both spellings for one."""
        gone = {_fold(path): path for path, each in self.differences.items() if each.after is None}
        for path, each in self.differences.items():
            old = gone.get(_fold(path))
            if each.before is not None or old is None:
                continue
            with contextlib.suppress(OSError):
                if self._locate(old).samefile(self._locate(path)):
                    why = f"the same name as {old} on this disk, which takes both spellings for one."
                    message = (
                        f"The other side calls {old} {path} now, which is {why} Nothing was merged. "
                        "Run `git pull --no-rebase` in the brain; the next sync goes on from there."
                    )
                    raise MergeStoppedError(message, (Conflict(path, STOPPED, why),))

    def _locate(self, path: str) -> Path:
        return self.place.repository.top / path

    def _look_at(self, path: str, difference: Difference) -> _Step | None:
        """Return the step for a file, None when it holds what it shall already."""
        home = self.homes.find(path)
        data = home.read()
        versions = (difference.after, difference.before)
        version = find_version(self.place.repository, path, data, versions)
        if version == 0 and not self._has_other_mode(home, difference):
            return None
        if version is None and difference.before is None:
            note = "a file that is not under git stands where the other side has one."
            message = (
                f"{path} can't be merged: {note} Nothing was merged. Move your file away or commit it; "
                "the next sync goes on from there."
            )
            raise MergeStoppedError(message, (Conflict(path, STOPPED, note),))
        flag = self._unwatched.get(path) if version is None else None
        if flag == SPARSE and data is None:
            return None  # a sparse checkout: only the index holds it
        if flag is not None:
            _refuse_unwatched(path, flag)
        if version is None:
            message = f"{path} was changed meanwhile; nothing was merged."
            raise MovedOnError(message)
        change = home.files.prepare(home.path, before=data, after=None)
        change = self.rooms.move_temp(change, path)
        change.mode = self._find_mode(change, difference)
        return _Step(path, home, difference, change)

    def _has_other_mode(self, home: Home, difference: Difference) -> bool:
        """Tell whether a file that holds the right bytes is not executable as it shall be."""
        before, after = difference.before, difference.after
        if after is None or before is None or before.mode == after.mode or not self.minds_modes:
            return False
        mode = home.files.locate(home.path).stat().st_mode
        return bool(mode & _EXECUTABLE) != bool(_MODES[after.mode] & _EXECUTABLE)

    def _find_mode(self, change: Replacement, difference: Difference) -> int | None:
        """Return the permissions of the new file, None for those of the old one."""
        before, after = difference.before, difference.after
        if after is None or (before is not None and before.mode == after.mode) or not self.minds_modes:
            return None
        if before is None:
            return _MODES[after.mode]
        mode = change.target.stat().st_mode & 0o7777
        readable = (mode & 0o444) >> 2
        return mode | readable if _MODES[after.mode] & _EXECUTABLE else mode & ~_EXECUTABLE

    # -- 3. and 4. the files -----------------------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return f"{SYNC}{self.new}"

    def _note_intent(self, steps: list[_Step]) -> None:
        wanted = {step.path: step.difference.after for step in steps if step.difference.after is not None}
        data = read_for_disk(self.place.repository, self.new, wanted)
        with self.place.state.transaction() as state:
            for step in steps:
                step.change.after = data.get(step.path)
                self._placed[step.path] = hash_bytes(step.change.after)
                state.run(
                    "insert_change",
                    batch=self._key,
                    path=quote_from_bytes(os.fsencode(step.path)),
                    temp=os.path.relpath(step.change.temp, step.change.target.parent),
                    hash_before=hash_bytes(step.change.before),
                    hash_after=hash_bytes(step.change.after),
                )

    def _replace(self, steps: list[_Step]) -> None:
        """Exchange all files; what is stored is durable before anything is removed, but for what has to make room."""
        stored = [step for step in steps if step.change.after is not None]
        removals = [step for step in steps if step.change.after is None and not self.rooms.has(step.path)]
        room = [step for step in steps if step.change.after is None and self.rooms.has(step.path)]
        steps[:] = [*room, *stored, *removals]
        current = steps[0]
        try:
            for current in room:
                self._swap(current)
            self.rooms.clear([step.change for step in room], [step.change for step in stored], self.place.files.disk)
            for start in range(0, len(stored), _OPEN_AT_ONCE):
                for home, changes in _by_home(stored[start : start + _OPEN_AT_ONCE]):
                    home.files.stage(changes)
            for run in (stored, removals):
                for current in run:
                    self._swap(current)
                for home, changes in _by_home(run):
                    home.files.sync_parents(changes)
        except (FileMovedOnError, FileNotFoundError) as error:
            self._take_back(steps)
            message = f"{current.path} was saved in the very moment of a merge; what was saved stands."
            raise MovedOnError(message) from error
        except OSError as error:
            self._take_back(steps)
            named = [step for step in steps if error.filename in _names(step.change)]
            raise (named or [current])[0].home.explain(error) from error
        except BaseException:
            self._take_back(steps)
            raise

    def _swap(self, step: _Step) -> None:
        swap_unless_saved(step.change, files=step.home.files, now=self.now, save=self._saver(step.home))

    def _saver(self, home: Home) -> Callable[..., None]:
        def save(change: Replacement, **options: object) -> None:
            copy = home.save(change, **options)
            if copy is not None:
                self.copies.append(f"memory/{copy}" if home.is_managed else copy)

        return save

    def _take_back(self, steps: list[_Step]) -> None:
        """Undo what is placed already; where somebody saved on top of it, their file stays as it is."""
        for step in reversed(steps):
            change, files = step.change, step.home.files
            with contextlib.suppress(OSError, OmnislashError):
                if change.applied and change.after is None:
                    files.make_directories(change.target.parent, made=[])
                if change.applied:
                    give_back(change, files=files, now=self.now, save=self._saver(step.home))
                if not change.applied and files.discard(change):
                    files.remove_made(change)
        for home, changes in _by_home(steps):
            with contextlib.suppress(OSError):
                home.files.sync_parents([change for change in changes if change.target.parent.is_dir()])

    def _tidy(self, steps: list[_Step]) -> None:
        """Remove the temporary names, unless somebody has written to what came out; and directories that got empty."""
        for step in steps:
            change, files = step.change, step.home.files
            with contextlib.suppress(OSError, OmnislashError):
                if change.before is not None and not change.blind:
                    came_out = files.read_ready(change)
                    change.foreign = came_out is not None and came_out != change.before
                if change.foreign:
                    self._saver(step.home)(change, files=files, now=self.now, unless_held=True)
                files.discard(change)
            if change.after is None:
                self._remove_empty(change.target.parent, files.disk.remove_directory)

    def _remove_empty(self, directory: Path, remove: Callable[[Path], None]) -> None:
        with contextlib.suppress(OSError):
            while not self.homes.is_boundary(os.fspath(directory)):
                remove(directory)
                directory = directory.parent

    # -- 5. what is noted --------------------------------------------------------------------------------------------

    def _note(self) -> None:
        """Tell the writer and the audit log what came in."""
        managed = {path: home.path for path in self.differences if (home := self.homes.find(path)).is_managed}
        watches = list(self._watch(managed))
        hashes = self._hash_new(managed)
        at = self.now.isoformat()
        with self.place.state.transaction() as state:
            for path, data_hash in hashes.items():
                state.run("set_file", path=path, hash=data_hash, at=at)
            note_watches(state, watches, at=at)
            if managed:
                _audit(self.place, sorted(managed.values()), at=at)
            state.run("drop_changes", batch=self._key)

    def _watch(self, managed: dict[str, ManagedPath]) -> Iterator[Watch]:
        """Yield what is watched from now on: entries that came into files which were there before."""
        changed = {path: self.differences[path] for path in managed if path.endswith(".md")}
        both = {path: each for path, each in changed.items() if each.before and each.after}
        entries = [entry for each in both.values() for entry in (each.before, each.after) if entry]
        blobs = read_blobs(self.place.repository, [entry.id for entry in entries])
        for path, each in changed.items():
            if path in both and each.before and each.after:
                yield watch_bytes(managed[path], blobs[each.before.id], blobs[each.after.id])
            elif each.after is None:
                yield Watch(managed[path], gone=True)

    def _hash_new(self, managed: dict[str, ManagedPath]) -> dict[ManagedPath, str]:
        wanted = {path: self.differences[path].after for path in managed if path not in self._placed}
        there = {path: entry for path, entry in wanted.items() if entry is not None}
        data = read_for_disk(self.place.repository, self.new, there)
        return {place: self._placed.get(path) or hash_bytes(data.get(path)) for path, place in managed.items()}

    # -- 6. the index ------------------------------------------------------------------------------------------------

    def _change_index(self, *, dry_run: bool) -> None:
        """Bring the index along, with whatever a person staged in other files; `-i`, as the files are placed by us."""
        repository = self.place.repository
        words = ("read-tree", *(("-n",) if dry_run else ()), "-m", "-i", self.old, self.new)
        for attempt in range(_INDEX_ATTEMPTS):
            answer = repository.ask(*DURABLE, *words)
            if answer.status == 0:
                break
            if b"index.lock" not in answer.err or attempt == _INDEX_ATTEMPTS - 1:
                self._refuse_index(answer.reason, is_locked=b"index.lock" in answer.err)
            time.sleep(_INDEX_STEP_S)
        if not dry_run:
            repository.ask("update-index", "-q", "--refresh")

    @staticmethod
    def _refuse_index(reason: str, *, is_locked: bool) -> None:
        if is_locked:
            message = f"git's index is held by another command, so the merge waits for the next sync: {reason}"
            raise GitTroubleError(message)
        if "invalid path" in reason:
            message = (
                f"The other side has a file whose name git does not allow on a disk, so nothing was merged: {reason} "
                "Remove or rename it where it was committed; the next sync goes on from there."
            )
            raise MergeStoppedError(message)
        message = (
            f"Something is staged that the other side changed as well, so nothing was merged: {reason} "
            "Commit it, or unstage it with `git restore --staged`; the next sync goes on from there."
        )
        raise MergeStoppedError(message)


def start_placing(place: MergePlace, old: str, new: str, *, now: datetime, is_noted: bool = False) -> Placing:
    """Return the way from one commit to another; nothing is touched yet."""
    repository = place.repository
    differences = {
        path: each
        for path, each in diff_trees(repository, old, new).items()
        if not is_state(path, repository.prefix)  # this machine's own state: only the index takes it
    }
    minds_modes = repository.config("core.fileMode") != "false"
    rooms = Rooms(repository.top, differences)
    return Placing(place, old, new, now, differences, Homes(place), rooms, minds_modes, is_noted)


def _refuse_unwatched(path: str, flag: str) -> NoReturn:
    note = f"it was changed here and git is told not to look at it ({flag})."
    message = (
        f"{show_path(path)} can't be merged: {note} Nothing was merged. "
        f"Run `git update-index --no-{flag} PATH` with its name; the next sync commits it and goes on from there."
    )
    raise MergeStoppedError(message, (Conflict(path, STOPPED, note),))


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _names(change: Replacement) -> set[str]:
    """Return the names by which an error of the operating system may mean this file."""
    return {os.fspath(name) for name in (change.target, change.unfinished, change.ready)}


def _by_home(steps: Iterable[_Step]) -> Iterator[tuple[Home, list[Replacement]]]:
    """Yield the changes of each of the two kinds of files."""
    kinds: dict[bool, tuple[Home, list[Replacement]]] = {}
    for step in steps:
        kinds.setdefault(step.home.is_managed, (step.home, []))[1].append(step.change)
    yield from kinds.values()


def _audit(place: MergePlace, paths: list[ManagedPath], *, at: str) -> None:
    lines = {path.partition("/")[0] for path in paths}
    place.state.run(
        "insert_audit",
        at=at,
        actor="engine",
        role=None,
        heartbeat=None,
        tool="sync",
        line=lines.pop() if len(lines) == 1 else None,
        paths=json.dumps(paths, ensure_ascii=False),
        outcome="written",
        chars=0,
        job=None,
    )
