"""The JSON schemas of what the tools answer.

Each names what is always there and leaves room for more: fields may be added to an answer, and none is dropped.

Source: interface.md, "Memory tools", and `to_json` of each answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from omnislash.checks.findings import Severity, Status
from omnislash.core.lines import FileKind
from omnislash.core.verdicts import Outcome
from omnislash.recall.hits import Coverage

if TYPE_CHECKING:
    from collections.abc import Iterable

    Schema = dict[str, Any]


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _maybe_text(description: str) -> Schema:
    return {"type": ["string", "null"], "description": description}


def _count(description: str) -> Schema:
    return {"type": "integer", "minimum": 0, "description": description}


def _number(description: str) -> Schema:
    return {"type": "number", "description": description}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _one_of(values: Iterable[str], description: str) -> Schema:
    return {"type": "string", "enum": list(values), "description": description}


def _list(item: Schema, description: str) -> Schema:
    return {"type": "array", "items": item, "description": description}


def _object(required: Schema, **optional: Schema) -> Schema:
    """Return the schema of an object: what it always holds, and what it may hold."""
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


_KINDS = (*FileKind, "source")
_SPAN: Schema = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1},
    "minItems": 2,
    "maxItems": 2,
    "description": "First and last line, counted from 1.",
}
_LIMIT: Schema = {"type": ["integer", "null"], "description": "The longest length that fits; null when unbounded."}
_READING: Schema = {
    **_object(
        {
            "chars": _count("Length of the file."),
            "fileMaxChars": _LIMIT,
            "percent": {"type": ["integer", "null"], "description": "Share in use; null when unbounded."},
        }
    ),
    "description": "The reading of a MEMORY.md.",
}
_MAYBE_READING: Schema = {**_READING, "type": ["object", "null"]}

#: What every tool that changes memory answers.
VERDICT: Final = _object(
    {
        "outcome": _one_of(Outcome, "What became of it."),
        "paths": _texts("Files that now hold the content."),
        "message": _text("What happened and what to do next, in full sentences."),
    },
    budget=_READING,
    approval=_text("Id of the approval that a person has to grant first."),
    job=_text("Id of the write in the queue."),
)
#: Answer of `memory_overview`.
OVERVIEW: Final = _object(
    {
        "line": _text("Your own line."),
        "path": _text("Path of its MEMORY.md."),
        "reading": _maybe_text("The reading in words; null when there is no MEMORY.md yet."),
        "budget": _MAYBE_READING,
        "days": {
            **_object(
                {"count": _count("How many daily logs there are.")},
                first=_text("The first day."),
                last=_text("The last day."),
            ),
            "description": "The daily logs.",
        },
        "periods": {
            "type": "object",
            "additionalProperties": _texts("Periods, oldest first."),
            "description": "Summaries by level: week, month, quarter, year.",
        },
        "read": _texts("Corpora that you may read."),
        "recall": _texts("Corpora that are searched on every turn."),
        "report": _texts("Lines that are open for deposits."),
    }
)
#: Answer of `memory_list`.
LISTING: Final = _object(
    {
        "entries": _list(
            _object(
                {
                    "path": _text("Path as memory_read takes it."),
                    "kind": _one_of(_KINDS, "What the file is."),
                    "chars": _count("Length of the file."),
                    "modifiedAt": _text("When it was last changed, as an ISO instant."),
                }
            ),
            "Files in order of their path.",
        )
    },
    nextCursor=_text("Hand it in as cursor for the rest."),
)
#: Answer of `memory_read`.
CONTENT: Final = _object(
    {
        "path": _text("Path of the file."),
        "content": _text("The text, or the part that was asked for."),
        "chars": _count("Length of the whole file."),
        "modifiedAt": _text("When it was last changed, as an ISO instant."),
        "budget": _MAYBE_READING,
        "hash": _text("SHA-256 of the file, for expectHash."),
    },
    truncated={"type": "boolean", "description": "true when there is more."},
    nextOffset=_count("Where the next part starts."),
)
_HIT: Schema = _object(
    {
        "path": _text("Path as memory_read takes it."),
        "span": _SPAN,
        "corpus": _text("The line, or the source."),
        "kind": _one_of(_KINDS, "What the file is."),
        "score": _number("Relevance, 0 to 1."),
        "meaning": {
            "type": ["number", "null"],
            "description": "Likeness of meaning, 0 to 1; null when it was not measured.",
        },
        "words": _number("Share of the question's words that the note has, 0 to 1."),
        "rank": _number("What decided the order; no score."),
        "snippet": _text("The note as it stands in the file."),
    },
    date=_text("The day it belongs to."),
)
_LITERAL: Schema = _object(
    {
        "literal": _text("An identifier, number or quoted phrase of the question."),
        "path": _text("Path of the note that has it."),
        "span": _SPAN,
        "score": _number("The note's score."),
    }
)
#: Answer of `memory_search`.
SEARCH: Final = _object(
    {
        "hits": _list(_HIT, "Notes, best first."),
        "belowFloor": {
            **_object(
                {"count": _count("How many weaker notes there are.")},
                bestScore=_number("As minScore it would show the best of them."),
                literals=_list(_LITERAL, "Weaker notes that hold a rare literal of the question."),
            ),
            "description": "Weaker notes.",
        },
        "coverage": _one_of(Coverage, "How far the search could look."),
        "reasons": _texts("Why coverage is not full."),
    }
)
#: Answer of `audit_list`.
AUDIT: Final = _object(
    {
        "rows": _list(
            _object(
                {
                    "at": _text("When, as an ISO instant."),
                    "actor": _text("agent, person or engine."),
                    "role": _maybe_text("The role that acted."),
                    "tool": _text("The tool that was called."),
                    "paths": _texts("Files that it was about."),
                    "outcome": _one_of(Outcome, "What became of it."),
                    "chars": _count("Length of the text that was offered."),
                    "job": _maybe_text("Id of the write in the queue."),
                },
                heartbeat=_text("The heartbeat that ran it."),
            ),
            "Attempts, newest first.",
        )
    },
    nextCursor=_text("Hand it in as cursor for older rows."),
)
_FINDING: Schema = _object(
    {"severity": _one_of(Severity, "How bad it is."), "message": _text("What is wrong.")},
    path=_text("The file."),
    line=_count("The line in it, counted from 1."),
    key=_text("The setting."),
    hint=_text("What to do about it."),
)
#: Answer of `doctor_report`.
REPORT: Final = _object(
    {
        "status": _one_of(Status, "How the brain stands."),
        "checks": _list(
            _object(
                {
                    "id": _text("Name of the check."),
                    "title": _text("What it is about."),
                    "status": _one_of(Status, "What it came to."),
                    "findings": _list(_FINDING, "What it found."),
                },
                hidden=_count("Findings about files that you may not read."),
            ),
            "Every check that was made.",
        ),
    }
)
#: Answer of `agent_task`.
TASK: Final = _object(
    {
        "role": _text("The role that did it."),
        "line": _maybe_text("The line that it worked in; null without memory."),
        "text": _text("What it answered."),
        "calls": _list(
            _object(
                {"tool": _text("The tool."), "outcome": _text("What became of the call.")},
                paths=_texts("Files that it touched."),
            ),
            "The tools that it called.",
        ),
    },
    cancelled={"type": "boolean", "description": "true when it was ended before it was done."},
)
