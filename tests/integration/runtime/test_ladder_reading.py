"""The ladder of a turn as it is read from disk: which files, for whom, and what is on disk now."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash import StorageError
from omnislash.core.lines import LineName
from omnislash.runtime.ladder_reading import read_ladder

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash import Agent
    from tests.integration.conftest import SampleBrain

#: Sunday, 30 August 2026: the last day of the week W35.
NOW = datetime(2026, 8, 30, 9, 5, tzinfo=UTC)
ALL = "main: {periods: [year, week, month, quarter]}"


def ladder(agent: Agent, now: datetime = NOW) -> str:
    """Return the block that a turn of this agent carries."""
    return read_ladder(agent._ports, agent._turn.scope, now=now)


def shown(block: str) -> list[str]:
    """Return the paths of the block's labels, in its order."""
    return re.findall(r"^\[(\S+)\]", block, re.MULTILINE)


def enable(sample: SampleBrain, lines: str = ALL, *, timezone: str = "UTC", more: str = "") -> None:
    """Turn consolidation on for these lines."""
    sample.manifest(f"{{{more}consolidation: {{lines: {{{lines}}}}}}}", timezone=timezone)


def put_summaries(sample: SampleBrain, *names: str, line: str = "main") -> None:
    """Save a summary of each of these periods."""
    for name in names:
        sample.put_memory(f"{line}/{name[:4]}/{name}.md", f"# {name}\n\n- It was about {name}.\n")


@pytest.mark.rule("ENVELOPE-28", "KNOB-13", "TENSION-20")
def test_latest_of_each_level(sample: SampleBrain) -> None:
    """One of each level by default, coarsest first; a daily log, a document and MEMORY.md are no part of it."""
    enable(sample)
    put_summaries(sample, "2026-W33", "2026-W34", "2026-06", "2026-07", "2026-Q1", "2026-Q2", "2024", "2025")
    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- A day.\n")
    sample.put_memory("main/MEMORY.md", "- Curated.\n")
    sample.put_memory("main/2026/notes.md", "Not of the calendar.\n")

    block = ladder(sample.agent())

    assert block.startswith('<agent-memory-periods line="main">\n[main/2025/2025.md]\n- It was about 2025.\n')
    assert shown(block) == [
        "main/2025/2025.md",
        "main/2026/2026-Q2.md",
        "main/2026/2026-07.md",
        "main/2026/2026-W34.md",
    ]


@pytest.mark.rule("ENVELOPE-28", "PERIOD-O1")
def test_two_of_each_level_across_years(sample: SampleBrain) -> None:
    """Week 53 of 2026 ends in 2027, and stands in the folder of its own year."""
    enable(sample)
    sample.role("nova", "{periodCount: 2}")
    put_summaries(sample, "2026-W52", "2026-W53", "2026-11", "2026-12", "2027-W01", "2025", "2024", "2019")

    block = ladder(sample.agent(), datetime(2027, 1, 12, tzinfo=UTC))

    assert [path.rpartition("/")[2] for path in shown(block)] == [
        "2024.md",
        "2025.md",
        "2026-11.md",
        "2026-12.md",
        "2026-W53.md",
        "2027-W01.md",
    ]


@pytest.mark.rule("ENVELOPE-28")
def test_latest_weeks_are_found_in_the_newest_years(sample: SampleBrain) -> None:
    """Three weeks stand in the folders of two years, and older years do not matter."""
    enable(sample, "main: {periods: [week]}")
    sample.role("nova", "{periodCount: 3}")
    put_summaries(sample, "2019-W01", "2019-W02", "2019-W03", "2025-W51", "2025-W52", "2026-W01")

    assert [path[-11:-3] for path in shown(ladder(sample.agent()))] == ["2025-W51", "2025-W52", "2026-W01"]


@pytest.mark.rule("ENVELOPE-28")
def test_levels_that_the_line_does_not_enable(sample: SampleBrain) -> None:
    """A month that was summarised before the level was taken out is no longer carried."""
    enable(sample, "main: {periods: [week]}")
    put_summaries(sample, "2026-W34", "2026-07", "2025")

    assert shown(ladder(sample.agent())) == ["main/2026/2026-W34.md"]


@pytest.mark.parametrize("lines", ["", "ops: {periods: [week]}"])
@pytest.mark.rule("PERIOD-01", "ENVELOPE-28")
def test_a_line_without_levels(sample: SampleBrain, lines: str) -> None:
    """A line that is not named has no enabled level, so nothing is carried."""
    enable(sample, lines)
    put_summaries(sample, "2026-W34")

    assert ladder(sample.agent()) == ""


