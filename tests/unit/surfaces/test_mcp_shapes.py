"""What a client of the MCP server is told about each tool, and how addresses of files are written."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp_types import ToolAnnotations

from omnislash.errors import InvalidNameError, UsageError
from omnislash.runtime.tools.arguments import parse_arguments
from omnislash.runtime.tools.catalog import TOOLS, Tool
from omnislash.surfaces.mcp.resources import path_of, uri_of
from omnislash.surfaces.mcp.shapes import SHAPES, describe_arguments, offer

#: Words that would name scope, which no argument does.
SCOPE_WORDS = {"memoryScope", "scope", "role", "heartbeat", "agent", "session", "actor", "replay"}


def test_every_tool_has_a_shape() -> None:
    """The table knows exactly the tools of the catalog."""
    assert set(SHAPES) == set(TOOLS)


@pytest.mark.rule("TOOL-15")
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_offers_are_complete(tool: Tool) -> None:
    """An offer has name, title, the catalog's description and sound schemas of objects in both directions."""
    made = offer(tool)

    assert (made.name, made.description) == (tool.name, tool.description)
    assert made.title
    assert made.output_schema is not None
    for schema in (made.input_schema, made.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_argument_is_explained(tool: Tool) -> None:
    """Each argument has one type and a full sentence, in camelCase, and nothing that only repeats its name."""
    schema = describe_arguments(tool)

    assert set(schema) <= {"type", "properties", "required"}
    for name, each in schema["properties"].items():
        assert "_" not in name
        assert each["type"] in {"string", "integer", "number", "boolean", "array"}
        assert each["description"].endswith(".")
        assert not {"title", "anyOf"} & set(each)
        assert each.get("default", 0) is not None


@pytest.mark.rule("TOOL-10", "TOOL-11")
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_no_argument_names_scope(tool: Tool) -> None:
    """No schema has an argument for scope, and each takes a stray `memoryScope` without an error."""
    schema = describe_arguments(tool)
    sample: dict[str, Any] = {
        name: {"string": "2026-08-30", "integer": 1, "array": []}[schema["properties"][name]["type"]]
        for name in schema.get("required", ())
    }

    assert not SCOPE_WORDS & set(schema["properties"]) - ({"role"} if tool.name == "agent_task" else set())
    Draft202012Validator(schema).validate(sample | {"memoryScope": {"write": "hr"}})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # read-only, destructive, idempotent, open world; what each tool does is said in interface.md.
        ("memory_overview", (True, False, True, False)),
        ("memory_list", (True, False, True, False)),
        ("memory_search", (True, False, True, False)),
        ("memory_read", (True, False, True, False)),
        ("memory_write", (False, False, True, False)),
        ("memory_edit", (False, True, False, False)),
        ("memory_write_file", (False, True, True, False)),
        ("memory_move", (False, True, True, False)),
        ("memory_delete", (False, True, True, False)),
        ("audit_list", (True, False, True, False)),
        ("doctor_report", (True, False, True, False)),
        ("agent_task", (False, True, False, True)),
    ],
)
def test_hints_are_right(name: str, expected: tuple[bool, bool, bool, bool]) -> None:
    """A tool that looks says so, one that replaces or removes says so, and only a sub-agent reaches further."""
    hints = offer(TOOLS[name]).annotations

    assert hints is not None
    assert hints == ToolAnnotations(
        read_only_hint=expected[0],
        destructive_hint=expected[1],
        idempotent_hint=expected[2],
        open_world_hint=expected[3],
    )
    assert hints.read_only_hint is (not TOOLS[name].mutates and name != "agent_task")


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("main/MEMORY.md", "omnislash:///main/MEMORY.md"),
        ("main/a note.md", "omnislash:///main/a%20note.md"),
        ("people/Łódź.md", "omnislash:///people/%C5%81%C3%B3d%C5%BA.md"),
        ("main/100%.md", "omnislash:///main/100%25.md"),
        ("notes/what now?#1.md", "omnislash:///notes/what%20now%3F%231.md"),
    ],
)
def test_addresses_go_both_ways(path: str, uri: str) -> None:
    """An address is the percent-encoded path, and leads back to it."""
    assert uri_of(path) == uri
    assert path_of(uri) == path


@pytest.mark.parametrize(
    "uri",
    ["", "omnislash:///", "omnislash://main/MEMORY.md", "file:///etc/passwd", "omnislash:///a?b", "omnislash:///%ff"],
)
def test_other_addresses_are_none_of_ours(uri: str) -> None:
    """An address of another kind, or one that is no text, is refused in a sentence."""
    with pytest.raises(InvalidNameError, match="is no address of a memory file"):
        path_of(uri)


@pytest.mark.parametrize(
    ("given", "is_taken"), [(5, True), (5.0, True), (5.5, False), ("5", False), (True, False), (1e400, False)]
)
def test_a_whole_number_is_one_however_it_is_written(given: object, *, is_taken: bool) -> None:
    """A number with nothing behind its point is whole, as JSON schema has it; nothing else is taken for one."""
    tool = TOOLS["memory_list"]
    try:
        taken = parse_arguments(tool.arguments, {"limit": given}, tool=tool.name).model_dump()["limit"]
    except UsageError:
        taken = None

    assert taken == (5 if is_taken else None)
    assert Draft202012Validator(describe_arguments(tool)).is_valid({"limit": given}) is is_taken
