"""What two histories come to as one, worked out among git's objects: no file on disk is touched here.

Outside of `memory/` the result is git's own, and any conflict there stops the whole merge.
Below `memory/` nothing is left to git: each file that both sides changed is joined by its entries, so that what git
would merge by lines, or call a conflict, comes to the same.

Rules: failure case O-51.
Source: git-merge-tree(1), "OUTPUT".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from omnislash.core.joining import Joined, join_entries
from omnislash.core.joining_sequences import CannotJoinError
from omnislash.core.lines import FileKind, ManagedPath, kind_of
from omnislash.errors import GitTroubleError
from omnislash.runtime.syncing.changes import is_state
from omnislash.runtime.syncing.merging_objects import (
    DURABLE,
    TREE,
    Difference,
    TreeEntry,
    diff_trees,
    edit_tree,
    find_entry,
    find_moves,
    make_commit,
    make_empty_tree,
    read_blobs,
    split_conflicts,
    write_blob,
)
from omnislash.runtime.syncing.values import Conflict

if TYPE_CHECKING:
    from datetime import datetime

    from omnislash.store.git import Repository

JOINED, BOTH_KEPT, STOPPED = "joined", "both kept", "stopped"
#: Git's own settings for the merge, whatever the user's are: a new file stays where its writer put it.
_SETTINGS: Final = ("-c", "merge.directoryRenames=false", "-c", "merge.renames=true")
_NEEDS: Final = "2.38"
_SUMMARIES: Final = frozenset({FileKind.WEEK, FileKind.MONTH, FileKind.QUARTER, FileKind.YEAR})
#: How many merges of merge bases are made for one base; a history that needs more gets the last one as it is.
_DEEPEST: Final = 16


class MergeStoppedError(Exception):
    """The two histories can't be joined without a person; nothing has changed."""

    def __init__(self, message: str, conflicts: tuple[Conflict, ...] = ()) -> None:
        """Keep the sentence and the files."""
        super().__init__(message)
        self.message = message
        self.conflicts = conflicts


@dataclass(slots=True)
class _Joining:
    """A merge of two commits that is being worked out."""

    repository: Repository
    base: str
    ours: str
    theirs: str
    #: The directory of the managed files, from the top of the repository.
    memory: str
    conflicts: list[Conflict] = field(default_factory=list)
    #: Bytes of the files that both sides changed, by the ids of their objects.
    blobs: dict[str, bytes] = field(default_factory=dict)
    #: What shall stand below the directory, where that is not what our side has.
    edits: dict[str, TreeEntry | None] = field(default_factory=dict)


def find_bases(repository: Repository, ours: str, theirs: str) -> list[str]:
    """Return the ids of the best common ancestors of two commits; none for histories that have nothing in common."""
    answer = repository.ask("merge-base", "--all", ours, theirs)
    if answer.status > 1 or answer.status < 0:
        raise GitTroubleError(f"git merge-base failed: {answer.reason}")
    return answer.out.decode().split()


def join_histories(
    repository: Repository, ours: str, theirs: str, *, bases: list[str], now: datetime
) -> tuple[str, tuple[Conflict, ...]]:
    """Return the id of a commit that has both as its parents, and the files that both sides had changed.

    Args:
        repository: Where they are.
        ours: Id of the commit that the branch stands on.
        theirs: Id of the other side's.
        bases: Their common ancestors, at least one.
        now: The instant of the commit.

    Raises:
        MergeStoppedError: Only a person can join them.
        GitTroubleError: Git failed.
    """
    tree, conflicts = _join_trees(repository, ours, theirs, bases=bases, now=now, depth=0)
    stopped = tuple(conflict for conflict in conflicts if conflict.how == STOPPED)
    if stopped:
        names = ", ".join(conflict.path for conflict in stopped[:3]) + (" and others" if len(stopped) > 3 else "")  # noqa: PLR2004 - as many as a sentence holds
        message = (
            f"Both sides changed {names} in a way that only a person can bring together; nothing was merged. "
            f"Run `git merge {theirs[:12]}` in the brain, settle it and commit; the next sync goes on from there."
        )
        raise MergeStoppedError(message, stopped)
    number = repository.run("rev-list", "--count", f"{ours}..{theirs}").decode().strip()
    message = _describe(int(number), conflicts)
    return make_commit(repository, tree, (ours, theirs), message=message, at=now.isoformat()), tuple(conflicts)


def _describe(number: int, conflicts: list[Conflict]) -> str:
    commits = "1 commit" if number == 1 else f"{number} commits"
    lines = [f"{conflict.path}: {conflict.note}" for conflict in conflicts]
    return "\n".join([f"Merge {commits} from the remote", *([""] if lines else []), *lines, ""])


