"""How long a sync takes in a repository of 10,000 commits and 10,000 notes, against `git status` as the floor.

    python tests/bench/bench_sync.py [COMMITS] [NOTES]

The history is made with `git fast-import`. Every figure is the median of five runs in this process, after one that is
not counted; the floor is `git status --porcelain` in the same repository, in the same minute.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash import Brain
from omnislash.runtime.syncing.syncing import SyncOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 5


def _history(commits: int, notes: int) -> Iterator[bytes]:
    """Yield a stream for fast-import: each commit appends to one note, and the first one makes all of them."""
    for number in range(commits):
        data = b"one more\n"
        yield b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata %d\n%s" % (
            1_700_000_000 + 60 * number,
            len(data),
            data,
        )
        for note in range(notes) if number == 0 else [number % notes]:
            text = f"# Note {note}\n\n- 09:00 The pump was looked at for the {number}th time.\n".encode()
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (_place(note), len(text), text)
        if number == 0:
            role = b"---\ncapabilities: [memory:read, memory:write]\nmemory: {}\n---\nYou are nova.\n"
            yield b"M 100644 inline omnislash.yaml\ndata 0\n\n"
            yield b"M 100644 inline features/team/nova.agent.md\ndata %d\n%s\n" % (len(role), role)


def _place(note: int) -> bytes:
    """Return the path of a note: a log of one of thirty days a month, twelve months, as many lines as it takes."""
    line, month, day = note // 360, note // 30 % 12 + 1, note % 30 + 1
    return b"memory/line-%02d/2025/%02d/2025-%02d-%02d.md" % (line, month, month, day)


def _git(root: Path, *words: str, stdin: bytes | None = None) -> None:
    subprocess.run(["git", *words], cwd=root, input=stdin, check=True, capture_output=True)


def _measure(name: str, act: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Print and return the median of the runs, in milliseconds."""
    times = []
    for _ in range(RUNS + 1):
        before()
        started = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - started))
    median = statistics.median(times[1:])
    print(f"{name:<44} {median:8.0f} ms   ({min(times[1:]):.0f} to {max(times[1:]):.0f})")
    return median


def main(commits: int = 10_000, notes: int = 10_000) -> None:
    """Make the repository and print the figures."""
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    with tempfile.TemporaryDirectory(prefix="omnislash-bench-sync-") as directory:
        root, remote = Path(directory, "brain"), Path(directory, "remote.git")
        root.mkdir()
        _git(root, "init", "-q", "-b", "main", "--template=")
        _git(root, "fast-import", "--quiet", stdin=b"".join(_history(commits, notes)))
        _git(root, "reset", "-q", "--hard", "main")
        Path(root, ".git/info").mkdir(exist_ok=True)
        Path(root, ".git/info/exclude").write_text(".omnislash/\n")
        _git(root, "init", "-q", "--bare", "-b", "main", str(remote))
        _git(root, "remote", "add", "origin", str(remote))
        print(f"{commits} commits, {notes} notes, {os.cpu_count()} cores")
        with Brain.open(root) as brain:
            _figures(root, brain)


def _figures(root: Path, brain: Brain) -> None:
    floor = _measure("git status (the floor)", lambda: _git(root, "status", "--porcelain"))
    status = _measure("status", brain.sync_status)
    nothing = _measure("sync, nothing to do, no remote asked", lambda: brain.sync(SyncOptions(push=False)))
    note = lambda: brain.agent("nova").memory.write(f"Written at {time.perf_counter()}.")  # noqa: E731 - one line
    commit = _measure("sync, one entry, committed", lambda: brain.sync(SyncOptions(push=False)), note)
    started = time.perf_counter()
    first = brain.sync()
    print(
        f"{'first push, the whole history looked through':<44} {1000 * (time.perf_counter() - started):8.0f} ms   {first.outcome}"
    )
    push = _measure("sync, one entry, committed and pushed", brain.sync, note)
    for name, figure in (("status", status), ("nothing", nothing), ("commit", commit), ("commit and push", push)):
        print(f"{name}: {figure / floor:.1f} times the floor")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
