"""Fetch, merge, push: bringing the branch and its remote side together, and never by force.

Commits that add a credential stay here until a person says otherwise, with all that builds on them (SECRET-O3).

Rules: SECRET-O3; failure cases O-51, O-53.
Source: git-push(1), "--porcelain"; git-ls-remote(1).
"""

from __future__ import annotations

import os
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
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from omnislash.runtime.syncing.merge_values import MergePlace
    from omnislash.runtime.syncing.values import Conflict, Held
    from omnislash.store.git import GitAnswer, Repository

#: How often fetch, merge and push are tried when the remote moves meanwhile.
_ATTEMPTS: Final = 3
#: Below it stands, for each branch of a remote, the last commit there that a sync took in or pushed.
_SEEN: Final = "refs/omnislash/seen/"
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

    What a person has set is never replaced: where it names no remote that can be used, nothing is pulled or pushed.

    Raises:
        GitTroubleError: Git could not say.
    """
    branch = repository.branch()
    remotes = repository.run("remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
    if branch is None or not remotes:
        return None
    short = branch.removeprefix("refs/heads/")
    remote, merged, own = (repository.config(f"branch.{short}.{key}") for key in ("remote", "merge", "pushRemote"))
    pushes_to = own or repository.config("remote.pushDefault")
    if sentence := _find_misfit(short, remotes, remote, merged, pushes_to):
        return sentence
    if remote and merged:
        tracking = repository.text("for-each-ref", "--format=%(upstream)", branch)
        return Upstream(remote, merged, tracking or _track(remote, merged))
    chosen = pushes_to or remotes[0]
    return Upstream(chosen, branch, _track(chosen, branch), is_new=True)


def _find_misfit(
    short: str, remotes: list[str], remote: str | None, merged: str | None, pushes_to: str | None
) -> str | None:
    """Return why the settings of a branch name no one remote, and what to do, as a sentence; None when they do."""
    names = ", ".join(sorted(remotes))
    way = f"Choose one: git push --set-upstream REMOTE {short}"
    if remote == ".":
        what = f"The upstream of the branch {short} is another branch of this repository"
    elif remote and remote not in remotes:
        # The address itself is not repeated: it may hold a password.
        what = f"The upstream of the branch {short} (branch.{short}.remote) is none of the remotes here ({names})"
        way = (
            f"Give it a name with `git remote add NAME ADDRESS`, or choose one: git push --set-upstream REMOTE {short}"
        )
    elif remote and not merged:
        what = f"The branch {short} has a remote and no upstream branch there"
        way = f"Choose it: git push --set-upstream {remote} {short}"
    elif pushes_to and pushes_to not in remotes:
        what = f"branch.{short}.pushRemote or remote.pushDefault is none of the remotes here ({names})"
        way = "Correct or unset it with git config"
    elif pushes_to and remote and pushes_to != remote:
        what = f"The branch {short} is pulled from {remote} and pushed to {pushes_to}"
        way = (
            f"A sync needs one remote for both: git config branch.{short}.pushRemote {remote}, or pull and push by hand"
        )
    elif not remote and not pushes_to and len(remotes) > 1:
        what = f"The branch {short} has no upstream and there are several remotes ({names})"
    else:
        return None
    return f"{what}, so nothing was pulled or pushed. {way}"


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
    #: Commits on which branches of the remote stand, and that are here.
    _shared: tuple[str, ...] = field(default=(), init=False)
    #: What was saved while the remote's commits were being merged.
    _moving: str = field(default="", init=False)

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
        """Return which commits the remote does not have; what was once fetched from its name may be another's."""
        return ("HEAD", "--not", theirs) if theirs else ("HEAD", "--not", *self._shared)

    @staticmethod
    def _name(commits: list[str]) -> str:
        named = ", ".join(commit[:_SHORT] for commit in commits[:_NAMED])
        return named + (f" and {len(commits) - _NAMED} more" if len(commits) > _NAMED else "")

    # -- the rounds --------------------------------------------------------------------------------------------------

    def _try_often(self) -> Exchanged:
        done = Exchanged()
        for _ in range(_ATTEMPTS):
            theirs = self._fetch()
            stopped = (self._find_rewriting(theirs) or self._merge(theirs)) if theirs else None
            if stopped is _AGAIN:
                done = Exchanged(outcome=SyncOutcome.STOPPED, message=f"{_STILL_MOVING} {self._moving}".rstrip())
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
        answer = self._repository.ask("ls-remote", remote, "refs/heads/*", branch, limit_s=REMOTE_LIMIT_S)
        if answer.status:
            raise GitTroubleError(f"the remote can't be reached: {answer.reason}")
        rows = (row.split("\t") for row in os.fsdecode(answer.out).splitlines())
        heads = {name: commit for commit, name in rows if name == branch or name.startswith("refs/heads/")}
        if branch not in heads:
            self._shared = self._list_here(heads.values())
            return None
        if self._repository.resolve(self._seen) is None:
            self._remember(self._repository.resolve(self.upstream.tracking))
        if self._repository.resolve(self.upstream.tracking) != heads[branch]:
            spec = f"+{branch}:{self.upstream.tracking}"
            self._repository.run(
                "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, spec, limit_s=REMOTE_LIMIT_S
            )
        return self._repository.resolve(self.upstream.tracking)

    def _list_here(self, commits: Iterable[str]) -> tuple[str, ...]:
        listed = "".join(f"{commit}\n" for commit in dict.fromkeys(commits)).encode()
        known = self._repository.run("cat-file", "--batch-check", input=listed) if listed else b""
        return tuple(row.split()[0].decode() for row in known.splitlines() if row.split()[1:2] == [b"commit"])

    # -- a history that was rewritten --------------------------------------------------------------------------------

    @property
    def _seen(self) -> str:
        """The ref that keeps the remote's last commit that a sync took in: fetching by hand does not move it."""
        # In one piece: a branch `a/b` must not be in the way of the ref of a later branch `a`.
        return _SEEN + self.upstream.name.replace("%", "%25").replace("/", "%2F")

    def _remember(self, commit: str | None) -> None:
        if commit and self._repository.resolve(self._seen) != commit:
            self._repository.run("update-ref", self._seen, commit)

    def _find_rewriting(self, theirs: str) -> Exchanged | None:
        """Return why nothing is merged or pushed: the remote gave up commits that are here, and would get them back."""
        seen, ours = self._repository.resolve(self._seen), self._repository.head()
        if seen and ours and not self._is_in(seen, theirs):
            answer = self._repository.ask("merge-base", "--all", ours, seen)
            if not all(self._is_in(base, theirs) for base in answer.out.decode().split()):
                return Exchanged(outcome=SyncOutcome.STOPPED, message=self._say_rewritten(seen))
        self._remember(theirs)
        return None

    def _is_in(self, commit: str, other: str) -> bool:
        return not self._repository.ask("merge-base", "--is-ancestor", commit, other).status

    def _say_rewritten(self, seen: str) -> str:
        remote, name = self.upstream.remote, self.upstream.name
        return (
            f"The history of {name} was rewritten: commits that were there are gone ({seen[:_SHORT]} was its last), "
            "so nothing was merged or pushed, which would bring them back. "
            f"To take the new history: git fetch {remote}, then git rebase --onto {name} {seen[:_SHORT]}, which puts "
            "your own commits on top of it. "
            f"To keep the old one as well: git fetch {remote}, git merge {name} and git push, all by hand."
        )

    # -- merging -----------------------------------------------------------------------------------------------------

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
            self._moving = result.message
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
            self._remember(target)
        if held:
            kept = target or theirs or (self._shared and self._repository.text("merge-base", head, *self._shared))
            message = _say_held(held, kept or None)
            return Exchanged(outcome=SyncOutcome.STOPPED, message=message, pushed=pushed, held=held)
        return Exchanged(outcome=SyncOutcome.DONE, pushed=pushed)

    def _choose(self, head: str, theirs: str | None, held: tuple[Held, ...]) -> str | None:
        """Return the newest commit of the branch that may be pushed; None when none may."""
        if not held:
            return head
        listed = self._repository.run("rev-list", "--parents", "--topo-order", "--reverse", *self._range(theirs))
        parents = {row.split()[0]: row.split()[1:] for row in listed.decode().splitlines()}
        line = _walk_back(head, parents)
        tainted, after = {each.commit for each in held}, {theirs}
        best = None
        for commit, before in parents.items():
            if tainted.intersection(before):
                tainted.add(commit)
            if after.intersection(before):
                after.add(commit)
            if commit not in tainted and commit in line and (theirs is None or commit in after):
                best = commit
        return best

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
            # The remote comes last: cut off before it, the branch is one that still has no upstream.
            self._repository.run("config", f"branch.{short}.merge", self.upstream.branch)
            self._repository.run("config", f"branch.{short}.remote", self.upstream.remote)


