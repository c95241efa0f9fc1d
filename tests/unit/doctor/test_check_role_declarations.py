"""The check `role-declarations`: roles without memory, leftovers, and flushes that never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "role-declarations"
NOVA = "features/nova.agent.md"
CURATOR = "constitution/Agents/system/role-memory.md"
GOOD = "---\ncapabilities: [memory:read, memory:write]\nmemoryFlush: true\nmemory: {}\n---\nYou are Nova.\n"
#: What is said of every brain that copies none of these roles.
SHIPPED = Finding(
    Severity.INFO,
    "Of the shipped roles, these run without memory, as they are meant to: system:implementer, system:proposer, "
    "system:browser, system:consolidator, system:evaluator.",
)


def role(header: str) -> str:
    """Return a role file with these keys."""
    return f"---\n{header}\n---\nYou are Nova.\n"


@pytest.mark.rule("DECLARE-09", "DECLARE-10")
def test_a_brain_whose_roles_remember_passes(examine: Examine) -> None:
    """Only the shipped roles that are meant to have no memory are named."""
    result = examine({NOVA: GOOD}, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, (SHIPPED,))


@pytest.mark.rule("DOCTOR-01", "DOCTOR-O1", "DECLARE-01", "DECLARE-03")
def test_every_role_without_memory_is_listed_and_passes(examine: Examine) -> None:
    """A manifest's block gives memory to nobody, so both roles are listed, as information."""
    files = {
        NOVA: role("name: Nova"),
        "features/team/ops.agent.md": role("capabilities: [memory:read]"),
        "constitution/MANIFEST.yaml": "memory: {recentDays: 2}\n",
    }

    result = examine(files, ID)[ID]

    hint = "Add `memory: {}` to its file to give it memory."
    assert result.status is Status.PASS
    assert result.findings == (
        Finding(Severity.INFO, "The role 'nova' runs without memory.", NOVA, hint=hint),
        Finding(Severity.INFO, "The role 'ops' runs without memory.", "features/team/ops.agent.md", hint=hint),
        SHIPPED,
    )


@pytest.mark.rule("DECLARE-01", "DOCTOR-01")
def test_a_role_that_remembers_in_a_heartbeat_is_listed_with_it(examine: Examine) -> None:
    """The heartbeat that gives it memory is named."""
    beat = "---\nschedule: '0 7 * * *'\nagent: {role: nova, memory: {}}\n---\nGo.\n"

    result = examine({NOVA: role("name: Nova"), "features/dawn.heartbeat.md": beat}, ID)[ID]

    assert result.findings[0].message == "The role 'nova' runs without memory, except when 'dawn' runs it."


@pytest.mark.rule("DECLARE-13", "DECLARE-02", "DECLARE-O1")
@pytest.mark.parametrize(
    "block",
    [
        "memory: {}",
        "memory:",
        "memory: {priorityChars: 0, recentDays: 0, recentChars: 0, recallResults: 0, periodCount: 0}",
    ],
)
def test_an_empty_block_and_one_of_noughts_are_memory(examine: Examine, block: str) -> None:
    """Neither is the same as no block."""
    result = examine({NOVA: role(f"capabilities: [memory:read]\n{block}")}, ID)[ID]

    assert result.findings == (SHIPPED,)


@pytest.mark.rule("DOCTOR-02", "DOCTOR-O2", "DECLARE-12")
def test_a_leftover_flag_is_asked_to_be_deleted(examine: Examine) -> None:
    """`promptFlags.memory` is named with its line; other flags are not."""
    files = {
        NOVA: role("memory: {}\ncapabilities: [memory:read]\npromptFlags:\n  tone: dry\n  memory: false"),
        "features/ops.agent.md": role("memory: {}\ncapabilities: [memory:read]\npromptFlags: {tone: dry}"),
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "`promptFlags.memory` of the role 'nova' has no meaning and is ignored.",
            NOVA,
            6,
            "promptFlags.memory",
            "Delete the key; whether a role has memory is decided by its `memory` block alone.",
        ),
        SHIPPED,
    )


