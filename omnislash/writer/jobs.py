"""What the queue holds: one job for each write, with a request that says what to do.

Rules: WRITE-O3, WRITE-O5, WRITE-O9, PERIOD-21.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from omnislash.core.budgets import count_chars
from omnislash.core.lines import LineName, ManagedPath

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Add an entry to the line's daily log and, with priority, to its MEMORY.md."""

    #: The text, as it was offered.
    content: str
    #: True for MEMORY.md as well.
    priority: bool = False
    #: `role · heartbeat` of a deposit; None for a write into the own line.
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Replace a text that occurs once."""

    path: ManagedPath
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class WriteFileRequest:
    """Replace or create a whole file."""

    path: ManagedPath
    content: str
    #: SHA-256 of the bytes the content was made from, or `absent`; None when the caller does not care.
    expect_hash: str | None = None
    #: True when the content has the file's own byte order mark, line ends and end: every character is saved as it is.
    is_exact: bool = False
    #: SHA-256 of what a person agreed to have saved with dated sections dropped; None when nobody was asked.
    agreed: str | None = None


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """Give a file another name in its line."""

    source: ManagedPath
    target: ManagedPath


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """Remove a file, or one entry or one section of it."""

    path: ManagedPath
    entry: str | None = None
    section: str | None = None
    #: SHA-256 of the file when a person was asked; None when nobody was.
    expect_hash: str | None = None


@dataclass(frozen=True, slots=True)
class FileSummaryRequest:
    """Create the summary of a period, only where there is none (PERIOD-21); the engine asks for it, no agent can."""

    #: Path of a week, month, quarter or year.
    path: ManagedPath
    content: str
    #: The length that was asked for; None where none was.
    target_chars: int | None
    #: Managed paths of what it was made from, oldest first.
    sources: Sequence[str]


Request = WriteRequest | EditRequest | WriteFileRequest | MoveRequest | DeleteRequest | FileSummaryRequest

#: Tool name ↔ request; the tool name is what the queue and the audit log store.
REQUESTS: dict[str, type[Request]] = {
    "memory_write": WriteRequest,
    "memory_edit": EditRequest,
    "memory_write_file": WriteFileRequest,
    "memory_move": MoveRequest,
    "memory_delete": DeleteRequest,
    "consolidate": FileSummaryRequest,
}
_FIELDS = {request: tuple(each.name for each in fields(request)) for request in REQUESTS.values()}
_TOOLS = {request: tool for tool, request in REQUESTS.items()}


@dataclass(frozen=True, slots=True)
class Job:
    """One write in the queue."""

    #: Made by the caller, so that handing it in twice is harmless.
    id: str
    #: The line it works in.
    line: LineName
    #: What to do.
    request: Request
    #: Aware instant of the call; decides the day and the time of the entry.
    created_at: datetime
    #: Who asks: role, heartbeat or hook, and `agent`, `person` or `engine`.
    role: str | None = None
    heartbeat: str | None = None
    actor: str = "agent"
    #: Role and requestId: the same again answers the first verdict (WRITE-O9).
    request_key: str | None = None
    #: True after a crash in which this job may have taken effect already.
    resumed: bool = False

    @property
    def tool(self) -> str:
        """The name of the tool that makes such a job."""
        return _TOOLS[type(self.request)]

    @property
    def offered_chars(self) -> int:
        """Size of the text that was offered, in UTF-16 units; 0 where there is none."""
        request = self.request
        if isinstance(request, WriteRequest | WriteFileRequest | FileSummaryRequest):
            return count_chars(request.content)
        return count_chars(request.new) if isinstance(request, EditRequest) else 0

    def to_row(self) -> dict[str, Any]:
        """Return the parameters of the query `insert_job`."""
        return {
            "id": self.id,
            "request": self.request_key,
            "line": self.line,
            "tool": self.tool,
            "role": self.role,
            "heartbeat": self.heartbeat,
            "actor": self.actor,
            "payload": json.dumps({name: getattr(self.request, name) for name in _FIELDS[type(self.request)]}),
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def from_row(cls, row: sqlite3.Row | dict[str, Any]) -> Self:
        """Return the job of a row that is not done yet."""
        return cls(
            id=row["id"],
            line=LineName(row["line"]),
            request=REQUESTS[row["tool"]](**json.loads(row["payload"])),
            created_at=datetime.fromisoformat(row["created_at"]),
            role=row["role"],
            heartbeat=row["heartbeat"],
            actor=row["actor"],
            request_key=row["request"],
            resumed=bool(dict(row).get("resumed", 0)),
        )
