"""What clients are told about each tool beside its description: title, hints, and the schemas of arguments and answers.

Rules: TOOL-10, TOOL-11, TOOL-15; interface.md, "Memory tools".
Source of the hints: https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mcp_types import Tool as Offer
from mcp_types import ToolAnnotations

from omnislash.core.verdicts import Outcome
from omnislash.surfaces.mcp import answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.runtime.tools.catalog import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a client is told about one tool."""

    title: str
    #: JSON schema of its answer.
    answer: Mapping[str, Any]
    hints: ToolAnnotations


def _looks() -> ToolAnnotations:
    """Return the hints of a tool that only looks, at nothing but this brain."""
    return ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def _changes(*, is_destructive: bool, is_idempotent: bool) -> ToolAnnotations:
    """Return the hints of a tool that changes this brain and nothing else."""
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=is_destructive,
        idempotent_hint=is_idempotent,
        open_world_hint=False,
    )


#: By the name of the tool.
SHAPES: Final[Mapping[str, Shape]] = {
    "memory_overview": Shape(title="Overview of memory", answer=answers.OVERVIEW, hints=_looks()),
    "memory_list": Shape(title="List memory files", answer=answers.LISTING, hints=_looks()),
    "memory_search": Shape(title="Search memory", answer=answers.SEARCH, hints=_looks()),
    "memory_read": Shape(title="Read a memory file", answer=answers.CONTENT, hints=_looks()),
    # The same text again is answered `duplicate` and writes nothing, with and without a requestId.
    "memory_write": Shape(
        title="Remember something",
        answer=answers.VERDICT,
        hints=_changes(is_destructive=False, is_idempotent=True),
    ),
    # The new text may hold the old one, and would be changed again.
    "memory_edit": Shape(
        title="Edit a memory file",
        answer=answers.VERDICT,
        hints=_changes(is_destructive=True, is_idempotent=False),
    ),
    "memory_write_file": Shape(
        title="Replace a memory file",
        answer=answers.VERDICT,
        hints=_changes(is_destructive=True, is_idempotent=True),
    ),
    "memory_move": Shape(
        title="Rename a memory file",
        answer=answers.VERDICT,
        hints=_changes(is_destructive=True, is_idempotent=True),
    ),
    # What is gone can't be deleted again.
    "memory_delete": Shape(
        title="Delete from memory",
        answer=answers.VERDICT,
        hints=_changes(is_destructive=True, is_idempotent=True),
    ),
    "audit_list": Shape(title="List who wrote", answer=answers.AUDIT, hints=_looks()),
    "doctor_report": Shape(title="Check the brain", answer=answers.REPORT, hints=_looks()),
    # The other agent may hold every capability, and its model may be anywhere.
    "agent_task": Shape(
        title="Hand a task to another agent",
        answer=answers.TASK,
        hints=ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True),
    ),
}

#: Outcomes that a client is shown as an error, so that an agent does not take the call for done.
FAULTS: Final = frozenset({Outcome.REFUSED.value, Outcome.FAILED.value})


@cache
def offer(tool: Tool) -> Offer:
    """Return a tool as a client is told of it."""
    shape = SHAPES[tool.name]
    return Offer(
        name=tool.name,
        title=shape.title,
        description=tool.description,
        input_schema=describe_arguments(tool),
        output_schema=dict(shape.answer),
        annotations=shape.hints,
    )


def describe_arguments(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments.

    It forbids no further argument: one that the tool does not know is dropped and is no error (TOOL-11).
    """
    found = tool.arguments.model_json_schema(by_alias=True)
    properties = {name: _simplify(each) for name, each in found.get("properties", {}).items()}
    required = {"required": found["required"]} if "required" in found else {}
    return {"type": "object", "properties": properties, **required}


def _simplify(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one argument without what says the same twice: a made-up title, and that it may be null."""
    kept = {key: value for key, value in given.items() if key not in {"title", "anyOf"}}
    if kept.get("default", 0) is None:
        del kept["default"]
    options = [each for each in given.get("anyOf", ()) if each.get("type") != "null"]
    return {**(options[0] if options else {}), **kept}
