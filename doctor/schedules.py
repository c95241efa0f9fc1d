"""Schedules: what comes due never, rarely or all the time, and what a change of the clocks does to it.

The expression is read on the wall clock. What it names in an hour that is left out runs once, at the same distance
behind the change; what it names in an hour that comes twice runs the first time only.

Rules: PERIOD-12, PERIOD-O13, LINE-O3, KNOB-23; failure cases O-38, O-39.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity
from omnislash.checks.key_places import KeyPlaces
from omnislash.core.beat_bodies import asks_nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from zoneinfo import ZoneInfo

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.checks.examined import Examined, Listed, SeenFile

#: How far ahead is looked.
_AHEAD: Final = timedelta(days=366)
#: A schedule that comes due more often on a day does not care which hour of it is left out or comes twice.
_OFTEN: Final = 6
#: So many times in a row, a minute apart, are every minute.
_RUN: Final = 10


@dataclass(frozen=True, slots=True)
class _Schedule:
    """One cron expression of the brain."""

    #: Who is scheduled, as the beginning of a sentence.
    name: str
    path: str
    line: int | None
    key: str
    cron: str


@dataclass(frozen=True, slots=True)
class _Change:
    """One change of the clocks, with the times of the wall clock that it leaves out or repeats."""

    #: First time of the wall clock, and the first one behind.
    start: datetime
    end: datetime
    is_gap: bool

    @property
    def length(self) -> timedelta:
        """Return by how much the clocks are changed."""
        return self.end - self.start


class Schedules(Check):
    """Heartbeats, summaries and brain-sync run when you think they do."""

    id: ClassVar[str] = "schedules"
    title: ClassVar[str] = "Schedules"
    protects: ClassVar[str] = "What you scheduled runs when you think it does, and not never, twice or every minute."
    group: ClassVar[Group] = Group.CONFIGURATION
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._manifest = KeyPlaces(MANIFEST_FILE)

    def wants(self, entry: Listed) -> bool:
        """Tell whether keys of the file are told with their line."""
        return self._manifest.is_at(entry)

    def see(self, file: SeenFile) -> None:
        """Keep the manifest, for the lines of its keys."""
        self._manifest.see(file)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what does not run as it should, then what is worth knowing."""
        config = brain.config
        beats = _list_schedules(config)
        running = [*beats, *self._list_manifest(config)]
        now, zone = brain.now.astimezone(brain.zone).replace(tzinfo=None), brain.zone
        changes = list(_list_changes(zone, brain.now)) if running else []
        return [
            *shorten(findings_of(config, self.id), "schedules that are none"),
            *shorten(list(_find_empty(config)), "heartbeats and hooks without a prompt"),
            *shorten([each for beat in beats for each in _find_busy(beat, now)], "heartbeats that run every minute"),
            *shorten([each for one in running for each in _find_rare(one, now)], "schedules that come due rarely"),
            *shorten([each for one in running for each in _find_changed(one, changes, zone)], "changes of the clocks"),
            *shorten(list(_list_disabled(config)), "heartbeats and hooks that are off"),
        ]

    def _list_manifest(self, config: BrainFiles) -> Iterator[_Schedule]:
        """Yield the schedules of the manifest that are in use."""
        consolidation, sync = config.manifest.memory.consolidation, config.manifest.sync
        if consolidation.lines:
            yield self._of_manifest("The tick of period summaries", consolidation.schedule, "memory", "consolidation")
        if sync.enabled:
            yield self._of_manifest("brain-sync", sync.schedule, "sync")

    def _of_manifest(self, name: str, cron: str, *above: str) -> _Schedule:
        keys = (*above, "schedule")
        return _Schedule(name, MANIFEST_FILE, self._manifest.line_of(*keys), ".".join(keys), cron)


def _beats(config: BrainFiles) -> list[Beat]:
    return sorted([*config.heartbeats.values(), *config.hooks.values()], key=lambda beat: beat.path)


def _list_schedules(config: BrainFiles) -> list[_Schedule]:
    """Return the schedules of the heartbeats that are on."""
    beats = sorted(config.heartbeats.values(), key=lambda beat: beat.path)
    return [
        _Schedule(f"The heartbeat {beat.id!r}", beat.path, beat.key_lines.get("schedule"), "schedule", beat.schedule)
        for beat in beats
        if beat.enabled
    ]


