"""Brains for the soak of the ladder, the nights over them, and what each night has to leave behind.

What is expected comes from `tests.property.ladder_model`, which is written from the text of the rules; paths and
sentences are put together here, from PERIOD-04 to -07, PERIOD-25 and PERIOD-O7.
"""

from __future__ import annotations

import json
import random  # noqa: TID251 - seeded, so that every run makes the same nights
import re
import shutil
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from omnislash.testing import FixedClock
from tests.property.ladder_model import FINEST_FIRST, Line, Model, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnislash import Brain

ROOT = Path(__file__).parents[2]
#: Zones between which a brain moves: clocks that skip midnight, that are half an hour off, that are a day ahead.
ZONES = ("America/Santiago", "Europe/Berlin", "Asia/Kolkata", "Pacific/Kiritimati", "UTC")
#: Stages of a view that the model knows.
STAGES = ("filed", "due", "waiting")
#: The hour of the tick, local: that of the default schedule.
HOUR = 4
_SUMMARY = re.compile(r"\d{4}(-(W\d\d|Q[1-4]|\d\d))?\.md")
_SENTENCES = (
    "Decided: {who} orders the {thing} from the cheaper supplier, because the other one is always late.",
    "{who} promised to bring the {thing} on {later}.",
    "Correction: the {thing} costs {number} euros, not {other}.",
    "Nobody knows where the {thing} of {who} went; still open.",
    "{who} rang twice about the {thing} and was told {number} days.",
    "The {thing} was mended, paid and taken home.",
    "Решили: {who} забирает {thing} до {later}.",
    "{who} fragt, ob {thing} bis {later} warten kann.",
)
_WHO = ("Tomek", "Ida", "Ravi", "Nour", "Lena", "Olek", "Maja", "Per")
_THINGS = ("hub", "saddle", "frame 17", "cargo bike", "front wheel", "lamp", "basket", "invoice 204", "trailer", "bell")


@dataclass
class Report:
    """What was counted, and what went wrong."""

    violations: list[str] = field(default_factory=list)
    nights: int = 0
    written: int = 0
    failed: int = 0
    deleted: int = 0
    late: int = 0

    def check(self, what: str, *, holds: bool) -> None:
        """Note a violation unless it holds."""
        if not holds:
            self.violations.append(what)


# -- files -----------------------------------------------------------------------------------------------------------


def make_brain(root: Path, levels: Mapping[str, Sequence[str]], *, max_runs: int, zone: str = "Europe/Berlin") -> Path:
    """Make a brain without any memory whose manifest enables these levels."""
    (root / "features" / "soak").mkdir(parents=True)
    (root / "constitution").mkdir()
    (root / "omnislash.yaml").write_text("memory: {}\nharnesses:\n  broken: ['false']\n", encoding="utf-8")
    role = "---\nmemory: { write: main }\ncapabilities: [memory:read, memory:write]\n---\nA soak role.\n"
    (root / "features" / "soak" / "nova.agent.md").write_text(role, encoding="utf-8")
    write_manifest(root, levels, max_runs=max_runs, zone=zone)
    return root


def write_manifest(
    root: Path, levels: Mapping[str, Sequence[str]], *, max_runs: int, zone: str, model: str = "offline"
) -> None:
    """Write the manifest anew."""
    lines = {line: {"periods": list(enabled)} for line, enabled in levels.items()}
    consolidation = {"lines": lines, "maxRunsPerTick": max_runs, "modelRef": model}
    manifest = {"memory": {"consolidation": consolidation}, "locale": {"timezone": zone}}
    (root / "constitution" / "MANIFEST.yaml").write_text(json.dumps(manifest), encoding="utf-8")


def place_of_log(root: Path, line: str, on: date) -> Path:
    """Return the place of a daily log."""
    return root / "memory" / line / f"{on.year:04d}" / f"{on.month:02d}" / f"{on.isoformat()}.md"


