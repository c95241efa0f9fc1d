"""The arguments of each tool: the one table from which decoding, JSON schemas and help are made.

Names are camelCase outside and snake_case inside.
An argument that no tool knows, such as `memoryScope`, is dropped and changes nothing (TOOL-11).

Rules: TOOL-10, TOOL-11; interface.md, "Memory tools".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from omnislash.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

A = TypeVar("A", bound="Arguments")

#: How much of a file one `memory_read` returns when the caller does not say, in UTF-16 units.
DEFAULT_READ_CHARS = 40_000
#: How many hits a search returns when the caller does not say, and at most.
DEFAULT_HITS, LARGEST_HITS = 8, 100
#: How a day is written.
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
#: How many rows or files one listing returns when the caller does not say, and at most.
DEFAULT_LIMIT, LARGEST_LIMIT = 50, 1000


def _to_whole(given: object) -> object:
    """Return `5` for `5.0`: JSON does not tell them apart, and some clients write every number with a point."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


#: A whole number.
Whole = Annotated[int, BeforeValidator(_to_whole)]


class Arguments(BaseModel):
    """The arguments of one tool."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True, frozen=True)


class OverviewArguments(Arguments):
    """Arguments of `memory_overview`: none."""


class ListArguments(Arguments):
    """Arguments of `memory_list`."""

    corpus: str | None = Field(None, description="Only this line or authored corpus.")
    prefix: str | None = Field(None, description="Only paths that begin like this, for example main/2026.")
    limit: Whole = Field(DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT, description="How many files at most.")
    cursor: str | None = Field(None, description="nextCursor of the answer before.")


class ReadArguments(Arguments):
    """Arguments of `memory_read`."""

    path: str = Field(description="Path as it stands in labels, hits and listings, for example main/MEMORY.md.")
    section: str | None = Field(None, description="Only the section under this ## heading.")
    offset: Whole = Field(0, ge=0, description="Where to start, in chars; nextOffset of the answer before.")
    max_chars: Whole = Field(DEFAULT_READ_CHARS, ge=1, description="How many chars at most.")


class SearchArguments(Arguments):
    """Arguments of `memory_search`."""

    query: str = Field(
        pattern=r"\S",
        description="What you look for: a question or a few words; a phrase in quotes is looked for as it is.",
    )
    corpora: list[str] | None = Field(None, description="Only these lines or authored corpora.")
    since: str | None = Field(None, pattern=_DAY, description="Only notes of this day or later, YYYY-MM-DD.")
    until: str | None = Field(None, pattern=_DAY, description="Only notes of this day or earlier, YYYY-MM-DD.")
    min_score: float | None = Field(
        None,
        ge=0,
        le=1,
        strict=False,
        description="Score from which a note is shown, 0 to 1; searchScore when left out.",
    )
    limit: Whole = Field(DEFAULT_HITS, ge=1, le=LARGEST_HITS, description="How many hits at most.")


class WriteArguments(Arguments):
    """Arguments of `memory_write`."""

    content: str = Field(description="What to remember: one fact, decision or event, in full sentences.")
    priority: bool | None = Field(None, description="true files it in MEMORY.md as well, false in the daily log only.")
    line: str | None = Field(None, description="A line that is open for deposits; leave out for your own.")
    request_id: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="The same id again answers the first verdict and writes nothing.",
    )


class EditArguments(Arguments):
    """Arguments of `memory_edit`."""

    path: str = Field(description="File of your own line.")
    old: str = Field(description="Text to replace: a whole entry, or a text that occurs once.")
    new: str = Field(description="Text that takes its place.")


class WriteFileArguments(Arguments):
    """Arguments of `memory_write_file`."""

    path: str = Field(description="File of your own line; it is made when it does not exist.")
    content: str = Field(description="The whole text of the file.")
    expect_hash: str | None = Field(
        None,
        pattern=r"^([0-9a-f]{64}|absent)$",
        description="hash of the memory_read that the text is based on, or absent; a changed file is refused.",
    )


class MoveArguments(Arguments):
    """Arguments of `memory_move`."""

    source: str = Field(alias="from", description="File of your own line.")
    target: str = Field(alias="to", description="Its new name in your own line; it must be free.")


class DeleteArguments(Arguments):
    """Arguments of `memory_delete`."""

    path: str = Field(description="File of your own line.")
    entry: str | None = Field(None, min_length=1, description="Only the entry that reads exactly like this.")
    section: str | None = Field(None, min_length=1, description="Only the section under this ## heading.")


class AuditArguments(Arguments):
    """Arguments of `audit_list`."""

    path: str | None = Field(None, min_length=1, max_length=1000, description="Only writes to this file.")
    line: str | None = Field(None, min_length=1, max_length=100, description="Only writes to this line.")
    limit: Whole = Field(DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT, description="How many rows at most, newest first.")
    cursor: str | None = Field(None, description="nextCursor of the answer before.")


class DoctorArguments(Arguments):
    """Arguments of `doctor_report`."""

    check: str | None = Field(
        None, min_length=1, max_length=100, description="Only this check, for example memory-budget."
    )


class TaskArguments(Arguments):
    """Arguments of `agent_task`."""

    role: str = Field(min_length=1, description="Id of the role that does it.")
    task: str = Field(
        pattern=r"\S", description="What to do, in full: the other agent sees nothing of this conversation."
    )


def parse_arguments(kind: type[A], arguments: Mapping[str, Any], *, tool: str) -> A:
    """Return the decoded arguments of a tool.

    Raises:
        UsageError: One is missing or has the wrong type; the sentence names it.
    """
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        raise UsageError(f"{tool}: {'; '.join(_explain(each) for each in error.errors())}.", key=tool) from error


#: What an argument with a pattern has to look like.
_EXPECTED = {
    "expectHash": "expected 64 hex digits, as memory_read gives them in hash, or absent",
    "query": "it has no words; say what you look for",
    "since": "expected a day as YYYY-MM-DD",
    "until": "expected a day as YYYY-MM-DD",
    "task": "it has no words; say what to do",
}


def _explain(problem: ErrorDetails) -> str:
    name = ".".join(str(part) for part in problem["loc"])
    text = problem["msg"]
    if problem["type"] == "string_pattern_mismatch":
        return f"{name}: {_EXPECTED[name]}"
    return (
        f"the argument {name} is missing" if problem["type"] == "missing" else f"{name}: {text[:1].lower()}{text[1:]}"
    )