@pytest.mark.rule("DOCTOR-03", "DOCTOR-O2")
def test_a_flush_without_memory_is_named(examine: Examine) -> None:
    """`memoryFlush: true` on a role without a block."""
    result = examine({NOVA: role("name: Nova\nmemoryFlush: true")}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings[0] == Finding(
        Severity.WARN,
        "The role 'nova' asks for a flush and has no `memory` block, so its turns are never reviewed.",
        NOVA,
        3,
        "memoryFlush",
        "Add `memory: {}` to the file, or delete `memoryFlush`.",
    )


@pytest.mark.rule("DECLARE-O2")
def test_a_heartbeat_that_flushes_without_memory_is_named(examine: Examine) -> None:
    """What counts is the block in force: with one in the heartbeat there is nothing to say."""
    beat = "---\nschedule: '0 7 * * *'\nagent:\n  role: nova\n  memoryFlush: true{}\n---\nGo.\n"
    files = {
        NOVA: role("name: Nova"),
        "features/dawn.heartbeat.md": beat.format(""),
        "features/dusk.heartbeat.md": beat.format("\n  memory: {}"),
    }

    result = examine(files, ID)[ID]

    assert [each for each in result.findings if each.severity is Severity.WARN] == [
        Finding(
            Severity.WARN,
            "features/dawn.heartbeat.md asks for a flush, and neither it nor its role 'nova' has memory, "
            "so its turns are never reviewed.",
            "features/dawn.heartbeat.md",
            5,
            "agent.memoryFlush",
            "Add `memory: {}` below `agent`, or delete `agent.memoryFlush`.",
        )
    ]


@pytest.mark.rule("DOCTOR-04", "FLUSH-07", "DECLARE-11")
def test_a_copy_of_the_curator_without_memory_fails(examine: Examine) -> None:
    """Every flush would end without keeping anything."""
    result = examine({CURATOR: role("capabilities: [memory:write]")}, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings == (
        Finding(
            Severity.FAIL,
            f"{CURATOR} is a copy without `memory: {{}}`, so every flush ends without keeping anything.",
            CURATOR,
            hint="Add `memory: {}` to the top of the file, or delete the copy to have the shipped one again.",
        ),
        SHIPPED,
    )


@pytest.mark.rule("DOCTOR-04")
def test_a_copy_of_the_curator_with_memory_passes(examine: Examine) -> None:
    """It is a copy like any other."""
    assert examine({CURATOR: GOOD}, ID)[ID].findings == (SHIPPED,)


@pytest.mark.rule("DOCTOR-05", "DOCTOR-O2", "DECLARE-14")
@pytest.mark.parametrize("grants", ["", "capabilities: [runtime:read]\n"])
def test_memory_without_a_tool_is_named(examine: Examine, grants: str) -> None:
    """Such a role loads; it is named so that it is a choice."""
    result = examine({NOVA: role(f"{grants}memory:\n  write: notes")}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "The role 'nova' has memory and no `memory:` capability: it is shown memory, and has no tool to use it.",
            NOVA,
            3 if grants else 2,
            "memory",
            "Add `capabilities: [memory:read, memory:write]`, or leave it if that is what you want.",
        ),
        SHIPPED,
    )


def test_two_things_at_once_are_both_said(examine: Examine) -> None:
    """A deaf curator and a leftover flag: failures first."""
    files = {CURATOR: role("promptFlags: {memory: true}\nmemoryFlush: true"), NOVA: GOOD}

    result = examine(files, ID)[ID]

    assert [(each.severity.value, each.key) for each in result.findings] == [
        ("fail", None),
        ("warn", "promptFlags.memory"),
        ("warn", "memoryFlush"),
        ("info", None),
    ]


@pytest.mark.rule("DOCTOR-16")
def test_it_needs_no_brain_that_loads(examine: Examine) -> None:
    """A broken manifest, a broken role and broken YAML hide nothing of the others."""
    files = {
        "omnislash.yaml": "memory: [\n",
        "constitution/MANIFEST.yaml": "memory: {recallResult: 3}\n",
        "features/broken.agent.md": "---\nmemory: true\n---\n",
        "features/Запись.agent.md": role("name: Запись"),
    }

    result = examine(files, ID)[ID]

    assert [each.path for each in result.findings] == ["features/Запись.agent.md", None]


def test_a_long_list_is_cut(examine: Examine) -> None:
    """Twenty roles are listed; of the rest the number is told."""
    files = {f"features/r{number:02}.agent.md": role("name: R") for number in range(25)}

    result = examine(files, ID)[ID]

    assert len(result.findings) == 22
    assert result.findings[20] == Finding(Severity.INFO, "5 more roles without memory.")