def place_of_summary(root: Path, line: str, name: str) -> Path:
    """Return the place of a summary (PERIOD-04 to -07)."""
    return root / "memory" / line / name[:4] / f"{name}.md"


def save(place: Path, text: str) -> None:
    """Write a file and the directories above it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def write_log(root: Path, line: str, on: date, chance: random.Random) -> None:
    """Write a daily log of one to nine entries, or add one to it."""
    place = place_of_log(root, line, on)
    if place.exists():
        save(place, place.read_text(encoding="utf-8") + f"- 23:50 {make_sentence(chance, on)}\n")
        return
    entries = [f"- {8 + hour:02d}:05 {make_sentence(chance, on)}" for hour in range(chance.randint(1, 9))]
    save(place, f"# {on.isoformat()}\n\n" + "\n".join(entries) + "\n")


def make_sentence(chance: random.Random, on: date) -> str:
    """Return a sentence such as people note down."""
    number = chance.randint(2, 400)
    return chance.choice(_SENTENCES).format(
        who=chance.choice(_WHO),
        thing=chance.choice(_THINGS),
        number=number,
        other=number + chance.randint(1, 9),
        later=(on + timedelta(days=chance.randint(1, 20))).isoformat(),
    )


def read_logs(root: Path, line: str) -> set[date]:
    """Return the days whose log says something beyond headings (PERIOD-O3)."""
    days = set()
    for place in (root / "memory" / line).glob("[0-9]*/[0-9]*/*.md"):
        text = place.read_text(encoding="utf-8").split("\n")
        if any(row.strip() and not row.startswith("#") for row in text):
            days.add(date.fromisoformat(place.stem))
    return days


def read_summaries(root: Path, line: str) -> dict[str, bytes]:
    """Return the text of each summary of a line, by its name."""
    found = (root / "memory" / line).glob("[0-9]*/*.md")
    return {place.stem: place.read_bytes() for place in found if _SUMMARY.fullmatch(place.name)}


def read_ladders(root: Path) -> dict[str, dict[str, bytes]]:
    """Return the summaries of every line."""
    return {place.name: read_summaries(root, place.name) for place in (root / "memory").iterdir() if place.is_dir()}


def read_others(root: Path) -> dict[str, bytes]:
    """Return every file under `memory/` that is no summary."""
    places = (place for place in (root / "memory").rglob("*") if place.is_file())
    return {
        str(place.relative_to(root)): place.read_bytes()
        for place in places
        if not (_SUMMARY.fullmatch(place.name) and place.parent.name == place.name[:4])
    }


def check_others(root: Path, before: Mapping[str, bytes], where: str, report: Report) -> None:
    """Check that no file is new, gone or other than before, summaries apart."""
    after = read_others(root)
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    report.check(f"{where}: changed: {changed}", holds=not changed)


def watch_summaries(root: Path, line: str) -> dict[str, tuple[int, int, int]]:
    """Return what changes when a summary is written again, by its file's name: inode, instant, size."""
    found = {}
    for place in (root / "memory" / line).glob("[0-9]*/*.md"):
        stat = place.stat()
        found[place.stem] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return found


# -- nights ----------------------------------------------------------------------------------------------------------


