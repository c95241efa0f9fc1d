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

import json
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.dedupe import fold
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import ScopeError, StorageError
from omnislash.store.files import MemoryFiles, Replacement, storage_error
from omnislash.store.hashing import hash_bytes
from omnislash.writer.displaced import keep_lost_entries, save_displaced
from omnislash.writer.planning import plan_job
from omnislash.writer.plans import Plan, WriterSettings, refuse
from omnislash.writer.views import BatchView, UnitCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash.core.clock import Clock
    from omnislash.core.events import MemoryEvent
    from omnislash.core.lines import ManagedPath
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job

_LOG = logging.getLogger(__name__)
#: How often a batch starts again because somebody else saved one of its files in that very moment.
#: Each round lasts about a millisecond, so a file that changes in every one of them is being fought over.
ATTEMPTS = 200


class FileMovedOnError(Exception):
    """Somebody saved one of the files between planning and exchange; the batch has to be planned again."""


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

    def mark_resumed(self) -> None:
        """Note that the jobs may be in effect already: what they wanted then counts as done."""
        self.jobs = [replace(job, resumed=True) for job in self.jobs]


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
        self._finished: list[Batch] = []
        self._tidied: list[str] = []

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
                return self._after_trouble(batch, error)
        return self._give_up(batch, "its file is saved again and again by somebody else")

    def tidy(self) -> None:
        """Remove the temporary names of batches that are done; nobody has to wait for it."""
        for batch in self._finished:
            self._discard(batch)
            if batch.key:
                self._tidied.append(batch.key)
        self._finished.clear()

    def drop_later(self, keys: Sequence[str]) -> None:
        """Note batches whose intent rows can go with the next transaction: recovery found nothing left to do."""
        self._tidied.extend(keys)

    # -- one attempt -------------------------------------------------------------------------------------------------

    def _attempt(self, batch: Batch) -> list[Verdict]:
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
        view.apply(plan.changes)
        return plan

    def _record_intent(self, batch: Batch) -> None:
        if not batch.changes:
            return
        with self._state.transaction() as state:
            self._insert_unsaved(batch)
            batch.key = batch.jobs[0].id
            for key in (batch.key, *self._tidied):
                state.run("drop_changes", batch=key)
            for job, plan in zip(batch.jobs, batch.plans, strict=True):
                state.run("start_job", id=job.id, batch=batch.key, verdict=plan_to_json(job, plan))
            for change in batch.changes:
                state.run(
                    "insert_change",
                    batch=batch.key,
                    path=change.path,
                    temp=change.temp.name,
                    hash_before=hash_bytes(change.before),
                    hash_after=hash_bytes(change.after),
                )
        self._tidied.clear()
        batch.unsaved.clear()

    def _insert_unsaved(self, batch: Batch) -> None:
        for job in batch.jobs:
            if job.id in batch.unsaved:
                self._state.run("insert_job", **job.to_row())

    def _replace(self, batch: Batch) -> None:
        for change in batch.changes:
            self._files.stage(change)
        for change in batch.changes:
            self._swap(batch, change)
        self._files.sync_parents(batch.changes)

    def _swap(self, batch: Batch, change: Replacement) -> None:
        """Exchange one file, unless somebody saved it meanwhile.

        Raises:
            FileMovedOnError: They did; their bytes stand under the real name again.
        """
        if self._files.read_target(change) != change.before:
            raise FileMovedOnError(change.path)
        try:
            self._files.swap(change)
        except (FileExistsError, FileNotFoundError) as error:
            raise FileMovedOnError(change.path) from error
        came_out, still_open = self._files.displaced(change)
        if came_out != change.before:
            self._give_back(batch, change)
            raise FileMovedOnError(change.path)
        if still_open:
            save_displaced(change, files=self._files, now=self._clock.now())

    def _give_back(self, batch: Batch, change: Replacement) -> None:
        """Put what an exchange brought out under the real name again.

        When somebody saved on top of the new bytes in that moment, that save stays and may hold what the jobs wanted;
        what came out before becomes a conflict copy, unless the save holds all of it.
        """
        if not self._files.take_back(change):
            batch.mark_resumed()
            save_displaced(change, files=self._files, now=self._clock.now(), unless_held=True)

    def _take_back(self, batch: Batch) -> None:
        """Undo the changes that were applied; what can't be undone is left to recovery."""
        for change in reversed(batch.changes):
            if change.applied:
                self._give_back(batch, change)

    def _finish(self, batch: Batch) -> list[Verdict]:
        at = self._clock.now().isoformat()
        with self._state.transaction() as state:
            self._insert_unsaved(batch)
            for job, plan in zip(batch.jobs, batch.plans, strict=True):
                finish_job(state, job, plan, at=at)
            remember_files(state, batch.changes, batch.plans, at=at)
        if batch.view:
            batch.view.settle()
        self._finished.append(batch)
        self._emit(batch.plans)
        return [plan.verdict for plan in batch.plans]

    def _emit(self, plans: Sequence[Plan]) -> None:
        for plan in plans:
            for event in plan.events:
                self._on_event(event)

    # -- when it does not work ---------------------------------------------------------------------------------------

    def _discard(self, batch: Batch) -> None:
        for change in batch.changes:
            self._files.discard(change)

    def _drop(self, batch: Batch) -> None:
        self._cache.clear()
        if not any(change.applied for change in batch.changes):
            self._discard(batch)

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
                state.run("drop_changes", batch=batch.key)

    def _give_up(self, batch: Batch, reason: str) -> list[Verdict]:
        sentence = reason if reason.endswith(".") else f"{reason[:1].upper()}{reason[1:]}."
        batch.plans = [Plan(verdicts.failed(f"{sentence} Nothing was written.")) for _ in batch.jobs]
        batch.changes, batch.view = [], None
        return self._finish(batch)


