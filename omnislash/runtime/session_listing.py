"""The sessions of a brain, for a person who wants to go on with one.

Rules: ENVELOPE-O7; interface.md, "Command line" (`chat`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.errors import UsageError
from omnislash.runtime.loop.conversations import mend_text

if TYPE_CHECKING:
    import sqlite3

    from omnislash.runtime.turns import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """One conversation."""

    id: str
    role: str
    #: ISO instants.
    started_at: str
    used_at: str
    #: Turns that omnislash ran a model in, those that are kept no more included; 0 for a session of a harness.
    turns: int

    def to_json(self) -> dict[str, Any]:
        """Return `{id, role, startedAt, usedAt, turns}`."""
        return {
            "id": self.id,
            "role": self.role,
            "startedAt": self.started_at,
            "usedAt": self.used_at,
            "turns": self.turns,
        }


@dataclass(frozen=True, slots=True)
class SessionList:
    """Sessions, the last used first."""

    sessions: tuple[SessionView, ...]
    #: True when there are older ones that are not in the list.
    is_cut: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return `{sessions, truncated}`."""
        return {"sessions": [each.to_json() for each in self.sessions], "truncated": self.is_cut}


def list_sessions(ports: Ports, *, role: str | None = None, limit: int = 50) -> SessionList:
    """Return the sessions that are kept, the last used first; of one role, or of all for None.

    Raises:
        UsageError: The role can't be one.
    """
    if role is not None and mend_text(role) != role:
        message = f"A role's id is made of whole characters; this one is not: {role[:40]!r}."
        raise UsageError(message)
    rows = ports.state().rows("list_sessions", role=role, limit=limit + 1)
    return SessionList(tuple(map(_view, rows[:limit])), is_cut=len(rows) > limit)


def find_session(ports: Ports, session: str) -> SessionView | None:
    """Return a session by its id; None when nothing is kept under it."""
    is_text = mend_text(session) == session  # nothing is kept under half a character
    row = ports.state().row("view_session", id=session) if is_text else None
    return _view(row) if row is not None else None


def _view(row: sqlite3.Row) -> SessionView:
    return SessionView(
        id=row["id"], role=row["role"], started_at=row["started_at"], used_at=row["used_at"], turns=row["turns"]
    )
