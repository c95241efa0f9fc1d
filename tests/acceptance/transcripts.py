"""Reads a transcript, a command-line session with its expected output, and compares it with what really happens.

::

    # What should be true, in one sentence.
    rules: WRITE-03 WRITE-O1
    brain: example | new | none
    now: 2026-11-30T18:00:00+01:00
    worker: yes                     a worker runs, and `now` is its clock; commands then reach it the fast way
    start: cold                     each command starts an interpreter; otherwise one that waits is forked, see warm.py

    $ omnislash memory write --role nova "Hello."
    written
      Written to main/2026/11/2026-11-30.md.
    $ omnislash memory read --role nova ../etc/passwd
    ! omnislash: …
    [2]

A line behind `! ` was printed on stderr, `[n]` is the exit code (0 when left out), `…` alone on a line stands for any
number of lines, and inside a line for anything; `<id>` is one of our random names, `<time>` an instant.
A command is run by the shell, so pipes and redirections work; lines that begin with `> ` go on with it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.example_brain import copy_example

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
_WILDCARDS = {
    "…": ".*?",
    "<id>": "[0-9a-f]{4,40}",
    "<time>": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:?\d\d)?",
}
_SPLIT = re.compile("(…|<id>|<time>)")


@dataclass(slots=True)
class Step:
    """One command with what it should print."""

    number: int
    command: str
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    code: int = 0


@dataclass(slots=True)
class Transcript:
    """A session."""

    path: Path
    title: str = ""
    rules: tuple[str, ...] = ()
    brain: str = "example"
    now: str | None = "2026-11-30T18:00:00+01:00"
    worker: bool = False
    cold: bool = False
    steps: list[Step] = field(default_factory=list)


def read_transcript(path: Path) -> Transcript:
    """Return the session of a file."""
    found = Transcript(path)
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("$ "):
            found.steps.append(Step(number, line[2:]))
        elif not found.steps:
            _read_header(found, line)
        else:
            _read_expected(found.steps[-1], line)
    for step in found.steps:
        while step.out and not step.out[-1]:
            step.out.pop()  # empty lines at the end are not compared
    return found


def _read_header(found: Transcript, line: str) -> None:
    key, _, value = (part.strip() for part in line.partition(":"))
    if line.startswith("# "):
        found.title = line[2:]
    elif key == "rules":
        found.rules = tuple(value.split())
    elif key == "brain":
        found.brain = value
    elif key == "now":
        found.now = value or None
    elif key == "worker":
        found.worker = value == "yes"
    elif key == "start":
        found.cold = value == "cold"
    elif line:
        message = f"{found.path.name}: this header is not understood: {line}"
        raise ValueError(message)


def _read_expected(step: Step, line: str) -> None:
    if line.startswith("> ") and not step.out and not step.err:
        step.command += "\n" + line[2:]
    elif line.startswith("! "):
        step.err.append(line[2:])
    elif code := re.fullmatch(r"\[(\d+)\]", line):
        step.code = int(code.group(1))
    else:
        step.out.append(line)


def matches(expected: list[str], actual: str) -> bool:
    """Tell whether the output is the expected one."""
    pattern = ""
    for line in expected:
        if line == "…":
            pattern += "(?:[^\n]*\n)*"
        else:
            pattern += "".join(_WILDCARDS.get(part, re.escape(part)) for part in _SPLIT.split(line)) + "\n"
    text = f"{actual.rstrip(chr(10))}\n" if actual.strip("\n") else ""
    return re.fullmatch(pattern, text) is not None


class Session:
    """A brain in a temporary place, and a shell in it."""

    def __init__(self, place: Path, transcript: Transcript, *, index: Path, python: Sequence[str]) -> None:
        """Make the brain; a copy of the example has this search index, and `python` runs the commands."""
        self.place = place / "brain"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")}
        self.environment |= {
            "PATH": f"{_make_program(place, python)}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "HOME": str(place),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
            "TZ": "UTC",
            "ROOT": str(ROOT),
        }
        self._now = {"OMNISLASH_NOW": transcript.now} if transcript.now else {}
        if not transcript.worker:
            self.environment |= self._now
        if transcript.brain == "example":
            copy_example(self.place, index=index)
        else:
            self.place.mkdir()
        if transcript.brain == "new":
            self.run("omnislash init --no-git --quiet .")

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the brain."""
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=60,
            check=False,
        )

    def start_worker(self) -> subprocess.Popen[str]:
        """Start a worker and wait until it is ready."""
        worker = subprocess.Popen(
            [sys.executable, "-m", "omnislash", "worker"],
            cwd=self.place,
            env=self.environment | self._now,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert worker.stdout is not None
        assert worker.stdout.readline().startswith("Writing for ")
        return worker


def _make_program(place: Path, python: Sequence[str]) -> Path:
    """Make a directory with the program `omnislash`, as an installation would."""
    directory = place / "bin"
    directory.mkdir()
    program = directory / "omnislash"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(python)} -m omnislash "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return directory
