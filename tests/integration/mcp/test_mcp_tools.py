"""The tools over MCP: what is offered, what they answer, and what an agent sees when something is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError

from omnislash import UsageError
from omnislash.core.verdicts import READ_ONLY_MESSAGE
from omnislash.runtime.tools.catalog import TOOLS
from omnislash.surfaces.mcp.server import Caller, make_server
from omnislash.surfaces.mcp.shapes import SHAPES
from omnislash.testing import ScriptedChatModel
from tests.integration.mcp.conftest import MEMORY, connect, names, open_brain, text_of
from tests.integration.running.test_cancelled_turns import open_scripted

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
NOTE = "main/2026/08/2026-08-30.md"


def check(tool: str, result: CallToolResult) -> dict[str, Any]:
    """Return an answer after making sure that it fits the schema, and that the text says the same."""
    answer: dict[str, Any] = result.structured_content
    Draft202012Validator(SHAPES[tool].answer).validate(answer)
    assert json.loads(text_of(result)) == answer
    return answer


# -- what is offered -------------------------------------------------------------------------------------------------


@pytest.mark.rule("TOOL-01", "TOOL-02", "TOOL-03", "TOOL-04", "TOOL-05")
@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ("memory:read", ["memory_overview", "memory_list", "memory_search", "memory_read"]),
        ("memory:write", ["memory_write"]),
        ("memory:edit", ["memory_edit", "memory_write_file", "memory_move"]),
        ("memory:delete", ["memory_delete"]),
        ("runtime:read", ["audit_list", "doctor_report"]),
        ("", []),
    ],
)
async def test_tools_are_those_of_the_grant(sample: SampleBrain, capabilities: str, expected: list[str]) -> None:
    """A client is offered exactly what the role's capabilities grant."""
    sample.role("nova", capabilities=capabilities)

    async with connect(open_brain(sample)) as client:
        assert names((await client.list_tools()).tools) == expected


@pytest.mark.rule("TOOL-05", "DECLARE-06")
async def test_without_memory_there_is_no_memory_tool(sample: SampleBrain) -> None:
    """A role without a memory block is offered no memory tool, no file and no prompt, whatever its capabilities."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    sample.role("guest", None)

    async with connect(open_brain(sample), role="guest") as client:
        assert names((await client.list_tools()).tools) == ["doctor_report"]
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        assert "no memory" in (client.instructions or "")


@pytest.mark.rule("TOOL-06", "KNOB-26")
async def test_an_edited_role_counts_from_the_next_request(sample: SampleBrain, mode: str) -> None:
    """Capabilities that are taken away or given while a client is connected hold at once."""
    async with connect(open_brain(sample), mode=mode) as client:
        sample.role("nova", capabilities="memory:read")
        refused = await client.call_tool("memory_write", {"content": "Not now."})
        assert "memory_write" not in names((await client.list_tools()).tools)
        sample.role("nova")
        written = await client.call_tool("memory_write", {"content": "Now."})

    assert refused.is_error
    assert "memory:write" in text_of(refused)
    assert written.structured_content["outcome"] == "written"


async def test_a_role_that_vanishes_is_said_to_be_gone(sample: SampleBrain, mode: str) -> None:
    """When the role's file goes, calls and listings say so in a sentence, and the connection goes on."""
    async with connect(open_brain(sample), mode=mode) as client:
        (sample.root / "features/team/nova.agent.md").unlink()
        called = await client.call_tool("memory_overview")
        with pytest.raises(MCPError, match="There is no role 'nova'"):
            await client.list_tools()
        with pytest.raises(MCPError, match="There is no role 'nova'"):
            await client.list_resources()
        sample.role("nova")
        assert not (await client.call_tool("memory_overview")).is_error

    assert called.is_error
    assert "There is no role 'nova'" in text_of(called)


@pytest.mark.rule("KNOB-O6")
async def test_a_broken_brain_file_leaves_the_last_good_one(sample: SampleBrain) -> None:
    """A fault that must not start a brain changes nothing for a server that runs."""
    async with connect(open_brain(sample)) as client:
        sample.put("constitution/MANIFEST.yaml", "memory: [\n")

        written = await client.call_tool("memory_write", {"content": "Still here."})

    assert written.structured_content["outcome"] == "written"


