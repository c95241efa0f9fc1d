"""The check of large files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Status, info, warn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.checks.findings import Finding
    from tests.unit.doctor.conftest import Examine

MEMORY = "memory/main/MEMORY.md"
DAY = "memory/main/2026/11/2026-11-30.md"
SOURCE = {"omnislash.yaml": "memory: {sources: [content]}\n"}
RAISE = "Raise memory.priorityChars there, or shorten the file."


def findings(examine: Examine, files: Mapping[str, str | bytes]) -> tuple[Finding, ...]:
    """Return what the check finds in a brain with these files."""
    return examine(files, "large-files")["large-files"].findings


def role(memory: str) -> str:
    """Return a role file with a memory block."""
    return f"---\nmemory: {memory}\n---\nYou help.\n"


def test_ordinary_files_pass(examine: Examine) -> None:
    """A file at its limits is fine, and so is a file of another kind that is not read."""
    files: dict[str, str | bytes] = {
        **SOURCE,
        "content/a.md": "x" * 400_000,
        "content/b.md": f"---\n{'k: v # ' + 'x' * 60_000}\n---\n{'x' * 10_000}",
        "content/c.png": b"x" * 500_000,
        "features/team/nova.agent.md": role("{priorityChars: 5000}"),
        MEMORY: "x" * 10_000,
        DAY: "x" * 120_000,
        "constitution/MANIFEST.yaml": "memory: {consolidation: {lines: {main: {periods: [week]}}}}\n",
    }

    assert findings(examine, files) == ()


@pytest.mark.parametrize("path", ["content/big.md", "memory/main/big.md"])
def test_a_file_that_is_cut_by_lines(examine: Examine, path: str) -> None:
    """Search finds it, in worse pieces."""
    message = (
        f"{path} has 400001 characters; above 400000 a file is cut into notes by its lines, and not by its sections."
    )
    hint = "Split it where its subjects change, and search will show better pieces."
    result = examine({**SOURCE, path: "а" * 400_001}, "large-files")["large-files"]

    assert result.findings == (info(message, path=path, hint=hint),)
    assert result.status is Status.PASS


def test_a_frontmatter_that_is_not_read(examine: Examine) -> None:
    """A longer one is text, and its keys count for nothing."""
    header = "title: A\nnote: " + "x" * 65_530
    chars = len(header) + 1
    message = f"content/a.md has a frontmatter of {chars} chars; at most 65536 are read, so its keys count for nothing."
    hint = "Move long text from the frontmatter into the body."

    assert findings(examine, {**SOURCE, "content/a.md": f"---\n{header}\n---\nText.\n"}) == (
        warn(message, path="content/a.md", line=1, hint=hint),
    )


@pytest.mark.rule("PERIOD-14")
@pytest.mark.parametrize(("most", "told"), [(1_000, 1_000), (1_001, None), (0, None)])
def test_a_day_that_no_summary_takes_whole(examine: Examine, most: int, told: int | None) -> None:
    """A log alone above `maxSourceChars` loses its oldest part; 0 is no cap, and other lines have no summaries."""
    block = f"consolidation: {{maxSourceChars: {most}, lines: {{main: {{periods: [week]}}}}}}"
    files: dict[str, str | bytes] = {
        "constitution/MANIFEST.yaml": f"memory: {{{block}}}\n",
        DAY: "👍" * 500 + "x",
        DAY.replace("main", "ops"): "x" * 5_000,
    }
    message = (
        f"{DAY} has 1001 chars, and a summary is made from at most {told}: the oldest part of that day will be in none."
    )
    hint = "Shorten the log, or raise memory.consolidation.maxSourceChars in constitution/MANIFEST.yaml."

    assert findings(examine, files) == ((warn(message, path=DAY, hint=hint),) if told else ())


@pytest.mark.rule("KNOB-27", "BUDGET-17")
def test_a_memory_far_above_what_its_readers_carry(examine: Examine) -> None:
    """Readers of the line that are shown less than half are named with their ceilings, others are not."""
    files: dict[str, str | bytes] = {
        "features/team/nova.agent.md": role("{priorityChars: 4000}"),
        "features/team/ops.agent.md": role("{write: ops, priorityChars: 10}"),
        "features/team/half.agent.md": role("{priorityChars: 4500}"),
        "features/team/none.agent.md": role("{priorityChars: 0}"),
        "features/team/plain.agent.md": "---\nname: Plain\n---\nNo memory.\n",
        "features/team/brief.heartbeat.md": (
            "---\nschedule: '0 7 * * *'\nagent: {role: nova, memory: {priorityChars: 20}}\n---\nGo.\n"
        ),
        "features/team/quiet.heartbeat.md": "---\nschedule: '0 7 * * *'\nagent: {role: nova}\n---\nGo.\n",
        MEMORY: "x" * 9_000,
    }
    message = f"{MEMORY} has 9000 chars; in a turn the role nova carries at most 4000, the heartbeat brief carries at most 20."

    assert findings(examine, files) == (warn(message, path=MEMORY, hint=RAISE),)


@pytest.mark.rule("KNOB-27", "BUDGET-18")
def test_many_readers_are_counted(examine: Examine) -> None:
    """Three are named; the length is in UTF-16 units; the manifest's number holds for roles that set none."""
    roles = {f"features/team/r{number}.agent.md": role("{}") for number in range(5)}
    files = {**roles, "constitution/MANIFEST.yaml": "memory: {priorityChars: 49}\n", MEMORY: "👍" * 50}
    named = ", ".join(f"the role r{number} carries at most 49" for number in range(3))
    message = f"{MEMORY} has 100 chars; in a turn {named}, and 2 more carry less than half."

    assert findings(examine, files) == (warn(message, path=MEMORY, hint=RAISE),)