_AGAIN: Final = Exchanged()
_STILL_MOVING: Final = "Files were saved while the remote's commits were being merged; the next sync takes them in."
_UNBORN: Final = "This branch has no commit yet and {name} has some. Bring them here first: git pull, then sync again."


def _walk_back(head: str, parents: Mapping[str, list[str]]) -> set[str]:
    """Return the commits of the branch itself: from its head back, by the first parent of each."""
    line: set[str] = set()
    commit = head
    while commit in parents:
        line.add(commit)
        commit = next(iter(parents[commit]), "")
    return line


def _say_held(held: tuple[Held, ...], kept: str | None) -> str:
    """Return what is held and both ways out; `kept` is the last commit that is on the remote, None before the first."""
    places = "; ".join(f"{each.commit[:_SHORT]} {each.place}" for each in held[:_NAMED])
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    undo = f"git reset {kept[:_SHORT]}" if kept else "git update-ref -d HEAD"
    return (
        f"Not pushed, because commits add what looks like a credential: {places}{more}. "
        "All commits after them wait too. "
        f"To take it out of the history: `{undo}` (your files stay as they are, the commits that wait are made again as "
        "one), take it out of the file or its name, then omnislash sync run. "
        "If it is none, or may be seen by everybody who sees the remote: omnislash sync run --allow-secrets"
    )


def _read_refusal(answer: GitAnswer) -> str:
    """Return why a push was refused: the remote's own words first."""
    lines = [line.strip() for line in answer.err.decode("utf-8", "replace").splitlines()]
    said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    own = [line for line in lines if not line.startswith(("remote:", "hint:", "error: failed to push some refs"))]
    words = next((line for line in (*said, *own) if line), "")
    return f"{mask_secrets(words).removeprefix('fatal:').strip().rstrip('.')}." if words else answer.reason
