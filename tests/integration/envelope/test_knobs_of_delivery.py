"""What the knobs of a role let a turn carry, with their defaults, on a brain on disk."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.envelope.conftest import Desk


def units(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.rule("KNOB-06", "ENVELOPE-16", "ENVELOPE-17")
def test_priority_chars(desk: Desk) -> None:
    """12000 by default, and as many as the role says; the file itself is not changed."""
    lines = "".join(f"- note {number:04d}\n" for number in range(2000))
    place = desk.sample.put_memory("main/MEMORY.md", lines)

    block = desk.text("memory")
    shown = block.split("\n")[3:-1]
    assert units("\n".join(shown)) <= 12_000 < units("\n".join(shown)) + 12
    assert "partial" in block.split("\n")[2]
    assert "main/MEMORY.md" in block.split("\n")[2]
    assert "memory_read" in block.split("\n")[2]

    desk.sample.role("nova", "{priorityChars: 100}")
    assert desk.text("memory").split("\n")[3:-1] == [f"- note {number:04d}" for number in range(8)]
    assert place.read_text() == lines


@pytest.mark.rule("KNOB-27", "ENVELOPE-O6")
def test_priority_chars_at_the_file_s_budget_hold_the_whole_file(desk: Desk) -> None:
    """Headings and all: a file that fills `fileMaxChars` is whole where `priorityChars` is as much."""
    desk.sample.manifest("{fileMaxChars: 500}")
    desk.sample.role("nova", "{priorityChars: 500}")
    text = "# Main\n\n## People\n\n" + "- note of a line\n" * 28
    text += "x" * (500 - len(text))
    desk.sample.put_memory("main/MEMORY.md", text)

    assert desk.text("memory") == (
        f'<agent-memory path="main/MEMORY.md">\n500 of 500 fileMaxChars (100%)\n{text}\n</agent-memory>'
    )


@pytest.mark.rule("KNOB-07", "ENVELOPE-13")
def test_recent_days(desk: Desk) -> None:
    """Today alone by default, today and the days before it as the role says, and none at 0."""
    desk.sample.put_memory("main/2026/07/2026-07-31.md", "- 10:00 July.\n")

    def days(block: str) -> list[str]:
        return [line[14:-4] for line in block.split("\n") if line.startswith("[main")]

    assert days(desk.text("memory-daily")) == ["2026-08-30"]
    desk.sample.role("nova", "{recentDays: 2}")
    assert days(desk.text("memory-daily")) == ["2026-08-29", "2026-08-30"]
    desk.sample.role("nova", "{recentDays: 30}")
    assert days(desk.text("memory-daily")) == ["2026-08-29", "2026-08-30"]
    desk.sample.role("nova", "{recentDays: 31}")
    assert days(desk.text("memory-daily")) == ["2026-07-31", "2026-08-29", "2026-08-30"]
    desk.sample.role("nova", "{recentDays: 100000}")
    assert days(desk.text("memory-daily")) == ["2026-07-31", "2026-08-29", "2026-08-30"]
    desk.sample.role("nova", "{recentDays: 0}")
    assert desk.text("memory-daily") == ""


@pytest.mark.rule("KNOB-08", "ENVELOPE-15", "ENVELOPE-23")
def test_recent_chars(desk: Desk) -> None:
    """4000 by default, tags, label and pointer included; the newest entries are the ones that stay; none at 0."""
    desk.sample.put_memory("main/2026/08/2026-08-30.md", "".join(f"- 08:00 entry {at:04d}\n" for at in range(1000)))

    block = desk.text("memory-daily")
    assert units(block) <= 4_000 < units(block) + 21
    assert "entry 0999" in block
    assert "[main/2026/08/2026-08-30.md] (in part — memory_read for the rest)" in block
    desk.sample.role("nova", "{recentChars: 300}")
    assert 200 < units(desk.text("memory-daily")) <= 300
    desk.sample.role("nova", "{recentChars: 0}")
    assert desk.text("memory-daily") == ""


@pytest.mark.rule("KNOB-13", "KNOB-14", "ENVELOPE-28")
def test_ladder_knobs(desk: Desk) -> None:
    """One summary a level and 6000 chars by default; more, fewer or none as the role says."""
    desk.sample.put_memory("main/2026/2026-W33.md", "- " + "w " * 5000)

    assert desk.text("memory-periods").count("[main/") == 1
    desk.sample.role("nova", "{periodCount: 2}")
    both = desk.text("memory-periods")
    assert both.count("[main/") == 2
    assert 5_900 < units(both) <= 6_000
    desk.sample.role("nova", "{periodCount: 2, periodChars: 400}")
    assert units(desk.text("memory-periods")) <= 400
    desk.sample.role("nova", "{periodCount: 0}")
    assert desk.text("memory-periods") == ""


@pytest.mark.rule("KNOB-09", "KNOB-10", "KNOB-11", "KNOB-15")
def test_recall_knobs(desk: Desk) -> None:
    """Four hits by default, fewer as the role says; nothing is looked for at 0, and nothing passes a floor of 1."""
    desk.sample.role("nova", "{priorityChars: 0, recentDays: 0, periodCount: 0, recallScore: 0.2}")
    for day in range(1, 9):
        desk.sample.put_memory(f"main/2026/07/2026-07-0{day}.md", f"- 10:00 the carrier comes on day {day}\n")

    def hits(memory: str) -> int | None:
        desk.sample.role("nova", f"{{priorityChars: 0, recentDays: 0, periodCount: 0, {memory}}}")
        recall = desk.turn(message="the carrier comes").recall
        return None if recall is None else len(recall.hits)

    assert hits("recallScore: 0.2") == 4
    assert hits("recallScore: 0.2, recallResults: 2") == 2
    assert hits("recallScore: 1") == 0
    assert hits("recallResults: 0") is None
    assert hits("recallChars: 0") is None


@pytest.mark.rule("KNOB-12")
def test_search_score_is_not_the_turn_s(desk: Desk) -> None:
    """`searchScore` lets nothing into a turn."""
    desk.sample.role("nova", "{searchScore: 0, recallScore: 1}")

    turn = desk.turn(message="When does the carrier come?")
    assert turn.recall is not None
    assert turn.recall.block == ""


@pytest.mark.rule("DECLARE-13", "KNOB-15")
def test_all_budgets_at_zero_is_not_no_memory(desk: Desk) -> None:
    """No block and no recall, but the line and the tools stay."""
    desk.sample.role("nova", "{priorityChars: 0, recentDays: 0, recentChars: 0, recallResults: 0, periodCount: 0}")

    turn = desk.turn(message="When does the carrier come?")

    assert [block.name for block in turn.blocks] == ["agent-environment"]
    assert turn.recall is None
    assert turn.line == "main"
    agent = desk.brain.agent("nova")
    assert "memory_write" in agent.tools
    assert agent.memory.write("Kept.").outcome == "written"


@pytest.mark.rule("RESOLVE-11", "SCOPE-18")
def test_borrowed_line_is_the_one_that_is_shown(desk: Desk) -> None:
    """A turn on behalf of another works with that one's MEMORY.md, window, ladder and recall."""
    desk.sample.role("helper", "{write: helper}")
    desk.sample.put_memory("helper/MEMORY.md", "- Helper's own.\n")

    turn = desk.turn("borrowed", role="helper", handed_line="main", message="Is the pump dead?")

    assert turn.line == "main"
    assert "Tomek" in turn.render()
    assert "Helper" not in turn.render()
    assert turn.recall is not None
    assert [hit.path for hit in turn.recall.hits] == ["main/2026/08/2026-08-29.md"]
    assert "Helper's own." in desk.turn("own", role="helper").render()


