"""Brain-sync: commit what changed, say who changed it, and bring the branch and its remote side together.

Never does it delete a file that is not committed or not tracked, push by force, leave a merge open or wait for input.
One sync of a brain runs at a time on a machine; what comes while it runs waits for the next one.

Rules: CURATE-05, MIGRATE-05, SECRET-O3, SCOPE-04, PERIOD-11; failure cases O-50 to O-54.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from omnislash.errors import GitTroubleError, OmnislashError, StorageError
from omnislash.runtime.syncing import authors, merging
from omnislash.runtime.syncing.changes import Changes, find_changes, show_path
from omnislash.runtime.syncing.committing import (
    CommitRefusedError,
    VanishedError,
    commit_changes,
    find_refused,
    forget,
)
from omnislash.runtime.syncing.merge_values import MergePlace
from omnislash.runtime.syncing.merging_trees import STOPPED
from omnislash.runtime.syncing.obstacles import clear_locks, find_obstacle
from omnislash.runtime.syncing.remotes import Exchange, Exchanged, Upstream, find_upstream
from omnislash.runtime.syncing.values import Commit, SyncAnswer, SyncOutcome
from omnislash.store.git import Repository, read_version
from omnislash.store.locks import Owner, WriterLock, is_locked, read_owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from omnislash.runtime.turns import Ports

#: The lock of a brain's sync, below the brain.
LOCK_FILE: Final = ".omnislash/sync.lock"
#: How often the lock is tried, and how long is waited between, in seconds: a commit takes moments, a push is not waited for.
_ATTEMPTS, _PAUSE_S = 50, 0.1
#: How often is looked again when files come and go while they are committed.
_LOOKS: Final = 3
_NAMED: Final = 5
NO_REPOSITORY: Final = "There is no git repository here, so nothing is committed. Make one with: git init"
NO_GIT: Final = "There is no git on this machine, so nothing is committed. Install it, then run: omnislash sync run"
NESTED: Final = (
    "The brain is a part of a larger git repository, so nothing was committed. To have the brain's own files committed "
    "there, set sync.nested to true in constitution/MANIFEST.yaml; nothing is ever pushed there."
)
_ALL_DONE: Final = "There was nothing to commit, to pull or to push."
_NOT_ASKED: Final = "There was nothing to commit; the remote was not asked."
#: The message of a sync that did nothing because another one was running.
BUSY: Final = "Another sync of this brain is running; nothing was done. Try again when it is over."


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How a sync is done."""

    #: Whether the remote is talked to; None = as `sync.push` says.
    push: bool | None = None
    #: True pushes commits that add what looks like a credential (SECRET-O3).
    allow_secrets: bool = False
    #: True changes nothing and says what would be committed.
    is_dry_run: bool = False
    #: Paths in the brain that are committed, and nothing else; None = everything.
    paths: tuple[str, ...] | None = None
    #: The subject of the commit, for the run of a curator (CURATE-05).
    mark: str | None = None


def sync(ports: Ports, options: SyncOptions | None = None) -> SyncAnswer:
    """Commit, pull and push, and note what came of it.

    Args:
        ports: The brain.
        options: How; by default as the configuration says.

    Returns:
        What was done, what is left and why; whatever git, the disk or the remote refuse is in the answer.

    Rules: CURATE-05, SECRET-O3.
    """
    options = options or SyncOptions()
    try:
        repository = Repository.open(ports.root)
        if repository is None:
            return SyncAnswer(outcome=SyncOutcome.STOPPED, message=explain_absence())
        if options.is_dry_run:
            return _Sync(ports, repository, options).plan()
        with _hold_lock(ports) as lock:
            if not lock.is_held:
                return SyncAnswer(outcome=SyncOutcome.STOPPED, message=BUSY)
            return _run(ports, repository, options, lock)
    except OmnislashError as error:
        return SyncAnswer(outcome=SyncOutcome.FAILED, message=_say(error))


