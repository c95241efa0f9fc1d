"""A turn against real servers that speak the providers' protocols: what is sent, what is streamed, what it comes to."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.loop.run_values import AnswerEnded, RunOptions, TextSaid, ToolAnswered, ToolCalled
from tests.integration.running.conftest import open_with
from tests.integration.running.provider_servers import TOKENS_IN, TOKENS_OUT, Answer, Call

if TYPE_CHECKING:
    from omnislash.runtime.loop.run_values import RunEvent
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer

#: Model strings, one for each protocol, and the path that it is spoken on.
PROTOCOLS = {
    "openai:gpt-4o-mini": "/v1/responses",
    "openai-chat:gpt-4o-mini": "/v1/chat/completions",
    "anthropic:claude-sonnet-4-5": "/v1/messages",
}
each_protocol = pytest.mark.parametrize("model", PROTOCOLS)


def system_of(body: dict[str, Any]) -> str:
    """Return the system prompt of a request, in any of the protocols."""
    if "instructions" in body:
        return str(body["instructions"])
    if "system" in body:
        return "".join(block["text"] for block in body["system"])
    return "".join(message["content"] for message in body["messages"] if message["role"] == "system")


def texts_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return every text of a request as `(role, text)`, without the system prompt."""
    found: list[tuple[str, str]] = []
    for message in body.get("input", body.get("messages", [])):
        if message.get("role") in {None, "system", "tool"}:
            continue
        content = message.get("content") or []
        parts = [{"text": content}] if isinstance(content, str) else content
        found += [(message["role"], part["text"]) for part in parts if "text" in part]
    return found


