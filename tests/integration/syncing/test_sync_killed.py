"""Kills in the middle: at every command of git, before it, behind it and while it runs; the next sync finishes, nothing is lost.

A wrapper named `git` stands first on the path of the sync that is killed; real git does the work.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.runtime.syncing.obstacles import find_locks, is_someone_working
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.store.git import Repository
from omnislash.store.system_clock import SystemClock
from omnislash.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

#: $COUNTER counts the commands; at number $AT it happens: the sync is killed before or after, or git in the middle.
_WRAPPER = """#!/bin/sh
count=$(($(cat "$COUNTER") + 1))
echo $count > "$COUNTER"
[ $count = "$AT" ] || exec "$REAL" "$@"
case "$WAY" in
before) kill -9 $PPID; exit 1;;
after) "$REAL" "$@"; kill -9 $PPID; exit 1;;
during) "$REAL" "$@" <&0 & victim=$!; sleep 0.00$((AT % 7)); kill -9 $victim; wait $victim; exit 137;;
esac
exec "$REAL" "$@"
"""
DAY = "memory/main/2026/08/2026-08-30.md"


class Killed:
    """Two clones that both wrote, and a sync of the second that is killed."""

    def __init__(self, first: GitBrain, second: GitBrain, tmp_path: Path) -> None:
        self.first, self.second = first, second
        self._bin = tmp_path / "bin"
        self._bin.mkdir()
        (self._bin / "git").write_text(_WRAPPER)
        (self._bin / "git").chmod(0o755)
        self._counter = tmp_path / "counter"
        first.agent().memory.write("From the first.")
        first.put_memory("main/MEMORY.md", "- One.\n- Two, as the first says.\n")
        first.sync()
        second.agent().memory.write("From the second.")
        second.put_memory("main/MEMORY.md", "- One.\n- Two, as the second says.\n")
        second.put_memory("main/журнал.md", "Mine.\n")
        second.put("notes.txt", "not the brain's\n")
        second.close()

    def sync(self, way: str, at: int) -> int:
        """Sync in a process of its own, with the wrapper in front; return how many commands of git there were."""
        self._counter.write_text("0\n")
        real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                ways = {"REAL": real, "COUNTER": str(self._counter), "AT": str(at), "WAY": way}
                os.environ.update(ways, PATH=f"{self._bin}:{os.environ['PATH']}")
                with Brain.open(self.second.root) as brain:
                    brain.sync()
                status = 0
            finally:
                os._exit(status)
        os.waitpid(pid, 0)
        self._settle()
        return int(self._counter.read_text())

    def _settle(self) -> None:
        """Wait until what the dead process had started is over."""
        repository = Repository.open(self.second.root)
        assert repository is not None
        deadline = time.monotonic() + 20
        while is_someone_working(repository, repository.index_lock):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def check(self) -> None:
        """Let the next sync finish, and look at everything: both sides, the remote, git itself."""
        with Brain.open(self.second.root) as brain:
            answer = brain.sync()
            assert answer.outcome.is_well, answer.message
            assert brain.sync_status().is_in_sync
        with Brain.open(self.first.root) as brain:
            assert brain.sync().outcome.is_well
        for brain_ in (self.first, self.second):
            day = (brain_.root / DAY).read_text()
            assert day.count("From the first.") == day.count("From the second.") == 1, day
            durable = (brain_.root / "memory/main/MEMORY.md").read_text()
            assert [durable.count(text) for text in ("- One.", "as the first says", "as the second says")] == [1, 1, 1]
            assert (brain_.root / "memory/main/журнал.md").read_text() == "Mine.\n"
            assert not list(brain_.root.rglob(".omnislash-*"))
            assert not (brain_.root / "memory/main/conflicts").exists()
        assert self.second.git("fsck", "--no-dangling") == ""
        assert self.second.status() == "?? notes.txt"
        assert self.first.git("rev-parse", "HEAD") == self.second.git("rev-parse", "HEAD")
        repository = Repository.open(self.second.root)
        assert repository is not None
        assert find_locks(repository, SystemClock().now()) == []


@pytest.fixture
def killed(repo: GitBrain, clone: Callable[[str], GitBrain], tmp_path: Path) -> Killed:
    """Return the two clones, ready for the sync that is killed."""
    repo.put_memory("main/MEMORY.md", "- One.\n- Two.\n")
    repo.sync()
    return Killed(repo, clone("second"), tmp_path)


@pytest.mark.parametrize(("way", "at"), [("before", 17), ("after", 12), ("after", 25), ("during", 14), ("during", 31)])
def test_killed_sync_is_finished_by_the_next(killed: Killed, way: str, at: int) -> None:
    """Killed at some command of git, the next sync finishes: everything there once, nothing of anybody's lost."""
    assert killed.sync(way, at) >= at

    killed.check()


@pytest.mark.long
@pytest.mark.parametrize("way", ["before", "after", "during"])
@pytest.mark.parametrize("at", range(1, 100))
def test_killed_at_every_command(killed: Killed, way: str, at: int) -> None:
    """The same for every command that a sync with commit, merge and push runs."""
    if killed.sync(way, at) < at:
        pytest.skip("the sync has fewer commands")

    killed.check()


@pytest.mark.long
@pytest.mark.parametrize("after_ms", [5 * step for step in range(1, 60)])
def test_killed_at_any_moment(killed: Killed, after_ms: int) -> None:
    """The whole command line is killed with -9 after so many milliseconds of its sync."""
    code = (
        "import os, signal, sys, threading, time\nfrom omnislash import Brain\nimport omnislash.runtime.syncing.syncing\n"
        "import omnislash.runtime.syncing.merging\n"
        "def kill():\n    time.sleep(int(sys.argv[2]) / 1000)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "brain = Brain.open(sys.argv[1])\nthreading.Thread(target=kill, daemon=True).start()\nbrain.sync()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(killed.second.root), str(after_ms)], check=False)
    killed._settle()

    killed.check()


def test_stopped_sync_can_be_ended(killed: Killed) -> None:
    """Ctrl-C in the middle ends git as well, and the next sync finishes."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with Brain.open(killed.second.root, clock=FixedClock(SystemClock().now())) as brain:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
                signal.setitimer(signal.ITIMER_REAL, 0.08)
                brain.sync()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    killed._settle()

    killed.check()
    assert SyncOutcome.DONE.is_well