def explain_absence() -> str:
    """Return why there is no repository to work with, and what to do about it."""
    return NO_REPOSITORY if read_version() else NO_GIT


def _run(ports: Ports, repository: Repository, options: SyncOptions, lock: _Lock) -> SyncAnswer:
    run = _Sync(ports, repository, options, lock.cut_off_since)
    try:
        answer = run.run()
    except OmnislashError as error:
        lock.is_at_end = False
        answer = run.fail(_say(error))
    return run.note(answer)


def _say(error: OmnislashError) -> str:
    return f"{error.message} {error.hint}" if error.hint else error.message


@dataclass(slots=True)
class _Lock:
    """The lock of the sync, as a sync of this process finds and leaves it."""

    is_held: bool
    #: When a sync began that did not come to its end, so that locks of git may be ours.
    cut_off_since: datetime | None = None
    #: False leaves the label for the next sync.
    is_at_end: bool = True


@contextlib.contextmanager
def _hold_lock(ports: Ports) -> Iterator[_Lock]:
    """Hold the lock of the sync, for a moment longer when somebody else holds it."""
    ports.state()  # makes `.omnislash/`
    path = ports.root / LOCK_FILE
    lock = WriterLock(path)
    owner = Owner(pid=os.getpid(), role="sync", since=ports.clock.now().astimezone(UTC).isoformat())
    left = _read_left(path)
    if not _acquire(lock, owner):
        yield _Lock(is_held=False)
        return
    held = _Lock(is_held=True, cut_off_since=left)
    try:
        yield held
    except BaseException:
        lock.abandon()
        raise
    if held.is_at_end:
        lock.release()
    else:
        lock.abandon()


def _read_left(path: Path) -> datetime | None:
    owner = None if is_locked(path) else read_owner(path)
    try:
        return datetime.fromisoformat(owner.since) if owner else None
    except ValueError:
        return None


def _acquire(lock: WriterLock, owner: Owner) -> bool:
    for _ in range(_ATTEMPTS):
        try:
            if lock.acquire(owner):
                return True
        except OSError as error:
            message = (
                f"{LOCK_FILE} can't be used: {error.strerror}. Give this user write access to the brain's directory."
            )
            raise StorageError(message, path=LOCK_FILE) from error
        threading.Event().wait(_PAUSE_S)
    return False


