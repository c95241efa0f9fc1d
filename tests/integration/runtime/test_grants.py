"""Who is offered which tool, and that a tool which is not offered does nothing."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ScopeError, UsageError
from omnislash.core.verdicts import Outcome
from omnislash.engine import ModelOptions
from omnislash.runtime.tools.catalog import TOOLS
from omnislash.testing import ScriptedChatModel

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

#: A call of each tool that would do something, or show something, if it were allowed.
CALLS: dict[str, dict[str, Any]] = {
    "memory_overview": {},
    "memory_list": {},
    "memory_read": {"path": "main/MEMORY.md"},
    "memory_write": {"content": "x"},
    "memory_edit": {"path": "main/MEMORY.md", "old": "rules", "new": "laws"},
    "memory_write_file": {"path": "main/a.md", "content": "x"},
    "memory_move": {"from": "main/MEMORY.md", "to": "main/b.md"},
    "memory_delete": {"path": "main/MEMORY.md"},
    "audit_list": {},
}
READING = {"memory_overview", "memory_list", "memory_read"}
#: What `runtime:read` still gives a role that has no memory: it looks at the brain, not into a line.
WITHOUT_MEMORY = ("doctor_report",)


@pytest.mark.rule("TOOL-01", "TOOL-02", "TOOL-03", "TOOL-04", "TOOL-05")
@pytest.mark.parametrize(
    ("capability", "granted"),
    [
        ("memory:read", READING),
        ("memory:write", {"memory_write"}),
        ("memory:edit", {"memory_edit", "memory_write_file", "memory_move"}),
        ("memory:delete", {"memory_delete"}),
        ("runtime:read", {"audit_list"}),
    ],
)
def test_capability_grants_its_tools(sample: SampleBrain, capability: str, granted: set[str]) -> None:
    """A capability offers its own tools, they work, and each of the others is refused by name and does nothing."""
    sample.open_gate()
    sample.role("limited", capabilities=capability)
    # memory_search and doctor_report are offered by the same capabilities, and have tests of their own.
    assert set(sample.agent("limited").tools) & set(CALLS) == granted

    for tool, arguments in CALLS.items():
        sample.put_memory("main/MEMORY.md", "rules\n")
        before = sample.files()
        if tool in granted:
            answer = sample.agent("limited").call(tool, arguments).to_json()
            assert answer.get("outcome", "written") == "written", tool
        else:
            with pytest.raises(ScopeError, match=TOOLS[tool].capability):
                sample.agent("limited").call(tool, arguments)
            assert sample.files() == before


@pytest.mark.rule("DECLARE-06", "DECLARE-08", "TOOL-05")
@pytest.mark.parametrize("tool", list(CALLS))
def test_no_memory_no_tools(sample: SampleBrain, tool: str) -> None:
    """A role without a block is offered no memory, reads nothing and writes nothing, whatever it was granted."""
    sample.role("stranger", None)
    sample.put_memory("main/MEMORY.md", "rules\n")
    before = sample.files()
    stranger = sample.agent("stranger")

    assert stranger.tools == WITHOUT_MEMORY
    with pytest.raises(ScopeError, match="stranger"):
        stranger.call(tool, CALLS[tool])
    assert sample.files() == before


@pytest.mark.rule("DECLARE-06", "DECLARE-08")
def test_no_memory_through_the_methods(sample: SampleBrain) -> None:
    """The methods of an undeclaring agent refuse like its tools."""
    sample.role("stranger", None)
    memory = sample.agent("stranger").memory

    for call in (memory.overview, memory.list, lambda: memory.read("main/MEMORY.md"), lambda: memory.write("x")):
        with pytest.raises(ScopeError):
            call()
    assert sample.files() == {}


@pytest.mark.rule("DECLARE-03")
def test_manifest_alone_turns_nothing_on(sample: SampleBrain) -> None:
    """The manifest's block gives a role without one no tools."""
    sample.role("stranger", None)
    sample.manifest("{write: main, read: ['*']}")

    assert sample.agent("stranger").tools == WITHOUT_MEMORY


