"""What each session was sent, in the state database: by block and hash, so that a restart sends nothing twice.

The text itself is not kept. Losing the ledger costs one more delivery, never a memory.

One id may name two conversations: that of a harness, which asks for what to add to it, and the one that omnislash runs
a model in. Neither has seen what was added to the other, so each has a ledger of its own.

Rules: ENVELOPE-06, ENVELOPE-10, ENVELOPE-O7.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from omnislash.envelope.assemble import Ledger
from omnislash.envelope.blocks import BlockName
from omnislash.envelope.forgetting import forget_sessions, make_instant

if TYPE_CHECKING:
    from datetime import datetime

    from omnislash.envelope.assemble import Receipt
    from omnislash.store.state import State

#: How far the note of a session's last use may lag behind, in days, so that a quiet turn writes nothing.
_LAG: Final = timedelta(days=1)


class Carrier(StrEnum):
    """Whose conversation a session's blocks go into."""

    #: A harness's: it asks for the text of each turn and adds it itself.
    HARNESS = "harness"
    #: The one that omnislash keeps, and runs a model in.
    MODEL = "model"


def read_ledger(state: State, session: str, carrier: Carrier) -> Ledger:
    """Return what one conversation of the session was sent.

    Raises:
        WriterUnavailableError: The database can't be read.
    """
    found = state.row("find_session", id=session)
    if found is None:
        return Ledger()
    rows = state.rows("list_session_blocks", session=session, carrier=carrier.value)
    names = {name.value: name for name in BlockName}
    hashes = {(names[row["name"]], row["place"]): row["hash"] for row in rows if row["name"] in names}
    is_announced = carrier is Carrier.HARNESS and found["compacted"] > found["reopened"]
    return Ledger(hashes=hashes, used_at=found["used_at"], compaction=found["compacted"] if is_announced else 0)


def needs_note(ledger: Ledger, receipt: Receipt, *, now: datetime) -> bool:
    """Tell whether a turn has to be noted at all; most turns send nothing, and write nothing."""
    return not receipt.is_empty or ledger.used_at is None or ledger.used_at < make_instant(now - _LAG)


def note_delivery(state: State, session: str, receipt: Receipt, *, carrier: Carrier, role: str, now: datetime) -> None:
    """Note that a turn was sent; inside a transaction of the caller's.

    A session that is new makes room first: a little is forgotten of those that nobody used for long.
    """
    at = make_instant(now)
    where = {"session": session, "carrier": carrier.value}
    _open_session(state, session, role=role, now=now)
    if receipt.compaction:
        state.run("answer_compaction", id=session, compaction=receipt.compaction)
    if receipt.clears:
        state.run("clear_carrier_blocks", **where)
    for name, place in receipt.dropped:
        state.run("drop_session_block", **where, name=name.value, place=place)
    for (name, place), found in receipt.sent:
        state.run("set_session_block", **where, name=name.value, place=place, hash=found, at=at)


def note_compaction(state: State, session: str, *, role: str, now: datetime) -> None:
    """Note that a harness is about to shorten the session's conversation; inside a transaction of the caller's.

    It stays noted until a delivery that opens with the snapshot line was sent, whatever happens in between.
    """
    _open_session(state, session, role=role, now=now)
    state.run("mark_compacted", id=session)


def _open_session(state: State, session: str, *, role: str, now: datetime) -> None:
    if state.row("find_session", id=session) is None:
        forget_sessions(state, now=now)
    state.run("open_session", id=session, role=role, at=make_instant(now))
