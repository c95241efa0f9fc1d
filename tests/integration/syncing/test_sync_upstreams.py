"""Which remote a branch belongs to, what it has already, and what it has given up."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.values import SyncOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

#: Put together here, so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "b" * 36


def _remote_git(remote: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=remote, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def _make_bare(place: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", "--template=", str(place)], check=True)
    return place


# -- what a person has set ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"branch.main.remote": "MINE", "branch.main.merge": "refs/heads/main"},
            "is none of the remotes here (origin)",
        ),
        ({"branch.main.remote": "MINE"}, "is none of the remotes here (origin)"),
        ({"branch.main.remote": "origin"}, "git push --set-upstream origin main"),
        ({"branch.main.pushRemote": "MINE"}, "branch.main.pushRemote or remote.pushDefault is none of the remotes"),
        ({"remote.pushDefault": "no-push"}, "branch.main.pushRemote or remote.pushDefault is none of the remotes"),
        ({"branch.main.remote": ".", "branch.main.merge": "refs/heads/side"}, "is another branch of this repository"),
    ],
)
def test_what_a_person_has_set_is_kept(
    repo: GitBrain, remote: Path, tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    """An upstream that is no remote of this repository stops the push; no other remote takes its place."""
    mine = _make_bare(tmp_path / "mine.git")
    for key, value in settings.items():
        repo.git("config", key, value.replace("MINE", str(mine)))
    before = repo.git("config", "--list", "--local")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert (answer.outcome, len(answer.commits)) == (SyncOutcome.STOPPED, 1)
    assert said in answer.message
    assert "so nothing was pulled or pushed" in answer.message
    assert str(mine) not in answer.message
    assert repo.git("config", "--list", "--local") == before
    assert _remote_git(remote, "branch") == _remote_git(mine, "branch") == ""
    assert not repo.open().sync_status().is_in_sync


@pytest.mark.parametrize("key", ["branch.main.pushRemote", "remote.pushDefault"])
def test_other_remote_for_pushing_stops(repo: GitBrain, remote: Path, tmp_path: Path, key: str) -> None:
    """Pulled from one remote and pushed to another: neither is guessed, and the command that is named settles it."""
    repo.sync()
    fork = _make_bare(tmp_path / "fork.git")
    repo.git("remote", "add", "fork", str(fork))
    repo.git("config", key, "fork")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "pulled from origin and pushed to fork" in answer.message
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD~1")
    assert _remote_git(fork, "branch") == ""
    repo.git("config", "branch.main.pushRemote", "origin")
    assert repo.sync().pushed == 1


def test_remote_for_pushing_is_the_choice_among_several(repo: GitBrain, remote: Path, tmp_path: Path) -> None:
    """A branch without an upstream goes to the one that a person has set for pushing."""
    fork = _make_bare(tmp_path / "fork.git")
    repo.git("remote", "add", "fork", str(fork))
    repo.git("config", "remote.pushDefault", "fork")

    assert repo.sync().outcome is SyncOutcome.DONE
    assert _remote_git(fork, "rev-parse", "main") == repo.git("rev-parse", "HEAD")
    assert _remote_git(remote, "branch") == ""
    assert repo.git("rev-parse", "--abbrev-ref", "main@{upstream}") == "fork/main"


# -- what the remote has -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SECRET-O3")
def test_other_address_is_another_remote(repo: GitBrain, remote: Path, tmp_path: Path) -> None:
    """What the remote's old address was given does not count as seen at its new one."""
    repo.put_memory("main/MEMORY.md", f"- {TOKEN}\n")
    repo.sync(allow_secrets=True)
    public = _make_bare(tmp_path / "public.git")
    repo.git("remote", "set-url", "origin", str(public))
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert [each.path for each in answer.held] == ["memory/main/MEMORY.md"]
    assert answer.pushed == 1  # the first commit of all
    assert _remote_git(public, "rev-parse", "main") == repo.git("rev-list", "--max-parents=0", "HEAD")
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD~1")


