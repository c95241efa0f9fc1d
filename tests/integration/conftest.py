"""What the integration tests share: a small brain on a real disk, a clock that stands still, a worker of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash import Agent

ROOT = Path(__file__).resolve().parents[2]
#: Every capability that a role can hold here.
EVERYTHING = "memory:read, memory:write, memory:edit, memory:delete, runtime:read"
#: A worker that prints `ready`, and stops at the first new file when it was told to.
_WORKER = """
import sys, time
from omnislash import Brain
from omnislash.store.disk import Disk

class Stuck(Disk):
    def link(self, temp, target):
        print("stuck", flush=True)
        time.sleep(600)

disk = Stuck() if "stuck" in sys.argv else None
with Brain.open(sys.argv[1], disk=disk) as brain:
    worker = brain.start_worker()
    print("ready", flush=True)
    sys.stdin.read()
    worker.stop()
"""


class SetClock:
    """A clock that shows what it was set to; time limits run on the real one."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic_s(self) -> float:
        return time.monotonic()


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, root: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(root), *options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self.wait_for("ready")

    def wait_for(self, word: str) -> None:
        """Return when the worker has printed this line."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == word

    def send(self, number: signal.Signals) -> None:
        """Send it a signal; a stop is waited for."""
        self._process.send_signal(number)
        if number is signal.SIGSTOP:
            os.waitpid(self.pid, os.WUNTRACED)

    def stop(self) -> None:
        """Let it finish, and wait for its end."""
        self.send(signal.SIGCONT)
        self._end(kill=False)

    def kill(self) -> None:
        """Kill it, and wait for its end."""
        self._end(kill=True)

    def _end(self, *, kill: bool) -> None:
        if self._process.poll() is None and kill:
            self._process.kill()
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait(timeout=30)
        if self._process.stdout:
            self._process.stdout.close()


class SampleBrain:
    """A brain in a temporary directory; nothing but what the test puts there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        #: Sunday, 30 August 2026, 09:05 in UTC, which is the zone of a brain that names none.
        self.clock = SetClock(datetime(2026, 8, 30, 9, 5, tzinfo=UTC))
        self._opened: list[Brain] = []
        self._workers: list[WorkerProcess] = []
        root.mkdir()
        self.put("omnislash.yaml", "")

    # -- what a person does ------------------------------------------------------------------------------------------

    def put(self, path: str, content: str | bytes) -> Path:
        """Save a file of the brain, as a person would, and return its place."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def put_memory(self, path: str, content: str | bytes) -> Path:
        """Save a managed file by hand."""
        return self.put(f"memory/{path}", content)

    def role(
        self,
        name: str,
        memory: str | None = "{}",
        *,
        capabilities: str = EVERYTHING,
        where: str = "team",
        more: str = "",
    ) -> None:
        """Write a role's file."""
        block = "" if memory is None else f"memory: {memory}\n"
        text = f"---\ncapabilities: [{capabilities}]\n{block}{more}---\nYou are {name}.\n"
        self.put(f"features/{where}/{name}.agent.md", text)

    def beat(self, name: str, role: str, memory: str | None = None) -> None:
        """Write a heartbeat's file."""
        block = "" if memory is None else f", memory: {memory}"
        text = f"---\nschedule: '0 7 * * *'\nagent: {{role: {role}{block}}}\n---\nDo it.\n"
        self.put(f"features/team/{name}.heartbeat.md", text)

    def manifest(self, memory: str = "{}", *, timezone: str = "UTC") -> None:
        """Write the manifest."""
        self.put("constitution/MANIFEST.yaml", f"memory: {memory}\nlocale: {{timezone: {timezone}}}\n")

    def sources(self, *names: str) -> None:
        """Declare authored sources."""
        self.put("omnislash.yaml", f"memory: {{sources: [{', '.join(names)}]}}\n")

    def open_gate(self) -> None:
        """Let `memory:delete` act without a person."""
        self.put("constitution/engine-capabilities.json", '{"memory:delete": {"hitl": false}}')

    # -- what is there -----------------------------------------------------------------------------------------------

    def text(self, path: str) -> str:
        """Return a managed file."""
        return self.data(path).decode()

    def data(self, path: str) -> bytes:
        """Return the bytes of a managed file."""
        return (self.root / "memory" / path).read_bytes()

    def files(self) -> dict[str, bytes]:
        """Return everything below `memory/`, hidden files too.

        A worker removes its temporary files after it has answered, so they get a second to go.
        """
        memory = self.root / "memory"
        deadline = time.monotonic() + 1
        while any(memory.rglob(".omnislash-*")) and time.monotonic() < deadline:
            time.sleep(0.005)
        places = sorted(place for place in memory.rglob("*") if place.is_file())
        return {str(place.relative_to(memory)): place.read_bytes() for place in places}

    # -- who acts ----------------------------------------------------------------------------------------------------

    def open(self, **options: Any) -> Brain:
        """Open the brain; it is closed when the test ends."""
        brain = Brain.open(self.root, **{"clock": self.clock, **options})
        self._opened.append(brain)
        return brain

    def agent(self, role: str = "nova", *, heartbeat: str | None = None, replay: bool = False) -> Agent:
        """Return an agent for one turn, in a process view that keeps open."""
        if not self._opened:
            self.open()
        return self._opened[0].agent(role, heartbeat=heartbeat, replay=replay)

    def start_worker(self, *options: str) -> WorkerProcess:
        """Start a worker process; it is gone when the test ends."""
        worker = WorkerProcess(self.root, *options)
        self._workers.append(worker)
        return worker

    def close(self) -> None:
        """End everything that was started."""
        for brain in self._opened:
            brain.close()
        for worker in self._workers:
            worker.kill()


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[SampleBrain]:
    """Return a brain with one role, `nova`, that writes the line `main` and may do everything."""
    brain = SampleBrain(tmp_path / "brain")
    brain.role("nova")
    yield brain
    brain.close()
