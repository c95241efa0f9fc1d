"""Plan one job against the files as they are now: which bytes change, and what the answer will be.

Pure: the same job, files and settings give the same plan.
This module plans entries (`memory_write`); :mod:`omnislash.writer.planning_files` plans changes of whole files,
:mod:`omnislash.writer.planning_summaries` the summaries of periods.

Rules: WRITE-12 to WRITE-15, WRITE-O1, WRITE-O6, REPORT-04 to REPORT-08, BUDGET-02, BUDGET-O1, EVENT-01.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from omnislash.core import verdicts
from omnislash.core.budgets import Reading, count_chars
from omnislash.core.content import check_content, normalise_content
from omnislash.core.credentials import find_secret
from omnislash.core.daily import append_entry
from omnislash.core.dedupe import fold
from omnislash.core.entries import render_entry, render_text
from omnislash.core.events import MemoryEvent, MemoryWritten
from omnislash.core.lines import ManagedPath, daily_path, memory_path
from omnislash.core.sections import add_entry, parse_memory
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import InvalidContentError, InvalidNameError
from omnislash.writer import planning_files, planning_summaries
from omnislash.writer.jobs import (
    DeleteRequest,
    EditRequest,
    FileSummaryRequest,
    Job,
    MoveRequest,
    WriteFileRequest,
    WriteRequest,
)
from omnislash.writer.plans import (
    FileView,
    FittedMemory,
    Plan,
    PlannedChange,
    WriterSettings,
    decode,
    encode,
    fit,
    refuse,
    secret_message,
    shadowed,
)

if TYPE_CHECKING:
    from datetime import datetime


def plan_job(job: Job, files: FileView, settings: WriterSettings) -> Plan:
    """Return the plan of any job.

    Raises:
        StorageError: A file that the job needs can't be read.
    """
    try:
        return _plan(job, files, settings)
    except InvalidContentError as error:
        return refuse(error.message)
    except InvalidNameError as error:
        return refuse(f"{error.message} Nothing was written.")


def _plan(job: Job, files: FileView, settings: WriterSettings) -> Plan:
    match job.request:
        case WriteRequest() as request:
            return plan_entry(job, request, files, settings)
        case EditRequest() as request:
            return planning_files.plan_edit(job, request, files, settings)
        case WriteFileRequest() as request:
            return planning_files.plan_write_file(job, request, files, settings)
        case MoveRequest() as request:
            return planning_files.plan_move(job, request, files, settings)
        case DeleteRequest() as request:
            return planning_files.plan_delete(job, request, files, settings)
        case FileSummaryRequest() as request:
            return planning_summaries.plan_summary(job, request, files, settings)
        case _ as unknown:
            assert_never(unknown)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry that a job wants to add, and where it would stand."""

    content: str
    signature: str | None
    at: datetime
    daily: ManagedPath
    memory: ManagedPath

    @property
    def unit(self) -> str:
        """The text by which dedupe knows the entry: a deposit's signature is part of it."""
        return fold(render_text(self.content, signature=self.signature))


def plan_entry(job: Job, request: WriteRequest, files: FileView, settings: WriterSettings) -> Plan:
    """Return the plan of a `memory_write`: the daily entry and, with priority, the MEMORY.md entry."""
    check_content(request.content)
    if settings.refuse_secrets and (secret := find_secret(request.content)):
        return refuse(secret_message(secret))
    at = job.created_at.astimezone(settings.zone)
    entry = _Entry(
        content=normalise_content(request.content),
        signature=request.signature,
        at=at,
        daily=daily_path(job.line, at.date()),
        memory=memory_path(job.line),
    )
    refusal = shadowed(entry.daily, settings) or (shadowed(entry.memory, settings) if request.priority else None)
    if refusal:
        return refusal
    plan = _plan_priority if request.priority else _plan_daily
    return plan(job, entry, files, settings)


def _stands_in(entry: _Entry, files: FileView) -> tuple[ManagedPath, ...]:
    """Return the paths, daily log first, in which the entry stands already."""
    return tuple(path for path in (entry.daily, entry.memory) if files.holds(path, entry.unit))


