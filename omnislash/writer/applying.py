"""Carry a batch of plans out: record the intent, replace the files, make the verdicts durable.

The order is what makes a crash harmless:

1. plan every job of the batch against the bytes on disk, later jobs on top of earlier ones;
2. one transaction: new jobs, planned verdicts, and for each file its hash before and after (the intent);
3. write each new file under a temporary name, sync it;
4. look at the file once more, exchange it, look at what came out; when a person saved in between, take the exchange
   back and start again with their bytes;
5. sync the directories;
6. one transaction: verdicts, audit rows, events;
7. remove the temporary names, which held what came out; the rows of the intent go with a later transaction, so that
   a crash here leaves nothing behind that nobody knows of.

A disk error before step 6 takes the whole batch back; a batch of several jobs is then tried job by job, so that one
job's trouble is its own.

Rules: WRITE-01, WRITE-11, WRITE-O5, WRITE-O7, EVENT-O4; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.lines import ManagedPath
from omnislash.errors import ScopeError, StorageError
from omnislash.store.hashing import hash_bytes
from omnislash.store.os_errors import storage_error
from omnislash.writer.exchanging import FileMovedOnError, give_back, swap_unless_saved
from omnislash.writer.planning import plan_job
from omnislash.writer.plans import Plan, WriterSettings, in_effect, refuse
from omnislash.writer.recording import finish_job, plan_to_json, remember_files
from omnislash.writer.tidying import Leftovers
from omnislash.writer.views import BatchView, UnitCache
from omnislash.writer.watching import keep_lost_entries, note_watches, watch_change, watch_exposed, watch_standing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omnislash.core.clock import Clock
    from omnislash.core.events import MemoryEvent
    from omnislash.core.verdicts import Verdict
    from omnislash.store.files import MemoryFiles
    from omnislash.store.replacement import Replacement
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job

_LOG = logging.getLogger(__name__)
#: How often a batch starts again because somebody else saved one of its files in that very moment.
#: Each round lasts about a millisecond, so a file that changes in every one of them is being fought over.
ATTEMPTS = 200


@dataclass(slots=True)
class Batch:
    """Jobs that share their syncs, and what has been planned for them."""

    jobs: Sequence[Job]
    #: Ids of the jobs that are not in the queue's table yet.
    unsaved: set[str]
    #: Names the batch in the state database: the id of its first job. Empty until the intent is recorded.
    key: str = ""
    plans: list[Plan] = field(default_factory=list)
    changes: list[Replacement] = field(default_factory=list)
    view: BatchView | None = None
    #: True when an attempt could not be taken back as planned, so that its outcome has to be looked up.
    unclean: bool = False

    def mark_resumed(self) -> None:
        """Note that others saw what the jobs wanted, and may have saved it: what stands there then counts as done."""
        self.jobs = [
            replace(job, resumed=True) if in_effect(plan.verdict) else job
            for job, plan in zip(self.jobs, self.plans, strict=True)
        ]


class Applier:
    """Applies batches; only for the holder of the writer's lock."""

    def __init__(
        self,
        state: State,
        files: MemoryFiles,
        *,
        settings: Callable[[], WriterSettings],
        clock: Clock,
        on_event: Callable[[MemoryEvent], None],
    ) -> None:
        """Keep the ports; nothing is read yet."""
        self._state = state
        self._files = files
        self._settings = settings
        self._clock = clock
        self._on_event = on_event
        self._cache = UnitCache()
        self._leftovers = Leftovers(state, files, clock)

    def run(self, jobs: Sequence[Job], *, unsaved: set[str]) -> list[Verdict]:
        """Run the jobs in their order and return their verdicts, in the same order.

        Args:
            jobs: In the order of the queue.
            unsaved: Ids of those that this call has to make durable first.

        Raises:
            WriterUnavailableError: The state database can't record the intent (nothing has changed) or the verdicts
                (recovery has to finish the batch).
        """
        batch = Batch(jobs, set(unsaved))
        for _ in range(ATTEMPTS):
            try:
                return self._attempt(batch)
            except FileMovedOnError:
                self._drop(batch)
            except (OSError, StorageError) as error:
                self._drop(batch)
                if not batch.unclean:
                    return self._after_trouble(batch, error)
        return self._give_up(batch, "its file is saved again and again by somebody else")

    def tidy(self) -> None:
        """Remove the temporary names of what is done; nobody has to wait for it, and what stays is tried again."""
        self._leftovers.tidy()

    @property
    def untidied(self) -> int:
        """How many temporary files wait to be removed."""
        return self._leftovers.untidied

    def drop_later(self, directories: Mapping[str, set[Path]]) -> None:
        """Note intent rows that can go once these directories are synced: recovery found nothing left to do."""
        self._leftovers.drop_later(directories)

    # -- one attempt -------------------------------------------------------------------------------------------------

    def _attempt(self, batch: Batch) -> list[Verdict]:
        batch.unclean = False
        batch.changes = []
        self._plan(batch)
        self._record_intent(batch)
        if batch.changes:
            try:
                self._replace(batch)
            except BaseException:
                self._take_back(batch)
                raise
        return self._finish(batch)

    def _plan(self, batch: Batch) -> None:
        settings = self._settings()
        view = BatchView(self._files, self._cache)
        batch.plans = [self._plan_one(job, view, settings) for job in batch.jobs]
        notes = keep_lost_entries(
            view.originals, view.foreign(), state=self._state, files=self._files, now=self._clock.now()
        )
        batch.plans = [_with_notes(plan, notes) for plan in batch.plans]
        batch.view = view
        batch.changes = [
            self._files.prepare(path, before=view.originals[path], after=after)
            for path, after in view.planned.items()
            if view.originals[path] != after
        ]

    @staticmethod
    def _plan_one(job: Job, view: BatchView, settings: WriterSettings) -> Plan:
        try:
            plan = plan_job(job, view, settings)
        except ScopeError as error:
            return refuse(error.message)
        except StorageError as error:
            return Plan(verdicts.failed(f"{error.message} Nothing was written."))
        except Exception as error:  # noqa: BLE001 - one job's surprise must not stop the others
            _LOG.exception("a job could not be planned", extra={"action": "job_failed", "job": job.id})
            return Plan(verdicts.failed(unexpected_message(error)))
        watches = [watch_change(each, view.read(each.path)) for each in plan.changes if each.watched]
        if job.resumed and in_effect(plan.verdict):  # it may stand there by the save of somebody who had seen it
            told = getattr(job.request, "content", None) or getattr(job.request, "new", None) or ""
            standing = set(map(ManagedPath, plan.verdict.paths)) - {change.path for change in plan.changes}
            watches += [watch_standing(path, view.read(path), told) for path in sorted(standing)]
        view.apply(plan.changes)
        return replace(plan, watches=tuple(watches))

    def _record_intent(self, batch: Batch) -> None:
        if not batch.changes:
            return
        with self._state.transaction() as state:
            self._insert_unsaved(batch)
            self._leave_earlier_attempt(batch)
            self._leftovers.drop_rows()
            batch.key = batch.jobs[0].id
            for job, plan in zip(batch.jobs, batch.plans, strict=True):
                state.run("start_job", id=job.id, batch=batch.key, verdict=plan_to_json(plan))
            for change in batch.changes:
                state.run(
                    "insert_change",
                    batch=batch.key,
                    path=change.path,
                    temp=change.temp.name,
                    hash_before=hash_bytes(change.before),
                    hash_after=hash_bytes(change.after),
                )
        self._leftovers.forget_rows()
        batch.unsaved.clear()

    def _leave_earlier_attempt(self, batch: Batch) -> None:
        """File what an earlier attempt could not remove under keys of its own; inside a transaction."""
        if batch.key:
            self._state.run("leave_changes", batch=batch.key)

    def _sync(self, changes: Sequence[Replacement]) -> None:
        """Make the new names durable, and with them the removal of older temporary ones."""
        self._files.sync_parents(changes)
        self._leftovers.note_synced({change.target.parent for change in changes})

    def _insert_unsaved(self, batch: Batch) -> None:
        for job in batch.jobs:
            if job.id in batch.unsaved:
                self._state.run("insert_job", **job.to_row())

    def _replace(self, batch: Batch) -> None:
        try:
            self._files.stage(batch.changes)
        except FileNotFoundError as error:
            raise FileMovedOnError(batch.changes[0].path) from error
        stored = [change for change in batch.changes if change.after is not None]
        removals = [change for change in batch.changes if change.after is None]
        for change in stored:
            self._swap(batch, change)
        self._sync(stored)  # before anything is removed: a moved file must not be in neither place after a power cut
        for change in removals:
            self._swap(batch, change)
        self._sync(removals)

    def _swap(self, batch: Batch, change: Replacement) -> None:
        now = self._clock.now()
        try:
            swap_unless_saved(change, files=self._files, now=now)
        except FileMovedOnError as moved:
            batch.unclean = batch.unclean or not moved.clean
            if moved.came_out is not None:
                batch.mark_resumed()
                with self._state.transaction() as state:
                    watch = watch_exposed(change.path, change.after, moved.came_out)
                    note_watches(state, [watch], at=now.isoformat())
            raise

    def _take_back(self, batch: Batch) -> None:
        """Undo the changes that were applied; what can't be undone is left to recovery."""
        applied = [change for change in reversed(batch.changes) if change.applied]
        for change in applied:
            if not give_back(change, files=self._files, now=self._clock.now()):
                batch.unclean = True
                batch.mark_resumed()
        with contextlib.suppress(OSError):  # the files are as they were; a disk that can't sync can't do more
            self._sync(applied)

    def _finish(self, batch: Batch) -> list[Verdict]:
        at = self._clock.now().isoformat()
        with self._state.transaction() as state:
            self._insert_unsaved(batch)
            if not batch.changes:
                self._leave_earlier_attempt(batch)
            self._leftovers.drop_rows()
            for job, plan in zip(batch.jobs, batch.plans, strict=True):
                finish_job(state, job, plan, at=at)
            remember_files(state, batch.changes, batch.plans, at=at)
        self._leftovers.forget_rows()
        if not batch.changes:
            batch.key = ""
        if batch.view:
            batch.view.settle()
        self._leftovers.add(batch.key, batch.changes)
        self._emit(batch.plans)
        return [plan.verdict for plan in batch.plans]

    def _emit(self, plans: Sequence[Plan]) -> None:
        for plan in plans:
            for event in plan.events:
                self._on_event(event)

    # -- when it does not work ---------------------------------------------------------------------------------------

    def _drop(self, batch: Batch) -> None:
        """Forget an attempt; where a change could not be taken back, everything stays as it is for recovery."""
        self._cache.clear()
        if any(change.applied for change in batch.changes):
            return
        for change in batch.changes:
            self._leftovers.clear_failed(change)
            self._files.remove_made(change)

    def _after_trouble(self, batch: Batch, error: Exception) -> list[Verdict]:
        """Return the verdicts after a disk error: of each job alone, or the failure of the only one."""
        if any(change.applied for change in batch.changes):
            raise error
        if len(batch.jobs) > 1:
            self._requeue(batch)
            return [self.run([job], unsaved=batch.unsaved & {job.id})[0] for job in batch.jobs]
        if isinstance(error, OSError):
            error = storage_error(error, batch.changes[0].path if batch.changes else batch.jobs[0].line)
        return self._give_up(batch, str(error))

    def _requeue(self, batch: Batch) -> None:
        if batch.key:
            with self._state.transaction() as state:
                for job in batch.jobs:
                    state.run("requeue_job", id=job.id, resumed=int(job.resumed))
                self._leave_earlier_attempt(batch)
            batch.key = ""

    def _give_up(self, batch: Batch, reason: str) -> list[Verdict]:
        sentence = reason if reason.endswith(".") else f"{reason[:1].upper()}{reason[1:]}."
        batch.plans = [Plan(verdicts.failed(f"{sentence} {_what_stands(job)}")) for job in batch.jobs]
        batch.changes, batch.view = [], None
        return self._finish(batch)


def unexpected_message(error: Exception) -> str:
    """Return the sentence for a job that ended in an error which nobody foresaw."""
    return (
        f"This write ended in an unexpected {type(error).__name__}, which is a fault of omnislash; nothing was written. "
        "The log has the details."
    )


def _what_stands(job: Job) -> str:
    if job.resumed:
        return "A part of it may be in place since an earlier attempt; re-read with memory_read."
    return "Nothing was written."


def _with_notes(plan: Plan, lost: dict[ManagedPath, str]) -> Plan:
    for change in plan.changes:
        if change.path in lost:
            plan = plan.with_note(lost[change.path])
    return plan
