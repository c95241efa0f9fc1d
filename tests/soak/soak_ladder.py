"""Soak the period ladder: years of nights against a model of the rules, and ticks that are killed in every state.

Nights: the tick of each night for three years, over the lines of brain-example with its month again and again, over
logs that grow at random while people write late, delete summaries, write their own, change levels and time zones and
lose their model, and over a year of logs for which the ladder is turned on late. Each night the files have to be those
that a brute-force model finds, which is written from the text of the rules; no file is ever written again.

Kills: the tick of a process is ended with SIGKILL at each of its calls that change the disk, then at random moments,
then as a command, then while a worker that dies as well does the writing. The ticks that follow have to leave the same
ladder, byte for byte, as those of a quiet run. In the end many ticks run at once, and no period may be written twice.

Run it with `make ladder`; `--nights`, `--logs`, `--kills`, `--commands` and `--crowds` scale it, `--seed` varies it.
The exit code is 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import logging
import multiprocessing
import os
import random  # noqa: TID251 - seeded; only which moment a kill hits is up to chance
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.errors import OmnislashError  # noqa: E402 - the same
from omnislash.testing.disks import CountingDisk, StoppingDisk  # noqa: E402 - the same
from tests.property.ladder_model import FINEST_FIRST, Model  # noqa: E402 - the same
from tests.soak.ladder_brains import (  # noqa: E402 - the same
    ZONES,
    Chaos,
    Nights,
    Report,
    check_others,
    copy_example,
    make_brain,
    read_ladders,
    read_others,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnislash.store.disk import Disk

ALL = list(FINEST_FIRST)
#: Ticks after which a ladder that still grows is called stuck.
ENOUGH_TICKS = 400
#: How long a child may run before it is called stuck, in seconds.
STUCK_S = 120.0
#: When the killed ticks run: the year before it is over.
KILLED_AT = datetime(2027, 1, 4, 3, 0, tzinfo=UTC)
_FORK = multiprocessing.get_context("fork")


# -- nights ----------------------------------------------------------------------------------------------------------


def walk_example(place: Path, nights: int, report: Report) -> None:
    """Let nights pass over the lines of brain-example, each with other levels."""
    levels = {"main": ["week", "month"], "research": ALL, "ops": ["week", "year"]}
    root = make_brain(place / "example" / "brain", levels, max_runs=4)
    copy_example(root, months=nights // 30)
    first = date(2026, 11, 2)
    model = Model.of(first, first + timedelta(days=nights))
    walk = Nights(root, levels, 4, "Europe/Berlin", model, report)
    walk.learn()
    before = read_others(root)
    with Brain.open(root, clock=walk.clock) as brain:
        for number in range(nights):
            walk.pass_night(brain, first + timedelta(days=number))
    check_others(root, before, "brain-example", report)


def walk_chaos(place: Path, nights: int, seed: int, report: Report) -> None:
    """Let nights pass over lines that grow at random, in a zone whose clocks skip midnight at first."""
    levels = {"a": ALL, "b": ["week", "month"], "c": ["month", "year"], "d": ["week", "quarter"], "e": ["year"]}
    chance = random.Random(seed)
    first, max_runs = date(2025, 12, 20) + timedelta(days=chance.randint(0, 400)), chance.choice((1, 2, 2, 4))
    root = make_brain(place / f"random-{seed}" / "brain", levels, max_runs=max_runs, zone=ZONES[0])
    model = Model.of(first - timedelta(days=60), first + timedelta(days=nights))
    walk = Nights(root, levels, max_runs, ZONES[0], model, report)
    walk.learn()
    chaos = Chaos(walk, chance)
    with Brain.open(root, clock=walk.clock) as brain:
        for number in range(nights):
            today = first + timedelta(days=number)
            chaos.write_day(today - timedelta(days=1))
            chaos.disturb(today)
            broken = chance.random() < 0.03
            walk.configure(model="cli:broken" if broken else "offline")
            before = None if number % 50 else read_others(root)
            walk.pass_night(brain, today, broken=broken)
            if before is not None:
                check_others(root, before, f"{today}", report)


def walk_late(place: Path, nights: int, seed: int, report: Report) -> None:
    """Turn the ladder on after a year with a log on every day (the catch-up table), and go on for so many nights."""
    levels = {"main": ["week", "month", "year"]}
    root = make_brain(place / "late" / "brain", levels, max_runs=4)
    first, chance = date(2027, 1, 1), random.Random(seed)
    for number in range(365):
        write_log(root, "main", date(2026, 1, 1) + timedelta(days=number), chance)
    walk = Nights(root, levels, 4, "Europe/Berlin", Model.of(date(2026, 1, 1), date(2027, 12, 31)), report)
    walk.learn()
    with Brain.open(root, clock=walk.clock) as brain:
        written = [walk.pass_night(brain, first + timedelta(days=number)) for number in range(max(nights, 18))]
    report.check(f"the catch-up wrote {written[:18]}", holds=written[:18] == [4] * 16 + [1, 1])


# -- ladders that are killed -------------------------------------------------------------------------------------------


@dataclass
class Kills:
    """What was killed, and what came of it."""

    report: Report
    tried: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)


def make_short(root: Path, *, days: int, max_runs: int) -> Path:
    """Make a brain whose two lines have a log on most of the last days of 2026."""
    brain = make_brain(root, {"main": ALL, "ops": ["week", "year"]}, max_runs=max_runs)
    chance = random.Random(5)
    for number in range(days):
        for line in ("main", "ops"):
            if chance.random() < 0.8:
                write_log(brain, line, date(2026, 12, 31) - timedelta(days=number), chance)
    return brain


def tick(root: Path, *, disk: Disk | None = None) -> int:
    """Run one tick and return how many summaries it wrote."""
    with Brain.open(root, disk=disk) as brain:
        answer = brain.consolidate(now=KILLED_AT).to_json()
    return sum(len(line["done"]) for line in answer["lines"])


def finish(root: Path, report: Report) -> dict[str, dict[str, bytes]]:
    """Run ticks until nothing is due, and return the ladders."""
    for _ in range(ENOUGH_TICKS):
        if not tick(root):
            return read_ladders(root)
    report.check(f"{root}: the ladder still grows after {ENOUGH_TICKS} ticks", holds=False)
    return read_ladders(root)


def copy(root: Path, place: Path) -> Path:
    """Return a copy of a brain."""
    shutil.copytree(root, place)
    return place


class KillingDisk(StoppingDisk):
    """A disk at whose k-th call its process is killed by the kernel."""

    def stop(self) -> NoReturn:
        """End this process at once."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def run_tick(root: Path, disk: Disk | None = None) -> None:
    """Be a process that runs one tick, or finds that another one runs."""
    with contextlib.suppress(OmnislashError):
        tick(root, disk=disk)


