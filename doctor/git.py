"""Git: whether memory is committed, and what stands in the way.

Everything is asked of git itself, with a limit of time, and nothing is changed: no index is refreshed, nobody is asked.

Rules: failure cases O-50 to O-54; SECRET-O2 for the passwords of remotes.
"""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import ANYTHING, Check, Group, fail, info, warn
from omnislash.checks.git_reading import (
    explain_ignored,
    find_locks,
    list_ignored,
    list_tracked,
    read_oldest_unpushed,
    read_settings,
    read_status,
)
from omnislash.checks.instants import show_instant
from omnislash.checks.quoting import quote_path
from omnislash.core.conflict_marks import find_conflict_marks
from omnislash.core.credentials import find_secret
from omnislash.errors import GitTroubleError
from omnislash.index.database import INDEX_FILE
from omnislash.store.git import LOCK_AGE_S, NEUTRAL_EMAIL, NEUTRAL_NAME, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.checks.examined import Examined, SeenFile
    from omnislash.checks.findings import Finding
    from omnislash.checks.git_reading import GitStatus

#: How long memory may lie uncommitted, or a commit unpushed, before it is worth a warning.
_PATIENCE: Final = timedelta(days=1)
#: Files that are named of each kind in one finding.
_NAMED: Final = 5
#: Ignored files whose rule is looked up.
_ASKED: Final = 20
_PASSWORD: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/@:\s]*:[^/@\s]+@", re.IGNORECASE)
_MACHINE: Final = f"memory/{INDEX_FILE}"
_SYNC: Final = "Run `omnislash sync run`."
#: What brain-sync leaves alone is committed, pulled and pushed as the repository around it is.
_BY_HAND: Final = "Commit it by hand: brain-sync leaves a part of a larger repository alone."
#: Files of this machine, each with the rule that keeps git from taking it: `git add --all` would.
_OWN: Final = ((".omnislash/state.db", ".omnislash/"), (_MACHINE, f"{_MACHINE}*"))
_ENDINGS: Final = {
    "merge": "`git merge --continue`, or take it back with `git merge --abort`",
    "rebase": "`git rebase --continue`, or take it back with `git rebase --abort`",
    "cherry-pick": "`git cherry-pick --continue`, or take it back with `git cherry-pick --abort`",
    "revert": "`git revert --continue`, or take it back with `git revert --abort`",
    "bisect": "`git bisect reset`",
}


class GitCheck(Check):
    """Asks git how the brain stands, and looks for what a merge left in its files."""

    id = "git"
    title = "Git"
    protects = "All memory is committed, none of it is ignored by git, and no half a merge has mixed it up."
    group = Group.MACHINE
    reads_files = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._marks: list[Finding] = []

    def see(self, file: SeenFile) -> None:
        """Look for the marks of a conflict."""
        lines = find_conflict_marks(file.data) if file.data else ()
        if lines:
            self._marks.append(
                fail(
                    f"{file.entry.shown} has a conflict mark of git in line {lines[0]}: two versions stand in it.",
                    path=file.entry.shown,
                    line=lines[0],
                    hint="Keep what is right, and remove the lines of `<<<<<<<`, `=======` and `>>>>>>>`.",
                )
            )

    def conclude(self, brain: Examined) -> Iterator[Finding]:
        """Yield what hinders git, then what is wrong with files, then what is only worth knowing."""
        try:
            repository = Repository.open(brain.root, environment=brain.environment, may_write=False)
            if repository is None:
                yield from _explain_none(brain)
            else:
                yield from _look(brain, repository)
        except GitTroubleError as error:
            yield warn(f"Git can't tell how the brain stands: {error.message}", hint=error.hint, about=(ANYTHING,))
        yield from shorten(self._marks, "files with conflict marks")


def _explain_none(brain: Examined) -> Iterator[Finding]:
    if shutil.which("git", path=brain.environment.get("PATH")) is None:
        yield info("Git is not installed: the brain works without, but changes can't be looked at or taken back.")
    elif ".git" in brain.by_path:
        message = "There is a .git in the brain, but git takes it for no repository with a working tree."
        yield warn(message, path=".git", hint="Run `git status` in the brain: it says what is wrong.")
    else:
        message = "The brain is in no git repository: changes can't be looked at or taken back."
        yield info(message, hint="Run `git init` in the brain, then `omnislash sync run`.")


def _look(brain: Examined, repository: Repository) -> Iterator[Finding]:
    status = read_status(repository)
    is_left_alone = repository.is_nested and not brain.config.manifest.sync.nested
    commit = _BY_HAND if is_left_alone else _SYNC
    yield from _tell_locks(brain, repository, is_left_alone=is_left_alone)
    yield from _tell_head(repository, status, commit)
    yield from _tell_unmerged(status)
    yield from _tell_tracked(repository)
    yield from _tell_open(brain, repository)
    yield from _tell_ignored(brain, repository)
    yield from _tell_inner(brain)
    yield from _tell_uncommitted(brain, status, commit)
    yield from _tell_remote(brain, repository, status)
    yield from _tell_settings(brain, repository)
    yield from _tell_nested(brain, repository)


