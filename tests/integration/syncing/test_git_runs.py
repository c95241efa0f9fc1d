"""How git is run: nobody's terminal, variables and repository, limits of time, and paths as the bytes that they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import GitTroubleError
from omnislash.store import git
from omnislash.store.git import Repository, find_reason, join_paths, quiet_environment, read_version, split_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.syncing.conftest import GitBrain


def _fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    place = tmp_path / "fake/git"
    place.parent.mkdir()
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.parent}:{os.environ['PATH']}")


def test_repository_is_found_from_below(repo: GitBrain) -> None:
    """A brain inside of a repository knows the top and its own place, also through a link and under an odd name."""
    inner = repo.root / "sub dir/ключ"
    inner.mkdir(parents=True)
    (repo.root.parent / "link").symlink_to(inner)
    found = [Repository.open(place) for place in (repo.root, inner, repo.root.parent / "link")]

    assert [(each.prefix, each.top, each.git_dir) for each in found if each] == [
        ("", repo.root, repo.root / ".git"),
        *[("sub dir/ключ/", repo.root, repo.root / ".git")] * 2,
    ]
    assert [each.is_nested for each in found if each] == [False, True, True]


def test_worktree_shares_its_repository(repo: GitBrain, tmp_path: Path) -> None:
    """Of a second working tree the own directory and the shared one are known."""
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    found = Repository.open(tmp_path / "tree")

    assert found is not None
    assert found.common_dir == repo.root / ".git"
    assert found.git_dir == repo.root / ".git/worktrees/tree"
    assert (found.branch(), found.head()) == ("refs/heads/side", repo.git("rev-parse", "HEAD"))


def test_where_there_is_no_repository(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No repository, the inside of one, a bare one, no directory, and no git: None."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    places = (outside, repo.root / ".git", tmp_path / "bare.git", tmp_path / "none")
    assert [Repository.open(place) for place in places] == [None] * 4
    monkeypatch.setenv("PATH", str(outside))
    assert Repository.open(repo.root) is None
    assert read_version() is None


def test_broken_repository_is_told(repo: GitBrain) -> None:
    """A repository that git can't use is a sentence with a hint, and none that is not there."""
    (repo.root / ".git/config").write_text("[core\n")
    with pytest.raises(GitTroubleError, match="git can't be used in this directory: bad config") as caught:
        Repository.open(repo.root)
    assert "git status" in (caught.value.hint or "")


def test_nothing_of_an_outer_git_is_passed_on() -> None:
    """Variables that name another repository, another time or a prompt are gone; a person's own settings stay."""
    outer = {
        "GIT_DIR": "x",
        "GIT_WORK_TREE": "x",
        "GIT_INDEX_FILE": "x",
        "GIT_AUTHOR_DATE": "x",
        "GIT_TRACE": "1",
        "GIT_CONFIG_PARAMETERS": "x",
        "GIT_EDITOR": "vi",
        "GIT_PAGER": "less",
        "SSH_ASKPASS": "x",
        "DISPLAY": ":0",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GIT_AUTHOR_NAME": "Galina",
        "GIT_CONFIG_GLOBAL": "/x",
        "PATH": "/bin",
        "LC_ALL": "de_DE.UTF-8",
        "GIT_CONFIG_COUNT": "1",
    }
    kept = quiet_environment(outer, may_write=False)

    assert {name: kept.get(name) for name in outer} == {
        **dict.fromkeys(["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_AUTHOR_DATE", "GIT_TRACE", "DISPLAY"]),
        "GIT_CONFIG_PARAMETERS": None,
        "GIT_EDITOR": ":",
        "GIT_PAGER": "cat",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GIT_AUTHOR_NAME": "Galina",
        "GIT_CONFIG_GLOBAL": "/x",
        "PATH": "/bin",
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": "1",
    }
    assert (kept["GIT_OPTIONAL_LOCKS"], kept["GIT_TERMINAL_PROMPT"]) == ("0", "0")