@pytest.mark.rule("DECLARE-01", "DECLARE-O2", "RESOLVE-03")
def test_beat_turns_memory_on(sample: SampleBrain) -> None:
    """A heartbeat's block gives the role that it runs memory for this turn, in the line that the beat names."""
    sample.role("stranger", None)
    sample.beat("rounds", "stranger", "{write: circles}")

    assert sample.agent("stranger").tools == WITHOUT_MEMORY
    verdict = sample.agent("stranger", heartbeat="rounds").memory.write("x")
    assert verdict.paths == ("circles/2026/08/2026-08-30.md",)


@pytest.mark.rule("TOOL-06")
def test_heartbeat_grants_nothing(sample: SampleBrain) -> None:
    """A beat that turns memory on leaves the capabilities to the role."""
    sample.role("reader", None, capabilities="memory:read")
    sample.beat("rounds", "reader", "{}")

    agent = sample.agent("reader", heartbeat="rounds")

    assert set(agent.tools) & set(CALLS) == READING
    with pytest.raises(ScopeError):
        agent.memory.write("x")


@pytest.mark.rule("DECLARE-15", "RESOLVE-09")
def test_handed_line_turns_nothing_on(sample: SampleBrain) -> None:
    """A line that is handed down gives an undeclaring role no memory."""
    sample.role("stranger", None)
    agent = sample.open().agent("stranger", handed_line="main")

    assert agent.tools == WITHOUT_MEMORY
    with pytest.raises(ScopeError):
        agent.memory.write("x")


@pytest.mark.rule("DECLARE-13")
def test_zero_budgets_keep_the_tools(sample: SampleBrain) -> None:
    """A block whose budgets are all 0 still has its line and its tools."""
    zeros = "priorityChars, recentDays, recentChars, recallResults, recallChars, periodCount, periodChars"
    sample.role("quiet", "{" + ", ".join(f"{name}: 0" for name in zeros.split(", ")) + "}")
    quiet = sample.agent("quiet")

    assert set(CALLS) <= set(quiet.tools)
    assert quiet.memory.write("x").paths == ("main/2026/08/2026-08-30.md",)


@pytest.mark.rule("DECLARE-14")
def test_block_without_capability_is_legal(sample: SampleBrain) -> None:
    """A role with memory and no memory capability loads, has its line, and is offered no memory tool."""
    sample.role("ambient", capabilities="")
    ambient = sample.agent("ambient")

    assert (ambient.scope.has_memory, ambient.scope.line, ambient.tools) == (True, "main", ())


@pytest.mark.rule("DECLARE-09")
@pytest.mark.parametrize("role", ["general", "chief", "coder", "memory"])
def test_broad_engine_roles_have_memory(sample: SampleBrain, role: str) -> None:
    """The engine's own broad roles run with memory, in the default line."""
    assert sample.agent(f"system:{role}").scope.line == "main"


@pytest.mark.rule("DECLARE-10", "DECLARE-08")
@pytest.mark.parametrize("role", ["browser", "proposer", "implementer", "evaluator"])
def test_narrow_engine_roles_have_none(sample: SampleBrain, role: str) -> None:
    """The engine's narrow roles run without memory and without its tools."""
    agent = sample.agent(f"system:{role}")

    assert (agent.scope.has_memory, agent.tools) == (False, ())


@pytest.mark.rule("DECLARE-11")
def test_copy_replaces_the_engines_role(sample: SampleBrain) -> None:
    """A copy of an engine role counts whole: a block and a grant in it turn memory on, and nothing is merged."""
    copy = "---\nmemory: {write: web}\ncapabilities: [memory:write]\n---\nBrowse.\n"
    sample.put("constitution/Agents/system/role-browser.md", copy)
    browser = sample.agent("system:browser")

    assert browser.tools == ("memory_write",)
    assert browser.memory.write("x").paths == ("web/2026/08/2026-08-30.md",)


