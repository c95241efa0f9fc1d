"""How a brain stands in git, read with a handful of commands that change nothing.

What costs with the length of the history is not asked: ahead and behind walk only what differs.

Rules: failure cases O-50 to O-54.
Source: git-status(1), "Porcelain Format Version 2".
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.store.git import split_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from omnislash.store.git import Repository

#: Seconds that each command may take.
LIMIT_S: Final = 20.0
#: Fields before the path of an entry, by its kind.
_FIELDS: Final = {"1": 8, "2": 9, "u": 10}
_LOCKS: Final = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock")
_SETTINGS: Final = r"^(user\.(name|email)|remote\..*\.(push)?url|url\..*\.(push)?insteadof)$"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatus:
    """What `git status` says of a brain; paths are relative to the brain."""

    #: False before the first commit.
    has_commits: bool
    #: None for a detached HEAD.
    branch: str | None
    #: None without one.
    upstream: str | None
    #: Commits that the upstream has not, and that only it has, as of the last fetch.
    ahead: int
    behind: int
    #: Paths that a merge could not settle.
    unmerged: tuple[str, ...]
    #: Tracked paths that differ from the last commit.
    changed: tuple[str, ...]
    #: Paths that git does not know; a directory of nothing else stands as one, with a slash at its end.
    untracked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A path of the brain that git ignores."""

    path: str
    #: File that holds the rule, as git names it.
    source: str
    line: int
    #: The rule, word for word.
    rule: str


def read_status(repository: Repository) -> GitStatus:
    """Return how the brain's part of the working tree stands.

    Raises:
        GitTroubleError: Git could not tell.
    """
    args = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
    parts = _split(repository.run(*args, "--", *_within(repository), limit_s=LIMIT_S))
    heads: dict[str, str] = {}
    found: dict[str, list[str]] = {"1": [], "2": [], "u": [], "?": []}
    for part in parts:
        kind = part[:1]
        if kind == "#":
            name, _, value = part.removeprefix("# ").partition(" ")
            heads[name] = value
        elif kind in found:
            found[kind].append(_inside(repository, part.split(" ", _FIELDS.get(kind, 1))[-1]))
            if kind == "2":
                next(parts, None)  # where it was before
    ahead, behind = (abs(int(number)) for number in heads.get("branch.ab", "+0 -0").split())
    branch = heads.get("branch.head", "(detached)")
    return GitStatus(
        has_commits=heads.get("branch.oid") != "(initial)",
        branch=None if branch == "(detached)" else branch,
        upstream=heads.get("branch.upstream") if "branch.ab" in heads else None,
        ahead=ahead,
        behind=behind,
        unmerged=tuple(sorted(found["u"])),
        changed=tuple(sorted({*found["1"], *found["2"]})),
        untracked=tuple(sorted(found["?"])),
    )


def list_tracked(repository: Repository, *places: str) -> list[str]:
    """Return the tracked files below some places of the brain."""
    return list(_run_within(repository, ("ls-files", "-z", "--cached"), places))


def list_ignored(repository: Repository, *places: str) -> list[str]:
    """Return what git ignores below some places of the brain; a directory of nothing else stands as one."""
    args = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    found = list(_run_within(repository, args, places))
    if any(repository.prefix.startswith(path) for path in found):  # the brain itself, or a directory above it
        return [*places, *(f"{place}/" for place in places)]
    return found


def explain_ignored(repository: Repository, paths: Iterable[str]) -> list[Ignored]:
    """Return by which rule git ignores some files; those that it does not ignore are left out."""
    given = b"".join(os.fsencode(f"{repository.prefix}{path}") + b"\0" for path in paths)
    if not given:
        return []
    args = ("check-ignore", "-v", "-z", "--stdin")
    # This one command refuses to run where every path is to be taken word for word; what it reads always is.
    answer = repository.ask(*args, input=given, limit_s=LIMIT_S, extra={"GIT_LITERAL_PATHSPECS": "0"})
    parts = os.fsdecode(answer.out).split("\0")[:-1]
    return [
        Ignored(_inside(repository, path), source, int(line or 0), rule)
        for source, line, rule, path in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True)
    ]


def read_settings(repository: Repository) -> list[tuple[str, str]]:
    """Return the keys and values of git's configuration that name a person or a remote."""
    answer = repository.ask("config", "-z", "--get-regexp", _SETTINGS, limit_s=LIMIT_S)
    entries = (part.partition("\n") for part in _split(answer.out))
    return [(key, value) for key, _, value in entries]


def read_oldest_unpushed(repository: Repository, ahead: int) -> int | None:
    """Return when the oldest commit was made that the upstream has not, in seconds since 1970; None when unknown."""
    found = repository.text("log", "-1", f"--skip={ahead - 1}", "--format=%ct", "@{upstream}..HEAD")
    return int(found) if found and found.isdigit() else None


def find_locks(repository: Repository) -> list[tuple[str, Path, float]]:
    """Return the lock files of git: name, place, and time of the last change in seconds since 1970."""
    found: dict[Path, tuple[str, float]] = {}
    for directory in (repository.git_dir, repository.common_dir):
        for name in _LOCKS:
            try:
                found.setdefault(directory / name, (name, (directory / name).stat().st_mtime))
            except OSError:
                continue
    return [(name, place, at) for place, (name, at) in found.items()]


def _run_within(repository: Repository, args: tuple[str, ...], places: tuple[str, ...]) -> Iterator[str]:
    wanted = [f"{repository.prefix}{place}" for place in places]
    return (_inside(repository, path) for path in split_paths(repository.run(*args, "--", *wanted, limit_s=LIMIT_S)))


def _within(repository: Repository) -> list[str]:
    return [repository.prefix.rstrip("/")] if repository.prefix else ["."]


def _inside(repository: Repository, path: str) -> str:
    return path.removeprefix(repository.prefix)


def _split(output: bytes) -> Iterator[str]:
    return (os.fsdecode(part) for part in output.split(b"\0") if part)