@pytest.mark.rule("ENVELOPE-28")
def test_future_files(sample: SampleBrain) -> None:
    """A file of a period that has not begun is left out; which day it is follows the brain's zone."""
    enable(sample, "main: {periods: [week]}", timezone="Pacific/Auckland")
    put_summaries(sample, "2026-W34", "2026-W35", "2026-W36", "2030-W01")
    agent = sample.agent()

    assert shown(ladder(agent, datetime(2026, 8, 30, 11, 59, tzinfo=UTC))) == ["main/2026/2026-W35.md"]
    assert shown(ladder(agent, datetime(2026, 8, 30, 12, 0, tzinfo=UTC))) == ["main/2026/2026-W36.md"]


@pytest.mark.rule("PERIOD-44", "KNOB-13", "KNOB-14")
@pytest.mark.parametrize("knob", ["periodCount: 0", "periodChars: 0", "periodChars: 150"])
def test_a_role_that_opts_out(sample: SampleBrain, knob: str) -> None:
    """With a count or a ceiling of 0, or too small a one, a role has no ladder while another still has it."""
    enable(sample)
    sample.role("quiet", f"{{{knob}}}")
    put_summaries(sample, "2026-W34")

    assert ladder(sample.agent("quiet")) == ""
    assert shown(ladder(sample.agent())) == ["main/2026/2026-W34.md"]


@pytest.mark.rule("DECLARE-01", "PERIOD-45")
def test_nothing_to_carry(sample: SampleBrain) -> None:
    """A role without memory has no ladder, and neither has a line without summaries or without a folder."""
    enable(sample)
    sample.role("blank", None)
    assert ladder(sample.agent()) == ""

    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- A day.\n")
    assert ladder(sample.agent()) == ""

    put_summaries(sample, "2026-W34")
    assert ladder(sample.agent("blank")) == ""


@pytest.mark.rule("PERIOD-41")
def test_a_role_with_less_room(sample: SampleBrain) -> None:
    """It is shown less of the same files, which stay as they are."""
    enable(sample)
    sample.role("brief", "{periodChars: 400}")
    sample.put_memory("main/2026/2026-W34.md", "- One line of a long week.\n" * 100)
    before = sample.files()

    block = ladder(sample.agent("brief"))

    assert len(block) <= 400
    assert "[main/2026/2026-W34.md] (in part — memory_read for the rest)\n- One line of a long week.\n" in block
    assert sample.files() == before


@pytest.mark.rule("RESOLVE-04")
def test_the_ladder_is_of_the_line_that_the_role_writes(sample: SampleBrain) -> None:
    """A role with a line of its own carries that line's summaries."""
    enable(sample, f"{ALL}, ops: {{periods: [week]}}")
    sample.role("olga", "{write: ops}")
    put_summaries(sample, "2026-W34")
    put_summaries(sample, "2026-W33", line="ops")

    block = ladder(sample.agent("olga"))

    assert block.startswith('<agent-memory-periods line="ops">')
    assert shown(block) == ["ops/2026/2026-W33.md"]


@pytest.mark.rule("RESOLVE-11", "RESOLVE-12")
def test_a_turn_in_a_borrowed_line(sample: SampleBrain) -> None:
    """A turn that works in its caller's line carries that line's summaries, with its own knobs."""
    enable(sample, f"{ALL}, ops: {{periods: [week]}}")
    sample.role("nova", "{periodCount: 2}")
    put_summaries(sample, "2026-W32", "2026-W33", "2026-W34", line="ops")
    agent = sample.agent()

    borrowed = replace(agent._turn.scope, line=LineName("ops"))

    assert shown(read_ladder(agent._ports, borrowed, now=NOW)) == ["ops/2026/2026-W33.md", "ops/2026/2026-W34.md"]


@pytest.mark.rule("PERIOD-11")
def test_edited_and_deleted_by_hand(sample: SampleBrain) -> None:
    """The block has what is on disk now; after a deletion the one before is the latest."""
    enable(sample)
    put_summaries(sample, "2026-W33", "2026-W34")
    agent = sample.agent()
    place = sample.put_memory("main/2026/2026-W34.md", b"\xef\xbb\xbf- Edited by hand.\r\n- \xff\r\n")
    assert "\n- Edited by hand.\n- \ufffd\n" in ladder(agent)

    place.unlink()

    assert shown(ladder(agent)) == ["main/2026/2026-W33.md"]


def test_a_link_out_of_the_line(sample: SampleBrain, tmp_path: Path) -> None:
    """A summary that leads out of its line is passed over, and the rest is shown."""
    enable(sample)
    put_summaries(sample, "2026-07")
    (tmp_path / "secret.md").write_text("- Not for you.\n")
    (sample.root / "memory/main/2026/2026-W34.md").symlink_to(tmp_path / "secret.md")

    block = ladder(sample.agent())

    assert shown(block) == ["main/2026/2026-07.md"]
    assert "Not for you" not in block


def test_a_folder_in_place_of_a_summary(sample: SampleBrain) -> None:
    """What cannot be read is said with its path."""
    enable(sample)
    (sample.root / "memory/main/2026/2026-W34.md").mkdir(parents=True)

    with pytest.raises(StorageError, match=r"memory/main/2026/2026-W34\.md can't be used"):
        ladder(sample.agent())
