"""Every role as a person sees it: what it may, each setting with who set it, what runs it, and what does not load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash import UsageError

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


def _knobs(role: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    return {knob["key"]: (knob["value"], knob["origin"]) for knob in role["memory"]}


@pytest.mark.rule("KNOB-24", "RESOLVE-03")
def test_each_setting_names_who_set_it(sample: SampleBrain) -> None:
    """Of manifest, role and heartbeat the most specific that sets a key counts and is named; else the default."""
    sample.manifest("{recallScore: 0.5, recentDays: 3, priorityChars: 5000}")
    sample.role("nova", "{recentDays: 2, read: [ops]}")
    sample.beat("daily", "nova", "{recentDays: 0, recall: []}")
    seen = sample.open().oversight

    in_chat, in_beat = (_knobs(seen.role("nova", heartbeat=beat).to_json()) for beat in (None, "daily"))

    assert in_chat["recentDays"] == (2, "role")
    assert in_chat["read"] == (["ops"], "role")
    assert in_chat["recallScore"] == (0.5, "manifest")
    assert in_chat["priorityChars"] == (5000, "manifest")
    assert in_chat["searchScore"] == (0.3, "default")
    assert in_chat["write"] == ("main", "default")
    assert in_beat["recentDays"] == (0, "heartbeat")
    assert in_beat["recall"] == ([], "heartbeat")
    assert in_beat["read"] == (["ops"], "role")


@pytest.mark.rule("TOOL-05", "TOOL-16", "DECLARE-01")
def test_capabilities_are_shown_as_the_tools_that_they_give(sample: SampleBrain) -> None:
    """A capability gives the tools that the role is really offered; a role without memory gets none that needs it."""
    sample.role("plain", None, capabilities="memory:read, agent:task, web:fetch")
    seen = sample.open().oversight

    def grants(role: str) -> dict[str, tuple[list[str], bool]]:
        found = seen.role(role).to_json()["capabilities"]
        return {each["capability"]: (each["tools"], each["needsApproval"]) for each in found}

    assert grants("nova")["memory:delete"] == (["memory_delete"], True)
    assert grants("nova")["memory:edit"] == (["memory_edit", "memory_write_file", "memory_move"], False)
    assert grants("plain") == {
        "memory:read": ([], False),
        "agent:task": (["agent_task"], False),
        "web:fetch": ([], False),
    }
    plain = seen.role("plain").to_json()
    assert (plain["line"], plain["memory"], plain["reads"], plain["fileMaxChars"]) == (None, [], [], None)
    sample.open_gate()
    assert grants("nova")["memory:delete"] == (["memory_delete"], False)


@pytest.mark.rule("BOUNDARY-14", "BOUNDARY-15")
def test_what_runs_a_role_is_listed(sample: SampleBrain) -> None:
    """Its heartbeats, hooks, chats, bots and contacts stand with the role that they run, and with no other."""
    sample.beat("daily", "nova")
    sample.put("features/team/on-write.hook.md", "---\non: memory:written\nagent: nova\nenabled: false\n---\nLook.\n")
    sample.put(
        "constitution/access.yaml",
        'chats: {"telegram:1": nova, "group:2": ops}\n'
        'bots:\n  - {name: desk, role: ops, secretary: {contacts: {"maria@example.org": nova}}}\n',
    )
    nova, ops = (sample.open().oversight.role(role).to_json() for role in ("nova", "ops"))

    assert [(each["id"], each["kind"], each["enabled"]) for each in nova["heartbeats"]] == [
        ("daily", "heartbeat", True),
        ("on-write", "hook", False),
    ]
    assert nova["chats"] == [
        {"kind": "chat", "name": "telegram:1"},
        {"kind": "contact", "name": "maria@example.org", "bot": "desk"},
    ]
    assert ops["heartbeats"] == []
    assert ops["chats"] == [{"kind": "chat", "name": "group:2"}, {"kind": "bot", "name": "desk"}]


def test_the_model_is_the_one_that_a_turn_runs_on(sample: SampleBrain) -> None:
    """A role's own model counts, by its name; a role without one runs on `default`, or offline where there is none."""
    sample.role("nova", more="modelRef: smart\n")
    assert sample.open().oversight.role("ops").to_json()["model"] == "offline"
    sample.put("omnislash.yaml", "models: {smart: 'anthropic:claude-opus-5', default: 'openai:gpt-6-mini'}\n")
    seen = sample.open().oversight

    nova, ops = seen.role("nova").to_json(), seen.role("ops").to_json()

    assert (nova["model"], nova["modelRef"]) == ("anthropic:claude-opus-5", "smart")
    assert (ops["model"], ops["modelRef"]) == ("openai:gpt-6-mini", None)


@pytest.mark.rule("BUDGET-15")
def test_the_budget_is_that_of_the_line(sample: SampleBrain) -> None:
    """Where the manifest makes an exception for a line, the role that writes it shows that number."""
    sample.manifest("{fileMaxChars: 4000, lines: {ops: {fileMaxChars: 0}}}")
    seen = sample.open().oversight

    assert seen.role("nova").budget == 4000
    assert seen.role("ops").budget is None


@pytest.mark.rule("KNOB-O5", "KNOB-O6")
def test_what_does_not_load_is_named_with_its_place(sample: SampleBrain) -> None:
    """A broken role is left out with file, line and key; a broken manifest leaves the last good one in force, and says so."""
    sample.put("features/team/broken.agent.md", "---\nmemory: {recalResults: 3}\n---\nx\n")
    sample.manifest("{recallScore: 0.5}")
    brain = sample.open()
    before = brain.oversight.roles().to_json()
    sample.manifest("{recallScore: 5}")

    after = brain.oversight.roles().to_json()

    (fault,) = before["faults"]
    assert (fault["path"], fault["line"], fault["key"]) == ("features/team/broken.agent.md", 2, "memory.recalResults")
    assert "recallResults" in fault["hint"]
    assert before["rejected"] == []
    assert "constitution/MANIFEST.yaml" in {each["path"] for each in after["rejected"]}
    assert [role["id"] for role in after["roles"]] == [role["id"] for role in before["roles"]]
    assert "broken" not in {role["id"] for role in after["roles"]}
    with pytest.raises(UsageError):
        brain.oversight.role("broken")
