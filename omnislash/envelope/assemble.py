"""What a turn has to send: the blocks as they are now against what the session has seen.

Each block stands alone: one that did not change is not sent again, one that is gone is withdrawn once, and after a
compaction everything is sent again below the line that voids what stands above.

The window of daily logs is sent when a line is new to the session, after a compaction, and once more when what could not
be read of it has become another; never else.

Rules: ENVELOPE-04 to ENVELOPE-10, ENVELOPE-13, ENVELOPE-O4, ENVELOPE-O5, ENVELOPE-O7 to ENVELOPE-O9.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from omnislash.envelope.blocks import BlockName, Sent, Why, render_snapshot, withdraw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnislash.envelope.blocks import Block

#: Name and place of a block: what tells a copy from another one.
Key = tuple[BlockName, str]

#: In place of a hash: the line's window was due and there was nothing to show, so it is not sent later either.
NOTHING: Final = ""
#: Before the hash of what could not be read of a window: it stays due, and is sent again once that is another.
UNREAD: Final = "unread:"
#: Blocks that are taken back when they are no longer part of the session, in the order of their withdrawal.
_WITHDRAWN: Final = (BlockName.MEMORY, BlockName.PERIODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What a session has been sent."""

    #: SHA-256 of the text of each block that stands in the session.
    hashes: Mapping[Key, str] = field(default_factory=dict)
    #: ISO instant in UTC at which the session was last noted; None for a session that nobody knows.
    used_at: str | None = None
    #: Number of the newest compaction that was announced and that no delivery has answered; 0 = none.
    compaction: int = 0

    def lacks_window(self, line: str) -> bool:
        """Tell whether the window is due: the line is new to the session, or its window could not be read as a whole."""
        return _is_due(self.hashes, line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the ledger has to note once a turn was sent."""

    #: True forgets everything first: the conversation was compacted, or begins anew.
    clears: bool = False
    #: Number of the announced compaction that this delivery answers; 0 = none.
    compaction: int = 0
    #: Blocks that were taken back.
    dropped: tuple[Key, ...] = ()
    #: Blocks that were sent, with the hash of their text.
    sent: tuple[tuple[Key, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to note."""
        return not (self.clears or self.compaction or self.dropped or self.sent)

    def to_json(self) -> dict[str, Any]:
        """Return `{clears, compaction, dropped, sent}`."""
        return {
            "clears": self.clears,
            "compaction": self.compaction,
            "dropped": [[name.value, place] for name, place in self.dropped],
            "sent": [[name.value, place, found] for (name, place), found in self.sent],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Receipt:
        """Return the receipt that `to_json` gave."""
        return cls(
            clears=bool(given["clears"]),
            compaction=int(given.get("compaction", 0)),
            dropped=tuple((BlockName(name), str(place)) for name, place in given["dropped"]),
            sent=tuple(((BlockName(name), str(place)), str(found)) for name, place, found in given["sent"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What a turn sends of blocks, and what is noted of it."""

    blocks: tuple[Sent, ...]
    receipt: Receipt


def assemble(
    blocks: Iterable[Block], ledger: Ledger, *, line: str | None, is_compacted: bool, is_cleared: bool = False
) -> Assembly:
    """Return what has to be sent so that the session holds exactly these blocks.

    Args:
        blocks: As they should stand now, in the order of delivery; the window is among them only when it is due.
        ledger: What the session was sent.
        line: The turn's line; None without memory.
        is_compacted: True when the harness has shortened the conversation.
        is_cleared: True when the conversation begins anew under its old id: nothing of it is left to be voided.
    """
    known = {} if is_compacted or is_cleared else ledger.hashes
    wanted = {(block.name, block.place): block for block in blocks}
    hashes = {key: _name_copy(block) for key, block in wanted.items()}
    gone = [key for name in _WITHDRAWN for key in sorted(known) if key[0] is name and key not in wanted]
    changed = [key for key in wanted if known.get(key) != hashes[key]]
    noted = [(key, hashes[key]) for key in changed]
    window = (BlockName.DAILY, line or "")
    if line is not None and window not in wanted and _is_due(known, line):
        noted.append((window, NOTHING))
    sent = [
        *([render_snapshot()] if is_compacted else []),
        *(withdraw(*key) for key in gone),
        *(_send(wanted[key], Why.CHANGED if key in known else Why.NEW) for key in changed),
    ]
    receipt = Receipt(
        clears=(is_compacted or is_cleared) and bool(ledger.hashes),
        compaction=ledger.compaction,
        dropped=tuple(gone),
        sent=tuple(noted),
    )
    return Assembly(blocks=tuple(sent), receipt=receipt)


def _is_due(hashes: Mapping[Key, str], line: str) -> bool:
    return hashes.get((BlockName.DAILY, line), UNREAD).startswith(UNREAD)


def _name_copy(block: Block) -> str:
    """Return what the ledger knows a copy by: its text, or of a window that could not be read what was missing.

    The days of a window grow while it waits, and must not be sent with every turn for the sake of one that is damaged.
    """
    is_unread = block.name is BlockName.DAILY and block.trouble
    return f"{UNREAD}{_hash(block.trouble)}" if is_unread else _hash(block.text)


def _send(block: Block, why: Why) -> Sent:
    return Sent(name=block.name, place=block.place, text=block.text, is_partial=block.is_partial, why=why)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