def _plan_daily(job: Job, entry: _Entry, files: FileView, settings: WriterSettings) -> Plan:
    del settings
    standing = _stands_in(entry, files)
    if standing:
        return Plan(_already(job, standing))
    change = _daily_change(entry, files)
    return Plan(
        Verdict(Outcome.WRITTEN, (entry.daily,), verdicts.written_message([entry.daily]), job=job.id),
        (change,),
        (_written(job, change),),
    )


def _already(job: Job, standing: tuple[ManagedPath, ...]) -> Verdict:
    """Return `duplicate`, or after a crash `written`: the entry that stands there is this job's own."""
    if job.resumed:
        return Verdict(Outcome.WRITTEN, standing, verdicts.written_message(standing), job=job.id)
    return Verdict(Outcome.DUPLICATE, standing, verdicts.duplicate_message(standing), job=job.id)


def _daily_change(entry: _Entry, files: FileView) -> PlannedChange:
    before = files.read(entry.daily)
    text = None if before is None else decode(before)
    time = f"{entry.at:%H:%M}"
    after = append_entry(text, entry.content, on=entry.at.date(), time=time, signature=entry.signature)
    appended = render_entry(entry.content, time=time, signature=entry.signature)
    return PlannedChange(entry.daily, encode(after), appended=appended, unit=entry.unit)


def _written(job: Job, change: PlannedChange) -> MemoryEvent:
    chars = count_chars(decode(change.after))
    return MemoryWritten(file=change.path, scope=job.line, chars=chars, role=job.role, heartbeat_id=job.heartbeat)


def _plan_priority(job: Job, entry: _Entry, files: FileView, settings: WriterSettings) -> Plan:
    standing = _stands_in(entry, files)
    if entry.memory in standing:
        return _plan_rest(job, entry, files, settings) if job.resumed else Plan(_already(job, standing))
    daily = () if standing else (_daily_change(entry, files),)
    before = decode(files.read(entry.memory))
    added = add_entry(parse_memory(before), entry.content, on=entry.at.date())
    fitted = fit(added.text, before=before, line=job.line, settings=settings, protected_at=added.at, is_priority=True)
    if fitted.text is None:
        return _partly(job, entry, daily, fitted)
    appended = None if fitted.events else render_entry(entry.content)
    memory = PlannedChange(entry.memory, encode(fitted.text), appended=appended, unit=entry.unit)
    changes = (*daily, memory)
    paths = (entry.daily, entry.memory)
    wrote = paths if daily or job.resumed else (entry.memory,)
    standing_there = "" if len(wrote) > 1 else f" The entry already stands in {entry.daily}."
    message = f"{verdicts.written_message(wrote)}{standing_there} {fitted.message}"
    events = (*(_written(job, change) for change in changes), *fitted.events)
    return Plan(Verdict(Outcome.WRITTEN, paths, message, fitted.reading, job=job.id), changes, events)


def _plan_rest(job: Job, entry: _Entry, files: FileView, settings: WriterSettings) -> Plan:
    """Return the plan of a priority write whose MEMORY.md half stands since an attempt that a crash ended."""
    changes = () if files.holds(entry.daily, entry.unit) else (_daily_change(entry, files),)
    reading = Reading(count_chars(decode(files.read(entry.memory))), settings.budget(job.line).limit)
    paths = (entry.daily, entry.memory)
    message = f"{verdicts.written_message(paths)} {verdicts.reading_message(reading)}"
    verdict = Verdict(Outcome.WRITTEN, paths, message, reading, job=job.id)
    return Plan(verdict, changes, tuple(_written(job, change) for change in changes))


def _partly(job: Job, entry: _Entry, daily: tuple[PlannedChange, ...], fitted: FittedMemory) -> Plan:
    """Return the plan when the budget refuses the MEMORY.md half: the daily half still lands (WRITE-13)."""
    if not daily and not job.resumed:
        message = f"{fitted.message} The entry already stands in {entry.daily}."
        return Plan(Verdict(Outcome.REFUSED, (entry.daily,), message, fitted.reading, job=job.id), (), fitted.events)
    message = f"{verdicts.written_message([entry.daily])} {fitted.message}"
    return Plan(
        Verdict(Outcome.PARTIAL, (entry.daily,), message, fitted.reading, job=job.id),
        daily,
        (*(_written(job, change) for change in daily), *fitted.events),
    )