def _with_notes(plan: Plan, lost: dict[ManagedPath, str]) -> Plan:
    for change in plan.changes:
        if change.path in lost:
            plan = plan.with_note(lost[change.path])
    return plan


def plan_to_json(job: Job, plan: Plan) -> str:
    """Return what recovery needs to finish a job whose files are in place: verdict, events, additions."""
    return json.dumps(
        {
            "verdict": plan.verdict.to_json(),
            "events": [{"name": event.name, "payload": event.to_json()} for event in plan.events],
            "chars": job.offered_chars,
            "additions": [
                {"path": change.path, "text": None if change.appended is None else fold(change.appended)}
                for change in plan.changes
            ],
        },
        ensure_ascii=False,
    )


def finish_job(state: State, job: Job, plan: Plan, *, at: str) -> None:
    """Write a job's verdict, its audit row and its events; inside a transaction."""
    verdict = plan.verdict
    events = [(event.name, event.to_json()) for event in plan.events]
    finish_row(state, job, verdict, events, at=at)


def finish_row(
    state: State, job: Job, verdict: Verdict, events: Sequence[tuple[str, dict[str, object]]], *, at: str
) -> None:
    """Write a verdict, its audit row and its events; inside a transaction."""
    state.run("finish_job", id=job.id, verdict=json.dumps(verdict.to_json(), ensure_ascii=False), at=at)
    state.run(
        "insert_audit",
        at=at,
        actor=job.actor,
        role=job.role,
        heartbeat=job.heartbeat,
        tool=job.tool,
        line=job.line,
        paths=json.dumps(audit_paths(job, verdict), ensure_ascii=False),
        outcome=verdict.outcome.value,
        chars=job.offered_chars,
        job=job.id,
    )
    for name, payload in events:
        state.run("insert_event", at=at, name=name, payload=json.dumps(payload, ensure_ascii=False))


def audit_paths(job: Job, verdict: Verdict) -> list[str]:
    """Return the paths of the audit row: those of the verdict, else the one that was asked for."""
    asked = getattr(job.request, "path", None) or getattr(job.request, "source", None)
    paths = [*verdict.paths, *([asked] if asked and asked not in verdict.paths else [])]
    return paths if verdict.outcome is not Outcome.DUPLICATE else list(verdict.paths)


def remember_files(state: State, changes: Sequence[Replacement], plans: Sequence[Plan], *, at: str) -> None:
    """Note what the writer left on disk, so that a stale save by an editor is noticed; inside a transaction."""
    for change in changes:
        if change.after is None:
            state.run("drop_additions", path=change.path)
        state.run("set_file", path=change.path, hash=hash_bytes(change.after), at=at)
    for plan in plans:
        for planned in plan.changes:
            if planned.appended is None:
                state.run("drop_additions", path=planned.path)
            else:
                state.run("add_addition", path=planned.path, text=fold(planned.appended), at=at)
