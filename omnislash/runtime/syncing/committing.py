"""Committing chosen files, and only those: what a person has staged beside them stays staged.

Hooks run as they do for a person. Where nobody has said who commits, a neutral name stands for that commit alone.

Rules: failure cases O-50 to O-54.
Source: git-commit(1), `--only`, `--pathspec-file-nul`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from omnislash.errors import GitTroubleError
from omnislash.runtime.syncing.values import Commit
from omnislash.store.git import join_paths, split_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.runtime.syncing.changes import Change
    from omnislash.store.git import GitAnswer, Repository

_FROM_INPUT: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")
#: Under this prefix stays what a person had staged and the commit holds in a newer form; git would drop it one day.
KEPT: Final = "refs/omnislash/staged/"
_NOTHING: Final = (b"nothing to commit", b"nothing added to commit", b"no changes added to commit")
_VANISHED: Final = b"did not match any file"
_HOOKS: Final = ("pre-commit", "prepare-commit-msg", "commit-msg")
_UNSIGNED: Final = b"failed to sign"


class VanishedError(Exception):
    """A new file was gone before it could be committed: look again."""


class CommitRefusedError(GitTroubleError):
    """A hook, or the signing of commits, said no; nothing was committed."""


def commit_changes(repository: Repository, changes: Sequence[Change], message: str) -> Commit | None:
    """Commit the files as they are now and return the commit; None when they are as before after all.

    Raises:
        VanishedError: A new file is not there any more; nothing was committed.
        CommitRefusedError: A hook said no, or the commit could not be signed; nothing was committed.
        GitTroubleError: Git could not commit.
    """
    for change in changes:
        if change.staged:
            repository.run("update-ref", f"{KEPT}{change.staged[:16]}", change.staged)
    new = [change.path for change in changes if change.is_new]
    try:
        _announce(repository, new)
        done = _commit(repository, [change.path for change in changes], message)
    except BaseException:
        _withdraw(repository, new)
        raise
    if not done:
        _withdraw(repository, new)
        return None
    head = repository.head()
    return Commit(head, message.partition("\n")[0])


def _announce(repository: Repository, new: Sequence[str]) -> None:
    """Tell git of new files, of ignored ones as well (O-54); their content is not staged."""
    if not new:
        return
    answer = repository.ask("add", "--intent-to-add", "--force", *_FROM_INPUT, input=join_paths(new))
    if answer.status and _VANISHED in answer.err:
        raise VanishedError
    if answer.status:
        raise GitTroubleError(f"git can't take new files: {answer.reason}")


def _commit(repository: Repository, paths: Sequence[str], message: str) -> bool:
    words = ("commit", "--only", "--quiet", "--cleanup=whitespace", f"--message={message}", *_FROM_INPUT)
    answer = repository.ask(*repository.name_identity(), *words, input=join_paths(paths))
    if not answer.status:
        return True
    if any(sign in answer.out for sign in _NOTHING):
        return False
    if _VANISHED in answer.err:
        raise VanishedError
    raise _explain(repository, answer)


def _explain(repository: Repository, answer: GitAnswer) -> GitTroubleError:
    if _UNSIGNED in answer.err:
        message = f"The commit could not be signed: {answer.reason}"
        hint = "Unlock the key, or switch signing off here: git config commit.gpgsign false"
        return CommitRefusedError(message, hint=hint)
    hooks = _find_hooks(repository)
    if hooks and b"fatal:" not in answer.err:
        name = hooks[0] if len(hooks) == 1 else f"{', '.join(hooks[:-1])} or {hooks[-1]}"
        return CommitRefusedError(f"The hook {name} turned the commit down: {answer.reason}")
    return GitTroubleError(f"git commit failed: {answer.reason}")


def _find_hooks(repository: Repository) -> list[str]:
    """Return the names of the hooks that can turn a commit down."""
    folder = repository.text("rev-parse", "--git-path", "hooks")
    if folder is None:
        return []
    return [name for name in _HOOKS if os.access(repository.top / folder / name, os.X_OK)]


def _withdraw(repository: Repository, new: Sequence[str]) -> None:
    """Let git forget again what it was told of and what was not committed; the files stay."""
    if not new:
        return
    answer = repository.ask("diff", "--no-ext-diff", "--name-only", "--diff-filter=A", "-z")
    announced = set(split_paths(answer.out))
    paths = [path for path in new if path in announced]
    if paths:
        repository.ask("update-index", "--force-remove", "-z", "--stdin", input=join_paths(paths))
