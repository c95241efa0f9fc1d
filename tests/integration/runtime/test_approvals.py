"""Deleting asks a person first, unless the brain says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash import UsageError
from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

MEMORY = "# M\n\n## Memory (2026-08-01)\n\n- a\n- b\n\n## People\n\n- Maria\n"
TARGETS = [
    pytest.param({"path": "main/MEMORY.md"}, None, id="the file"),
    pytest.param({"path": "main/MEMORY.md", "entry": "a"}, MEMORY.replace("- a\n", ""), id="an entry"),
    pytest.param(
        {"path": "main/MEMORY.md", "section": "People"}, MEMORY.split("## People", maxsplit=1)[0], id="a section"
    ),
]


@pytest.mark.rule("TOOL-16", "TOOL-04", "TOOL-O1", "WRITE-O1")
@pytest.mark.parametrize("override", ["", "{}", '{"memory:delete": {}}', '{"memory:delete": {"hitl": true}}'])
@pytest.mark.parametrize(("target", "after"), TARGETS)
def test_person_is_asked_first(sample: SampleBrain, override: str, target: dict[str, Any], after: str | None) -> None:
    """With the gate on, asking changes nothing; granting deletes exactly what was asked for."""
    if override:
        sample.put("constitution/engine-capabilities.json", override)
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()

    answer = brain.agent("nova").call("memory_delete", target).to_json()

    assert (answer["outcome"], answer["paths"]) == ("approval-required", [])
    assert sample.files() == {"main/MEMORY.md": MEMORY.encode()}
    (waiting,) = brain.approvals()
    assert waiting.id == answer["approval"]
    assert waiting.arguments == target
    assert (waiting.role, waiting.line, waiting.state) == ("nova", "main", "open")
    assert answer["approval"] in answer["message"]

    assert brain.approve(waiting.id).outcome is Outcome.WRITTEN
    assert sample.files() == ({} if after is None else {"main/MEMORY.md": after.encode()})
    assert brain.approvals() == []


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(("target", "after"), TARGETS)
def test_open_gate_deletes_at_once(sample: SampleBrain, target: dict[str, Any], after: str | None) -> None:
    """With `hitl: false` and the capability, nothing else stops a deletion."""
    sample.open_gate()
    sample.put_memory("main/MEMORY.md", MEMORY)

    answer = sample.agent().call("memory_delete", target).to_json()

    assert answer["outcome"] == "written"
    assert sample.files() == ({} if after is None else {"main/MEMORY.md": after.encode()})


@pytest.mark.rule("TOOL-16")
def test_broken_overrides_keep_the_gate_shut(sample: SampleBrain) -> None:
    """A file of overrides that does not load opens nothing."""
    sample.put("constitution/engine-capabilities.json", '{"memory:delete": {"hitl": "no"}}')
    sample.put_memory("main/MEMORY.md", MEMORY)

    assert sample.agent().memory.delete("main/MEMORY.md").outcome is Outcome.APPROVAL_REQUIRED
    assert sample.text("main/MEMORY.md") == MEMORY


@pytest.mark.rule("TOOL-16")
def test_refused_deletion_changes_nothing(sample: SampleBrain) -> None:
    """When the person says no, the file stays, and that answer is final."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()
    brain.agent("nova").memory.delete("main/MEMORY.md")
    (waiting,) = brain.approvals()

    answer = brain.refuse(waiting.id)

    assert (answer.id, answer.state) == (waiting.id, "refused")
    assert brain.approvals() == []
    assert [each.state for each in brain.approvals(state=None)] == ["refused"]
    for again in (brain.approve, brain.refuse):
        with pytest.raises(UsageError, match=waiting.id):
            again(waiting.id)
    assert sample.text("main/MEMORY.md") == MEMORY


@pytest.mark.rule("TOOL-16")
def test_granted_once(sample: SampleBrain) -> None:
    """A grant holds for one deletion: the file that is written again stays."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()
    brain.agent("nova").memory.delete("main/MEMORY.md")
    (waiting,) = brain.approvals()
    brain.approve(waiting.id)
    sample.put_memory("main/MEMORY.md", MEMORY)

    with pytest.raises(UsageError, match=waiting.id):
        brain.approve(waiting.id)
    assert sample.text("main/MEMORY.md") == MEMORY


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize("target", [{"path": "main/MEMORY.md"}, {"path": "main/MEMORY.md", "section": "People"}])
def test_grant_is_for_what_was_seen(sample: SampleBrain, target: dict[str, Any]) -> None:
    """What has changed since the question is not deleted: the person saw something else."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()
    brain.agent("nova").call("memory_delete", target)
    changed = MEMORY + "- Alex, who came later\n"
    sample.put_memory("main/MEMORY.md", changed)

    verdict = brain.approve(brain.approvals()[0].id)

    assert verdict.outcome is Outcome.REFUSED
    assert sample.text("main/MEMORY.md") == changed


@pytest.mark.rule("TOOL-16")
def test_grant_of_an_entry_survives_other_writes(sample: SampleBrain) -> None:
    """The question about one entry still stands when other entries were added meanwhile."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()
    brain.agent("nova").memory.delete("main/MEMORY.md", entry="a")
    sample.put_memory("main/MEMORY.md", MEMORY + "- Alex\n")

    assert brain.approve(brain.approvals()[0].id).outcome is Outcome.WRITTEN
    assert sample.text("main/MEMORY.md") == MEMORY.replace("- a\n", "") + "- Alex\n"


def test_same_question_is_asked_once(sample: SampleBrain) -> None:
    """Asking again answers the same approval; another role's question is another one."""
    sample.role("mira")
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()

    first, again, other = (brain.agent(role).memory.delete("main/MEMORY.md") for role in ("nova", "nova", "mira"))

    assert first.approval == again.approval
    assert first.approval != other.approval
    assert len(brain.approvals()) == 2


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(
    "target",
    [
        {"path": "main/none.md"},
        {"path": "main/MEMORY.md", "entry": "no such entry"},
        {"path": "main/MEMORY.md", "section": "No such section"},
        {"path": "ops/MEMORY.md"},
    ],
)
def test_hopeless_deletion_asks_nobody(sample: SampleBrain, target: dict[str, Any]) -> None:
    """A deletion that would be refused anyway is refused at once and troubles no person."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()

    assert brain.agent("nova").call("memory_delete", target).to_json()["outcome"] == "refused"
    assert brain.approvals() == []


def test_questions_outlive_the_process(sample: SampleBrain) -> None:
    """A question is still open after a restart, and another process can grant it."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    first = sample.open()
    first.agent("nova").memory.delete("main/MEMORY.md")
    first.close()

    second = sample.open()

    assert second.approve(second.approvals()[0].id).outcome is Outcome.WRITTEN
    assert sample.files() == {}


def test_granting_the_unknown_is_an_error(sample: SampleBrain) -> None:
    """An id that does not exist raises a sentence that names it."""
    with pytest.raises(UsageError, match="0000"):
        sample.open().approve("0000")