@pytest.mark.parametrize("caller", [Caller(role="nobody"), Caller(role="nova", heartbeat="none")])
def test_a_wrong_role_fails_before_anything_is_served(brain: Brain, caller: Caller) -> None:
    """A server of a role or heartbeat that is not there can't be made."""
    with pytest.raises(UsageError):
        make_server(brain, caller)


async def test_the_server_says_who_it_is(sample: SampleBrain, mode: str) -> None:
    """A client learns name, version, line and lists that change; nothing about what to save."""
    sample.role("nova", "{read: [ops], report: [ops]}")
    sample.role("keeper", "{write: ops}")

    async with connect(open_brain(sample), mode=mode) as client:
        capabilities, said = client.server_capabilities, client.instructions or ""
        info = client.server_info

    assert info is not None
    assert (info.name, info.title) == ("omnislash", "omnislash memory")
    assert info.version
    assert capabilities.tools is not None
    assert capabilities.resources is not None
    assert capabilities.prompts is not None
    assert (capabilities.tools.list_changed, capabilities.resources.list_changed) == (True, True)
    assert capabilities.resources.subscribe is True
    assert "role nova" in said
    assert "You may read main, ops." in said
    assert "You may write to main, ops." in said
    assert "save" not in said


async def test_a_new_client_is_told_what_is_true_now(sample: SampleBrain, mode: str) -> None:
    """A client that connects after the role was edited reads of the role as it is."""
    server = make_server(open_brain(sample), Caller(role="nova"))
    sample.role("nova", "{write: desk}", capabilities="memory:read")

    async with Client(server, mode=mode, cache=None) as client:
        said = client.instructions or ""

    assert "your line is desk" in said
    assert "You may not write." in said


# -- what they answer ------------------------------------------------------------------------------------------------


def fill(sample: SampleBrain) -> None:
    """Give the role every tool, somebody to hand a task to, and something to remember."""
    sample.open_gate()
    sample.role("nova", capabilities="memory:read, memory:write, memory:edit, memory:delete, runtime:read, agent:task")
    sample.role("clerk", capabilities="memory:read, memory:write")
    sample.put_memory("main/MEMORY.md", MEMORY)
    sample.put_memory("main/2026/2026-W34.md", "# 2026-W34\n\nA quiet week at the depot.\n")


async def test_every_tool_answers_as_it_says(sample: SampleBrain, mode: str) -> None:
    """Each tool's real answer fits the schema that was offered for it, and the text is the same JSON."""
    model = ScriptedChatModel("The depot opens at six.")
    fill(sample)
    answers: dict[str, dict[str, Any]] = {}

    async with connect(open_scripted(sample, model), mode=mode) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, {**arguments, "memoryScope": "*"})
            assert not result.is_error, text_of(result)
            answers[tool] = check(tool, result)
            return answers[tool]

        await call("memory_write", content="The depot opens at six.", priority=True)
        await call("memory_overview")
        await call("memory_list", limit=1)
        await call("memory_search", query="depot opens")
        read = await call("memory_read", path="main/MEMORY.md", maxChars=20)
        await call("memory_edit", path="main/MEMORY.md", old="Maria", new="Maria K.")
        await call("memory_write_file", path="main/plan.md", content="Plan.\n", expectHash="absent")
        await call("memory_move", **{"from": "main/plan.md", "to": "main/old plan.md"})
        await call("memory_delete", path="main/old plan.md")
        await call("audit_list", limit=2)
        await call("doctor_report", check="memory-budget")
        await call("agent_task", role="clerk", task="When does the depot open?")

    assert set(answers) == set(TOOLS)
    assert answers["memory_overview"]["periods"] == {"week": ["2026-W34"]}
    assert answers["memory_list"]["nextCursor"] == answers["memory_list"]["entries"][0]["path"]
    assert answers["memory_search"]["hits"][0]["snippet"].endswith("The depot opens at six.")
    assert (read["content"], read["truncated"], read["nextOffset"]) == (MEMORY[:20], True, 20)
    assert answers["audit_list"]["rows"][0]["tool"] == "memory_delete"
    assert answers["agent_task"]["text"] == "The depot opens at six."
    assert not (sample.root / "memory/main/plan.md").exists()


