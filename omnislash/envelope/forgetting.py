"""Sessions that nobody uses any more are forgotten, a little with each session that is opened.

A session goes when nobody used it for `KEPT_DAYS` days. One step removes at most `STEP_BYTES` of what was said, so that
no writer waits long; a session that is half gone is, when somebody comes back to it, one whose turns are all left out
and that was sent nothing.

A clock that is wrong must not cost a conversation: nothing is forgotten unless some session was last used in between,
at least `SETTLED` ago. After a jump of the clock there is none, and after a long holiday there is one a day later.

Rules: ENVELOPE-O7.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from omnislash.store.state import State

#: How long a session that nobody uses is remembered, in days.
KEPT_DAYS: Final = 90
#: How long the time must have gone on before it is believed.
SETTLED: Final = timedelta(days=1)
#: Bytes of messages that one step removes; a single turn that is longer goes in one step.
STEP_BYTES: Final = 2_000_000
#: Sessions that one step looks at.
_STEP_SESSIONS: Final = 20


def forget_sessions(state: State, *, now: datetime) -> None:
    """Forget a little of what nobody used for long; inside a transaction of the caller's."""
    before = make_instant(now - timedelta(days=KEPT_DAYS))
    if state.row("find_session_used", since=before, until=make_instant(now - SETTLED)) is None:
        return
    room = STEP_BYTES
    for row in state.rows("list_unused_sessions", before=before, limit=_STEP_SESSIONS):
        room = _forget(state, row["id"], room)
        if room <= 0:
            return


def _forget(state: State, session: str, room: int) -> int:
    """Forget a session, or as much of it as there is room for; return the room that is left."""
    sizes = [(row["id"], row["size"]) for row in state.rows("list_turn_sizes", session=session, first=0)]
    until = 0
    for turn, size in sizes:
        if room <= 0:
            break
        until, room = turn, room - size
    removed = state.run("drop_session_turns", session=session, until=until)
    if removed == len(sizes):
        state.run("drop_session", id=session)
        return room
    state.run("clear_session_blocks", session=session)
    state.run("shorten_session", id=session, first=sizes[-1][0] + 1)
    state.run("count_removed_turns", id=session, turns=removed)
    return room


def make_instant(moment: datetime) -> str:
    """Return an instant so that texts compare as instants do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
