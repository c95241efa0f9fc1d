"""The tick of a worker, the status, and the command line of brain-sync."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.runtime.syncing.ticking import SyncTicker
from omnislash.runtime.syncing.values import SyncAnswer, SyncOutcome
from tests.warm import warm_python

if TYPE_CHECKING:
    import pytest

    from tests.integration.syncing.conftest import GitBrain

ROOT = Path(__file__).parents[3]
DAY = "memory/main/2026/08/2026-08-30.md"


def test_tick_commits_at_its_times(repo: GitBrain) -> None:
    """The schedule is followed: nothing before its time, one sync at it, and the next ten minutes later."""
    repo.agent().memory.write("One.")
    brain = repo.open()
    ticker = SyncTicker(lambda: brain.config, repo.clock, brain.sync)
    assert ticker.look() > 0
    assert repo.message() == "start"
    repo.clock.at += timedelta(minutes=5)

    assert ticker.look() == 0
    assert repo.message().startswith("main: 1 entry by nova")
    repo.agent().memory.write("Two.")
    ticker.look()
    assert repo.git("rev-list", "--count", "HEAD") == "2"
    repo.clock.at += timedelta(minutes=10)
    ticker.look()
    assert repo.git("rev-list", "--count", "HEAD") == "3"


def test_tick_is_switched_off_and_on(repo: GitBrain) -> None:
    """`sync.enabled: false` ends the ticks without a restart; the command line still syncs."""
    repo.put("constitution/MANIFEST.yaml", "sync: {enabled: false}\n")
    repo.agent().memory.write("One.")
    brain = repo.open()
    ticker = SyncTicker(lambda: brain.config, repo.clock, brain.sync)
    ticker.look()
    assert ticker.due is None
    repo.clock.at += timedelta(hours=1)
    ticker.look()
    assert repo.message() == "start"
    assert brain.sync_status().next_tick is None
    assert repo.sync().outcome is SyncOutcome.DONE


def test_trouble_is_logged_once(repo: GitBrain, caplog: pytest.LogCaptureFixture) -> None:
    """A trouble that stays is one warning; a brain without git is no trouble at all."""
    answers = [SyncAnswer(outcome=SyncOutcome.FAILED, message="away")] * 3
    brain = repo.open()
    ticker = SyncTicker(lambda: brain.config, repo.clock, answers.pop)
    ticker.look()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            repo.clock.at += timedelta(minutes=10)
            ticker.look()

    levels = [record.levelname for record in caplog.records if "away" in record.message]
    assert levels == ["WARNING", "INFO", "INFO"]


def test_brain_syncs_in_the_background(repo: GitBrain) -> None:
    """What a worker starts is one thread, which ends with the brain."""
    brain = repo.open()
    ticker = brain.start_syncing()
    assert brain.start_syncing() is ticker
    brain.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "omnislash-sync"]


# -- status ------------------------------------------------------------------------------------------------------------


def test_status_names_what_is_pending_and_by_whom(repo: GitBrain) -> None:
    """Before anything is committed the status says what, by whom, what is left alone, and when the tick comes."""
    repo.agent().memory.write("One.")
    repo.put_memory("ops/MEMORY.md", "- By hand.\n")
    repo.put("notes.txt", "mine\n")
    index = (repo.root / ".git/index").read_bytes()

    answer = repo.open().sync_status().to_json()

    assert answer == {
        "inSync": False,
        "troubles": [],
        "branch": "main",
        "upstream": None,
        "ahead": None,
        "behind": None,
        "pending": [{"path": DAY, "by": ["nova"]}, {"path": "memory/ops/MEMORY.md", "by": ["by hand"]}],
        "blocked": [],
        "ignored": [],
        "leftAlone": ["notes.txt"],
        "enabled": True,
        "push": True,
        "nextTick": "2026-08-30T09:10:00+00:00",
        "last": None,
    }
    assert (repo.root / ".git/index").read_bytes() == index


def test_status_is_in_sync_when_all_is_done(repo: GitBrain, remote: Path) -> None:
    """In sync it is only once the remote has everything and the last sync went well."""
    brain = repo.open()
    assert not brain.sync_status().is_in_sync
    repo.sync(push=False)
    assert not brain.sync_status().is_in_sync
    repo.sync()
    assert brain.sync_status().is_in_sync
    subprocess.run(["git", "clone", "-q", "--template=", str(remote), "other"], cwd=remote.parent, check=True)
    repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty", "-m", "x")
    status = brain.sync_status()
    assert (status.ahead, status.behind, status.is_in_sync) == (1, 0, False)


# -- the command line --------------------------------------------------------------------------------------------------


def _run(brain: GitBrain, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*warm_python(), "-m", "omnislash", "--brain", str(brain.root), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def test_command_line(repo: GitBrain) -> None:
    """status, a dry run, a run and a run with nothing to do, for people and as JSON, with their exit codes."""
    repo.agent().memory.write("One.")

    status = _run(repo, "sync", "status")
    dry = _run(repo, "sync", "run", "--dry-run")
    replay = _run(repo, "--replay", "sync", "run")
    done = _run(repo, "--json", "sync", "run")
    again = _run(repo, "sync", "run")
    quiet = _run(repo, "--quiet", "sync", "run")

    assert [each.returncode for each in (status, dry, done, again, quiet)] == [0] * 5
    assert replay.returncode != 0
    assert status.stdout.startswith("main: 1 pending\n")
    assert f"{DAY}  nova" in status.stdout
    assert dry.stdout == "done\n  Would commit: main: 1 entry by nova.\n"
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["commits"]) == (
        "done",
        [{"id": repo.git("rev-parse", "HEAD"), "subject": "main: 1 entry by nova"}],
    )
    assert again.stdout == "nothing\n  There was nothing to commit, to pull or to push.\n"
    assert quiet.stdout == ""


def test_command_line_that_stops(repo: GitBrain) -> None:
    """What stops is exit code 1, with the way out, for the run and for the status after it."""
    repo.git("checkout", "-q", "--detach")
    stopped, status = _run(repo, "sync", "run"), _run(repo, "sync", "status")

    assert (stopped.returncode, status.returncode) == (1, 1)
    assert stopped.stdout.startswith("stopped\n  HEAD is detached")
    assert status.stdout.startswith("no branch: not in sync\n")


def test_worker_syncs(repo: GitBrain) -> None:
    """A real worker, with a schedule that comes due at once, commits what is pending."""
    hasty = (
        "import sys\nfrom datetime import timedelta\nfrom omnislash.runtime import ticking\n"
        "from omnislash.surfaces.cli.main import main\n"
        "ticking.next_instant = lambda schedule, *, after, zone: after + timedelta(seconds=0.2)\nsys.exit(main())\n"
    )
    repo.agent().memory.write("One.")
    words = [sys.executable, "-c", hasty, "--brain", str(repo.root), "--json", "worker"]
    worker = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert worker.stdout
    assert worker.stderr
    try:
        assert json.loads(worker.stdout.readline())["state"] == "ready"
        line = next(line for line in worker.stderr if "Sync done" in line)
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    assert "main: 1 entry by nova" in line
    assert repo.status() == ""


# -- a remote that does not answer -------------------------------------------------------------------------------------


def _hang_remote(brain: GitBrain, tmp_path: Path) -> Path:
    """Give the brain a remote whose ssh never answers; return the file with the id of that process."""
    ssh, pid = tmp_path / "hanging-ssh", tmp_path / "ssh.pid"
    ssh.write_text(f"#!/bin/sh\necho $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 600\n")
    ssh.chmod(0o755)
    brain.git("config", "core.sshCommand", str(ssh))
    brain.git("remote", "add", "origin", "ssh://localhost/none")
    return pid


def _await_file(place: Path) -> int:
    deadline = time.monotonic() + 60
    while not place.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return int(place.read_text())


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def test_stop_ends_a_talk_with_the_remote(repo: GitBrain, tmp_path: Path) -> None:
    """A worker that stops while the remote hangs takes git and ssh with it, and what was committed stays."""
    pid = _hang_remote(repo, tmp_path)
    repo.agent().memory.write("One.")
    brain = repo.open()
    ticker = SyncTicker(lambda: brain.config, repo.clock, brain.sync)
    ticker.look()
    repo.clock.at += timedelta(minutes=10)
    ticker.start()
    ssh = _await_file(pid)

    ticker.stop()

    assert _is_gone(ssh)
    assert not [thread for thread in threading.enumerate() if thread.name == "omnislash-sync"]
    assert repo.message().startswith("main: 1 entry by nova")
    last = brain.sync_status().last
    assert last is not None
    assert last.outcome is SyncOutcome.FAILED


def test_ended_command_line_ends_its_talk(repo: GitBrain, tmp_path: Path) -> None:
    """`omnislash sync run` that is told to end (SIGTERM) leaves no git and no ssh behind."""
    pid = _hang_remote(repo, tmp_path)
    words = [sys.executable, "-m", "omnislash", "--brain", str(repo.root), "sync", "run"]
    run = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        ssh = _await_file(pid)
    finally:
        run.terminate()
        run.communicate(timeout=60)

    assert run.returncode != 0
    assert _is_gone(ssh)
