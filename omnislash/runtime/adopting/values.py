"""What is known of a folder with notes, and what an adoption would do with each file of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from datetime import date

#: Directories at the top of a folder that belong to the brain: nothing in them is adopted.
BRAIN_DIRECTORIES: Final = ("constitution", "features", "memory")


class FolderKind(StrEnum):
    """What kind of folder it is, told by what lies in it."""

    CLAUDE_CODE = "claude-code"
    OBSIDIAN = "obsidian"
    LOGSEQ = "logseq"
    NOTES = "notes"

    @property
    def label(self) -> str:
        """Return the kind as people call it, with its article."""
        return _TITLES[self]


_TITLES: Final = {
    FolderKind.CLAUDE_CODE: "a Claude Code memory folder",
    FolderKind.OBSIDIAN: "an Obsidian vault",
    FolderKind.LOGSEQ: "a Logseq graph",
    FolderKind.NOTES: "a folder of notes",
}


class Mode(StrEnum):
    """What becomes of the notes."""

    #: Documents that agents read and memory never writes.
    SOURCES = "sources"
    #: The memory of a line.
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Left:
    """A file or directory that stays as it is, and is not part of memory or of a source."""

    #: Path relative to the folder; a directory ends in `/`.
    path: str
    #: Half a sentence.
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return `{path, reason}`."""
        return {"path": show(self.path), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Move:
    """A file that gets another place; its bytes stay as they are."""

    source: str
    target: str

    def to_json(self) -> dict[str, Any]:
        """Return `{from, to}`."""
        return {"from": show(self.source), "to": show(self.target)}


@dataclass(frozen=True, slots=True)
class Credential:
    """A place in a note that looks like a credential; the value is never kept."""

    path: str
    #: Counted from 1.
    line: int
    #: Name of the class.
    credential: str

    def to_json(self) -> dict[str, Any]:
        """Return `{path, line, credential}`."""
        return {"path": show(self.path), "line": self.line, "credential": self.credential}


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder holds."""

    kind: FolderKind
    #: Markdown files by path, those about the folder itself (README.md and its like) not among them.
    notes: tuple[str, ...]
    #: The day of each note that is named after one.
    days: dict[str, date]
    #: Other regular files, with the reason why they are no notes.
    others: tuple[Left, ...]
    #: What is not even looked at.
    left: tuple[Left, ...]
    #: Directories that hold no file, not even below them.
    empty: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{kind, notes, dated}`: the kind and two numbers."""
        return {"kind": self.kind.value, "notes": len(self.notes), "dated": len(self.days)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionPlan:
    """What an adoption would do; nothing is done yet."""

    mode: Mode
    survey: Survey
    #: Files that get another place.
    moves: tuple[Move, ...]
    #: What stays as it is and is not part of the brain's memory or sources.
    left: tuple[Left, ...]
    #: The line that the notes become; None for sources.
    line: str | None = None
    #: `memory.sources`, and the manifest's `memory.recall`; empty for a line.
    sources: tuple[str, ...] = ()
    credentials: tuple[Credential, ...] = ()
    #: Directories without any file that go too, because an adoption that was cut off has emptied them.
    emptied: tuple[str, ...] = ()
    #: What the writer moves when it first starts, because it stands at the root of `memory/`; and what stays there.
    later: tuple[Move, ...] = ()
    later_left: tuple[Left, ...] = ()
    #: What its owner should know beforehand, a sentence or two each.
    advice: tuple[str, ...] = ()

    @property
    def adopted(self) -> int:
        """Return how many notes become part of the brain."""
        left = {each.path for each in self.left}
        return sum(note not in left for note in self.survey.notes)

    def to_json(self) -> dict[str, Any]:
        """Return `{mode, kind, notes, dated, adopted, line, sources, moves, left, emptied, later, credentials, advice}`."""
        return {
            "mode": self.mode.value,
            **self.survey.to_json(),
            "adopted": self.adopted,
            "line": self.line,
            "sources": list(self.sources),
            "moves": [each.to_json() for each in self.moves],
            "left": [each.to_json() for each in self.left],
            "emptied": [show(path) for path in self.emptied],
            "later": {
                "moves": [each.to_json() for each in self.later],
                "left": [each.to_json() for each in self.later_left],
            },
            "credentials": [each.to_json() for each in self.credentials],
            "advice": list(self.advice),
        }


def show(path: str) -> str:
    """Return a path as JSON can take it: bytes that are no UTF-8 are shown as U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def spell(path: str) -> str:
    """Return a path as one line of text for a person: a name can't break the line, nor steer a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in show(path))
