"""What happened to memory, as values that hooks, logs and the dashboard can follow.

Numbers are UTF-16 code units, as everywhere (BUDGET-19).

Rules: EVENT-01 to EVENT-06, EVENT-O1 to EVENT-O4, BUDGET-11.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

from omnislash.core.targets import is_over_target

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A managed file has been changed on disk; the base of the three memory events."""

    name: ClassVar[str]

    #: Managed path with its line, for example `main/MEMORY.md`.
    file: str
    #: The line.
    scope: str
    #: Size of the file afterwards; 0 after a delete.
    chars: int
    #: Role that asked for it; None for a person.
    role: str | None
    #: Heartbeat or hook that ran the role.
    heartbeat_id: str | None

    def to_json(self) -> dict[str, Any]:
        """Return `{file, scope, chars, role, heartbeatId}`."""
        return {
            "file": self.file,
            "scope": self.scope,
            "chars": self.chars,
            "role": self.role,
            "heartbeatId": self.heartbeat_id,
        }


@dataclass(frozen=True, slots=True)
class MemoryWritten(FileChanged):
    """A write has landed (EVENT-01)."""

    name: ClassVar[str] = "memory:written"


@dataclass(frozen=True, slots=True)
class MemoryEdited(FileChanged):
    """An edit has landed (EVENT-02)."""

    name: ClassVar[str] = "memory:edited"


@dataclass(frozen=True, slots=True)
class MemoryDeleted(FileChanged):
    """A deletion has landed (EVENT-03)."""

    name: ClassVar[str] = "memory:deleted"


@dataclass(frozen=True, slots=True)
class MemoryCompacted:
    """Dated sections were dropped to keep a budget (EVENT-04, EVENT-O2)."""

    name: ClassVar[str] = "memory:compacted"

    #: Managed path of the MEMORY.md.
    file: str
    #: The line.
    scope: str
    #: Dates of the dropped sections, in the order in which they went.
    dates: tuple[date, ...]
    #: Size on disk before the write.
    chars_before: int
    #: Size afterwards.
    chars_after: int
    #: The line's budget.
    budget: int

    def to_json(self) -> dict[str, Any]:
        """Return `{file, scope, dates, charsBefore, charsAfter, budget}`."""
        return {
            "file": self.file,
            "scope": self.scope,
            "dates": [on.isoformat() for on in self.dates],
            "charsBefore": self.chars_before,
            "charsAfter": self.chars_after,
            "budget": self.budget,
        }


@dataclass(frozen=True, slots=True)
class BudgetRefused:
    """A MEMORY.md would not have fitted, and stays as it is (EVENT-05, BUDGET-O4)."""

    name: ClassVar[str] = "memory:budget-refused"

    #: Managed path of the MEMORY.md.
    file: str
    #: The line.
    scope: str
    #: The size the file would have had after the drops.
    chars: int
    #: The line's budget.
    budget: int

    def to_json(self) -> dict[str, Any]:
        """Return `{file, scope, chars, budget}`."""
        return {"file": self.file, "scope": self.scope, "chars": self.chars, "budget": self.budget}


@dataclass(frozen=True, slots=True)
class MemoryConsolidated:
    """The summary of a closed period was filed (EVENT-06, EVENT-O3)."""

    name: ClassVar[str] = "memory:consolidated"

    #: Managed path of the summary.
    file: str
    #: The line.
    scope: str
    #: `week`, `month`, `quarter` or `year`.
    level: str
    #: Name of the period, for example `2026-W34`.
    period: str
    #: Size of the summary.
    chars: int
    #: The length that was asked for; None where none was.
    target_chars: int | None
    #: Managed paths of what it was made from, oldest first.
    sources: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{file, scope, level, period, chars, targetChars, overTarget, sources}`."""
        return {
            "file": self.file,
            "scope": self.scope,
            "level": self.level,
            "period": self.period,
            "chars": self.chars,
            "targetChars": self.target_chars,
            "overTarget": is_over_target(self.chars, self.target_chars),
            "sources": list(self.sources),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFlushed:
    """A flush has ended (EVENT-07, FLUSH-11); whether its writes landed, the memory events tell (FLUSH-14)."""

    name: ClassVar[str] = "agent:memory_flushed"

    #: `saved`, `nothing_saved` or `failed`.
    outcome: str
    #: The line that it wrote into.
    scope: str
    #: Role whose turn was reviewed.
    role: str
    #: Heartbeat or hook that ran the role.
    heartbeat_id: str | None
    #: Session of the turn; None for a transcript that names none.
    session: str | None
    #: How many writes the curator asked for.
    writes: int

    def to_json(self) -> dict[str, Any]:
        """Return `{outcome, scope, role, heartbeatId, session, writes}`."""
        return {
            "outcome": self.outcome,
            "scope": self.scope,
            "role": self.role,
            "heartbeatId": self.heartbeat_id,
            "session": self.session,
            "writes": self.writes,
        }


MemoryEvent = FileChanged | MemoryCompacted | BudgetRefused | MemoryConsolidated
#: Everything that can be heard of.
Event = MemoryEvent | MemoryFlushed

#: Names of all of them, in the order of the rules; a hook can run on these.
EVENT_NAMES = tuple(
    kind.name
    for kind in (
        MemoryWritten,
        MemoryEdited,
        MemoryDeleted,
        MemoryCompacted,
        BudgetRefused,
        MemoryConsolidated,
        MemoryFlushed,
    )
)

_FILE_EVENTS = {kind.name: kind for kind in (MemoryWritten, MemoryEdited, MemoryDeleted)}


def parse_event(name: str, payload: Mapping[str, Any]) -> MemoryEvent:
    """Return the event that `to_json` wrote; KeyError for a name that is none of ours."""
    where: dict[str, Any] = {"file": payload["file"], "scope": payload["scope"]}
    if name == MemoryCompacted.name:
        dates = tuple(date.fromisoformat(on) for on in payload["dates"])
        before, after = payload["charsBefore"], payload["charsAfter"]
        return MemoryCompacted(**where, dates=dates, chars_before=before, chars_after=after, budget=payload["budget"])
    if name == BudgetRefused.name:
        return BudgetRefused(**where, chars=payload["chars"], budget=payload["budget"])
    if name == MemoryConsolidated.name:
        which = {key: payload[key] for key in ("level", "period", "chars")}
        target, sources = payload["targetChars"], tuple(payload["sources"])
        return MemoryConsolidated(**where, **which, target_chars=target, sources=sources)
    kind = _FILE_EVENTS[name]
    return kind(**where, chars=payload["chars"], role=payload["role"], heartbeat_id=payload["heartbeatId"])
