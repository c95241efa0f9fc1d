"""`agent_task`: a sub-agent works in its caller's line, and is given nothing else of it."""

from __future__ import annotations

import json
import time
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ScopeError, UsageError
from omnislash.errors import ModelError
from omnislash.runtime.loop.run_values import RunLimits, RunOptions
from omnislash.testing import ScriptedCall, ScriptedChatModel
from tests.integration.running.conftest import open_with, read_rows
from tests.integration.running.provider_servers import TOKENS_IN, Answer, Call
from tests.integration.running.test_cancelled_turns import open_scripted

if TYPE_CHECKING:
    from omnislash.runtime.loop.run_values import Run
    from omnislash.testing import ChatRequest
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer

TASKS = "memory:read, memory:write, agent:task"


def task(role: str, text: str = "Do it.", **more: Any) -> list[ScriptedCall]:
    """Return a step that hands a task down."""
    return [ScriptedCall("agent_task", {"role": role, "task": text, **more})]


def write(text: str = "Done.", **more: Any) -> list[ScriptedCall]:
    """Return a step that writes."""
    return [ScriptedCall("memory_write", {"content": text, **more})]


def answer_of(run: Run) -> dict[str, Any]:
    """Return what the caller was told by its first task."""
    return dict(run.calls[0].answer)


@pytest.mark.rule("DECLARE-15", "RESOLVE-02", "RESOLVE-11", "RESOLVE-13", "RESOLVE-O2")
def test_it_works_in_the_line_of_its_caller(sample: SampleBrain) -> None:
    """A role with a line of its own reads and writes its caller's, whatever the model puts into the arguments."""
    sample.role("lead", "{write: ops}", capabilities=TASKS)
    sample.role("clerk", "{write: desk}", capabilities=TASKS)
    sample.put_memory("ops/MEMORY.md", "- The crane is yellow.\n")
    sample.put_memory("desk/MEMORY.md", "- The desk is brown.\n")
    model = ScriptedChatModel(task("clerk", line="desk", memoryScope="desk"), write(), "Written.", "All done.")

    run = open_scripted(sample, model).agent("lead").run("x")

    assert answer_of(run) == {
        "role": "clerk",
        "line": "ops",
        "text": "Written.",
        "calls": [{"tool": "memory_write", "outcome": "written", "paths": ["ops/2026/08/2026-08-30.md"]}],
    }
    assert run.text == "All done."
    assert "The crane is yellow." in model.requests[1].standing
    assert "The desk is brown." not in str(model.requests[1].conversation)
    assert model.requests[1].message == "Do it."
    assert model.requests[1].system.startswith("You are clerk.")


@pytest.mark.rule("DECLARE-15", "DECLARE-06")
def test_a_line_never_turns_memory_on(sample: SampleBrain) -> None:
    """A sub-agent whose role declares no memory has no line, no block and no tool of memory."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", None, capabilities=TASKS)
    sample.put_memory("main/MEMORY.md", "- The crane is yellow.\n")
    model = ScriptedChatModel(task("clerk"), write(), "Could not.", "So be it.")

    run = open_scripted(sample, model).agent("lead").run("x")

    assert answer_of(run)["line"] is None
    assert answer_of(run)["calls"] == [{"tool": "memory_write", "outcome": "error"}]
    assert model.requests[1].tools == ("agent_task",)
    assert "crane" not in str(model.requests[1].conversation)
    assert not (sample.root / "memory/main/2026").exists()


@pytest.mark.rule("RESOLVE-12", "REPORT-10")
def test_neither_report_nor_reach_is_handed_down(sample: SampleBrain) -> None:
    """The caller may deposit and read elsewhere; its sub-agent may not, and keeps the lists of its own role."""
    for line in ("news", "vault", "attic"):
        sample.put_memory(f"{line}/MEMORY.md", f"- In the {line}.\n")
    sample.role("lead", "{report: [news], read: [vault]}", capabilities=TASKS)
    sample.role("clerk", "{write: desk, read: [attic], report: [news]}", capabilities=TASKS)
    read = [ScriptedCall("memory_read", {"path": f"{line}/MEMORY.md"}) for line in ("vault", "attic", "desk")]
    model = ScriptedChatModel(task("clerk"), [*write(line="news"), *read], "Said.", "Done.")
    brain = open_scripted(sample, model)
    assert brain.agent("lead").memory.write("Here.", line="news").outcome == "written"

    brain.agent("lead").run("x")

    told = {speech.text for speech in model.requests[2].said if speech.speaker == "tool"}
    deposit, vault, attic, desk = (
        json.loads(speech.text) for speech in model.requests[2].said if speech.speaker == "tool"
    )
    assert len(told) == 4
    assert deposit["outcome"] == "refused"
    assert "Allowed lines: 'main'." in deposit["message"]
    assert vault["error"]["kind"] == "scope"
    assert attic["content"] == "- In the attic.\n"
    assert desk["error"]["kind"] == "scope", "its usual line is out of reach meanwhile"


@pytest.mark.rule("RESOLVE-O1")
def test_the_line_runs_down_the_whole_chain(sample: SampleBrain) -> None:
    """A sub-agent of a sub-agent works in the first one's line, and the fourth one below is refused."""
    for name in ("one", "two", "three", "four", "five"):
        sample.role(name, f"{{write: of-{name}}}", capabilities=TASKS)
    model = ScriptedChatModel(task("two"), task("three"), task("four"), [*task("five"), *write()], "d", "c", "b", "a")

    run = open_scripted(sample, model).agent("one").run("x")

    assert run.text == "a"
    assert run.usage.requests == 8
    fourth = model.requests[4]
    refused, written = (json.loads(speech.text) for speech in fourth.said if speech.speaker == "tool")
    assert refused["error"]["message"] == "3 agents stand above this one already; do the task yourself."
    assert written["paths"] == ["of-one/2026/08/2026-08-30.md"]
    assert sorted(place.name for place in (sample.root / "memory").glob("of-*")) == ["of-one"]