def start(root: Path, disk: Disk | None = None) -> multiprocessing.process.BaseProcess:
    """Start a process that runs one tick."""
    process = _FORK.Process(target=run_tick, args=(root, disk))
    process.start()
    return process


def check_same(root: Path, quiet: dict[str, dict[str, bytes]], what: str, report: Report) -> None:
    """Finish a ladder and hold it against the quiet one; nothing that is not a summary may be left."""
    partial = read_ladders(root)
    torn = [name for line, found in partial.items() for name, text in found.items() if quiet[line].get(name) != text]
    report.check(f"{what}: other summaries right after the kill: {torn}", holds=not torn)
    report.check(f"{what}: another ladder than the quiet one", holds=finish(root, report) == quiet)
    with Brain.open(root) as brain:  # a writer that starts clears what the last kill left
        brain.start_worker().stop()
    left = [place.name for place in (root / "memory").rglob(".omnislash-*")]
    report.check(f"{what}: temporary files are left: {left}", holds=not left)
    twice = [path for path, count in count_written(root).items() if count > 1]
    report.check(f"{what}: written twice: {twice}", holds=not twice)


def count_written(root: Path) -> Counter[str]:
    """Return how often the action log has a summary as written, by path."""
    with contextlib.closing(sqlite3.connect(root / ".omnislash" / "state.db")) as connection:
        rows = connection.execute("SELECT paths FROM audit WHERE actor = 'engine' AND outcome = 'written'").fetchall()
    return Counter(path for (paths,) in rows for path in json.loads(paths))


