"""Finish what a dead writer left half done, before anything new is written.

For each file of an unfinished batch the hashes of the intent tell what happened:

| under the real name | under the `.new` name | what it means | what is done |
|---|---|---|---|
| after | before, or gone | the exchange happened | nothing: the change is in effect |
| after | something else | a person's save came out of it | it goes back under the real name, the job runs again |
| before | after, or gone | the exchange did not happen | the job runs again |
| something else | before | the exchange happened, a person saved on top | nothing: the change is in effect |
| something else | after, or gone | a person saved, and ours may be part of it | the job runs again; what is there counts |
| something else | something else | two saves by a person | the earlier one becomes a conflict copy, the job runs again |

A batch whose files are all in effect gets the verdicts that were planned for it; any other batch goes back to the
queue, in its old order. A `.tmp` holds unfinished bytes of our own and is removed.

Rules: WRITE-05, WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby
from typing import TYPE_CHECKING

from omnislash.core.lines import ManagedPath
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import OmnislashError
from omnislash.store.files import MemoryFiles, Replacement
from omnislash.store.hashing import ABSENT, hash_bytes
from omnislash.writer.applying import finish_row
from omnislash.writer.displaced import save_displaced
from omnislash.writer.jobs import Job

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

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
    #: Batches that were done; their temporary files are gone now, and their intent rows can go.
    leftover: tuple[str, ...] = ()


def recover(state: State, files: MemoryFiles, *, now: datetime) -> Recovered:
    """Bring every unfinished batch to an end or back into the queue; only for the holder of the writer's lock.

    Raises:
        WriterUnavailableError: The state database can't be used.
        OSError: The disk refuses; the batch stays for the next start.
    """
    changes = {key: list(rows) for key, rows in groupby(state.rows("list_changes"), key=lambda row: str(row["batch"]))}
    running = sorted(state.rows("running_jobs"), key=lambda row: str(row["batch"]))
    jobs = {key: list(rows) for key, rows in groupby(running, key=lambda row: str(row["batch"]))}
    leftover = tuple(key for key in changes if key not in jobs)
    for key in leftover:
        for row in changes[key]:
            files.discard(_replacement(row, files))
    done = [_recover_batch(key, changes.get(key, []), jobs[key], state, files, now) for key in jobs]
    total = Recovered(
        finished=sum(each.finished for each in done), requeued=sum(each.requeued for each in done), leftover=leftover
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


def _recover_batch(  # noqa: PLR0913, PLR0917 - one call site, and every argument is a different port
    key: str,
    changes: list[sqlite3.Row],
    jobs: list[sqlite3.Row],
    state: State,
    files: MemoryFiles,
    now: datetime,
) -> Recovered:
    replacements = [_replacement(row, files) for row in changes]
    stages = [
        _settle(replacement, row, files=files, now=now)
        for replacement, row in zip(replacements, changes, strict=True)
    ]
    if replacements:
        files.sync_parents([each for each in replacements if each.target.parent.is_dir()])
    in_effect = bool(stages) and all(stage is Stage.IN_EFFECT for stage in stages)
    with state.transaction():
        if in_effect:
            _finish(jobs, changes, state, now)
        else:
            _requeue(jobs, state, resumed=any(stage is not Stage.NOT_BEGUN for stage in stages))
        state.run("drop_changes", batch=key)
    for replacement in replacements:
        files.discard(replacement)
    return Recovered(finished=len(jobs)) if in_effect else Recovered(requeued=len(jobs))


def _replacement(row: sqlite3.Row, files: MemoryFiles) -> Replacement:
    path = ManagedPath(row["path"])
    target = files.memory / path
    return Replacement(path, target, target.parent / row["temp"], None, None)


def _settle(change: Replacement, row: sqlite3.Row, *, files: MemoryFiles, now: datetime) -> Stage:
    """Tell how far one file had come, and put a person's bytes back where they belong."""
    before, after = row["hash_before"], row["hash_after"]
    there = hash_bytes(_read_quietly(change, files))
    came_out = hash_bytes(files.read_ready(change))
    foreign = came_out not in {before, after, ABSENT}
    if there == after:
        return _give_back(change, files, absent=after == ABSENT) if foreign else Stage.IN_EFFECT
    if there == before:
        if foreign:
            save_displaced(change, files=files, now=now, unless_held=True)
        return Stage.NOT_BEGUN
    if came_out == before and before != ABSENT:
        return Stage.IN_EFFECT
    if foreign:
        save_displaced(change, files=files, now=now, unless_held=True)
    return Stage.MOVED_ON


def _read_quietly(change: Replacement, files: MemoryFiles) -> bytes | None:
    try:
        return files.read(change.path)
    except OmnislashError:
        return b"\0unreadable"


def _give_back(change: Replacement, files: MemoryFiles, *, absent: bool) -> Stage:
    """Put a person's save, which the exchange had brought out, under the real name again."""
    if absent:
        files.disk.rename_new(change.ready, change.target)
    else:
        files.disk.exchange(change.ready, change.target)
    return Stage.MOVED_ON


def _finish(jobs: list[sqlite3.Row], changes: list[sqlite3.Row], state: State, now: datetime) -> None:
    at = now.isoformat()
    for row in jobs:
        planned = json.loads(row["verdict"])
        job = Job.from_row(row)
        events = [(event["name"], event["payload"]) for event in planned["events"]]
        finish_row(state, job, Verdict.from_json(planned["verdict"]), events, at=at)
        for addition in planned["additions"]:
            if addition["text"] is None:
                state.run("drop_additions", path=addition["path"])
            else:
                state.run("add_addition", path=addition["path"], text=addition["text"], at=at)
    for change in changes:
        state.run("set_file", path=change["path"], hash=change["hash_after"], at=at)


def _requeue(jobs: list[sqlite3.Row], state: State, *, resumed: bool) -> None:
    for row in jobs:
        outcome = json.loads(row["verdict"])["verdict"]["outcome"]
        landed = outcome in {Outcome.WRITTEN, Outcome.PARTIAL}
        state.run("requeue_job", id=row["id"], resumed=int(resumed and landed))
