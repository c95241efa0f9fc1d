"""`omnislash consolidate` as a process: beside a worker, beside another tick, on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")} | {
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
}
#: The first of January 2027, after the tick's hour: the last weeks of 2026 are over, W53 is not.
NOW = ("--now", "2027-01-01T04:00:00+00:00")
#: A model that takes its time, and what it answers.
SLOW = "#!/bin/sh\ncat > /dev/null\nsleep 0.4\necho 'The quince was picked and the ladder put back. (2026-12-09)'\n"
FILED = "The quince was picked and the ladder put back. (2026-12-09)\n"


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A brain with logs in three weeks of December 2026, whose summaries a slow command writes."""
    root = tmp_path / "brain"
    made = [*warm_python(), "-m", "omnislash", "init", "--no-git", "--quiet", str(root)]
    subprocess.run(made, env=ENVIRONMENT, check=True, timeout=60)
    (root / "slow.sh").write_text(SLOW, encoding="utf-8")
    (root / "slow.sh").chmod(0o755)
    (root / "omnislash.yaml").write_text(f"memory: {{}}\nharnesses:\n  slow: ['{root}/slow.sh']\n", encoding="utf-8")
    lines = "main: { periods: [week] }"
    manifest = f"memory:\n  consolidation:\n    modelRef: cli:slow\n    lines:\n      {lines}\n"
    (root / "constitution" / "MANIFEST.yaml").write_text(manifest, encoding="utf-8")
    (root / "memory" / "main" / "2026" / "12").mkdir(parents=True)
    for day in (2, 9, 16):
        text = f"# 2026-12-{day:02d}\n\n- 09:00 The quince was picked today.\n"
        (root / f"memory/main/2026/12/2026-12-{day:02d}.md").write_text(text, encoding="utf-8")
    return root


def _words(brain: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "omnislash", "--brain", str(brain), *words]


