"""A real worker process: heartbeats come due on its clock, hooks hear of what others write, a stop cancels a model."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.beats.conftest import put_beat, put_hook
from tests.integration.conftest import ROOT
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.conftest import SampleBrain

#: The command line, on a clock that goes as the machine's does and stands three seconds before a full minute.
_EARLY = """
import sys, time
from datetime import UTC, datetime, timedelta
from omnislash.store import system_clock
start, began = datetime(2026, 8, 20, 6, 59, 57, tzinfo=UTC), time.monotonic()
system_clock.SystemClock.now = lambda self: start + timedelta(seconds=time.monotonic() - began)
from omnislash.surfaces.cli.main import main
sys.exit(main())
"""


class Worker:
    """A worker process of a sample brain."""

    def __init__(self, sample: SampleBrain) -> None:
        self.root, self.brain = sample.root, sample.open()
        words = [sys.executable, "-c", _EARLY, "--brain", str(self.root), "--json", "worker"]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        assert json.loads(self.process.stdout.readline())["state"] == "ready"

    def last(self, kind: str = "heartbeats") -> dict[str, Any]:
        """Return the last run as another process than the worker sees it."""
        found: dict[str, Any] = self.brain.heartbeats().to_json()[kind][0].get("last") or {}
        return found

    def end(self) -> str:
        """Stop it, and return what it logged."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=30)[1]


@pytest.fixture
def start(sample: SampleBrain) -> Iterator[Callable[[], Worker]]:
    """Starts the worker, and ends it when the test is over."""
    started: list[Worker] = []

    def start_worker() -> Worker:
        started.append(Worker(sample))
        return started[-1]

    yield start_worker
    for worker in started:
        worker.end()


def wait_until(check: Callable[[], object], *, limit_s: float = 140.0) -> None:
    """Return once something is the case; a worker that starts slowly misses a minute, and has to wait for the next."""
    deadline = time.monotonic() + limit_s
    while not check():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)


def test_a_worker_runs_beats_and_hooks(sample: SampleBrain, start: Callable[[], Worker]) -> None:
    """The heartbeat comes at the full minute, and a write from the command line calls the hook."""
    sample.put("omnislash.yaml", 'harnesses: {told: [echo, "All is well."]}\n')
    sample.role("quiet", more="modelRef: cli:told\n")
    text = "---\nschedule: '* * * * *'\nagent: quiet\n---\nDo it.\n"
    sample.put("features/team/often.heartbeat.md", text)
    sample.put("features/team/watcher.hook.md", "---\non: memory:written\nagent: quiet\n---\nLook at it.\n")
    worker = start()
    wait_until(lambda: worker.last().get("outcome") == "done")

    words = [*warm_python(), "-m", "omnislash", "--brain", str(sample.root), "memory", "write", "--role", "nova", "Hm."]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    wait_until(lambda: worker.last("hooks").get("outcome") == "done")

    said = worker.end()
    assert "Heartbeat often (quiet) done." in said
    assert "Hook watcher (quiet) done." in said
    assert worker.process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks for a process")
def test_a_worker_that_is_stopped_cancels_the_model(sample: SampleBrain, start: Callable[[], Worker]) -> None:
    """SIGTERM while a model answers: its command is gone, the run is noted as interrupted, the worker ends at once."""
    child = sample.root / "child"
    code = f"import os, pathlib, time; pathlib.Path({str(child)!r}).write_text(str(os.getpid())); time.sleep(600)"
    sample.put("omnislash.yaml", f'harnesses: {{slow: ["{sys.executable}", -c, "{code}"]}}\n')
    sample.role("nova", more="modelRef: cli:slow\n")
    put_beat(sample, "often", schedule="* * * * *")
    put_hook(sample, "watcher")
    worker = start()
    wait_until(lambda: child.exists() and child.read_text())
    assert worker.last()["outcome"] == "running"

    worker.end()

    assert worker.process.returncode == 0
    assert worker.last()["outcome"] == "interrupted"
    wait_until(lambda: not pathlib.Path(f"/proc/{child.read_text()}").exists(), limit_s=5)