@pytest.mark.rule("TOOL-17")
def test_engine_ships_no_curator(sample: SampleBrain) -> None:
    """The engine brings no heartbeat or hook of its own, and no shipped role that may delete."""
    config = sample.open().config

    assert (config.heartbeats, config.hooks) == ({}, {})
    assert [role.id for role in config.roles.values() if "memory:delete" in role.capabilities and role.is_shipped] == []


@pytest.mark.rule("BOUNDARY-02", "BOUNDARY-04")
@pytest.mark.parametrize(("memory", "line"), [(None, None), ("{}", "main"), ("{write: research}", "research")])
def test_state_decides_nothing_about_memory(sample: SampleBrain, memory: str | None, line: str | None) -> None:
    """A role's `state` gives it neither memory nor a line; the same word may stand in both."""
    sample.role("keeper", memory, more="state: {namespace: research}\n")
    keeper = sample.agent("keeper")

    assert keeper.scope.line == line
    assert (keeper.tools != WITHOUT_MEMORY) is (line is not None)


@pytest.mark.rule("BOUNDARY-01", "BOUNDARY-03")
def test_memory_is_prose_and_has_a_budget_of_its_own(sample: SampleBrain) -> None:
    """With the same word for both, a write is a markdown entry and no row, and state's numbers bound nothing of it."""
    sample.manifest("{fileMaxChars: 400}")
    sample.role("keeper", "{write: research}", more="state: {namespace: research, budget: {chars: 5}}\n")
    agent = sample.agent("keeper")

    verdict = agent.memory.write("The canary weighs 19 grams.", priority=True)

    assert verdict.outcome is Outcome.WRITTEN
    assert verdict.budget is not None
    assert verdict.budget.limit == 400
    assert "- The canary weighs 19 grams.\n" in sample.text("research/MEMORY.md")
    sample.close()
    with contextlib.closing(sqlite3.connect(sample.root / ".omnislash" / "state.db")) as state:
        rows = list(state.iterdump())
    # For an hour the writer watches that no late save drops what it has added; else no row has the text.
    assert {row.partition(" VALUES")[0] for row in rows if "canary" in row} == {'INSERT INTO "additions"'}


@pytest.mark.rule("KNOB-27", "BUDGET-17")
def test_reader_may_carry_less_than_the_file_holds(sample: SampleBrain) -> None:
    """A role whose priorityChars lies under fileMaxChars loads, and what it carries does not bound what it writes."""
    sample.manifest("{fileMaxChars: 1000}")
    sample.role("narrow", "{priorityChars: 10}")

    assert sample.agent("narrow").memory.write("x" * 500, priority=True).outcome is Outcome.WRITTEN


@pytest.mark.rule("TOOL-10")
def test_lines_are_not_in_the_schema(sample: SampleBrain) -> None:
    """Two agents with different lines are offered the very same schema, which names no line of theirs."""
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    brain = sample.open()
    agents = (brain.agent("nova"), brain.agent("nova", heartbeat="briefing"), brain.agent("ops"))
    assert len({agent.tools for agent in agents}) == 1

    schema = str(TOOLS["memory_write"].arguments.model_json_schema(by_alias=True))

    assert "ops" not in schema
    assert "enum" not in schema


@pytest.mark.rule("TOOL-15")
def test_paths_and_cuts_are_told_by_the_tools(sample: SampleBrain) -> None:
    """How a path is written and how to get what was cut stands in the descriptions of the tools that need it."""
    for name, tool in TOOLS.items():
        if "path" in tool.arguments.model_fields and name.startswith("memory_"):
            assert "main/MEMORY.md" in tool.description
    assert "nextOffset" in TOOLS["memory_read"].description
    assert "nextCursor" in TOOLS["memory_list"].description


