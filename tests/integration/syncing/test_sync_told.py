"""Whose work a commit tells of: each author once, in the commit that holds the work; with real git."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from omnislash.runtime.syncing.values import SyncOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

DAY = "memory/main/2026/08/2026-08-30.md"
MARK = "memory-care: main: 1 moved"
BAD = f"{'<' * 7} HEAD\na\n{'=' * 7}\nb\n{'>' * 7} other\n"


def _pull(repo: GitBrain, clone: Callable[[str], GitBrain]) -> None:
    """Let an entry of another clone arrive, on top of what is here."""
    repo.sync()
    other = clone("other")
    other.agent("nova").memory.write("From the other.")
    other.sync()
    assert repo.sync().pulled == 1


def test_what_was_pulled_is_nobodys_work_here(repo: GitBrain, remote: Path, clone: Callable[[str], GitBrain]) -> None:
    """The role that writes after a pull is the only author, and an edit by hand after a pull is by hand alone."""
    repo.agent().memory.write("Before.")
    _pull(repo, clone)

    repo.agent("nova").memory.write("After.")
    repo.sync()
    first = repo.message()
    other = clone("third")
    other.agent("nova").memory.write("Once more.")
    other.sync()
    repo.sync()
    repo.put(DAY, (repo.root / DAY).read_text() + "- 10:00 By hand.\n")
    repo.sync()

    assert first.startswith(f"main: 1 entry by nova\n\n{DAY}: nova\n\nOmnislash-Role: nova")
    assert repo.message() == f"main: 2026-08-30.md by hand\n\n{DAY}: by hand"
    assert remote.is_dir()


def test_file_that_waits_does_not_tell_old_work_again(repo: GitBrain) -> None:
    """While one file can't be committed, what was told of the others is not told again; its own author is kept for it."""
    place = repo.put_memory("ops/bad.md", BAD)
    repo.agent().memory.write("One.")
    repo.agent("ops").memory.write("Two.")
    assert repo.sync().outcome is SyncOutcome.STOPPED

    repo.put(DAY, (repo.root / DAY).read_text() + "- 10:00 By hand.\n")
    assert repo.sync().outcome is SyncOutcome.STOPPED
    second = repo.message()
    place.unlink()
    repo.agent("ops").memory.write("Three.")
    repo.sync()

    assert second == f"main: 2026-08-30.md by hand\n\n{DAY}: by hand"
    assert repo.message().startswith("ops: 1 entry by ops\n")
    with closing(sqlite3.connect(repo.root / ".omnislash/state.db")) as database:
        assert database.execute("SELECT count(*) FROM told").fetchone() == (0,)  # one number says all of it again


def test_author_of_a_file_that_waited_is_told_in_the_end(repo: GitBrain) -> None:
    """A role wrote into a file that could not be committed for a while: the commit that takes it names the role."""
    repo.agent().memory.write("One.")
    place = repo.root / DAY
    good = place.read_text()
    place.write_text(good + BAD)
    repo.agent("ops").memory.write("Two.")
    assert repo.sync().outcome is SyncOutcome.STOPPED
    assert repo.message().startswith("ops: 1 entry by ops\n")

    place.write_text(good)
    repo.sync()

    assert repo.message().startswith("main: 1 entry by nova\n")


def test_curators_work_is_told_once(repo: GitBrain) -> None:
    """What the commit of a curator's run has told of is not told again, and what it left out still is."""
    repo.agent("nova").memory.write("Curated.")
    repo.agent("ops").memory.write("Beside.")
    repo.sync(push=False, paths=(DAY,), mark=MARK)
    assert repo.message().startswith(f"{MARK}\n\n{DAY}: nova")

    repo.put(DAY, (repo.root / DAY).read_text() + "- 10:00 By hand.\n")
    repo.sync()

    assert repo.message() == (
        f"main, ops: 2026-08-30.md by hand; 1 entry by ops\n\n{DAY}: by hand\nmemory/ops/2026/08/2026-08-30.md: ops"
    )


def test_long_names_make_no_message_that_is_too_long(repo: GitBrain) -> None:
    """Two hundred and ten new files with names as long as a disk takes: committed, and the message counts the rest."""
    for number in range(210):
        repo.put_memory(f"main/{'ж' * 60}/{'щ' * 110}-{number:03}.md", "x\n")
        repo.put_memory(f"main/{'ж' * 60}/{'щ' * 60}/{'ю' * 100}/{'ф' * 110}-{number:03}.md", "x\n")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert len(repo.committed()) == 420
    assert repo.status() == ""
    lines = repo.message().split("\n")
    assert len(repo.message().encode()) < 32_000
    assert lines[-1] == f"and {420 - (len(lines) - 3)} more files"
