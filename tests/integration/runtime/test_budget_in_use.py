"""The budget of MEMORY.md on real files: the worked table, its events, and the reading at each of its doors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash import Agent, Verdict
    from tests.integration.conftest import SampleBrain

MEMORY = "main/MEMORY.md"
TODAY = "main/2026/08/2026-08-30.md"
#: What a new dated section adds to its entry's text: an empty line, header, empty line, `- `, line end.
SECTION = 28


def curated(chars: int, *, fill: str = "c") -> str:
    """Return curated text of exactly so many units."""
    return "# Rules\n\n" + fill * (chars - 10) + "\n"


def dated(day: int, chars: int) -> str:
    """Return a dated section of August 2026 of exactly so many units."""
    head = f"## Memory (2026-08-{day:02})\n\n- "
    return head + "d" * (chars - len(head) - 1) + "\n"


def prose(day: int, chars: int) -> str:
    """Return the same section edited into plain prose."""
    head = f"## Memory (2026-08-{day:02})\n\n"
    return head + "p" * (chars - len(head) - 1) + "\n"


def entry(chars: int) -> Callable[[Agent], Verdict]:
    """Return a priority write that adds exactly so many units."""
    return lambda agent: agent.memory.write("e" * (chars - SECTION), priority=True)


def resize(chars: int) -> Callable[[Agent], Verdict]:
    """Return an edit of the curated part, which ends in a run of `c`, to exactly so many units."""

    def edit(agent: Agent) -> Verdict:
        text = agent.memory.read(MEMORY).content
        end = text.find("## Memory")
        old = text[: end if end > 0 else len(text)]
        return agent.memory.edit(MEMORY, old=old, new=curated(chars, fill="n"))

    return edit


@dataclass(frozen=True)
class Row:
    """One row of the worked table: what is on disk, the write, and what shall come of it."""

    disk: str
    write: Callable[[Agent], Verdict]
    #: Size of the file afterwards.
    size: int
    #: The days of August 2026 that are dropped.
    dropped: tuple[int, ...] = ()
    #: What `memory:budget-refused` says; None when the write is accepted.
    refused_at: int | None = None
    budget: int = 10_000


TABLE = {
    "1": Row(curated(9000) + dated(1, 600) + dated(2, 300), entry(300), 9600, (1,)),
    "2": Row(curated(9000) + dated(1, 600) + dated(2, 300), entry(1000), 10000, (1, 2)),
    "3": Row(curated(9900) + dated(1, 80), entry(200), 9980, refused_at=10100),
    "4": Row(curated(9700), entry(300), 10000),
    "5": Row(curated(9701), entry(300), 9701, refused_at=10001),
    "6": Row(curated(9000) + prose(1, 600) + dated(2, 300), entry(300), 9900, (2,)),
    "7": Row(curated(9000) + dated(2, 300) + dated(1, 600), entry(300), 9600, (1,)),
    "8": Row(curated(12000), resize(11999), 11999),
    "9": Row(curated(12000), resize(12000), 12000, refused_at=12000),
    "10": Row(curated(12000), resize(12001), 12000, refused_at=12001),
    "11 exactly": Row(curated(9999), resize(10000), 10000),
    "11 over": Row(curated(9999), resize(10001), 9999, refused_at=10001),
    "12": Row(curated(10500) + dated(1, 500), resize(9990), 9990, (1,)),
    "13": Row(curated(10500) + dated(1, 500), entry(100), 10600, (1,)),
    "14": Row(curated(50000), entry(300), 50300, budget=0),
    "15": Row(curated(9800), resize(9799), 9799, budget=8000),
}


@pytest.mark.rule(
    "BUDGET-02", "BUDGET-03", "BUDGET-04", "BUDGET-05", "BUDGET-06", "BUDGET-07", "BUDGET-08", "BUDGET-09", "BUDGET-10",
    "BUDGET-11", "BUDGET-12", "BUDGET-13", "BUDGET-14", "BUDGET-15", "BUDGET-21", "BUDGET-24", "BUDGET-O1", "BUDGET-O2",
    "BUDGET-O3", "BUDGET-O4", "EVENT-04", "EVENT-05",
)  # fmt: skip
@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_worked_table_on_disk(sample: SampleBrain, row: Row) -> None:
    """Each row of the table, through a real file: its size, its drops, its events and its reading."""
    sample.manifest(f"{{lines: {{main: {{fileMaxChars: {row.budget}}}}}}}" if row.budget != 10_000 else "{}")
    sample.put_memory(MEMORY, row.disk)
    brain = sample.open()
    events: dict[str, dict[str, Any]] = {}
    brain.on_event(lambda event: events.update({event.name: event.to_json()}))

    verdict = row.write(brain.agent("nova"))

    text = sample.text(MEMORY)
    assert len(text) == row.size
    assert verdict.budget is not None
    assert (verdict.budget.chars, verdict.budget.limit) == (row.size, row.budget or None)
    assert verdict.budget.render() == brain.agent("nova").memory.read(MEMORY).budget.render()  # type: ignore[union-attr]
    days = [f"2026-08-{day:02}" for day in row.dropped]
    if row.refused_at is None:
        assert verdict.outcome is Outcome.WRITTEN
        assert verdict.budget.render() in verdict.message
        assert all(day in verdict.message and f"## Memory ({day})" not in text for day in days)
        assert events.get("memory:compacted", {}).get("dates", []) == days
        assert "memory:budget-refused" not in events
    else:
        assert text == row.disk
        assert (str(row.refused_at) in verdict.message, str(row.budget) in verdict.message) == (True, True)
        numbers = {"file": MEMORY, "scope": "main", "chars": row.refused_at, "budget": row.budget}
        assert events["memory:budget-refused"] == numbers
        assert "memory:compacted" not in events


@pytest.mark.rule("BUDGET-10", "WRITE-13")
def test_refused_priority_keeps_the_dated_sections(sample: SampleBrain) -> None:
    """Row 3: the section that step 1 would have dropped is still there, and the daily entry lands."""
    sample.put_memory(MEMORY, TABLE["3"].disk)

    verdict = TABLE["3"].write(sample.agent())

    assert verdict.outcome is Outcome.PARTIAL
    assert "## Memory (2026-08-01)" in sample.text(MEMORY)
    assert sample.text(TODAY) == f"# 2026-08-30\n\n- 09:05 {'e' * (200 - SECTION)}\n"


@pytest.mark.rule("BUDGET-24", "BUDGET-23")
def test_lowered_or_exceeded_budget_changes_no_file(sample: SampleBrain) -> None:
    """A file that became too long, by a lower number or by a person, is left as it is and can still be read."""
    sample.put_memory(MEMORY, curated(9800) + dated(1, 100))
    brain = sample.open()
    sample.manifest("{fileMaxChars: 8000}")

    content = brain.agent("nova").memory.read(MEMORY)
    brain.agent("nova").memory.write("A daily entry.")

    assert content.budget is not None
    assert content.budget.render() == "9900 of 8000 fileMaxChars (124%)"
    assert sample.text(MEMORY) == curated(9800) + dated(1, 100)


@pytest.mark.rule("BUDGET-15", "BUDGET-16", "KNOB-16")
def test_each_line_has_its_own_number(sample: SampleBrain) -> None:
    """10000 for every line, 60000 for main and none for ops: each write is judged by its line's number."""
    sample.manifest("{fileMaxChars: 10000, lines: {main: {fileMaxChars: 60000}, ops: {fileMaxChars: 0}}}")
    brain = sample.open()
    limits = {}
    for line in ("main", "ops", "research"):
        sample.role(line, f"{{write: {line}}}")
        sample.put_memory(f"{line}/MEMORY.md", curated(59_000))
        verdict = brain.agent(line).memory.write("e" * 3000, priority=True)
        assert verdict.budget is not None
        limits[line] = (verdict.outcome.value, verdict.budget.limit)

    assert limits == {"main": ("partial", 60000), "ops": ("written", None), "research": ("partial", 10000)}


