"""What bringing two histories together came to, and what it works on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnislash.runtime.syncing.values import Conflict
    from omnislash.store.files import MemoryFiles
    from omnislash.store.git import Repository
    from omnislash.store.state import State


class MergeOutcome(StrEnum):
    """What became of a merge."""

    #: The branch holds all of the other side's commits already; nothing has changed.
    UP_TO_DATE = "up-to-date"
    #: The branch now stands on the other side's commit.
    FAST_FORWARD = "fast-forward"
    #: A commit with both parents was made, and the branch stands on it.
    MERGED = "merged"
    #: Somebody saved a file, staged something or moved the branch meanwhile. Nothing of theirs has changed: commit what
    #: there is and merge again, at once or with the next sync.
    MOVED_ON = "moved-on"
    #: It can't be merged without a person; nothing has changed. `conflicts` names the files where files are the reason.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class MergePlace:
    """The brain in which two histories are brought together; its caller holds the lock of the sync."""

    repository: Repository
    #: The managed files: those below the brain's `memory/`.
    files: MemoryFiles
    #: Holds what is about to be replaced, so that a crash loses nothing.
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What a merge came to; paths are those of the repository."""

    outcome: MergeOutcome
    #: The commit that the branch stands on afterwards.
    head: str
    #: What happened, and what to do next where a person has to do something.
    message: str
    #: Files that both sides had changed: how each was joined, or why the merge stopped.
    conflicts: tuple[Conflict, ...] = ()
    #: Files that are other than before, in order.
    changed: tuple[str, ...] = ()
    #: Conflict copies that were kept because somebody saved in that very moment.
    copies: tuple[str, ...] = ()