def test_new_branch_adds_what_is_new(repo: GitBrain, remote: Path) -> None:
    """Commits that stand on another branch of the remote are not looked at and not counted again."""
    repo.put_memory("main/MEMORY.md", f"- {TOKEN}\n")
    repo.sync(allow_secrets=True)
    repo.git("switch", "-q", "-c", "trial")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert (answer.outcome, answer.pushed, answer.held) == (SyncOutcome.DONE, 1, ())
    assert _remote_git(remote, "rev-parse", "trial") == repo.git("rev-parse", "HEAD")


@pytest.mark.rule("SECRET-O3")
def test_way_out_on_a_new_branch_keeps_what_is_shared(repo: GitBrain, remote: Path) -> None:
    """The commit that the message goes back to is the last one that the remote has on another branch."""
    repo.sync()
    repo.git("switch", "-q", "-c", "trial")
    repo.put_memory("main/MEMORY.md", f"- {TOKEN}\n")

    answer = repo.sync()

    assert len(answer.held) == 1
    assert f"`git reset {_remote_git(remote, 'rev-parse', '--short=12', 'main')}`" in answer.message


# -- what the remote has given up --------------------------------------------------------------------------------------


@pytest.fixture
def rewritten(repo: GitBrain, remote: Path, clone: Callable[[str], GitBrain]) -> str:
    """Return the commit on which the remote's branch stands after its last one was taken back by force."""
    repo.sync()
    repo.put_memory("main/MEMORY.md", "- To be taken back.\n")
    repo.sync()
    other = clone("other")
    other.git("reset", "-q", "--hard", "HEAD~1")
    other.put("constitution/PRINCIPLES.md", "# Principles\n")
    new = other.commit("instead")
    other.git("push", "-q", "--force")
    return new


@pytest.mark.parametrize("is_fetched", [False, True])
def test_rewritten_remote_stops(repo: GitBrain, remote: Path, rewritten: str, *, is_fetched: bool) -> None:
    """What they have taken back is not merged and pushed again, whoever fetched, and however often is asked."""
    if is_fetched:
        repo.git("fetch", "-q")
    repo.agent().memory.write("One.")

    answers = [repo.sync(), repo.sync()]

    assert [answer.outcome for answer in answers] == [SyncOutcome.STOPPED] * 2
    assert "The history of origin/main was rewritten" in answers[1].message
    assert [answer.pulled + answer.pushed for answer in answers] == [0, 0]
    assert _remote_git(remote, "rev-parse", "main") == rewritten
    assert "To be taken back." in (repo.root / "memory/main/MEMORY.md").read_text()
    assert repo.status() == ""


def test_rewritten_remote_is_taken_over(repo: GitBrain, remote: Path, rewritten: str) -> None:
    """The first way out that is named: own commits on top of the new history, without what was taken back."""
    repo.agent().memory.write("One.")
    said = repo.sync().message
    command = said[said.index("git rebase") :].split(",")[0]

    repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", *command.split()[1:])
    answer = repo.sync()

    assert (answer.outcome, answer.pulled, answer.pushed) == (SyncOutcome.DONE, 0, 1)
    assert _remote_git(remote, "rev-parse", "main~1") == rewritten
    assert not (repo.root / "memory/main/MEMORY.md").exists()
    assert "One." in _remote_git(remote, "log", "-p", "main")


def test_old_history_is_kept_by_hand(repo: GitBrain, remote: Path, rewritten: str) -> None:
    """The second way out: a person merges and pushes, and from then on all is as before."""
    assert repo.sync().outcome is SyncOutcome.STOPPED
    repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", "merge", "-q", "-m", "both", "origin/main")
    repo.git("push", "-q")
    repo.agent().memory.write("One.")

    assert repo.sync().pushed == 1
    assert _remote_git(remote, "merge-base", "main", rewritten) == rewritten


def test_remote_that_was_set_back_is_not_filled_again(repo: GitBrain, remote: Path) -> None:
    """Only the last commit is gone there, so a push would be a fast-forward: it stops all the same."""
    repo.sync()
    repo.agent().memory.write("One.")
    repo.sync()
    start = repo.git("rev-parse", "HEAD~1")
    _remote_git(remote, "update-ref", "refs/heads/main", start)

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "was rewritten" in answer.message
    assert _remote_git(remote, "rev-parse", "main") == start