@pytest.mark.rule("BUDGET-18", "BUDGET-14")
def test_budget_counts_utf16_units(sample: SampleBrain) -> None:
    """An emoji costs two units and a Cyrillic letter one, whatever they cost in bytes."""
    sample.manifest("{fileMaxChars: 100}")
    memory = sample.agent().memory

    assert memory.write_file(MEMORY, "👍" * 49 + "ё\n").budget.chars == 100  # type: ignore[union-attr]
    assert memory.write_file(MEMORY, "👍" * 50 + "\n").outcome is Outcome.REFUSED
    assert memory.write_file(MEMORY, "ё" * 99 + "\n").outcome is Outcome.WRITTEN


@pytest.mark.rule("BUDGET-05", "BUDGET-O10", "TOOL-O2")
@pytest.mark.parametrize("door", ["write-file", "move", "new file"])
def test_other_doors_pass_both_steps(sample: SampleBrain, door: str) -> None:
    """A whole-file save and a move onto MEMORY.md drop the oldest dated section, and are refused when that is vain."""
    sample.manifest("{fileMaxChars: 1000}")
    fits, too_long = curated(900) + dated(2, 90) + dated(1, 90), curated(1001)
    if door == "write-file":
        sample.put_memory(MEMORY, curated(100))
    memory = sample.agent().memory

    def save(text: str) -> Verdict:
        if door != "move":
            return memory.write_file(MEMORY, text)
        sample.put_memory("main/draft.md", text)
        return memory.move("main/draft.md", MEMORY)

    before = sample.files()
    refusal = save(too_long)
    assert refusal.outcome is Outcome.REFUSED
    assert sample.files().get(MEMORY) == before.get(MEMORY)

    verdict = save(fits)

    assert verdict.outcome is Outcome.WRITTEN
    assert "2026-08-01" in verdict.message
    assert sample.text(MEMORY) == curated(900) + dated(2, 90)


