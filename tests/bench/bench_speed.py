"""Measure how fast search is, by size of the brain, each figure beside a floor of the same run.

Notes are entries of daily logs, made of words whose frequencies fall as those of prose do (Zipf).
At the smallest size they are embedded with the model that ships, so that a first build can be compared with the bare
model. At the larger sizes embedding them would take an hour, so their vectors are made up (unit length, as many numbers);
questions are always embedded by the real model. Searching costs the same either way.

Floors: the embedding of the question alone; one listing of all directories with the stat of each file; the bare model on
the same texts.

Run it with `make bench-speed`; `--sizes 1000,10000` and `--questions N` scale it.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import platform
import random  # noqa: TID251 - seeded, so that every run makes the same notes
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash import Brain
from omnislash.engine import SearchOptions
from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.reading import parse_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENTRIES_A_DAY = 30
WORDS_A_NOTE = 25
VOCABULARY = 20_000
FIRST_DAY = date(2000, 1, 1)
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "ol", "us")]


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure, and what the issue asks of it."""

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    def render(self) -> str:
        """Return the row that is printed."""
        met = self.value >= self.limit if self.at_least else self.value <= self.limit
        sign = ">=" if self.at_least else "<="
        return f"  {self.name:<62} {self.value:9.2f} {self.unit:<4} goal {sign} {self.limit:<8.6g} {'met' if met else 'NOT MET'}"


