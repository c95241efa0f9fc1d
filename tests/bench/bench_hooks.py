"""Measure the hooks of a host as whole processes, on brain-example grown to 10,000 notes, against the start of Python.

The floor is `python -c pass` of the same interpreter, taken in turn with the hooks. Nothing is kept warm but the worker and
the disk's cache. The program is the script that the installation makes, and its modules are compiled, as an installation
does it: where PYTHONDONTWRITEBYTECODE is set, every process would else compile again what was edited since.

The notes that are added are the example's own entries under earlier years, ten a day. Their vectors are made up, which costs no hour, and
kept under the name of the model that ships; the model that a prompt asks is the real one, and so is all the rest.

Run it with `make bench-hooks`; `--notes N` and `--rounds N` scale it.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.engine import SearchOptions  # noqa: E402 - the same
from omnislash.index.embedders.minilm import MiniLM  # noqa: E402 - the same
from omnislash.index.embedders.multilingual import MultilingualE5, is_installed  # noqa: E402 - the same
from tests.bench.bench_speed import Goal  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omnislash.index.embedders.ports import Vectors

ROLE = "nova"
#: How many notes the example has, and how the others are laid out: as an agent writes that is spoken to every day.
EXAMPLE_NOTES, ENTRIES_A_DAY, FIRST_DAY = 1_900, 10, date(2020, 1, 1)
PROMPTS = (
    "When was the ramp at the swimming pool mended?",
    "May I ring Tomek at eight in the morning?",
    "What did we agree with the bank about the letter?",
    "Thanks, that is all for today.",
    "Which brake pads do we order, and from whom?",
)
#: What everything is measured by.
FLOOR = "python -c pass"
#: What the issue asks: a warm hook by the bare start of the interpreter, and a cold one in seconds.
WARM_LIMIT, COLD_LIMIT_S = 3.0, 1.0


class MadeUp:
    """A model that ships, with vectors of passages that cost nothing."""

    def __init__(self, inner: MiniLM | MultilingualE5) -> None:
        """Keep the model; it is never loaded."""
        self.name, self.dimension, self.window = inner.name, inner.dimension, inner.window
        self.identity, self.calibration, self.reads = inner.identity, inner.calibration, inner.reads

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors that only depend on the texts."""
        return np.stack([self._draw(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the same for one text."""
        return self._draw(text)

    def load(self) -> None:
        """Do nothing."""

    def _draw(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit


def grow(root: Path, notes: int) -> None:
    """Copy the example, and put its entries under earlier years, so many a day, until there are about so many notes."""
    shutil.copytree(ROOT / "brain-example", root, ignore=shutil.ignore_patterns(".omnislash", ".memory-index*"))
    line = root / "memory" / "main"
    days = sorted(line.glob("20??/??/20??-??-??.md"))
    entries = [entry for day in days for entry in f"\n{day.read_text(encoding='utf-8')}".split("\n- ")[1:]]
    on, made = FIRST_DAY, EXAMPLE_NOTES
    while made < notes:
        first = (made - EXAMPLE_NOTES) % len(entries)
        chosen = sorted(entry.strip("\n") for entry in [*entries, *entries][first : first + ENTRIES_A_DAY])
        place = line / f"{on.year}" / f"{on.month:02d}" / f"{on}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {on}\n\n" + "".join(f"- {entry} ({made})\n" for entry in chosen), encoding="utf-8")
        on, made = on + timedelta(days=1), made + ENTRIES_A_DAY


def build_index(root: Path) -> int:
    """Make the index and return how many notes it has."""
    embedders = (MadeUp(MiniLM()), *([MadeUp(MultilingualE5())] if is_installed() else []))
    with Brain.open(root, search=SearchOptions(catch_up_s=None, embedders=embedders)) as brain:
        freshness = brain.index.refresh(limit_s=None)
        return brain.index.view(freshness).snapshot.size


@dataclass(frozen=True, slots=True)
class Took:
    """How long a process took, in seconds: on the clock, and of the processor, which other work hardly changes."""

    wall_s: float
    processor_s: float


def measure_process(words: list[str], stdin: bytes) -> tuple[Took, subprocess.CompletedProcess[bytes]]:
    """Run a process to its end and return how long it took, and what it said."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, input=stdin, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall, processor), done


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of one brain."""

    root: Path
    program: str

    def run(self, event: str, **fields: str) -> Took:
        """Run a hook and return how long its process took.

        Raises:
            SystemExit: It did not end as a hook ends.
        """
        given = {"session_id": "bench", "transcript_path": "/nowhere/bench.jsonl", "cwd": "/", "hook_event_name": event}
        words = [self.program, "hook", "claude-code", "--role", ROLE, "--brain", str(self.root)]
        payload = json.dumps(given | fields).encode()
        took, done = measure_process(words, payload)
        if done.returncode or done.stderr or (event == "SessionStart") > bool(done.stdout):
            sys.exit(f"{event}: {done.returncode} {done.stderr.decode()} {done.stdout[:200]!r}")
        return took

    def kinds(self) -> dict[str, Callable[[int], Took]]:
        """Return the hooks that are measured, each for the number of its round."""
        return {
            "SessionStart": lambda round_: self.run("SessionStart", source="startup", session_id=f"bench {round_}"),
            "UserPromptSubmit": lambda round_: self.run("UserPromptSubmit", prompt=PROMPTS[round_ % len(PROMPTS)]),
            "Stop": lambda _: self.run("Stop"),
        }


def bare() -> Took:
    """Return how long the interpreter takes to start and end."""
    return measure_process([sys.executable, "-c", "pass"], b"")[0]


def measure(hooks: Hooks, rounds: int) -> dict[str, list[Took]]:
    """Return the times of the floor and of each hook, taken in turn."""
    kinds = {FLOOR: lambda _: bare(), **hooks.kinds()}
    for take in kinds.values():
        take(0)
    times: dict[str, list[Took]] = {name: [] for name in kinds}
    for round_ in range(rounds):
        for name, take in kinds.items():
            times[name].append(take(round_))
    return times


def middle(times: Sequence[Took]) -> float:
    """Return the median of the times on the clock, in seconds."""
    return statistics.median(each.wall_s for each in times)


def report(title: str, times: dict[str, list[Took]]) -> None:
    """Print smallest, middle and largest time, the processor time, and smallest and middle time by the floor's."""
    floor = times[FLOOR]
    print(f"\n{title}")
    for name, each in times.items():
        walls = [took.wall_s for took in each]
        figures = " ".join(f"{1000 * value:7.1f}" for value in (min(walls), statistics.median(walls), max(walls)))
        processor = statistics.median(took.processor_s for took in each)
        by_least = min(walls) / min(took.wall_s for took in floor)
        print(
            f"  {name:<17} {figures} ms, of the processor {1000 * processor:7.1f} ms; "
            f"by the floor {by_least:5.2f} {statistics.median(walls) / middle(floor):5.2f} x"
        )


def start_worker(hooks: Hooks) -> subprocess.Popen[str]:
    """Start a worker and wait until it serves."""
    worker = subprocess.Popen(
        [hooks.program, "--brain", str(hooks.root), "worker"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert worker.stdout is not None
    worker.stdout.readline()
    return worker


def list_goals(cold: dict[str, list[Took]], warm: dict[str, list[Took]]) -> Iterator[Goal]:
    """Yield what the issue asks for, by the middle of each."""
    for name in ("SessionStart", "UserPromptSubmit"):
        yield Goal(f"warm {name} by a bare start", middle(warm[name]) / middle(warm[FLOOR]), WARM_LIMIT, "x")
        yield Goal(f"cold {name}", middle(cold[name]), COLD_LIMIT_S, "s")


def main() -> int:
    """Print the figures; the exit code tells whether the goals were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("OMNISLASH_")]:
        del os.environ[name]
    compileall.compile_dir(ROOT / "omnislash", quiet=1)
    with tempfile.TemporaryDirectory() as place:
        hooks = Hooks(Path(place) / "brain", str(Path(sys.executable).with_name("omnislash")))
        grow(hooks.root, options.notes)
        notes = build_index(hooks.root)
        print(f"{notes:,} notes, {options.rounds} rounds; {platform.platform()}, {os.cpu_count()} cores")
        print(f"  load of the machine {os.getloadavg()[0]:.1f}; smallest, middle and largest time")
        cold = measure(hooks, options.rounds)
        report("without a worker", cold)
        worker = start_worker(hooks)
        try:
            warm = measure(hooks, options.rounds)
        finally:
            worker.terminate()
            worker.communicate(timeout=30)
        report("with a worker", warm)
    goals = list(list_goals(cold, warm))
    print()
    for goal in goals:
        print(goal.render())
    return 0 if all(goal.value <= goal.limit for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