@pytest.mark.rule("BUDGET-O1", "BUDGET-O6")
def test_edited_section_is_not_dropped_by_its_own_edit(sample: SampleBrain) -> None:
    """An edit that makes an entry of the oldest section longer drops the next oldest, not the edited one."""
    sample.manifest("{fileMaxChars: 1000}")
    sample.put_memory(MEMORY, curated(700) + dated(1, 100) + dated(2, 100) + dated(3, 100))

    first = "d" * (100 - 27)
    verdict = sample.agent().memory.edit(
        MEMORY, old=f"(2026-08-01)\n\n- {first}", new="(2026-08-01)\n\n- longer" + first
    )

    assert verdict.outcome is Outcome.WRITTEN
    text = sample.text(MEMORY)
    assert [f"(2026-08-0{day})" in text for day in (1, 2, 3)] == [True, False, True]


@pytest.mark.rule("BUDGET-21", "BUDGET-20", "BUDGET-O7")
@pytest.mark.parametrize(
    ("limit", "chars", "reading"),
    [
        (12000, 8794, "8794 of 12000 fileMaxChars (73%)"),
        (10000, 10000, "10000 of 10000 fileMaxChars (100%)"),
        (60000, 301, "301 of 60000 fileMaxChars (1%)"),
        (0, 8794, "8794 chars (no fileMaxChars)"),
    ],
)
def test_reading_at_every_door(sample: SampleBrain, limit: int, chars: int, reading: str) -> None:
    """The verdict of a write, an edit, a save and a deletion, a read and the overview give the same reading."""
    sample.open_gate()
    sample.manifest(f"{{fileMaxChars: {limit}}}")
    memory = sample.agent().memory
    sample.put_memory(MEMORY, curated(chars - SECTION - 5))

    def check(verdict: Verdict) -> None:
        assert verdict.budget is not None
        assert verdict.budget.render() == reading
        assert reading in verdict.message

    check(memory.write("entry", priority=True))
    assert memory.read(MEMORY).budget.render() == reading  # type: ignore[union-attr]
    assert memory.overview().to_json()["reading"] == reading
    check(memory.edit(MEMORY, old="entry", new="tryen"))
    check(memory.write_file(MEMORY, curated(chars, fill="f")))
    sample.put_memory(MEMORY, curated(chars) + "- x\n")
    check(memory.delete(MEMORY, entry="x"))
    assert memory.write("A daily entry.").budget is None


@pytest.mark.rule("BUDGET-01")
def test_memory_file_is_managed(sample: SampleBrain) -> None:
    """The engine may edit, delete and compact MEMORY.md."""
    sample.open_gate()
    sample.manifest("{fileMaxChars: 200}")
    sample.put_memory(MEMORY, dated(1, 100) + dated(2, 90))
    memory = sample.agent().memory

    assert "2026-08-01" in memory.write("new", priority=True).message
    assert memory.edit(MEMORY, old="new", new="newer").outcome is Outcome.WRITTEN
    assert memory.delete(MEMORY, section="Memory (2026-08-02)").outcome is Outcome.WRITTEN
    assert sample.text(MEMORY) == "## Memory (2026-08-30)\n\n- newer\n"
    assert memory.delete(MEMORY).outcome is Outcome.WRITTEN
    assert set(sample.files()) == {TODAY}
