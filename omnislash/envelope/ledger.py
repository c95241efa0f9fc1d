"""What each session was sent, in the state database: by block and hash, so that a restart sends nothing twice.

The text itself is not kept. Losing the ledger costs one more delivery, never a memory.

Rules: ENVELOPE-06, ENVELOPE-10, ENVELOPE-O7.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.envelope.assemble import Ledger
from omnislash.envelope.blocks import BlockName

if TYPE_CHECKING:
    from omnislash.envelope.assemble import Receipt
    from omnislash.store.state import State

#: How long a session that nobody uses is remembered, in days.
KEPT_DAYS: Final = 90
#: How far the note of a session's last use may lag behind, in days, so that a quiet turn writes nothing.
_LAG: Final = timedelta(days=1)


def read_ledger(state: State, session: str) -> Ledger:
    """Return what the session was sent.

    Raises:
        WriterUnavailableError: The database can't be read.
    """
    found = state.row("find_session", id=session)
    if found is None:
        return Ledger()
    rows = state.rows("list_session_blocks", session=session)
    names = {name.value: name for name in BlockName}
    hashes = {(names[row["name"]], row["place"]): row["hash"] for row in rows if row["name"] in names}
    return Ledger(hashes=hashes, used_at=found["used_at"])


def needs_note(ledger: Ledger, receipt: Receipt, *, now: datetime) -> bool:
    """Tell whether a turn has to be noted at all; most turns send nothing, and write nothing."""
    return not receipt.is_empty or ledger.used_at is None or ledger.used_at < _instant(now - _LAG)


def note_delivery(state: State, session: str, receipt: Receipt, *, role: str, now: datetime) -> None:
    """Note that a turn was sent; inside a transaction of the caller's.

    A session that is new makes room first: those that nobody used for :data:`KEPT_DAYS` days are forgotten.
    """
    at = _instant(now)
    if state.row("find_session", id=session) is None:
        state.run("prune_sessions", before=_instant(now - timedelta(days=KEPT_DAYS)))
    state.run("open_session", id=session, role=role, at=at)
    if receipt.clears:
        state.run("clear_session_blocks", session=session)
    for name, place in receipt.dropped:
        state.run("drop_session_block", session=session, name=name.value, place=place)
    for (name, place), found in receipt.sent:
        state.run("set_session_block", session=session, name=name.value, place=place, hash=found, at=at)


def _instant(moment: datetime) -> str:
    """Return an instant so that texts compare as instants do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
