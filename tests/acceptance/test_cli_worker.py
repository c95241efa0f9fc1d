"""`omnislash worker` as a process: how it starts, what it logs, how it ends, and what callers see of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.example_brain import copy_example
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")} | {
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
}


@pytest.fixture
def brain(tmp_path: Path, example_index: Path) -> Path:
    """A copy of the example brain."""
    return copy_example(tmp_path / "brain", index=example_index)


@pytest.fixture
def start(brain: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts workers of the brain, waits until each is ready, and ends them in the end."""
    running: list[subprocess.Popen[str]] = []

    def start_worker(*options: str) -> subprocess.Popen[str]:
        log = (brain.parent / f"stderr-{len(running)}").open("w")
        worker = subprocess.Popen(
            [*_words(brain), *options, "worker"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, text=True
        )
        log.close()
        running.append(worker)
        assert worker.stdout is not None
        assert worker.stdout.readline()
        return worker

    yield start_worker
    for worker in running:
        if worker.poll() is None:
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        worker.wait(timeout=60)
        assert worker.stdout is not None
        worker.stdout.close()


def _words(brain: Path) -> list[str]:
    return [sys.executable, "-m", "omnislash", "--brain", str(brain)]


def call(brain: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return subprocess.run(
        [*warm_python(), *_words(brain)[1:], *words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def _count(brain: Path, text: str) -> int:
    return sum(path.read_text(encoding="utf-8").count(text) for path in (brain / "memory").rglob("*.md"))


def _wait_for(condition: Callable[[], bool], limit_s: float = 10.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_worker_well(
    brain: Path, start: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    """SIGTERM and Ctrl-C end the worker with 0, and leave neither a socket nor a trace."""
    worker = start()
    worker.send_signal(number)

    assert worker.wait(timeout=60) == 0
    assert not (brain / ".omnislash" / "worker.sock").exists()
    assert "Traceback" not in (brain.parent / "stderr-0").read_text()


def test_the_ready_line_can_be_json(brain: Path) -> None:
    """With `--json` the line that says ready is one object."""
    words = [*_words(brain), "--json", "worker"]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        ready = json.loads(worker.stdout.readline())
        worker.terminate()
        rest, _ = worker.communicate(timeout=60)

    assert ready == {"brain": str(brain), "pid": worker.pid, "state": "ready"}
    assert rest == ""


@pytest.mark.rule("WRITE-01")
def test_a_second_worker_does_not_start(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """The second one ends with 1 and names the process of the first, which goes on."""
    first = start()
    second = call(brain, "worker")

    assert second.returncode == 1
    assert f"process {first.pid}" in second.stderr
    assert first.poll() is None


@pytest.mark.rule("WRITE-07", "WRITE-O8")
def test_queued_writes_run_when_a_worker_starts(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """A write that was left in the queue is in the files soon after a worker is there."""
    queued = call(brain, "--queue-only", "memory", "write", "--role", "nova", "Kept until the worker came.")
    assert queued.returncode == 3
    start()

    _wait_for(lambda: _count(brain, "Kept until the worker came.") == 1)


@pytest.mark.rule("WRITE-O4")
def test_a_stopped_worker_leaves_the_write_queued(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """A worker that is frozen does not answer, so the write is queued; it lands once when the worker goes on."""
    worker = start()
    worker.send_signal(signal.SIGSTOP)
    answer = call(brain, "memory", "write", "--role", "nova", "Written into the silence.")
    worker.send_signal(signal.SIGCONT)

    assert answer.returncode == 3
    assert answer.stdout.startswith("queued\n")
    _wait_for(lambda: _count(brain, "Written into the silence.") == 1)
    time.sleep(0.5)
    assert _count(brain, "Written into the silence.") == 1


@pytest.mark.rule("WRITE-O5")
def test_a_broken_connection_writes_once(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """A client whose worker dies after the request was sent finishes the same job, and the entry is there once."""
    worker = start()
    worker.send_signal(signal.SIGSTOP)
    words = [*_words(brain), "memory", "write", "--role", "nova", "The worker dies on this one."]
    client = subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    worker.kill()
    out, _ = client.communicate(timeout=60)

    assert client.returncode == 0
    assert out.startswith("written\n")
    assert _count(brain, "The worker dies on this one.") == 1


def test_a_copied_brain_is_not_served_by_the_other_worker(
    brain: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """A copy of a brain whose worker runs is a brain of its own: what is written to it lands in it."""
    start()
    copy = brain.parent / "copy"
    shutil.copytree(brain, copy, ignore=shutil.ignore_patterns("*.sock"))
    answer = call(copy, "memory", "write", "--role", "nova", "Only in the copy.")

    assert answer.returncode == 0
    assert (_count(copy, "Only in the copy."), _count(brain, "Only in the copy.")) == (1, 0)


@pytest.mark.rule("KNOB-26", "KNOB-O6")
def test_a_changed_manifest_is_followed(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """A fault is in the log a moment after it was saved, the last good settings stay, and a repair is taken."""
    start()
    log = brain / ".omnislash" / "logs" / "worker.log"
    manifest = brain / "constitution" / "MANIFEST.yaml"
    good = manifest.read_text(encoding="utf-8")
    time.sleep(0.5)  # the watch starts behind the line that says ready

    manifest.write_text("memory:\n  fileMaxChrs: 9\n", encoding="utf-8")
    _wait_for(lambda: "constitution/MANIFEST.yaml:2:3" in log.read_text(encoding="utf-8"))
    assert call(brain, "memory", "write", "--role", "nova", "In spite of the fault.").returncode == 0
    manifest.write_text(good + "\n# repaired\n", encoding="utf-8")
    _wait_for(lambda: "loaded again" in log.read_text(encoding="utf-8"))


@pytest.mark.rule("KNOB-O5", "SOURCE-14")
def test_the_log_names_what_is_wrong(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """A role that is left out, and a source that nobody names, are in the log when the worker starts."""
    (brain / "features" / "team" / "ops.agent.md").write_text("---\nmemory: true\n---\n", encoding="utf-8")
    (brain / "persons").mkdir()
    project = brain / "omnislash.yaml"
    project.write_text(
        project.read_text(encoding="utf-8").replace("sources: [", "sources: [persons, "), encoding="utf-8"
    )
    start()
    log = (brain / ".omnislash" / "logs" / "worker.log").read_text(encoding="utf-8")

    assert "features/team/ops.agent.md:2" in log
    assert "persons" in log


def test_the_log_never_holds_a_memory(brain: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """Places and outcomes are logged, and not a word of what was written."""
    start()
    call(brain, "memory", "write", "--role", "nova", "Xylophone lessons begin in May.")
    call(brain, "memory", "edit", "--role", "nova", "main/MEMORY.md", "--old", "Xylophone", "--new", "Zither")
    log = (brain / ".omnislash" / "logs" / "worker.log").read_text(encoding="utf-8")

    assert str(brain) in log
    assert "Xylophone" not in log
    assert "Zither" not in log
