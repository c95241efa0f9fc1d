"""Finish what a dead writer left half done, before anything new is written.

For each file of an unfinished batch the hashes of the intent tell what happened:

| under the real name | under the `.new` name | what it means | what is done |
|---|---|---|---|
| after | before, after or gone | the exchange happened | nothing: the change is in effect |
| after | something else | a person's save came out of it | it goes back under the real name, the job runs again |
| before | after, or gone | the exchange did not happen | see below |
| absent, as before | something else | a person's save came out of a withdrawal | the same as two rows above |
| before | something else | two saves by a person | the earlier one becomes a conflict copy, the job runs again |
| something else | before | the exchange happened, a person saved on top | nothing: the change is in effect |
| something else | after, or gone | a person saved, and ours may be part of it | the job runs again; what is there counts |
| something else | something else | two saves by a person | the earlier one becomes a conflict copy, the job runs again |

Where some exchanges of a batch happened and the others only did not, they are made up for: the new files are whole.
A batch whose files are all in effect gets the verdicts that were planned for it; any other batch goes back to the
queue, in its old order, and what it had removed goes back under its name. A `.tmp` holds unfinished bytes of our own and is removed.

Rows that belong to no open job name what could not be removed at its time, or a conflict copy that needs its name.
Those of a sync that brings two sides together are left to the next sync, which knows what they mean.

Rules: WRITE-05, WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import json
import logging
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import groupby
from typing import TYPE_CHECKING

from omnislash.core.events import parse_event
from omnislash.core.lines import ManagedPath
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import OmnislashError, StorageError
from omnislash.store.hashing import ABSENT, hash_bytes
from omnislash.store.replacement import Replacement
from omnislash.store.settling import wait_for_writers
from omnislash.writer.displaced import COPY, SYNC, finish_copy, left_key, save_displaced
from omnislash.writer.exchanging import FileMovedOnError, swap_unless_saved
from omnislash.writer.jobs import Job
from omnislash.writer.plans import Watch
from omnislash.writer.recording import finish_row
from omnislash.writer.watching import note_watches, watch_exposed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from omnislash.core.events import MemoryEvent
    from omnislash.store.files import MemoryFiles
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)


class Stage(Enum):
    """How far the change of one file had come."""

    #: The new bytes are in the file.
    IN_EFFECT = auto()
    #: The file is as it was.
    NOT_BEGUN = auto()
    #: A person saved in between; what is there now counts, and may hold the new bytes.
    MOVED_ON = auto()


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery did, for the log and the tests."""

    #: Jobs that got the verdict planned for them.
    finished: int = 0
    #: Jobs that went back to the queue.
    requeued: int = 0
    #: Keys of intent rows of which nothing is left, with the directories that have to be synced before they go.
    leftover: Mapping[str, set[Path]] = field(default_factory=dict)
    #: What the finished jobs come to, for listeners (EVENT-01).
    events: tuple[MemoryEvent, ...] = ()


def recover(state: State, files: MemoryFiles, *, now: datetime) -> Recovered:
    """Bring every unfinished batch to an end or back into the queue; only for the holder of the writer's lock.

    Raises:
        WriterUnavailableError: The state database can't be used.
        OSError: The disk refuses; the batch stays for the next start.
    """
    changes = {key: list(rows) for key, rows in groupby(state.rows("list_changes"), key=lambda row: str(row["batch"]))}
    running = sorted(state.rows("running_jobs"), key=lambda row: str(row["batch"]))
    jobs = {key: list(rows) for key, rows in groupby(running, key=lambda row: str(row["batch"]))}
    leftover = {
        key: {_replacement(row, files).target.parent for row in rows}
        for key, rows in changes.items()
        if key not in jobs and not key.startswith(SYNC) and _clear(key, rows, files, now)
    }
    done = [_recover_batch(key, changes.get(key, []), jobs[key], state, files, now) for key in jobs]
    total = Recovered(
        finished=sum(each.finished for each in done),
        requeued=sum(each.requeued for each in done),
        leftover=leftover | {key: directories for each in done for key, directories in each.leftover.items()},
        events=tuple(event for each in done for event in each.events),
    )
    if total.finished or total.requeued:
        extra = {"action": "recovered", "finished": total.finished, "requeued": total.requeued}
        _LOG.warning(
            "recovered after a crash: %d job(s) were in place already, %d run again",
            total.finished,
            total.requeued,
            extra=extra,
        )
    return total


def _clear(key: str, rows: list[sqlite3.Row], files: MemoryFiles, now: datetime) -> bool:
    """Remove what rows without an open job name; False when something is left."""
    gone = [_clear_row(row, files, now, is_copy=key.startswith(COPY)) for row in rows]
    return all(gone)


def _clear_row(row: sqlite3.Row, files: MemoryFiles, now: datetime, *, is_copy: bool) -> bool:
    change = _replacement(row, files)
    try:
        if is_copy:
            finish_copy(change, files=files)
        elif hash_bytes(files.read_ready(change)) not in {row["hash_before"], row["hash_after"], ABSENT}:
            change.foreign = True
            save_displaced(change, files=files, now=now, unless_held=True)
    except (OSError, OmnislashError) as error:
        _LOG.warning("memory/%s: %s", change.path, error, extra={"action": "leftover_kept", "path": change.path})
        return False
    return files.discard(change)