def _join_trees(
    repository: Repository, ours: str, theirs: str, *, bases: list[str], now: datetime, depth: int
) -> tuple[str, list[Conflict]]:
    """Return the tree of the result and what became of the files that both sides had changed."""
    memory = f"{repository.prefix}memory"
    base = _find_base(repository, bases, now=now, depth=depth)
    tree, conflicts = _merge_by_git(repository, ours, theirs, memory=memory)
    joining = _Joining(repository, base, ours, theirs, memory, conflicts)
    _join_memory(joining)
    there = find_entry(repository, ours, memory)
    made = edit_tree(repository, there.id if there and there.mode == TREE else None, joining.edits)
    grafted = edit_tree(repository, tree, {memory: TreeEntry(TREE, made) if made else None})
    return _settle_state(joining, grafted) or make_empty_tree(repository), joining.conflicts


def _settle_state(joining: _Joining, tree: str | None) -> str | None:
    """Return the tree with one side's version of what a machine keeps for itself, where both sides had committed it.

    Such a file is put on no disk, so any of them will do: none where one side took it out, else ours.
    """
    repository = joining.repository
    state = [each.path for each in joining.conflicts if is_state(each.path, repository.prefix)]
    joining.conflicts = [each for each in joining.conflicts if each.path not in state]
    edits: dict[str, TreeEntry | None] = {}
    for path in state:
        mine, other = (find_entry(repository, commit, path) for commit in (joining.ours, joining.theirs))
        edits[path] = mine if other is not None else None
    return edit_tree(repository, tree, edits) if edits else tree


def _find_base(repository: Repository, bases: list[str], *, now: datetime, depth: int) -> str:
    """Return one base: several are joined as the two sides had joined them."""
    base = bases[0]
    for other in bases[1:] if depth < _DEEPEST else ():
        older = find_bases(repository, base, other)
        if older:
            tree, _ = _join_trees(repository, base, other, bases=older, now=now, depth=depth + 1)
            base = make_commit(repository, tree, (base, other), message="base\n", at=now.isoformat())
    return base


def _merge_by_git(repository: Repository, ours: str, theirs: str, *, memory: str) -> tuple[str, list[Conflict]]:
    """Return git's own tree, and what it can't merge outside of memory."""
    answer = repository.ask(*_SETTINGS, *DURABLE, "merge-tree", "--write-tree", "-z", ours, theirs)
    if answer.status == 0:
        return answer.out.partition(b"\0")[0].decode().strip(), []
    if answer.status != 1 or b"\0" not in answer.out:
        if b"usage:" in answer.err:
            message = (
                f"This git is older than {_NEEDS}, which bringing two sides together needs; nothing was merged. "
                f"Update git, or run `git merge {theirs[:12]}` in the brain."
            )
            raise MergeStoppedError(message)
        raise GitTroubleError(f"git merge-tree failed: {answer.reason}")
    tree, paths, messages = split_conflicts(answer.out)
    reasons: dict[str, str] = dict.fromkeys(paths, "both sides changed it.")
    for named, kind, text in messages:
        if kind.startswith("CONFLICT"):
            reasons |= dict.fromkeys(named, text.partition("\n")[0])
    outside = {path: text for path, text in reasons.items() if not path.startswith(f"{memory}/")}
    return tree, [Conflict(path, STOPPED, text) for path, text in sorted(outside.items())]


# -- below memory/ ---------------------------------------------------------------------------------------------------


def _join_memory(joining: _Joining) -> None:
    """Work out what shall stand below the directory of the managed files."""
    repository, under = joining.repository, joining.memory
    ours = diff_trees(repository, joining.base, joining.ours, under=under)
    theirs = diff_trees(repository, joining.base, joining.theirs, under=under)
    if under in {*ours, *theirs}:
        _stop(joining, under, "it is a directory on one side only.")
        return
    joining.blobs = _read_changed(joining, ours, theirs)
    moved = _follow_moves(joining, ours, theirs)
    for path in sorted(theirs.keys() - moved):
        other = theirs[path]
        mine = ours.get(path)
        if mine is None:
            _put(joining, path, other.after)
        elif mine.after != other.after:
            _settle(joining, path, mine, other)
    _check_shapes(joining, ours)


def _read_changed(joining: _Joining, ours: dict[str, Difference], theirs: dict[str, Difference]) -> dict[str, bytes]:
    """Return the bytes of all texts that both sides changed, read at once."""
    both = [each for path in ours.keys() & theirs.keys() if path.endswith(".md") for each in (ours[path], theirs[path])]
    entries = [entry for each in both for entry in (each.before, each.after) if entry is not None and entry.is_file]
    return read_blobs(joining.repository, [entry.id for entry in entries])


def _put(joining: _Joining, path: str, entry: TreeEntry | None) -> None:
    joining.edits[path.removeprefix(f"{joining.memory}/")] = entry


