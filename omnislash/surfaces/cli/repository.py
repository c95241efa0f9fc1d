"""Git for a brain, as far as the command line needs it: a first commit, and what changed since.

Nothing of the user's own configuration is touched: where no identity is set, a neutral one signs this one commit.
Without git the brain works all the same, so every trouble here is a sentence and not an error.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import git

_NAME, _EMAIL = "omnislash", "omnislash@localhost"


#: Variables by which a git hook tells its children which repository it runs in; never the one that is meant here.
_OUTER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


def _forget_outer() -> None:
    for name in _OUTER:
        os.environ.pop(name, None)


def start(root: Path, files: Sequence[str], *, message: str, nested: bool = False) -> str:
    """Make a repository with a first commit, where there is none; return what was done, as a sentence.

    Args:
        root: The brain.
        files: What the commit holds, relative to the brain.
        message: Of the commit.
        nested: True makes one inside of another repository as well.
    """
    _forget_outer()
    if shutil.which("git") is None:
        return "git is not installed: the brain works without, but changes can't be looked at or taken back."
    from git import GitError, InvalidGitRepositoryError, Repo  # noqa: PLC0415 - importing it looks for git

    try:
        with Repo(root, search_parent_directories=not nested) as outer:
            return f"The directory belongs to the git repository {outer.working_dir}; nothing was committed."
    except InvalidGitRepositoryError:
        pass
    except (GitError, OSError, ValueError) as error:
        return f"git could not be used: {_first_line(error)} The brain works without."
    try:
        with Repo.init(root, initial_branch="main") as repository:
            _commit(repository, files, message)
    except (GitError, OSError, ValueError) as error:
        return f"git could not make the first commit: {_first_line(error)} The brain works without."
    return "A git repository with a first commit."


def _commit(repository: git.Repo, files: Sequence[str], message: str) -> None:
    identity = {} if _has_identity(repository) else _identity()
    with repository.git.custom_environment(**identity):
        repository.git.add("--", *files)
        repository.git.execute(["git", "-c", "commit.gpgsign=false", "commit", "--no-verify", "--quiet", "-m", message])


def _has_identity(repository: git.Repo) -> bool:
    with repository.config_reader() as config:
        named = bool(config.get_value("user", "name", "") and config.get_value("user", "email", ""))
    return named or {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME"} <= os.environ.keys()


def _identity() -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": _NAME,
        "GIT_AUTHOR_EMAIL": _EMAIL,
        "GIT_COMMITTER_NAME": _NAME,
        "GIT_COMMITTER_EMAIL": _EMAIL,
    }


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "stderr", "") or error).strip()
    return (text.splitlines() or ["it gave no reason"])[0].strip(" '").rstrip(".") + "."


def render_changes(root: Path, *, colour: bool) -> str:
    """Return the difference to the last commit as git shows it; empty without git."""
    _forget_outer()
    if shutil.which("git") is None:
        return ""
    from git import Repo  # noqa: PLC0415 - as above

    with Repo(root) as repository:
        repository.git.add("--intent-to-add", "--", "memory")
        return str(repository.git.diff("--unified=1", f"--color={'always' if colour else 'never'}", "--", "memory"))
