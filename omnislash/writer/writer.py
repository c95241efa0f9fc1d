"""The one writer of a brain, for as long as it holds the lock: recover, then run what is queued.

Used for a moment by a call that finds no worker, and for days by the worker.

Rules: WRITE-01, WRITE-05, WRITE-O3, WRITE-O8, MIGRATE-01, MIGRATE-O2.
"""

from __future__ import annotations

import contextlib
import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import OmnislashError, WriterUnavailableError
from omnislash.writer.applying import Applier, unexpected_message
from omnislash.writer.jobs import DeleteRequest, EditRequest, Job
from omnislash.writer.migrating import migrate, report_migration
from omnislash.writer.recovery import recover
from omnislash.writer.watching import WATCHED, keep_lost_entries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Sequence

    from omnislash.core.clock import Clock
    from omnislash.core.events import MemoryEvent
    from omnislash.core.lines import ManagedPath
    from omnislash.store.files import MemoryFiles
    from omnislash.store.state import State
    from omnislash.writer.plans import WriterSettings

_LOG = logging.getLogger(__name__)
#: How many jobs share their syncs at most: enough for every caller of a busy machine, few enough for a short wait.
BATCH_JOBS = 64
#: How long the answers to requestIds and the events stay in the state database.
KEPT = timedelta(days=30)


