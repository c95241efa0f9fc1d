"""The tool `audit_list`: who wrote what, and what became of it.

Rules: WRITE-11, WRITE-O7; interface.md, `audit_list`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core.corpora import Located, Zone
from omnislash.errors import ScopeError, UsageError
from omnislash.runtime.tools.reading import own_line

if TYPE_CHECKING:
    import sqlite3

    from omnislash.runtime.tools.arguments import AuditArguments
    from omnislash.runtime.turns import Ports, Turn


#: Row numbers of the state database have at most so many digits.
_CURSOR_DIGITS = 18


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One attempt to change memory."""

    #: ISO instant of the verdict.
    at: str
    #: `agent`, `person` or `engine`.
    actor: str
    role: str | None
    heartbeat: str | None
    tool: str
    #: Managed paths.
    paths: tuple[str, ...]
    outcome: str
    #: Size of the offered text, in UTF-16 units.
    chars: int
    #: Id of the job; None when nothing was queued.
    job: str | None

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> AuditRow:
        """Return the row of the state database as a value."""
        return cls(
            at=row["at"],
            actor=row["actor"],
            role=row["role"],
            heartbeat=row["heartbeat"],
            tool=row["tool"],
            paths=tuple(json.loads(row["paths"])),
            outcome=row["outcome"],
            chars=row["chars"],
            job=row["job"],
        )

    def to_json(self) -> dict[str, Any]:
        """Return `{at, actor, role, heartbeat?, tool, paths, outcome, chars, job}`."""
        beat = {} if self.heartbeat is None else {"heartbeat": self.heartbeat}
        return {
            "at": self.at,
            "actor": self.actor,
            "role": self.role,
            **beat,
            "tool": self.tool,
            "paths": list(self.paths),
            "outcome": self.outcome,
            "chars": self.chars,
            "job": self.job,
        }


@dataclass(frozen=True, slots=True)
class AuditPage:
    """What `audit_list` answers, newest first."""

    rows: tuple[AuditRow, ...]
    #: Hand it in as `cursor` for older rows; None when there are none.
    next_cursor: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{rows, nextCursor?}`."""
        more = {} if self.next_cursor is None else {"nextCursor": self.next_cursor}
        return {"rows": [row.to_json() for row in self.rows], **more}


def list_audit(ports: Ports, arguments: AuditArguments, *, turn: Turn | None = None) -> AuditPage:
    """Return rows of the action log, newest first.

    Args:
        ports: The brain.
        arguments: What to look for.
        turn: Whose view it is: an agent sees the lines it may read. None = a person, who sees everything.

    Raises:
        ScopeError: The agent may not read that line.
        UsageError: The cursor is none of ours.
    """
    before = _parse_cursor(arguments.cursor)
    if turn is not None:
        own_line(turn)
        _check_line(turn, arguments.line)
    found: list[sqlite3.Row] = []
    while len(found) <= arguments.limit:
        rows = ports.state().rows(
            "list_audit" if arguments.line is None else "list_line_audit",
            before=before,
            line=arguments.line,
            path=arguments.path,
            limit=arguments.limit + 1,
        )
        found += [row for row in rows if turn is None or _may_see(turn, row["line"])]
        if len(rows) <= arguments.limit:
            break
        before = rows[-1]["id"]
    page = found[: arguments.limit]
    more = str(page[-1]["id"]) if len(found) > len(page) else None
    return AuditPage(tuple(AuditRow.from_row(row) for row in page), more)


def _parse_cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _CURSOR_DIGITS):
        message = f"The cursor {cursor[:40]!r} is none that audit_list gave; leave it out to start from the newest row."
        raise UsageError(message)
    return int(cursor)


def _may_see(turn: Turn, line: str | None) -> bool:
    return line is not None and turn.scope.may_read(Located(Zone.MANAGED, f"{line}/MEMORY.md"))


def _check_line(turn: Turn, line: str | None) -> None:
    if line is not None and not _may_see(turn, line):
        message = f"The line {line!r} is outside what this agent may read."
        raise ScopeError(message)
