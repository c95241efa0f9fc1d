"""The blocks of a turn as values: as they should stand in a session, and as a turn sends them.

Rules: ENVELOPE-03, ENVELOPE-05, ENVELOPE-07, ENVELOPE-08, ENVELOPE-09, ENVELOPE-O2; interface.md, "Blocks that a turn
carries" and "Command line".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.budgets import count_chars

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Spans of lines of a file, each from and to, counted from 1; None = all of it.
Spans = tuple[tuple[int, int], ...] | None

#: What stands in the place of a block that is no longer part of a session (ENVELOPE-08).
WITHDRAWN: Final = "(this memory line is no longer part of your context — the copy above is withdrawn)"
#: The line that the first turn after a compaction begins with (ENVELOPE-07).
SNAPSHOT: Final = (
    "(the conversation above was shortened — every block above this line is void; the blocks below are complete again)"
)


class BlockName(StrEnum):
    """What a block is called: the name of its tag."""

    #: MEMORY.md.
    MEMORY = "agent-memory"
    #: The ladder of period summaries.
    PERIODS = "agent-memory-periods"
    #: The window of daily logs.
    DAILY = "agent-memory-daily"
    #: The day and the time zone.
    ENVIRONMENT = "agent-environment"
    #: The line that voids what stands above it.
    SNAPSHOT = "agent-context-snapshot"

    @property
    def place_key(self) -> str:
        """Name of the attribute that tells which copy a block replaces; '' for a block of which there is one."""
        return {BlockName.MEMORY: "path", BlockName.PERIODS: "line", BlockName.DAILY: "line"}.get(self, "")


class Why(StrEnum):
    """Why a turn sends a block."""

    NEW = "new"
    CHANGED = "changed"
    WITHDRAWN = "withdrawn"
    SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block as it should stand in the session now."""

    name: BlockName
    #: Path or line; '' for a block that has neither.
    place: str
    #: The exact text, tags included.
    text: str
    #: True when some of what it is made of is not in it.
    is_partial: bool = False
    #: What of it could not be read, and why; '' when all of it was read.
    trouble: str = ""
    #: The lines of files that it shows, by path as tools use it.
    shown: Mapping[str, Spans] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A block that goes into this turn."""

    name: BlockName
    #: Path or line; '' for a block that has neither.
    place: str
    #: The exact text, tags included.
    text: str
    is_partial: bool
    why: Why

    def to_json(self) -> dict[str, Any]:
        """Return `{name, path?, line?, text, partial, chars, why}`; chars in UTF-16 units."""
        key = self.name.place_key
        return {
            "name": self.name.value,
            **({key: self.place} if key else {}),
            "text": self.text,
            "partial": self.is_partial,
            "chars": count_chars(self.text),
            "why": self.why.value,
        }


def open_tag(name: BlockName, place: str = "") -> str:
    """Return the tag that opens a block; a place is a managed path or a line, which holds no quote."""
    return f'<{name} {name.place_key}="{place}">' if name.place_key else f"<{name}>"


def close_tag(name: BlockName) -> str:
    """Return the tag that closes a block."""
    return f"</{name}>"


def frame(name: BlockName, place: str, body: str) -> str:
    """Return a block with its body on lines of its own."""
    return f"{open_tag(name, place)}\n{body}\n{close_tag(name)}"


def withdraw(name: BlockName, place: str) -> Sent:
    """Return what takes a block back (ENVELOPE-08, ENVELOPE-09)."""
    text = f"{open_tag(name, place)}{WITHDRAWN}{close_tag(name)}"
    return Sent(name=name, place=place, text=text, is_partial=False, why=Why.WITHDRAWN)


def render_snapshot() -> Sent:
    """Return the line that voids everything above it (ENVELOPE-07)."""
    name = BlockName.SNAPSHOT
    text = f"{open_tag(name)}{SNAPSHOT}{close_tag(name)}"
    return Sent(name=name, place="", text=text, is_partial=False, why=Why.SNAPSHOT)


def render_unreadable(name: BlockName, place: str, reason: str) -> Block:
    """Return a block that says that what it stands for could not be read, so that nobody takes it for empty.

    Args:
        name: Which block.
        place: Its path or line.
        reason: A sentence, or several, without anything that a note could have put there.
    """
    body = f"(could not be read: {reason} What is there is not shown, and a copy above may be out of date.)"
    return Block(name=name, place=place, text=frame(name, place, body), is_partial=True, trouble=reason)
