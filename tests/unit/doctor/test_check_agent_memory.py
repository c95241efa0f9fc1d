"""The check `agent-memory`: blocks that do less, or reach further, than their writer may think."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "agent-memory"
NOVA = "features/nova.agent.md"
MANIFEST = "constitution/MANIFEST.yaml"
SCENARIO = "features/talk.scenario.md"
MOVE = "Move it to `agent: {memory: {report: …}}` of the heartbeat that deposits."


def role(block: str) -> str:
    """Return a role file whose `memory` block begins in line 3."""
    return f"---\ncapabilities: [memory:read]\nmemory:\n  {block}\n---\nYou are Nova.\n"


def beat(block: str) -> str:
    """Return a heartbeat of nova with this `memory` block in line 5."""
    return f"---\nschedule: '0 7 * * *'\nagent:\n  role: nova\n  memory: {block}\n---\nGo.\n"


def test_deposits_of_a_heartbeat_pass(examine: Examine) -> None:
    """That is where `report` belongs; empty lists elsewhere open nothing."""
    files = {
        NOVA: role("report: []"),
        "features/ops.agent.md": role("write: ops"),
        "features/dawn.heartbeat.md": beat("{report: [ops]}"),
        MANIFEST: "memory: {report: []}\n",
        SCENARIO: "---\nagent: {role: nova}\n---\nTalk.\n",
    }

    result = examine(files, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.rule("DOCTOR-08", "RESOLVE-07", "KNOB-O7")
def test_memory_of_a_scenario_is_inert(examine: Examine) -> None:
    """It is named with its line, and judged no further."""
    files = {NOVA: role("write: main"), SCENARIO: "---\nagent:\n  role: nova\n  memory: {wrote: 4}\n---\nTalk.\n"}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            f"The `memory` key in the `agent:` block of {SCENARIO} has no effect: a scenario has no memory to set.",
            SCENARIO,
            4,
            "agent.memory",
            "Delete the key; put what it says into the file of the role or of a heartbeat.",
        ),
    )


@pytest.mark.rule("DOCTOR-09", "REPORT-14")
def test_deposits_open_in_a_role_file_are_a_warning(examine: Examine) -> None:
    """They hold for every turn of the role, chats included."""
    files = {NOVA: role("write: main\n  report: [ops, team]"), "memory/ops/": "", "memory/team/": ""}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "The role 'nova' may deposit into 'ops', 'team' in every turn, chats included.",
            NOVA,
            5,
            "memory.report",
            MOVE,
        ),
    )


@pytest.mark.rule("DOCTOR-09", "REPORT-14")
def test_deposits_open_in_the_manifest_are_a_warning(examine: Examine) -> None:
    """They hold for every agent."""
    files = {MANIFEST: "# ours\nmemory:\n  recentDays: 2\n  report: [ops]\n", "memory/ops/": ""}

    result = examine(files, ID)[ID]

    assert result.findings == (
        Finding(
            Severity.WARN,
            "The manifest opens 'ops' for deposits by every agent in every turn, chats included.",
            MANIFEST,
            4,
            "memory.report",
            MOVE,
        ),
    )


@pytest.mark.rule("SCOPE-O1")
def test_a_name_in_both_lists_is_told_and_passes(examine: Examine) -> None:
    """`recall` implies `read`."""
    result = examine({NOVA: role("recall: [ops]\n  read: [ops]"), "memory/ops/": ""}, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "'ops' is in `recall` already, which implies `read`.",
            NOVA,
            5,
            "memory.read",
            "Delete it from `read`.",
        ),
    )


@pytest.mark.rule("SCOPE-16")
def test_a_role_that_loses_sources_by_its_star_is_told(examine: Examine) -> None:
    """`'*'` is every line and no source; what `recall` still names is not lost (SCOPE-O7)."""
    files = {
        "omnislash.yaml": "memory: {sources: [content, people]}\n",
        MANIFEST: "memory: {read: [content, people, ops], recall: [people]}\n",
        NOVA: role("read: ['*']"),
        "features/all.agent.md": role("read: ['*', content, people]"),
        "features/plain.agent.md": role("write: plain"),
        "memory/ops/": "",
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert [each for each in result.findings if each.path == NOVA] == [
        Finding(
            Severity.INFO,
            "The role 'nova' replaces the manifest's `read` list, so it can't read 'content': "
            "'*' means every line, and no source.",
            NOVA,
            4,
            "memory.read",
            "Name them too: read: ['*', content].",
        )
    ]
    assert not [each for each in result.findings if each.path in {"features/all.agent.md", "features/plain.agent.md"}]


@pytest.mark.rule("DECLARE-01")
def test_a_heartbeat_that_gives_memory_is_told(examine: Examine) -> None:
    """The role has none elsewhere."""
    files = {NOVA: "---\nname: Nova\n---\nYou.\n", "features/dawn.heartbeat.md": beat("{}")}

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "features/dawn.heartbeat.md gives memory to the role 'nova', which has none elsewhere.",
            "features/dawn.heartbeat.md",
            5,
            "agent.memory",
        ),
    )


def test_two_things_at_once_are_both_said(examine: Examine) -> None:
    """An inert key and a role that deposits, in two files."""
    files = {NOVA: role("report: [ops]"), "memory/ops/": "", SCENARIO: "---\nagent: {memory: }\n---\n"}

    assert [each.path for each in examine(files, ID)[ID].findings] == [SCENARIO, NOVA]


@pytest.mark.rule("DOCTOR-16")
def test_broken_files_hide_nothing(examine: Examine) -> None:
    """A manifest with faults, a scenario that is no YAML, and an odd name."""
    files = {
        "omnislash.yaml": "- a list\n",
        MANIFEST: "memory: {report: [ops], wrong: 1}\n",
        SCENARIO: "---\nagent: [\n---\n",
        "features/Ёж.agent.md": role("report: [main]"),
    }

    assert [each.path for each in examine(files, ID)[ID].findings] == ["features/Ёж.agent.md"]


def test_an_empty_brain_passes(examine: Examine) -> None:
    """There is no agent."""
    assert examine({}, ID)[ID].findings == ()