# -- what hinders git ------------------------------------------------------------------------------------------------


def _tell_locks(brain: Examined, repository: Repository, *, is_left_alone: bool) -> Iterator[Finding]:
    for name, _, changed_at in find_locks(repository):
        age = max(0.0, brain.now.timestamp() - changed_at)
        message = f"Git's lock {name} is {_say_age(age)} old"
        if age < LOCK_AGE_S:
            yield info(f"{message}; a git command may be at work.", path=f".git/{name}")
            continue
        hint = f"Remove {name} from the .git directory once no git command runs."
        if name == "index.lock" and not is_left_alone:
            hint = f"{_SYNC} It removes the lock when no process holds it."
        yield warn(f"{message}: nothing can be committed while it lies there.", path=f".git/{name}", hint=hint)


def _tell_head(repository: Repository, status: GitStatus, commit: str) -> Iterator[Finding]:
    begun = repository.find_open_operation()
    if begun is not None:
        message = f"A {begun} was begun and not ended: brain-sync commits nothing until it is."
        yield warn(message, hint=f"End it with {_ENDINGS[begun]}.")
    elif status.branch is None:
        message = "HEAD is detached: commits would be on no branch, so brain-sync makes none."
        yield warn(message, hint="Run `git switch` with the name of your branch, then `omnislash sync run`.")
    if not status.has_commits:
        yield info("There is no commit yet.", hint=commit)


def _tell_unmerged(status: GitStatus) -> Iterator[Finding]:
    found = [
        fail(
            f"{_shown(path)} is unmerged: git waits for somebody to choose between two versions.",
            path=_shown(path),
            hint=f"Settle it in the file, then run `git add -- {quote_path(path)}`.",
        )
        for path in status.unmerged
    ]
    yield from shorten(found, "unmerged files")


# -- files that are where they should not be, or not where they should be --------------------------------------------


def _tell_tracked(repository: Repository) -> Iterator[Finding]:
    """Yield the files of this machine that are tracked: they change all the time, and belong to one machine."""
    tracked = list_tracked(repository, ".omnislash", "memory")
    own = [path for path in tracked if path.startswith(".omnislash/")]
    if own:
        what = (
            f"{_name(own)} {'is' if len(own) == 1 else 'are'} tracked by git, and belong{'s' if len(own) == 1 else ''}"
        )
        hint = "Run `git rm -r -f --cached .omnislash`, which keeps the files, and put `.omnislash/` into .gitignore."
        yield warn(f"{what} to this machine alone.", path=_shown(own[0]), hint=hint)
    for path in tracked:
        if path.startswith(_MACHINE):
            hint = f"Run `git rm -f --cached -- {path}`, which keeps the file, and put `{_MACHINE}*` into .gitignore."
            yield warn(
                f"{path} is tracked by git: it is made from the files and changes all the time.", path=path, hint=hint
            )
    left = [_tell_temporary(path) for path in tracked if path.rpartition("/")[2].startswith(".omnislash-")]
    yield from shorten(left, "temporary files that are tracked")


def _tell_temporary(path: str) -> Finding:
    message = f"{_shown(path)} is a temporary file of omnislash, and tracked by git."
    hint = f"Run `git rm -f --cached -- {quote_path(path)}`, which keeps the file."
    return warn(message, path=_shown(path), hint=hint)


def _tell_open(brain: Examined, repository: Repository) -> Iterator[Finding]:
    """Yield that git would take files of this machine, because no rule tells it to ignore them.

    `.omnislash/` brings such a rule with it when it is made.
    """
    tracked = set(list_tracked(repository, *(path for path, _ in _OWN)))
    own = [(path, rule) for path, rule in _OWN if path == _MACHINE or brain.state_directory.name in brain.by_path]
    asked = {path: rule for path, rule in own if path not in tracked}
    ignored = {each.path for each in explain_ignored(repository, asked) if not each.rule.startswith("!")}
    rules = [rule for path, rule in asked.items() if path not in ignored]
    if rules:
        places = " and ".join(rule.rstrip("*") for rule in rules)
        message = f"Git does not ignore {places}, of this machine alone: `git add --all` would take it in."
        lines = " and ".join(f"the line `{rule}`" for rule in rules)
        yield warn(message, path=".gitignore", hint=f"Add {lines} to the .gitignore of the brain.")


def _tell_ignored(brain: Examined, repository: Repository) -> Iterator[Finding]:
    """Yield the notes that git ignores, with the rule that says so (O-54)."""
    places = [place for place in ("memory", *brain.config.sources) if place in brain.by_path]
    ignored = set(list_ignored(repository, *places)) if places else set()
    if not ignored:
        return
    files = [
        entry.path
        for entry in brain.listing
        if entry.is_markdown and entry.area in {Area.MEMORY, Area.SOURCE} and _is_below(entry.path, ignored)
    ]
    found = [
        warn(
            f"{_shown(each.path)} is ignored by git: the rule `{each.rule}` stands in {_shown(each.source)}, line {each.line}.",
            path=_shown(each.path),
            hint="Remove the rule; brain-sync adds files below memory/ in spite of it.",
        )
        for each in explain_ignored(repository, files[:_ASKED])
    ]
    if len(files) > _ASKED:
        found.append(warn(f"{len(files) - _ASKED} more files are ignored by git."))
    yield from found