@dataclass(slots=True)
class _Sync:
    """One sync, its lock being held."""

    ports: Ports
    repository: Repository
    options: SyncOptions
    cut_off_since: datetime | None = None
    _commits: list[Commit] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _changes: Changes = field(default_factory=Changes)
    #: The newest row of the action log when was looked for changes.
    _audit: int = 0

    # -- the whole ---------------------------------------------------------------------------------------------------

    def plan(self) -> SyncAnswer:
        """Return what would be committed."""
        if stopped := self._find_obstacle():
            return self._answer(SyncOutcome.STOPPED, stopped)
        self._look()
        if self._changes.unmerged:
            return self._answer(SyncOutcome.STOPPED, self._say_unmerged())
        if self._changes.wanted:
            self._commits.append(Commit(None, self._write_message(self._tell()).partition("\n")[0]))
        return self._finish(Exchanged())

    def run(self) -> SyncAnswer:
        """Do it and return what came of it."""
        if stopped := self._find_obstacle():
            return self._answer(SyncOutcome.STOPPED, stopped)
        now = self.ports.clock.now()
        stopped, removed = clear_locks(self.repository, now, cut_off_since=self.cut_off_since)
        self._notes += removed
        if stopped:
            self._look()
            return self._answer(SyncOutcome.STOPPED, stopped)
        merging.resume(self._place, now=now)
        try:
            self._commit()
        except CommitRefusedError as error:
            return self._answer(SyncOutcome.STOPPED, _say(error))
        if self._changes.unmerged:
            return self._answer(SyncOutcome.STOPPED, self._say_unmerged())
        return self._finish(self._exchange())

    def fail(self, message: str) -> SyncAnswer:
        """Return what was done until something failed."""
        return self._answer(SyncOutcome.FAILED, message)

    def _find_obstacle(self) -> str | None:
        if self.repository.is_nested and not self.ports.config().manifest.sync.nested:
            return NESTED
        return find_obstacle(self.repository)

    @property
    def _place(self) -> MergePlace:
        return MergePlace(self.repository, self.ports.files, self.ports.state())

    # -- committing --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        prefix = self.repository.prefix
        only = None if self.options.paths is None else [prefix + path for path in self.options.paths]
        newest = self.ports.state().row("newest_audit")  # before the look: what is written meanwhile is still to tell
        self._audit = newest["id"] if newest else 0
        self._changes = find_changes(self.repository, self.ports.config().sources, only=only)

    def _commit(self) -> None:
        """Commit what is pending; what can't be committed stays in `_changes`."""
        refused: dict[str, str] = {}
        for _ in range(_LOOKS):
            self._look()
            self._changes.block(refused)
            if self._changes.unmerged:
                return
            forget(self.repository, self._changes.forgotten)
            if not self._changes.wanted:
                return
            try:
                self._commit_wanted()
            except VanishedError:
                continue
            except CommitRefusedError:
                raise
            except GitTroubleError:
                found = find_refused(self.repository, self._changes.wanted)
                if not found:
                    raise
                refused |= found
            else:
                return

    def _commit_wanted(self) -> None:
        story = self._tell()
        commit = commit_changes(self.repository, self._changes.wanted, self._write_message(story))
        self._note_kept()
        if commit:
            self._commits.append(commit)
        if commit and story.told:
            self._note_told(story)
        self._changes.wanted.clear()

    def _note_told(self, story: authors.Story) -> None:
        """Note of each file how much of the action log its commit has told of."""
        state, memory = self.ports.state(), f"{self.repository.prefix}memory/"
        with state.transaction():
            for path in story.told:
                state.run("set_told", path=path.removeprefix(memory), audit=story.newest)

    def _note_kept(self) -> None:
        self._notes += [
            f"What was staged of {show_path(change.path)} is kept: git cat-file blob {change.staged[:12]}"
            for change in self._changes.wanted
            if change.staged
        ]

    def _tell(self) -> authors.Story:
        return authors.tell_story(self._changes.wanted, self.ports.state(), prefix=self.repository.prefix)

    def _write_message(self, story: authors.Story) -> str:
        return authors.write_message(story, prefix=self.repository.prefix, mark=self.options.mark)

    # -- the remote --------------------------------------------------------------------------------------------------

    @property
    def _asks_remote(self) -> bool:
        """Whether the remote is talked to, where there is one."""
        wants = self.options.push if self.options.push is not None else self.ports.config().manifest.sync.push
        return wants and not self.repository.is_nested and not self.options.is_dry_run

    @property
    def _passes_by_remote(self) -> bool:
        """Whether there is a remote that is not talked to."""
        return not self._asks_remote and bool(self.repository.ask("remote").out)

    def _exchange(self) -> Exchanged:
        if not self._asks_remote:
            return Exchanged()
        try:
            upstream = find_upstream(self.repository)
        except GitTroubleError as error:
            return Exchanged(outcome=SyncOutcome.FAILED, message=error.message)
        if not isinstance(upstream, Upstream):
            outcome = SyncOutcome.NOTHING if upstream is None else SyncOutcome.STOPPED
            return Exchanged(outcome=outcome, message=upstream or "")
        exchange = Exchange(
            self._place,
            upstream,
            self.ports.clock.now,
            self._commit,
            allow_secrets=self.options.allow_secrets,
        )
        return exchange.run()

    # -- the answer --------------------------------------------------------------------------------------------------

    def _say_unmerged(self) -> str:
        names = _list(map(show_path, self._changes.unmerged))
        return (
            f"Left in conflict by a merge: {names}; nothing was committed. Settle them with `git add` and `git commit`."
        )

    def _finish(self, exchanged: Exchanged) -> SyncAnswer:
        blocked = self._changes.blocked
        outcome = exchanged.outcome
        if outcome.is_well and blocked:
            outcome = SyncOutcome.STOPPED
        if outcome is SyncOutcome.NOTHING and self._commits:
            outcome = SyncOutcome.DONE
        answer = self._answer(outcome, "")
        filled = replace(
            answer,
            pulled=exchanged.pulled,
            pushed=exchanged.pushed,
            held=exchanged.held,
            conflicts=exchanged.conflicts,
            notes=answer.notes + exchanged.notes,
        )
        message = _summarise(filled, exchanged.message, is_plan=self.options.is_dry_run)
        return replace(filled, message=message or (_NOT_ASKED if self._passes_by_remote else _ALL_DONE))

    def _answer(self, outcome: SyncOutcome, message: str) -> SyncAnswer:
        return SyncAnswer(
            outcome=outcome,
            message=message,
            commits=tuple(self._commits),
            pending=self._changes.pending,
            blocked=tuple(self._changes.blocked),
            left_alone=tuple(self._changes.left_alone),
            notes=tuple(self._notes),
        )

    def note(self, answer: SyncAnswer) -> SyncAnswer:
        """Note what came of it in the state database, for the status; return the answer."""
        state = self.ports.state()
        last = state.row("last_sync")
        told = last["audit"] if last else 0
        is_told = self.options.paths is None and not answer.pending
        if is_told and answer.outcome is SyncOutcome.NOTHING and last and last["outcome"] == answer.outcome:
            return answer  # a quiet tick is not worth a row
        if last and not SyncOutcome(last["outcome"]).is_well and self._is_partial:
            return answer  # what went wrong before was not tried again, so it stays what is said
        told = max(told, self._audit) if is_told else told
        with state.transaction():
            state.run(
                "insert_sync",
                at=self.ports.clock.now().astimezone(UTC).isoformat(),
                outcome=answer.outcome,
                message=answer.message,
                head=self.repository.head(),
                audit=told,
            )
            state.run("drop_told", audit=told)
            state.run("prune_syncs")
        return answer

    @property
    def _is_partial(self) -> bool:
        """Whether this sync leaves out some files, or the remote although the configuration wants it."""
        return self.options.paths is not None or (self.options.push is False and self._passes_by_remote)