@pytest.mark.rule("TOOL-11")
async def test_a_stray_scope_is_dropped(sample: SampleBrain, mode: str) -> None:
    """`memoryScope` and another role in the arguments change nothing and are no error."""
    sample.put_memory("hr/MEMORY.md", "- mk-77-private\n")

    async with connect(open_brain(sample), mode=mode) as client:
        given = {"memoryScope": {"write": "hr", "read": ["*"]}, "role": "hr", "line_": "hr"}
        written = await client.call_tool("memory_write", {"content": "Mine.", **given})
        found = await client.call_tool("memory_search", {"query": "mk-77-private", **given})

    assert written.structured_content["paths"] == [NOTE]
    assert found.structured_content["hits"] == []


@pytest.mark.parametrize(
    ("arguments", "outcome", "is_error"),
    [
        ({"content": "Known already."}, "duplicate", False),
        ({"content": "x" * 80, "priority": True}, "partial", False),
        ({"content": "the token is ghp_" + "b" * 36}, "refused", True),
        ({"content": "  "}, "refused", True),
        ({"content": "Elsewhere.", "line": "hr"}, "refused", True),
    ],
)
async def test_outcomes_are_answers(
    sample: SampleBrain, arguments: dict[str, Any], outcome: str, is_error: bool
) -> None:
    """What became of a write is its answer; only what did not happen is marked as an error."""
    sample.manifest("{fileMaxChars: 60}")
    brain = open_brain(sample)
    brain.agent("nova").memory.write("Known already.")

    async with connect(brain) as client:
        result = await client.call_tool("memory_write", arguments)

    assert check("memory_write", result)["outcome"] == outcome
    assert result.is_error is is_error


async def test_a_queued_write_is_no_error(sample: SampleBrain) -> None:
    """Without a worker, and told not to write itself, the server answers `queued`."""
    async with connect(open_brain(sample, queue_only=True)) as client:
        result = await client.call_tool("memory_write", {"content": "Later."})

    assert check("memory_write", result)["outcome"] == "queued"
    assert not result.is_error


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-10")
async def test_a_replay_writes_nothing(sample: SampleBrain, mode: str) -> None:
    """In a replay the same tools are offered, and each that would write answers the fixed sentence."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    calls = {
        "memory_write": {"content": "No."},
        "memory_edit": {"path": "main/MEMORY.md", "old": "- a", "new": "- c"},
        "memory_write_file": {"path": "main/x.md", "content": "x"},
        "memory_move": {"from": "main/MEMORY.md", "to": "main/y.md"},
        "memory_delete": {"path": "main/MEMORY.md"},
    }

    async with connect(open_brain(sample), mode=mode, replay=True) as client:
        offered = names((await client.list_tools()).tools)
        answers = {tool: await client.call_tool(tool, given) for tool, given in calls.items()}

    assert set(calls) < set(offered)
    for tool, result in answers.items():
        assert check(tool, result) == {"outcome": "read-only", "paths": [], "message": READ_ONLY_MESSAGE}
        assert not result.is_error
    assert sample.data("main/MEMORY.md") == MEMORY.encode()


# -- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("memory_write", {}, "memory_write: the argument content is missing"),
        ("memory_write", {"content": 5}, "content: input should be a valid string"),
        ("memory_read", {"path": "main/none.md"}, "There is no file main/none.md. memory_list shows what there is."),
        ("memory_read", {"path": "../../etc/passwd"}, "'../../etc/passwd'"),
        ("memory_search", {"query": "x", "since": "2026-02-31"}, "there is no day 2026-02-31"),
        ("memory_list", {"limit": 0}, "limit: input should be greater than or equal to 1"),
        ("audit_list", {"cursor": "x"}, "The cursor 'x' is none that audit_list gave"),
        ("doctor_report", {"check": "horoscope"}, "horoscope"),
    ],
)
async def test_a_wrong_call_is_told_in_a_sentence(
    brain: Brain, mode: str, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    """A call that makes no sense is an error that the agent can read, and the connection goes on."""
    async with connect(brain, mode=mode) as client:
        result = await client.call_tool(tool, arguments)
        assert not (await client.call_tool("memory_overview")).is_error

    assert result.is_error
    assert result.structured_content is None
    assert expected in text_of(result)
    assert "Traceback" not in text_of(result)


async def test_an_unknown_tool_is_a_protocol_error(brain: Brain, mode: str) -> None:
    """A name that no tool has is answered with the protocol's own error (-32602)."""
    async with connect(brain, mode=mode) as client:
        with pytest.raises(MCPError, match="Unknown tool: 'memory_forget'") as caught:
            await client.call_tool("memory_forget")

    assert caught.value.error.code == -32602