def _is_below(path: str, places: set[str]) -> bool:
    """Tell whether a path is one of some places, or below one that ends in a slash."""
    if path in places:
        return True
    parts = path.split("/")
    return any("/".join(parts[:count]) + "/" in places for count in range(1, len(parts)))


def _tell_inner(brain: Examined) -> Iterator[Finding]:
    for entry in brain.listing:
        if entry.name == ".git" and entry.area in {Area.MEMORY, Area.SOURCE}:
            place = entry.shown.removesuffix("/.git")
            message = f"{place} is a git repository of its own, so its files are in no commit of the brain."
            yield warn(message, path=place, hint=f"Remove {entry.shown}, unless that is what you want.")


def _tell_uncommitted(brain: Examined, status: GitStatus, commit: str) -> Iterator[Finding]:
    """Yield memory that has lain uncommitted for more than a day."""
    before = (brain.now - _PATIENCE).timestamp() * 1e9
    changed = {*status.changed, *status.untracked}
    old = [
        entry
        for entry in brain.listing
        if entry.area is Area.MEMORY
        and entry.kind is Kind.FILE
        and entry.mtime_ns < before
        and entry.path.endswith(".md")
        and _is_below(entry.path, changed)
    ]
    if not old:
        return
    since = datetime.fromtimestamp(min(entry.mtime_ns for entry in old) / 1e9, UTC)
    what = "1 file of memory has" if len(old) == 1 else f"{len(old)} files of memory have"
    names = _name([entry.path for entry in old])
    message = f"{what} not been committed for more than a day, the oldest since {show_instant(since, brain)}: {names}."
    yield warn(message, path=old[0].shown, hint=commit, about=[entry.path for entry in old])


# -- remotes and settings --------------------------------------------------------------------------------------------


def _tell_remote(brain: Examined, repository: Repository, status: GitStatus) -> Iterator[Finding]:
    if status.upstream is None:
        return
    by_hand = repository.is_nested or not brain.config.manifest.sync.push
    pull, push = ("Run `git pull`.", "Run `git push`.") if by_hand else (_SYNC, _SYNC)
    if status.behind:
        message = f"{_shown(status.upstream)} has {_count(status.behind)} that are not here, as of the last fetch."
        yield info(message, hint=pull)
    if not status.ahead:
        return
    made_at = read_oldest_unpushed(repository, status.ahead)
    since = datetime.fromtimestamp(made_at, UTC) if made_at is not None else None
    verb = "is" if status.ahead == 1 else "are"
    message = f"{_count(status.ahead)} {verb} not pushed to {_shown(status.upstream)}"
    if since is not None:
        message += f", the oldest of {show_instant(since, brain)}"
    is_late = since is not None and brain.now - since > _PATIENCE and brain.config.manifest.sync.push
    yield (warn if is_late else info)(f"{message}.", hint=push)


def _tell_settings(brain: Examined, repository: Repository) -> Iterator[Finding]:
    settings = read_settings(repository)
    for key, value in settings:
        kind, _, rest = key.partition(".")
        name = rest.rpartition(".")[0]
        address = name if kind == "url" else value
        if kind in {"remote", "url"} and (_PASSWORD.match(address) or find_secret(address)):
            what = f"The address of the remote {name}" if kind == "remote" else "An address that git replaces"
            hint = "Write it without the password, and let a credential helper or ssh keep that."
            if kind == "remote":
                hint = f"Run `git remote set-url {name} URL` with an address without it; a credential helper or ssh keeps it."
            yield warn(f"{what} has a password in it, readable in git's configuration.", hint=hint)
    keys = {key for key, value in settings if value}
    if (
        not {"user.name", "user.email"} <= keys
        and not {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"} <= brain.environment.keys()
    ):
        message = f"Git has no user.name and user.email: commits are by {NEUTRAL_NAME} <{NEUTRAL_EMAIL}>."
        yield info(message, hint="Run `git config user.name NAME` and `git config user.email ADDRESS` in the brain.")


def _tell_nested(brain: Examined, repository: Repository) -> Iterator[Finding]:
    if repository.is_nested and not brain.config.manifest.sync.nested:
        message = "The brain is a part of a larger git repository, so brain-sync leaves it alone."
        yield info(
            message, hint="`sync.nested: true` in constitution/MANIFEST.yaml commits it there; nothing is pushed."
        )


# -- words -----------------------------------------------------------------------------------------------------------


def _say_age(seconds: float) -> str:
    sizes = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    unit, size = next((each for each in sizes if seconds >= each[1]), sizes[-1])
    count = int(seconds // size)
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _count(commits: int) -> str:
    return "1 commit" if commits == 1 else f"{commits} commits"


def _name(paths: list[str]) -> str:
    rest = len(paths) - _NAMED
    return ", ".join(map(_shown, paths[:_NAMED])) + (f" and {rest} more" if rest > 0 else "")


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
