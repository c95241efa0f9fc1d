"""The check `memory-lines`: lines that nobody uses, and names of lines that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "memory-lines"
NOVA = "features/nova.agent.md"
MANIFEST = "constitution/MANIFEST.yaml"
NOTE = "# A note\n"
MAYBE = " A file that does not load may be the one that does; mend that first."


def role(block: str) -> str:
    """Return a role file with this `memory` block."""
    return f"---\ncapabilities: [memory:read]\nmemory: {block}\n---\nYou are Nova.\n"


def unused(line: str, maybe: str = "") -> Finding:
    """Return the warning about a line that nobody reads or writes."""
    return Finding(
        Severity.WARN,
        f"No role reads or writes the line '{line}', so no search and no agent finds what is in it.{maybe}",
        f"memory/{line}",
        hint=f"Give a role `memory: {{write: {line}}}` or `memory: {{read: [{line}]}}`; or move its files into a line "
        "that is read, such as memory/main; or move the folder out of memory/, name it under memory.sources in "
        "omnislash.yaml, and in the manifest's `memory.recall` or in roles.",
    )


@pytest.mark.rule("LINE-O2")
def test_lines_that_are_used_pass(examine: Examine) -> None:
    """Written by a role, by a heartbeat, by the manifest's default; read; recalled; and a hidden directory."""
    beat = "---\nschedule: '0 7 * * *'\nagent: {role: nova, memory: {write: circles}}\n---\nGo.\n"
    files = {
        NOVA: role("{write: research, read: [attic], recall: [journal]}"),
        "features/dawn.heartbeat.md": beat,
        "memory/.trash/a.md": NOTE,
        **{f"memory/{line}/a.md": NOTE for line in ("main", "research", "circles", "attic", "journal")},
    }

    result = examine(files, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.rule("LINE-10", "MIGRATE-09")
def test_a_line_that_nobody_names_is_a_warning(examine: Examine) -> None:
    """Its remedies are those of the migration."""
    result = examine({NOVA: role("{}"), "memory/knowledge/a.md": NOTE, "memory/main/a.md": NOTE}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (unused("knowledge"),)


@pytest.mark.rule("SCOPE-13", "SCOPE-15")
@pytest.mark.parametrize("verb", ["read", "recall"])
def test_a_star_reaches_every_line(examine: Examine, verb: str) -> None:
    """Declared or not."""
    assert examine({NOVA: role(f"{{{verb}: ['*']}}"), "memory/knowledge/a.md": NOTE}, ID)[ID].findings == ()


@pytest.mark.rule("RESOLVE-05")
def test_a_default_that_is_another_line_leaves_main_alone(examine: Examine) -> None:
    """`main` is an ordinary line: with `write: team` in the manifest nobody sees it."""
    files = {MANIFEST: "memory: {write: team}\n", "memory/main/a.md": NOTE, "memory/team/a.md": NOTE}

    assert examine(files, ID)[ID].findings == (unused("main"),)


@pytest.mark.rule("REPORT-09")
def test_a_line_that_only_gets_deposits_is_a_warning(examine: Examine) -> None:
    """Depositing opens nothing to reading."""
    result = examine({NOVA: role("{report: [ops]}"), "memory/ops/a.md": NOTE}, ID)[ID]

    assert result.findings == (
        Finding(
            Severity.WARN,
            "The line 'ops' gets deposits, and no agent reads or writes it, so nobody sees them.",
            "memory/ops",
            hint="Give a role `memory: {write: ops}` or `memory: {read: [ops]}`.",
        ),
    )


@pytest.mark.parametrize(
    ("keys", "line"),
    [("lines:\n    opps: {fileMaxChars: 9}", 3), ("consolidation:\n    lines:\n      opps: {periods: [week]}", 4)],
)
def test_a_setting_for_a_line_that_does_not_exist_is_a_warning(examine: Examine, keys: str, line: int) -> None:
    """A typo there is silent; the line that was meant is told."""
    files = {MANIFEST: f"memory:\n  {keys}\n", NOVA: role("{write: ops}")}

    result = examine(files, ID)[ID]

    key = "memory.lines.opps" if line == 3 else "memory.consolidation.lines.opps"
    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "No agent writes the line 'opps' and no directory holds it, so the setting has no effect.",
            MANIFEST,
            line,
            key,
            "Did you mean 'ops'?",
        ),
    )


def test_settings_for_lines_that_are_to_come_or_that_lie_there_pass(examine: Examine) -> None:
    """A line that a role will write, and a directory."""
    files = {
        MANIFEST: "memory: {lines: {ops: {fileMaxChars: 9}}, consolidation: {lines: {attic: {periods: [week]}}}}\n",
        NOVA: role("{write: ops, read: [attic]}"),
        "memory/attic/a.md": NOTE,
    }

    assert examine(files, ID)[ID].findings == ()


@pytest.mark.rule("LINE-O2")
def test_a_directory_whose_name_is_none_is_a_warning(examine: Examine) -> None:
    """It can't be declared until it is renamed."""
    result = examine({"memory/my notes/a.md": NOTE}, ID)[ID]

    assert result.findings == (
        Finding(
            Severity.WARN,
            "The directory is no line, because its name can't be the name of one.",
            "memory/my notes",
            hint="Rename it: a-z, 0-9, '_' and '-', at most 64 characters.",
        ),
    )


def test_a_name_in_another_case_leads_to_the_line_that_was_meant(examine: Examine) -> None:
    """Where case does not count, the two would be one directory."""
    files = {NOVA: role("{write: ops}"), "memory/ops/a.md": NOTE, "memory/Ops/a.md": NOTE}

    (finding,) = examine(files, ID)[ID].findings

    assert (finding.path, finding.hint) == ("memory/Ops", "Move its files into memory/ops, and remove it.")


def test_years_are_left_to_the_check_of_the_layout(examine: Examine) -> None:
    """They are of a brain older than lines, and told once."""
    assert examine({"memory/2025/01/2025-01-01.md": NOTE}, ID)[ID].findings == ()


def test_memory_that_is_a_file_fails(examine: Examine) -> None:
    """There can be no line."""
    result = examine({"memory": "x"}, ID)[ID]

    assert (result.status, [each.path for each in result.findings]) == (Status.FAIL, ["memory"])


def test_two_things_at_once_are_both_said(examine: Examine) -> None:
    """A line that nobody uses, a directory that is none, and a setting for nothing."""
    files = {
        MANIFEST: "memory: {lines: {xyz: {fileMaxChars: 9}}}\n",
        "memory/attic/a.md": NOTE,
        "memory/Заметки/a.md": NOTE,
    }

    assert [each.path for each in examine(files, ID)[ID].findings] == ["memory/Заметки", "memory/attic", MANIFEST]


@pytest.mark.rule("DOCTOR-16")
def test_a_broken_role_may_be_the_one_that_uses_it(examine: Examine) -> None:
    """What is said of a line says so."""
    files = {"omnislash.yaml": "- 1\n", NOVA: "---\nmemory: {write: attic, wrong: 1}\n---\n", "memory/attic/a.md": NOTE}

    assert examine(files, ID)[ID].findings == (unused("attic", MAYBE),)


def test_an_empty_brain_passes(examine: Examine) -> None:
    """There is no line."""
    assert examine({}, ID)[ID].findings == ()