def kill_everywhere(place: Path, kills: Kills) -> None:
    """Kill the first tick at each of its calls that change the disk, before it and after it."""
    brain = make_short(place / "short" / "brain", days=20, max_runs=3)
    quiet = finish(copy(brain, place / "quiet"), kills.report)
    disk = CountingDisk()
    tick(copy(brain, place / "counted"), disk=disk)
    for number in range(1, len(disk.calls) + 1):
        for when in ("before", "during", "after"):
            root = copy(brain, place / "killed")
            process = start(root, KillingDisk(at=number, when=when))
            process.join(STUCK_S)
            kills.tried["at a call"] += 1
            kills.hit["at a call"] += process.exitcode == -signal.SIGKILL
            check_same(root, quiet, f"killed {when} call {number} ({disk.calls[number - 1].name})", kills.report)
            shutil.rmtree(root)


def kill_at_random(place: Path, number: int, kills: Kills) -> None:
    """Kill ticks at random moments until so many were hit, each ladder again and again until it is whole."""
    brain = make_short(place / "long" / "brain", days=200, max_runs=4)
    quiet = finish(copy(brain, place / "quiet-long"), kills.report)
    chance, rounds = random.Random(), 0
    began = time.monotonic()
    tick(copy(brain, place / "timed"))
    usual_s = time.monotonic() - began
    while kills.hit["at a moment"] < number and rounds < number:
        rounds += 1
        root = copy(brain, place / "random")
        for _ in range(ENOUGH_TICKS):
            if read_ladders(root) == quiet or kills.hit["at a moment"] >= number:
                break
            process = start(root)
            time.sleep(chance.random() * usual_s * 1.5)
            process.kill()
            process.join(STUCK_S)
            kills.tried["at a moment"] += 1
            kills.hit["at a moment"] += process.exitcode == -signal.SIGKILL
        check_same(root, quiet, f"killed at random, round {rounds}", kills.report)
        shutil.rmtree(root)