async def test_a_mistake_of_ours_ends_no_connection(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, mode: str
) -> None:
    """When the engine itself breaks, the agent gets a sentence without its insides, and the log has the trace."""

    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("secret insides")

    async with connect(brain, mode=mode) as client:
        monkeypatch.setattr("omnislash.runtime.tools.reading.overview", break_down)
        result = await client.call_tool("memory_overview")
        assert not (await client.call_tool("memory_list")).is_error

    assert result.is_error
    assert text_of(result).startswith("Something went wrong inside omnislash: RuntimeError.")
    assert "insides" not in text_of(result)
    assert "secret insides" in caplog.text


# -- isolation -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("TOOL-14", "SCOPE-07", "TOOL-09")
async def test_no_way_of_reading_leaves_the_line(sample: SampleBrain, mode: str) -> None:
    """Through tools, files and prompt a role sees nothing of another line, not even in an error; its owner sees all."""
    private = {
        "hr/MEMORY.md": "- mk-77-private is here\n",
        "hr/2026/08/2026-08-29.md": "# 2026-08-29\n\n- 10:00 mk-77-private was said\n",
        "hr/2026/2026-W34.md": "# 2026-W34\n\nmk-77-private all week.\n",
    }
    for path, text in private.items():
        sample.put_memory(path, text)
    sample.role("ops", "{write: ops}")
    sample.role("hr", "{write: hr}")
    brain = open_brain(sample)
    missing = "hr/2026/08/2026-08-28.md"

    async with connect(brain, mode=mode, role="ops") as client:
        seen: list[str] = [client.instructions or ""]
        for path in (*private, missing):
            seen.append(text_of(await client.call_tool("memory_read", {"path": path})))
            seen.append(text_of(await client.call_tool("memory_read", {"path": path, "section": "x"})))
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"omnislash:///{path}")
            seen.append(caught.value.error.message)
        calls = [
            ("memory_overview", {}),
            ("memory_list", {}),
            ("memory_list", {"prefix": "hr"}),
            ("memory_search", {"query": "mk-77-private"}),
            ("audit_list", {}),
            ("doctor_report", {}),
        ]
        for tool, given in calls:
            seen.append(text_of(await client.call_tool(tool, given)))
        seen.append((await client.list_resources()).model_dump_json())
        seen.append((await client.get_prompt("memory", {"message": "mk-77-private"})).model_dump_json())
    async with connect(brain, mode=mode, role="hr") as client:
        owned = [text_of(await client.call_tool("memory_read", {"path": path})) for path in private]
        found = (await client.call_tool("memory_search", {"query": "mk-77-private"})).structured_content

    assert len(seen) == 1 + 4 * 3 + 8
    assert [each for each in seen if "mk-77-private" in each] == []
    assert all("mk-77-private" in each for each in owned)
    assert len(found["hits"]) == 3


@pytest.mark.rule("TOOL-14")
async def test_a_hidden_file_and_none_are_answered_alike(sample: SampleBrain, mode: str) -> None:
    """What a role may not read sounds the same whether it exists or not, by tool and by address."""
    sample.put_memory("hr/MEMORY.md", "- secret\n")

    async with connect(open_brain(sample), mode=mode) as client:
        texts, faults = [], []
        for name in ("MEMORY", "NOTHING"):
            result = await client.call_tool("memory_read", {"path": f"hr/{name}.md"})
            texts.append(text_of(result).replace(name, "X"))
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"omnislash:///hr/{name}.md")
            faults.append((caught.value.error.code, caught.value.error.message.replace(name, "X")))

    assert texts[0] == texts[1]
    assert faults[0] == faults[1]
