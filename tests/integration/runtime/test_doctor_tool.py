"""The tool `doctor_report`: offered for `runtime:read` alone, and silent about what the agent may not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError, UsageError

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

#: Twice the same entry in a line, and a MEMORY.md that is over its budget.
TWICE = "# Notes\n\n- canary of the depot\n- canary of the depot\n"


@pytest.fixture
def brain(sample: SampleBrain) -> SampleBrain:
    """Two lines with a fault each, a role that may ask, one that may not, and one that may ask without memory."""
    sample.put("constitution/MANIFEST.yaml", "memory: {fileMaxChars: 40}\n")
    sample.put("features/a/asker.agent.md", "---\ncapabilities: [runtime:read]\nmemory: {write: ops}\n---\nAsk.\n")
    sample.put("features/a/bare.agent.md", "---\ncapabilities: [runtime:read]\n---\nAsk.\n")
    sample.put("features/a/mute.agent.md", "---\ncapabilities: [memory:read]\nmemory: {write: hr}\n---\nBe quiet.\n")
    sample.put_memory("ops/MEMORY.md", TWICE)
    sample.put_memory("hr/MEMORY.md", TWICE)
    return sample


def found(brain: SampleBrain, role: str, check: str) -> tuple[str, list[str | None], int]:
    """Return the status of a check, the paths of its findings as the role sees them, and how many are hidden."""
    answer = brain.open().agent(role).call("doctor_report", {"check": check}).to_json()
    (only,) = answer["checks"]
    assert answer["status"] == only["status"]
    return only["status"], [each.get("path") for each in only["findings"]], only.get("hidden", 0)


@pytest.mark.rule("DOCTOR-10", "DOCTOR-12", "DOCTOR-O4", "SCOPE-07")
def test_findings_about_other_lines_are_counted_and_not_shown(brain: SampleBrain) -> None:
    """The agent of `ops` is told of its own line, and that there is one finding more."""
    assert found(brain, "asker", "memory-budget") == ("warn", ["memory/ops/MEMORY.md"], 1)
    assert found(brain, "bare", "Memory budget") == ("warn", [], 2)


@pytest.mark.rule("DOCTOR-12")
def test_runtime_read_is_needed(brain: SampleBrain) -> None:
    """Without the capability the tool is neither offered nor answered, and the refusal names it."""
    agent = brain.open().agent("mute")
    with pytest.raises(ScopeError, match="lacks the capability runtime:read"):
        agent.call("doctor_report", {})


def test_every_check_is_answered_and_a_wrong_name_is_told(brain: SampleBrain) -> None:
    """Without an argument all checks run; a name that is none gets the list of those that are."""
    agent = brain.open().agent("asker")
    answer = agent.call("doctor_report", {}).to_json()
    ids = [each["id"] for each in answer["checks"]]
    assert "memory-budget" in ids
    assert len(ids) == len(set(ids)) > 5
    with pytest.raises(UsageError, match="There is no check 'budget'"):
        agent.call("doctor_report", {"check": "budget"})


def test_no_text_of_a_line_is_told_to_others(brain: SampleBrain) -> None:
    """Whatever a check quotes, nothing of it reaches a role that may not read the line."""
    answer = str(brain.open().agent("bare").call("doctor_report", {}).to_json())
    assert "canary" not in answer
