"""Pull and push with a bare remote on disk and several clones: never by force, nothing lost, everything said."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing import remotes
from omnislash.runtime.syncing.values import SyncOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

DAY = "memory/main/2026/08/2026-08-30.md"
#: Put together here, so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "b" * 36


def _remote_git(remote: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=remote, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def test_first_push_sets_the_upstream(repo: GitBrain, remote: Path) -> None:
    """A branch without an upstream goes to the only remote, and remembers it."""
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert (answer.outcome, answer.pushed, answer.pulled) == (SyncOutcome.DONE, 2, 0)
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD")
    assert repo.git("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main"
    again = repo.sync()
    assert again.outcome is SyncOutcome.NOTHING
    assert repo.open().sync_status().is_in_sync


@pytest.mark.rule("SCOPE-04", "SOURCE-01")
def test_an_edited_source_is_committed_and_pushed(repo: GitBrain, remote: Path) -> None:
    """A document of a source and one that is a source itself, changed and new, like any tracked path."""
    repo.put("omnislash.yaml", "memory: {sources: ['research/notes', handbook.md]}\n")
    repo.put("research/notes/tyres.md", "# Tyres\n")
    repo.sync()
    repo.put("research/notes/tyres.md", "# Tyres\n\nStudded ones came.\n")
    repo.put("research/notes/lamps.md", "# Lamps\n")
    repo.put("handbook.md", "# Handbook\n")

    repo.sync()

    names = ("handbook.md", "research/notes/lamps.md", "research/notes/tyres.md")
    assert repo.committed() == list(names)
    assert "research/notes/tyres.md: by hand" in repo.message()
    assert _remote_git(remote, "show", "main:research/notes/tyres.md").endswith("Studded ones came.")


def test_without_push_nothing_leaves(repo: GitBrain, remote: Path) -> None:
    """`--no-push` and `sync.push: false` commit only."""
    repo.agent().memory.write("One.")
    repo.sync(push=False)
    repo.put("constitution/MANIFEST.yaml", "sync: {push: false}\n")
    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert answer.pushed == 0
    assert _remote_git(remote, "branch") == ""


def test_several_remotes_are_asked_about(repo: GitBrain, remote: Path, tmp_path: Path) -> None:
    """Two remotes and no upstream: committed, not pushed, and the answer says how to choose."""
    repo.git("remote", "add", "second", str(tmp_path / "second.git"))
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert len(answer.commits) == 1
    assert "git push --set-upstream REMOTE main" in answer.message
    assert _remote_git(remote, "branch") == ""


def test_remote_that_is_away_is_a_failure(repo: GitBrain, remote: Path) -> None:
    """The commits are made and named, the outcome is failed, the status is not in sync, and later all is pushed."""
    repo.sync()
    remote.rename(remote.with_name("away.git"))
    repo.agent().memory.write("One.")

    answer = repo.sync()
    status = repo.open().sync_status()
    remote.with_name("away.git").rename(remote)

    assert answer.outcome is SyncOutcome.FAILED
    assert "can't be reached" in answer.message
    assert repo.git("rev-parse", "--short=12", "HEAD") in answer.message
    assert not status.is_in_sync
    assert status.ahead == 1
    assert repo.sync().pushed == 1


def test_password_of_a_remote_is_not_shown(repo: GitBrain, tmp_path: Path) -> None:
    """An address with a password in it is never repeated."""
    password = "correct-horse" + "-7b"
    repo.git("remote", "add", "origin", f"file://galina:{password}@localhost/{tmp_path}/none.git")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.FAILED
    assert password not in str(answer.to_json())


def test_fast_forward_is_pulled(repo: GitBrain, remote: Path, clone: Callable[[str], GitBrain]) -> None:
    """What another clone pushed arrives as it is, with no commit of its own."""
    repo.sync()
    other = clone("other")
    other.agent().memory.write("From the other.")
    other.sync()

    answer = repo.sync()

    assert (answer.outcome, answer.pulled, answer.pushed) == (SyncOutcome.DONE, 1, 0)
    assert "From the other." in (repo.root / DAY).read_text()
    assert repo.git("rev-parse", "HEAD") == _remote_git(remote, "rev-parse", "main")
    assert repo.status() == ""


def test_both_sides_are_joined(repo: GitBrain, clone: Callable[[str], GitBrain]) -> None:
    """Both wrote to one day: after both synced, and the first again, both have both entries once."""
    repo.sync()
    other = clone("other")
    repo.agent().memory.write("From the first.")
    other.agent().memory.write("From the second.")

    first, second, third = repo.sync(), other.sync(), repo.sync()

    assert [first.outcome, second.outcome, third.outcome] == [SyncOutcome.DONE] * 3
    texts = [(brain.root / DAY).read_text() for brain in (repo, other)]
    assert texts[0] == texts[1]
    assert texts[0].count("From the first.") == texts[0].count("From the second.") == 1
    assert [brain.status() for brain in (repo, other)] == ["", ""]
    assert repo.git("rev-parse", "HEAD") == other.git("rev-parse", "HEAD")
    assert [conflict.path for conflict in second.conflicts] == [DAY]


def test_conflict_outside_of_memory_stops(repo: GitBrain, clone: Callable[[str], GitBrain]) -> None:
    """A conflict in another file changes nothing, leaves no merge open, and names the file."""
    repo.put("tool.txt", "one\n")
    repo.sync()
    repo.git("add", "tool.txt")
    repo.commit()
    repo.sync()
    other = clone("other")
    repo.put("tool.txt", "ours\n")
    other.put("tool.txt", "theirs\n")
    repo.sync()
    other.agent().memory.write("One.")

    answer = other.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "tool.txt" in answer.message
    assert (other.root / "tool.txt").read_text() == "theirs\n"
    assert len(answer.commits) == 1
    assert other.status() == ""
    assert not (other.root / ".git/MERGE_HEAD").exists()
    assert not other.open().sync_status().is_in_sync


def test_remote_that_moves_is_taken_up_again(
    repo: GitBrain, clone: Callable[[str], GitBrain], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody pushes between our look and our push: no force, another round, and both are there."""
    repo.sync()
    other = clone("other")
    other.agent().memory.write("From the other.")
    repo.agent().memory.write("From here.")
    send = remotes.Exchange._send
    rounds: list[str] = []

    def late(self: remotes.Exchange, commit: str) -> object:
        if not rounds:
            assert other.sync().pushed == 1
        rounds.append(commit)
        return send(self, commit)

    def choose(self: remotes.Exchange, commit: str) -> object:
        return (late if self.place.repository.root == repo.root else send)(self, commit)

    monkeypatch.setattr(remotes.Exchange, "_send", choose)
    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert len(rounds) == 2
    assert (repo.root / DAY).read_text().count("From") == 2
    assert repo.git("rev-parse", "HEAD") == repo.git("rev-parse", "origin/main")


