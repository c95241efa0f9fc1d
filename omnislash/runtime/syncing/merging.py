"""Bringing the branch and its remote side together, in the object database first and on disk last.

Never is `git merge` run in the working tree: what both sides come to is worked out among git's objects, and only a
whole result is put in place.

Rules: failure case O-51; architecture.md section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.runtime.syncing.merge_values import MergeOutcome, MergeResult
from omnislash.runtime.syncing.merging_trees import BOTH_KEPT, MergeStoppedError, find_bases, join_histories
from omnislash.runtime.syncing.placing import MovedOnError, start_placing
from omnislash.runtime.syncing.placing_left import drop_rows, forget, read_begun, settle_left

if TYPE_CHECKING:
    from datetime import datetime

    from omnislash.runtime.syncing.merge_values import MergePlace
    from omnislash.runtime.syncing.placing import Placing
    from omnislash.runtime.syncing.values import Conflict

_NAMED = 3


def merge(place: MergePlace, ours: str, theirs: str, *, now: datetime) -> MergeResult:
    """Bring the branch from `ours` to a commit that holds `theirs` as well, with the files on disk.

    Call :func:`resume` first, and commit what is pending right before: a file whose bytes are not those of `ours` is
    never replaced, the answer is then `MOVED_ON`.

    Args:
        place: The repository, the managed files and the state database; the caller holds the lock of the sync.
        ours: Id of the commit that the branch stands on.
        theirs: Id of the commit to bring in.
        now: The instant of a commit that joins both.

    Raises:
        GitTroubleError: Git itself failed; a later run finishes or drops what was begun.
        StorageError, WriterUnavailableError: The disk or the state database refused; likewise.
    """
    try:
        bases = find_bases(place.repository, ours, theirs)
        if theirs in bases:
            return _stand(MergeOutcome.UP_TO_DATE, ours, "The branch holds the remote's commits already.")
        if not bases:
            raise MergeStoppedError(_tell_unrelated(place, theirs))
        if ours in bases:
            return _go(place, ours, theirs, (), now=now)
        joined, conflicts = join_histories(place.repository, ours, theirs, bases=bases, now=now)
        return _go(place, ours, joined, conflicts, now=now)
    except MergeStoppedError as stop:
        return _stand(MergeOutcome.STOPPED, ours, stop.message, stop.conflicts)


def resume(place: MergePlace, *, now: datetime) -> MergeResult | None:
    """Finish, or drop without a trace, a merge that a dead process left half done; None when there was none.

    To be called at the start of every sync, before anything is committed.

    Returns:
        As :func:`merge`; `MOVED_ON` when somebody changed things meanwhile, so that it has to be made again.

    Raises:
        GitTroubleError, StorageError, WriterUnavailableError: As :func:`merge`.
    """
    left, copies = settle_left(place, now=now)
    begun = read_begun(place)
    head = place.repository.head() or ""
    drop_rows(place, left - {begun[1] if begun else ""})
    if begun is None:
        return None
    old, new = begun
    try:
        if head == new:
            drop_rows(place, {new})
            forget(place)
            return _finish(start_placing(place, old, new, now=now), (), copies)
        if head == old:
            placing = start_placing(place, old, new, now=now, is_noted=new not in left)
            placing.copies += copies
            placing.put(placing.look())
            return _finish(placing, (), copies)
        message = "A merge that was cut off is dropped, as the branch has moved since; it is made again."
    except (MovedOnError, MergeStoppedError) as moved:
        message = f"A merge that was cut off is dropped and made again: {moved.message}"
    drop_rows(place, {new})
    forget(place)
    return _stand(MergeOutcome.MOVED_ON, head, message, copies=tuple(copies))


def _go(place: MergePlace, ours: str, target: str, conflicts: tuple[Conflict, ...], *, now: datetime) -> MergeResult:
    """Put a commit in place."""
    placing = start_placing(place, ours, target, now=now)
    try:
        steps = placing.look()
    except MovedOnError as moved:
        return _stand(MergeOutcome.MOVED_ON, ours, moved.message)
    try:
        placing.put(steps)
    except (MovedOnError, MergeStoppedError) as moved:
        drop_rows(place, {target})
        forget(place)
        head = place.repository.head() or ours
        return _stand(MergeOutcome.MOVED_ON, head, moved.message, copies=tuple(placing.copies))
    return _finish(placing, conflicts, ())


def _finish(placing: Placing, conflicts: tuple[Conflict, ...], copies: tuple[str, ...] | list[str]) -> MergeResult:
    parents = placing.place.repository.run("rev-list", "--parents", "-1", placing.new).split()
    is_joined = len(parents) > 2 and parents[1].decode() == placing.old  # noqa: PLR2004 - itself and two parents
    return MergeResult(
        outcome=MergeOutcome.MERGED if is_joined else MergeOutcome.FAST_FORWARD,
        head=placing.new,
        message=_tell(len(placing.differences), conflicts),
        conflicts=conflicts,
        changed=tuple(placing.differences),
        copies=tuple(dict.fromkeys([*copies, *placing.copies])),
    )


def _tell(number: int, conflicts: tuple[Conflict, ...]) -> str:
    files = "1 file has" if number == 1 else f"{number} files have"
    both = [conflict for conflict in conflicts if conflict.how == BOTH_KEPT]
    said = [f"{conflict.path}: {conflict.note}" for conflict in both[:_NAMED]]
    more = [f"{len(both) - _NAMED} more files hold both versions of something."] if len(both) > _NAMED else []
    return " ".join([f"{files} changed with the remote's commits.", *said, *more])


def _tell_unrelated(place: MergePlace, theirs: str) -> str:
    if place.repository.is_shallow:
        return (
            "This clone does not reach back to where the two sides parted; nothing was merged. "
            "Run `git fetch --unshallow` in the brain."
        )
    return (
        "The branch and its remote side have no commit in common, so nothing was merged: they may be two different brains. "
        f"If they belong together, run `git merge --allow-unrelated-histories {theirs[:12]}` in the brain."
    )


def _stand(
    outcome: MergeOutcome,
    head: str,
    message: str,
    conflicts: tuple[Conflict, ...] = (),
    *,
    copies: tuple[str, ...] = (),
) -> MergeResult:
    return MergeResult(outcome=outcome, head=head, message=message, conflicts=conflicts, copies=copies)