def command(root: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "omnislash", "--brain", str(root), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def end(process: subprocess.Popen[bytes]) -> bool:
    """Kill a process; tell whether it was still running."""
    was_running = process.poll() is None
    process.kill()
    process.wait(STUCK_S)
    if process.stdout is not None:
        process.stdout.close()
    return was_running


@contextlib.contextmanager
def worker(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker, and kill it in the end."""
    process = command(root, "worker", "--quiet", "--json")
    if process.stdout is None or b"ready" not in process.stdout.readline():
        message = "the worker did not start"
        raise RuntimeError(message)
    try:
        yield process
    finally:
        end(process)


def kill_commands(place: Path, number: int, kills: Kills, *, served: bool) -> None:
    """Kill `omnislash consolidate` at random moments; with `served` the worker that writes for it, instead."""
    brain = make_short(place / f"commands-{served}" / "brain", days=60, max_runs=4)
    quiet = finish(copy(brain, place / f"quiet-commands-{served}"), kills.report)
    words = ("consolidate", "--now", KILLED_AT.isoformat())
    began = time.monotonic()
    command(copy(brain, place / f"timed-{served}"), *words).communicate()
    usual_s = time.monotonic() - began
    chance, kind = random.Random(), "of a worker" if served else "of a command"
    root = copy(brain, place / f"killed-{served}")
    for _ in range(number):
        with contextlib.ExitStack() as stack:
            serving = stack.enter_context(worker(root)) if served else None
            running = command(root, *words)
            time.sleep(usual_s * (0.5 + chance.random() * 0.6))
            kills.tried[kind] += 1
            kills.hit[kind] += running.poll() is None
            end(serving or running)
            running.wait(STUCK_S)
        if read_ladders(root) == quiet:
            check_same(root, quiet, f"killed {kind}", kills.report)
            shutil.rmtree(root)
            root = copy(brain, root)
    check_same(root, quiet, f"killed {kind}", kills.report)


def crowd(place: Path, rounds: int, kills: Kills) -> None:
    """Run six ticks at once again and again, with and without a worker: no period is written twice."""
    brain = make_short(place / "crowd" / "brain", days=60, max_runs=4)
    quiet = finish(copy(brain, place / "quiet-crowd"), kills.report)
    for number in range(rounds):
        root = copy(brain, place / f"crowd-{number}")
        with contextlib.ExitStack() as stack:
            if number % 2:
                stack.enter_context(worker(root))
            for _ in range(4):
                together = [start(root) for _ in range(6)]
                for process in together:
                    process.join(STUCK_S)
                ends = [process.exitcode for process in together]
                kills.report.check(f"a tick in a crowd ended with {ends}", holds=not any(ends))
        check_same(root, quiet, f"crowd {number}", kills.report)
        kills.tried["ticks at once"] += 24


# -- the run ---------------------------------------------------------------------------------------------------------


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Soak the period ladder: nights against a model, kills in every state."
    )
    parser.add_argument("--nights", type=int, default=3 * 366, help="nights of each walk (1098)")
    parser.add_argument("--logs", type=int, default=4, help="random logs (4)")
    parser.add_argument("--kills", type=int, default=200, help="ticks killed at random moments (200)")
    parser.add_argument("--commands", type=int, default=15, help="commands killed, and workers killed (15 each)")
    parser.add_argument("--crowds", type=int, default=4, help="brains with six ticks at once (4)")
    parser.add_argument("--seed", type=int, default=20261201, help="of the random log (20261201)")
    return parser.parse_args()


def run_nights(place: Path, options: argparse.Namespace, report: Report) -> None:
    """Let the nights pass, and print what came of them."""
    walks: dict[str, Callable[[], None]] = {
        "brain-example, its month again and again": lambda: walk_example(place, options.nights, report),
        **{
            f"a random log, disturbed ({seed})": functools.partial(walk_chaos, place, options.nights, seed, report)
            for seed in range(options.seed, options.seed + options.logs)
        },
        "turned on after a year": lambda: walk_late(place, 60, options.seed, report),
    }
    for name, walk in walks.items():
        began, before = time.monotonic(), (report.nights, report.written)
        walk()
        nights, written = report.nights - before[0], report.written - before[1]
        print(f"{name}: {nights} nights, {written} summaries, {time.monotonic() - began:.0f} s", flush=True)
    print(f"  late entries {report.late}, summaries deleted {report.deleted}, failed runs {report.failed}", flush=True)


def run_kills(place: Path, options: argparse.Namespace, report: Report) -> None:
    """Kill, and print what was hit."""
    kills = Kills(report)
    steps: dict[str, Callable[[], None]] = {
        "at a call": lambda: kill_everywhere(place, kills),
        "at a moment": lambda: kill_at_random(place, options.kills, kills),
        "of a command": lambda: kill_commands(place, options.commands, kills, served=False),
        "of a worker": lambda: kill_commands(place, options.commands, kills, served=True),
        "ticks at once": lambda: crowd(place, options.crowds, kills),
    }
    for name, step in steps.items():
        began = time.monotonic()
        step()
        said = (
            f"{kills.tried[name]}" if name == "ticks at once" else f"{kills.hit[name]} of {kills.tried[name]} kills hit"
        )
        print(f"{name}: {said}, {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    """Soak, print the figures, return the exit code."""
    options, report = _options(), Report()
    logging.getLogger("omnislash").setLevel(logging.CRITICAL)  # it tells of each recovery, and of each failed run
    fast = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else None, prefix="omnislash-ladder-") as directory:
        run_nights(Path(directory), options, report)
        run_kills(Path(directory), options, report)
    for violation in report.violations[:20]:
        print(f"VIOLATION: {violation}")
    print("the same ladders" if not report.violations else f"{len(report.violations)} violations")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
