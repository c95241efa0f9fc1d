"""How every heartbeat and hook stands: when it runs next, what came of its last run, and which files never run.

Rules: KNOB-26; failure case O-39; interface.md, `heartbeat list`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX, Heartbeat
from omnislash.brain.hooks import HOOK_SUFFIX
from omnislash.runtime.beats.beat_runs import BeatKind, find_last
from omnislash.runtime.beats.due import Seen, find_next

if TYPE_CHECKING:
    from omnislash.brain.hooks import Hook
    from omnislash.errors import Fault
    from omnislash.runtime.beats.beat_runs import BeatRun
    from omnislash.runtime.turns import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatState:
    """How a heartbeat or a hook stands."""

    beat: Heartbeat | Hook
    #: When it runs next, in the brain's zone; None for a hook, and for one that is switched off.
    next: datetime | None
    #: Its newest run; None when it never ran.
    last: BeatRun | None
    zone: ZoneInfo

    def to_json(self) -> dict[str, Any]:
        """Return `{name, role, schedule, enabled, next, last?}`; a hook has `on` in place of `schedule` and `next`."""
        beat = self.beat
        when: dict[str, Any] = {"enabled": beat.enabled}
        if isinstance(beat, Heartbeat):
            when = {"schedule": beat.schedule, **when, "next": _local(self.next, self.zone)}
        else:
            when = {"on": list(beat.events), **when}
        return {"name": beat.id, "role": beat.role, **when, **self._last_json()}

    def _last_json(self) -> dict[str, Any]:
        if self.last is None:
            return {}
        why = {"message": self.last.message} if self.last.message else {}
        return {"last": {"at": _local(self.last.started_at, self.zone), "outcome": self.last.outcome.value, **why}}


def _local(instant: datetime | None, zone: ZoneInfo) -> str | None:
    return instant.astimezone(zone).isoformat(timespec="seconds") if instant else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatList:
    """Every heartbeat and hook of a brain."""

    heartbeats: tuple[BeatState, ...]
    hooks: tuple[BeatState, ...]
    #: What keeps files from loading, so that they never run.
    faults: tuple[Fault, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{heartbeats, hooks, faulty}`; a file with several faults is named once for each."""
        return {
            "heartbeats": [each.to_json() for each in self.heartbeats],
            "hooks": [each.to_json() for each in self.hooks],
            "faulty": [_describe_fault(fault) for fault in self.faults],
        }


def _describe_fault(fault: Fault) -> dict[str, str]:
    """Return `{name, kind, path, message}` of a file that does not load."""
    name, _, kind = fault.path.rpartition("/")[2].removesuffix(".md").rpartition(".")
    return {"name": name, "kind": kind, "path": fault.path, "message": fault.render()}


def list_beats(ports: Ports) -> BeatList:
    """Return how every heartbeat and hook stands, by name; nothing is noted."""
    config, now = ports.config(), ports.clock.now()
    zone = ZoneInfo(config.manifest.locale.timezone)

    def stand(kind: BeatKind, beat: Heartbeat | Hook) -> BeatState:
        coming = _find_next(ports, beat, zone, now) if isinstance(beat, Heartbeat) and beat.enabled else None
        return BeatState(beat=beat, next=coming, last=find_last(ports, kind, beat.id), zone=zone)

    return BeatList(
        heartbeats=tuple(stand(BeatKind.HEARTBEAT, beat) for _, beat in sorted(config.heartbeats.items())),
        hooks=tuple(stand(BeatKind.HOOK, hook) for _, hook in sorted(config.hooks.items())),
        faults=tuple(fault for fault in config.faults if fault.path.endswith((HEARTBEAT_SUFFIX, HOOK_SUFFIX))),
    )


def _find_next(ports: Ports, beat: Heartbeat, zone: ZoneInfo, now: datetime) -> datetime:
    row = ports.state().row("find_beat_look", id=beat.id)
    seen = Seen(beat.schedule, zone.key, datetime.fromisoformat(row["looked_at"])) if row else None
    return find_next(seen, beat.schedule, zone.key, now=now)
