"""Where brain-sync stands: what is pending and by whom, what is in the way, and how far the remote is.

Nothing is fetched: ahead and behind count from what was fetched last. It never says "in sync" while anything is pending,
unpushed, in the way or failing.

Rules: failure cases O-50, O-52, O-54.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from omnislash.runtime.beats.cron import next_instant
from omnislash.runtime.syncing import authors
from omnislash.runtime.syncing.changes import Changes, find_changes, find_rules, show_path
from omnislash.runtime.syncing.obstacles import find_locks, find_obstacle
from omnislash.runtime.syncing.remotes import Upstream, find_upstream
from omnislash.runtime.syncing.syncing import NESTED, explain_absence
from omnislash.runtime.syncing.values import Blocked, SyncOutcome
from omnislash.store.git import Repository

if TYPE_CHECKING:
    from omnislash.runtime.turns import Ports


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A changed file of the brain that is not committed yet."""

    path: str
    #: Who changed it: roles, `role · heartbeat`, or `by hand`.
    by: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{path, by}`."""
        return {"path": self.path, "by": list(self.by)}


@dataclass(frozen=True, slots=True)
class LastSync:
    """The last sync that did something."""

    at: datetime
    outcome: SyncOutcome
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return `{at, outcome, message}`."""
        return {"at": self.at.isoformat(), "outcome": self.outcome.value, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStatus:
    """Where brain-sync stands; paths are those of the repository."""

    #: Whether nothing is pending, unpushed, in the way or failing.
    is_in_sync: bool = False
    #: What is in the way, as sentences; empty when nothing is.
    troubles: tuple[str, ...] = ()
    #: Short names; None for a detached HEAD, and without an upstream.
    branch: str | None = None
    upstream: str | None = None
    #: Commits that the remote has not, and that it has and we have not; None when not known.
    ahead: int | None = None
    behind: int | None = None
    pending: tuple[PendingFile, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    #: Memory files that an ignore rule hides, with the rule; they are committed all the same.
    ignored: tuple[tuple[str, str], ...] = ()
    left_alone: tuple[str, ...] = ()
    #: Whether a worker commits by itself, whether it pushes, and when it does so next while it runs.
    is_enabled: bool = True
    pushes: bool = True
    next_tick: datetime | None = None
    last: LastSync | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields in camelCase."""
        return {
            "inSync": self.is_in_sync,
            "troubles": list(self.troubles),
            "branch": self.branch,
            "upstream": self.upstream,
            "ahead": self.ahead,
            "behind": self.behind,
            "pending": [each.to_json() for each in self.pending],
            "blocked": [each.to_json() for each in self.blocked],
            "ignored": [{"path": path, "rule": rule} for path, rule in self.ignored],
            "leftAlone": list(self.left_alone),
            "enabled": self.is_enabled,
            "push": self.pushes,
            "nextTick": self.next_tick.isoformat() if self.next_tick else None,
            "last": self.last.to_json() if self.last else None,
        }


def find_status(ports: Ports) -> SyncStatus:
    """Return where brain-sync stands; nothing is changed and nothing is fetched.

    Raises:
        GitTroubleError: Git does not work here.
        WriterUnavailableError: The state database can't be read.
    """
    manifest = ports.config().manifest
    zone = ZoneInfo(manifest.locale.timezone)
    tick = next_instant(manifest.sync.schedule, after=ports.clock.now(), zone=zone) if manifest.sync.enabled else None
    last = _read_last(ports)
    repository = Repository.open(ports.root, may_write=False)
    known = _Known()
    if repository is None:
        known.troubles.append(explain_absence())
    else:
        known = _look(ports, repository)
    failing = last is not None and not last.outcome.is_well
    is_open = bool(known.pending or known.changes.blocked or known.troubles or known.ahead or known.behind)
    is_shared = known.upstream is None or known.ahead is not None
    return SyncStatus(
        is_in_sync=not is_open and not failing and is_shared,
        troubles=tuple(known.troubles),
        branch=known.branch,
        upstream=known.upstream,
        ahead=known.ahead,
        behind=known.behind,
        pending=tuple(known.pending),
        blocked=tuple(known.changes.blocked),
        ignored=tuple(known.rules.items()),
        left_alone=tuple(known.changes.left_alone),
        is_enabled=manifest.sync.enabled,
        pushes=manifest.sync.push and not (repository is not None and repository.is_nested),
        next_tick=tick,
        last=last,
    )


@dataclass(slots=True)
class _Known:
    troubles: list[str] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    pending: list[PendingFile] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)
    branch: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None


def _read_last(ports: Ports) -> LastSync | None:
    row = ports.state().row("last_sync")
    if row is None:
        return None
    return LastSync(datetime.fromisoformat(row["at"]), SyncOutcome(row["outcome"]), row["message"])


def _look(ports: Ports, repository: Repository) -> _Known:
    known = _Known()
    if repository.is_nested and not ports.config().manifest.sync.nested:
        known.troubles.append(NESTED)
        return known
    if obstacle := find_obstacle(repository):
        known.troubles.append(obstacle)
    for lock in find_locks(repository, ports.clock.now()):
        known.troubles.append(f"{lock.name} {lock.describe_age()}: while it is there, nothing can be committed.")
    known.changes = find_changes(repository, ports.config().sources)
    if known.changes.unmerged:
        known.troubles.append(f"Left in conflict by a merge: {', '.join(map(show_path, known.changes.unmerged))}.")
    known.pending = _name_authors(ports, known.changes, repository.prefix)
    known.rules = find_rules(repository, known.changes.ignored) if known.changes.ignored else {}
    branch = repository.branch()
    known.branch = branch.removeprefix("refs/heads/") if branch else None
    if not repository.is_nested:
        _measure(repository, known)
    return known


def _name_authors(ports: Ports, changes: Changes, prefix: str) -> list[PendingFile]:
    story = authors.tell_story(changes.wanted, ports.state(), prefix=prefix)
    return [PendingFile(path, tuple(author.label for author in each)) for path, each in story.authors.items()]


def _measure(repository: Repository, known: _Known) -> None:
    upstream = find_upstream(repository)
    if isinstance(upstream, str):
        known.troubles.append(upstream)
    if not isinstance(upstream, Upstream):
        return
    known.upstream = upstream.name
    if repository.head() and repository.resolve(upstream.tracking):
        counted = repository.run("rev-list", "--left-right", "--count", f"HEAD...{upstream.tracking}")
        known.ahead, known.behind = (int(number) for number in counted.split())
