"""The check `loop-role-memory`: the roles of the improvement loop remember nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "loop-role-memory"
AGENTS = "constitution/Agents/system"
EVALUATOR = f"{AGENTS}/role-evaluator.md"
PROPOSER = f"{AGENTS}/loop/role-proposer.md"
IMPLEMENTER = f"{AGENTS}/loop/role-implementer.md"
WITH = "---\nname: Ours\nmemory: {}\n---\nYou.\n"
WITHOUT = "---\nname: Ours\n---\nYou.\n"
DELETE = "Delete the `memory` block from the file."
UNBIASED = "Its judgements would depend on what it remembers of other runs."
EXACT = "It should know the proposal that it carries out, and nothing else."
EVIDENCE = "It should propose from the evidence of the runs, and not from notes."


@pytest.mark.rule("DECLARE-10")
def test_the_shipped_roles_pass(examine: Examine) -> None:
    """They have no block."""
    assert examine({}, ID)[ID].findings == ()


@pytest.mark.rule("DECLARE-10", "DECLARE-11")
def test_copies_without_a_block_pass(examine: Examine) -> None:
    """Other roles may remember what they like."""
    files = {EVALUATOR: WITHOUT, PROPOSER: WITHOUT, IMPLEMENTER: WITHOUT, f"{AGENTS}/role-chief.md": WITH}

    result = examine(files, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.rule("DOCTOR-13", "DECLARE-11")
@pytest.mark.parametrize(
    ("path", "name", "reason"), [(PROPOSER, "proposer", EVIDENCE), (IMPLEMENTER, "implementer", EXACT)]
)
def test_a_copy_of_proposer_or_implementer_with_memory_is_a_warning(
    examine: Examine, path: str, name: str, reason: str
) -> None:
    """The block in the copy turns memory on."""
    result = examine({path: WITH}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(Severity.WARN, f"{path} gives the role 'system:{name}' memory. {reason}", path, 3, "memory", DELETE),
    )


@pytest.mark.rule("DOCTOR-14", "DECLARE-11")
def test_a_copy_of_the_evaluator_with_memory_fails(examine: Examine) -> None:
    """A judge that remembers is no judge."""
    result = examine({EVALUATOR: WITH}, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings == (
        Finding(
            Severity.FAIL,
            f"{EVALUATOR} gives the role 'system:evaluator' memory. {UNBIASED}",
            EVALUATOR,
            3,
            "memory",
            DELETE,
        ),
    )


@pytest.mark.rule("DECLARE-01", "DOCTOR-14")
@pytest.mark.parametrize(
    ("name", "severity", "reason"),
    [
        ("evaluator", Severity.FAIL, UNBIASED),
        ("proposer", Severity.WARN, EVIDENCE),
        ("implementer", Severity.WARN, EXACT),
    ],
)
def test_a_heartbeat_that_gives_them_memory_counts_as_well(
    examine: Examine, name: str, severity: Severity, reason: str
) -> None:
    """`agent.memory` turns memory on without a block in the role."""
    path = "features/judge.heartbeat.md"
    beat = f"---\nschedule: '0 7 * * *'\nagent:\n  role: system:{name}\n  memory: {{}}\n---\nGo.\n"

    assert examine({path: beat}, ID)[ID].findings == (
        Finding(
            severity,
            f"{path} gives the role 'system:{name}' memory. {reason}",
            path,
            5,
            "agent.memory",
            "Delete `memory` from its `agent:` block.",
        ),
    )


def test_all_three_at_once_are_all_said_the_failure_first(examine: Examine) -> None:
    """Each is named by itself."""
    result = examine({PROPOSER: WITH, IMPLEMENTER: WITH, EVALUATOR: WITH}, ID)[ID]

    assert [each.path for each in result.findings] == [EVALUATOR, IMPLEMENTER, PROPOSER]


@pytest.mark.rule("DOCTOR-16")
def test_a_broken_brain_hides_nothing(examine: Examine) -> None:
    """A copy that does not load is told by the check of configuration."""
    files = {"constitution/MANIFEST.yaml": "memory: [", PROPOSER: "---\nmemory: 4\n---\n", EVALUATOR: WITH}

    assert [each.path for each in examine(files, ID)[ID].findings] == [EVALUATOR]
