"""Hooks: which of them the events of memory call for.

Every change of memory leaves an event in the state database, whoever made it. A hook has a cursor there, starts with
what happens after it was first seen, and is handed everything that waits for it in one run. The run is noted and the
cursor moved in one transaction: an event is handed over once, and a hook that fails is not run again for it. What a
hook's own turn did, its flush and its sub-agents included, runs no hook at all.

Rules: EVENT-01 to EVENT-07, EVENT-O4, DECLARE-01, REPORT-02.
"""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from omnislash.brain.hooks import HOOK_SUFFIX
from omnislash.runtime.beats.beat_runs import BeatKind, Order, stamp
from omnislash.runtime.beats.event_blocks import join_events
from omnislash.runtime.beats.heartbeats import DueRun, has_faults

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.hooks import Hook
    from omnislash.runtime.turns import Ports
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)
#: Events that one run is shown: the newest; a prompt must not grow with a bulk import.
SHOWN_EVENTS: Final = 50
#: Events that one look goes through.
SCANNED_EVENTS: Final = 5000
#: Runs of one hook within an hour; what comes then waits, and is handed over together.
RUNS_PER_HOUR: Final = 20
_HOUR: Final = timedelta(hours=1)


class HookCalls:
    """Looks for events that hooks wait for."""

    def __init__(self, ports: Ports) -> None:
        """Keep the ports."""
        self._ports = ports
        #: Until when the log has said that a hook runs too often.
        self._told: dict[str, datetime] = {}

    def look(self, now: datetime) -> tuple[DueRun, ...]:
        """Return the hooks that have something to answer, by name; cursors that only move on are moved already."""
        config = self._ports.config()
        cursors = {row["name"]: int(row["value"]) for row in self._ports.state().rows("list_cursors")}
        self._drop_others(config, cursors)
        found = (self._look_at(config, hook, cursors.get(_cursor(hook.id)), now) for hook in config.hooks.values())
        return tuple(sorted((run for run in found if run), key=lambda run: run.order.beat.id))

    def _drop_others(self, config: BrainFiles, cursors: dict[str, int]) -> None:
        """Forget hooks that are gone or switched off; one whose file has faults is waited for."""
        for name in [name for name in cursors if name.startswith(_cursor("")) and not _is_heard(config, name)]:
            del cursors[name]
            state = self._ports.state()
            with state.transaction():
                state.run("drop_cursor", name=name)

    def _look_at(self, config: BrainFiles, hook: Hook, cursor: int | None, now: datetime) -> DueRun | None:
        state = self._ports.state()
        row = state.row("newest_event")
        newest = int(row["id"]) if row else 0
        if not hook.enabled or cursor == newest:
            return None
        if cursor is None or cursor > newest:
            self._move(hook, newest)
            return None
        rows = state.rows("list_events", after=cursor, limit=SCANNED_EVENTS)
        waiting = [row for row in rows if row["name"] in hook.events and not _is_own(config, row["heartbeat"])]
        end = int(rows[-1]["id"]) if rows else newest
        if not waiting:
            self._move(hook, end)
            return None
        return None if self._runs_away(hook, now) else self._order(hook, waiting, now, start=cursor, end=end)

    def _move(self, hook: Hook, end: int) -> None:
        state = self._ports.state()
        with state.transaction():
            state.run("set_cursor", name=_cursor(hook.id), value=end)

    @staticmethod
    def _order(hook: Hook, waiting: Sequence[sqlite3.Row], now: datetime, *, start: int, end: int) -> DueRun:
        key = f"hook:{hook.id}:{start}"

        def move(state: State, is_new: bool) -> None:  # noqa: FBT001 - called by position
            if is_new:
                state.run("set_cursor", name=_cursor(hook.id), value=end)

        message = render_message(hook.body, waiting)
        order = Order(kind=BeatKind.HOOK, beat=hook, key=key, due_at=now, message=message, session=key)
        return DueRun(order, move, waits=True)

    def _runs_away(self, hook: Hook, now: datetime) -> bool:
        """Tell whether a hook has run as often as it may in an hour; then its events wait, and the log says so once."""
        since, until = stamp(now - _HOUR), stamp(now)
        row = self._ports.state().row("count_runs_started", kind=BeatKind.HOOK, beat=hook.id, after=since, until=until)
        if row is None or row["runs"] < RUNS_PER_HOUR:
            return False
        if hook.id not in self._told or not self._told[hook.id] - _HOUR <= now < self._told[hook.id]:
            self._told[hook.id] = now + _HOUR
            _LOG.warning(
                "The hook %s ran %d times within an hour; what happens now waits, and is handed to it together.",
                hook.id,
                row["runs"],
                extra={"action": "hook_runs_away", "beat": hook.id},
            )
        return True


def _cursor(hook_id: str) -> str:
    return f"hook:{hook_id}"


def _is_heard(config: BrainFiles, cursor: str) -> bool:
    name = cursor.removeprefix(_cursor(""))
    hook = config.hooks.get(name)
    return hook.enabled if hook else has_faults(config, name + HOOK_SUFFIX)


def _is_own(config: BrainFiles, cause: str | None) -> bool:
    """Tell whether a hook caused an event; nothing runs on it, or two hooks would call each other for ever."""
    return cause is not None and (cause in config.hooks or has_faults(config, cause + HOOK_SUFFIX))


def render_message(body: str, rows: Sequence[sqlite3.Row]) -> str:
    """Return what a hook is told: its prompt, and the newest of its events as data."""
    shown = rows[-SHOWN_EVENTS:]
    return join_events(body, [_render_event(row) for row in shown], left_out=len(rows) - len(shown))


def _render_event(row: sqlite3.Row) -> str:
    """Return an event as JSON that can neither open nor close a block."""
    event: dict[str, Any] = {"event": row["name"], "at": row["at"], **json.loads(row["payload"])}
    text = json.dumps(event, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
