"""What became of a write: the outcome, where the content now is, and a sentence an agent can act on.

The sentences live here and nowhere else, so that every door says the same thing.

Rules: WRITE-03 to WRITE-09, WRITE-13, WRITE-O1, BUDGET-07, BUDGET-11, BUDGET-21, BOUNDARY-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from omnislash.core.budgets import Chars, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

#: BOUNDARY-08: the exact answer of every mutator in a replay.
READ_ONLY_MESSAGE = "memory is read-only for this turn; nothing was written; do not retry"

#: WRITE-02: how long a caller waits for the writer, in seconds.
WAIT_LIMIT_S = 90.0


class Outcome(StrEnum):
    """The closed set of what can become of a write (WRITE-O1)."""

    WRITTEN = "written"
    DUPLICATE = "duplicate"
    PARTIAL = "partial"
    REFUSED = "refused"
    FAILED = "failed"
    QUEUED = "queued"
    UNCONFIRMED = "unconfirmed"
    READ_ONLY = "read-only"
    APPROVAL_REQUIRED = "approval-required"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The writer's answer to one job."""

    #: What became of it.
    outcome: Outcome
    #: Managed paths that now hold the content; empty where nothing is known to have been written.
    paths: tuple[str, ...]
    #: A full sentence that says what happened and, where it helps, what to do next.
    message: str
    #: The reading of the MEMORY.md that was touched or that refused (BUDGET-21).
    budget: Reading | None = None
    #: Id of the approval that a person has to grant first.
    approval: str | None = None
    #: Id of the job in the queue; None when nothing was queued.
    job: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{outcome, paths, message, budget?, approval?, job?}`."""
        extras = {
            "budget": self.budget.to_json() if self.budget else None,
            "approval": self.approval,
            "job": self.job,
        }
        return {
            "outcome": self.outcome.value,
            "paths": list(self.paths),
            "message": self.message,
            **{key: value for key, value in extras.items() if value is not None},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the verdict that :meth:`to_json` wrote."""
        return cls(
            outcome=Outcome(data["outcome"]),
            paths=tuple(data["paths"]),
            message=data["message"],
            budget=_reading(data.get("budget")),
            approval=data.get("approval"),
            job=data.get("job"),
        )


def _reading(data: Mapping[str, Any] | None) -> Reading | None:
    if data is None:
        return None
    limit = data["fileMaxChars"]
    return Reading(chars=Chars(data["chars"]), limit=None if limit is None else Chars(limit))


def refused(message: str, *, budget: Reading | None = None, paths: tuple[str, ...] = ()) -> Verdict:
    """Return a refusal: a rule said no and nothing was written."""
    return Verdict(Outcome.REFUSED, paths, message, budget)


def failed(message: str) -> Verdict:
    """Return a failure: the machine said no and every file is as it was."""
    return Verdict(Outcome.FAILED, (), message)


def read_only() -> Verdict:
    """Return the answer of a replay (BOUNDARY-08)."""
    return Verdict(Outcome.READ_ONLY, (), READ_ONLY_MESSAGE)


def queued(job: str, *, silent: bool = False) -> Verdict:
    """Return the answer when nothing consumes the queue: no worker runs, or it is silent (WRITE-07, WRITE-08)."""
    reason = "the worker does not answer" if silent else "no worker is running"
    message = (
        f"Queued: {reason}, so the memory is not yet updated. "
        "The write is kept and runs when a worker serves the brain again (omnislash worker)."
    )
    return Verdict(Outcome.QUEUED, (), message, job=job)


def queued_behind(job: str) -> Verdict:
    """Return the answer to whoever writes while being told of a write: the writer waits for that call to return."""
    message = "Queued: the writer is still telling of a write, so the memory is not yet updated. This write comes next."
    return Verdict(Outcome.QUEUED, (), message, job=job)


def unconfirmed(job: str, *, reason: str) -> Verdict:
    """Return the answer when the writer's verdict did not arrive (WRITE-04 to WRITE-06)."""
    message = (
        f"UNCONFIRMED: {reason}. The write is durable and may still land; "
        "re-read with memory_read before you decide, and do not retry blindly."
    )
    return Verdict(Outcome.UNCONFIRMED, (), message, job=job)


def approval_required(approval: str, *, what: str) -> Verdict:
    """Return the answer when a person has to say yes first (TOOL-16)."""
    message = (
        f"{what} needs a person's approval; nothing was changed. "
        f"A person can grant it with: omnislash approvals approve {approval}"
    )
    return Verdict(Outcome.APPROVAL_REQUIRED, (), message, approval=approval)


def duplicate_message(paths: Iterable[str]) -> str:
    """Return the sentence for content that adds nothing new (WRITE-14)."""
    return f"Already there, nothing written: the same entry stands in {join_paths(paths)}."


def written_message(paths: Iterable[str], *, verb: str = "Written to") -> str:
    """Return the sentence for content that landed."""
    return f"{verb} {join_paths(paths)}."


def reading_message(reading: Reading) -> str:
    """Return the reading as a sentence of its own (BUDGET-21)."""
    return f"MEMORY.md is now {reading.render()}."


def dropped_message(dates: Iterable[date]) -> str:
    """Return the note that names the dropped dated sections (BUDGET-07)."""
    listed = ", ".join(on.isoformat() for on in dates)
    return f"To keep the budget, the oldest dated sections were dropped: {listed}."


def over_budget_message(path: str, *, chars: int, budget: int, is_priority: bool = False) -> str:
    """Return the refusal that names the numbers (BUDGET-11).

    Args:
        path: The MEMORY.md.
        chars: How long it would be.
        budget: How long it may be.
        is_priority: True for an entry, which can be written to the daily log alone.
    """
    way_out = ", or write without priority" if is_priority else ""
    return (
        f"{path} was not changed: it would be {chars} chars, {chars - budget} over its fileMaxChars of {budget}, "
        f"and no dated section is left to drop. Shorten curated sections first{way_out}."
    )


def join_paths(paths: Iterable[str]) -> str:
    """Return the paths as a person would list them: `a`, `a and b`, `a, b and c`."""
    names = list(paths)
    if len(names) <= 1:
        return names[0] if names else "no file"
    return f"{', '.join(names[:-1])} and {names[-1]}"