def _recover_batch(  # noqa: PLR0917 - one call site, and every argument is a different port
    key: str,
    changes: list[sqlite3.Row],
    jobs: list[sqlite3.Row],
    state: State,
    files: MemoryFiles,
    now: datetime,
) -> Recovered:
    replacements = [_replacement(row, files) for row in changes]
    watches: list[Watch] = []
    pairs = list(zip(replacements, changes, strict=True))
    stages = [_settle(replacement, row, files=files, now=now, watches=watches) for replacement, row in pairs]
    if Stage.IN_EFFECT in stages and Stage.MOVED_ON not in stages:
        removals_last = sorted(range(len(pairs)), key=lambda index: changes[index]["hash_after"] == ABSENT)
        for index in removals_last:
            if stages[index] is Stage.NOT_BEGUN:
                files.sync_chain(replacements)  # what was stored has to be durable before anything is removed
                stages[index] = _make_up(*pairs[index], files=files, now=now, watches=watches)
    in_effect = bool(stages) and all(stage is Stage.IN_EFFECT for stage in stages)
    if not in_effect:
        stages = [_restore_removed(*pair, stage, files=files) for pair, stage in zip(pairs, stages, strict=True)]
    files.sync_chain(replacements)
    events: tuple[MemoryEvent, ...] = ()
    with state.transaction():
        if in_effect:
            events = _finish(jobs, changes, state, now)
        else:
            _requeue(jobs, state, resumed=any(stage is not Stage.NOT_BEGUN for stage in stages))
        note_watches(state, watches, at=now.isoformat())
        state.run("leave_changes", batch=key)
    gone = {left_key(each): {each.target.parent} for each in replacements if files.discard(each)}
    return Recovered(len(jobs), 0, gone, events) if in_effect else Recovered(0, len(jobs), gone)


def _replacement(row: sqlite3.Row, files: MemoryFiles) -> Replacement:
    path = ManagedPath(row["path"])
    target = files.memory / path
    return Replacement(path, target, target.parent / row["temp"], None, None)


def _settle(change: Replacement, row: sqlite3.Row, *, files: MemoryFiles, now: datetime, watches: list[Watch]) -> Stage:
    """Tell how far one file had come, and put a person's bytes back where they belong."""
    before, after = row["hash_before"], row["hash_after"]
    wait_for_writers(change.ready)
    there = hash_bytes(_read_quietly(change, files))
    came_out = hash_bytes(files.read_ready(change))
    change.foreign = came_out not in {before, after, ABSENT}
    if there == after and not change.foreign:
        return Stage.IN_EFFECT
    if change.foreign and (there == after or (there == before == ABSENT)):
        return _give_back(change, files, watches)
    if there != before and came_out == before and before != ABSENT:
        return Stage.IN_EFFECT
    if change.foreign:
        save_displaced(change, files=files, now=now, unless_held=True)
        return Stage.MOVED_ON
    return Stage.NOT_BEGUN if there == before else Stage.MOVED_ON


def _read_quietly(change: Replacement, files: MemoryFiles) -> bytes | None:
    try:
        return files.read(change.path)
    except OmnislashError:
        return b"\0unreadable"


def _give_back(change: Replacement, files: MemoryFiles, watches: list[Watch]) -> Stage:
    """Put a person's save, which the exchange had brought out, under the real name again.

    Whoever read the file meanwhile did not see that save, so it is watched.
    """
    watches.append(watch_exposed(change.path, files.read(change.path), files.read_ready(change)))
    if files.read(change.path) is None:
        files.disk.rename_new(change.ready, change.target)
    else:
        files.disk.exchange(change.ready, change.target)
    change.foreign = False
    return Stage.MOVED_ON


def _make_up(
    change: Replacement, row: sqlite3.Row, *, files: MemoryFiles, now: datetime, watches: list[Watch]
) -> Stage:
    """Make an exchange that the dead writer did not come to; the job runs again where that can't be done."""
    change.before, change.after = files.read(change.path), files.read_ready(change)
    if (hash_bytes(change.before), hash_bytes(change.after)) != (row["hash_before"], row["hash_after"]):
        return Stage.NOT_BEGUN
    try:
        swap_unless_saved(change, files=files, now=now)
    except FileMovedOnError as moved:
        if moved.came_out is not None:
            watches.append(watch_exposed(change.path, change.after, moved.came_out))
        return Stage.MOVED_ON
    except (OSError, StorageError):
        if change.applied:
            raise
        return Stage.NOT_BEGUN
    return Stage.IN_EFFECT


def _restore_removed(change: Replacement, row: sqlite3.Row, stage: Stage, *, files: MemoryFiles) -> Stage:
    """Put a removed file back when its job runs again: a move whose target a person took must not lose its source."""
    if stage is Stage.IN_EFFECT and row["hash_after"] == ABSENT:
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            files.disk.rename_new(change.ready, change.target)
            return Stage.NOT_BEGUN
    return stage


def _finish(
    jobs: list[sqlite3.Row], changes: list[sqlite3.Row], state: State, now: datetime
) -> tuple[MemoryEvent, ...]:
    """Give the jobs the verdicts that were planned for them; return what has happened."""
    at = now.isoformat()
    happened: list[MemoryEvent] = []
    for row in jobs:
        planned = json.loads(row["verdict"])
        job = Job.from_row(row)
        events = [(event["name"], event["payload"]) for event in planned["events"]]
        finish_row(state, job, Verdict.from_json(planned["verdict"]), events, at=at)
        happened += [parse_event(name, payload) for name, payload in events]
        note_watches(state, [Watch.from_json(watch) for watch in planned["watches"]], at=at)
    for change in changes:
        state.run("set_file", path=change["path"], hash=change["hash_after"], at=at)
    return tuple(happened)


def _requeue(jobs: list[sqlite3.Row], state: State, *, resumed: bool) -> None:
    for row in jobs:
        outcome = json.loads(row["verdict"])["verdict"]["outcome"]
        landed = outcome in {Outcome.WRITTEN, Outcome.PARTIAL}
        state.run("requeue_job", id=row["id"], resumed=int(resumed and landed))
