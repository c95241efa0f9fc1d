"""Brains that are git repositories: with real git, a bare remote on disk, and clones."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.syncing import SyncOptions
from tests.integration.conftest import SampleBrain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from omnislash.runtime.syncing.values import SyncAnswer


class GitBrain(SampleBrain):
    """A sample brain that is a repository."""

    def __init__(self, root: Path, *, is_clone: bool = False) -> None:
        """Make it, or take over a directory that is one already."""
        if is_clone:
            root.rename(root.with_name(f"{root.name}.clone"))
        root.parent.mkdir(exist_ok=True)
        super().__init__(root)
        if is_clone:
            (root / "omnislash.yaml").unlink()
            root.rmdir()
            root.with_name(f"{root.name}.clone").rename(root)

    def git(self, *words: str, check: bool = True, stdin: bytes | None = None) -> str:
        """Run git in the brain and return what it prints, its last newline taken off."""
        done = subprocess.run(["git", *words], cwd=self.root, input=stdin, capture_output=True, check=False)
        assert not check or done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def commit(self, subject: str = "by the test") -> str:
        """Commit everything, as a person would, and return the commit."""
        self.git("add", "-A")
        self.git(
            "-c", "user.name=Person", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty", "-m", subject
        )
        return self.git("rev-parse", "HEAD")

    def sync(self, **options: object) -> SyncAnswer:
        """Sync in this process."""
        if not self._opened:
            self.open()
        return self._opened[0].sync(SyncOptions(**options))  # type: ignore[arg-type]

    def message(self, commit: str = "HEAD") -> str:
        """Return the message of a commit, its last newlines taken off."""
        return self.git("log", "-1", "--format=%B", commit).rstrip("\n")

    def committed(self, commit: str = "HEAD") -> list[str]:
        """Return the paths that a commit changed, in order."""
        listed = self.git("show", "--format=", "--name-only", "--no-renames", "-z", "--root", commit)
        return [path for path in listed.split("\0") if path]

    def status(self) -> str:
        """Return what `git status` says."""
        return self.git("-c", "core.quotePath=false", "status", "--porcelain")


@pytest.fixture(autouse=True)
def _nobodys_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let git know of no person and of no settings but the repository's own."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def make_brain(tmp_path: Path) -> Iterator[Callable[..., GitBrain]]:
    """Return what makes a repository with a brain that has the roles `nova` (line main) and `ops` (line ops)."""
    made: list[GitBrain] = []

    def make(name: str = "brain", *, is_committed: bool = True) -> GitBrain:
        brain = GitBrain(tmp_path / name)
        made.append(brain)
        brain.git("init", "-q", "-b", "main", "--template=")
        brain.role("nova")
        brain.role("ops", "{write: ops}")
        brain.put(".gitignore", ".omnislash/\n.omnislash-*\nmemory/.memory-index.db*\n")
        if is_committed:
            brain.commit("start")
        return brain

    yield make
    for brain in made:
        brain.close()


@pytest.fixture
def repo(make_brain: Callable[..., GitBrain]) -> GitBrain:
    """Return one such brain, with a first commit."""
    return make_brain()


@pytest.fixture
def remote(repo: GitBrain, tmp_path: Path) -> Path:
    """Return a bare, empty repository that is the brain's `origin`."""
    place = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", "--template=", str(place)], check=True)
    repo.git("remote", "add", "origin", str(place))
    return place


@pytest.fixture
def clone(remote: Path, tmp_path: Path) -> Iterator[Callable[[str], GitBrain]]:
    """Return what makes another clone of the remote."""
    made: list[GitBrain] = []

    def make(name: str) -> GitBrain:
        subprocess.run(["git", "clone", "-q", "--template=", str(remote), str(tmp_path / name)], check=True)
        made.append(GitBrain(tmp_path / name, is_clone=True))
        return made[-1]

    yield make
    for brain in made:
        brain.close()