class MadeUpVectors:
    """The shipped model for questions, made-up vectors for notes."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._model = MiniLM()
        self.name, self.window = "made-up", self._model.window
        self.dimension, self.calibration = self._model.dimension, self._model.calibration
        self.identity = "made-up-" + self._model.identity
        self._random = np.random.default_rng(7)

    def reads(self, script: Any, language: str | None) -> bool:
        """Read what the model reads."""
        return self._model.reads(script, language)

    def load(self) -> None:
        """Load the model."""
        self._model.load()

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return vectors that mean nothing, but for the few notes that are looked for."""
        if len(texts) == 1:
            return self._model.embed_passages(texts)
        made = self._random.normal(size=(len(texts), self.dimension)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        return made

    def embed_query(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the real vector."""
        return self._model.embed_query(text)


def make_words(chance: random.Random) -> list[str]:
    """Return words, the most frequent first."""
    return list(
        dict.fromkeys("".join(chance.choices(_SYLLABLES, k=chance.choice((1, 2, 2, 3)))) for _ in range(VOCABULARY * 2))
    )[:VOCABULARY]


def make_brain(root: Path, notes: int) -> None:
    """Write a brain whose line `main` has about so many notes."""
    chance = random.Random(11)
    words = make_words(chance)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    (root / "features" / "bench").mkdir(parents=True)
    (root / "omnislash.yaml").write_text("memory: {}\n", encoding="utf-8")
    role = "---\nmemory: {}\ncapabilities: [memory:read, memory:write]\n---\nA bench role.\n"
    (root / "features" / "bench" / "main.agent.md").write_text(role, encoding="utf-8")
    for day in range(notes // ENTRIES_A_DAY):
        on = FIRST_DAY + timedelta(days=day)
        lines = [
            f"- {8 + number // 4:02d}:{number % 4 * 15:02d} " + " ".join(chance.choices(words, weights, k=WORDS_A_NOTE))
            for number in range(ENTRIES_A_DAY)
        ]
        place = root / "memory" / "main" / f"{on.year:04d}" / f"{on.month:02d}" / f"{on.isoformat()}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {on.isoformat()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def make_questions(number: int) -> list[str]:
    """Return questions of five to twelve words, frequent and rare ones mixed, with the small words of English."""
    chance = random.Random(13)
    words = make_words(random.Random(11))
    weights = [1 / (rank + 3) for rank in range(len(words))]
    return [
        "when did the " + " ".join(chance.choices(words, weights, k=chance.randint(3, 8))) + " of the?"
        for _ in range(number)
    ]


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def describe(times: Sequence[float]) -> str:
    """Return median and 95th percentile."""
    return f"p50 {statistics.median(times):8.2f} ms   p95 {percentile(times, 0.95):8.2f} ms"


def percentile(times: Sequence[float], share: float) -> float:
    """Return the value that a share of the times lies under."""
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def list_with_stats(directory: str) -> int:
    """List all directories once and ask for the stat of each file: the floor of looking for changes."""
    count = 0
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += list_with_stats(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                count += 1
    return count


def resident_mb() -> float:
    """Return the resident memory of this process."""
    with Path("/proc/self/status").open(encoding="utf-8") as lines:
        line = next(line for line in lines if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def measure(root: Path, notes: int, questions: Sequence[str]) -> list[Goal]:
    """Print the figures of one size and return those that have a goal."""
    make_brain(root, notes)
    embedder = MadeUpVectors()
    options = SearchOptions(catch_up_s=None, embedders=(embedder,))
    with Brain.open(root, search=options) as brain:
        built = milliseconds(lambda: brain.index.refresh(limit_s=None))
        agent = brain.agent("main")
        agent.memory.search(questions[0])
        gc.collect()
        alone, whole = measure_search(agent, embedder, questions)
        listing, unchanged = measure_unchanged(brain, root)
        changed = measure_change(agent, root)
        memory, size = resident_mb(), brain.index.bytes_on_disk()
    opened = measure_opened(root)
    vectors = notes * embedder.dimension * 4 / 2**20
    extra = [total - query for total, query in zip(whole, alone, strict=True)]
    print(f"\n{notes:,} notes in {notes // ENTRIES_A_DAY:,} files")
    print(f"  build with made-up vectors {built / 1000:.1f} s ({notes / built * 1000:,.0f} notes/s)")
    print(f"  embedding of the question alone      {describe(alone)}")
    print(f"  search, embedding included           {describe(whole)}")
    print(f"  search without the embedding         {describe(extra)}")
    print(f"  one listing with stats               {describe(listing)}")
    print(f"  nothing changed                      {describe(unchanged)}")
    print(f"  one file changed until it is found   {describe(changed)}")
    print(
        f"  index {size / 2**20:.0f} MB, vectors {vectors:.0f} MB; resident {opened:.0f} MB in a process that opened it"
    )
    print(f"  and searched, {memory:.0f} MB in the one that built it, too")
    return list_goals(notes, (alone, whole, listing, unchanged), above_vectors_mb=opened - vectors)


def list_goals(notes: int, figures: tuple[list[float], ...], *, above_vectors_mb: float) -> list[Goal]:
    """Return what of one size has a goal."""
    alone, whole, listing, unchanged = figures
    goals = [
        Goal(
            f"{notes:,}: nothing changed by one listing",
            statistics.median(unchanged) / statistics.median(listing),
            3,
            "x",
        )
    ]
    limits = {10_000: 10, 50_000: 35}
    if notes in limits:
        goals.append(
            Goal(
                f"{notes:,}: search p95 over the embedding's p95",
                percentile(whole, 0.95) - percentile(alone, 0.95),
                limits[notes],
                "ms",
            )
        )
    if notes == 50_000:
        goals.append(Goal(f"{notes:,}: resident memory above the vectors", above_vectors_mb, 250, "MB"))
    return goals


def measure_opened(root: Path) -> float:
    """Return the resident memory of a process that opens a built index and searches it a hundred times."""
    command = [sys.executable, __file__, "--opened", str(root)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def search_opened(root: Path) -> float:
    """Search a built index a hundred times and return this process's resident memory, in MB."""
    with Brain.open(root, search=SearchOptions(catch_up_s=None, embedders=(MadeUpVectors(),))) as brain:
        agent = brain.agent("main")
        for question in make_questions(100):
            agent.memory.search(question)
        return resident_mb()


def measure_search(agent: Any, embedder: MadeUpVectors, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return the times of embedding each question, and of searching for it, in turn."""
    alone, whole = [], []
    for question in questions:
        alone.append(milliseconds(functools.partial(embedder.embed_query, question)))
        whole.append(milliseconds(functools.partial(agent.memory.search, question)))
    return alone, whole


def measure_unchanged(brain: Brain, root: Path) -> tuple[list[float], list[float]]:
    """Return the times of one bare listing, and of a catch-up that finds nothing, in turn."""
    listing, unchanged = [], []
    for _ in range(20):
        listing.append(milliseconds(lambda: list_with_stats(str(root / "memory"))))
        unchanged.append(milliseconds(lambda: brain.index.refresh(limit_s=None)))
    return listing, unchanged


def measure_change(agent: Any, root: Path) -> list[float]:
    """Return the times from a line appended by hand to the search that finds it."""
    place = root / "memory" / "main" / "2000" / "01" / "2000-01-02.md"
    times = []
    for number in range(10):
        with place.open("a", encoding="utf-8") as file:
            file.write(f"- 23:{number:02d} The zebrafinch{number} sings at dawn.\n")
        search = functools.partial(agent.memory.search, f"zebrafinch{number}", min_score=0.15)
        start = time.perf_counter()
        found = search().hits
        times.append((time.perf_counter() - start) * 1000)
        if not any(f"zebrafinch{number}" in hit.snippet for hit in found):
            message = "the change was not found"
            raise SystemExit(message)
    return times


def measure_cold(root: Path) -> list[float]:
    """Return the times of a new process from its start to its first hit, model and all."""
    command = [
        sys.executable,
        "-m",
        "omnislash",
        "--brain",
        str(root),
        "memory",
        "search",
        "--role",
        "main",
        "--json",
        "ba",
    ]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        times.append((time.perf_counter() - start) * 1000)
        if "hits" not in json.loads(done.stdout or "{}"):
            raise SystemExit(done.stderr)
    return times


def measure_build(root: Path, notes: int) -> Goal:
    """Build the index of a small brain with the shipped model, beside the bare model on the same texts."""
    make_brain(root, notes)
    texts = [
        note.searched
        for place in sorted((root / "memory").rglob("*.md"))
        for note in parse_file(place.read_bytes(), kind="daily", path=str(place.relative_to(root / "memory"))).notes
    ]
    model = MiniLM()
    model.load()
    model.embed_passages(texts[:32])
    bare, built = [], []
    for _ in range(3):
        bare.append(milliseconds(lambda: model.embed_passages(texts)))
        for place in (root / "memory").glob(".memory-index.db*"):
            place.unlink()
        with Brain.open(root, search=SearchOptions(catch_up_s=None, embedders=(model,))) as brain:
            built.append(milliseconds(functools.partial(brain.index.refresh, limit_s=None)))
    print(f"\nfirst build of {len(texts):,} notes, 3 times in turn")
    print(f"  the bare model   {describe(bare)}   {len(texts) / min(bare) * 1000:.0f} notes/s")
    print(f"  the whole build  {describe(built)}   {len(texts) / min(built) * 1000:.0f} notes/s")
    print(f"  cold process to the first hit        {describe(measure_cold(root))}")
    return Goal("first build by the bare model's speed", min(bare) / min(built), 0.9, "x", at_least=True)


def in_directory(work: Callable[[Path], Any]) -> Any:
    """Run a measurement in a directory of its own."""
    root = Path(tempfile.mkdtemp(prefix="omnislash-bench-"))
    try:
        return work(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    """Print every figure, then what has a goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,50000,200000", help="numbers of notes")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--opened", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.opened is not None:
        print(search_opened(given.opened))
        return
    questions = make_questions(given.questions)
    if given.one is not None:  # a process of its own for each size, so that memory is what that size needs
        goals = in_directory(lambda root: measure(root, given.one, questions))
        print("GOALS " + json.dumps([[g.name, g.value, g.limit, g.unit, g.at_least] for g in goals]))
        return
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {given.questions} questions")
    goals = [in_directory(lambda root: measure_build(root, 990))]
    for size in map(int, given.sizes.split(",")):
        command = [sys.executable, __file__, "--one", str(size), "--questions", str(given.questions)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shown, _, found = said.partition("GOALS ")
        print(shown, end="", flush=True)
        goals += [Goal(*each) for each in json.loads(found)]
    print("\ngoals")
    print("\n".join(goal.render() for goal in goals))


if __name__ == "__main__":
    main()
