"""The action log: who tried to change what, and what became of it."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError, UsageError

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


@pytest.mark.rule("WRITE-11", "WRITE-O7")
def test_each_attempt_is_one_row(sample: SampleBrain) -> None:
    """Written, duplicate, partial, refused and failed: each attempt is one row, newest first."""
    sample.open_gate()
    sample.manifest("{fileMaxChars: 60}")
    (sample.root / "memory/main/way.md").mkdir(parents=True)
    brain = sample.open()
    memory = brain.agent("nova").memory
    memory.write("one")
    memory.write("one")
    memory.write("x" * 50, priority=True)
    memory.write("x", line="ops")
    memory.write_file("main/way.md", "x")
    memory.write_file("main/a.md", "12345")
    memory.edit("main/a.md", old="123", new="👍")
    memory.move("main/a.md", "main/b.md")
    memory.delete("main/b.md")

    rows = brain.audit().rows

    assert [(row.tool, row.outcome, row.paths, row.chars) for row in rows] == [
        ("memory_delete", "written", ("main/b.md",), 0),
        ("memory_move", "written", ("main/b.md", "main/a.md"), 0),
        ("memory_edit", "written", ("main/a.md",), 2),
        ("memory_write_file", "written", ("main/a.md",), 5),
        ("memory_write_file", "failed", ("main/way.md",), 1),
        ("memory_write", "refused", (), 1),
        ("memory_write", "partial", (TODAY,), 50),
        ("memory_write", "duplicate", (TODAY,), 3),
        ("memory_write", "written", (TODAY,), 3),
    ]


@pytest.mark.rule("WRITE-11")
def test_row_tells_who_last_wrote_a_file(sample: SampleBrain) -> None:
    """By path, the newest row names role, heartbeat and instant of the last writer."""
    sample.role("mira")
    sample.beat("rounds", "mira")
    brain = sample.open()
    brain.agent("nova").memory.write("one")
    sample.clock.at += timedelta(minutes=5)
    brain.agent("mira", heartbeat="rounds").memory.write("two")
    brain.agent("nova").memory.write_file("main/other.md", "x")

    (last,) = brain.audit(path=TODAY, limit=1).rows

    assert (last.actor, last.role, last.heartbeat, last.outcome) == ("agent", "mira", "rounds", "written")
    assert last.at == "2026-08-30T09:10:00+00:00"
    assert list(last.to_json()) == ["at", "actor", "role", "heartbeat", "tool", "paths", "outcome", "chars", "job"]


@pytest.mark.rule("WRITE-11", "TOOL-16")
def test_granted_deletion_is_the_persons_row(sample: SampleBrain) -> None:
    """The question is a row of the agent; the deletion that a person granted is the person's."""
    sample.put_memory("main/a.md", "x\n")
    brain = sample.open()
    brain.agent("nova").memory.delete("main/a.md")
    brain.approve(brain.approvals()[0].id)

    assert [(row.actor, row.outcome) for row in brain.audit(path="main/a.md").rows] == [
        ("person", "written"),
        ("agent", "approval-required"),
    ]


def test_log_holds_no_content(sample: SampleBrain) -> None:
    """Once a write is done, its text stands in its file and nowhere in the log or the queue."""
    brain = sample.open()
    memory = brain.agent("nova").memory
    memory.write("xylophone one")
    memory.write("xylophone\x00two")
    memory.write_file("main/a.md", "xylophone three")
    memory.edit("main/a.md", old="xylophone three", new="xylophone four")

    assert "xylophone" not in json.dumps(brain.audit().to_json())
    database = sqlite3.connect(sample.root / ".omnislash/state.db")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    held = {table for table in tables for row in database.execute(f"SELECT * FROM {table}") if "xylophone" in str(row)}
    database.close()
    # Additions are watched for an hour, so that a stale save by an editor is noticed.
    assert held <= {"additions"}


def test_log_is_read_page_by_page(sample: SampleBrain) -> None:
    """Pages follow each other without a gap or a repeat, filtered by line as asked."""
    sample.role("ops", "{write: ops}")
    brain = sample.open()
    for number in range(7):
        brain.agent("nova").memory.write(f"n{number}" + "x" * number)
        brain.agent("ops").memory.write("o")
    sizes, cursor = [], None
    while True:
        page = brain.audit(line="main", limit=3, cursor=cursor)
        sizes.append([row.chars for row in page.rows])
        if (cursor := page.next_cursor) is None:
            break

    assert sizes == [[8, 7, 6], [5, 4, 3], [2]]


def test_agent_sees_the_lines_it_may_read(sample: SampleBrain) -> None:
    """`audit_list` shows rows of the read set only, across pages; another line is refused."""
    sample.role("ops", "{write: ops}")
    sample.role("overseer", "{write: desk, read: ['*']}")
    brain = sample.open()
    for number in range(5):
        brain.agent("ops").memory.write(f"o{number}")
        brain.agent("nova").memory.write(f"n{number}")

    nova = brain.agent("nova").call("audit_list", {"limit": 4}).to_json()

    assert {path for row in nova["rows"] for path in row["paths"]} == {TODAY}
    assert len(nova["rows"]) == 4
    rest = brain.agent("nova").call("audit_list", {"limit": 4, "cursor": nova["nextCursor"]}).to_json()
    assert (len(rest["rows"]), "nextCursor" in rest) == (1, False)
    assert len(brain.agent("overseer").call("audit_list", {}).to_json()["rows"]) == 10
    with pytest.raises(ScopeError):
        brain.agent("nova").call("audit_list", {"line": "ops"})


def test_foreign_cursor_is_an_error(sample: SampleBrain) -> None:
    """A cursor that the log did not give raises a sentence."""
    with pytest.raises(UsageError, match="cursor"):
        sample.open().audit(cursor="abc")


def test_depositor_is_in_the_destinations_log(sample: SampleBrain) -> None:
    """A deposit is a row of the line that received it, with role and heartbeat of the depositor."""
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    brain = sample.open()
    brain.agent("nova", heartbeat="briefing").memory.write("x", line="ops")

    assert [(row.role, row.heartbeat) for row in brain.audit(line="ops").rows] == [("nova", "briefing")]
    assert brain.audit(line="main").rows == ()
