"""What a sync came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class SyncOutcome(StrEnum):
    """What became of a sync."""

    #: Everything that there was to do is done.
    DONE = "done"
    #: There was nothing to do.
    NOTHING = "nothing"
    #: Something waits for a person; the rest is done.
    STOPPED = "stopped"
    #: Git or the remote said no; it is tried again.
    FAILED = "failed"

    @property
    def is_well(self) -> bool:
        """Whether nothing is left that somebody would have to do."""
        return self in {SyncOutcome.DONE, SyncOutcome.NOTHING}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that a sync made."""

    #: Its full id; None in a dry run.
    id: str | None
    #: The first line of its message.
    subject: str

    def to_json(self) -> dict[str, Any]:
        """Return `{id, subject}`."""
        return {"id": self.id, "subject": self.subject}


@dataclass(frozen=True, slots=True)
class Held:
    """A credential that a commit adds, for which it is not pushed (SECRET-O3). The value is never in here."""

    #: Id of the commit.
    commit: str
    #: Path in the repository, credentials in it masked, and the line in that commit's version, counted from 1.
    #: An empty path stands for the message of the commit; line 0 for the name of the file.
    path: str
    line: int
    #: The class of the credential.
    credential: str

    @property
    def place(self) -> str:
        """Return where it is, for people: `memory/main/MEMORY.md:3 (GitHub token)`."""
        if not self.path:
            return f"the commit's message, line {self.line} ({self.credential})"
        return (
            f"{self.path}:{self.line} ({self.credential})"
            if self.line
            else f"{self.path} ({self.credential} in its name)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return `{commit, path, line, credential}`; path is '' for the message, and line 0 for the name of the file."""
        return {"commit": self.commit, "path": self.path, "line": self.line, "credential": self.credential}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that both sides had changed."""

    path: str
    #: `joined`, `both kept` or `stopped`.
    how: str
    #: What was done about it and where the texts are, or what a person has to do.
    note: str

    def to_json(self) -> dict[str, Any]:
        """Return `{path, how, note}`."""
        return {"path": self.path, "how": self.how, "note": self.note}


@dataclass(frozen=True, slots=True)
class Blocked:
    """A changed file that is not committed."""

    path: str
    #: Why, and what to do, as a sentence.
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return `{path, reason}`."""
        return {"path": self.path, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncAnswer:
    """What a sync came to; paths are those of the repository."""

    outcome: SyncOutcome
    #: What happened, and what to do next where something is to be done.
    message: str
    #: Commits that it made, in order.
    commits: tuple[Commit, ...] = ()
    #: Commits that came from the remote and went to it.
    pulled: int = 0
    pushed: int = 0
    #: Changed files of the brain that are not committed, and those of them with a reason.
    pending: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    #: Untracked files that are not the brain's: never touched.
    left_alone: tuple[str, ...] = ()
    #: Why commits are not pushed.
    held: tuple[Held, ...] = ()
    #: Files that both sides had changed.
    conflicts: tuple[Conflict, ...] = ()
    #: What else was done that a person should know, as sentences.
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields in camelCase, lists always there."""
        return {
            "outcome": self.outcome.value,
            "message": self.message,
            "commits": [commit.to_json() for commit in self.commits],
            "pulled": self.pulled,
            "pushed": self.pushed,
            "pending": list(self.pending),
            "blocked": [each.to_json() for each in self.blocked],
            "leftAlone": list(self.left_alone),
            "held": [each.to_json() for each in self.held],
            "conflicts": [each.to_json() for each in self.conflicts],
            "notes": list(self.notes),
        }
