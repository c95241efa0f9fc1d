"""What keeps brain-sync from touching a repository: a merge that somebody began, a detached HEAD, a lock.

A lock that a process of git left behind is removed once it is old and nobody can be working behind it; one that our own
sync left when it was killed is removed at once. Where this machine can't say who works, no lock is ever removed.

Rules: failure cases O-50, O-52.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omnislash.store.disk import Disk
from omnislash.store.git import LOCK_AGE_S

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omnislash.store.git import Repository

#: How often is looked whether a lock is gone, and how long between, in seconds: a command of git takes moments.
_LOOKS, _PAUSE_S = 20, 0.1
_PROCESSES: Final = Path("/proc")
_MINUTE: Final = 60
#: How far the clocks of a machine and of the disk that it mounts may be apart, in seconds.
_CLOCKS_APART_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class FoundLock:
    """A lock file of git."""

    place: Path
    #: Path for people.
    name: str
    #: Seconds since it was made; below 0 for one that is dated in the future.
    age_s: float

    @property
    def is_old(self) -> bool:
        """Whether no command of git can still be at work with it: it is dated long ago, or by a clock that was wrong."""
        return self.age_s >= LOCK_AGE_S or self.age_s < -_CLOCKS_APART_S

    def describe_age(self) -> str:
        """Return `is there since 9 min`, or by how much it is dated in the future."""
        if self.age_s < -_CLOCKS_APART_S:
            return f"is dated {_say_age(-self.age_s)} in the future"
        return f"is there since {_say_age(max(0.0, self.age_s))}"


def find_obstacle(repository: Repository) -> str | None:
    """Return why nothing may be committed now, as sentences with the way out; None when nothing is in the way."""
    operation = repository.find_open_operation()
    if operation is not None:
        end = f"git {operation} --continue` or `git {operation} --abort"
        end = "git bisect reset" if operation == "bisect" else end
        return f"A {operation} is open in this repository; nothing was committed. End it with `{end}`, then sync again."
    if repository.branch() is None:
        return (
            "HEAD is detached: no branch is checked out, so nothing was committed and nothing is in sync. Go back with "
            "`git switch BRANCH`; the files stay as they are."
        )
    return None


def find_locks(repository: Repository, now: datetime) -> list[FoundLock]:
    """Return the lock files that keep a commit, a merge, a fetch or a push from being made."""
    branch = repository.branch()
    places = [repository.index_lock, repository.git_dir / "HEAD.lock"]
    places += [repository.common_dir / name for name in ("packed-refs.lock", "config.lock")]
    places += [repository.common_dir / f"{branch}.lock"] if branch else []
    for refs in ("refs/remotes", "refs/omnislash"):
        places += sorted((repository.common_dir / refs).rglob("*.lock"))
    places.append(repository.common_dir / "shallow.lock")
    found: list[FoundLock] = []
    for place in dict.fromkeys(places):
        try:
            made = place.lstat().st_mtime
        except OSError:
            continue
        name = f".git/{place.relative_to(repository.common_dir)}" if _is_below(place, repository) else str(place)
        found.append(FoundLock(place, name, now.timestamp() - made))
    return found


def _is_below(place: Path, repository: Repository) -> bool:
    return place.is_relative_to(repository.common_dir)


def clear_locks(
    repository: Repository, now: datetime, *, cut_off_since: datetime | None = None, disk: Disk | None = None
) -> tuple[str | None, list[str]]:
    """Wait for young locks, remove those that were left behind, and say what is in the way.

    Args:
        repository: Where.
        now: This instant.
        cut_off_since: When a sync of ours began that was killed; its locks need not get old. None = none was.
        disk: Removes.

    Returns:
        Why nothing can be done now, or None; and what was removed, as sentences.
    """
    removed: list[str] = []
    disk = disk or Disk()
    for lock in find_locks(repository, now):
        if not _outlasts(lock):
            continue
        is_ours = cut_off_since is not None and lock.age_s <= (now - cut_off_since).total_seconds() + 1
        works = is_someone_working(repository, lock.place)
        if works is None or works or not (lock.is_old or is_ours):
            return _describe(lock, works=works), removed
        disk.unlink(lock.place)
        removed.append(f"The lock {lock.name} {_say_was(lock)} and no git works here: it was removed.")
    return None, removed


def _outlasts(lock: FoundLock) -> bool:
    """Tell whether a lock stays, giving a command of somebody else its moment."""
    for _ in range(_LOOKS):
        if not lock.place.exists():
            return False
        threading.Event().wait(0 if lock.is_old else _PAUSE_S)
    return lock.place.exists()


def _describe(lock: FoundLock, *, works: bool | None) -> str:
    why = "a git command works here" if works else "a git command may work here"
    after = f"A lock that is left behind is removed after {LOCK_AGE_S / _MINUTE:.0f} minutes."
    if works is None:
        after = f"If no git runs on this machine any more, remove it: rm {lock.name}"
    return f"{lock.name} {lock.describe_age()}: {why}, so nothing is committed yet. {after}"


def _say_was(lock: FoundLock) -> str:
    if lock.age_s < -_CLOCKS_APART_S:
        return f"was dated {_say_age(-lock.age_s)} in the future"
    return f"was {_say_age(max(0.0, lock.age_s))} old"


def _say_age(age_s: float) -> str:
    if age_s < _MINUTE:
        return f"{age_s:.0f} s"
    minutes = int(age_s // _MINUTE)
    return f"{minutes} min" if minutes < _MINUTE else f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


# -- who works -------------------------------------------------------------------------------------------------------


def is_someone_working(repository: Repository, lock: Path) -> bool | None:
    """Tell whether a process holds the lock open or runs git in this repository; None where nobody can tell."""
    try:
        processes = [entry for entry in _PROCESSES.iterdir() if entry.name.isdigit()]
    except OSError:
        return None
    return any(_works(process, repository, lock) for process in processes) if processes else None


def _works(process: Path, repository: Repository, lock: Path) -> bool:
    try:
        name = (process / "comm").read_text(errors="replace").rstrip("\n")
        is_git = name == "git" or name.startswith("git-")  # and not gitea or gitlab-runner
    except OSError:  # it has ended
        return False
    try:
        if is_git and _is_inside((process / "cwd").readlink(), repository):
            return True
        return any(_points_at(descriptor, lock) for descriptor in (process / "fd").iterdir())
    except FileNotFoundError:
        return False
    except OSError:  # somebody else's process: only a git counts, for its directory can't be seen
        return is_git


def _points_at(descriptor: Path, lock: Path) -> bool:
    try:
        return str(descriptor.readlink()) == str(lock)
    except OSError:
        return False


def _is_inside(directory: Path, repository: Repository) -> bool:
    homes: Iterable[Path] = (repository.top, repository.git_dir, repository.common_dir)
    return any(directory.is_relative_to(home.resolve()) for home in homes)
