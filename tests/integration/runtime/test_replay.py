"""A replay reads live and writes nothing, leaves no trace, and is offered the same tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ScopeError

if TYPE_CHECKING:
    from omnislash.core.events import Event
    from tests.integration.conftest import SampleBrain

SENTENCE = "memory is read-only for this turn; nothing was written; do not retry"
MUTATORS: list[tuple[str, dict[str, Any]]] = [
    ("memory_write", {"content": "x"}),
    ("memory_write", {"content": "x", "priority": True}),
    ("memory_write", {"content": "x", "line": "ops"}),
    ("memory_write", {"content": "x", "line": "nowhere"}),
    ("memory_write", {"content": ""}),
    ("memory_write", {"content": "token ghp_" + "b" * 36}),
    ("memory_write", {"content": "x", "requestId": "r1"}),
    ("memory_edit", {"path": "main/MEMORY.md", "old": "rules", "new": "laws"}),
    ("memory_edit", {"path": "ops/MEMORY.md", "old": "rules", "new": "laws"}),
    ("memory_write_file", {"path": "main/a.md", "content": "x"}),
    ("memory_write_file", {"path": "../a.md", "content": "x"}),
    ("memory_move", {"from": "main/MEMORY.md", "to": "main/a.md"}),
    ("memory_delete", {"path": "main/MEMORY.md"}),
    ("memory_delete", {"path": "main/MEMORY.md", "entry": "rules"}),
]


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-O1", "BOUNDARY-O2", "WRITE-O1", "TOOL-O2")
@pytest.mark.parametrize(("tool", "arguments"), MUTATORS)
@pytest.mark.parametrize("gate", ["open", "shut"])
def test_every_mutator_answers_the_fixed_sentence(
    sample: SampleBrain, gate: str, tool: str, arguments: dict[str, Any]
) -> None:
    """Whatever is asked, the answer is that sentence: no byte, no row, no event, no question, no queue."""
    if gate == "open":
        sample.open_gate()
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    sample.put_memory("main/MEMORY.md", "- rules\n")
    before = sample.files()
    brain = sample.open()
    events: list[Event] = []
    brain.on_event(events.append)

    answer = brain.agent("nova", heartbeat="briefing", replay=True).call(tool, arguments).to_json()

    assert answer == {"outcome": "read-only", "paths": [], "message": SENTENCE}
    assert sample.files() == before
    assert not (sample.root / ".omnislash").exists()
    assert (brain.audit().rows, brain.approvals(), events) == ((), [], [])


@pytest.mark.rule("BOUNDARY-08")
def test_replay_reads_live(sample: SampleBrain) -> None:
    """What a person saves during a replay is what it reads."""
    replay = sample.agent(replay=True)
    sample.put_memory("main/MEMORY.md", "- one\n")
    assert replay.memory.read("main/MEMORY.md").content == "- one\n"

    sample.put_memory("main/MEMORY.md", "- two\n")

    assert replay.memory.read("main/MEMORY.md").content == "- two\n"
    assert [entry.path for entry in replay.memory.list().entries] == ["main/MEMORY.md"]


@pytest.mark.rule("BOUNDARY-10")
@pytest.mark.parametrize("capabilities", ["memory:read", "memory:write, memory:edit", "memory:read, memory:delete", ""])
def test_tool_list_is_the_same_as_live(sample: SampleBrain, capabilities: str) -> None:
    """A replay is offered the same tools in the same order, write tools included."""
    sample.role("scout", capabilities=capabilities)

    assert sample.agent("scout", replay=True).tools == sample.agent("scout").tools


@pytest.mark.rule("BOUNDARY-10", "TOOL-05")
def test_missing_grant_is_missing_in_a_replay_too(sample: SampleBrain) -> None:
    """A tool that the role lacks is refused in a replay as it is live."""
    sample.role("reader", capabilities="memory:read")

    with pytest.raises(ScopeError):
        sample.agent("reader", replay=True).memory.write("x")


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-O2")
def test_replay_beside_a_live_turn(sample: SampleBrain) -> None:
    """A live agent of the same brain writes as ever; its request id is not used up by the replay."""
    brain = sample.open()
    replay, live = brain.agent("nova", replay=True), brain.agent("nova")

    replay.memory.write("x", request_id="r1")

    assert live.memory.write("x", request_id="r1").outcome.value == "written"
    assert replay.memory.write("y").message == SENTENCE
    assert [row.outcome for row in brain.audit().rows] == ["written"]
