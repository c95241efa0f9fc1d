"""Live through December 2026 with brain-example, twice, and hold what happened against what has to happen.

The clock goes from Monday, 30 November 2026, 17:00 to Friday, 1 January 2027, 05:00 in Europe/Berlin. Heartbeats run
through the scheduler of the worker, invented people talk to nova and ops on most days in English and Russian, every turn
of nova is flushed, a session of a harness is told of its memory twice a day, Ida agrees on Mondays to what she is asked,
summaries are written at night, and the brain is closed and opened every Sunday. The model is `offline`, so no key and no
network is needed.

The second run is in a process of its own, whose sets and dicts hash otherwise. It has to leave the same files, byte for
byte, the same events, audit rows, runs, answers and envelopes.

Run it with `make month`; `--last` ends it earlier, `--embedder cheap` reads the notes with a stand-in that is no model,
whose searches find less. The exit code is 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from omnislash.testing import CountingEmbedder  # noqa: E402 - the repository has to be on the path first
from tests.soak.month_simulation import Simulation  # noqa: E402 - the same
from tests.soak.month_values import ZONE, load_talk  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.soak.month_simulation import Day

FIRST = datetime(2026, 11, 30, 17, 0, tzinfo=ZONE)
LAST = datetime(2027, 1, 1, 5, 0, tzinfo=ZONE)


def live(place: Path, last: datetime, *, embedder: str) -> dict[str, Any]:
    """Return what one run did, what it left behind, and which promises it broke."""
    embedders = None if embedder == "local" else (CountingEmbedder(),)
    simulation = Simulation(place / "brain", FIRST, last, load_talk(), embedders)
    trace, days = simulation.run(), simulation.days
    return {
        "trace": trace,
        "days": [show(day) for day in days],
        "counts": {
            "turns": sum(day.turns for day in days),
            "beats": sum(len(day.beats) for day in days),
            "deposits": sum(day.written["deposits"] for day in days),
            "summaries": sum(len(day.summaries) for day in days),
            "blocks sent": sum(len(day.sent) for day in days),
            **{
                f"flushes {name}": count
                for name, count in sorted(sum((day.flushes for day in days), Counter()).items())
            },
        },
        "held": simulation.verdicts.held,
        "broken": simulation.verdicts.broken,
    }


def show(day: Day) -> str:
    """Return a day as a line of the report."""
    flushes = ", ".join(f"{outcome} {count}" for outcome, count in sorted(day.flushes.items()))
    sent = ", ".join(f"{name} {count}" if count > 1 else name for name, count in Counter(day.sent).items())
    parts = {
        "turns": f"{day.turns}, {day.written['entries']} entries" if day.turns else "",
        "beats": "; ".join(day.beats),
        "flushes": flushes,
        "sent": sent,
        "summaries": ", ".join(day.summaries),
        "main": f"{day.chars} of 4000" if day.chars else "",
        "also": ", ".join(day.notes),
    }
    return f"{day.on} {day.on:%a} · " + " · ".join(f"{name}: {text}" for name, text in parts.items() if text)


def compare(first: dict[str, list[str]], second: dict[str, list[str]]) -> list[str]:
    """Return in what two traces differ, with the first difference of each kind."""
    broken = []
    for name, lines in first.items():
        others = second[name]
        if lines != others:
            pairs = zip([*lines, "(nothing)"], [*others, "(nothing)"], strict=False)
            at = next((pair for pair in pairs if pair[0] != pair[1]), ("more", "less"))
            broken.append(f"two runs have the same {name}; one has {at[0][:200]!r}, the other {at[1][:200]!r}")
    return broken


def start_other(place: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a run in a process that hashes otherwise; it writes what `live` returns into a file."""
    seed = {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    command = [sys.executable, str(Path(__file__)), "--child", str(place), *arguments]
    return subprocess.Popen(command, env={**os.environ, **seed})


def main() -> int:
    """Run it, print the report, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--last", help="last day, YYYY-MM-DD; the run ends at its end")
    parser.add_argument("--embedder", choices=("local", "cheap"), default="local", help="what reads the notes")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    last = datetime.fromisoformat(asked.last).replace(hour=23, minute=59, tzinfo=ZONE) if asked.last else LAST
    logging.basicConfig(level=logging.ERROR)
    if asked.child:
        done = live(asked.child, last, embedder=asked.embedder)
        (asked.child / "done.json").write_text(json.dumps(done), encoding="utf-8")
        return 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        one, two = Path(made) / "one", Path(made) / "two"
        two.mkdir()
        other = start_other(two, sys.argv[1:])
        first = live(one, last, embedder=asked.embedder)
        print("\n".join(first["days"]))
        if other.wait() != 0:
            print("BROKEN: the second run came to no end")
            return 1
        second = json.loads((two / "done.json").read_text(encoding="utf-8"))
    return report(first, second, took_s=time.monotonic() - started)


def report(first: dict[str, Any], second: dict[str, Any], *, took_s: float) -> int:
    """Print the counts and the verdict, and return the exit code."""
    broken = list(dict.fromkeys([*first["broken"], *second["broken"], *compare(first["trace"], second["trace"])]))
    print(f"\n{len(first['days'])} days: {', '.join(f'{count} {name}' for name, count in first['counts'].items())}")
    for name, lines in first["trace"].items():
        print(f"  {name}: {len(lines)}, {hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:16]}")
    print("\n".join(f"BROKEN {promise}" for promise in broken) or f"Both runs left the same; {took_s:.0f} s.")
    print(f"{'BROKEN' if broken else 'HELD'}: {first['held'] + second['held']} promises held, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