@pytest.mark.rule("TOOL-15", "ENVELOPE-26")
@pytest.mark.parametrize("capabilities", ["", "memory:read, memory:write, memory:edit, memory:delete"])
def test_what_tools_tell_is_absent_without_them(sample: SampleBrain, capabilities: str) -> None:
    """A system prompt, with tools or without, names no tool, spells no path and says nothing of getting the rest."""
    sample.role("plain", capabilities=capabilities)
    sample.put_memory("main/MEMORY.md", "rules\n" * 9000)
    model = ScriptedChatModel("Good.")
    sample.open(models=ModelOptions(environment={}, chat=model)).agent("plain").run("Hello.")

    (request,) = model.requests
    assert "<agent-memory" in request.system
    assert not re.search(r"memory_[a-z]+|nextOffset|nextCursor|main/\w+|\.md\b", request.system)
    assert [name for name in request.tools if name.startswith("memory_")] == (
        [name for name in TOOLS if name.startswith("memory_")] if capabilities else []
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("memory_wirte", {}, "memory_write"),
        ("memory_write", {}, "content"),
        ("memory_write", {"content": 5}, "content"),
        ("memory_write", {"content": "x", "priority": "yes"}, "priority"),
        ("memory_write", {"content": "x", "requestId": ""}, "requestId"),
        ("memory_read", {"path": "main/MEMORY.md", "maxChars": 0}, "maxChars"),
        ("memory_read", {"path": "main/MEMORY.md", "offset": -1}, "offset"),
        ("memory_list", {"limit": 0}, "limit"),
        ("memory_move", {"from": "main/a.md"}, "to"),
    ],
)
def test_wrong_call_names_what_is_wrong(sample: SampleBrain, tool: str, arguments: dict[str, Any], named: str) -> None:
    """A call that makes no sense raises one sentence that names the argument or the tool, and writes nothing."""
    with pytest.raises(UsageError, match=named):
        sample.agent().call(tool, arguments)
    assert sample.files() == {}


@pytest.mark.rule("TOOL-11")
@pytest.mark.parametrize(
    "extra",
    [
        {"memoryScope": "ops"},
        {"memoryScope": ["ops", "main"]},
        {"role": "ops"},
        {"scope": {"line": "ops"}},
        {"write": "ops"},
        {"handedLine": "ops"},
        {"handed_line": "ops"},
        {"replay": False},
        {"heartbeat": "briefing"},
        {"signature": "boss"},
        {"actor": "person"},
        {"job_id": "abc"},
    ],
)
def test_argument_that_names_scope_is_dropped(sample: SampleBrain, extra: dict[str, Any]) -> None:
    """Whatever else the model types is dropped: the entry lands in the own line, unsigned, as the agent's own."""
    sample.role("ops", "{write: ops}")
    brain = sample.open()

    answer = brain.agent("nova").call("memory_write", {"content": "x", **extra}).to_json()

    assert answer["outcome"] == "written"
    assert sample.files() == {"main/2026/08/2026-08-30.md": b"# 2026-08-30\n\n- 09:05 x\n"}
    assert [(row.role, row.actor, row.heartbeat) for row in brain.audit().rows] == [("nova", "agent", None)]


@pytest.mark.rule("TOOL-11", "TOOL-14")
def test_scope_argument_opens_no_reading(sample: SampleBrain) -> None:
    """An argument that names another scope opens no other line to reading either."""
    sample.put_memory("ops/MEMORY.md", "secret plans\n")
    for extra in ({"memoryScope": "ops"}, {"read": ["*"]}, {"corpora": ["ops"]}):
        with pytest.raises(ScopeError):
            sample.agent().call("memory_read", {"path": "ops/MEMORY.md", **extra})
        assert sample.agent().call("memory_list", extra).to_json()["entries"] == []


def test_agent_of_a_beat_needs_its_role(sample: SampleBrain) -> None:
    """A heartbeat runs the role that it names and no other; unknown names raise a sentence."""
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    brain = sample.open()

    for role, beat in (("ops", "briefing"), ("nova", "brifing"), ("nvoa", None)):
        with pytest.raises(UsageError):
            brain.agent(role, heartbeat=beat)
    assert brain.agent("nova").memory.write("x").outcome is Outcome.WRITTEN
