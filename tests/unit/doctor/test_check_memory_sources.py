"""The check `memory-sources`: sources that nobody names or that are not there, and names that lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.checks.findings import CheckResult
    from tests.unit.doctor.conftest import Examine

ID = "memory-sources"
NOVA = "features/nova.agent.md"
PROJECT = "omnislash.yaml"
MANIFEST = "constitution/MANIFEST.yaml"
WRONG_NAME = (
    "Correct the name, or take it out of the list; notes beside memory/ are declared under memory.sources in omnislash.yaml "
    "first."
)


def role(block: str) -> str:
    """Return a role file whose `memory` has these keys."""
    return f"---\ncapabilities: [memory:read]\nmemory:\n  {block}\n---\nYou are Nova.\n"


def sources(*names: str) -> str:
    """Return a project config with these sources, one a line from line 3 on."""
    return "memory:\n  sources:\n" + "".join(f"    - {name}\n" for name in names)


def only(result: CheckResult) -> Finding:
    """Return the one finding."""
    assert len(result.findings) == 1, result.findings
    return result.findings[0]


@pytest.mark.rule("SOURCE-11")
def test_named_sources_that_hold_notes_pass(examine: Examine) -> None:
    """One is named by a role, one by the manifest, one by a file."""
    files = {
        PROJECT: sources("content", "people/maria", "handbook.md"),
        MANIFEST: "memory: {recall: [people/maria]}\n",
        NOVA: role("read: [content]"),
        "features/ops.agent.md": role("recall: [handbook.md]"),
        "content/a b.md": "x\n",
        "people/maria/style.md": "x\n",
        "handbook.md": "x\n",
    }

    assert examine(files, ID)[ID].findings == ()


@pytest.mark.rule("DOCTOR-06", "DOCTOR-O3", "SOURCE-10")
def test_a_source_that_nobody_names_is_a_warning(examine: Examine) -> None:
    """It is indexed, and no search returns it; the line of its entry is told."""
    files = {
        PROJECT: sources("content", "people"),
        NOVA: role("read: [content]"),
        "content/a.md": "",
        "people/m.md": "",
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert only(result) == Finding(
        Severity.WARN,
        "Nobody names the source 'people', so no search returns it. Name it in a `read` or `recall` list.",
        PROJECT,
        4,
        "memory.sources",
        "Change memory.sources in omnislash.yaml, or the lists that should name it.",
    )


@pytest.mark.rule("DOCTOR-07", "REPORT-12", "REPORT-13")
def test_a_deposit_into_a_line_that_nobody_curates_fails(examine: Examine) -> None:
    """The misspelled line is named with its line in the heartbeat, and what was meant."""
    beat = "---\nschedule: '0 7 * * *'\nagent:\n  role: nova\n  memory:\n    report: [opps]\n---\nGo.\n"
    files = {
        NOVA: role("write: main"),
        "features/ops.agent.md": role("write: ops"),
        "features/dawn.heartbeat.md": beat,
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.FAIL
    assert only(result) == Finding(
        Severity.FAIL,
        "Nobody curates the line 'opps': no role or heartbeat writes it and no directory holds it. Did you mean 'ops'?",
        "features/dawn.heartbeat.md",
        6,
        "agent.memory.report",
        "Correct the name, or have a role write that line with `memory: {write: …}`.",
    )


@pytest.mark.rule("REPORT-12", "REPORT-O1")
@pytest.mark.parametrize("line", ["main", "ops", "attic"])
def test_a_deposit_into_a_curated_line_passes(examine: Examine, line: str) -> None:
    """`main` of any role with memory, a line that a role writes, and a directory are curated."""
    beat = f"---\nschedule: '0 7 * * *'\nagent:\n  role: nova\n  memory: {{report: [{line}]}}\n---\nGo.\n"
    files = {
        NOVA: role("write: day"),
        "features/ops.agent.md": role("write: ops"),
        "features/dawn.heartbeat.md": beat,
        "memory/attic/": "",
    }

    assert examine(files, ID)[ID].findings == ()


@pytest.mark.rule("DOCTOR-O3", "SOURCE-14")
def test_the_parent_of_a_source_fails(examine: Examine) -> None:
    """`people` opens neither `people/maria` nor `people/alex`."""
    files = {
        PROJECT: sources("people/maria", "people/alex"),
        NOVA: role("read: [people]"),
        "people/maria/a.md": "",
        "people/alex/a.md": "",
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings[0] == Finding(
        Severity.FAIL,
        "'people' is only a parent of declared sources. "
        "Declare it under memory.sources, or name 'people/maria', 'people/alex'.",
        NOVA,
        4,
        "memory.read",
        WRONG_NAME,
    )


@pytest.mark.rule("DOCTOR-O3", "SOURCE-03", "SOURCE-O2")
@pytest.mark.parametrize("how", ["directory", "write", "main"])
def test_a_source_with_the_name_of_a_line_fails(examine: Examine, how: str) -> None:
    """A directory, a declared `write` and `main` itself are lines."""
    name = "main" if how == "main" else "ops"
    files: dict[str, str | bytes] = {PROJECT: sources(name), f"{name}/a.md": "", NOVA: role(f"recall: [{name}]")}
    if how == "directory":
        files["memory/ops/"] = ""
    if how == "write":
        files["features/ops.agent.md"] = role("write: ops")

    result = examine(files, ID)[ID]

    assert result.findings[0] == Finding(
        Severity.FAIL,
        f"The source '{name}' has the name of the line '{name}'. Rename one of the two.",
        PROJECT,
        3,
        "memory.sources",
        "Change memory.sources in omnislash.yaml, or the lists that should name it.",
    )


@pytest.mark.rule("DOCTOR-O3", "SOURCE-O4")
def test_a_source_inside_memory_is_a_line(examine: Examine) -> None:
    """It is dropped from the sources, with a warning that says so."""
    files = {PROJECT: sources("memory/notes"), "memory/notes/a.md": ""}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert only(result).message == (
        "'memory/notes' is in the managed zone, so it is a line and no source. "
        "Name the line 'notes' in `read` or `recall` instead."
    )


@pytest.mark.rule("SOURCE-O3")
def test_a_source_that_shadows_files_of_a_line_is_named(examine: Examine) -> None:
    """No daily log of that year could be written there."""
    files = {PROJECT: sources("ops/2026"), "memory/ops/": "", "ops/2026/a.md": "", NOVA: role("recall: [ops/2026]")}

    assert only(examine(files, ID)[ID]).message == (
        "The source 'ops/2026' shadows files of the line 'ops', which then can't be written there."
    )


@pytest.mark.rule("SOURCE-O1")
def test_a_single_file_of_a_source_is_named(examine: Examine) -> None:
    """Sharing is meant for whole directories; a source that is a file itself is none of this."""
    files = {
        PROJECT: sources("people", "handbook.md"),
        NOVA: role("recall: [people/maria/style.md, handbook.md]"),
        "people/maria/style.md": "",
        "handbook.md": "",
    }

    assert only(examine(files, ID)[ID]) == Finding(
        Severity.WARN,
        "'people/maria/style.md' is a single file of a source. Sharing is meant for whole directories.",
        NOVA,
        4,
        "memory.recall",
        WRONG_NAME,
    )


@pytest.mark.rule("SCOPE-O3")
def test_a_line_that_is_not_born_yet_is_a_warning(examine: Examine) -> None:
    """It loads; the nearest line is offered."""
    files = {NOVA: role("read: [reserch]"), "features/r.agent.md": role("write: research")}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert only(result).message == (
        "No role writes the line 'reserch' and no directory holds it. Did you mean 'research'?"
    )


@pytest.mark.rule("SCOPE-O4")
def test_a_path_that_is_no_source_fails(examine: Examine) -> None:
    """A role that names it does not load."""
    result = examine({NOVA: role("read: [content/old]")}, ID)[ID]

    assert (result.status, only(result).key) == (Status.FAIL, "memory.read")
    assert only(result).message.startswith("'content/old' is neither a line name nor a declared source")


@pytest.mark.rule("SOURCE-O5")
def test_a_source_that_is_not_there_is_a_warning(examine: Examine) -> None:
    """It is an empty corpus, and no failure."""
    result = examine({PROJECT: sources("content"), NOVA: role("read: [content]")}, ID)[ID]

    assert result.status is Status.WARN
    assert only(result) == Finding(
        Severity.WARN,
        "The source 'content' does not exist, so there is nothing to find in it.",
        PROJECT,
        3,
        "memory.sources",
        "Put its notes there, or take it out of memory.sources.",
    )


@pytest.mark.rule("SOURCE-O6", "SOURCE-04")
@pytest.mark.parametrize(("there", "source"), [("Content", "content"), ("People/maria", "people/maria")])
def test_another_case_is_not_there_and_the_right_one_is_told(examine: Examine, there: str, source: str) -> None:
    """An entry is spelled as on disk."""
    files = {PROJECT: sources(source), NOVA: role(f"read: [{source}]"), f"{there}/a.md": ""}

    finding = only(examine(files, ID)[ID])

    assert finding.message == f"The source '{source}' does not exist, so there is nothing to find in it."
    assert finding.hint == f"The disk has '{there}': write it so."


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("content/", "holds no .md file, so there is nothing to find in it."),
        ("content/a.txt", "holds no .md file, so there is nothing to find in it."),
        ("content/.a.md", "holds no .md file, so there is nothing to find in it."),
        ("content/.trash/a.md", "holds no .md file, so there is nothing to find in it."),
        ("content", "is neither a directory nor an .md file."),
    ],
)
def test_a_source_without_notes_is_a_warning(examine: Examine, path: str, problem: str) -> None:
    """Only `.md` files that are not hidden count."""
    result = examine({PROJECT: sources("content"), NOVA: role("read: [content]"), path: ""}, ID)[ID]

    assert only(result).message == f"The source 'content' {problem}"


def test_a_source_that_is_a_link_is_told(examine: Examine, brain_root: Path, tmp_path: Path) -> None:
    """The index follows it and doctor does not."""
    (tmp_path / "elsewhere").mkdir()
    (brain_root / "content").symlink_to(tmp_path / "elsewhere")

    result = examine({PROJECT: sources("content"), NOVA: role("read: [content]")}, ID)[ID]

    assert result.status is Status.PASS
    assert only(result) == Finding(
        Severity.INFO,
        "The source 'content' is a link. Its notes are searched, and doctor does not look at what it leads to.",
        PROJECT,
        3,
        "memory.sources",
    )


def test_two_things_at_once_are_both_said_failures_first(examine: Examine) -> None:
    """A collision, and in the same run a source that is not there."""
    files = {PROJECT: sources("main", "content"), NOVA: role("read: [content]"), "main/a.md": ""}

    findings = examine(files, ID)[ID].findings

    assert [(each.severity.value, each.line) for each in findings] == [("fail", 3), ("warn", 3), ("warn", 4)]


def test_a_brain_of_nothing_and_one_of_broken_files_have_nothing_to_say(examine: Examine) -> None:
    """What does not load is told by the check of configuration."""
    assert examine({}, ID)[ID].findings == ()
    assert examine({PROJECT: "memory: {sources: [\n", NOVA: "---\nmemory: [\n---\n"}, ID)[ID].findings == ()
