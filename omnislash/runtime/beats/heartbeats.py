"""Heartbeats: what of them is due, and one run by hand.

A tick that comes due while a worker looks is run. What came due while none looked, because the machine slept or nothing
ran, is made up for within bounds: the latest tick is run once when it is not older than `CATCH_UP`, and all others are
noted in one row, with their number. A heartbeat that is new, was changed, or was switched on again starts from now.

Rules: DECLARE-01, RESOLVE-03, KNOB-26, LINE-O3; failure cases O-38 and O-39.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnislash.brain.gathering import FEATURES
from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX
from omnislash.brain.names import normalise_id
from omnislash.core.beat_bodies import asks_nothing
from omnislash.errors import UsageError, WriterUnavailableError
from omnislash.runtime.beats.beat_runs import (
    NOTHING_ASKED,
    BeatKind,
    BeatRun,
    Order,
    RunOutcome,
    carry_out,
    claim,
    finish_row,
    make_turn,
    stamp,
    start_row,
)
from omnislash.runtime.beats.due import COUNTED_MAX, Due, Seen, find_due, find_next

if TYPE_CHECKING:
    import sqlite3

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.heartbeats import Heartbeat
    from omnislash.runtime.beats.beat_runs import Also, Claim
    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.loop.turn_runs import RunTurn
    from omnislash.runtime.turns import Ports
    from omnislash.store.state import State


# -- what is due -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run that is due, and what is noted with it."""

    order: Order
    also: Also
    #: True leaves it due while another run of the beat goes on, instead of skipping it.
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at all heartbeats found."""

    #: The longest due first.
    due: tuple[DueRun, ...]
    #: When the next tick of any of them comes, in UTC; None without one.
    next: datetime | None


class Schedules:
    """Looks at the schedules of all heartbeats; remembers when each comes due, so that a look costs little."""

    def __init__(self, ports: Ports) -> None:
        """Keep the ports."""
        self._ports = ports
        self._next: dict[tuple[str, Seen], datetime] = {}

    def look(self, now: datetime) -> Look:
        """Return what is due at an instant; what was missed, and what starts anew, is noted already."""
        config, seen = self._ports.config(), self._read_seen()
        self._drop_others(config, seen)
        found = [self._look_at(config, beat, seen.get(beat.id), now) for beat in config.heartbeats.values()]
        due = sorted((run for run, _ in found if run), key=lambda run: (run.order.due_at, run.order.beat.id))
        coming = [instant for _, instant in found if instant]
        return Look(tuple(due), min(coming, default=None))

    def _read_seen(self) -> dict[str, Seen]:
        return {row["id"]: _read_look(row) for row in self._ports.state().rows("list_beat_looks")}

    def _drop_others(self, config: BrainFiles, seen: dict[str, Seen]) -> None:
        """Forget heartbeats that are gone or switched off; one whose file has faults is waited for."""
        for name in [name for name in seen if not self._is_watched(config, name)]:
            del seen[name]
            state = self._ports.state()
            with state.transaction():
                state.run("drop_beat_look", id=name)

    @staticmethod
    def _is_watched(config: BrainFiles, name: str) -> bool:
        beat = config.heartbeats.get(name)
        return beat.enabled if beat else has_faults(config, name + HEARTBEAT_SUFFIX)

    def _look_at(
        self, config: BrainFiles, beat: Heartbeat, seen: Seen | None, now: datetime
    ) -> tuple[DueRun | None, datetime | None]:
        if not beat.enabled:
            return None, None
        timezone = config.manifest.locale.timezone
        if seen and (coming := self._recall(beat, seen, timezone, now)):
            return None, coming
        due = find_due(seen, beat.schedule, timezone, now=now)
        looked = Seen(beat.schedule, timezone, now.astimezone(UTC))
        if due.starts_anew or (due.missed and not due.tick):
            self._note(beat, due, looked, seen)
            seen = looked
        if due.tick is None:
            return None, self._remember(beat, seen or looked, now)
        also = lambda state, _is_new: self._write(state, beat, due, looked, seen)  # noqa: E731 - what is known here
        return DueRun(make_order(beat, due.tick), also), find_next(looked, beat.schedule, timezone, now=now)

    def _recall(self, beat: Heartbeat, seen: Seen, timezone: str, now: datetime) -> datetime | None:
        """Return when it comes due next, when that is known and still ahead; None when it must be looked at."""
        coming = self._next.get((beat.id, seen))
        is_same = (seen.schedule, seen.timezone) == (beat.schedule, timezone)
        return coming if coming and is_same and seen.looked_at <= now < coming else None

    def _remember(self, beat: Heartbeat, seen: Seen, now: datetime) -> datetime:
        coming = find_next(seen, beat.schedule, seen.timezone, now=now)
        self._next = {key: value for key, value in self._next.items() if key[0] != beat.id} | {(beat.id, seen): coming}
        return coming

    def _note(self, beat: Heartbeat, due: Due, looked: Seen, seen: Seen | None) -> None:
        state = self._ports.state()
        with state.transaction():
            self._write(state, beat, due, looked, seen)

    def _write(self, state: State, beat: Heartbeat, due: Due, looked: Seen, seen: Seen | None) -> None:
        """Note how far was looked and, in one row, what was missed; inside a transaction.

        Nothing is noted when somebody else has looked meanwhile: an older look must not set a newer one back.
        """
        row = state.row("find_beat_look", id=beat.id)
        if (_read_look(row) if row else None) != seen:
            return
        state.run(
            "set_beat_look",
            id=beat.id,
            schedule=looked.schedule,
            timezone=looked.timezone,
            looked_at=stamp(looked.looked_at),
        )
        if due.missed and seen:
            self._write_missed(state, beat, due.missed, due.missed_count, since=seen.looked_at)

    def _write_missed(self, state: State, beat: Heartbeat, last: datetime, count: int, *, since: datetime) -> None:
        """Note the ticks up to the last missed one, apart from those that were run before the clock was set back."""
        row = state.row("count_runs_due", kind=BeatKind.HEARTBEAT, beat=beat.id, after=stamp(since), until=stamp(last))
        missed = count - int(row["runs"] if row else 0)
        if missed <= 0:
            return
        now, order = self._ports.clock.now(), replace(make_order(beat, last), session=None)
        run = replace(
            BeatRun.begin(order, make_turn(self._ports.config(), beat), at=now),
            outcome=RunOutcome.MISSED,
            message=_explain_missed(missed, last),
        )
        key = f"heartbeat:{beat.id}:missed:{stamp(last)}"
        if start_row(state, key, run):
            finish_row(state, key, run, at=now)


def _read_look(row: sqlite3.Row) -> Seen:
    return Seen(row["schedule"], row["timezone"], datetime.fromisoformat(row["looked_at"]))


def _explain_missed(count: int, last: datetime) -> str:
    more = " or more" if count >= COUNTED_MAX else ""
    what = f"{count}{more} runs were missed" if count > 1 else "A run was missed"
    return f"{what} while no worker looked, the last one due at {last:%Y-%m-%d %H:%M} UTC."


def make_order(beat: Beat, due: datetime) -> Order:
    """Return the order of a tick; its key and its session are the same wherever it is looked at."""
    key = f"heartbeat:{beat.id}:{due.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return Order(kind=BeatKind.HEARTBEAT, beat=beat, key=key, due_at=due, message=beat.body, session=key)


def has_faults(config: BrainFiles, file_name: str) -> bool:
    """Tell whether a file of that name below `features/` does not load, or may be where nothing can be listed."""
    return any(_may_be_of(normalise_id(fault.path), file_name) for fault in config.faults)


def _may_be_of(path: str, file_name: str) -> bool:
    is_directory = path == FEATURES or (path.startswith(f"{FEATURES}/") and not path.endswith(".md"))
    return is_directory or path.endswith(f"/{file_name}")


# -- by hand ---------------------------------------------------------------------------------------------------------


def run_heartbeat(ports: Ports, name: str, *, run_turn: RunTurn, options: RunOptions, replay: bool = False) -> BeatRun:
    """Run a heartbeat now, whatever its schedule says, and also when it is switched off.

    Args:
        ports: The brain.
        name: Id of the heartbeat.
        run_turn: Runs the turn.
        options: How it is run.
        replay: True reads live and writes nothing, not even that it ran (BOUNDARY-08).

    Raises:
        UsageError: There is no such heartbeat.
        WriterUnavailableError: A run of it is going on.
    """
    if replay:
        beat, now = _find_heartbeat(ports.config(), name), ports.clock.now().astimezone(UTC)
        return _rehearse(ports, beat, now, run_turn=run_turn, options=options)
    claimed = claim_heartbeat(ports, name)
    return claimed if isinstance(claimed, BeatRun) else carry_out(ports, claimed, run_turn=run_turn, options=options)


def claim_heartbeat(ports: Ports, name: str) -> Claim | BeatRun:
    """Take a run of a heartbeat by hand for this process; the run itself when it is over because nothing was asked.

    Raises:
        UsageError: There is no such heartbeat.
        WriterUnavailableError: A run of it is going on.
    """
    beat, now = _find_heartbeat(ports.config(), name), ports.clock.now().astimezone(UTC)
    key = f"heartbeat:{beat.id}:{now:%Y-%m-%dT%H:%M:%SZ}:{ports.new_session_id()}"
    order = Order(kind=BeatKind.HEARTBEAT, beat=beat, key=key, due_at=now, message=beat.body, session=key)
    claimed = claim(ports, order, waits=True)
    if claimed is None:
        message = f"The heartbeat {beat.id!r} is running already; nothing was done. Wait until that run is over."
        raise WriterUnavailableError(message)
    return claimed


def _find_heartbeat(config: BrainFiles, name: str) -> Beat:
    if normalise_id(name) not in config.heartbeats and normalise_id(name) in config.hooks:
        events = ", ".join(config.hooks[normalise_id(name)].events)
        message = f"{name!r} is a hook: it runs on {events}, and not by hand."
        raise UsageError(message)
    return config.find_beat(name)


def _rehearse(ports: Ports, beat: Beat, now: datetime, *, run_turn: RunTurn, options: RunOptions) -> BeatRun:
    """Run the turn of a heartbeat as a replay; errors of the turn come up as they are."""
    turn = make_turn(ports.config(), beat, replay=True)
    order = replace(make_order(beat, now), session=None)
    begun = BeatRun.begin(order, turn, at=now)
    if asks_nothing(beat.body):
        return replace(begun, outcome=RunOutcome.SKIPPED, message=NOTHING_ASKED)
    run = run_turn(turn, ports, session=None, message=beat.body, options=options)
    outcome = RunOutcome.INTERRUPTED if run.is_cancelled else RunOutcome.DONE
    return replace(begun, outcome=outcome, session=run.session, run=run)