@pytest.mark.parametrize("own", [False, True])
def test_ssh_never_asks(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    """Talking to a remote by ssh is in batch mode, unless a person has set how ssh is run."""
    said = tmp_path / "said"
    ssh = tmp_path / "bin/ssh"
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {said}\nexit 255\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    if own:
        repo.git("config", "core.sshCommand", f"{ssh} -oUser=galina")
    found = Repository.open(repo.root)
    assert found is not None
    found.ask("ls-remote", "ssh://localhost/none")

    assert ("-oBatchMode=yes" in said.read_text()) is not own
    assert ("-oUser=galina" in said.read_text()) is own


def test_git_has_no_terminal(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git starts can open no terminal and reads an input that has ended."""
    _fake_git(tmp_path, monkeypatch, "cat; (exec </dev/tty) 2>/dev/null && echo terminal; echo done")

    assert git.run_git(["status"], cwd=repo.root, environment=quiet_environment(os.environ)).out == b"done\n"


@pytest.mark.parametrize("script", ["exec sleep 600", "sleep 600 & wait", "trap '' TERM; while :; do sleep 1; done"])
def test_limit_of_time(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A command that takes too long is ended with all that it started, one that ignores the request too."""
    _fake_git(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid; {script}")
    monkeypatch.setattr(git, "_STEP_S", 0.05)
    monkeypatch.setattr(git, "_END_S", 0.2)

    with pytest.raises(GitTroubleError, match="git status took longer than 0 seconds and was ended"):
        git.run_git(["status"], cwd=repo.root, environment=quiet_environment(os.environ), limit_s=0.3)

    group = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{group}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{group}").exists()


def test_what_goes_on_behind_is_not_waited_for(repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has ended, and something that it started keeps its output open: the answer is there all the same."""
    _fake_git(tmp_path, monkeypatch, f"echo answer; sleep 60 & echo $! > {tmp_path}/pid")
    monkeypatch.setattr(git, "_STEP_S", 0.05)

    answer = git.run_git(["status"], cwd=repo.root, environment=quiet_environment(os.environ), limit_s=30)

    os.kill(int((tmp_path / "pid").read_text()), 9)
    assert (answer.status, answer.out) == (0, b"answer\n")


def test_large_input_is_sent_to_its_end(repo: GitBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes go in and come out, however often is looked meanwhile."""
    monkeypatch.setattr(git, "_STEP_S", 0.001)
    found = Repository.open(repo.root)
    assert found is not None
    data = b"x" * 8_000_000
    blob = found.run("hash-object", "-w", "--stdin", input=data).decode().strip()

    assert found.run("cat-file", "blob", blob) == data


def test_paths_are_bytes() -> None:
    """Paths go and come separated by NUL: newlines, quotes and bytes that are no UTF-8 survive."""
    paths = ["a\nb", 'a "q"', "журнал.md", os.fsdecode(b"\xff")]
    assert list(split_paths(join_paths(paths))) == paths


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (b"warning: x\nfatal: it is gone.\n", "it is gone."),
        (b"hint: try\nerror: no\n", "no."),
        (b"some hook says no\n", "some hook says no."),
        (b"\n\n", ""),
        (b"fatal: can't reach https://galina:" + b"correct-horse-7b" + b"@example.org/x", None),
    ],
)
def test_reason_is_one_line(output: bytes, reason: str | None) -> None:
    """The line that says why, without git's own word before it and without a password in an address."""
    found = find_reason(output)
    assert "correct-horse-7b" not in found
    assert reason is None or found == reason


def test_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The version of git as numbers, also of a build that adds words."""
    _fake_git(tmp_path, monkeypatch, "echo 'git version 2.50.1 (Vendor-155)'")
    assert read_version() == (2, 50, 1)


def test_nothing_is_refreshed_when_only_looking(make_brain: Callable[..., GitBrain]) -> None:
    """With `may_write=False` a status leaves the index as it is on disk."""
    brain = make_brain()
    os.utime(brain.root / "omnislash.yaml")
    index = brain.root / ".git/index"
    before = index.read_bytes()
    found = Repository.open(brain.root, may_write=False)
    assert found is not None
    found.run("status", "--porcelain")
    assert index.read_bytes() == before
    assert sys.platform
