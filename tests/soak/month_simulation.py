"""A brain under a clock that is set by hand: beats, talk, flushes, envelopes, summaries and approvals, day after day.

What has to come of each step is checked while it happens, by means of their own: cron by looking at every minute,
deposits and entries by reading the files, envelopes by the bytes that stand behind them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omnislash import Brain
from omnislash.engine import ModelOptions, SearchOptions
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.runtime.loop.turn_runs import run_with_model
from omnislash.testing import FixedClock
from tests.soak.month_values import BEATS, BUDGETS, ZONE, Talk, Verdicts, list_ticks, name_quarter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash.core.events import Event
    from omnislash.index.embedders.ports import Embedder
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.loop.run_values import Run, RunOptions
    from omnislash.runtime.turns import Ports, Turn

ROOT: Final = Path(__file__).parents[2]
#: The tick of the summaries, in Europe/Berlin.
TICK: Final = "0 4 * * *"
#: How far apart the looks of the scheduler are: no schedule names another minute.
_STEP: Final = timedelta(minutes=30)
#: A session of a harness that goes on all the time, and what is asked in it.
HARNESS: Final = "harness-of-tomek"
_HARNESS_HOURS: Final = ((10, 35), (17, 5))
_HARNESS_QUESTIONS: Final = ("What is open today?", "Кто сегодня приходит?", "Which promises have a date?")
#: The day on which the harness shortens its conversation.
COMPACTED_ON: Final = date(2026, 12, 16)
_WEDNESDAY, _SUNDAY = 2, 6
_SIGNED: Final = " — nova · briefing"
#: Ids that are up to chance: of an approval, and of the session of a heartbeat that is run by hand.
_BY_CHANCE: Final = re.compile(r"(?<=approvals approve )\S+|(?<=\dZ:)[\w-]+")
#: The key of a run by the clock; one by hand has more behind it.
_BY_CLOCK: Final = re.compile(r"heartbeat:[\w-]+:[-\dT:]+Z")


@dataclass
class Day:
    """What happened on a day, for the report."""

    on: date
    beats: list[str] = field(default_factory=list)
    turns: int = 0
    written: Counter[str] = field(default_factory=Counter)
    flushes: Counter[str] = field(default_factory=Counter)
    sent: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    chars: int = 0


#: All that a run left behind which has to be the same in another one, line by line.
Trace = dict[str, list[str]]


@dataclass
class Seen:
    """What the session of the harness was shown last: a hash of what stands behind each block."""

    hashes: dict[str, str] = field(default_factory=dict)


class Simulation:
    """One run of the days over a copy of brain-example."""

    def __init__(
        self, root: Path, first: datetime, last: datetime, talk: Sequence[Talk], embedders: tuple[Embedder, ...] | None
    ) -> None:
        """Copy brain-example to `root`, which must not exist; `embedders` stand in for the one that it names."""
        shutil.copytree(ROOT / "brain-example", root, ignore=shutil.ignore_patterns(".omnislash", ".memory-index.db*"))
        self.root = root
        self.first, self.last = first, last
        self.talk = [one for one in talk if first <= one.at <= last]
        self.verdicts = Verdicts()
        self.days: list[Day] = []
        self._clock = FixedClock(first)
        self._embedders = embedders
        self._events: list[Event] = []
        self._answers: list[str] = []
        self._envelopes: list[str] = []
        self._beat_runs: list[tuple[str, Run]] = []
        self._seen = Seen()
        self._open()

    # -- the brain ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        search = SearchOptions(catch_up_s=None, embedders=self._embedders)
        models = ModelOptions(environment={})
        self._brain = Brain.open(self.root, clock=self._clock, search=search, models=models)
        self._brain.on_event(self._events.append)
        ports = self._brain._ports()
        self._scheduler = Scheduler(ports, self._run_beat, threaded=False)

    def _run_beat(self, turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        run = run_with_model(turn, ports, session=session, message=message, options=options)
        self._beat_runs.append((str(turn.scope.heartbeat), run))
        return run

    def _restart(self) -> None:
        self._brain.close()
        self._open()
        self._today().notes.append("restart")

    # -- the days ----------------------------------------------------------------------------------------------------

    def run(self) -> Trace:
        """Let the time pass, and return what it left behind."""
        for at, _, step in sorted(self._plan(), key=lambda planned: planned[:2]):
            self._clock.advance(at - self._clock.now())
            step()
        self._brain.close()
        self._check_beats()
        self._check_home()
        self._check_talk()
        self._check_summaries()
        return self._trace()

    def _plan(self) -> list[tuple[datetime, int, Callable[[], None]]]:
        """Return all steps, each with its instant, and its place among those of the same instant."""
        looks = _range(self.first, self.last, _STEP)
        steps: list[tuple[datetime, int, Callable[[], None]]] = [(at, 1, self._look) for at in looks]
        steps += [(at, 0, self._tick) for at in list_ticks(TICK, self.first, self.last)]
        steps += [(one.at.astimezone(UTC), 2, lambda one=one: self._say(one)) for one in self.talk]  # type: ignore[misc]
        for on in _list_days(self.first, self.last):
            steps.append((_local(on, 23, 55), 4, self._end_day))
            if on.weekday() == 0:
                steps.append((_local(on, 12, 10), 3, self._approve))
            if on.weekday() == _SUNDAY:
                steps.append((_local(on, 23, 10), 3, self._restart))
                continue
            if on.weekday() == _WEDNESDAY:
                steps.append((_local(on, 8, 5), 3, self._run_again))
            steps += [(_local(on, *time), 3, self._ask_for_envelope) for time in _HARNESS_HOURS]
        return [planned for planned in steps if self.first <= planned[0] <= self.last]

    def _now(self) -> datetime:
        return self._clock.now().astimezone(ZONE)

    def _today(self) -> Day:
        on = self._now().date()
        if not self.days or self.days[-1].on != on:
            self.days.append(Day(on))
        return self.days[-1]

    def _end_day(self) -> None:
        """Hold every MEMORY.md against its budget."""
        for line, limit in BUDGETS.items():
            path = self.root / "memory" / line / "MEMORY.md"
            chars = len(path.read_text(encoding="utf-8").encode("utf-16-le")) // 2
            self.verdicts.check(f"{self._now():%m-%d}: {line}/MEMORY.md has {chars} of {limit}", holds=chars <= limit)
            if line == "main":
                self._today().chars = chars

    # -- beats, ticks, approvals -------------------------------------------------------------------------------------

    def _look(self) -> None:
        before = len(self._events)
        self._scheduler.look()
        self._note_beats(before)

    def _run_again(self) -> None:
        """Run the briefing by hand, half an hour after the clock did: it must find nothing to write."""
        before, files = len(self._events), self._hash_memory()
        self._brain.run_heartbeat("briefing", run_turn=self._run_beat)
        self.verdicts.check(
            f"{self._now():%m-%d}: a briefing run again changes no file", holds=self._hash_memory() == files
        )
        self._note_beats(before)

    def _note_beats(self, before: int) -> None:
        runs, self._beat_runs = self._beat_runs, []
        for name, run in runs:
            self._note_beat(name, run, before)

    def _note_beat(self, name: str, run: Run, before: int) -> None:
        day = self._today()
        self._answers.append(_mask(run.text))
        written = [call for call in run.calls if call.answer.get("outcome") == "written"]
        deposits = [call for call in run.calls if call.tool == "memory_write" and call.arguments.get("line") == "ops"]
        log = self._read_log("ops", day.on)
        for call in deposits:
            entry = f"{call.arguments['content']}{_SIGNED}"
            is_there = call.answer.get("outcome") in {"written", "duplicate"} and log.count(f" {entry}\n") == 1
            self.verdicts.check(f"{day.on}: a deposit landed signed, once: {entry}", holds=is_there)
        landed = sum(call in written for call in deposits)
        asked = sum(call.answer.get("outcome") == "approval-required" for call in run.calls)
        counts = [
            f"{landed} deposited" if landed else "",
            f"{len(written) - landed} own" if len(written) > landed else "",
        ]
        counts.append(f"{asked} asked" if asked else "")
        day.beats.append(f"{name} {self._now():%H:%M}: {', '.join(filter(None, counts)) or 'nothing'}")
        day.written["deposits"] += landed
        self._check_flush(run, before, what=f"{day.on} beat {name}", kept=())

    def _tick(self) -> None:
        answer = self._brain.consolidate(now=self._clock.now())
        day = self._today()
        for line in answer.to_json()["lines"]:
            day.summaries += [done["period"] for done in line["done"]]
            for failed in line["failed"]:
                self.verdicts.check(f"{day.on}: no summary fails: {failed}", holds=False)

    def _approve(self) -> None:
        """Let Ida agree to what is asked on Mondays; a note that was promoted stands there word for word afterwards."""
        for asked in self._brain.approvals():
            verdict = self._brain.approve(asked.id)
            path, entry = str(asked.arguments["path"]), " ".join(str(asked.arguments["entry"]).split())
            what = f"{self._now():%m-%d}: {path} lets go of {entry[:60]!r}"
            self.verdicts.check(f"{what}: {verdict.message}", holds=verdict.outcome.value == "written")
            text = (self.root / "memory" / path).read_text(encoding="utf-8")
            kept = len(re.findall(rf"- {re.escape(entry)} \(\d{{4}}-\d\d-\d\d\)\n", text))
            wanted = 1 if path.endswith("MEMORY.md") else 0
            self.verdicts.check(f"{what} and keeps it {wanted} times", holds=kept == wanted == text.count(entry))
            self._today().notes.append(f"Ida agreed: {path}")

    # -- talk --------------------------------------------------------------------------------------------------------

    def _say(self, talk: Talk) -> None:
        before, day = len(self._events), self._today()
        run = self._brain.agent(talk.role).run(talk.text, session=f"{talk.role}-with-{talk.who}")
        day.turns += 1
        day.written["entries"] += sum(call.answer.get("outcome") == "written" for call in run.calls)
        self._answers.append(_mask(run.text))
        what = f"{talk.at:%m-%d %H:%M} {talk.who}: {talk.text[:60]!r}"
        for said in talk.says:
            self.verdicts.check(f"{what} is answered with {said!r}, not {run.text!r}", holds=said in run.text)
        self._check_wish(talk, what)
        self._check_flush(run, before, what=what, kept=talk.kept)

    def _check_wish(self, talk: Talk, what: str) -> None:
        """Look whether what was to be remembered stands where it belongs."""
        if talk.content == talk.text or talk.text.startswith("forget"):
            return
        line = "ops" if talk.role == "ops" else "main"
        log = self._read_log(line, talk.at.date())
        memory = (self.root / "memory" / line / "MEMORY.md").read_text(encoding="utf-8")
        self.verdicts.check(f"{what} is noted", holds=log.count(f"- {talk.at:%H:%M} {talk.content}\n") == 1)
        self.verdicts.check(f"{what} is in MEMORY.md", holds=memory.count(f"- {talk.content}\n") == int(talk.priority))

    def _check_flush(self, run: Run, before: int, *, what: str, kept: Sequence[str]) -> None:
        """Hold a flush against its one event: the role nova has one after every turn, the others have none."""
        flushed = [event for event in self._events[before:] if event.name == "agent:memory_flushed"]
        if run.role != "nova":
            self.verdicts.check(f"{what}: {run.role} is not flushed", holds=not flushed and run.flush is None)
            return
        mine = [event.to_json() for event in flushed if event.to_json()["session"] == run.session]
        report = run.flush
        outcome = "saved" if kept else "nothing_saved"
        is_told = report is not None and len(mine) == len(flushed) == 1 and mine[0]["outcome"] == report.outcome
        self.verdicts.check(f"{what}: the flush reports one outcome: {mine}", holds=is_told)
        found = report.outcome.value if report else None
        self.verdicts.check(f"{what}: the flush is {outcome}, not {found}", holds=found == outcome)
        self._today().flushes[str(found)] += 1
        log = self._read_log("main", self._today().on)
        for text in kept:
            self.verdicts.check(f"{what}: kept {text!r}", holds=log.count(f" {text}\n") == 1)

    # -- envelopes ---------------------------------------------------------------------------------------------------

    def _ask_for_envelope(self) -> None:
        day = self._today()
        is_compacted = day.on == COMPACTED_ON and self._now().hour == _HARNESS_HOURS[0][0]
        question = _HARNESS_QUESTIONS[day.on.toordinal() % len(_HARNESS_QUESTIONS)]
        sent = self._brain.agent("nova").turn(session=HARNESS, message=question, is_compacted=is_compacted)
        self._envelopes.append(sent.render())
        self._check_envelope(sent, is_compacted=is_compacted)

    def _check_envelope(self, sent: Delivery, *, is_compacted: bool) -> None:
        """Hold what was sent against what has changed behind it since the last time."""
        now = {
            "agent-environment": self._now().date().isoformat(),
            "agent-memory": _hash(self.root / "memory" / "main" / "MEMORY.md"),
            "agent-memory-periods": "".join(_hash(path) for path in self._latest_summaries()),
        }
        old, self._seen.hashes = self._seen.hashes, now
        is_first = not old or is_compacted
        due = {name for name, value in now.items() if is_first or old.get(name) != value}
        has_day = bool(self._read_log("main", self._now().date()))
        due |= {"agent-memory-daily"} if is_first and has_day else set()
        due |= {"agent-context-snapshot"} if is_compacted else set()
        names = [block.name.value for block in sent.blocks]
        day = self._today()
        day.sent += [name.removeprefix("agent-").removeprefix("memory-") for name in names]
        what = f"{day.on} {self._now():%H:%M}: the envelope sends {sorted(due)}, not {names}"
        self.verdicts.check(what, holds=sorted(names) == sorted(due))

    def _latest_summaries(self) -> list[Path]:
        """Return the newest weekly and the newest monthly summary of main: what its ladder shows."""
        year = sorted((self.root / "memory" / "main").glob("[0-9]*/*.md"))
        weeks = [path for path in year if re.fullmatch(r"\d{4}-W\d\d", path.stem)]
        months = [path for path in year if re.fullmatch(r"\d{4}-\d\d", path.stem)]
        return [*weeks[-1:], *months[-1:]]

    def list_runs(self) -> list[str]:
        """Return when the runs by the clock came due, in UTC and in order."""
        rows = self._rows("SELECT key, due_at FROM runs ORDER BY due_at")
        return [due for key, due in rows if _BY_CLOCK.fullmatch(key)]

    # -- what has to be there in the end -----------------------------------------------------------------------------

    def _check_beats(self) -> None:
        """Hold the runs against cron: each tick once, on time, done, and nothing else."""
        wanted = {
            (name, tick.isoformat())
            for name, schedule in BEATS.items()
            for tick in list_ticks(schedule, self.first, self.last)
        }
        found = self._rows("SELECT key, beat, due_at, started_at, outcome FROM runs")
        rows = [row for key, *row in found if _BY_CLOCK.fullmatch(key)]
        ran = Counter((beat, datetime.fromisoformat(due).isoformat()) for beat, due, _, _ in rows)
        self.verdicts.check(f"every beat fires when cron says: {wanted ^ set(ran)}", holds=wanted == set(ran))
        self.verdicts.check("no beat fires twice", holds=set(ran.values()) <= {1})
        for beat, due, started, outcome in rows:
            is_on_time = datetime.fromisoformat(due) == datetime.fromisoformat(started)
            self.verdicts.check(f"{beat} of {due} is {outcome} at {started}", holds=is_on_time and outcome == "done")

    def _check_home(self) -> None:
        """Hold the household's line against its privacy: no role but its own changed it."""
        found = self._rows("SELECT DISTINCT role FROM audit WHERE line = 'home' AND tool LIKE 'memory_%'")
        roles = {role for (role,) in found}
        self.verdicts.check(
            f"home is changed by its own roles, not by {roles}", holds=roles <= {"sova", "home-curator"}
        )

    def _check_talk(self) -> None:
        """Hold the files against the talk: what was to be remembered, handed on, and put into an entry of the day."""
        ops = "".join(path.read_text(encoding="utf-8") for path in self._list_logs("ops"))
        signed = 0
        for talk in self.talk:
            entry = talk.kept[0] if talk.kept else talk.content
            times = ops.count(f"{entry}{_SIGNED}\n")
            signed += times
            is_over = _next_working_day(talk.at.date(), 7, 30) <= self.last
            wanted = int(talk.deposited and is_over)
            self.verdicts.check(f"{entry!r} is handed on {wanted} times, not {times}", holds=times == wanted)
            for on in talk.planned:
                if _local(on, 7, 30) <= self.last:
                    self._check_plan(entry, on)
        before = "".join(
            path.read_text(encoding="utf-8") for path in (ROOT / "brain-example" / "memory" / "ops").rglob("2*/*/*.md")
        )
        self.verdicts.check("nothing else is handed on", holds=ops.count(_SIGNED) - before.count(_SIGNED) == signed)

    def _check_plan(self, entry: str, on: date) -> None:
        plans = [line for line in self._read_log("main", on).splitlines() if f"07:30 {on}: " in line]
        self.verdicts.check(f"{on} has one entry of the day: {plans}", holds=len(plans) == 1)
        self.verdicts.check(f"the entry of {on} has {entry!r}: {plans}", holds=any(entry in plan for plan in plans))

    def _check_summaries(self) -> None:
        """Hold the summaries of main against the calendar: every period that was over at the last tick."""
        last = list_ticks(TICK, self.first, self.last)[-1].astimezone(ZONE).date()
        folder = self.root / "memory" / "main"
        days = {date.fromisoformat(path.stem) for path in self._list_logs("main")}
        weeks = {f"{on.isocalendar().year}-W{on.isocalendar().week:02}" for on in days if _week_end(on) < last}
        months = {f"{on:%Y-%m}" for on in days if (on.replace(day=28) + timedelta(days=4)).replace(day=1) <= last}
        # A level is made the night after the one below it: the quarter on 2 January, the year on the 3rd.
        this_quarter = name_quarter(f"{last - timedelta(days=1):%Y-%m}")
        quarters = {name for month in months if (name := name_quarter(month)) < this_quarter}
        years = {month[:4] for month in months if int(month[:4]) < (last - timedelta(days=2)).year}
        wanted = weeks | months | quarters | years
        found = {path.stem for path in folder.glob("[0-9]*/*.md")}
        self.verdicts.check(f"summaries of main: {wanted ^ found}", holds=wanted == found)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _list_logs(self, line: str) -> list[Path]:
        return sorted((self.root / "memory" / line).glob("[0-9]*/[0-9]*/*.md"))

    def _read_log(self, line: str, on: date) -> str:
        path = self.root / "memory" / line / f"{on:%Y/%m/%Y-%m-%d}.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.root / ".omnislash" / "state.db")) as database:
            return list(database.execute(query))

    def _hash_memory(self) -> dict[str, str]:
        memory = self.root / "memory"
        return {str(path.relative_to(memory)): _hash(path) for path in sorted(memory.rglob("*.md"))}

    def _trace(self) -> Trace:
        audit = "SELECT at, actor, role, heartbeat, tool, line, paths, outcome, chars FROM audit ORDER BY id"
        runs = "SELECT started_at, finished_at, outcome, message, beat, session FROM runs ORDER BY started_at, beat"
        return {
            "files": [f"{path} {found}" for path, found in self._hash_memory().items()],
            "events": self._list("SELECT at, name, payload, heartbeat FROM events ORDER BY id"),
            "audit": self._list(audit),
            "runs": self._list(runs),
            "answers": self._answers,
            "envelopes": self._envelopes,
        }

    def _list(self, query: str) -> list[str]:
        return [_mask(json.dumps(row, ensure_ascii=False)) for row in self._rows(query)]


# -- days and hashes -------------------------------------------------------------------------------------------------


def _mask(text: str) -> str:
    """Return a text without the ids that are up to chance."""
    return _BY_CHANCE.sub("…", text)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _local(on: date, hour: int, minute: int) -> datetime:
    return datetime(on.year, on.month, on.day, hour, minute, tzinfo=ZONE).astimezone(UTC)


def _list_days(first: datetime, last: datetime) -> list[date]:
    start, end = first.astimezone(ZONE).date(), last.astimezone(ZONE).date()
    return [start + timedelta(days=number) for number in range((end - start).days + 1)]


def _range(first: datetime, last: datetime, step: timedelta) -> list[datetime]:
    start = first.astimezone(UTC)
    return [start + number * step for number in range((last - start) // step + 1)]


def _week_end(on: date) -> date:
    return on + timedelta(days=_SUNDAY - on.weekday())


def _next_working_day(on: date, hour: int, minute: int) -> datetime:
    on += timedelta(days=1)
    while on.weekday() >= _SUNDAY - 1:
        on += timedelta(days=1)
    return _local(on, hour, minute)
