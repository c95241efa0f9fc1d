"""A model that is a command: the prompt goes to its standard input, the answer comes from its standard output.

The command runs in a session of its own, without a shell, and whatever it has started is killed with it: when it is
late, when it says too much, when nobody waits any more, when it has ended, and when this process is killed.

Rules: PERIOD-15, PERIOD-O9; failure case O-35.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from typing import IO, TYPE_CHECKING, Final

from omnislash.core.credentials import find_secret
from omnislash.errors import ModelError
from omnislash.runtime.models.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omnislash.runtime.ladder.summarising import SummaryRequest

#: How long a command may take, in seconds: a large model reads 120,000 characters in one to two minutes.
TIME_LIMIT_S: Final = 300.0
#: The longest answer, in bytes: a hundred times a summary of the usual length. More is no summary.
ANSWER_MAX_BYTES: Final = 1_000_000
#: How much of its standard error is kept, from the end, in bytes, and how much of its last line a
#: message repeats, in characters.
_ERRORS_BYTES, _ERRORS_CHARS = 4_096, 300
#: How often is looked whether a command has ended or is to end, in seconds.
_LOOK_S = 0.05
#: How long is waited for the rest of its output after its end, in seconds.
_REST_S = 2.0
_BLOCK_BYTES = 65_536
#: Set for every command: a harness that runs as a model has hooks of ours as well, and they must neither deliver to it nor
#: have it reviewed. What the command starts inherits it.
INSIDE: Final = "OMNISLASH_INSIDE"


class HarnessModel:
    """Satisfies `omnislash.runtime.models.summarisers.Model` with the command of a harness."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        is_over: Callable[[], bool] = lambda: False,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        """Keep what is run.

        Args:
            name: What it is called in messages, `cli:<name>`.
            command: Program and arguments.
            directory: Where it runs: the brain.
            environment: Its variables.
            is_over: True once nobody waits for the answer any more.
            time_limit_s: Seconds after which it is killed.
        """
        self.name = name
        self._command = list(command)
        self._directory = directory
        self._environment = {**environment, INSIDE: "1"}
        self._is_over = is_over
        self._time_limit_s = time_limit_s

    def summarise(self, request: SummaryRequest) -> str:
        """Return what the command answers to the prompt of a request; ModelError when there is no answer."""
        from omnislash.runtime.ladder.summarising import render_prompt  # noqa: PLC0415 - only a command needs a prompt

        return self.ask(render_prompt(request))

    def ask(self, prompt: str) -> str:
        """Return what the command answers to a text.

        Raises:
            ModelError: It can't be started, is late, fails, says too much, or answers bytes that are no text.
        """
        with Guard() as guard:
            process = self._start()
            guard.watch(process.pid)
            pipes = _Pipes(process, prompt.encode("utf-8", "replace"))
            try:
                reason = self._wait(process, pipes)
            finally:
                _kill_group(process)
                pipes.close()
        if reason is None and process.returncode:
            reason = f"ended with the code {process.returncode}"
        if reason is not None:
            raise ModelError(f"{self.name} {reason}{pipes.describe_errors()}.")
        try:
            return bytes(pipes.answer).decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"{self.name} answered bytes that are no UTF-8."
            raise ModelError(message) from error

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the command is the person's own, and no shell reads it
                self._command,
                cwd=self._directory,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            message = (
                f"{self.name} can't be started: {self._command[0]}: {reason}. Check its command in omnislash.yaml."
            )
            raise ModelError(message) from error

    def _wait(self, process: subprocess.Popen[bytes], pipes: _Pipes) -> str | None:
        """Return why the command has to be killed, None when it has ended by itself."""
        deadline = time.monotonic() + self._time_limit_s
        while process.poll() is None:
            if pipes.is_too_long:
                return f"answered more than {ANSWER_MAX_BYTES} bytes"
            if self._is_over():
                return "was stopped, because nobody waits for it any more"
            if time.monotonic() > deadline:
                return f"gave no answer within {self._time_limit_s:.0f} seconds"
            pipes.wait(_LOOK_S)
        pipes.finish()
        return f"answered more than {ANSWER_MAX_BYTES} bytes" if pipes.is_too_long else None


class _Pipes:
    """The three pipes of a command, each served by a thread, so that neither side waits for the other."""

    def __init__(self, process: subprocess.Popen[bytes], prompt: bytes) -> None:
        self.answer = bytearray()
        self.is_too_long = False
        self._errors = bytearray()
        self._all_said = threading.Event()
        self._files = [file for file in (process.stdin, process.stdout, process.stderr) if file is not None]
        works = (lambda pipe: self._feed(pipe, prompt), self._read_answer, self._read_errors)
        pairs = zip(works, self._files, strict=True)
        self._threads = [threading.Thread(target=work, args=(file,), daemon=True) for work, file in pairs]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _feed(pipe: IO[bytes], prompt: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # it may answer without reading to the end
            pipe.write(prompt)
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _read_answer(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while block := os.read(pipe.fileno(), _BLOCK_BYTES):
                self.answer += block
                if len(self.answer) > ANSWER_MAX_BYTES:
                    self.is_too_long = True
                    break
        self._all_said.set()

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while block := os.read(pipe.fileno(), _BLOCK_BYTES):
                self._errors += block
                del self._errors[:-_ERRORS_BYTES]

    def wait(self, limit_s: float) -> None:
        """Return after a moment, or a little later when everything was said: the command is about to end."""
        if self._all_said.wait(limit_s):
            time.sleep(limit_s / 10)

    def finish(self) -> None:
        """Wait for what the pipes still hold after the command has ended; what it left running may keep them open."""
        deadline = time.monotonic() + _REST_S
        for thread in self._threads[1:]:
            thread.join(max(deadline - time.monotonic(), 0))

    def close(self) -> None:
        """Close them, once the threads are done with them: a pipe must not be closed under its reader."""
        for thread in self._threads:
            thread.join(_REST_S)
        for thread, file in zip(self._threads, self._files, strict=True):
            if not thread.is_alive():
                with contextlib.suppress(OSError):
                    file.close()

    def describe_errors(self) -> str:
        """Return `: ` and the last line that it said on standard error, '' without one; no line with a credential."""
        lines = [line.strip() for line in self._errors.decode("utf-8", "replace").splitlines() if line.strip()]
        if not lines:
            return ""
        if find_secret(lines[-1]):
            return " (what it said on stderr holds a credential and is not shown)"
        return f": {lines[-1][-_ERRORS_CHARS:].rstrip('.')}"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a command with everything that it started, and wait for its end."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