def tools_of(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools of a request."""
    return [tool.get("function", tool)["name"] for tool in body.get("tools", [])]


@each_protocol
def test_a_turn_writes_searches_and_answers(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """Two tools run in order, their answers go back, the answer streams, and the tokens of both requests count."""
    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 10:00 The choir practises on Fridays.\n")
    brain = open_with(sample, server)
    calls = (Call("memory_write", {"content": "We ship on Mondays."}), Call("memory_search", {"query": "choir"}))
    server.play(Answer("Let me look.", calls), Answer("The choir practises on Fridays."))
    events: list[RunEvent] = []

    run = brain.agent("nova").run("When does the choir meet?", options=RunOptions(model=model, on_event=events.append))

    assert run.text == "The choir practises on Fridays."
    assert [call.tool for call in run.calls] == ["memory_write", "memory_search"]
    assert run.calls[0].answer["outcome"] == "written"
    assert "We ship on Mondays." in sample.text("main/2026/08/2026-08-30.md")
    assert run.calls[1].answer["hits"][0]["path"] == "main/2026/08/2026-08-29.md"
    assert (run.usage.requests, run.usage.input_tokens, run.usage.output_tokens) == (2, 2 * TOKENS_IN, 2 * TOKENS_OUT)
    assert run.usage.cost_usd is not None
    assert 0 < run.usage.cost_usd < 1
    assert server.paths == [PROTOCOLS[model]] * 2
    assert "The choir practises on Fridays." in json.dumps(server.bodies[1])
    said = [event.text for event in events if isinstance(event, TextSaid)]
    assert "".join(said) == "Let me look.The choir practises on Fridays."
    assert len(said) > 4, "it comes in pieces"
    kinds = [type(event) for event in events if not isinstance(event, TextSaid)]
    assert kinds == [ToolCalled, ToolCalled, ToolAnswered, ToolAnswered, AnswerEnded]


@each_protocol
@pytest.mark.rule("ENVELOPE-01", "ENVELOPE-02", "ENVELOPE-11", "ENVELOPE-12", "ENVELOPE-O1")
def test_memory_moves_and_the_system_prompt_does_not(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """Memory, window and recall change from turn to turn, the system prompt only when the role's file does: once."""
    sample.put_memory("main/MEMORY.md", "## How\n\n- Short answers.\n")
    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 10:00 The boiler is out.\n")
    brain = open_with(sample, server)
    options = RunOptions(model=model)
    prompts = []
    for turn in range(5):
        if turn == 2:
            sample.put_memory("main/MEMORY.md", "## How\n\n- Long answers.\n")
        if turn == 3:
            sample.role("nova", more="description: changed\n")
            sample.put(
                "features/team/nova.agent.md", (sample.root / "features/team/nova.agent.md").read_text() + "Be kind.\n"
            )
        run = brain.agent("nova").run(f"Is the boiler out, {turn}?", session="s1", options=options)
        assert run.delivery is not None
        prompts.append(system_of(server.bodies[-1]))

    assert [before == after for before, after in pairwise(prompts)] == [True, True, False, True]
    assert prompts[0].startswith("You are nova.")
    for moving in ("Short answers", "Long answers", "boiler", "2026-08", "### Memory recall\n"):
        assert not any(moving in prompt for prompt in prompts)


@each_protocol
@pytest.mark.rule("ENVELOPE-O1", "ENVELOPE-02", "ENVELOPE-13", "ENVELOPE-O4")
def test_where_memory_stands(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """MEMORY.md and ladder open the conversation as they are now; window and recall stand beside the newest message."""
    sample.put_memory("main/MEMORY.md", "## How\n\n- Short answers.\n")
    sample.put_memory("main/2026/2026-W34.md", "# 2026-W34\n\n- The week of the boiler.\n")
    sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 08:00 Tea with Ada.\n")
    sample.put_memory("main/2026/08/2026-08-02.md", "# 2026-08-02\n\n- 10:00 The violin was tuned.\n")
    sample.manifest("{recallScore: 0, consolidation: {lines: {main: {periods: [week]}}}}")
    brain = open_with(sample, server)
    options = RunOptions(model=model)

    brain.agent("nova").run("Was the violin tuned?", session="s1", options=options)
    sample.put_memory("main/MEMORY.md", "## How\n\n- Long answers.\n")
    brain.agent("nova").run("And now?", session="s1", options=options)

    first, second = texts_of(server.bodies[0]), texts_of(server.bodies[1])
    role, standing = first[0]
    assert role == "user"
    assert standing.startswith('<agent-memory path="main/MEMORY.md">')
    assert standing.index("Short answers") < standing.index('<agent-memory-periods line="main">')
    (_, opening), (_, message) = first[-2:]
    assert message == "Was the violin tuned?"
    assert opening.startswith("<agent-environment>")
    assert opening.index('<agent-memory-daily line="main">') < opening.index("### Memory recall")
    assert "The violin was tuned." in opening
    assert "Long answers" in second[0][1]
    assert "Short answers" not in json.dumps(server.bodies[1]), "the old copy is nowhere any more"
    assert second[1:3] == first[1:3], "what was said before stays as it was sent"
    assert "<agent-memory-daily" not in second[-2][1]
    assert second[-1][1] == "And now?"


@each_protocol
@pytest.mark.rule("DECLARE-04", "DECLARE-05", "DECLARE-06", "DECLARE-08")
def test_a_role_without_memory_is_sent_none(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """No MEMORY.md, window, ladder, recall or module, and no memory tool in spite of the grants; two others stay."""
    sample.put_memory("main/MEMORY.md", "## How\n\n- The violin is tuned.\n")
    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 10:00 The violin was tuned.\n")
    sample.role("guest", None, capabilities="memory:read, memory:write, runtime:read, agent:task")
    brain = open_with(sample, server)

    run = brain.agent("guest").run("Is the violin tuned?", options=RunOptions(model=model))

    assert run.line is None
    assert tools_of(server.bodies[0]) == ["doctor_report", "agent_task"]
    assert system_of(server.bodies[0]) == "You are guest."
    sent = json.dumps(server.bodies[0])
    for block in ("agent-memory", "Memory recall", "was tuned"):
        assert block not in sent


@each_protocol
def test_schemas_and_arguments(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """Tools are offered under the names of the docs; what no tool knows is dropped, and what is wrong is told."""
    brain = open_with(sample, server)
    good = {"content": "Kept.", "memoryScope": "everything"}
    wrong = (Call("memory_write", '{"content": "Ke'), Call("memory_write", {"priority": True}), Call("no_tool", {}))
    server.play(Answer(calls=(Call("memory_write", good),)), Answer(calls=wrong), Answer("Sorry."))

    run = brain.agent("nova").run("x", options=RunOptions(model=model))

    writes = next(tool for tool in server.bodies[0]["tools"] if tool.get("function", tool)["name"] == "memory_write")
    definition = writes.get("function", writes)
    schema = definition.get("parameters") or definition["input_schema"]
    assert {"content", "priority", "line", "requestId"} == set(schema["properties"])
    assert [call.answer.get("outcome", "error") for call in run.calls] == ["written", "error", "error", "error"]
    told = [call.answer["error"]["message"] for call in run.calls[1:] if call.tool == "memory_write"]
    assert told[0].startswith("memory_write: the arguments are not one JSON object; nothing was done.")
    assert "the argument content is missing" in told[1]
    assert run.text == "Sorry."
    assert sample.text("main/2026/08/2026-08-30.md").count("- 09:05") == 1


def test_the_key_and_address_come_from_the_brain(
    sample: SampleBrain, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables of the process are not looked at when the brain was given others."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "the-wrong-one")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    brain = open_with(sample, server)
    for model in PROTOCOLS:
        brain.agent("nova").run("x", options=RunOptions(model=model))

    sent = [
        headers.get("authorization", "").removeprefix("Bearer ") or headers["x-api-key"] for headers in server.headers
    ]
    openai, anthropic = server.environment["OPENAI_API_KEY"], server.environment["ANTHROPIC_API_KEY"]
    assert sent == [openai, openai, anthropic]


def test_a_model_may_be_named_beside_the_message(sample: SampleBrain, server: ProviderServer) -> None:
    """`model` wins over the role's own and over that of the options."""
    sample.role("nova", more="model: openai:gpt-4o-mini\n")
    brain = open_with(sample, server)

    brain.agent("nova").run("x", model="anthropic:claude-sonnet-4-5")
    brain.agent("nova").run("x", model="openai-chat:gpt-4o-mini", options=RunOptions(model="openai:gpt-4o-mini"))

    assert server.paths == ["/v1/messages", "/v1/chat/completions"]