@dataclass
class Nights:
    """A brain, the model of its lines, and the nights that pass over both."""

    root: Path
    levels: dict[str, list[str]]
    max_runs: int
    zone: str
    model: Model
    report: Report
    #: The brain's clock; what people do by hand happens a day after the tick before.
    clock: FixedClock = field(default_factory=FixedClock)
    lines: dict[str, Line] = field(default_factory=dict)
    seen: dict[str, dict[str, tuple[int, int, int]]] = field(default_factory=dict)

    def learn(self) -> None:
        """Take the lines as they are on the disk."""
        for name, levels in self.levels.items():
            self.lines[name] = Line(set(levels), read_logs(self.root, name), set(read_summaries(self.root, name)))
            self.seen[name] = watch_summaries(self.root, name)

    def configure(self, *, model: str = "offline") -> None:
        """Write the manifest as it should be now."""
        write_manifest(self.root, self.levels, max_runs=self.max_runs, zone=self.zone, model=model)
        for name, levels in self.levels.items():
            self.lines[name].levels = set(levels)

    def instant(self, today: date) -> datetime:
        """Return the instant of the tick of a day."""
        return datetime(today.year, today.month, today.day, HOUR, tzinfo=ZoneInfo(self.zone))

    def pass_night(self, brain: Brain, today: date, *, broken: bool = False) -> int:
        """Run the tick of a day, hold it against the model, and return how many summaries it wrote."""
        self.clock.advance(self.instant(today) - self.clock.now())
        self._check_plan(brain, today)
        answer = brain.consolidate().to_json()
        by_line = {each["line"]: each for each in answer["lines"]}
        self.report.nights += 1
        self.report.check(f"{today}: lines {sorted(by_line)}", holds=set(by_line) == set(self.levels))
        return sum(self._check_line(name, by_line[name], today, broken=broken) for name in self.levels)

    def _check_plan(self, brain: Brain, today: date) -> None:
        """Hold what `--dry-run` and `--show` say before the tick against the model."""
        told = {each["line"]: each for each in brain.plan_consolidation().to_json()["lines"]}
        shown = {each["line"]: each["rungs"] for each in brain.show_ladder().to_json()["lines"]}
        for name, line in self.lines.items():
            due, waiting = self.model.tick(line, today)
            where = f"{self.root.parent.name}: {today}, {name}"
            right = [(period, [self._path(name, source) for source in sources]) for period, sources in due]
            planned = [(each["period"], each["sources"]) for each in (*told[name]["due"], *told[name]["later"])]
            self._expect(f"{where}: planned", planned, right)
            self._expect(f"{where}: planned at once", len(told[name]["due"]), min(len(due), self.max_runs))
            stages = {stage: {rung["period"] for rung in shown[name] if rung["stage"] == stage} for stage in STAGES}
            rights = (line.files, {period for period, _ in due}, set(waiting))
            self._expect(f"{where}: stages", stages, dict(zip(STAGES, rights, strict=True)))

    def _check_line(self, name: str, told: Mapping[str, Any], today: date, *, broken: bool) -> int:
        """Hold what a tick says of a line, and what it left there, against the model."""
        line, where = self.lines[name], f"{self.root.parent.name}: {today}, {name}"
        due, waiting = self.model.tick(line, today)
        runs = due[: self.max_runs]
        done = [] if broken else runs
        paths = [(period, [self._path(name, source) for source in sources]) for period, sources in done]
        self._expect(f"{where}: written", [(each["period"], each["sources"]) for each in told["done"]], paths)
        failed = [period for period, _ in runs] if broken else []
        self._expect(f"{where}: failed", [each["period"] for each in told["failed"]], failed)
        self._expect(f"{where}: waiting", {each["period"]: each["waitsFor"] for each in told["waiting"]}, waiting)
        queued = len(due) + len(waiting) - len(done)
        self._expect(f"{where}: message", told["message"], tell(len(done), len(runs), queued))
        self._expect(f"{where}: queued", told["queued"], queued)
        line.files |= {period for period, _ in done}
        self._check_files(name, where)
        self.report.written += len(done)
        self.report.failed += len(failed)
        return len(done)

    def _check_files(self, name: str, where: str) -> None:
        """Check that the model's files are there and no others, and that none was written again."""
        there = watch_summaries(self.root, name)
        self._expect(f"{where}: files", sorted(there), sorted(self.lines[name].files))
        again = [file for file, state in self.seen[name].items() if there.get(file, state) != state]
        self.report.check(f"{where}: written again: {again}", holds=not again)
        self.seen[name] = there

    def _expect(self, what: str, found: object, right: object) -> None:
        self.report.check(f"{what} is {found}, not {right}", holds=found == right)

    @staticmethod
    def _path(line: str, name: str) -> str:
        """Return the managed path of a source: a day has two dashes and no letter."""
        folder = f"{name[:4]}/{name[5:7]}" if name.count("-") == 2 else name[:4]
        return f"{line}/{folder}/{name}.md"


