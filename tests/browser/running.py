"""A running `omnislash up`, as a test starts, stops and looks at it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.warm import warm_python

ROOT = Path(__file__).resolve().parents[2]


def make_environment() -> dict[str, str]:
    """Return the environment of a command: nothing that a person has set for their own brain."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")}
    return kept | {"PYTHONPATH": str(ROOT)}


@dataclass
class Dashboard:
    """The dashboard of one brain; it may be stopped and started again at the same place."""

    root: Path
    url: str = ""
    #: What `omnislash up` is told beside the port.
    options: tuple[str, ...] = ()
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start it, on any free port the first time, and wait until it is ready."""
        port = str(urlsplit(self.url).port or 0)
        words = [
            sys.executable,
            "-m",
            "omnislash",
            "--brain",
            str(self.root),
            "--json",
            "--quiet",
            "up",
            "--port",
            port,
            *self.options,
        ]
        process = subprocess.Popen(words, env=make_environment(), stdout=subprocess.PIPE)
        self._processes.append(process)
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        assert ready.get("state") == "ready"
        self.url = ready["url"]

    def stop(self) -> None:
        """Stop it as a person does, and see that it ends well."""
        process = self._processes.pop()
        with process:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0

    def command(self, *words: str) -> dict[str, Any]:
        """Run a command of the command line in the brain, and return its JSON."""
        command = [*warm_python(), "-m", "omnislash", "--brain", str(self.root), "--json", *words]
        done = subprocess.run(command, env=make_environment(), capture_output=True, check=True, timeout=60)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def put(self, path: str, text: str | bytes) -> Path:
        """Write a file of the brain as an editor does, byte by byte, and return its place."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    def read(self, path: str) -> bytes:
        """Return the bytes of a file of the brain."""
        return (self.root / path).read_bytes()
