"""Deletions that wait, with the very text that would go: what a person has to see before saying yes.

The text is found by the writer's own plan of the deletion, made on the file as it is now, so that what is shown is what a
yes takes away.

Rules: TOOL-04, TOOL-16, SECRET-O2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.budgets import clip_chars, count_chars
from omnislash.core.credentials import mask_secrets
from omnislash.core.lines import LineName, parse_managed_path
from omnislash.errors import OmnislashError
from omnislash.runtime.approvals import Approval
from omnislash.runtime.settings import writer_settings
from omnislash.writer.jobs import DeleteRequest, Job
from omnislash.writer.planning_files import hash_part, plan_delete

if TYPE_CHECKING:
    import sqlite3

    from omnislash.runtime.turns import Ports

#: How many questions are shown with their text, and how many decided ones are listed.
OPEN_MAX: Final = 50
DECIDED_MAX: Final = 20
#: How much of a text is shown, in UTF-16 units; the file itself is one click away.
TEXT_MAX: Final = 20_000


class Standing(StrEnum):
    """How what was asked about stands now."""

    #: As it was when the agent asked.
    SAME = "same"
    #: The file is another one now; the entry that was asked about stands in it all the same.
    FILE_CHANGED = "file-changed"
    #: What was asked about is another text now: a yes deletes nothing.
    CHANGED = "changed"
    #: It is not there any more, or can't be told from another one, or can't be read: a yes deletes nothing.
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApproval:
    """A question with what it is about."""

    approval: Approval
    standing: Standing
    #: What would go, as it stands in the file now, credentials masked; '' when nothing would.
    text: str
    #: Its length, in UTF-16 units.
    chars: int
    #: Why nothing would go, as a sentence; '' when something would.
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the question with `{what, standing, text, chars, truncated, trouble}`."""
        return {
            **_describe(self.approval),
            "standing": self.standing.value,
            "text": self.text,
            "chars": self.chars,
            "truncated": self.chars > count_chars(self.text),
            "trouble": mask_secrets(self.trouble),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedApproval:
    """A question that was answered."""

    approval: Approval
    #: ISO instant of the answer.
    decided_at: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the question with `{what, decidedAt}`."""
        return {**_describe(self.approval), "decidedAt": self.decided_at}


def _describe(approval: Approval) -> dict[str, Any]:
    """Return a question and what it is about, no credential whole (SECRET-O2)."""
    arguments = {key: mask_secrets(value) for key, value in approval.arguments.items()}
    masked = replace(approval, arguments=arguments)
    return {**masked.to_json(), "what": masked.what}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalBoard:
    """What waits for a person, and what was decided lately."""

    #: The oldest first.
    waiting: tuple[OpenApproval, ...]
    #: How many wait in all.
    total: int
    #: The newest first.
    decided: tuple[DecidedApproval, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{open, total, decided}`."""
        return {
            "open": [each.to_json() for each in self.waiting],
            "total": self.total,
            "decided": [each.to_json() for each in self.decided],
        }


def list_board(ports: Ports) -> ApprovalBoard:
    """Return the questions to a person with what each is about; nothing is changed.

    Raises:
        WriterUnavailableError: The state database can't be read.
    """
    state = ports.state()
    rows = state.rows("list_approvals", state="open")
    return ApprovalBoard(
        waiting=tuple(_view(ports, Approval.from_row(row)) for row in rows[:OPEN_MAX]),
        total=len(rows),
        decided=tuple(map(_decided, state.rows("list_decided_approvals", limit=DECIDED_MAX))),
    )


def _decided(row: sqlite3.Row) -> DecidedApproval:
    return DecidedApproval(approval=Approval.from_row(row), decided_at=row["decided_at"])


def _view(ports: Ports, approval: Approval) -> OpenApproval:
    try:
        return _compare(ports, approval)
    except OmnislashError as error:
        return OpenApproval(approval=approval, standing=Standing.GONE, text="", chars=0, trouble=error.message)


def _compare(ports: Ports, approval: Approval) -> OpenApproval:
    asked = approval.arguments
    path = parse_managed_path(asked["path"])
    request = DeleteRequest(path, asked.get("entry"), asked.get("section"))
    job = Job(approval.id, LineName(approval.line), request, ports.clock.now())
    data = ports.files.read(path)
    plan = plan_delete(job, request, ports.files, writer_settings(ports.config()))
    if data is None or not plan.changes:
        return OpenApproval(approval=approval, standing=Standing.GONE, text="", chars=0, trouble=plan.verdict.message)
    is_same = hash_part(data, request.section) == approval.hash
    if is_same:
        standing, trouble = Standing.SAME, ""
    elif request.entry is not None:
        standing, trouble = Standing.FILE_CHANGED, ""
    else:
        standing = Standing.CHANGED
        trouble = (
            "It has changed since the deletion was asked for, so a yes deletes nothing: the agent has to ask anew."
        )
    gone = mask_secrets(_subtract(data, plan.changes[0].after))
    return OpenApproval(
        approval=approval,
        standing=standing,
        text=clip_chars(gone, TEXT_MAX),
        chars=count_chars(gone),
        trouble=trouble,
    )


def _subtract(before: bytes, after: bytes | None) -> str:
    """Return the lines that a deletion takes out of a text; bytes that are no UTF-8 show as U+FFFD."""
    lines = before.splitlines(keepends=True)
    kept = (after or b"").splitlines(keepends=True)
    first = next((n for n, (one, other) in enumerate(zip(lines, kept, strict=False)) if one != other), len(kept))
    first = min(first, len(lines))
    last = len(lines) - (len(kept) - first)
    return b"".join(lines[first:last]).decode("utf-8", "replace")