def test_remote_that_says_no_is_quoted(repo: GitBrain, remote: Path) -> None:
    """A hook of the remote turns the push down: its own words, no second try by force, the commits stay."""
    repo.sync()
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'closed for the night' >&2\nexit 1\n")
    hook.chmod(0o755)
    before = _remote_git(remote, "rev-parse", "main")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.FAILED
    assert "closed for the night" in answer.message
    assert _remote_git(remote, "rev-parse", "main") == before
    assert repo.message().startswith("main: 1 entry by nova")


def test_hook_before_the_push_is_heard(repo: GitBrain, remote: Path) -> None:
    """A person's own pre-push hook runs and can say no."""
    hook = repo.root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not from the train' >&2\nexit 1\n")
    hook.chmod(0o755)

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.FAILED
    assert "not from the train" in answer.message
    assert _remote_git(remote, "branch") == ""


def test_tags_and_other_branches_stay(repo: GitBrain, remote: Path) -> None:
    """Only the branch goes to the remote, whatever the person's settings push besides."""
    repo.git("tag", "-a", "-m", "x", "mine", check=False)
    repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", "tag", "-a", "-m", "x", "mine2")
    repo.git("branch", "side")
    repo.git("config", "push.followTags", "true")
    repo.git("config", "push.default", "matching")

    repo.sync()

    assert _remote_git(remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_shallow_clone_is_synced(repo: GitBrain, remote: Path, tmp_path: Path) -> None:
    """A clone without its history commits, pulls and pushes like another."""
    repo.agent().memory.write("One.")
    repo.sync()
    place = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--template=", "--depth=1", f"file://{remote}", str(place)], check=True)
    shallow = type(repo)(place, is_clone=True)
    shallow.agent().memory.write("Two.")

    answer = shallow.sync()
    shallow.close()

    assert (answer.outcome, answer.pushed) == (SyncOutcome.DONE, 1)
    assert repo.sync().pulled == 1


# -- credentials -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SECRET-O3", "SECRET-O2")
def test_commit_with_a_credential_is_held(repo: GitBrain, remote: Path) -> None:
    """What came before goes out; the commit that adds a credential and what follows stay, named, the value never."""
    repo.sync()
    repo.agent().memory.write("Before.")
    repo.sync(push=False)
    before = repo.git("rev-parse", "HEAD")
    repo.put_memory("main/MEMORY.md", f"- One.\n- The key is {TOKEN}\n")
    repo.sync(push=False)
    bad = repo.git("rev-parse", "HEAD")
    repo.agent().memory.write("After.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert [(each.commit, each.path, each.line, each.credential) for each in answer.held] == [
        (bad, "memory/main/MEMORY.md", 2, "GitHub token")
    ]
    assert answer.pushed == 1
    assert _remote_git(remote, "rev-parse", "main") == before
    assert TOKEN not in str(answer.to_json())
    assert "--allow-secrets" in answer.message
    assert not repo.open().sync_status().is_in_sync


@pytest.mark.rule("SECRET-O3")
def test_credential_that_was_taken_out_again_is_held(repo: GitBrain, remote: Path) -> None:
    """A later commit without it changes nothing: the history would hand it over."""
    repo.sync()
    start = _remote_git(remote, "rev-parse", "main")
    repo.put_memory("main/MEMORY.md", f"{TOKEN}\n")
    repo.sync(push=False)
    repo.put_memory("main/MEMORY.md", "- Nothing.\n")

    answer = repo.sync()

    assert [each.line for each in answer.held] == [1]
    assert _remote_git(remote, "rev-parse", "main") == start


@pytest.mark.rule("SECRET-O3")
def test_person_says_that_it_may_go(repo: GitBrain, remote: Path) -> None:
    """With the person's word it is pushed, and later commits need no word again."""
    repo.put_memory("main/MEMORY.md", f"{TOKEN}\n")
    assert repo.sync().outcome is SyncOutcome.STOPPED
    allowed = repo.sync(allow_secrets=True)
    repo.agent().memory.write("After.")
    later = repo.sync()

    assert [allowed.outcome, later.outcome] == [SyncOutcome.DONE] * 2
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD")


@pytest.mark.rule("SECRET-O3")
def test_key_over_several_lines_and_odd_names(repo: GitBrain, remote: Path) -> None:
    """A key that is a block of lines is found where it begins, in a file whose name git quotes."""
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] * 3) + "\n"
    repo.put_memory('main/a "q" ключ.md', f"Notes.\n\n{key}")

    answer = repo.sync()

    assert [(each.path, each.line, each.credential) for each in answer.held] == [
        ('memory/main/a "q" ключ.md', 3, "private key")
    ]
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD~1")


@pytest.mark.rule("SECRET-O3")
def test_credential_of_the_remote_holds_nothing(repo: GitBrain, remote: Path, clone: Callable[[str], GitBrain]) -> None:
    """What the remote has already is no reason to hold a merge that carries it on."""
    repo.sync()
    other = clone("other")
    other.put_memory("main/MEMORY.md", f"- {TOKEN}\n")
    other.sync(allow_secrets=True)
    repo.agent().memory.write("From here.")

    answer = repo.sync()

    assert (answer.outcome, answer.held) == (SyncOutcome.DONE, ())
    assert _remote_git(remote, "rev-parse", "main") == repo.git("rev-parse", "HEAD")