class Writer:
    """Runs jobs; only for the holder of the writer's lock."""

    def __init__(
        self,
        state: State,
        files: MemoryFiles,
        *,
        settings: Callable[[], WriterSettings],
        clock: Clock,
        on_event: Callable[[MemoryEvent], None],
        named_lines: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        """Keep the ports; :meth:`recover` has to come first.

        Args:
            state: The state database.
            files: The managed files.
            settings: Returns what the brain's configuration says now.
            clock: The time.
            on_event: Told what happened to memory.
            named_lines: Returns the lines that a role or a beat names; `*` for every line.
        """
        self._state = state
        self._files = files
        self._clock = clock
        self._applier = Applier(state, files, settings=settings, clock=clock, on_event=on_event)
        self._on_event = on_event
        self._left_traces = False
        self._watched: dict[str, tuple[int, int, int]] = {}
        self._needs_recovery = True
        self._named_lines = named_lines
        self._has_migrated = False

    # -- running jobs ------------------------------------------------------------------------------------------------

    def recover(self, *, is_brief: bool = False) -> None:
        """Finish what a dead writer left; again after trouble of our own. The first time, a brain older than lines is migrated.

        Args:
            is_brief: True for a process that writes for a moment; see :func:`report_migration`.

        Raises:
            WriterUnavailableError: The state database can't be used.
            OSError: The disk refuses.
        """
        found = recover(self._state, self._files, now=self._clock.now())
        self._applier.drop_later(found.leftover)
        self._needs_recovery = False
        for event in found.events:
            self._on_event(event)
        if not self._has_migrated:
            self._migrate(is_brief=is_brief)

    def _migrate(self, *, is_brief: bool) -> None:
        """Fold a brain older than lines into `main`, once in the life of this writer (MIGRATE-O2)."""
        self._has_migrated = True
        try:
            done = migrate(self._files, named=self._named_lines)
        except (OmnislashError, OSError) as error:  # a line that can't be used must stop no write into another
            _LOG.warning(
                "A brain older than lines can't be looked for: %s", error, extra={"action": "migration_failed"}
            )
            return
        if done.is_needed:
            report_migration(done, state=self._state, now=self._clock.now(), is_brief=is_brief)

    @property
    def untidied(self) -> int:
        """How many temporary files wait for :meth:`tidy`."""
        return self._applier.untidied

    def tidy(self) -> None:
        """Remove what is not needed any more; nobody has to wait for it.

        The temporary files of what is done, and what the state database's log still holds of a text that was refused
        or forgotten.
        """
        self._applier.tidy()
        if self._left_traces:
            self._state.scrub()
            self._left_traces = False

    def drain(self) -> dict[str, Verdict]:
        """Run everything that is queued, in order; return the verdicts by job id.

        Raises:
            WriterUnavailableError, OSError: As :meth:`recover`; what is not done stays queued.
        """
        if self._needs_recovery:
            self.recover()
        verdicts_by_id: dict[str, Verdict] = {}
        while rows := self._state.rows("queued_jobs", limit=BATCH_JOBS):
            jobs = [job for row in rows if (job := self._parse(row))]
            for job, verdict in zip(jobs, self._run(jobs, unsaved=set()), strict=True):
                verdicts_by_id[job.id] = verdict
        return verdicts_by_id

    def _parse(self, row: sqlite3.Row) -> Job | None:
        """Return the job of a queued row; one that makes no sense ends as failed, so that the queue goes on."""
        try:
            return Job.from_row(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            _LOG.exception("a queued job makes no sense", extra={"action": "job_failed", "job": row["id"]})
            verdict = json.dumps(verdicts.failed(unexpected_message(error)).to_json())
            with self._state.transaction() as state:
                state.run("finish_job", id=row["id"], verdict=verdict, at=self._clock.now().isoformat())
            return None

    def _run(self, jobs: Sequence[Job], *, unsaved: set[str]) -> list[Verdict]:
        """Run a batch; when that ends with trouble, recovery has to come before the next one."""
        try:
            verdicts_in_order = self._applier.run(jobs, unsaved=unsaved)
        except BaseException:
            self._needs_recovery = True
            raise
        if any(map(_leaves_traces, jobs, verdicts_in_order)):
            self._left_traces = True
        return verdicts_in_order

    def run_new(self, jobs: Sequence[Job]) -> list[Verdict]:
        """Make new jobs durable, run them together and return their verdicts in order.

        Never raises: trouble with the disk or the state database becomes a verdict that says what is known.
        """
        try:
            if self._needs_recovery:
                self.recover()
            return self._run(jobs, unsaved={job.id for job in jobs})
        except (OmnislashError, OSError) as error:
            _LOG.error("a batch could not be finished: %s", error, extra={"action": "batch_failed"})
            return self._salvage(jobs, error)

    def _salvage(self, jobs: Sequence[Job], error: Exception) -> list[Verdict]:
        """Return what is known of jobs whose batch ran into trouble."""
        self._needs_recovery = True
        with contextlib.suppress(OmnislashError, OSError):
            self.recover()
            self.drain()
        return [self._known(job, error) for job in jobs]

    def _known(self, job: Job, error: Exception) -> Verdict:
        row: sqlite3.Row | None
        try:
            row = self._state.row("find_job", id=job.id)
        except WriterUnavailableError:
            return verdicts.unconfirmed(job.id, reason=f"the writer ran into trouble ({error})")
        if row is None:
            return verdicts.failed(f"{error} Nothing was written.")
        if row["state"] == "done":
            return Verdict.from_json(json.loads(row["verdict"]))
        return verdicts.unconfirmed(job.id, reason=f"the writer ran into trouble ({error})")

    # -- looking after things ----------------------------------------------------------------------------------------

    def check_recent_files(self) -> None:
        """Look whether a person's late save dropped an entry that was confirmed within the last hour.

        Raises:
            WriterUnavailableError, OSError: The state database or the disk can't be used.
        """
        now = self._clock.now()
        for row in self._state.rows("recent_files", since=(now - WATCHED).isoformat()):
            path: ManagedPath = row["path"]
            if not self._has_moved(path):
                continue
            data = self._files.read_settled(path)
            keep_lost_entries({path: data}, [path], state=self._state, files=self._files, now=now)

    def _has_moved(self, path: ManagedPath) -> bool:
        try:
            found = (self._files.memory / path).stat()
        except OSError:
            return self._watched.pop(path, None) is not None
        mark = (found.st_mtime_ns, found.st_size, found.st_ino)
        moved = self._watched.get(path) != mark
        self._watched[path] = mark
        return moved

    def prune(self) -> None:
        """Remove what nobody needs any more: old answers, old events, additions that are not watched any more."""
        now = self._clock.now()
        watched, kept = (now - WATCHED).isoformat(), (now - KEPT).isoformat()
        found = self._state.row("find_prunable", watched=watched, kept=kept)
        if found is None or not found["prunable"]:
            return
        with self._state.transaction() as state:
            state.run("prune_additions", before=watched)
            state.run("prune_jobs", before=kept)
            state.run("prune_events", before=kept)


def _leaves_traces(job: Job, verdict: Verdict) -> bool:
    """Tell whether the queue has held a text that shall be nowhere: a refused one, or one that is to be forgotten."""
    return isinstance(job.request, DeleteRequest | EditRequest) or verdict.outcome in {Outcome.REFUSED, Outcome.FAILED}