def test_a_role_of_the_engine_counts_where_something_runs_it(examine: Examine) -> None:
    """Nobody has to tune roles that nothing uses."""
    beat = "---\nschedule: '0 7 * * *'\nagent: {role: 'system:general'}\n---\nGo.\n"
    message = f"{MEMORY} has 25000 chars; in a turn the heartbeat brief carries at most 12000."

    assert findings(examine, {MEMORY: "x" * 25_000}) == ()
    assert findings(examine, {"features/team/brief.heartbeat.md": beat}) == (warn(message, path=MEMORY, hint=RAISE),)


def test_files_that_are_not_read_or_heavy(examine: Examine, brain_root: Path) -> None:
    """What doctor does not read is named in every area, and what git hosts refuse in memory; holes in files are enough."""
    for path, size in {
        "content/huge.md": (64 << 20) + 1,
        "memory/main/film.mp4": 50 << 20,
        "memory/main/.cache": 90 << 20,
        "content/film.mp4": 90 << 20,
        "memory/main/huge.md": 70 << 20,
    }.items():
        (brain_root / path).parent.mkdir(parents=True, exist_ok=True)
        with (brain_root / path).open("wb") as file:
            file.truncate(size)

    def unread(path: str, size: int) -> Finding:
        message = f"{path} has {size} MiB; doctor reads at most 64, so no check has looked into it."
        return warn(message, path=path, hint="Split it, or move it out of the brain.")

    heavy = (
        "memory/main/film.mp4 has 50 MiB and will be committed with the rest of memory; "
        "many git hosts refuse files of more than 100 MiB."
    )

    assert findings(examine, SOURCE) == (
        unread("content/huge.md", 64),
        unread("memory/main/huge.md", 70),
        warn(heavy, path="memory/main/film.mp4", hint="Move it out of memory/."),
    )


def test_an_odd_brain(examine: Examine) -> None:
    """Broken settings, a bad reference in the manifest and empty files break nothing; two faults are both told."""
    files: dict[str, str | bytes] = {
        "omnislash.yaml": "memory: {sources: [a b]}\n",
        "constitution/MANIFEST.yaml": "memory: {priorityChars: 10, read: [No/Such/Place]}\n",
        "features/team/nova.agent.md": role("{}"),
        "features/team/bad.agent.md": "---\nmemory: {priorityChars: lots}\n---\n",
        MEMORY: b"\xff" * 21,
        "memory/main/2026/11/x.md": "x" * 500_000,
        "memory/ops/MEMORY.md": b"",
    }

    assert [(each.severity.value, each.path) for each in findings(examine, files)] == [
        ("warn", MEMORY),
        ("info", "memory/main/2026/11/x.md"),
    ]
