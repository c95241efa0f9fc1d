"""What is said of a sync that leaves something out, and of one that waits for a person: never that all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.values import SyncOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

DAY = "memory/main/2026/08/2026-08-30.md"
NOT_ASKED = "There was nothing to commit; the remote was not asked."


@pytest.mark.parametrize("options", [{"push": False}, {"push": False, "paths": (DAY,), "mark": "memory-care: x"}])
def test_trouble_with_the_remote_stays_told(repo: GitBrain, remote: Path, options: dict[str, object]) -> None:
    """After a push that failed, a commit without the remote ends well and hides nothing; a whole sync ends the trouble."""
    repo.sync()
    away = remote.rename(remote.with_name("away.git"))
    repo.agent().memory.write("One.")
    assert repo.sync().outcome is SyncOutcome.FAILED

    nothing = repo.sync(**options)
    repo.agent().memory.write("Two.")
    done = repo.sync(**options)
    status = repo.open().sync_status()
    away.rename(remote)
    whole = repo.sync()

    assert (nothing.outcome, nothing.message) == (SyncOutcome.NOTHING, NOT_ASKED)
    assert (done.outcome, len(done.commits)) == (SyncOutcome.DONE, 1)
    assert status.last
    assert status.last.outcome is SyncOutcome.FAILED
    assert not status.is_in_sync
    assert (whole.outcome, whole.pushed) == (SyncOutcome.DONE, 2)
    assert repo.open().sync_status().is_in_sync


def test_without_a_remote_a_commit_is_all_there_is(repo: GitBrain) -> None:
    """Where there is no remote, a sync with `--no-push` is a whole one and ends an earlier trouble."""
    bad = repo.put_memory("main/bad.md", f"{'<' * 7} a\nx\n{'=' * 7}\ny\n{'>' * 7} b\n")
    assert repo.sync(push=False).outcome is SyncOutcome.STOPPED
    bad.unlink()

    answer = repo.sync(push=False)
    status = repo.open().sync_status()

    assert answer.message == "There was nothing to commit, to pull or to push."
    assert status.last
    assert status.last.outcome is SyncOutcome.NOTHING
    assert status.is_in_sync


def test_configured_commits_only_say_so(repo: GitBrain, remote: Path) -> None:
    """With `sync.push: false` the remote was not asked either, and neither was it in a dry run."""
    repo.put("constitution/MANIFEST.yaml", "sync: {push: false}\n")
    repo.commit()

    assert repo.sync().message == NOT_ASKED
    assert repo.sync(is_dry_run=True).message == NOT_ASKED
    assert remote.is_dir()


def test_what_stops_a_merge_is_said_to_be_in_the_way(
    repo: GitBrain, remote: Path, clone: Callable[[str], GitBrain]
) -> None:
    """Files that stop a merge are in the way; only files that were joined are told as changed on both sides."""
    repo.put("tool.txt", "one\n")
    repo.commit()
    repo.sync()
    other = clone("other")
    other.put("tool.txt", "theirs\n")
    other.sync()
    repo.put("tool.txt", "ours\n")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert [(each.path, each.how) for each in answer.conflicts] == [("tool.txt", "stopped")]
    assert "In the way: tool.txt." in answer.message
    assert "Both sides had changed tool.txt." not in answer.message
    assert remote.is_dir()
