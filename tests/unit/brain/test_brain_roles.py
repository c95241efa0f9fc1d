"""Role files: frontmatter, memory block, and what is refused in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.brain.memory_block import salvage_declaration
from omnislash.brain.roles import Role, parse_role
from omnislash.brain.tree import find_node
from omnislash.brain.yaml_text import parse_yaml
from omnislash.core.scopes import Declaration

if TYPE_CHECKING:
    from omnislash.errors import Fault


def role(header: str, body: str = "") -> Role:
    """Return a role whose frontmatter must load."""
    found = parse_role(f"---\n{header}---\n{body}", role_id="nova", path="features/nova.agent.md")
    assert found.faults == ()
    assert found.value is not None
    return found.value


def faults_of(header: str) -> tuple[Fault, ...]:
    """Return the faults of a frontmatter."""
    found = parse_role(f"---\n{header}---\n", role_id="nova", path="features/nova.agent.md")
    assert found.value is None
    return found.faults


def test_all_keys_of_a_role() -> None:
    """Every key of the interface reaches the role, and the body is word for word."""
    found = role(
        "name: Nova\ndescription: talks\nmodelRef: smart\nskills: [letters]\n"
        "capabilities: [memory:read, memory:write]\nmemory: { write: research }\nmemoryFlush: true\n"
        "memoryKeep: >-\n  Decisions,\n  promises\n",
        "You are Nova.  \n\n---\n\ttabs stay\n",
    )
    assert found == Role(
        id="nova",
        path="features/nova.agent.md",
        display_name="Nova",
        description="talks",
        declaration=Declaration(write="research"),
        capabilities=("memory:read", "memory:write"),
        memory_flush=True,
        memory_keep="Decisions, promises",
        model_ref="smart",
        skills=("letters",),
        body="You are Nova.  \n\n---\n\ttabs stay\n",
    )
    assert found.key_lines["memory.write"] == 7


@pytest.mark.rule("DECLARE-01", "FLUSH-O2")
def test_no_block_means_no_memory() -> None:
    """A role without a block declares nothing and asks for no flush; its id stands in for its name."""
    found = role("description: x\n")
    assert (found.declaration, found.memory_flush, found.display_name) == (None, False, "nova")


@pytest.mark.rule("DECLARE-02", "DECLARE-O1")
@pytest.mark.parametrize("header", ["memory: {}\n", "memory:\n", "memory: ~\n", "memory: null\n"])
def test_empty_block_declares_memory(header: str) -> None:
    """`memory: {}` and an empty key turn memory on and set nothing."""
    assert role(header).declaration == Declaration()


@pytest.mark.rule("DECLARE-O1", "KNOB-15")
@pytest.mark.parametrize("value", ["true", "false", "on", "main", "[]", "0"])
def test_other_values_are_no_block(value: str) -> None:
    """A block is a block: no switch, word or number stands for it."""
    (fault,) = faults_of(f"memory: {value}\n")
    assert fault.key == "memory"
    assert "`memory: {}`" in (fault.hint or "")


@pytest.mark.rule("KNOB-28", "SCOPE-19", "LINE-03")
@pytest.mark.parametrize(
    ("block", "declaration"),
    [
        pytest.param(
            "{ recentDays: 2, recentChars: 8000 }", Declaration(recent_days=2, recent_chars=8000), id="window"
        ),
        pytest.param(
            "{ priorityChars: 0, recentDays: 0, recallResults: 2, periodCount: 0 }",
            Declaration(priority_chars=0, recent_days=0, recall_results=2, period_count=0),
            id="zeros",
        ),
        pytest.param(
            "{ write: research, read: [ops, content], recall: [journal] }",
            Declaration(write="research", read=("ops", "content"), recall=("journal",)),
            id="lists",
        ),
        pytest.param(
            "{ write: maria, read: [main, people/maria], recall: [] }",
            Declaration(write="maria", read=("main", "people/maria"), recall=()),
            id="person",
        ),
        pytest.param("{ write: research, read: ['*'] }", Declaration(write="research", read=("*",)), id="curator"),
    ],
)
def test_documented_blocks_load(block: str, declaration: Declaration) -> None:
    """The examples of the rules load, with absent, empty and 0 kept apart."""
    assert role(f"memory: {block}\n").declaration == declaration


@pytest.mark.rule("LINE-07", "LINE-08", "LINE-09")
@pytest.mark.parametrize("name", ["main", "r2", "20266", "202", "a_b-c", "0ps", "a" * 64, "012"])
def test_line_name_is_taken_as_typed(name: str) -> None:
    """A name of digits is still the text that was typed."""
    assert role(f"memory: {{ write: {name} }}\n").declaration == Declaration(write=name)


@pytest.mark.rule("LINE-07", "LINE-08", "LINE-09", "KNOB-29")
@pytest.mark.parametrize("name", ["Research", "a/b", "../x", "2026", "-a", "_a", "a b", "a.b", "заметки", "", "a" * 65])
def test_other_line_names_fail_the_role(name: str) -> None:
    """What is no line name fails the load and never becomes a path (O-59)."""
    (fault,) = faults_of(f"memory: {{ write: '{name}' }}\n")
    assert fault.key == "memory.write"
    assert fault.hint


@pytest.mark.rule("KNOB-25", "KNOB-O3", "LANG-11")
@pytest.mark.parametrize(
    ("key", "value", "step"),
    [
        pytest.param("fileMaxChars", "5", "constitution/MANIFEST.yaml", id="fileMaxChars"),
        pytest.param("lines", "{}", "constitution/MANIFEST.yaml", id="lines"),
        pytest.param("flush", "{}", "constitution/MANIFEST.yaml", id="flush"),
        pytest.param("consolidation", "{}", "constitution/MANIFEST.yaml", id="consolidation"),
        pytest.param("priorityDefault", "true", "constitution/MANIFEST.yaml", id="priorityDefault"),
        pytest.param("secrets", "allow", "constitution/MANIFEST.yaml", id="secrets"),
        pytest.param("languages", "[x]", "omnislash.yaml", id="languages"),
        pytest.param("sources", "[x]", "omnislash.yaml", id="sources"),
    ],
)
def test_key_of_another_file_is_unknown(key: str, value: str, step: str) -> None:
    """A key of the manifest or the project config is unknown in a role, and the hint says where it belongs."""
    (fault,) = faults_of(f"memory:\n  {key}: {value}\n")
    assert (fault.line, fault.column, fault.key) == (3, 3, f"memory.{key}")
    assert step in (fault.hint or "")


@pytest.mark.rule("KNOB-22", "KNOB-25")
def test_knob_at_the_top_is_sent_into_the_block() -> None:
    """A reading knob beside the block is unknown there."""
    (fault,) = faults_of("recentDays: 2\n")
    assert fault.hint == "It belongs in a `memory` block."


@pytest.mark.rule("DECLARE-12")
@pytest.mark.parametrize("value", ["{ memory: true }", "[1]", "x", "", "{ namespace: crm, budget: 5 }"])
def test_keys_of_others_are_ignored(value: str) -> None:
    """`promptFlags` and `state` never fail a load, whatever they hold; their line is known to doctor."""
    found = role(f"promptFlags: {value}\nstate: {value}\nmemory: {{}}\n")
    assert found.declaration == Declaration()
    assert found.key_lines["promptFlags"] == 2


def test_scalars_keep_their_text() -> None:
    """Text fields hold what was typed, never a number or a switch (O-22, O-23)."""
    found = role("name: 012\ndescription: 1.10\nmodel: NO\nskills: [2026-11-30, 12:30, on]\nmemoryKeep: yes\n")
    assert (found.display_name, found.description, found.model, found.memory_keep) == ("012", "1.10", "NO", "yes")
    assert found.skills == ("2026-11-30", "12:30", "on")


def test_bom_and_crlf_file_keeps_all_keys() -> None:
    """A file with a byte order mark and CRLF has all its keys, and no value ends in a carriage return (O-24, O-25)."""
    text = (
        "---\r\nname: Nova\r\nmemory:\r\n  write: ops\r\n  read:\r\n    - a\r\nmemoryKeep: |\r\n  x\r\n---\r\nBody\r\n"
    )
    found = parse_role("\ufeff" + text, role_id="nova", path="p").value
    assert found is not None
    assert (found.display_name, found.memory_keep, found.body) == ("Nova", "x\n", "Body\r\n")
    assert found.declaration == Declaration(write="ops", read=("a",))


def test_doubled_right_is_refused() -> None:
    """The later value of a doubled key never wins in silence (O-21)."""
    (fault,) = faults_of("capabilities: [memory:read]\nname: x\ncapabilities: [memory:read, memory:delete]\n")
    assert "in line 2 and in line 4" in fault.message


def test_model_is_named_once() -> None:
    """A role that names its model in both ways is refused, since one would be ignored."""
    (fault,) = faults_of("model: x\nmodelRef: y\n")
    assert (fault.line, fault.key) == (3, "modelRef")


def test_words_of_yaml_are_refused_with_a_hint() -> None:
    """Keys that YAML would misread are refused by name (O-23)."""
    faults = faults_of("language: no\nid: 012\nversion: 1.10\ncountry: NO\nenabled: on\n")
    assert [fault.key for fault in faults] == ["language", "id", "version", "country", "enabled"]


def test_role_without_header_is_all_instructions() -> None:
    """A file without frontmatter is a role without memory."""
    found = parse_role("You are Nova.\n", role_id="nova", path="p", is_shipped=True).value
    assert found is not None
    assert (found.body, found.declaration, found.is_shipped) == ("You are Nova.\n", None, True)


def test_sound_part_of_a_broken_block_is_known() -> None:
    """What can be read of a broken block is kept, so that its names are checked in the same run."""
    root = parse_yaml("memory: { write: ops, read: [a, ../b], recentDays: x, zzz: 1 }\n", path="p").root
    assert root is not None
    assert salvage_declaration(find_node(root, "memory")) == Declaration(write="ops", read=("a",))
    assert salvage_declaration(None) is None
