"""The runs of heartbeats and hooks: which came to nothing the last time, and whether anybody looks for them at all.

Rules: KNOB-26; failure case O-39.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from omnislash.checks.databases import has_writer, is_closed, query_state
from omnislash.checks.findings import ANYTHING, Check, Group, info, warn
from omnislash.checks.instants import parse_instant, show_instant
from omnislash.core.credentials import mask_secrets
from omnislash.store.locks import is_locked

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from omnislash.brain.beats import Beat
    from omnislash.checks.examined import Examined
    from omnislash.checks.findings import Finding

#: The version of the state database in which runs came.
_TABLES: Final = 2
#: How long nobody may have looked for what is due before it is worth a word: a machine that is off for the night is fine.
_UNWATCHED: Final = timedelta(days=2)
#: Characters of the reason that are shown.
_REASON_CHARS: Final = 200
_HOW: Final = {
    "failed": "failed",
    "interrupted": "was stopped before it was done",
    "missed": "was missed: no worker looked when it came due",
}
_KEEP_WORKER: Final = "Run `omnislash worker`; heartbeats and hooks run while it does."


class RunsCheck(Check):
    """Reads what became of the newest run of each heartbeat and hook."""

    id = "runs"
    title = "Heartbeats and hooks"
    protects = "No heartbeat and no hook comes to nothing without anybody noticing."
    group = Group.MACHINE

    def conclude(self, brain: Examined) -> Iterator[Finding]:
        """Yield the beats whose last run came to nothing, then whether anybody looks."""
        files = brain.config
        for kind, beats in (("heartbeat", files.heartbeats), ("hook", files.hooks)):
            for _, beat in sorted(beats.items()):
                for row in query_state(brain, "last_run", since=_TABLES, kind=kind, beat=beat.id):
                    yield from _judge(brain, kind, beat, row)
        yield from _tell_unwatched(brain)


def _judge(brain: Examined, kind: str, beat: Beat, row: sqlite3.Row) -> Iterator[Finding]:
    outcome, reason = row["outcome"], row["message"]
    if outcome == "running":
        if _goes_on(brain, kind, beat):
            return
        outcome, reason = "interrupted", "The process that ran it is gone."
    if outcome not in _HOW:
        return
    reason = " ".join(mask_secrets(reason).split())[:_REASON_CHARS]
    at = show_instant(parse_instant(row["due_at"] if outcome == "missed" else row["started_at"]), brain)
    message = f"The last run of the {kind} {beat.id}, {at}, {_HOW[outcome]}."
    about: tuple[str, ...] = ()
    if reason and outcome != "missed":
        message, about = f"{message[:-1]}: {reason}", (ANYTHING,)
    again = f"Run `omnislash heartbeat run {beat.id}`." if kind == "heartbeat" else "It runs again at its next event."
    yield warn(message, path=beat.path, hint=_KEEP_WORKER if outcome == "missed" else again, about=about)


def _goes_on(brain: Examined, kind: str, beat: Beat) -> bool:
    """Tell whether a process holds the lock of a run; True where that can't be asked."""
    try:
        return is_locked(brain.state_directory / "beats" / f"{beat.id}.{kind}")
    except OSError:
        return True


def _tell_unwatched(brain: Examined) -> Iterator[Finding]:
    """Yield that heartbeats are switched on and nobody looks for them."""
    enabled = sorted(beat.id for beat in brain.config.heartbeats.values() if beat.enabled)
    if not enabled or is_closed(brain) or has_writer(brain):
        return
    what = f"The heartbeat {enabled[0]} is" if len(enabled) == 1 else f"{len(enabled)} heartbeats are"
    looks = [
        at
        for row in query_state(brain, "list_beat_looks", since=_TABLES)
        if row["id"] in enabled and (at := parse_instant(row["looked_at"])) is not None
    ]
    if not looks:
        yield info(f"{what} switched on, and no worker has looked for what is due yet.", hint=_KEEP_WORKER)
    elif brain.now - max(looks) > _UNWATCHED:
        message = (
            f"{what} switched on, and no worker has looked for what is due since {show_instant(max(looks), brain)}."
        )
        yield warn(message, hint=_KEEP_WORKER)
