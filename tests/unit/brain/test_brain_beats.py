"""Heartbeats and hooks: when, who, and the patch of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.brain.heartbeats import Heartbeat, parse_heartbeat
from omnislash.brain.hooks import Hook, parse_hook
from omnislash.core.scopes import Declaration

if TYPE_CHECKING:
    from omnislash.brain.decoding import Decoded


def heartbeat(header: str) -> Decoded[Heartbeat]:
    """Parse the frontmatter of a heartbeat."""
    return parse_heartbeat(f"---\n{header}---\nDo it.\n", beat_id="briefing", path="features/briefing.heartbeat.md")


def hook(header: str) -> Decoded[Hook]:
    """Parse the frontmatter of a hook."""
    return parse_hook(f"---\n{header}---\nDo it.\n", beat_id="tidy", path="features/tidy.hook.md")


def test_short_agent_is_a_role() -> None:
    """`agent: nova` names the role and declares nothing."""
    beat = heartbeat("schedule: '30 7 * * 1-5'\nagent: nova\n").value
    assert beat == Heartbeat(
        id="briefing",
        path="features/briefing.heartbeat.md",
        schedule="30 7 * * 1-5",
        role="nova",
        body="Do it.\n",
    )


@pytest.mark.rule("KNOB-23", "KNOB-28")
def test_agent_block_patches_memory() -> None:
    """The agent block names the role and patches its memory with the same keys."""
    beat = heartbeat(
        "schedule: 0 4 * * *\nenabled: false\ndescription: x\n"
        "agent:\n  role: researcher\n  memory: { recentDays: 0, recallResults: 1, report: [ops] }\n"
    ).value
    assert beat is not None
    assert (beat.role, beat.enabled, beat.description) == ("researcher", False, "x")
    assert beat.declaration == Declaration(recent_days=0, recall_results=1, report=("ops",))
    assert beat.key_lines["agent.memory"] == 7


@pytest.mark.rule("DECLARE-01", "DECLARE-O1")
@pytest.mark.parametrize("value", ["{}", ""])
def test_empty_patch_declares_memory(value: str) -> None:
    """An empty `agent.memory` is a declaration."""
    beat = heartbeat(f"schedule: '@daily'\nagent:\n  role: nova\n  memory: {value}\n").value
    assert beat is not None
    assert beat.declaration == Declaration()


@pytest.mark.rule("KNOB-19")
@pytest.mark.parametrize(
    "header",
    [
        pytest.param("agent: nova\nmemoryFlush: false\nmemoryKeep: prices\n", id="top"),
        pytest.param("agent: { role: nova, memoryFlush: false, memoryKeep: prices }\n", id="block"),
        pytest.param("agent: { role: nova, memoryFlush: false }\nmemoryKeep: prices\n", id="both places"),
    ],
)
def test_flush_keys_stand_in_either_place(header: str) -> None:
    """`memoryFlush` and `memoryKeep` may stand at the top or in the agent block; false is not absent."""
    beat = heartbeat(f"schedule: 0 4 * * *\n{header}").value
    assert beat is not None
    assert (beat.memory_flush, beat.memory_keep) == (False, "prices")


def test_flush_keys_are_absent_by_default() -> None:
    """A beat that says nothing leaves the flush to its role."""
    beat = hook("on: memory:written\nagent: nova\n").value
    assert beat is not None
    assert (beat.memory_flush, beat.memory_keep) == (None, None)


@pytest.mark.parametrize("key", ["memoryFlush: true", "memoryKeep: x"])
def test_flush_key_in_both_places_is_refused(key: str) -> None:
    """The same key in both places is refused with both lines, in heartbeats and hooks."""
    header = f"agent:\n  role: nova\n  {key}\n{key}\n"
    for fault in (*heartbeat(f"schedule: '@daily'\n{header}").faults, *hook(f"on: a:b\n{header}").faults):
        assert fault.message == "The key is given twice: in line 6 and in line 5."


@pytest.mark.parametrize(("events", "known"), [("memory:written", 1), ("[memory:written, agent:memory_flushed]", 2)])
def test_hook_takes_an_event_or_a_list(events: str, known: int) -> None:
    """`on` is a key like any other, and holds one event or several."""
    found = hook(f"on: {events}\nagent: nova\n").value
    assert found is not None
    assert len(found.events) == known
    assert found.id == "tidy"


@pytest.mark.rule("KNOB-25")
@pytest.mark.parametrize(
    ("header", "keys"),
    [
        pytest.param("agent: nova\n", ["schedule"], id="no schedule"),
        pytest.param("schedule: 0 4 * * *\n", ["agent"], id="no agent"),
        pytest.param("schedule: 61 * * * *\nagent: nova\n", ["schedule"], id="no such minute"),
        pytest.param("schedule: 12:30\nagent: nova\n", ["schedule"], id="time of day"),
        pytest.param("schedule: 0 4 * * *\nagent: {}\n", ["agent.role"], id="no role"),
        pytest.param("schedule: 0 4 * * *\nagent:\n", ["agent.role"], id="empty agent"),
        pytest.param("schedule: 0 4 * * *\nagent: [nova]\n", ["agent"], id="list of agents"),
        pytest.param("schedule: 0 4 * * *\nagent: a/b\n", ["agent.role"], id="path as role"),
        pytest.param("schedule: 0 4 * * *\nagent: nova\nenabled: on\n", ["enabled"], id="on"),
        pytest.param("schedule: 0 4 * * *\nagent: { role: nova, memory: true }\n", ["agent.memory"], id="switch"),
        pytest.param(
            "schedule: 0 4 * * *\nagent: { role: nova, capabilities: [memory:read] }\n",
            ["agent.capabilities"],
            id="capabilities",
        ),
        pytest.param(
            "shedule: 0 4 * * *\nagent: { rule: nova, memory: { recallResult: 1 } }\n",
            ["shedule", "agent.rule", "agent.memory.recallResult", "agent.role", "schedule"],
            id="many",
        ),
    ],
)
def test_wrong_heartbeat_is_named(header: str, keys: list[str]) -> None:
    """Every wrong, missing or unknown key of a heartbeat is named."""
    found = heartbeat(header)
    assert found.value is None
    assert [fault.key for fault in found.faults] == keys


@pytest.mark.parametrize(
    "header", ["agent: nova\n", "on: []\nagent: nova\n", "on: [x]\nagent: nova\n", "on:\nagent: n\n"]
)
def test_wrong_hook_is_refused(header: str) -> None:
    """A hook needs an event."""
    (fault,) = hook(header).faults
    assert (fault.key or "").startswith("on")


def test_unclosed_header_is_refused() -> None:
    """A heartbeat whose header is never closed does not load."""
    assert parse_heartbeat("---\nschedule: 0 4 * * *\n", beat_id="b", path="p").value is None
    assert parse_hook("---\non: a:b\n", beat_id="b", path="p").value is None
