"""What was said in a session, kept from turn to turn.

A row holds the messages of one turn (`session_rows`), without the standing blocks, which every request gets afresh.

A long conversation is shortened: as soon as its turns hold more than `MOST_BYTES`, the oldest ones are left out until
`KEPT_BYTES` are left, so that it doesn't happen again with each turn. The newest turn stays as long as it fits alone.
The turn after that is told as one after a compaction: every block is delivered again.
Each turn stores which turn was the oldest that it sent; so the next one knows whether the session has lost something
since, also when two turns of it ran at once.

A model that takes less than that turns the request down: the turn is asked again with half of what is kept, and then
with no history. When tools have run already, asking again would run them twice: the turn fails, and the next one of the
session begins with half.

What is left out is sent never again. It stays in the database until it holds more than `LEFT_BYTES` in one session,
or until the session is forgotten; then the oldest of it goes for good, a little at a time. So what a session costs, in
time and on disk, is bounded. What somebody wants kept longer belongs into memory.

Rules: ENVELOPE-07, ENVELOPE-O7.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.errors import ModelError, UsageError
from omnislash.runtime.loop.session_rows import load_messages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage

    from omnislash.store.state import State

#: The longest history that is sent, in bytes of its rows: about 100,000 tokens of English, 70,000 of Russian and 130,000
#: of Chinese. That is half of what the common models take, so that memory, tools and an answer fit beside it.
MOST_BYTES: Final = 400_000
#: How much is left when it is shortened.
KEPT_BYTES: Final = 200_000
#: How much of a session stays in the database beside what is sent, in bytes: fifty times that much.
LEFT_BYTES: Final = 10_000_000
#: How much of it one turn removes, in bytes; more than a turn usually adds, so that it keeps up.
TRIM_BYTES: Final = 2_000_000
#: How far the note of a session's last use may lag behind when a turn begins.
_LAG: Final = timedelta(days=1)
#: Told to the model in the place of what was left out.
SHORTENED: Final = (
    "(This conversation is long: its oldest turns are left out here. What they settled may be in memory; "
    "ask when you need something that is not.)"
)


class TooLongError(ModelError):
    """The conversation is longer than the model can take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is sent of a session."""

    #: The messages of the turns that are kept, oldest first.
    messages: tuple[ModelMessage, ...] = ()
    #: Id of the oldest turn that is sent; 0 while none was ever left out.
    first: int = 0
    #: Bytes of the rows that are sent.
    size: int = 0
    #: True in the first turn after some were left out.
    is_compacted: bool = False
    #: True when it was bound to less than usual because its model had found more too long.
    is_halved: bool = False

    @property
    def is_shortened(self) -> bool:
        """Tell whether turns are left out."""
        return self.first > 0

    @property
    def half(self) -> int:
        """Bytes that a model is sent next that found this too long."""
        return min(KEPT_BYTES, self.size) // 2


# -- before a turn ---------------------------------------------------------------------------------------------------


def check_owner(state: State, session: str, *, role: str) -> None:
    """Raise UsageError when the session belongs to another role."""
    row = state.row("find_session", id=session)
    if row is not None and row["role"] != role:
        message = f"The session {session!r} belongs to the role {row['role']!r}, not to {role!r}."
        raise UsageError(message, hint="Start a new session, or resume it with its own role.")


def touch_session(state: State, session: str, *, now: datetime) -> None:
    """Note that a session is in use, so that nobody forgets it while its turn runs; nothing when that is known."""
    row = state.row("find_session", id=session)
    if row is not None and row["used_at"] < _instant(now - _LAG):
        with state.transaction():
            state.run("touch_session", id=session, at=_instant(now))


def load_history(state: State, session: str, *, bound: int | None = None) -> History:
    """Return what is sent of a session; an unknown one is empty.

    Args:
        state: The database.
        session: Id of the session.
        bound: How much is sent at most, in bytes; None = as usual.

    Raises:
        StorageError: A turn of it can't be read.
    """
    found = state.row("find_session", id=session)
    if found is None:
        return History()
    stored: int = found["first_turn"]
    sizes = [(row["id"], row["size"]) for row in state.rows("list_turn_sizes", session=session, first=stored)]
    most, kept = _choose_bounds(found, bound)
    first = find_first(sizes, most=most, kept=kept) or stored
    rows = state.rows("list_session_turns", session=session, first=first)
    return History(
        messages=tuple(message for row in rows for message in load_messages(row, session)),
        first=first,
        size=sum(row["size"] for row in rows),
        is_compacted=first != stored,
        is_halved=bound is not None,
    )


def _choose_bounds(found: sqlite3.Row, bound: int | None) -> tuple[int, int]:
    """Return the most bytes that are sent, and how many are left when there are more."""
    bound = found["most_bytes"] if bound is None else bound
    return (MOST_BYTES, KEPT_BYTES) if bound is None else (bound, bound)


def find_first(sizes: Sequence[tuple[int, int]], *, most: int, kept: int) -> int:
    """Return the id of the oldest turn that is still sent; 0 when nothing has to be left out.

    Args:
        sizes: Id and bytes of each turn that was sent so far, oldest first.
        most: Bytes above which turns are left out.
        kept: Bytes that are left then; the newest turn may have up to `most`.
    """
    total = sum(size for _, size in sizes)
    if total <= most:
        return 0
    for place, (turn, size) in enumerate(sizes):
        is_newest = place == len(sizes) - 1
        if total <= (most if is_newest else kept):
            return turn
        total -= size
    return sizes[-1][0] + 1


# -- after a turn ----------------------------------------------------------------------------------------------------


def save_turn(state: State, history: History, *, session: str, messages: str, role: str, now: datetime) -> None:
    """Keep the messages of a turn that was sent a history; call it inside a transaction.

    Raises:
        UsageError: The session belongs to another role by now; nothing is to be kept.
    """
    check_owner(state, session, role=role)
    at = _instant(now)
    state.run("open_session", id=session, role=role, at=at)
    state.run("add_session_turn", session=session, at=at, messages=messages)
    state.run("shorten_session", id=session, first=history.first)
    if history.is_compacted:
        _trim(state, session, history.first)


def note_too_long(state: State, session: str, history: History) -> None:
    """Note that the next turn of a session has to begin with half of the history that its model found too long."""
    with state.transaction():
        state.run("bound_session", id=session, bytes=history.half)


def _trim(state: State, session: str, first: int) -> None:
    """Remove the oldest of the turns that are left out, as far as they hold too much together."""
    left = [row for row in state.rows("list_turn_sizes", session=session, first=0) if row["id"] < first]
    excess = min(sum(row["size"] for row in left) - LEFT_BYTES, TRIM_BYTES)
    until = 0
    for row in left:
        if excess <= 0:
            break
        until, excess = row["id"], excess - row["size"]
    if until:
        removed = state.run("drop_session_turns", session=session, until=until)
        state.run("count_removed_turns", id=session, turns=removed)


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
