"""Turns on a command (`cli:<name>`) and on the offline model, and summaries by a provider."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash.engine import ModelOptions
from omnislash.errors import ModelError
from omnislash.runtime.loop.run_values import RunLimits, RunOptions
from tests.integration.running.conftest import WORDS_ONLY, read_rows
from tests.integration.running.provider_servers import Answer, fail

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer

#: A command that calls a tool, and answers with what the tool said once it has been told.
HARNESS = """
import json, pathlib, sys
prompt = sys.stdin.read()
log = pathlib.Path("prompts.jsonl")
with log.open("a") as file:
    file.write(json.dumps(prompt) + "\\n")
if "----- answer of memory_write" in prompt:
    print("It says: " + ("written" if '"outcome": "written"' in prompt else "something else"))
elif "You have tools." in prompt:
    print(json.dumps({"tool": "memory_write", "arguments": {"content": "Kept by a command."}}))
else:
    print("No tools here.")
"""


def open_harness(sample: SampleBrain, code: str) -> Brain:
    """Open a brain whose default model is a Python program."""
    sample.put("harness.py", code)
    command = json.dumps([sys.executable, "harness.py"])
    sample.put("omnislash.yaml", f"models: {{default: 'cli:py'}}\nharnesses: {{py: {command}}}\n")
    return sample.open(models=ModelOptions(environment={"PATH": "/usr/bin:/bin"}), search=WORDS_ONLY)


def prompts_of(sample: SampleBrain) -> list[str]:
    """Return what the command was given, in order."""
    return [json.loads(line) for line in (sample.root / "prompts.jsonl").read_text().splitlines()]


def test_a_command_calls_a_tool_and_answers(sample: SampleBrain) -> None:
    """It is asked again with the tool's answer; memory, system prompt and conversation are in one prompt."""
    sample.put_memory("main/MEMORY.md", "- The crane is yellow.\n")
    brain = open_harness(sample, HARNESS)

    run = brain.agent("nova").run("Note it.", session="s1")
    brain.agent("nova").run("Again.", session="s1")

    assert (run.model, run.text) == ("cli:py", "It says: written")
    assert "Kept by a command." in sample.text("main/2026/08/2026-08-30.md")
    assert (run.usage.requests, run.usage.input_tokens, run.usage.cost_usd) == (2, None, None)
    first, second, third = prompts_of(sample)[:3]
    assert first.startswith("You are nova.")
    assert '<agent-memory path="main/MEMORY.md">' in first
    assert first.index("The crane is yellow.") < first.index("Note it.")
    assert second.index("Note it.") < second.index("Kept by a command.") < second.index('"outcome": "written"')
    assert third.index("Note it.") < third.index("It says: written") < third.index("Again.")


@pytest.mark.rule("DECLARE-06")
def test_a_command_without_tools(sample: SampleBrain) -> None:
    """A role that is granted none is told of none, and JSON in its answer is an answer."""
    sample.role("guest", None, capabilities="memory:read")
    brain = open_harness(sample, """print('{"tool": "memory_write", "arguments": {}}')""")

    run = brain.agent("guest").run("Hello?")

    assert run.text == '{"tool": "memory_write", "arguments": {}}'
    assert run.calls == ()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; sys.exit('no credit left')", "cli:py ended with the code 1: no credit left."),
        ("print('x' * 2_000_000)", "cli:py answered more than 1000000 bytes."),
        ("import time; time.sleep(60)", "cli:py gave no answer within 1 seconds."),
        ("pass", "The model cli:py gave no answer: its answer was empty or could not be read. Try again in a moment."),
    ],
)
def test_a_command_that_fails(sample: SampleBrain, code: str, told: str) -> None:
    """One sentence, and the session is as before."""
    brain = open_harness(sample, code)

    with pytest.raises(ModelError) as caught:
        brain.agent("nova").run("Hello?", session="s1", options=RunOptions(limits=RunLimits(request_s=1.0)))

    assert caught.value.message == told
    assert read_rows(sample, "session_turns") == []


def test_a_command_is_stopped_with_its_turn(sample: SampleBrain) -> None:
    """Nobody waits for a command that takes a minute once the turn is over."""
    brain = open_harness(sample, "import pathlib, time; pathlib.Path('up').touch(); time.sleep(60)")
    started = time.monotonic()

    run = brain.agent("nova").run("x", options=RunOptions(is_over=(sample.root / "up").exists))

    assert run.is_cancelled
    assert time.monotonic() - started < 30


def test_the_offline_model_runs_a_turn(sample: SampleBrain) -> None:
    """Without any model configured a turn runs, says that it is the offline one, and the same twice."""
    sample.put_memory("main/MEMORY.md", "- We ship on Fridays.\n")
    brain = sample.open(models=ModelOptions(environment={}), search=WORDS_ONLY)

    texts = {brain.agent("nova").run("When do we ship?", session=session).text for session in ("s1", "s2")}

    assert len(texts) == 1
    assert "We ship on Fridays." in next(iter(texts))
    assert "offline model" in next(iter(texts))


# -- summaries -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-15")
@pytest.mark.parametrize("model", ["openai:gpt-4o-mini", "openai-chat:gpt-4o-mini", "anthropic:claude-sonnet-4-5"])
def test_a_provider_writes_a_summary(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """The tick asks the provider that the configuration names, with the sources, and files its answer."""
    sample.put("omnislash.yaml", f"models: {{smart: '{model}'}}\n")
    sample.manifest("{consolidation: {modelRef: smart, lines: {main: {periods: [week]}}}}")
    sample.put_memory("main/2026/08/2026-08-18.md", "# 2026-08-18\n\n- 10:00 We decided to ship on Fridays.\n")
    server.play(Answer("## Decisions\n\n- Ships on Fridays. (2026-08-18)\n"))
    brain = sample.open(models=ModelOptions(environment=server.environment), search=WORDS_ONLY)

    answer = brain.consolidate(now=datetime(2026, 8, 30, 9, tzinfo=UTC)).to_json()

    assert [done["period"] for done in answer["lines"][0]["done"]] == ["2026-W34"]
    assert "Ships on Fridays. (2026-08-18)" in sample.text("main/2026/2026-W34.md")
    assert "We decided to ship on Fridays." in json.dumps(server.bodies[0])


@pytest.mark.rule("PERIOD-O9")
def test_a_provider_that_fails_leaves_the_period_due(sample: SampleBrain, server: ProviderServer) -> None:
    """Nothing is filed, and the tick says why."""
    sample.manifest("{consolidation: {modelRef: 'openai:gpt-4o-mini', lines: {main: {periods: [week]}}}}")
    sample.put_memory("main/2026/08/2026-08-18.md", "# 2026-08-18\n\n- 10:00 We decided to ship on Fridays.\n")
    server.play(fail(401, "authentication_error", "no"))
    brain = sample.open(models=ModelOptions(environment=server.environment), search=WORDS_ONLY)

    answer = brain.consolidate(now=datetime(2026, 8, 30, 9, tzinfo=UTC)).to_json()

    (failed,) = answer["lines"][0]["failed"]
    assert "openai:gpt-4o-mini gave no answer: the provider does not accept the key" in failed["reason"]
    assert not (sample.root / "memory/main/2026/2026-W34.md").exists()