def _list(names: Iterable[str]) -> str:
    each = list(names)
    more = f" and {len(each) - _NAMED} more" if len(each) > _NAMED else ""
    return ", ".join(each[:_NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _summarise(answer: SyncAnswer, said: str, *, is_plan: bool) -> str:
    """Return what happened as sentences, what was done first and what waits last; '' when nothing did."""
    done = []
    if answer.commits:
        verb = "Would commit" if is_plan else "Committed"
        done.append(f"{verb}: {'; '.join(commit.subject for commit in answer.commits)}.")
    if answer.pulled or answer.pushed:
        ways = [f"{_count(answer.pulled, 'commit')} pulled"] if answer.pulled else []
        ways += [f"{_count(answer.pushed, 'commit')} pushed"] if answer.pushed else []
        done.append(f"{', '.join(ways)}.")
    joined = [show_path(each.path) for each in answer.conflicts if each.how != STOPPED]
    if joined:
        done.append(f"Both sides had changed {_list(joined)}.")
    in_the_way = [show_path(each.path) for each in answer.conflicts if each.how == STOPPED]
    if in_the_way:
        done.append(f"In the way: {_list(in_the_way)}.")
    if said:
        done.append(said)
    if answer.blocked:
        done += [f"Not committed: {show_path(each.path)}. {each.reason}" for each in answer.blocked[:_NAMED]]
        done += [f"And {len(answer.blocked) - _NAMED} more." for _ in [0] if len(answer.blocked) > _NAMED]
    return " ".join(done)