def _follow_moves(joining: _Joining, ours: dict[str, Difference], theirs: dict[str, Difference]) -> set[str]:
    """Join what one side moved and the other changed, at its new place; return the paths that are done."""
    done: set[str] = set()
    for moving, changing, commit in ((ours, theirs, joining.ours), (theirs, ours, joining.theirs)):
        gone = {path for path, each in moving.items() if each.after is None}
        if not any(path in changing and changing[path].after for path in gone):
            continue
        moves = find_moves(joining.repository, joining.base, commit, under=joining.memory)
        for source, target in moves.items():
            change = changing.get(source)
            if change is None or change.after is None or target in changing:
                continue
            at_target = Difference(change.before, moving[target].after)
            pair = (at_target, change) if moving is ours else (change, at_target)
            _put(joining, source, None)
            _settle(joining, target, *pair)
            done |= {source, target}
    return done


def _settle(joining: _Joining, path: str, mine: Difference, other: Difference) -> None:
    """Say what stands at a path that both sides changed differently."""
    if mine.after is None or other.after is None:
        _put(joining, path, mine.after or other.after)
        note = "changed on one side and removed on the other: the changed version stays."
        joining.conflicts.append(Conflict(path, BOTH_KEPT, note))
        return
    entries = [entry for entry in (mine.before, mine.after, other.after) if entry is not None]
    if not all(entry.is_file for entry in entries):
        _stop(joining, path, "both sides changed it, and it is no file that can be joined.")
        return
    mode = other.after.mode if mine.before and mine.after.mode == mine.before.mode else mine.after.mode
    if mine.after.id == other.after.id or (mine.before and mine.before.id in {mine.after.id, other.after.id}):
        changed = other.after if mine.before and mine.after.id == mine.before.id else mine.after
        _put(joining, path, TreeEntry(mode, changed.id))
        return
    if not path.endswith(".md"):
        _stop(joining, path, "both sides changed it, and it is no text that can be joined.")
        return
    kind = _kind_of(path.removeprefix(f"{joining.memory}/"))
    if kind in _SUMMARIES:
        _keep_summary(joining, path, other.after)
        return
    _join(joining, path, [mine.before, mine.after, other.after], kind=kind, mode=mode)


def _join(joining: _Joining, path: str, versions: list[TreeEntry | None], *, kind: FileKind, mode: str) -> None:
    missing = [entry.id for entry in versions if entry and entry.id not in joining.blobs]
    blobs = joining.blobs | read_blobs(joining.repository, missing) if missing else joining.blobs
    base, ours, theirs = (blobs[entry.id] if entry else None for entry in versions)
    try:
        joined = join_entries(
            base, ours or b"", theirs or b"", timed=kind is FileKind.DAILY, by_lines=kind is FileKind.DOCUMENT
        )
    except CannotJoinError as error:
        _stop(joining, path, f"both sides changed it, and {error}.")
        return
    _put(joining, path, TreeEntry(mode, write_blob(joining.repository, joined.data)))
    joining.conflicts.append(_tell(path, joined))


def _tell(path: str, joined: Joined) -> Conflict:
    if not joined.kept_both:
        return Conflict(path, JOINED, "what both sides wrote is there, each entry once.")
    lines = ", ".join(map(str, joined.kept_both[:6])) + (" and others" if len(joined.kept_both) > 6 else "")  # noqa: PLR2004 - as many as a sentence holds
    return Conflict(path, BOTH_KEPT, f"both sides changed the same text: both versions stand there, at lines {lines}.")


def _keep_summary(joining: _Joining, path: str, theirs: TreeEntry) -> None:
    """Take the remote's summary and name the commit that holds ours: a summary is made again from what it sums up."""
    _put(joining, path, theirs)
    found = joining.repository.text("rev-list", "-1", joining.ours, f"^{joining.base}", "--", path)
    note = f"both sides made this summary: the remote's stays, yours is in commit {(found or joining.ours)[:12]}."
    joining.conflicts.append(Conflict(path, JOINED, note))


def _stop(joining: _Joining, path: str, why: str) -> None:
    joining.conflicts.append(Conflict(path, STOPPED, why))


def _kind_of(relative: str) -> FileKind:
    """Return what kind of managed file stands at a path below `memory/`."""
    return kind_of(ManagedPath(relative)) if "/" in relative else FileKind.DOCUMENT


def _check_shapes(joining: _Joining, ours: dict[str, Difference]) -> None:
    """Stop where one side has a file and the other a directory of the same name."""
    prefix = f"{joining.memory}/"
    kept = {path.removeprefix(prefix) for path, each in ours.items() if each.after}
    there = {path for path, entry in joining.edits.items() if entry} | (kept - joining.edits.keys())
    for path in sorted(there):
        parts = path.split("/")
        above = next((up for end in range(1, len(parts)) if (up := "/".join(parts[:end])) in there), None)
        if above is not None:
            _stop(joining, f"{prefix}{above}", "it is a file on one side and a directory on the other.")
