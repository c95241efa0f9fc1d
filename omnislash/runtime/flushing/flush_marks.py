"""How far each transcript was reviewed, kept in the state database.

A session is known by its name, wherever its file lies; a file that names none, by its place and its first words.

A session only grows, so its mark only moves on: a caller that read the file before another one did, and waited, must
not send it back. A file may be rewritten shorter; that counts when the disk says so, too.

An exchange whose review failed is tried once more and then given up, so that one that can't be reviewed is not paid for
with every turn that follows it.

Rules: FLUSH-04; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from omnislash.runtime.flushing.transcripts import find_session

if TYPE_CHECKING:
    from omnislash.core.scopes import Scope
    from omnislash.runtime.turns import Ports

#: A mark that nobody used for so long is forgotten: its session is over.
KEPT: Final = timedelta(days=90)
#: How often the day of a mark is written anew that is only read.
_DATED_EVERY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a transcript was reviewed."""

    #: Records that need no review any more.
    records: int = 0
    #: Records that a review had read when it failed; not more than `records` when none failed since.
    tried: int = 0
    #: When it was last used; None for one that is new.
    used_at: datetime | None = None

    def move(self, records: int) -> Mark:
        """Return the mark behind a review that is done; one of an older copy moves nothing."""
        return Mark(max(self.records, records), self.tried)

    def fail(self, records: int) -> Mark:
        """Return the mark behind a review that failed: what had failed before is given up, the rest is tried again."""
        given_up = min(self.tried, records)
        return Mark(max(self.records, given_up), max(self.tried, records))


class MarkStore:
    """The mark of one transcript."""

    def __init__(self, scope: Scope, ports: Ports, text: str, *, size: int, place: str | None) -> None:
        """Name the mark.

        Args:
            scope: Of the turn; each role and each heartbeat reviews a transcript for itself.
            ports: The brain.
            text: The transcript.
            size: Its length, in bytes.
            place: Where it lies; None for stdin.
        """
        self._ports = ports
        self._size = size
        self._place = place
        self._is_session = find_session(text) is not None
        self._name = _name_mark(scope, text, place)

    @property
    def is_kept(self) -> bool:
        """Tell whether the transcript can be known again."""
        return self._name is not None

    def read(self) -> Mark:
        """Return the mark."""
        row = self._ports.state().row("find_cursor", name=self._name) if self._name else None
        if row is None:
            return Mark()
        used_at = datetime.fromisoformat(row["used_at"]) if row["used_at"] else None
        return Mark(int(row["value"]), int(row["tried"] or 0), used_at)

    def write(self, mark: Mark) -> None:
        """Keep the mark, and forget those that nobody uses any more."""
        if self._name is None:
            return
        now = self._ports.clock.now().astimezone(UTC)
        state = self._ports.state()
        with state.transaction():
            state.run("set_flush_mark", name=self._name, value=mark.records, tried=mark.tried, at=now.isoformat())
            state.run("date_flush_marks", at=now.isoformat())
            state.run("prune_flush_marks", before=(now - KEPT).isoformat())

    def date(self, mark: Mark) -> None:
        """Note that the mark is used, at most once a day."""
        now = self._ports.clock.now().astimezone(UTC)
        if mark.records and (mark.used_at is None or not mark.used_at <= now < mark.used_at + _DATED_EVERY):
            self.write(mark)

    def lower(self, records: int) -> bool:
        """Set the mark back to the end of a file that was rewritten shorter; False when it was not, and nothing is done."""
        if self._is_session or self._place is None or _measure(self._place) != self._size:
            return False
        self.write(Mark(records))
        return True


def _measure(place: str) -> int | None:
    """Return the length of a file in bytes; None when there is none."""
    try:
        return os.stat(place).st_size  # noqa: PTH116 - a place may be any text
    except (OSError, ValueError):
        return None


def _name_mark(scope: Scope, text: str, place: str | None) -> str | None:
    """Return the name of the mark; None when the transcript can't be known again."""
    session = find_session(text)
    if session is None and place is None:
        return None
    first = next((line for line in text.split("\n", 100) if line.strip()), "").strip()
    known_by = ("session", session) if session is not None else ("file", str(place), first)
    parts = (scope.role, scope.heartbeat or "", *known_by)
    return f"flush:{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"
