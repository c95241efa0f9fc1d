"""The prompt `memory`: what a turn carries of memory, for a client without hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp import MCPError
from mcp_types import GetPromptResult, PromptReference, TextContent

from tests.integration.mcp.conftest import MEMORY, connect, names, open_brain

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio


@pytest.fixture
def kept(sample: SampleBrain) -> Brain:
    """Return a brain that remembers something."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    sample.put_memory("main/2026/05/2026-05-02.md", "# 2026-05-02\n\n- 10:00 The zeppelin lands on Tuesdays.\n")
    return open_brain(sample)


def text_of(result: GetPromptResult) -> str:
    """Return the one text of a prompt."""
    (message,) = result.messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_the_prompt_is_described(kept: Brain, mode: str) -> None:
    """There is one prompt, with two arguments that may be left out."""
    async with connect(kept, mode=mode) as client:
        (prompt,) = (await client.list_prompts()).prompts

    assert names([prompt]) == ["memory"]
    assert [(each.name, each.required) for each in prompt.arguments or ()] == [("session", False), ("message", False)]


@pytest.mark.rule("ENVELOPE-02", "RECALL-02")
async def test_it_is_what_a_turn_carries(kept: Brain, mode: str) -> None:
    """The text is exactly the envelope of a new session, with the recall when there is a message."""
    message = "When does the zeppelin land?"
    expected = kept.agent("nova").deliver(message=message).render()

    async with connect(kept, mode=mode) as client:
        plain = text_of(await client.get_prompt("memory"))
        recalling = text_of(await client.get_prompt("memory", {"message": message}))

    assert recalling == expected
    assert '<agent-memory path="main/MEMORY.md">' in plain
    assert "zeppelin" not in plain
    assert "The zeppelin lands on Tuesdays." in recalling


@pytest.mark.rule("ENVELOPE-03")
async def test_a_session_gets_what_is_new(sample: SampleBrain, kept: Brain, mode: str) -> None:
    """A session is sent each block once, and one that changed again; without a session nothing is noted."""
    async with connect(kept, mode=mode) as client:
        await client.get_prompt("memory")
        first = text_of(await client.get_prompt("memory", {"session": "s1"}))
        again = await client.get_prompt("memory", {"session": "s1"})
        sample.put_memory("main/MEMORY.md", MEMORY + "- Otto\n")
        changed = text_of(await client.get_prompt("memory", {"session": "s1"}))

    assert "- Maria" in first
    assert again.messages == []
    assert "Nothing new" in (again.description or "")
    assert "- Otto" in changed


@pytest.mark.rule("BOUNDARY-08")
async def test_a_replay_notes_nothing(kept: Brain) -> None:
    """In a replay the same session is sent the same twice."""
    async with connect(kept, replay=True) as client:
        texts = [text_of(await client.get_prompt("memory", {"session": "s1"})) for _ in range(2)]

    assert texts[0] == texts[1]


async def test_wrong_prompts_are_errors(sample: SampleBrain, kept: Brain, mode: str) -> None:
    """An unknown prompt, a session that can't be one, and a role without memory are told in a sentence."""
    sample.role("guest", None)

    async with connect(kept, mode=mode) as client:
        with pytest.raises(MCPError, match="Unknown prompt: 'story'"):
            await client.get_prompt("story")
        with pytest.raises(MCPError, match="A session id has 1 to 200 visible characters"):
            await client.get_prompt("memory", {"session": " "})
    async with connect(kept, mode=mode, role="guest") as client:
        with pytest.raises(MCPError, match="has no memory"):
            await client.get_prompt("memory")


async def test_sessions_are_completed(sample: SampleBrain, kept: Brain, mode: str) -> None:
    """The ids of this role's sessions are offered, and no other's."""
    sample.role("otto")
    for role, session in (("nova", "tea-1"), ("nova", "tea-2"), ("nova", "walk"), ("otto", "tea-3")):
        kept.agent(role).turn(session=session)

    async with connect(kept, mode=mode) as client:
        found = await client.complete(PromptReference(name="memory"), {"name": "session", "value": "tea"})
        nothing = await client.complete(PromptReference(name="memory"), {"name": "message", "value": "tea"})

    assert sorted(found.completion.values) == ["tea-1", "tea-2"]
    assert nothing.completion.values == []