def _list_disabled(config: BrainFiles) -> Iterator[Finding]:
    """Yield each heartbeat and hook that is off."""
    for beat in _beats(config):
        if not beat.enabled:
            yield Finding(
                Severity.INFO,
                f"{beat.path} is off, so it does not run by itself.",
                beat.path,
                beat.key_lines.get("enabled"),
                "enabled",
                "Delete `enabled: false` to have it run.",
            )


def _find_empty(config: BrainFiles) -> Iterator[Finding]:
    """Yield each heartbeat and hook that is on and whose file asks for nothing (O-39)."""
    for beat in _beats(config):
        if beat.enabled and asks_nothing(beat.body):
            yield Finding(
                Severity.WARN,
                f"{beat.path} has no prompt, so no model is asked when it runs.",
                beat.path,
                hint="Write below its frontmatter what it should do, or set `enabled: false`.",
            )


def _walk(cron: str, after: datetime) -> Iterator[datetime]:
    """Yield the times of the wall clock, behind one of them, that an expression names."""
    from croniter import croniter  # noqa: PLC0415 - its import costs more than reading a whole brain

    named = croniter(cron, after)
    while True:
        yield named.get_next(datetime)


def _find_busy(schedule: _Schedule, now: datetime) -> Iterator[Finding]:
    """Yield the warning about a heartbeat that runs every minute: each time a model is asked."""
    times = list(islice(_walk(schedule.cron, now), _RUN))
    if times[-1] - times[0] == timedelta(minutes=_RUN - 1):
        yield Finding(
            Severity.WARN,
            f"{schedule.name} runs every minute, and asks a model each time.",
            schedule.path,
            schedule.line,
            schedule.key,
            "Let it run less often, for example `schedule: '*/30 * * * *'`.",
        )


def _find_rare(schedule: _Schedule, now: datetime) -> Iterator[Finding]:
    """Yield what does not come due within a year, such as on 29 February."""
    due = next(_walk(schedule.cron, now))
    if due - now > _AHEAD:
        yield Finding(
            Severity.INFO,
            f"{schedule.name} comes due on {due:%Y-%m-%d} for the first time from now.",
            schedule.path,
            schedule.line,
            schedule.key,
            None,
        )


def _list_changes(zone: ZoneInfo, now: datetime) -> Iterator[_Change]:
    """Yield the changes of the clocks within a year."""
    at, end = now.astimezone(UTC), now.astimezone(UTC) + _AHEAD
    while at < end:
        later = at + timedelta(days=1)
        before, after = _offset(at, zone), _offset(later, zone)
        if before != after:
            instant = _find_change(at, later, zone).replace(tzinfo=None)
            yield _Change(instant + min(before, after), instant + max(before, after), after > before)
        at = later


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta()


def _find_change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first second between two instants at which the clocks are changed."""
    old = _offset(before, zone)
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(before + timedelta(seconds=middle), zone) == old else (low, middle)
    return (before + timedelta(seconds=high)).replace(microsecond=0)


def _find_changed(schedule: _Schedule, changes: Iterable[_Change], zone: ZoneInfo) -> Iterator[Finding]:
    """Yield what each change of the clocks does to a schedule that comes due a few times a day."""
    for change in changes:
        times = _list_hit(schedule.cron, change)
        if times:
            yield Finding(
                Severity.INFO,
                f"{schedule.name} is set for {_join(times)}, {_explain(times, change, zone)}",
                schedule.path,
                schedule.line,
                schedule.key,
                "Another hour of the day avoids that." if change.length < timedelta(hours=12) else None,
            )


def _list_hit(cron: str, change: _Change) -> list[datetime]:
    """Return the times that a change leaves out or repeats; none for a schedule that comes due all day long."""
    midnight = change.start.replace(hour=0, minute=0, second=0)
    day = list(islice(_walk(cron, midnight - timedelta(seconds=1)), _OFTEN + 1))
    if day[-1] < midnight + timedelta(days=1):
        return []
    return [time for time in day if change.start <= time < change.end]


def _explain(times: list[datetime], change: _Change, zone: ZoneInfo) -> str:
    """Return the rest of the sentence: which day, and what will happen."""
    day = f"{change.start:%Y-%m-%d} in {zone.key}"
    if change.is_gap:
        moved = _join([time + change.length for time in times])
        return f"which is left out on {day}: it runs at {moved} that day."
    return f"which comes twice on {day}: it runs the first time only."


def _join(times: list[datetime]) -> str:
    return " and ".join(f"{time:%H:%M}" for time in times)
