"""Git for a brain, as far as a person meets it: a first commit, and what changed since.

Nothing of the user's own configuration is touched: where no identity is set, a neutral one stands for this one commit.
Without git the brain works all the same, so every trouble here is a sentence and not an error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from omnislash.errors import GitTroubleError
from omnislash.store.git import Repository, join_paths, quiet_environment, read_version, run_git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def start(root: Path, files: Sequence[str], *, message: str, nested: bool = False) -> str:
    """Make a repository with a first commit, where there is none; return what was done, as a sentence.

    Args:
        root: The brain.
        files: What the commit holds, relative to the brain.
        message: Of the commit.
        nested: True makes one inside of another repository as well.
    """
    try:
        if read_version() is None:
            return "git is not installed: the brain works without, but changes can't be looked at or taken back."
        outer = Repository.open(root)
        if outer is not None and not (nested and outer.is_nested):
            return f"The directory belongs to the git repository {outer.top}; nothing was committed."
    except GitTroubleError as error:
        return f"{error.message} The brain works without."
    try:
        _commit(_make(root), files, message)
    except GitTroubleError as error:
        return f"git could not make the first commit: {error.message} The brain works without."
    return "A git repository with a first commit."


def _make(root: Path) -> Repository:
    made = run_git(["init", "--quiet", "--initial-branch=main"], cwd=root, environment=quiet_environment(os.environ))
    repository = None if made.status else Repository.open(root)
    if repository is None:
        raise GitTroubleError(made.reason)
    return repository


def _commit(repository: Repository, files: Sequence[str], message: str) -> None:
    """Commit files, ignored ones as well: the brain's own come with it."""
    paths = join_paths(repository.prefix + file for file in files)
    repository.run("add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", input=paths)
    words = ("-c", "commit.gpgsign=false", "commit", "--no-verify", "--quiet", f"--message={message}")
    repository.run(*repository.name_identity(), *words)


def render_changes(root: Path, *, colour: bool) -> str:
    """Return the difference to the first commit as git shows it, for a worker may have synced since; empty without git."""
    try:
        repository = Repository.open(root)
        if repository is None:
            return ""
        first = repository.text("rev-list", "--max-parents=0", "HEAD") or "HEAD"
        repository.run("add", "--intent-to-add", "--", f"{repository.prefix}memory")
        shown = ("--unified=1", "--no-ext-diff", f"--color={'always' if colour else 'never'}")
        answer = repository.run("diff", *shown, first, "--", f"{repository.prefix}memory")
    except GitTroubleError:
        return ""
    return answer.decode("utf-8", "replace")