@pytest.mark.rule("BOUNDARY-09", "BOUNDARY-10")
def test_a_replay_is_handed_down(sample: SampleBrain) -> None:
    """The sub-agent of a replay is offered the same tools, and writes nothing either."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", capabilities=TASKS)
    model = ScriptedChatModel(task("clerk"), write(), "Hm.", "Done.")
    brain = open_scripted(sample, model)

    brain.agent("lead", replay=True).run("x")

    (answer,) = (json.loads(speech.text) for speech in model.requests[2].said if speech.speaker == "tool")
    assert answer["message"] == "memory is read-only for this turn; nothing was written; do not retry"
    assert set(model.requests[1].tools) == set(brain.agent("clerk").tools)
    assert not (sample.root / "memory" / "main").exists()


def test_it_is_granted_by_its_capability(sample: SampleBrain) -> None:
    """A role without `agent:task` is not offered it, one without memory is; names and sentences are those of a tool."""
    sample.role("lead", None, capabilities="agent:task")
    sample.role("clerk", capabilities="memory:write")
    brain = open_scripted(sample, ScriptedChatModel())

    assert brain.agent("lead").tools == ("agent_task",)
    assert "agent_task" not in brain.agent("clerk").tools
    with pytest.raises(ScopeError, match="lacks the capability agent:task"):
        brain.agent("clerk").call("agent_task", {"role": "lead", "task": "x"})
    with pytest.raises(UsageError, match="There is no role 'clark'"):
        brain.agent("lead").call("agent_task", {"role": "clark", "task": "x"})
    with pytest.raises(UsageError, match="task: it has no words"):
        brain.agent("lead").call("agent_task", {"role": "clerk", "task": " "})


def test_without_a_line_to_hand_down_the_sub_agent_has_its_own(sample: SampleBrain) -> None:
    """A caller without memory hands no line down; through `Agent.call` the tool is the same."""
    sample.role("lead", None, capabilities="agent:task")
    sample.role("clerk", "{write: desk}", capabilities="memory:write")
    brain = open_scripted(sample, ScriptedChatModel(write(), "Written."))

    answer = brain.agent("lead").call("agent_task", {"role": "clerk", "task": "Note it."}).to_json()

    assert answer["line"] == "desk"
    assert answer["text"] == "Written."


def test_what_it_did_is_in_the_action_log_of_the_beat(sample: SampleBrain) -> None:
    """A write of a sub-agent names its own role and the heartbeat of its caller; no session of it is kept."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", capabilities=TASKS)
    sample.beat("morning", "lead")
    brain = open_scripted(sample, ScriptedChatModel(task("clerk"), write(), "Hm.", "Done."))

    brain.agent("lead", heartbeat="morning").run("x", session="s1")

    (row,) = (row for row in brain.audit().rows if row.tool == "memory_write")
    assert (row.role, row.heartbeat) == ("clerk", "morning")
    assert [row[0] for row in read_rows(sample, "sessions")] == ["s1"]


