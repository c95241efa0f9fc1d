"""A repository with two sides that are to be brought together, made with real git, in one directory."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnislash.runtime.syncing.merge_values import MergePlace, MergeResult
from omnislash.runtime.syncing.merging import merge, resume
from omnislash.store.files import MemoryFiles
from omnislash.store.git import Repository
from omnislash.store.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.store.disk import Disk

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
DAY = "memory/main/2026/11/2026-11-30.md"
MEMORY = "memory/main/MEMORY.md"
#: Path to bytes or text; None removes the file.
Edits = "Mapping[str, str | bytes | None]"


class MergeStage:
    """A brain under git, and the two commits that its branch and the remote side stand on."""

    def __init__(self, root: Path, base: Mapping[str, str | bytes | None]) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main", "--template=")
        for key, value in {"user.name": "Person", "user.email": "p@example.org", "gc.auto": "0"}.items():
            self.git("config", key, value)
        self.put({".gitignore": ".omnislash/\n.omnislash-*\n", **base})
        self.base = self.commit("base")
        self.ours = self.theirs = self.base
        (root / ".omnislash").mkdir(exist_ok=True)

    def git(self, *words: str, check: bool = True) -> str:
        """Run git in the brain and return what it prints, without its last newline."""
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=False)
        assert not check or done.returncode == 0, (words, done.stderr.decode("utf-8", "replace"))
        return os.fsdecode(done.stdout).removesuffix("\n")

    def put(self, edits: Mapping[str, str | bytes | None]) -> None:
        """Write files, and remove those that are None, as an editor would."""
        for path, content in edits.items():
            place = self.root / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, subject: str) -> str:
        """Commit everything and return the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def part(self, ours: Mapping[str, str | bytes | None], theirs: Mapping[str, str | bytes | None]) -> MergeStage:
        """Let the two sides go on from where they are, each with a commit of its own; ours is checked out."""
        self.git("checkout", "-q", "-B", "other", self.theirs)
        self.put(theirs)
        self.theirs = self.commit("theirs")
        self.git("checkout", "-q", "-B", "main", self.ours)
        self.put(ours)
        self.ours = self.commit("ours") if ours else self.ours
        return self

    def place(self, disk: Disk | None = None) -> MergePlace:
        """Return what a merge works on."""
        repository = Repository.open(self.root)
        assert repository is not None
        files = MemoryFiles(self.root / "memory", disk=disk)
        return MergePlace(repository, files, State(self.root / ".omnislash" / "state.db", disk=disk))

    def merge(self, *, disk: Disk | None = None) -> MergeResult:
        """Bring the two sides together."""
        place = self.place(disk)
        try:
            return merge(place, self.git("rev-parse", "HEAD"), self.theirs, now=NOW)
        finally:
            place.state.close()

    def resume(self, *, disk: Disk | None = None) -> MergeResult | None:
        """Do what a sync does first."""
        place = self.place(disk)
        try:
            return resume(place, now=NOW)
        finally:
            place.state.close()

    # -- what came of it ---------------------------------------------------------------------------------------------

    def read(self, path: str) -> str:
        """Return the text of a file on disk."""
        return (self.root / path).read_bytes().decode()

    def files(self) -> dict[str, bytes]:
        """Return the bytes of all files on disk that belong to the brain."""
        return {
            place.relative_to(self.root).as_posix(): place.read_bytes()
            for place in sorted(self.root.rglob("*"))
            if place.is_file() and not {".git", ".omnislash"} & set(place.relative_to(self.root).parts)
        }

    def status(self) -> str:
        """Return what `git status` says."""
        return self.git("-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all")

    def parents(self, commit: str = "HEAD") -> list[str]:
        """Return the parents of a commit."""
        return self.git("rev-list", "--parents", "-1", commit).split()[1:]

    def rows(self, query: str) -> list[dict[str, object]]:
        """Return the rows of a named query of the state database."""
        state = State(self.root / ".omnislash" / "state.db")
        try:
            parameters = {"before": None, "line": None, "path": None, "limit": 100} if query == "list_audit" else {}
            return [dict(row) for row in state.rows(query, **parameters)]
        finally:
            state.close()

    def assert_settled(self) -> None:
        """Hold that nothing is left over: a clean tree, a sound repository, no temporary file, no intent."""
        assert self.status() == ""
        assert self.git("fsck", "--no-dangling") == ""
        assert [path for path in self.files() if ".omnislash-" in path] == []
        assert self.rows("list_changes") == []
        assert self.git("for-each-ref", "refs/worktree") == ""
        assert not (self.root / ".git" / "MERGE_HEAD").exists()
