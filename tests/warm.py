"""A Python that has imported what commands need, for tests that start many of them.

To start one costs the processor nearly a second, of which a tenth is the command. So one process beside each test process
imports everything once and waits. For a command it forks a child, which gets the words, the directory, the environment
and the streams of the command, and runs the real entry point, or a script, to its end. Each command is a process of its
own still; only the start of the interpreter is left out. What a test says about that start, about a terminal, a process
id or the memory of a process needs `sys.executable`.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The words that start a Python in the ordinary way.
COLD = (sys.executable,)


@functools.cache
def warm_python() -> tuple[str, ...]:
    """Return the words that stand for `sys.executable` in a command; the first call starts the process that waits.

    That process ends with this one. On another system than Linux nothing waits, and the words are those of `COLD`.
    """
    if sys.platform != "linux":
        return COLD
    directory = tempfile.mkdtemp(prefix="warm-")
    place = Path(directory, "socket")
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("warm_server.py")), str(place)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(_end, server, directory, os.getpid())
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return (sys.executable, "-I", "-S", str(Path(__file__).with_name("warm_client.py")), str(place))


def _end(server: subprocess.Popen[bytes], directory: str, owner: int) -> None:
    """End the waiting process, unless this is a fork of the one that started it."""
    if os.getpid() == owner:
        server.communicate(timeout=30)
        shutil.rmtree(directory, ignore_errors=True)