def run(brain: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    given = [*warm_python(), *_words(brain, *words)[1:]]
    return subprocess.run(given, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)


def read_weeks(brain: Path) -> dict[str, str]:
    """Return the summaries of the line's weeks."""
    found = (brain / "memory" / "main" / "2026").glob("2026-W*.md")
    return {place.stem: place.read_text(encoding="utf-8") for place in sorted(found)}


@pytest.fixture
def served(brain: Path) -> Iterator[Path]:
    """The same brain with a running worker."""
    words = _words(brain, "--quiet", "--json", "worker")
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline()
        yield brain
        worker.terminate()


@pytest.mark.rule("PERIOD-O11", "PERIOD-25")
def test_beside_a_worker_the_tick_is_run_all_the_same(served: Path) -> None:
    """The command does not wait for the schedule; its summaries are there, each once, written by the worker."""
    done = run(served, "--json", "consolidate", *NOW)

    (line,) = json.loads(done.stdout)["lines"]
    assert done.returncode == 0
    assert [each["period"] for each in line["done"]] == ["2026-W49", "2026-W50", "2026-W51"]
    assert read_weeks(served) == {f"2026-W{week}": f"# 2026-W{week}\n\n{FILED}" for week in (49, 50, 51)}
    assert json.loads(run(served, "--json", "consolidate", *NOW).stdout)["lines"][0]["done"] == []


@pytest.mark.rule("PERIOD-21", "PERIOD-O11")
def test_two_ticks_at_once_write_each_summary_once(brain: Path) -> None:
    """The second one writes nothing that the first one writes, and leaves nothing torn."""
    words = _words(brain, "consolidate", *NOW)
    with (
        subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first,
        subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as second,
    ):
        codes = sorted((first.wait(timeout=60), second.wait(timeout=60)))

    assert codes[0] == 0
    rows = json.loads(run(brain, "--json", "audit").stdout)["rows"]
    assert sorted(row["paths"][0] for row in rows if row["outcome"] == "written") == [
        f"main/2026/2026-W{week}.md" for week in (49, 50, 51)
    ]
    assert len(read_weeks(brain)) == 3


@pytest.mark.rule("PERIOD-21")
def test_a_summary_that_a_person_saves_meanwhile_stands(brain: Path) -> None:
    """Somebody saves the week while its model runs: theirs is kept, and the answer says so."""
    place = brain / "memory" / "main" / "2026" / "2026-W49.md"
    words = _words(brain, "--json", "consolidate", *NOW)
    (brain / "slow.sh").write_text(SLOW.replace("sleep", 'touch "$(dirname "$0")/asked"; sleep'), encoding="utf-8")
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as tick:
        deadline = time.monotonic() + 60
        while not (brain / "asked").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        place.write_text("# 2026-W49\n\nWritten by hand.\n", encoding="utf-8")
        assert tick.stdout is not None
        (line,) = json.loads(tick.stdout.read())["lines"]

    assert tick.returncode == 0
    assert [each["period"] for each in line["done"]] == ["2026-W50", "2026-W51"]
    assert line["message"] == "Consolidated 2/3 due period(s)"
    assert place.read_text(encoding="utf-8") == "# 2026-W49\n\nWritten by hand.\n"


def test_a_bar_is_shown_on_a_terminal_and_nowhere_else(brain: Path) -> None:
    """A long tick shows how far it is on a terminal; a pipe, `--json` and `--quiet` hear nothing of it."""
    ours, theirs = pty.openpty()
    environment = ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "100"}
    words = _words(brain, "consolidate", *NOW)
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)

    assert process.returncode == 0
    assert b"Writing summaries" in written
    assert b"3/3" in written
    (brain / "memory" / "main" / "2026" / "2026-W49.md").unlink()
    assert run(brain, "consolidate", *NOW).stderr.count("Writing summaries") == 0


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side is closed
        return b""


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, id="Ctrl-C"), pytest.param(signal.SIGTERM, id="SIGTERM")]
)
def test_a_signal_ends_a_tick_between_two_states(brain: Path, number: signal.Signals) -> None:
    """A signal while a model runs: no trace is shown, the model's command ends too, and the next tick writes the rest."""
    slow = SLOW.replace(
        "sleep 0.4",
        'echo $$ > "$(dirname "$0")/asked.new"; mv "$(dirname "$0")/asked.new" "$(dirname "$0")/asked"; sleep 30',
    )
    (brain / "slow.sh").write_text(slow, encoding="utf-8")
    words = _words(brain, "consolidate", *NOW)
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tick:
        _wait_until((brain / "asked").exists)
        tick.send_signal(number)
        said = tick.communicate(timeout=60)

    assert tick.returncode == 130
    assert "Traceback" not in "".join(said)
    model = int((brain / "asked").read_text())
    _wait_until(lambda: not _runs(model))
    assert read_weeks(brain) == {}
    (brain / "slow.sh").write_text(SLOW, encoding="utf-8")
    assert run(brain, "consolidate", *NOW).returncode == 0
    assert len(read_weeks(brain)) == 3


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.rule("PERIOD-08")
def test_a_tick_ahead_of_the_clock_says_so(brain: Path) -> None:
    """Who files the summaries of a later day is told that a period which is not over was taken as over."""
    now = {**ENVIRONMENT, "OMNISLASH_NOW": "2026-12-05T09:00:00+00:00"}
    words = _words(brain, "consolidate", *NOW)
    ahead = subprocess.run(words, env=now, capture_output=True, text=True, timeout=100, check=True)

    assert "--now lies ahead of the clock" in ahead.stderr
    later = {**ENVIRONMENT, "OMNISLASH_NOW": "2027-02-01T09:00:00+00:00"}
    (brain / "memory/main/2026/2026-W49.md").unlink()
    behind = subprocess.run(words, env=later, capture_output=True, text=True, timeout=100, check=True)
    assert "ahead" not in behind.stderr
