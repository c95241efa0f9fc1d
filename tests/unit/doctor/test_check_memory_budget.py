"""The check `memory-budget`: how full each line's MEMORY.md is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.runtime.tools.catalog import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

ID = "memory-budget"
MANIFEST = "constitution/MANIFEST.yaml"
MAIN = "memory/main/MEMORY.md"


def over(line: str, reading: str, next_write: str) -> Finding:
    """Return the warning about a line."""
    return Finding(
        Severity.WARN,
        f"The MEMORY.md of the line '{line}' is over its budget: {reading}. {next_write}",
        f"memory/{line}/MEMORY.md",
        hint=f"Shorten memory/{line}/MEMORY.md, or raise memory.lines.{line}.fileMaxChars in {MANIFEST}.",
    )


#: What is said when there is nothing to drop.
REFUSED = "It has no dated section to drop, so the next priority entry will be refused."


@pytest.mark.rule("DOCTOR-11", "DOCTOR-O4", "BUDGET-04", "BUDGET-15", "BUDGET-16", "BUDGET-20")
def test_each_line_is_read_by_its_own_budget(examine: Examine) -> None:
    """The manifest's number, a line's own one, an unbounded line, and one without a file; a file at its budget fits."""
    files = {
        MANIFEST: "memory:\n  fileMaxChars: 12000\n  lines: {ops: {fileMaxChars: 100}, open: {fileMaxChars: 0}}\n",
        MAIN: "x" * 8794,
        "memory/ops/MEMORY.md": "x" * 100,
        "memory/open/MEMORY.md": "x" * 60000,
        "memory/young/2026/12/2026-12-01.md": "# 2026-12-01\n",
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(Severity.INFO, "The line 'main': 8794 of 12000 fileMaxChars (73%).", MAIN),
        Finding(Severity.INFO, "The line 'open': 60000 chars (no fileMaxChars).", "memory/open/MEMORY.md"),
        Finding(Severity.INFO, "The line 'ops': 100 of 100 fileMaxChars (100%).", "memory/ops/MEMORY.md"),
        Finding(Severity.INFO, "The line 'young' has no MEMORY.md yet: 0 of 12000 fileMaxChars (0%)."),
    )


@pytest.mark.rule("DOCTOR-10", "DOCTOR-O4", "BUDGET-23", "BUDGET-24")
def test_a_line_over_its_budget_is_a_warning(examine: Examine) -> None:
    """A file that was written by hand, or whose budget was lowered; the other lines are read as well."""
    files = {MANIFEST: "memory: {fileMaxChars: 8000}\n", MAIN: "x" * 9800, "memory/ops/MEMORY.md": "x" * 8000}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        over("main", "9800 of 8000 fileMaxChars (123%)", REFUSED),
        Finding(Severity.INFO, "The line 'ops': 8000 of 8000 fileMaxChars (100%).", "memory/ops/MEMORY.md"),
    )


@pytest.mark.rule("DOCTOR-10")
def test_dated_sections_are_said_to_make_room(examine: Examine) -> None:
    """What is curated fits, so the next priority entry drops a dated section and is not refused."""
    curated, dated = "## People\n\n- Maria\n\n", "## Memory (2026-08-01)\n\n- one\n"
    manifest = f"memory: {{fileMaxChars: {len(curated)}}}\n"

    result = examine({MANIFEST: manifest, MAIN: curated + dated}, ID)[ID]

    reading = f"{len(curated) + len(dated)} of {len(curated)} fileMaxChars (250%)"
    assert result.findings == (over("main", reading, "The next priority entry will drop its oldest dated sections."),)


@pytest.mark.rule("DOCTOR-10")
def test_curated_text_over_the_budget_is_said_to_stay_too_long(examine: Examine) -> None:
    """Dropping every dated section is not enough."""
    text = "## People\n\n- Maria\n\n## Memory (2026-08-01)\n\n- one\n"

    result = examine({MANIFEST: "memory: {fileMaxChars: 19}\n", MAIN: text}, ID)[ID]

    told = "Without its dated sections it still has 20, so priority entries will soon be refused."
    assert result.findings == (over("main", "50 of 19 fileMaxChars (263%)", told),)


@pytest.mark.rule("BUDGET-18")
@pytest.mark.parametrize(
    ("text", "chars"),
    [("Привет", 6), ("👍", 2), ("👨\u200d👩\u200d👧", 8), ("\ufeffa", 2), (b"caf\xe9", 4), (b"a\r\nb\r\n", 6)],
)
def test_it_counts_as_the_writer_does(examine: Examine, text: str | bytes, chars: int) -> None:
    """UTF-16 units, a byte order mark and a byte that is no UTF-8 included."""
    result = examine({MAIN: text}, ID)[ID]

    assert result.findings[0].message == f"The line 'main': {chars} of 10000 fileMaxChars (0%)."


def test_two_lines_are_over_at_once(examine: Examine) -> None:
    """Each is named."""
    files = {MANIFEST: "memory: {fileMaxChars: 5}\n", MAIN: "x" * 6, "memory/ops/MEMORY.md": "y" * 7}

    assert examine(files, ID)[ID].findings == (
        over("main", "6 of 5 fileMaxChars (120%)", REFUSED),
        over("ops", "7 of 5 fileMaxChars (140%)", REFUSED),
    )


@pytest.mark.rule("DOCTOR-16", "LINE-O2")
def test_odd_places_are_no_lines_and_a_broken_manifest_means_the_defaults(examine: Examine) -> None:
    """Only `memory/<line>/MEMORY.md` is the curated file of a line."""
    files = {
        MANIFEST: "memory: {fileMaxChars: many}\n",
        "memory/MEMORY.md": "x" * 20000,
        "memory/Ops/MEMORY.md": "x" * 20000,
        "memory/2026/MEMORY.md": "x" * 20000,
        "memory/main/old/MEMORY.md": "x" * 20000,
        "memory/main/memory.md": "x" * 20000,
        "content/main/MEMORY.md": "x" * 20000,
    }

    assert examine(files, ID)[ID].findings == (
        Finding(Severity.INFO, "The line 'main' has no MEMORY.md yet: 0 of 10000 fileMaxChars (0%)."),
    )


@pytest.mark.parametrize("kind", ["a directory", "a link, which doctor doesn't follow", "a socket, a pipe or a device"])
def test_what_is_no_file_is_not_taken_for_none(examine: Examine, brain_root: Path, kind: str) -> None:
    """Something stands in the place of the curated file, so there is no "yet"."""
    place = brain_root / MAIN
    place.parent.mkdir(parents=True)
    if kind == "a directory":
        place.mkdir()
    elif kind.startswith("a link"):
        place.symlink_to("plan.md")
    else:
        os.mkfifo(place)

    assert examine({"memory/main/plan.md": "x"}, ID)[ID].findings == (
        Finding(Severity.INFO, f"{MAIN} can't be measured: it is {kind}.", MAIN),
    )


def test_a_line_that_can_not_be_listed_is_not_taken_for_an_empty_one(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what is in it."""
    scan = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("/ops"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr("omnislash.checks.listing.os.scandir", scandir)
    (finding,) = examine({"memory/ops/MEMORY.md": "x"}, ID)[ID].findings

    assert finding == Finding(Severity.INFO, "The line 'ops' can't be listed, so its MEMORY.md can't be measured.")
    assert finding.about == ("memory/ops/MEMORY.md",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(examine: Examine, brain_root: Path) -> None:
    """It can't be measured."""
    (brain_root / "memory/main").mkdir(parents=True)
    (brain_root / MAIN).write_text("x")
    (brain_root / MAIN).chmod(0)

    assert examine({}, ID)[ID].findings == (
        Finding(Severity.INFO, f"{MAIN} can't be measured: permission denied.", MAIN),
    )


def test_a_file_that_is_larger_than_doctor_reads_is_told(examine: Examine, brain_root: Path) -> None:
    """It is told, not guessed at."""
    (brain_root / "memory/main").mkdir(parents=True)
    with (brain_root / MAIN).open("wb") as file:
        file.truncate((64 << 20) + 1)

    assert examine({}, ID)[ID].findings == (
        Finding(Severity.INFO, f"{MAIN} can't be measured: larger than 64 MiB.", MAIN),
    )


@pytest.mark.rule("DOCTOR-12")
def test_an_agent_needs_runtime_read_for_it() -> None:
    """The tool that shows it is granted by nothing of memory."""
    assert TOOLS["doctor_report"].capability == "runtime:read"
