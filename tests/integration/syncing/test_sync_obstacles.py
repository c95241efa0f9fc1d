"""What keeps brain-sync from committing: a detached HEAD, an open merge, locks; and what it removes, and what never."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.syncing import LOCK_FILE
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

DAY = "memory/main/2026/08/2026-08-30.md"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def _lock(brain: GitBrain, name: str = "index.lock", *, age: timedelta) -> Path:
    """Leave a lock of git that is so old by the brain's clock."""
    place = brain.root / ".git" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    made = (brain.clock.now() - age).timestamp()
    os.utime(place, (made, made))
    return place


def test_detached_head_stops(repo: GitBrain) -> None:
    """With a detached HEAD nothing is committed, and it is said; back on the branch it is."""
    repo.git("checkout", "-q", "--detach")
    repo.agent().memory.write("One.")

    stopped = repo.sync()
    status = repo.open().sync_status()
    repo.git("switch", "-q", "main")
    done = repo.sync()

    assert stopped.outcome is SyncOutcome.STOPPED
    assert "HEAD is detached" in stopped.message
    assert "git switch" in stopped.message
    assert (status.branch, status.is_in_sync) == (None, False)
    assert done.outcome is SyncOutcome.DONE
    assert repo.git("show", "--format=", "--name-only", "main") == DAY


