"""Measure what a turn adds before the model is called: its blocks, its recall and its ledger, with a warm engine.

The floor is measured in the same run, call by call in turn with it: embedding the message plus one search.
Notes are made as in `bench_speed.py`, with a MEMORY.md near its budget, a log of today and a ladder beside them; nothing
is written between two turns but what the turns themselves note.

Run it with `make bench-turn`; `--notes N` and `--turns N` scale it.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import random  # noqa: TID251 - seeded, so that every run makes the same notes
import statistics
import sys
import tempfile
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.engine import SearchOptions  # noqa: E402 - the same
from tests.bench.bench_speed import (  # noqa: E402 - the same
    Goal,
    MadeUpVectors,
    describe,
    make_brain,
    make_questions,
    make_words,
    percentile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash import Agent

#: What the issue asks: p95 of a turn by p95 of embedding the message plus one search, in the same run.
LIMIT = 1.5
NOW = datetime(2027, 3, 12, 9, 30, tzinfo=UTC)
MEMORY_CHARS = 9_500


class Standing:
    """A clock that stands at one instant; time limits run."""

    def now(self) -> datetime:
        """Return the instant."""
        return NOW

    def monotonic_s(self) -> float:
        """Return seconds of a clock that runs."""
        return time.monotonic()


def add_memory(root: Path) -> None:
    """Write what a turn carries: MEMORY.md, a log of today, the last week, month and year."""
    chance = random.Random(17)
    words = make_words(chance)

    def prose(chars: int) -> str:
        lines: list[str] = []
        while sum(map(len, lines)) < chars:
            lines.append("- " + " ".join(chance.choices(words, k=14)) + ".\n")
        return "".join(lines)

    line = root / "memory" / "main"
    sections = [f"## {name}\n\n{prose(1_000)}\n" for name in ("People", "Habits", "Suppliers", "Open")]
    dated = [f"## Memory (2027-03-{day:02d})\n\n{prose(800)}\n" for day in range(1, 7)]
    (line / "MEMORY.md").write_text(("# Main\n\n" + "".join(sections + dated))[:MEMORY_CHARS], encoding="utf-8")
    day = line / "2027" / "03" / "2027-03-12.md"
    day.parent.mkdir(parents=True, exist_ok=True)
    day.write_text(f"# {date(2027, 3, 12)}\n\n" + prose(3_000).replace("- ", "- 08:00 "), encoding="utf-8")
    for name in ("2027-W09", "2027-02"):
        (line / "2027" / f"{name}.md").write_text(f"# {name}\n\n{prose(2_000)}", encoding="utf-8")
    manifest = "memory: {consolidation: {lines: {main: {periods: [week, month]}}, modelRef: offline}}\n"
    (root / "constitution").mkdir()
    (root / "constitution" / "MANIFEST.yaml").write_text(manifest, encoding="utf-8")


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def measure(agent: Agent, questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the times of each kind of call, taken one after the other for every question."""
    times: dict[str, list[float]] = {"floor": [], "turn": [], "blocks": [], "opening": []}
    agent.turn(session="desk", message="warm up")
    agent.memory.search("warm up")
    gc.collect()
    for number, question in enumerate(questions):
        times["floor"].append(milliseconds(lambda: agent.memory.search(f"{question} a")))  # noqa: B023 - called at once
        times["turn"].append(milliseconds(lambda: agent.turn(session="desk", message=f"{question} b")))  # noqa: B023
        times["blocks"].append(milliseconds(lambda: agent.turn(session="desk")))
        opened = f"desk {number}"
        times["opening"].append(milliseconds(lambda: agent.turn(session=opened, message=f"{question} c")))  # noqa: B023
    return times


def main() -> int:
    """Print the figures; the exit code tells whether the goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "brain"
        root.mkdir()
        make_brain(root, options.notes)
        add_memory(root)
        search = SearchOptions(catch_up_s=None, embedders=(MadeUpVectors(),))
        with Brain.open(root, clock=Standing(), search=search) as brain:
            brain.index.refresh(limit_s=None)
            times = measure(brain.agent("main"), make_questions(options.turns))
    return report(times, options.notes)


def report(times: dict[str, list[float]], notes: int) -> int:
    """Print the times and the goal, and return the exit code."""
    print(f"{notes:,} notes, {len(times['turn'])} turns; {platform.platform()}, {os.cpu_count()} cores")
    print(f"  embedding the message plus one search        {describe(times['floor'])}")
    print(f"  turn of an open session, blocks and recall   {describe(times['turn'])}")
    print(f"  the same without a message                   {describe(times['blocks'])}")
    print(f"  turn that opens a session, ledger synced     {describe(times['opening'])}")
    middle = statistics.median(times["turn"]) / statistics.median(times["floor"])
    ratio = percentile(times["turn"], 0.95) / percentile(times["floor"], 0.95)
    print(f"  ratio of the medians {middle:.2f}, of the 95th percentiles {ratio:.2f}")
    print(Goal("turn of an open session by embedding plus one search, p95", ratio, LIMIT, "x").render())
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
