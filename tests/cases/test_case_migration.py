"""Failure cases of moving a brain older than lines: a kill anywhere, git's view of it, and two processes at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import pytest

import omnislash
from omnislash import Brain, Outcome
from omnislash.testing import CountingDisk, FixedClock, StoppingDisk
from omnislash.testing.disks import STOPPED
from tests.cases.conftest import GIT_ENVIRONMENT, NOW
from tests.crash.harness import run_in_child

SOURCE = Path(omnislash.__file__).parents[1]
ROLE = "---\ncapabilities: [memory:read, memory:write]\nmemory: {}\n---\nYou are Nova.\n"
OLD = {
    "MEMORY.md": b"## People\n\n- Ida wants whole euros.\n",
    "choir.md": b"# Choir\r\n",
    "broken.md": b"\xff\xfe no text\n",
    "2025/12/2025-12-31.md": b"# 2025-12-31\n\n- 09:05 Two chains were missing.\n",
    "2026/11/2026-11-29.md": b"# 2026-11-29\n\n- 11:20 The compressor runs again.\n",
    # A part of the year is in the line already, as a migration that was cut off leaves it.
    "main/2026/2026-W01.md": b"A quiet week.\n",
    "knowledge/tea.md": b"Green.\n",
}
MIGRATED = {path if path.startswith(("main/", "knowledge/")) else f"main/{path}": data for path, data in OLD.items()}


def make_old(root: Path) -> Path:
    """Make a brain older than lines."""
    files = {f"memory/{path}": data for path, data in OLD.items()}
    for path, data in {**files, "omnislash.yaml": b"", "features/a/nova.agent.md": ROLE.encode()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def read_memory(root: Path) -> dict[str, bytes]:
    """Return every file below `memory/`, temporary files included."""
    memory = root / "memory"
    return {str(place.relative_to(memory)): place.read_bytes() for place in memory.rglob("*") if place.is_file()}


def start(root: Path, disk: CountingDisk | StoppingDisk | None = None) -> None:
    """Start a worker and stop it."""
    with Brain.open(root, clock=FixedClock(NOW), disk=disk) as brain:
        brain.start_worker()


def git(root: Path, *words: str) -> str:
    """Run git and return what it prints."""
    command = ["git", "-c", "core.quotePath=false", *words]
    return subprocess.run(command, cwd=root, env=GIT_ENVIRONMENT, check=True, capture_output=True, text=True).stdout


@pytest.mark.rule("MIGRATE-01", "MIGRATE-03", "MIGRATE-O1")
@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.long)])
def test_a_kill_at_any_step_is_finished_by_the_next_start(tmp_path: Path, when: Literal["before", "after"]) -> None:
    """Whatever call of the disk the process dies at, no byte is lost, and the next start ends as an undisturbed one."""
    template = make_old(tmp_path / "template")
    quiet, disk = tmp_path / "quiet", CountingDisk()
    shutil.copytree(template, quiet)
    start(quiet, disk)
    assert read_memory(quiet) == MIGRATED
    moves = [at for at, name in enumerate(disk.names, start=1) if name != "commit"]
    assert disk.names.count("rename_new") == 6  # of these the year of 2026 finds its place taken, and is entered

    codes = []
    for at in moves:
        root = shutil.copytree(template, tmp_path / f"brain-{at}")
        codes.append(run_in_child(lambda: start(root, StoppingDisk(at=at, when=when))))  # noqa: B023 - run at once
        assert sorted(read_memory(root).values()) == sorted(OLD.values()), at
        start(root)
        assert read_memory(root) == MIGRATED, at
        assert not list((root / "memory").glob("2*")), at
    spared = int(when == "after")  # a rename that is refused has no moment after it
    assert sorted(codes) == [0] * spared + [STOPPED] * (len(moves) - spared)


@pytest.mark.rule("MIGRATE-01")
@pytest.mark.parametrize("hits", [1, pytest.param(3, marks=pytest.mark.long)], ids=str)
def test_a_killed_worker_loses_nothing(tmp_path: Path, hits: int) -> None:
    """A real worker that is killed in the middle of its start leaves all files, and the next one ends the move.

    On a busy machine the move may be over before the kill comes: then it is tried again.
    """
    template = make_old(tmp_path / "template")
    for number in range(300):
        (template / f"memory/loose{number}.md").write_bytes(f"Loose {number}.\n".encode())
    before = sorted(read_memory(template).values())
    environment = {**GIT_ENVIRONMENT, "PYTHONPATH": str(SOURCE)}
    interrupted = 0
    for round_number in range(4 * hits):
        if interrupted >= hits:
            break
        root = shutil.copytree(template, tmp_path / f"brain{round_number}")
        process = subprocess.Popen(
            [sys.executable, "-m", "omnislash", "--quiet", "worker"],
            cwd=root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (root / f"memory/main/loose{round_number % 4 * 60}.md").exists() and process.poll() is None:
            time.sleep(0.0002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        interrupted += any((root / "memory").glob("*.md"))
        assert sorted(read_memory(root).values()) == before
        start(root)
        assert not list((root / "memory").glob("*.md"))
        assert sorted(data for path, data in read_memory(root).items() if ".memory-index" not in path) == before
    assert interrupted >= hits


@pytest.mark.rule("MIGRATE-05")
def test_the_moves_are_plain_renames_to_git(tmp_path: Path) -> None:
    """The migration commits nothing and stages nothing; once somebody adds all, git sees renames and nothing else."""
    root = make_old(tmp_path / "brain")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "case")

    start(root)

    assert git(root, "log", "--format=%s").split() == ["case"]
    assert git(root, "diff", "--cached", "--name-only") == ""
    git(root, "add", "-A")
    assert sorted(git(root, "diff", "--cached", "-M100%", "--name-status").splitlines()) == sorted(
        f"R100\tmemory/{path}\tmemory/main/{path}" for path in OLD if not path.startswith(("main/", "knowledge/"))
    )
    assert git(root, "fsck", "--strict") == ""


@pytest.mark.rule("MIGRATE-03", "WRITE-01")
def test_two_processes_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    """Two commands that write to an old brain at the same moment both land, on top of what was there."""
    root = make_old(tmp_path / "brain")
    environment = {**GIT_ENVIRONMENT, "PYTHONPATH": str(SOURCE), "OMNISLASH_NOW": NOW.isoformat()}
    command = [sys.executable, "-m", "omnislash", "memory", "write", "--role", "nova", "--priority"]
    writers = [
        subprocess.Popen([*command, text], cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for text in ("The tyres are due.", "The choir meets on Friday.")
    ]
    said = [writer.communicate(timeout=60)[1].decode() for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0]
    memory = read_memory(root)["main/MEMORY.md"].decode()
    assert memory.startswith(OLD["MEMORY.md"].decode())
    assert "The tyres are due." in memory
    assert "The choir meets on Friday." in memory
    assert sum("older than lines" in text for text in said) == 1


def test_a_save_by_an_editor_that_had_the_old_file_open(tmp_path: Path) -> None:
    """An editor that saves to the old place after the move makes a loose file: it is kept, named, and overwrites nothing."""
    root = make_old(tmp_path / "brain")
    start(root)
    with Brain.open(root, clock=FixedClock(NOW)) as brain:
        verdict = brain.agent("nova").memory.write("The tyres are due.", priority=True)
    assert verdict.outcome is Outcome.WRITTEN
    (root / "memory/MEMORY.md").write_bytes(b"- saved late\n")

    start(root)

    assert read_memory(root)["MEMORY.md"] == b"- saved late\n"
    assert b"The tyres are due." in read_memory(root)["main/MEMORY.md"]