def test_a_sub_agent_that_fails_is_told_to_its_caller(sample: SampleBrain) -> None:
    """The caller's turn goes on with the sentence."""
    sample.role("lead", capabilities=TASKS)
    model = ScriptedChatModel(task("nova"), ModelError("The model x gave no answer: it is away. Try again."), "I see.")

    run = open_scripted(sample, model).agent("lead").run("x")

    assert run.text == "I see."
    assert answer_of(run)["error"]["message"] == "The model x gave no answer: it is away. Try again."
    assert run.usage.requests == 3, "the one that failed was asked as well"


def test_all_agents_share_the_requests_of_the_first_one(sample: SampleBrain) -> None:
    """Agents that go on handing tasks down end with the first one's limit, as a turn of its own would."""
    sample.role("lead", capabilities=TASKS)
    model = ScriptedChatModel(*repeat(task("lead"), 60))
    brain = open_scripted(sample, model)

    with pytest.raises(ModelError) as caught:
        brain.agent("lead").run("x", options=RunOptions(limits=RunLimits(requests=10)))

    told = "The model scripted gave no answer: it went on asking for tools beyond the limit of one turn."
    assert caught.value.message == f"{told} Ask for less at once."
    assert len(model.requests) == 10


def test_a_sub_agent_is_given_what_is_left(sample: SampleBrain) -> None:
    """The fourth request is the last one, whoever makes it; what was written until then is told to the person."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", capabilities=TASKS)
    model = ScriptedChatModel(task("clerk"), write("One."), "Done.", task("clerk"), write("Two."))
    brain = open_scripted(sample, model)

    with pytest.raises(ModelError, match="beyond the limit") as caught:
        brain.agent("lead").run("x", options=RunOptions(limits=RunLimits(requests=4)))

    assert len(model.requests) == 4
    assert caught.value.hint == "What the turn's tools wrote before stays: main/2026/08/2026-08-30.md."
    assert "Two." not in sample.text("main/2026/08/2026-08-30.md")


def test_all_agents_share_the_time_of_the_first_one(sample: SampleBrain) -> None:
    """A sub-agent that never ends is ended with its caller's time."""
    sample.role("lead", capabilities=TASKS)

    def wait(_request: ChatRequest) -> list[ScriptedCall]:
        time.sleep(0.05)
        return [ScriptedCall("memory_list")]

    model = ScriptedChatModel(task("nova"), *repeat(wait, 1000))
    brain = open_scripted(sample, model)

    with pytest.raises(ModelError, match=r"The turn was ended because it took more than 0\.5 seconds"):
        brain.agent("lead").run("x", options=RunOptions(limits=RunLimits(requests=1000, turn_s=0.5)))

    assert len(model.requests) < 200


def test_it_ends_with_its_caller(sample: SampleBrain) -> None:
    """A stop reaches the sub-agent at once; what it wrote and said is told."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", capabilities=TASKS)
    over: list[bool] = []

    def stop(_request: ChatRequest) -> str:
        over.append(True)
        time.sleep(1)
        return "Never said in full."

    model = ScriptedChatModel(task("clerk"), write(), stop, "Never asked.")
    brain = open_scripted(sample, model)

    run = brain.agent("lead").run("x", session="s1", options=RunOptions(is_over=lambda: bool(over)))

    assert run.is_cancelled
    assert answer_of(run)["cancelled"] is True
    assert answer_of(run)["calls"][0]["outcome"] == "written"
    assert len(model.requests) == 3


@pytest.mark.parametrize("own", ["", "model: anthropic:claude-sonnet-4-5\n"])
def test_which_model_runs_it_and_what_it_costs(sample: SampleBrain, server: ProviderServer, own: str) -> None:
    """The role's own model, else the caller's; its tokens are added to the caller's."""
    sample.role("lead", capabilities=TASKS)
    sample.role("clerk", capabilities=TASKS, more=own)
    call = Call("agent_task", {"role": "clerk", "task": "Do it."})
    server.play(Answer(calls=(call,)), Answer("Done by the clerk."), Answer("Done."))

    run = open_with(sample, server).agent("lead").run("x", options=RunOptions(model="openai:gpt-4o-mini"))

    assert answer_of(run)["text"] == "Done by the clerk."
    assert server.paths[1] == ("/v1/messages" if own else "/v1/responses")
    assert run.usage.input_tokens == 3 * TOKENS_IN