def tell(done: int, attempted: int, queued: int) -> str:
    """Return the sentence of a tick (PERIOD-25, PERIOD-O7)."""
    more = f", {queued} more queued for the next tick" if queued else ""
    return f"Consolidated {done}/{attempted} due period(s){more}"


# -- what the nights are about ---------------------------------------------------------------------------------------


def copy_example(root: Path, *, months: int) -> None:
    """Copy the November of the workshop's lines, with one summary, and again as each of so many later months."""
    source = ROOT / "brain-example" / "memory"
    for name in ("main", "ops", "research"):
        shutil.copytree(source / name / "2026" / "11", root / "memory" / name / "2026" / "11")
        shutil.copy(source / name / "MEMORY.md", root / "memory" / name)
    shutil.copy(source / "main" / "2026" / "2026-W45.md", root / "memory" / "main" / "2026")
    logs = sorted((root / "memory").glob("*/2026/11/*.md"))
    for place in logs:
        text, on = place.read_text(encoding="utf-8"), date.fromisoformat(place.stem)
        line = place.relative_to(root / "memory").parts[0]
        for later in range(1, months + 1):
            year, month = divmod(2026 * 12 + 10 + later, 12)
            try:
                day = date(year, month + 1, on.day)
            except ValueError:
                continue
            save(place_of_log(root, line, day), text.replace(on.isoformat(), day.isoformat()))


@dataclass
class Chaos:
    """What people do between the nights: late entries, empty logs, deletions, own summaries, other levels and zones."""

    nights: Nights
    chance: random.Random

    def write_day(self, on: date) -> None:
        """Write the logs of a day: in spells of work and of silence, and some that hold a heading alone."""
        for name, line in self.nights.lines.items():
            if not self._works(name, on):
                continue
            if self.chance.random() < 0.04:
                save(place_of_log(self.nights.root, name, on), f"# {on.isoformat()}\n\n")
                continue
            write_log(self.nights.root, name, on, self.chance)
            line.logs.add(on)

    def _works(self, name: str, on: date) -> bool:
        """Tell whether a line is written that day: seldom in some months, nearly always in others."""
        spell = random.Random(f"{name} {on.isoformat()[:7]}").choice((0.0, 0.03, 0.3, 0.7, 0.95))
        return self.chance.random() < spell

    def disturb(self, today: date) -> None:
        """Do what a person may do before the tick of a day."""
        name = self.chance.choice(sorted(self.nights.lines))
        line, dice = self.nights.lines[name], self.chance.random()
        if dice < 0.05:
            on = today - timedelta(days=self.chance.randint(1, 50))
            write_log(self.nights.root, name, on, self.chance)
            line.logs.add(on)
            self.nights.report.late += 1
        elif dice < 0.09 and line.files:
            self._delete(name, self.chance.choice(sorted(line.files)))
        elif dice < 0.11:
            level = self.chance.choice(FINEST_FIRST)
            self._write_own(name, name_of(level, today - timedelta(days=self.chance.randint(-20, 60))))
        elif dice < 0.115:
            self.nights.levels[name] = self.chance.sample(FINEST_FIRST, self.chance.randint(1, 4))
        elif dice < 0.12:
            self.nights.zone = self.chance.choice(ZONES)

    def _delete(self, line: str, period: str) -> None:
        place_of_summary(self.nights.root, line, period).unlink()
        self.nights.lines[line].files.discard(period)
        self.nights.seen[line].pop(period, None)
        self.nights.report.deleted += 1

    def _write_own(self, line: str, period: str) -> None:
        """Write a summary by hand, as people may, where there is none."""
        if period not in self.nights.lines[line].files:
            save(place_of_summary(self.nights.root, line, period), f"# {period}\n\nWritten by hand: a quiet time.\n")
            self.nights.lines[line].files.add(period)
