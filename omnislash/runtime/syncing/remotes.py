"""Fetch, merge, push: bringing the branch and its remote side together, and never by force.

Commits that add a credential stay here until a person says otherwise, with all that builds on them (SECRET-O3).

Rules: SECRET-O3; failure cases O-51, O-53.
Source: git-push(1), "--porcelain"; git-ls-remote(1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from omnislash.core.credentials import mask_secrets
from omnislash.errors import GitTroubleError
from omnislash.runtime.syncing import merging
from omnislash.runtime.syncing.leaks import find_held
from omnislash.runtime.syncing.merge_values import MergeOutcome
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.store.git import REMOTE_LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.runtime.syncing.merge_values import MergePlace
    from omnislash.runtime.syncing.values import Conflict, Held
    from omnislash.store.git import GitAnswer, Repository

#: How often fetch, merge and push are tried when the remote moves meanwhile.
_ATTEMPTS: Final = 3
#: Exit code of `git ls-remote --exit-code` when the remote has no such branch.
_NO_BRANCH: Final = 2
_MOVED: Final = (b"[rejected]", b"(fetch first)", b"(non-fast-forward)", b"cannot lock ref", b"incorrect old value")
_NAMED: Final = 10
_SHORT: Final = 12


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a branch is pushed to."""

    remote: str
    #: Full name of the branch there.
    branch: str
    #: Where its last known commit is kept here.
    tracking: str
    #: True when the branch has none yet, and this is the only remote.
    is_new: bool = False

    @property
    def name(self) -> str:
        """`origin/main`."""
        return f"{self.remote}/{self.branch.removeprefix('refs/heads/')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """What came of talking to the remote."""

    outcome: SyncOutcome = SyncOutcome.NOTHING
    message: str = ""
    pulled: int = 0
    pushed: int = 0
    held: tuple[Held, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()


def find_upstream(repository: Repository) -> Upstream | str | None:
    """Return where the branch is pushed to, a sentence when that can't be told, or None without a remote.

    Raises:
        GitTroubleError: Git could not say.
    """
    branch = repository.branch()
    remotes = repository.run("remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
    if branch is None or not remotes:
        return None
    short = branch.removeprefix("refs/heads/")
    remote, merged = (repository.config(f"branch.{short}.{key}") for key in ("remote", "merge"))
    if remote == ".":
        return None
    if remote and merged and remote in remotes:
        tracking = repository.text("for-each-ref", "--format=%(upstream)", branch)
        return Upstream(remote, merged, tracking or _track(remote, merged))
    if len(remotes) > 1:
        names = ", ".join(sorted(remotes))
        return (
            f"The branch {short} has no upstream and there are several remotes ({names}), so nothing was pushed. "
            f"Choose one: git push --set-upstream REMOTE {short}"
        )
    return Upstream(remotes[0], branch, _track(remotes[0], branch), is_new=True)


def _track(remote: str, branch: str) -> str:
    return f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"


@dataclass(slots=True)
class Exchange:
    """One talk with the remote."""

    place: MergePlace
    upstream: Upstream
    now: Callable[[], datetime]
    #: Commits what is pending, right before a merge.
    commit: Callable[[], None]
    allow_secrets: bool = False
    _pulled: int = field(default=0, init=False)
    _conflicts: tuple[Conflict, ...] = field(default=(), init=False)
    _notes: tuple[str, ...] = field(default=(), init=False)

    @property
    def _repository(self) -> Repository:
        return self.place.repository

    def run(self) -> Exchanged:
        """Pull, merge and push, again when the remote or the files move meanwhile; failures are in the answer."""
        try:
            done = self._try_often()
        except GitTroubleError as error:
            return self._with_gains(Exchanged(outcome=SyncOutcome.FAILED, message=self._explain(error)))
        return self._with_gains(done)

    def _with_gains(self, done: Exchanged) -> Exchanged:
        conflicts = tuple(dict.fromkeys([*self._conflicts, *done.conflicts]))
        outcome = done.outcome
        if outcome is SyncOutcome.NOTHING and self._pulled:
            outcome = SyncOutcome.DONE
        return replace(done, outcome=outcome, pulled=self._pulled, conflicts=conflicts, notes=self._notes + done.notes)

    def _explain(self, error: GitTroubleError) -> str:
        ahead = self._list_ahead(self._repository.resolve(self.upstream.tracking))
        waiting = f" Commits that wait here: {self._name(ahead)}." if ahead else ""
        return f"{self.upstream.remote}: {error.message}{waiting}"

    def _list_ahead(self, theirs: str | None) -> list[str]:
        revisions = self._range(theirs)
        answer = self._repository.ask("rev-list", *revisions)
        return answer.out.decode().split() if not answer.status else []

    def _range(self, theirs: str | None) -> tuple[str, ...]:
        return ("HEAD", "--not", theirs) if theirs else ("HEAD", "--not", f"--remotes={self.upstream.remote}")

    @staticmethod
    def _name(commits: list[str]) -> str:
        named = ", ".join(commit[:_SHORT] for commit in commits[:_NAMED])
        return named + (f" and {len(commits) - _NAMED} more" if len(commits) > _NAMED else "")

    # -- the rounds --------------------------------------------------------------------------------------------------

    def _try_often(self) -> Exchanged:
        done = Exchanged()
        for _ in range(_ATTEMPTS):
            theirs = self._fetch()
            stopped = self._merge(theirs) if theirs else None
            if stopped is _AGAIN:
                done = Exchanged(outcome=SyncOutcome.STOPPED, message=_STILL_MOVING)
                continue
            if stopped is not None:
                return stopped
            pushed = self._push(theirs)
            if pushed is not None:
                return pushed
            done = Exchanged(outcome=SyncOutcome.FAILED, message=f"{self.upstream.name} moved at every try to push.")
        return done

    def _fetch(self) -> str | None:
        """Return the commit on which the remote's branch stands, with its objects here; None when there is none."""
        remote, branch = self.upstream.remote, self.upstream.branch
        seen = self._repository.ask("ls-remote", "--exit-code", remote, branch, limit_s=REMOTE_LIMIT_S)
        if seen.status == _NO_BRANCH:
            return None
        if seen.status:
            raise GitTroubleError(f"the remote can't be reached: {seen.reason}")
        theirs = next((row.split(b"\t")[0] for row in seen.out.splitlines() if row.endswith(branch.encode())), b"")
        if self._repository.resolve(self.upstream.tracking) != theirs.decode():
            spec = f"+{branch}:{self.upstream.tracking}"
            self._repository.run(
                "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, spec, limit_s=REMOTE_LIMIT_S
            )
        return self._repository.resolve(self.upstream.tracking)

    def _merge(self, theirs: str) -> Exchanged | None:
        ours = self._repository.head()
        behind = self._count(theirs, "--not", ours) if ours else 1
        if not behind:
            return None
        if ours is None:
            return Exchanged(outcome=SyncOutcome.STOPPED, message=_UNBORN.format(name=self.upstream.name))
        self.commit()
        ours = self._repository.head() or ours
        result = merging.merge(self.place, ours, theirs, now=self.now())
        self._conflicts += result.conflicts
        self._notes += tuple(f"Somebody saved meanwhile: {copy} keeps that version." for copy in result.copies)
        if result.outcome is MergeOutcome.MOVED_ON:
            return _AGAIN
        if result.outcome is MergeOutcome.STOPPED:
            return Exchanged(outcome=SyncOutcome.STOPPED, message=result.message)
        self._pulled += behind
        return None

    def _count(self, *revisions: str) -> int:
        return int(self._repository.run("rev-list", "--count", *revisions))

    # -- pushing -----------------------------------------------------------------------------------------------------

    def _push(self, theirs: str | None) -> Exchanged | None:
        """Push what may be pushed; None when the remote moved, so that all begins again."""
        head = self._repository.head()
        if head is None or head == theirs:
            return Exchanged()
        held = () if self.allow_secrets else find_held(self._repository, *self._range(theirs))
        target = self._choose(head, theirs, held)
        pushed = 0
        if target is not None and target != theirs:
            pushed = self._count(target, *self._range(theirs)[1:])
            answer = self._send(target)
            if answer.status and any(sign in answer.out + answer.err for sign in _MOVED):
                return None
            if answer.status:
                raise GitTroubleError(f"the push failed: {_read_refusal(answer)}")
            self._follow()
        if held:
            return Exchanged(outcome=SyncOutcome.STOPPED, message=_say_held(held), pushed=pushed, held=held)
        return Exchanged(outcome=SyncOutcome.DONE, pushed=pushed)

    def _choose(self, head: str, theirs: str | None, held: tuple[Held, ...]) -> str | None:
        """Return the newest commit of the branch that may be pushed; None when none may."""
        if not held:
            return head
        listed = self._repository.run("rev-list", "--parents", "--topo-order", "--reverse", *self._range(theirs))
        tainted = {each.commit for each in held}
        best = None
        for row in listed.decode().splitlines():
            commit, *parents = row.split()
            if commit in tainted or tainted & set(parents):
                tainted.add(commit)
            elif self._is_on_branch(commit, head, theirs):
                best = commit
        return best

    def _is_on_branch(self, commit: str, head: str, theirs: str | None) -> bool:
        chain = self._repository.run("rev-list", "--first-parent", head, *self._range(theirs)[1:]).decode().split()
        if commit not in chain:
            return False
        return theirs is None or not self._repository.ask("merge-base", "--is-ancestor", theirs, commit).status

    def _send(self, commit: str) -> GitAnswer:
        spec = f"{commit}:{self.upstream.branch}"
        return self._repository.ask(
            "push", "--porcelain", "--no-follow-tags", self.upstream.remote, spec, limit_s=REMOTE_LIMIT_S
        )

    def _follow(self) -> None:
        """Note the upstream of a branch that had none."""
        branch = self._repository.branch()
        if self.upstream.is_new and branch is not None:
            short = branch.removeprefix("refs/heads/")
            self._repository.run("config", f"branch.{short}.remote", self.upstream.remote)
            self._repository.run("config", f"branch.{short}.merge", self.upstream.branch)


_AGAIN: Final = Exchanged()
_STILL_MOVING: Final = "Files were saved while the remote's commits were being merged; the next sync takes them in."
_UNBORN: Final = "This branch has no commit yet and {name} has some. Bring them here first: git pull, then sync again."


def _say_held(held: tuple[Held, ...]) -> str:
    places = "; ".join(f"{each.commit[:_SHORT]} {each.path}:{each.line} ({each.credential})" for each in held[:_NAMED])
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    return (
        f"Not pushed, because commits add what looks like a credential: {places}{more}. "
        "If it is none, or may be seen by everybody who sees the remote: omnislash sync run --allow-secrets"
    )


def _read_refusal(answer: GitAnswer) -> str:
    """Return why a push was refused: the remote's own words first."""
    lines = [line.strip() for line in answer.err.decode("utf-8", "replace").splitlines()]
    said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    own = [line for line in lines if not line.startswith(("remote:", "hint:", "error: failed to push some refs"))]
    words = next((line for line in (*said, *own) if line), "")
    return f"{mask_secrets(words).removeprefix('fatal:').strip().rstrip('.')}." if words else answer.reason
