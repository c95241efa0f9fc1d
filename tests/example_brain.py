"""Copies of the example brain for tests, with the search index that a first search would take a minute to make."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "brain-example"
_INDEX = Path("memory") / ".memory-index.db"
#: What somebody left who ran the example in place.
_LEFT = shutil.ignore_patterns(".omnislash", ".memory-index*")


def copy_example(target: Path, *, index: Path | None = None) -> Path:
    """Copy the example brain to a place that must not exist, with an index of :func:`build_index`, and return the place."""
    shutil.copytree(EXAMPLE, target, ignore=_LEFT)
    if index is not None:
        shutil.copy(index, target / _INDEX)
    return target


def build_index(place: Path) -> Path:
    """Return an index of the example, made by the program itself; by one of several test processes, for all of them.

    Args:
        place: A directory that the processes share.
    """
    made = place / "example-index.db"
    with (place / "example-index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            brain = copy_example(place / "example-brain")
            environment = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")}
            command = [sys.executable, "-m", "omnislash", "--brain", str(brain), "index", "sync"]
            environment["PYTHONPATH"] = str(ROOT)
            subprocess.run(command, env=environment, check=True, capture_output=True, timeout=280)
            with (
                contextlib.closing(sqlite3.connect(brain / _INDEX)) as source,
                contextlib.closing(sqlite3.connect(place / "example-index.part")) as copy,
            ):
                source.backup(copy)
            (place / "example-index.part").rename(made)
    return made
