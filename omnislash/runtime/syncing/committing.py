"""Committing chosen files, and only those: what a person has staged beside them stays staged.

Hooks run as they do for a person. Where nobody has said who commits, a neutral name stands for that commit alone.

Rules: failure cases O-50 to O-54.
Source: git-commit(1), `--only`, `--pathspec-file-nul`.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

from omnislash.errors import GitTroubleError
from omnislash.runtime.syncing.values import Commit
from omnislash.store.git import join_paths, split_paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omnislash.runtime.syncing.changes import Change
    from omnislash.store.git import GitAnswer, Repository

_FROM_INPUT: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")
#: Under this prefix stays what a person had staged and the commit holds in a newer form; git would drop it one day.
KEPT: Final = "refs/omnislash/staged/"
_NOTHING: Final = (b"nothing to commit", b"nothing added to commit", b"no changes added to commit")
_VANISHED: Final = b"did not match any file"
_HOOKS: Final = ("pre-commit", "prepare-commit-msg", "commit-msg")
_UNSIGNED: Final = b"failed to sign"
_NAMES: Final = ("--name-only", "--no-renames", "-z")
#: How many files that git can't store are looked for at most: each costs a command.
_REFUSED: Final = 100
_REASON: Final = "git can't store it: {reason} Mend the filter or the file, or take the rule out of .gitattributes."


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
    before = repository.head()
    try:
        _announce(repository, new)
        done = _commit(repository, _list_paths(repository, changes), message)
    except BaseException:
        _withdraw(repository, new)
        raise
    if not done:
        _withdraw(repository, new)
        return None
    with contextlib.suppress(GitTroubleError):  # the commit is made; the next sync finds what is left to say
        _follow_hooks(repository, {change.path for change in changes}, before)
    return Commit(repository.head(), message.partition("\n")[0])


def forget(repository: Repository, paths: Sequence[str]) -> None:
    """Let git forget files that were announced to it and are gone; nothing of them was ever stored."""
    if paths:
        repository.ask("update-index", "--force-remove", "-z", "--stdin", input=join_paths(paths))


def _list_paths(repository: Repository, changes: Sequence[Change]) -> list[str]:
    """Return what git is told to commit: a file whose name a directory took goes with the first file in that one."""
    return [each.path for each in changes if not (each.is_removal and (repository.top / each.path).is_dir())]


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


def _follow_hooks(repository: Repository, wanted: set[str], before: str | None) -> None:
    """Bring the index along where a hook has put other bytes into the commit than those that we gave.

    `git commit --only` leaves our version in the index, and one tick later it would look like somebody's staged work.
    What a person had staged of other files stays.
    """
    if not _find_hooks(repository):
        return
    differing = _list_differing(repository, "HEAD")
    made = set(split_paths(repository.run("diff-tree", *_NAMES, "-r", "--no-commit-id", "--root", "HEAD")))
    staged = _list_differing(repository, before or _write_empty_tree(repository)) - wanted
    if paths := sorted((differing & made) - staged):
        repository.ask("reset", "--quiet", *_FROM_INPUT, input=join_paths(paths))


def _write_empty_tree(repository: Repository) -> str:
    return repository.run("hash-object", "-w", "-t", "tree", "--stdin").decode().strip()


def _list_differing(repository: Repository, tree: str) -> set[str]:
    return set(split_paths(repository.run("diff-index", "--cached", *_NAMES, tree)))


def find_refused(repository: Repository, changes: Sequence[Change]) -> dict[str, str]:
    """Return the files that git can't store, for example because a filter fails, with why, by path.

    Empty where git can store nothing at all.
    """
    rest = [change.path for change in changes if _is_regular(repository.top / change.path)]
    alone = [path for path in rest if "\n" in path or path.startswith('"')]
    rest = [path for path in rest if path not in alone]
    refused: dict[str, str] = {}
    if repository.ask("hash-object", "-w", "--stdin", input=join_paths(rest)).status:
        return refused  # it can't store anything: the disk is full, or the repository is not ours
    while rest and len(refused) < _REFUSED:
        given = "".join(f"{path}\n" for path in rest)
        answer = repository.ask("hash-object", "-w", "--stdin-paths", input=os.fsencode(given))
        stored = answer.out.count(b"\n")
        if not answer.status or stored >= len(rest):
            break
        refused[rest[stored]] = _REASON.format(reason=answer.reason)
        rest = rest[stored + 1 :]
    for path in alone[:_REFUSED]:
        answer = repository.ask("hash-object", "-w", "--", path)
        if answer.status:
            refused[path] = _REASON.format(reason=answer.reason)
    return refused


def _is_regular(place: Path) -> bool:
    try:
        return stat.S_ISREG(place.lstat().st_mode)
    except OSError:
        return False


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
