"""The job that files a summary only ever creates, and its event survives a crash."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from omnislash.core.events import MemoryConsolidated, parse_event
from omnislash.core.lines import AuthoredPath, LineName, ManagedPath
from omnislash.core.verdicts import Outcome
from omnislash.writer.jobs import FileSummaryRequest, Job
from omnislash.writer.planning import plan_job
from omnislash.writer.plans import WriterSettings

WEEK = ManagedPath("main/2026/2026-W34.md")
TEXT = "# 2026-W34\n\nThe choir came.\n"
SETTINGS = WriterSettings(zone=ZoneInfo("UTC"))


class Files:
    """The managed files of a test."""

    def __init__(self, **files: bytes) -> None:
        self.files = files

    def read(self, path: ManagedPath) -> bytes | None:
        return self.files.get(path)

    def holds(self, path: ManagedPath, unit: str) -> bool:
        raise NotImplementedError


def job(content: str = TEXT, *, path: str = WEEK, target: int | None = 900) -> Job:
    """Return the job of a week's summary."""
    request = FileSummaryRequest(ManagedPath(path), content, target, ("main/2026/08/2026-08-20.md",))
    at = datetime(2026, 9, 7, 4, 0, tzinfo=UTC)
    return Job("0" * 20, LineName("main"), request, at, role="system:consolidator", actor="engine")


@pytest.mark.rule("PERIOD-O11", "EVENT-06", "EVENT-O3")
@pytest.mark.parametrize(("target", "is_over"), [(900, False), (20, True), (28, False), (27, True), (None, False)])
def test_a_summary_is_created(target: int | None, is_over: bool) -> None:
    """Where there is none, and the event has the numbers; no length asked is none missed."""
    plan = plan_job(job(target=target), Files(), SETTINGS)

    (change,), (event,) = plan.changes, plan.events
    assert (plan.verdict.outcome, plan.verdict.message) == (Outcome.WRITTEN, f"Created {WEEK}.")
    assert (change.path, change.after) == (WEEK, TEXT.encode())
    assert event.to_json() == {
        "file": WEEK,
        "scope": "main",
        "level": "week",
        "period": "2026-W34",
        "chars": 28,
        "targetChars": target,
        "overTarget": is_over,
        "sources": ["main/2026/08/2026-08-20.md"],
    }
    assert parse_event(MemoryConsolidated.name, json.loads(json.dumps(event.to_json()))) == event


@pytest.mark.rule("PERIOD-19", "PERIOD-21", "PERIOD-O11")
@pytest.mark.parametrize("there", [b"", b"Mine.\n", TEXT.encode()])
def test_a_file_that_is_there_stays(there: bytes) -> None:
    """Whatever it holds, the same text too: nothing changes, and nothing is said to have been written."""
    plan = plan_job(job(), Files(**{WEEK: there}), SETTINGS)

    assert (plan.changes, plan.events) == ((), ())
    assert plan.verdict.outcome is Outcome.REFUSED
    assert "exists already and stays as it is" in plan.verdict.message


@pytest.mark.rule("WRITE-O5")
def test_after_a_crash_its_own_file_counts() -> None:
    """A job that may have taken effect finds its text and is done; another text is somebody else's."""
    again = replace(job(), resumed=True)

    assert plan_job(again, Files(**{WEEK: TEXT.encode()}), SETTINGS).verdict.outcome is Outcome.WRITTEN
    assert plan_job(again, Files(**{WEEK: b"Mine.\n"}), SETTINGS).verdict.outcome is Outcome.REFUSED


@pytest.mark.rule("WRITE-O3")
def test_it_survives_the_queue() -> None:
    """What is read from the queue's table plans the same."""
    row = {**job().to_row(), "resumed": 0}

    assert row["tool"] == "consolidate"
    assert plan_job(Job.from_row(row), Files(), SETTINGS) == plan_job(job(), Files(), SETTINGS)


def test_a_final_newline_is_added() -> None:
    """A file ends in one."""
    assert plan_job(job(TEXT.rstrip()), Files(), SETTINGS).changes[0].after == TEXT.encode()


@pytest.mark.rule("SECRET-O1", "SOURCE-O3")
@pytest.mark.parametrize(
    ("made", "told"),
    [
        pytest.param(job(" \n"), "empty", id="nothing"),
        pytest.param(job("a\x00b"), "NUL", id="NUL"),
        pytest.param(job("Key: ghp_" + "a1B2" * 9), "GitHub token", id="credential"),
        pytest.param(job(path="main/MEMORY.md"), "is no path of a summary", id="memory"),
        pytest.param(job(path="main/2026/08/2026-08-20.md"), "is no path of a summary", id="a day"),
        pytest.param(job(path="main/notes.md"), "is no path of a summary", id="a document"),
    ],
)
def test_what_is_refused(made: Job, told: str) -> None:
    """Nothing changes, and the reason is told."""
    plan = plan_job(made, Files(), SETTINGS)

    assert (plan.changes, plan.verdict.outcome) == ((), Outcome.REFUSED)
    assert told in plan.verdict.message


@pytest.mark.rule("SOURCE-O3")
def test_an_authored_source_keeps_its_path() -> None:
    """A summary is not filed where a declared source would be shadowed by it."""
    settings = replace(SETTINGS, sources=(AuthoredPath("main/2026"),))

    assert "authored source main/2026" in plan_job(job(), Files(), settings).verdict.message
