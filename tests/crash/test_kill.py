"""SIGKILL in the real world: a worker process and a writing process that die at any moment.

Rules: WRITE-01, WRITE-05, WRITE-O5, WRITE-O9; the failure case O-09.
"""

from __future__ import annotations

import os
import random  # noqa: TID251 - seeded: the same each time
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omnislash
from omnislash import Brain
from omnislash.core.verdicts import Outcome
from tests.crash.harness import DAY, leftovers, make_brain, query, restart

if TYPE_CHECKING:
    from collections.abc import Iterator

UNSURE = {Outcome.UNCONFIRMED, Outcome.QUEUED}
SOURCE = Path(omnislash.__file__).parents[1]
WORKER = "import sys, time; from omnislash import Brain; Brain.open(sys.argv[1]).start_worker(); time.sleep(3600)"
WRITER = """
import sys
from omnislash import Brain
with Brain.open(sys.argv[1]) as brain:
    memory = brain.agent("nova").memory
    print("ready", flush=True)
    for line in sys.stdin:
        print(memory.write(line.strip()).outcome.value, flush=True)
"""


def python(code: str, root: Path) -> subprocess.Popen[str]:
    """Start an interpreter on a brain."""
    return subprocess.Popen(
        [sys.executable, "-c", code, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process and wait for its end."""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def killing(root: Path, *, kills: int, seed: int) -> Iterator[None]:
    """Start and kill the worker again and again; yields after each kill."""
    chance = random.Random(seed)
    for _ in range(kills):
        worker = python(WORKER, root)
        time.sleep(0.15 + chance.random() * 0.35)
        end(worker)
        yield


def tags_of(root: Path) -> list[str]:
    """Return the tags in the logs of `main`, in the order of the file; a torn line fails."""
    found: list[str] = []
    for path in sorted((root / "memory" / "main").rglob("20*.md")):
        for line in path.read_bytes().decode("utf-8").split("\n")[2:]:
            if line:
                assert line.startswith("- "), f"a torn line: {line!r}"
                assert line.endswith(" end."), f"a torn line: {line!r}"
                found.append(line.split(" ")[3])
    return found


class Client(threading.Thread):
    """Writes one tag after another until it is told to stop; asks again where a verdict did not come."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self.stop = threading.Event()
        self.accepted: list[str] = []
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._write_all()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            self.failure = error

    def _write_all(self) -> None:
        with Brain.open(self._root) as brain:
            memory = brain.agent("nova").memory
            while not self.stop.is_set():
                tag = f"k-{len(self.accepted):05}"
                while (verdict := memory.write(f"tag {tag} end.", request_id=tag)).outcome in UNSURE:
                    time.sleep(0.01)
                assert verdict.outcome is Outcome.WRITTEN, verdict
                self.accepted.append(tag)
                time.sleep(0.002)


@pytest.mark.rule("WRITE-01", "WRITE-05", "WRITE-O5", "WRITE-O9")
def test_worker_is_killed_while_it_writes(tmp_path: Path) -> None:
    """Two dozen kills of the worker: every accepted write is there exactly once, in order, and nothing is torn."""
    root = make_brain(tmp_path / "brain", {})
    client = Client(root)
    client.start()
    for _ in killing(root, kills=24, seed=2):
        pass
    client.stop.set()
    client.join(timeout=120)
    restart(root)
    assert client.failure is None
    assert tags_of(root) == client.accepted
    assert len(client.accepted) > 24
    assert not leftovers(root)
    assert {row["state"] for row in query(root, "SELECT state FROM jobs")} == {"done"}
    outcomes = [row["outcome"] for row in query(root, "SELECT outcome FROM audit")]
    assert outcomes == ["written"] * len(client.accepted)


def kill_an_append(root: Path, tag: str, after_s: float) -> bool:
    """Let a fresh process append and kill it so many seconds later; True when its verdict was heard."""
    process = python(WRITER, root)
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.stdin.write(f"tag {tag} end.\n")
    process.stdin.flush()
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    heard = process.stdout.readline() == "written\n"
    end(process)
    return heard


@pytest.mark.rule("WRITE-05", "WRITE-O5", "WRITE-O8")
def test_writer_is_killed_while_it_appends(tmp_path: Path) -> None:
    """Case O-09, short: kill -9 within 80 ms of the start of an append to a long log; it is there or it is not."""
    chance = random.Random(9)
    entries = "".join(f"- 08:00 tag old-{number:03} with some words of a usual length, end.\n" for number in range(600))
    root = make_brain(tmp_path / "brain", {DAY: f"# 2026-11-30\n\n{entries}"})
    log, accepted = root / "memory" / DAY, []
    size = log.stat().st_size
    for number in range(15):
        tag = f"k-{number}"
        if kill_an_append(root, tag, chance.random() * 0.08):
            accepted.append(tag)
        text = "".join(path.read_bytes().decode("utf-8") for path in (root / "memory" / "main").rglob("20*.md"))
        assert all(text.count(f"tag {each} end.") == 1 for each in accepted)
        assert text.count(f"tag {tag}") == text.count(f"tag {tag} end.") <= 1
        assert "\0" not in text
        assert log.stat().st_size >= size
    started = time.monotonic()
    with Brain.open(root) as brain:
        assert brain.agent("nova").memory.write("tag last end.").outcome is Outcome.WRITTEN
    assert time.monotonic() - started < 10
    assert not leftovers(root)
    assert accepted