@pytest.mark.rule("SCOPE-18", "LINE-13")
def test_no_other_corpus_comes_unasked(desk: Desk) -> None:
    """What a role may read, and what it recalls, stands in no block of it."""
    desk.sample.role("ops", "{write: ops, read: [main], recall: [main]}")
    desk.sample.put_memory("ops/MEMORY.md", "- Ops.\n")

    assert desk.sent(role="ops") == ["new environment", "new memory ops/MEMORY.md"]


@pytest.mark.rule("LINE-O3")
def test_day_is_the_brain_s(desk: Desk) -> None:
    """Whether a log is of today, and what day the turn is told, follows `locale.timezone`."""
    desk.sample.manifest(timezone="Pacific/Auckland")
    desk.sample.clock.at = datetime(2026, 8, 29, 12, 30, tzinfo=UTC)

    turn = desk.turn()

    assert "date: 2026-08-30 (Sunday)\ntime zone: Pacific/Auckland" in turn.render()
    assert "[main/2026/08/2026-08-30.md]" in turn.render()


def test_log_of_tomorrow_is_not_shown(desk: Desk) -> None:
    """A log dated in the future is not part of the window, whatever days it covers."""
    desk.sample.role("nova", "{recentDays: 400}")
    for day in (date(2026, 8, 31), date(2026, 9, 1), date(2027, 1, 1)):
        desk.sample.put_memory(f"main/{day:%Y/%m}/{day}.md", "- 10:00 Not yet.\n")

    assert "Not yet." not in desk.turn().render()
    desk.sample.clock.at += timedelta(days=1)
    assert "Not yet." in desk.turn("tomorrow").render()


@pytest.mark.rule("DECLARE-04", "DECLARE-03")
def test_manifest_alone_shows_nothing(desk: Desk) -> None:
    """A memory block in the manifest turns nothing on."""
    desk.sample.role("stranger", None)

    assert desk.sent(role="stranger", message="When does the carrier come?") == ["new environment"]
