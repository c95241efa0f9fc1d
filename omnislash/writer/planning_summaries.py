"""Plan the job that files the summary of a period: it only ever creates.

Pure, as :mod:`omnislash.writer.planning`.
A file that stands there when the job runs is the record, whoever wrote it, and stays as it is.

Rules: PERIOD-19, PERIOD-21, PERIOD-O11, EVENT-06, EVENT-O3, SECRET-O1, SOURCE-O3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.budgets import count_chars
from omnislash.core.content import check_content
from omnislash.core.credentials import find_secret
from omnislash.core.events import MemoryConsolidated
from omnislash.core.lines import quote_name
from omnislash.core.periods import Level, Period, period_at
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.errors import InvalidNameError
from omnislash.writer.plans import Plan, PlannedChange, encode, refuse, secret_message, shadowed

if TYPE_CHECKING:
    from omnislash.core.lines import ManagedPath
    from omnislash.writer.jobs import FileSummaryRequest, Job
    from omnislash.writer.plans import FileReader, WriterSettings


def plan_summary(job: Job, request: FileSummaryRequest, files: FileReader, settings: WriterSettings) -> Plan:
    """Return the plan that creates a summary, or that leaves the one that is there.

    Raises:
        InvalidContentError: The text can't be stored.
        InvalidNameError: The path is none of a summary.
    """
    check_content(request.content)
    period = _period_of(request.path)
    secret = find_secret(request.content) if settings.refuse_secrets else None
    refusal = refuse(secret_message(secret)) if secret else shadowed(request.path, settings)
    if refusal:
        return refusal
    text = request.content if request.content.endswith("\n") else request.content + "\n"
    there = files.read(request.path)
    message = verdicts.written_message([request.path], verb="Created")
    verdict = Verdict(Outcome.WRITTEN, (request.path,), message, job=job.id)
    if there is None:
        event = _consolidated(job, request, period, text)
        return Plan(verdict, (PlannedChange(request.path, encode(text), watched=False),), (event,))
    if job.resumed and there == encode(text):
        return Plan(verdict)
    stays = f"{request.path} exists already and stays as it is; the new summary was dropped."
    return refuse(stays, paths=(request.path,))


def _period_of(path: ManagedPath) -> Period:
    period = period_at(path)
    if period is None or period.level is Level.DAY:
        message = f"{quote_name(path)} is no path of a summary."
        raise InvalidNameError(message)
    return period


def _consolidated(job: Job, request: FileSummaryRequest, period: Period, text: str) -> MemoryConsolidated:
    return MemoryConsolidated(
        file=request.path,
        scope=job.line,
        level=period.level.value,
        period=period.name,
        chars=count_chars(text),
        target_chars=request.target_chars,
        sources=tuple(request.sources),
    )
