"""Deletions that wait for a person: asked for by an agent, granted or refused by a person.

An approval holds what was asked and the hash of that file or section at that time; granting it deletes only what was asked for,
and only while the file is still the one that the question was about.

Rules: TOOL-04, TOOL-16.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omnislash.core.lines import LineName, parse_managed_path
from omnislash.errors import UsageError
from omnislash.writer.jobs import DeleteRequest, Job
from omnislash.writer.recording import APPROVAL_KEY

if TYPE_CHECKING:
    import sqlite3

    from omnislash.core.verdicts import Verdict
    from omnislash.runtime.turns import Ports, Turn


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a person."""

    id: str
    #: ISO instant of the question.
    at: str
    role: str | None
    heartbeat: str | None
    line: str
    #: `{path, entry?, section?}` of the deletion.
    arguments: dict[str, Any]
    #: SHA-256 of the file or section when it was asked.
    hash: str
    #: `open`, `approved`, `refused`, or `outdated`: what it was about had changed when it was granted.
    state: str

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Approval:
        """Return the approval of a row of the state database."""
        return cls(
            id=row["id"],
            at=row["at"],
            role=row["role"],
            heartbeat=row["heartbeat"],
            line=row["line"],
            arguments=json.loads(row["arguments"]),
            hash=row["hash"],
            state=row["state"],
        )

    @property
    def what(self) -> str:
        """What would be deleted, for a person."""
        path = self.arguments["path"]
        if entry := self.arguments.get("entry"):
            return f"the entry {entry[:80]!r} of {path}"
        if section := self.arguments.get("section"):
            return f"the section {section!r} of {path}"
        return f"the file {path}"

    def to_json(self) -> dict[str, Any]:
        """Return `{id, at, role, heartbeat, line, tool, arguments, state}`."""
        return {
            "id": self.id,
            "at": self.at,
            "role": self.role,
            "heartbeat": self.heartbeat,
            "line": self.line,
            "tool": "memory_delete",
            "arguments": self.arguments,
            "state": self.state,
        }


def ask_for_approval(turn: Turn, ports: Ports, *, line: LineName, request: DeleteRequest, file_hash: str) -> Approval:
    """Note the question and return it; the same open question is not asked twice."""
    arguments = {"path": request.path, "entry": request.entry, "section": request.section}
    text = json.dumps({key: value for key, value in arguments.items() if value is not None}, ensure_ascii=False)
    state = ports.state()
    asked = {"role": turn.scope.role, "heartbeat": turn.scope.heartbeat, "arguments": text, "hash": file_hash}
    with state.transaction():
        row = state.row("find_same_approval", **asked)
        if row is None:
            new_id = ports.new_approval_id()
            at = ports.clock.now().isoformat()
            state.run("insert_approval", id=new_id, at=at, line=line, tool="memory_delete", **asked)
            row = state.row("find_approval", id=new_id)
    return Approval.from_row(row)  # type: ignore[arg-type]  # it was inserted in this transaction


def list_approvals(ports: Ports, *, state: str | None = "open") -> list[Approval]:
    """Return the questions in a state, oldest first; all of them for None."""
    return [Approval.from_row(row) for row in ports.state().rows("list_approvals", state=state)]


def find_approval(ports: Ports, approval_id: str) -> Approval:
    """Return a question that is still open.

    Raises:
        UsageError: There is no such question, or it is decided already.
    """
    known = approval_id.isascii() and approval_id.isalnum()
    row = ports.state().row("find_approval", id=approval_id) if known else None
    if row is None:
        message = f"There is no approval {approval_id!r}; `omnislash approvals list` shows the open ones."
        raise UsageError(message)
    approval = Approval.from_row(row)
    if approval.state != "open":
        message = f"Approval {approval_id!r} was {approval.state} already; nothing was changed."
        raise UsageError(message)
    return approval


def approve(ports: Ports, approval_id: str) -> Verdict:
    """Grant a deletion and return its verdict; after a failure of the machine the question is open again.

    Raises:
        UsageError: As :func:`find_approval`.
    """
    approval = find_approval(ports, approval_id)
    request = DeleteRequest(
        path=parse_managed_path(approval.arguments["path"]),
        entry=approval.arguments.get("entry"),
        section=approval.arguments.get("section"),
        expect_hash=None if "entry" in approval.arguments else approval.hash,
    )
    job_id = ports.new_job_id()
    job = Job(
        id=job_id,
        line=LineName(approval.line),
        request=request,
        created_at=ports.clock.now(),
        role=approval.role,
        heartbeat=approval.heartbeat,
        actor="person",
        request_key=f"{APPROVAL_KEY}{approval.id}:{job_id}",
    )
    _decide(ports, approval, "approved", job=job)
    return ports.writer.submit(job)


def refuse(ports: Ports, approval_id: str) -> Approval:
    """Turn a deletion down and return the question as it now stands: refused.

    Raises:
        UsageError: As :func:`find_approval`.
    """
    approval = find_approval(ports, approval_id)
    _decide(ports, approval, "refused")
    return replace(approval, state="refused")


def _decide(ports: Ports, approval: Approval, state: str, *, job: Job | None = None) -> None:
    """Note the decision and, in the same transaction, queue what was granted: neither is ever there alone."""
    database = ports.state()
    at = ports.clock.now().isoformat()
    with database.transaction():
        changed = database.run("decide_approval", id=approval.id, state=state, at=at)
        if changed and job is not None:
            database.run("insert_job", **job.to_row())
    if not changed:
        message = f"Approval {approval.id!r} was decided by somebody else meanwhile; nothing was changed."
        raise UsageError(message)
