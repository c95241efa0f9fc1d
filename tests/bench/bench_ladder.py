"""Measure a tick that has nothing to do, on ten years of daily logs in twenty lines, beside one listing of them.

Every day has a log and every period that is over has its summary, so a tick has to find out that nothing is due. It
does so every night, so it may cost little more than looking at the names: 3 times one listing of the same directories,
measured in turn in the same process, and memory that does not grow.

Run it with `make bench-ladder`; `--lines`, `--years` and `--ticks` scale it.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from tests.property.ladder_model import name_of  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIRST_YEAR = 2017
#: A tick may take so many times one listing (issue 5).
GOAL_TIMES = 3.0
#: Growth of the resident memory over all ticks that is called flat: less than a listing's worth of names, in MB.
GOAL_GROWTH_MB = 2.0
LEVELS = [["week", "month", "quarter", "year"], ["week", "month"], ["week"], ["month", "year"], ["week", "year"]]


def make_brain(root: Path, lines: int, years: int) -> int:
    """Write a brain with a log on every day and a summary of every period that is over; return how many files."""
    (root / "features" / "bench").mkdir(parents=True)
    (root / "constitution").mkdir()
    (root / "omnislash.yaml").write_text("memory: {}\n", encoding="utf-8")
    role = "---\nmemory: { write: line00 }\ncapabilities: [memory:read]\n---\nA bench role.\n"
    (root / "features" / "bench" / "main.agent.md").write_text(role, encoding="utf-8")
    levels = {f"line{number:02d}": LEVELS[number % len(LEVELS)] for number in range(lines)}
    consolidation = {"lines": {line: {"periods": enabled} for line, enabled in levels.items()}, "modelRef": "offline"}
    manifest = {"memory": {"consolidation": consolidation}, "locale": {"timezone": "Europe/Berlin"}}
    (root / "constitution" / "MANIFEST.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    first, last = date(FIRST_YEAR, 1, 1), date(FIRST_YEAR + years - 1, 12, 31)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return sum(make_line(root / "memory" / line, enabled, days) for line, enabled in levels.items())


def make_line(line: Path, levels: Sequence[str], days: Sequence[date]) -> int:
    """Write the files of a line."""
    texts = {f"{on:%Y/%m}/{on}.md": f"# {on}\n\n- 09:00 A note of the day.\n" for on in days}
    for level in levels:
        over = dict.fromkeys(name_of(level, on) for on in days)
        over.pop(name_of(level, today_after(days)), None)
        texts |= {f"{name[:4]}/{name}.md": f"# {name}\n\n- A note. ({days[0]})\n" for name in over}
    for folder in sorted({path.rpartition("/")[0] for path in texts}):
        (line / folder).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        (line / path).write_text(text, encoding="utf-8")
    return len(texts)


def today_after(days: Sequence[date]) -> date:
    """Return the day of the ticks: the one after the last log."""
    return days[-1] + timedelta(days=1)


def list_names(directory: str) -> int:
    """List all directories once: the floor of finding out what is there."""
    count = 0
    with os.scandir(directory) as entries:
        for entry in entries:
            count += list_names(entry.path) if entry.is_dir(follow_symlinks=False) else 1
    return count


def resident_mb() -> float:
    """Return the resident memory of this process."""
    with Path("/proc/self/status").open(encoding="utf-8") as lines:
        line = next(line for line in lines if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def describe(times: Sequence[float]) -> str:
    """Return median and the longest."""
    return f"p50 {statistics.median(times):8.1f} ms   longest {max(times):8.1f} ms"


def tick(brain: Brain, now: datetime) -> None:
    """Run a tick that has nothing to do."""
    answer = brain.consolidate(now=now).to_json()
    busy = [line for line in answer["lines"] if line["done"] or line["failed"] or line["queued"]]
    if busy or not answer["lines"]:
        message = f"the tick was to have nothing to do: {busy[:1]}"
        raise SystemExit(message)


def measure_peak(brain: Brain, now: datetime) -> float:
    """Return how much one tick allocates at its height, in MB."""
    tracemalloc.start()
    tick(brain, now)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def measure(root: Path, years: int, ticks: int) -> bool:
    """Print the figures of a brain; tell whether both goals are met."""
    now = datetime(FIRST_YEAR + years, 1, 1, 3, 0, tzinfo=UTC)
    listing, whole, planned = [], [], []
    memory = str(root / "memory")
    with Brain.open(root) as brain:
        first = milliseconds(lambda: tick(brain, now))
        gc.collect()
        before = resident_mb()
        for _ in range(ticks):
            listing.append(milliseconds(functools.partial(list_names, memory)))
            whole.append(milliseconds(functools.partial(tick, brain, now)))
        gc.collect()
        grown = resident_mb() - before
        planned = [milliseconds(lambda: brain.plan_consolidation(now=now).to_json()) for _ in range(5)]
        shown = [milliseconds(lambda: brain.show_ladder(now=now).to_json()) for _ in range(3)]
        peak = measure_peak(brain, now)
    times = statistics.median(whole) / statistics.median(listing)
    print(f"  one listing                     {describe(listing)}")
    print(f"  tick with nothing to do         {describe(whole)}   first of the process {first:.1f} ms")
    print(f"  --dry-run                       {describe(planned)}")
    print(f"  --show                          {describe(shown)}")
    print(
        f"  resident {before:.0f} MB, grown {grown:+.1f} MB over {ticks} ticks; one allocates {peak:.1f} MB at its height"
    )
    return show_goals(times, grown)


def show_goals(times: float, grown: float) -> bool:
    """Print both goals and tell whether they are met."""
    goals = ((times, GOAL_TIMES, "x", "tick by one listing"), (grown, GOAL_GROWTH_MB, "MB", "growth over all ticks"))
    print("goals")
    for value, limit, unit, name in goals:
        print(f"  {name:<40} {value:7.2f} {unit:<3} goal <= {limit:g}  {'met' if value <= limit else 'NOT MET'}")
    return all(value <= limit for value, limit, _, _ in goals)


def main() -> int:
    """Print every figure; the exit code is 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=20, help="lines (20)")
    parser.add_argument("--years", type=int, default=10, help="years of daily logs (10)")
    parser.add_argument("--ticks", type=int, default=20, help="ticks measured (20)")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="omnislash-bench-"))
    try:
        files = make_brain(root, given.lines, given.years)
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores; {given.lines} lines, {files:,} files")
        return 0 if measure(root, given.years, given.ticks) else 1
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
