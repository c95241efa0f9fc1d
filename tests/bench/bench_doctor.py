"""Measure what doctor costs on 10,000 files, beside a floor of the same run.

The brain has daily logs of eight lines, topic files, and two sources; its entries are sentences of the example brain, in
an order of chance. It is in git, and has an index of words, so that every check has its work.

Floor: one pass over the same directories with the stat of each entry, and one read of each file that doctor reads; the
same calls, and nothing is made of them. Runs of floor and doctor take turns, each in a process of its own; every figure
is the median. Beside the time stands the time of the processors, children included, which holds on a busy machine too.
Times of single checks are of the processor, from runs in which every call is timed; that costs a little by itself.

Run it with `.venv/bin/python tests/bench/bench_doctor.py`; `--files N` and `--runs N` scale it, `--check ID` narrows it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random  # noqa: TID251 - seeded, so that every run makes the same files
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnislash.checks.findings import Check

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
LINES = ("main", "ops", "research", "home", "people", "garden", "writing", "travel")
SOURCES = ("handbook", "papers")
#: Of a hundred files: logs, topic files of lines; the rest are sources.
LOGS, TOPICS = 70, 10


# -- the brain -------------------------------------------------------------------------------------------------------


def read_sentences() -> list[str]:
    """Return the entries and paragraphs of the example brain, one line each."""
    files = sorted((ROOT / "brain-example").rglob("*.md"))
    lines = (line.strip().lstrip("-*# ").strip() for file in files for line in file.read_text("utf-8").splitlines())
    return sorted({line for line in lines if 20 < len(line) < 400 and not line.startswith(("|", "<", "`"))})


def make_brain(root: Path, files: int) -> None:
    """Write a brain of about so many files, commit it, and index its words."""
    chance = random.Random(7)
    sentences = read_sentences()
    for path, text in plan_files(files, sentences, chance):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    index = [sys.executable, "-m", "omnislash", "--brain", str(root), "--quiet", "index", "sync"]
    subprocess.run(index, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def plan_files(files: int, sentences: list[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file."""
    yield "omnislash.yaml", f"memory:\n  embeddingModel: none\n  sources: [{', '.join(SOURCES)}]\n"
    yield ".gitignore", ".omnislash/\nmemory/.memory-index.db*\n"
    yield "constitution/MANIFEST.yaml", "locale:\n  timezone: Europe/Berlin\n"
    for line in LINES:
        yield f"features/{line}.agent.md", f"---\nmemory: {{ write: {line}, recall: [handbook] }}\n---\nA role.\n"
        entries = "".join(f"- {chance.choice(sentences)}\n" for _ in range(20))
        yield f"memory/{line}/MEMORY.md", f"# Memory\n\n## Preferences\n\n{entries}"
    for number in range(files):
        line, part = LINES[number % len(LINES)], number % 100
        if part < LOGS:
            yield log(line, number, sentences, chance)
        elif part < LOGS + TOPICS:
            yield f"memory/{line}/topics/topic-{number}.md", document(sentences, chance)
        else:
            yield f"{SOURCES[number % 2]}/part-{number % 40}/page-{number}.md", document(sentences, chance)


