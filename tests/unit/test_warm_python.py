"""The Python that waits for tests: what it runs is a process of its own that ends and prints as one that starts cold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.warm import COLD, ROOT, warm_python

if TYPE_CHECKING:
    from pathlib import Path

_ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TOLD": "by the test", "LC_ALL": "C.UTF-8"}
#: Prints what a process has from who started it, and ends in the way that it is told to.
_SCRIPT = """
import atexit, os, signal, sys, threading, time
atexit.register(lambda: print("at the end", flush=True))
print(sys.argv[1:], os.getcwd(), os.environ.get("TOLD"), sorted(set(os.environ) & {"HOME", "PWD"}), sys.stdin.read())
print("to stderr", file=sys.stderr)
threading.Thread(target=lambda: (time.sleep(0.1), print("a thread"))).start()
if sys.argv[1] == "signal":
    os.kill(os.getpid(), signal.SIGTERM)
if sys.argv[1] == "raise":
    raise OSError("a fault")
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else None)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing waits on this system")


def _run(python: tuple[str, ...], *words: str, cwd: Path) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*python, *words], cwd=cwd, env=_ENVIRONMENT, input="Grüße\n".encode(), capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", [("7",), ("7", "3"), ("signal",)], ids=" ".join)
def test_a_script_ends_as_if_it_was_started(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Words, directory, variables, all three streams, threads, the exit code and a signal are those of a cold start."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT, encoding="utf-8")

    warm = _run(warm_python(), str(script), *words, cwd=tmp_path)

    assert warm == _run(COLD, str(script), *words, cwd=tmp_path)


def test_a_fault_is_told(tmp_path: Path) -> None:
    """An exception that nobody catches is a trace and exit code 1."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT, encoding="utf-8")

    code, _, told = _run(warm_python(), str(script), "raise", cwd=tmp_path)

    assert code == 1
    assert told.decode().rstrip().endswith("OSError: a fault")


def test_a_command_answers_as_if_it_was_started(tmp_path: Path) -> None:
    """The command line prints and ends the same."""
    for words in (("--version",), ("memroy",), ("--json", "audit"), ("help", "budget")):
        command = ("-m", "omnislash", *words)
        assert _run(warm_python(), *command, cwd=tmp_path) == _run(COLD, *command, cwd=tmp_path)


def test_signals_reach_it(tmp_path: Path) -> None:
    """SIGTERM is handed on, and who is killed takes the command along."""
    script = tmp_path / "script.py"
    script.write_text("import time\nprint(1, flush=True)\ntime.sleep(60)\n", encoding="utf-8")
    for number in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([*warm_python(), str(script)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"1\n"
            process.send_signal(number)

            assert process.wait(timeout=20) == -number
            assert process.stdout.read() == b""  # its end of the pipe is closed: it is gone