@pytest.mark.parametrize(
    ("begin", "name", "end"),
    [
        (["merge", "--no-commit", "--no-ff", "side"], "merge", ["merge", "--abort"]),
        (["cherry-pick", "clash"], "cherry-pick", ["cherry-pick", "--abort"]),
        (["rebase", "clash"], "rebase", ["rebase", "--abort"]),
        (["revert", "--no-edit", "main~1"], "revert", ["revert", "--abort"]),
        (["bisect", "start"], "bisect", ["bisect", "reset"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_open_operation_stops(repo: GitBrain, begin: list[str], name: str, end: list[str]) -> None:
    """What a person has begun is theirs to end: nothing is committed into it, and it stays as it is."""
    repo.git("config", "user.name", "Person")
    repo.git("config", "user.email", "p@example.org")
    repo.put("tool.txt", "one\n")
    repo.commit()
    repo.git("branch", "side")
    repo.git("switch", "-q", "-c", "clash")
    repo.put("tool.txt", "theirs\n")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put("tool.txt", "ours\n")
    repo.commit()
    repo.put("tool.txt", "ours again\n")
    repo.commit()
    if name == "merge":
        repo.git("switch", "-q", "side")
        repo.put("other.txt", "x\n")
        repo.commit()
        repo.git("switch", "-q", "main")
    repo.git(*begin, check=False)
    repo.agent().memory.write("One.")
    head, index = repo.git("rev-parse", "HEAD"), repo.git("ls-files", "--stage")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert f"A {name} is open" in answer.message
    assert (repo.git("rev-parse", "HEAD"), repo.git("ls-files", "--stage")) == (head, index)
    repo.git("checkout", "-q", "-f", "--", "tool.txt", check=False)
    repo.git(*end)
    assert repo.sync().outcome is SyncOutcome.DONE
    assert repo.git("show", "--format=", "--name-only") == DAY


def test_unmerged_files_stop(repo: GitBrain) -> None:
    """Files that git holds in conflict, without an open merge: named, and nothing is committed."""
    repo.put("tool.txt", "one\n")
    repo.commit()
    blob = repo.git("rev-parse", "HEAD:tool.txt")
    stages = "".join(f"100644 {blob} {stage}\ttool.txt\n" for stage in (1, 2, 3))
    repo.git("update-index", "--force-remove", "tool.txt")
    repo.git("update-index", "--index-info", stdin=stages.encode())
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "tool.txt" in answer.message
    assert repo.message() == "by the test"


@on_linux
@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock", "refs/remotes/origin/main.lock"])
def test_old_lock_is_removed_and_named(repo: GitBrain, name: str) -> None:
    """A lock of more than ten minutes that nobody holds is removed, and the answer says so."""
    lock = _lock(repo, name, age=timedelta(hours=2))
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert answer.notes == (f"The lock .git/{name} was 2 h 0 min old and no git works here: it was removed.",)
    assert not lock.exists()
    assert repo.status() == ""


@on_linux
def test_lock_dated_in_the_future_is_old(repo: GitBrain) -> None:
    """A lock that a wrong clock dated ahead does not stay until that day; a few minutes ahead may be the disk's clock."""
    repo.agent().memory.write("One.")
    near = _lock(repo, age=timedelta(minutes=-4))
    waits = repo.sync()
    near.unlink()
    _lock(repo, age=timedelta(days=-2))
    status = repo.open().sync_status()
    done = repo.sync()

    assert waits.outcome is SyncOutcome.STOPPED
    assert waits.message.startswith(".git/index.lock is there since 0 s: ")
    assert status.troubles[0].startswith(".git/index.lock is dated 48 h 0 min in the future: ")
    assert done.outcome is SyncOutcome.DONE
    assert done.notes == (
        "The lock .git/index.lock was dated 48 h 0 min in the future and no git works here: it was removed.",
    )


@on_linux
@pytest.mark.parametrize(("name", "works"), [("git", True), ("git-remote-http", True), ("gitea", False)])
def test_only_git_works_here(repo: GitBrain, tmp_path: Path, name: str, *, works: bool) -> None:
    """A process counts as git by its whole name: a server whose name begins alike keeps no lock in place."""
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    shutil.copy(shutil.which("sleep") or "", program)
    lock = _lock(repo, age=timedelta(hours=2))
    repo.agent().memory.write("One.")
    with subprocess.Popen([program, "60"], cwd=repo.root) as process:
        answer = repo.sync()
        process.kill()

    assert lock.exists() is works
    assert answer.outcome is (SyncOutcome.STOPPED if works else SyncOutcome.DONE)


def test_young_lock_is_not_touched(repo: GitBrain) -> None:
    """A lock of some minutes may be somebody's: it stays, and the answer names it with its age and what is pending."""
    lock = _lock(repo, age=timedelta(minutes=9))
    repo.agent().memory.write("One.")

    answer = repo.sync()
    status = repo.open().sync_status()

    assert answer.outcome is SyncOutcome.STOPPED
    assert answer.message.startswith(".git/index.lock is there since 9 min: ")
    assert answer.pending == (DAY,)
    assert lock.exists()
    assert not status.is_in_sync
    assert "index.lock" in status.troubles[0]
    lock.unlink()
    assert repo.sync().outcome is SyncOutcome.DONE


@on_linux
def test_lock_that_somebody_holds_is_not_touched(repo: GitBrain) -> None:
    """However old it is, a lock stays that a process has open, and one in a repository in which a git works."""
    lock = _lock(repo, age=timedelta(hours=2))
    repo.agent().memory.write("One.")
    with lock.open("rb"):
        held = repo.sync()
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=repo.root, stdin=subprocess.PIPE) as git:
        works = repo.sync()
        assert git.stdin
        git.stdin.close()

    assert [held.outcome, works.outcome] == [SyncOutcome.STOPPED] * 2
    assert "a git command works here" in held.message
    assert "a git command works here" in works.message
    assert lock.exists()
    assert repo.sync().outcome is SyncOutcome.DONE


@on_linux
def test_lock_of_a_killed_sync_is_removed_at_once(repo: GitBrain) -> None:
    """A sync that was killed leaves its label; a lock that was made since then need not get old, an earlier one must."""
    repo.agent().memory.write("One.")
    since = repo.clock.now() - timedelta(minutes=3)
    label = json.dumps({"pid": 1, "role": "sync", "since": since.isoformat(), "address": None, "protocol": 0})
    repo.open().sync_status()
    (repo.root / LOCK_FILE).write_text(label)
    lock = _lock(repo, age=timedelta(minutes=4))
    earlier = repo.sync()
    (repo.root / LOCK_FILE).write_text(label)
    _lock(repo, age=timedelta(minutes=2))
    later = repo.sync()

    assert earlier.outcome is SyncOutcome.STOPPED
    assert later.outcome is SyncOutcome.DONE
    assert not lock.exists()


def test_one_sync_at_a_time(repo: GitBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one sync runs a second one does nothing and says so; it waits for a moment first."""
    from omnislash.runtime.syncing import syncing

    monkeypatch.setattr(syncing, "_ATTEMPTS", 2)
    repo.agent().memory.write("One.")
    lock = WriterLock(repo.root / LOCK_FILE)
    assert lock.acquire(Owner(pid=os.getpid(), role="sync", since=repo.clock.now().isoformat()))

    busy = repo.sync()
    lock.release()

    assert busy.outcome is SyncOutcome.STOPPED
    assert "Another sync" in busy.message
    assert repo.message() == "start"
    assert repo.sync().outcome is SyncOutcome.DONE


def test_git_that_hangs_is_ended(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that never ends is ended with all it started, and the sync fails with a sentence."""
    from omnislash.store import git

    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *" commit "*) echo $$ > {tmp_path}/pid; sleep 600 & wait;; esac\nexec /usr/bin/env -S PATH="{os.environ["PATH"]}" git "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "_STEP_S", 0.1)
    run = git.run_git
    monkeypatch.setattr(git, "run_git", lambda *words, **options: run(*words, **{**options, "limit_s": 2.0}))
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.FAILED
    assert "git commit took longer than 2 seconds" in answer.message
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while _group_lives(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    monkeypatch.undo()


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True