def log(line: str, number: int, sentences: list[str], chance: random.Random) -> tuple[str, str]:
    """Return the path and text of a daily log."""
    day = date(2026, 11, 30) - timedelta(days=number // len(LINES))
    entries = (f"- {8 + place:02}:{chance.randrange(60):02} {chance.choice(sentences)}" for place in range(8))
    text = "\n".join([f"# Memory ({day.isoformat()})", "", *entries, ""])
    return f"memory/{line}/{day:%Y/%m}/{day.isoformat()}.md", text


def document(sentences: list[str], chance: random.Random) -> str:
    """Return an authored note of some paragraphs."""
    paragraphs = (" ".join(chance.choice(sentences) for _ in range(4)) for _ in range(5))
    return "---\ntags: [notes]\n---\n\n# A note\n\n" + "\n\n".join(paragraphs) + "\n"


# -- what is measured, each in a process of its own ------------------------------------------------------------------


def run_floor(root: Path) -> dict[str, Any]:
    """List and stat every entry once, and read each file that doctor reads once."""
    pending, files, size = [("", True)], 0, 0
    while pending:
        directory, is_top = pending.pop()
        with os.scandir(f"{root}/{directory}") as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                path = f"{directory}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith("."):
                        pending.append((f"{path}/", False))
                elif entry.name.endswith((".md", ".yaml")) and not (is_top and path.endswith(".md")):
                    with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123 - what costs least
                        size += len(file.read())
                    files += 1
    return {"files": files, "bytes": size}


def run_doctor(root: Path, names: list[str], *, is_timed: bool) -> dict[str, Any]:
    """Examine the brain; with every call timed, by check."""
    from omnislash.checks.examining import choose_checks, examine
    from omnislash.shipped import constitution_directory

    checks = choose_checks(names)
    spent: dict[str, float] = {}
    if is_timed:
        checks = tuple(time_check(check, spent) for check in checks)
    report = examine(root, shipped=constitution_directory(), now=NOW, checks=checks)
    found = {result.id: f"{result.status.value}, {len(result.findings)}" for result in report.checks}
    return {"checks": spent, "found": found}


def time_check(check: type[Check], spent: dict[str, float]) -> type[Check]:
    """Return a check of which every call is timed."""
    spent[check.id] = 0.0

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            started = read_processor()
            try:
                found = call(*args)
                return None if found is None else list(found)
            finally:
                spent[check.id] += read_processor() - started

        return run

    return type(check.__name__, (check,), {"see": timed(check.see), "conclude": timed(check.conclude)})


def read_processor() -> float:
    """Return the seconds that this process and its ended children have had of a processor."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def run_part(part: str, root: Path, names: list[str]) -> dict[str, Any]:
    """Run one part and say what it took."""
    from omnislash.checks import examining  # noqa: F401 - loading it is in no figure

    started, used = time.perf_counter(), read_processor()
    found = run_floor(root) if part == "floor" else run_doctor(root, names, is_timed=part == "checks")
    taken = {"seconds": time.perf_counter() - started, "processor": read_processor() - used}
    return {**found, **taken, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def ask(part: str, root: Path, names: list[str]) -> dict[str, Any]:
    """Run one part in a new process."""
    options = [word for name in names for word in ("--check", name)]
    words = [sys.executable, __file__, "--part", part, "--brain", str(root), *options]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


# -- what is printed -------------------------------------------------------------------------------------------------


def measure(root: Path, *, runs: int, names: list[str]) -> None:
    """Measure everything and print it."""
    taken: dict[str, list[dict[str, Any]]] = {"floor": [], "doctor": [], "checks": []}
    for _ in range(runs):
        for part, answers in taken.items():
            answers.append(ask(part, root, names))
    first = taken["floor"][0]
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} processors, {runs} runs")
    print(f"{first['files']} files, {first['bytes'] / 1e6:.1f} MB")
    for part in ("floor", "doctor"):
        seconds, processor, rss = (find_median(taken[part], key) for key in ("seconds", "processor", "rss"))
        times = processor / find_median(taken["floor"], "processor")
        print(
            f"{part:8} {seconds:7.3f} s, {processor:7.3f} s of a processor ({times:.1f} times the floor), {rss:.0f} MB"
        )
    timed = taken["checks"]
    spent = {name: statistics.median(each["checks"][name] for each in timed) for name in timed[0]["checks"]}
    rest = statistics.median(each["processor"] - sum(each["checks"].values()) for each in timed)
    for name, seconds in sorted(spent.items(), key=lambda each: -each[1]):
        print(f"  {name:24} {seconds:7.3f} s   {timed[0]['found'][name]}")
    print(f"  {'listing, reading, settings':26} {rest:5.3f} s")


def find_median(answers: list[dict[str, Any]], key: str) -> float:
    """Return the median of one figure of some runs."""
    return float(statistics.median(each[key] for each in answers))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="append", default=[])
    parser.add_argument("--brain", type=Path)
    parser.add_argument("--part")
    options = parser.parse_args()
    if options.part:
        print(json.dumps(run_part(options.part, options.brain, options.check)))
        return
    root = options.brain or Path(tempfile.mkdtemp(prefix="bench-doctor-"))
    try:
        if options.brain is None or not options.brain.exists():
            make_brain(root, options.files)
        measure(root, runs=options.runs, names=options.check)
    finally:
        if options.brain is None:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
