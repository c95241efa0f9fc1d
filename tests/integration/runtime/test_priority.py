"""Priority writes: today's dated section, the day in the brain's zone, and the manifest's default."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

MEMORY = "main/MEMORY.md"
TODAY = "main/2026/08/2026-08-30.md"


@pytest.mark.rule("WRITE-12", "BUDGET-02", "BUDGET-O5", "WRITE-09")
def test_priority_write_has_two_halves(sample: SampleBrain) -> None:
    """A priority write lands in the log and under today's header, and names both files."""
    memory = sample.agent().memory

    verdict = memory.write("We ship on Fridays.", priority=True)
    memory.write("The key hangs left.\nSince May.", priority=True)

    assert (verdict.outcome, verdict.paths) == (Outcome.WRITTEN, (TODAY, MEMORY))
    assert sample.files() == {
        TODAY: b"# 2026-08-30\n\n- 09:05 We ship on Fridays.\n- 09:05 The key hangs left.\n  Since May.\n",
        MEMORY: b"## Memory (2026-08-30)\n\n- We ship on Fridays.\n- The key hangs left.\n  Since May.\n",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("# M\n", "# M\n\n## Memory (2026-08-30)\n\n- x\n", id="after a preamble"),
        pytest.param("# M", "# M\n\n## Memory (2026-08-30)\n\n- x\n", id="no final newline"),
        pytest.param("\ufeff# M\r\n", "\ufeff# M\r\n\r\n## Memory (2026-08-30)\r\n\r\n- x\r\n", id="BOM and CRLF"),
        pytest.param(
            "## Memory (2026-08-30)\n\n- a\n\n## People\n", "## Memory (2026-08-30)\n\n- a\n- x\n\n## People\n",
            id="into today's section",
        ),
        pytest.param(
            "## Memory (2026-08-29)\n\n- a\n", "## Memory (2026-08-29)\n\n- a\n\n## Memory (2026-08-30)\n\n- x\n",
            id="after yesterday's",
        ),
        pytest.param(
            "## Memory (2026-08-30)\n\nprose\n", "## Memory (2026-08-30)\n\nprose\n\n## Memory (2026-08-30)\n\n- x\n",
            id="beside a curated section of today",
        ),
    ],
)  # fmt: skip
@pytest.mark.rule("BUDGET-02")
def test_entry_goes_under_todays_header(sample: SampleBrain, before: str, after: str) -> None:
    """The entry is appended to today's section, or to a new one at the end, and no other byte moves."""
    sample.put_memory(MEMORY, before)

    sample.agent().memory.write("x", priority=True)

    assert sample.data(MEMORY) == after.encode()


@pytest.mark.rule("WRITE-14", "WRITE-12")
def test_entry_of_the_log_is_promoted_once(sample: SampleBrain) -> None:
    """What stands in the log already is added to MEMORY.md alone; the third time it is a duplicate."""
    memory = sample.agent().memory
    memory.write("We ship on Fridays.")

    promoted, again = (memory.write("We ship on Fridays.", priority=True) for _ in range(2))

    assert promoted.outcome is Outcome.WRITTEN
    assert MEMORY in promoted.paths
    assert sample.text(TODAY).count("Fridays") == 1
    assert (again.outcome, again.paths) == (Outcome.DUPLICATE, (TODAY, MEMORY))


@pytest.mark.rule("WRITE-16", "WRITE-17", "KNOB-17")
@pytest.mark.parametrize(
    ("default", "given", "both"),
    [
        ("true", None, True),
        ("true", False, False),
        ("true", True, True),
        ("false", None, False),
        ("false", True, True),
    ],
)
def test_priority_default(sample: SampleBrain, default: str, given: bool | None, both: bool) -> None:
    """`priorityDefault` decides only what the caller leaves open."""
    sample.manifest(f"{{priorityDefault: {default}}}")
    arguments = {"content": "x"} | ({} if given is None else {"priority": given})

    answer = sample.agent().call("memory_write", arguments).to_json()

    assert answer["paths"] == ([TODAY, MEMORY] if both else [TODAY])


@pytest.mark.rule("LINE-O3", "LINE-05")
@pytest.mark.parametrize(
    ("timezone", "at", "day", "time"),
    [
        ("Europe/Berlin", datetime(2026, 8, 30, 21, 59, tzinfo=UTC), "2026-08-30", "23:59"),
        ("Europe/Berlin", datetime(2026, 8, 30, 22, 0, tzinfo=UTC), "2026-08-31", "00:00"),
        ("America/Los_Angeles", datetime(2027, 1, 1, 7, 59, tzinfo=UTC), "2026-12-31", "23:59"),
        ("Pacific/Kiritimati", datetime(2026, 12, 31, 10, 0, tzinfo=UTC), "2027-01-01", "00:00"),
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "2026-10-25", "02:30"),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "2026-10-25", "02:30"),
        ("Asia/Kathmandu", datetime(2026, 8, 30, 18, 15, tzinfo=UTC), "2026-08-31", "00:00"),
    ],
)
def test_day_is_decided_in_the_brains_zone(
    sample: SampleBrain, timezone: str, at: datetime, day: str, time: str
) -> None:
    """Log, time of the entry and dated header follow `locale.timezone`, through midnight, New Year and clock change."""
    sample.manifest(timezone=timezone)
    sample.clock.at = at

    sample.agent().memory.write("x", priority=True)

    year, month, _ = day.split("-")
    assert sample.files() == {
        f"main/{year}/{month}/{day}.md": f"# {day}\n\n- {time} x\n".encode(),
        MEMORY: f"## Memory ({day})\n\n- x\n".encode(),
    }
