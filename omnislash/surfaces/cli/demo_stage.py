"""What the demo runs on: a copy of the example brain, a real worker process, and client processes that write to it.

Rules: WRITE-04, WRITE-05, WRITE-O5.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from omnislash.errors import OmnislashError, StorageError
from omnislash.store.state import State
from omnislash.surfaces.cli import repository
from omnislash.surfaces.cli.init import make_brain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

#: The morning after the example's last day, so that every run tells the same story.
NOW = "2026-12-01T09:00:00+01:00"
#: What the story does without: the days of the household, and of the workshop all but the last month with its pages.
#: To read the whole year takes a minute more (2026-12-01, 1,897 notes on two cores).
_UNTOLD = re.compile(r"memory/(?:home/20|[^/]+/(?:2025/|2026/(?:0\d|10)/|2026/2026-(?!W4[5-8]\.|11\.)))")
#: How long any one step may take on a slow machine, in seconds.
_PATIENCE_S = 60.0
#: How often a write is tried to be caught half-way. The window is some milliseconds wide, and a look takes less than
#: one, so the first or second try hits on all machines that were tried.
_TRIES = 40


class DemoError(OmnislashError):
    """The demo did not go as it should."""

    kind = "demo"


class Stage:
    """The copy and its processes; a context manager that leaves no process behind."""

    def __init__(self) -> None:
        """Make the copy."""
        try:
            self.root = Path(tempfile.mkdtemp(prefix="omnislash-demo-"))
        except OSError as error:
            raise StorageError(f"No temporary directory can be made: {error.strerror}.") from error
        files = make_brain(self.root, example=True, without=_UNTOLD)
        self.git_note = repository.start(self.root, files, message="The example as it ships", nested=True)
        self._environment = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")}
        self._environment |= {"OMNISLASH_NOW": NOW, "PYTHONIOENCODING": "utf-8"}
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Return the stage."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the worker."""
        self.stop_worker()

    def remove(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.root, ignore_errors=True)

    # -- the worker --------------------------------------------------------------------------------------------------

    def start_worker(self) -> int:
        """Start a worker process, wait until it is ready, and return its process id.

        Raises:
            DemoError: It does not start.
        """
        command = self._command(["worker"])
        self._worker = subprocess.Popen(  # noqa: S603 - our own program
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self._worker.stdout.readline() if self._worker.stdout else ""
        if not line:
            raise DemoError(f"The worker did not start; {self.root}/.omnislash/logs/worker.log may say why.")
        return self._worker.pid

    def stop_worker(self) -> None:
        """Stop the worker in the ordinary way; nothing happens without one."""
        if self._worker is None:
            return
        with contextlib.suppress(OSError):
            self._worker.send_signal(signal.SIGCONT)
            self._worker.terminate()
        try:
            self._worker.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._worker.kill()
        self._forget_worker()

    def kill_worker(self) -> None:
        """Kill the worker, as a power cut or the operating system would."""
        if self._worker is not None:
            self._worker.kill()
            self._forget_worker()

    def _forget_worker(self) -> None:
        if self._worker is not None:
            self._worker.wait()
            if self._worker.stdout:
                self._worker.stdout.close()
            self._worker = None

    # -- clients -----------------------------------------------------------------------------------------------------

    def _command(self, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "omnislash", "--brain", str(self.root), "--json", *words]

    def begin(self, words: Sequence[str], *, served: bool = False) -> subprocess.Popen[str]:
        """Start a client process.

        Args:
            words: The command.
            served: True lets the worker answer with its own clock, which stands as well; False hands the clock in, and
                the process does itself what is no write.
        """
        hidden = {"OMNISLASH_NOW"} if served else set()
        return subprocess.Popen(  # noqa: S603 - our own program
            self._command(words),
            env={name: value for name, value in self._environment.items() if name not in hidden},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    @staticmethod
    def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
        """Wait for a client process and return what it answered.

        Raises:
            DemoError: It answered nothing that can be understood.
        """
        try:
            out, err = process.communicate(timeout=_PATIENCE_S)
            answer: dict[str, Any] = json.loads(out)
        except (subprocess.TimeoutExpired, ValueError) as error:
            process.kill()
            raise DemoError("A command of the demo gave no answer.") from error
        if "error" in answer:
            raise DemoError(f"A command of the demo failed: {answer['error']['message']} {err[:0]}".strip())
        return answer

    def run(self, words: Sequence[str]) -> dict[str, Any]:
        """Run a client process and return its answer."""
        return self.finish(self.begin(words))

    # -- the search --------------------------------------------------------------------------------------------------

    def look(self, words: Sequence[str]) -> dict[str, Any]:
        """Let the running worker search, and return its answer."""
        return self.finish(self.begin(words, served=True))

    def wait_for_index(self) -> dict[str, Any]:
        """Wait until the worker has taken up every file, and return the state of the index; or the state after a minute."""
        from omnislash.index.status import read_status  # noqa: PLC0415 - numpy, which nothing else here needs
        from omnislash.surfaces.cli.options import Settings  # noqa: PLC0415 - beside its only use

        deadline = time.monotonic() + _PATIENCE_S
        with Settings(brain=str(self.root), now=datetime.fromisoformat(NOW)).open_brain() as brain:
            while not (status := read_status(brain.index)).is_clean and time.monotonic() < deadline:
                time.sleep(0.1)
        return status.to_json()

    # -- the crash ---------------------------------------------------------------------------------------------------

    def kill_during(self, writes: Sequence[Sequence[str]]) -> tuple[int, dict[str, Any]]:
        """Kill the worker while one of the writes is half-way; the other writes are finished as usual.

        The worker is frozen at the instant its table shows a running job. If the job is still running when it stands
        still, it is killed there; otherwise it was too fast, and the next write is tried.

        Returns:
            Which write was hit, and what its caller was told.

        Raises:
            DemoError: The worker was too fast every time.
        """
        state = State(self.root / ".omnislash" / "state.db")
        try:
            for number, words in enumerate(writes[:_TRIES]):
                caller = self.begin(words)
                if self._freeze_in_flight(state, caller):
                    self.kill_worker()
                    return number, self.finish(caller)
                self.finish(caller)
        finally:
            state.close()
        raise DemoError("The worker finished every write before it could be killed.")

    def _freeze_in_flight(self, state: State, caller: subprocess.Popen[str]) -> bool:
        """Freeze the worker while a job runs; False, with the worker going on, when none was caught."""
        if self._worker is None:
            return False
        while caller.poll() is None:
            if state.rows("running_jobs"):
                self._worker.send_signal(signal.SIGSTOP)
                if state.rows("running_jobs"):
                    return True
                self._worker.send_signal(signal.SIGCONT)
                return False
        return False

    def wait_for_outcome(self, job: str) -> str:
        """Return what became of a job, from the action log.

        Raises:
            DemoError: Nothing, within a minute.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            found = [row["outcome"] for row in self.run(["audit"])["rows"] if row["job"] == job]
            if found:
                return str(found[0])
            time.sleep(0.1)
        raise DemoError("The write did not land after the restart.")

    def count_entries(self, path: str, text: str) -> int:
        """Return how often a text stands in a memory file."""
        return (self.root / "memory" / path).read_text(encoding="utf-8").count(text)
