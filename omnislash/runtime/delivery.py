"""What a turn carries of memory: the blocks that its session lacks, and what recall finds for its message.

`deliver` reads and compares and changes nothing; `confirm` notes that the turn was sent. So a turn that never went out is
delivered again, and one that did is not, after a restart too.

The ledger is one of a session and a carrier: what was added to a harness's conversation under some id is not in the one
that omnislash runs a model in under the same id, and the other way round.

A file that can't be read is said to be unreadable in its block. A ledger that can't be read or written costs one more
delivery and is logged; memory is delivered all the same.

Rules: ENVELOPE-01 to ENVELOPE-10, ENVELOPE-12, ENVELOPE-O1, ENVELOPE-O4, ENVELOPE-O5, ENVELOPE-O7 to ENVELOPE-O9,
RECALL-06, RECALL-07, RECALL-O9, DECLARE-04, DECLARE-05, DECLARE-13, SCOPE-18, RESOLVE-11, BOUNDARY-08.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from omnislash.envelope.assemble import Ledger, Receipt, assemble
from omnislash.envelope.blocks import Block, BlockName, Why, render_unreadable
from omnislash.envelope.environment import render_environment
from omnislash.envelope.ledger import Carrier, needs_note, note_delivery, read_ledger
from omnislash.errors import ScopeError, StorageError, UsageError, WriterUnavailableError
from omnislash.runtime.ladder_reading import read_ladder_block
from omnislash.runtime.window_reading import read_memory, read_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.core.lines import LineName
    from omnislash.envelope.blocks import Sent
    from omnislash.runtime.tools.searching import Recall
    from omnislash.runtime.turns import Ports, Turn

_LOG = logging.getLogger(__name__)
#: Longest id of a session, in characters.
SESSION_MAX: Final = 200
#: Blocks that an API session gets afresh with every request, and that its history never holds (ENVELOPE-O1).
_STANDING: Final = frozenset({BlockName.MEMORY, BlockName.PERIODS})
_GAP: Final = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one turn carries."""

    session: str
    #: The turn's line; None without memory.
    line: str | None
    #: What the turn adds to a harness session, in the order of delivery: snapshot line, withdrawals, environment,
    #: MEMORY.md, ladder, window.
    blocks: tuple[Sent, ...] = ()
    #: MEMORY.md and ladder as they are now.
    standing: tuple[Block, ...] = ()
    #: What the message recalls; None when nothing was looked for.
    recall: Recall | None = None
    #: Whose conversation it goes into.
    carrier: Carrier = Carrier.HARNESS
    #: What the ledger notes once the turn was sent.
    receipt: Receipt = field(default_factory=Receipt)
    #: False when the ledger holds all of that already.
    needs_note: bool = False

    def render(self) -> str:
        """Return what a harness session gets: all blocks and the recall, joined by empty lines; '' for nothing."""
        return _join([*(block.text for block in self.blocks), self._recalled])

    def render_standing(self) -> str:
        """Return what stands after the system prompt of every request of an API session; '' for nothing.

        In the turn in which MEMORY.md or the ladder goes, its withdrawal stands here too. A history that held it would
        take back the next copy as well, which stands above all of it.
        """
        withdrawn = (block.text for block in self.blocks if block.why is Why.WITHDRAWN)
        return _join([*withdrawn, *(block.text for block in self.standing)])

    def render_opening(self) -> str:
        """Return what goes with the newest message of an API session: what neither stands nor was withdrawn, and the recall.

        The line that voids what stands above it is for a harness: here what was left out is gone, and MEMORY.md and the
        ladder, which stand above, are in force.
        """
        elsewhere = {*_STANDING, BlockName.SNAPSHOT}
        return _join([*(block.text for block in self.blocks if block.name not in elsewhere), self._recalled])

    @property
    def _recalled(self) -> str:
        return self.recall.block if self.recall else ""

    def to_json(self) -> dict[str, Any]:
        """Return `{session, line, blocks, recall?}`."""
        recalled = {"recall": self.recall.to_json()} if self.recall else {}
        return {
            "session": self.session,
            "line": self.line,
            "blocks": [block.to_json() for block in self.blocks],
            **recalled,
        }


@dataclass(frozen=True, slots=True)
class Unsent:
    """A delivery on its way to a caller in another process, who says when it was sent."""

    delivery: Delivery

    def to_json(self) -> dict[str, Any]:
        """Return the delivery with its `receipt`; null when there is nothing to note."""
        receipt = self.delivery.receipt.to_json() if self.delivery.needs_note else None
        return {**self.delivery.to_json(), "receipt": receipt}

    @staticmethod
    def parse(given: Mapping[str, Any]) -> Delivery:
        """Return what is needed to confirm a delivery, from `{session, receipt}`."""
        receipt = Receipt.from_json(given["receipt"])
        return Delivery(session=check_session(given["session"]), line=None, receipt=receipt, needs_note=True)


@dataclass(frozen=True, slots=True)
class Noted:
    """What a worker answers when it has noted that a turn was sent."""

    session: str

    def to_json(self) -> dict[str, Any]:
        """Return `{session}`."""
        return {"session": self.session}


def _join(texts: Iterable[str]) -> str:
    return _GAP.join(text for text in texts if text)


def check_session(session: str) -> str:
    """Return the id of a session.

    Raises:
        UsageError: It is empty, too long, or holds characters that nobody sees.
    """
    if not session.strip() or len(session) > SESSION_MAX or not session.isprintable():
        message = f"A session id has 1 to {SESSION_MAX} visible characters; this one does not: {session[:40]!r}."
        raise UsageError(message, hint="Leave it out to open a new session.")
    return session


# -- what a turn has to send -----------------------------------------------------------------------------------------


def deliver(
    turn: Turn,
    ports: Ports,
    *,
    session: str,
    message: str | None = None,
    is_compacted: bool = False,
    carrier: Carrier = Carrier.HARNESS,
) -> Delivery:
    """Return what the turn carries; nothing is changed.

    Args:
        turn: Who acts.
        ports: The brain.
        session: Id of the session that the turn belongs to.
        message: What came in; None = nothing to recall for.
        is_compacted: True in the first turn after a harness has shortened the conversation (ENVELOPE-07).
        carrier: Whose conversation it goes into; each has a ledger of its own.

    Raises:
        UsageError: The id of the session can't be one.
    """
    check_session(session)
    now, config = ports.clock.now(), ports.config()
    ledger = Ledger() if turn.replay else _read_ledger(ports, session, carrier)
    timezone = config.manifest.locale.timezone
    today = now.astimezone(ZoneInfo(timezone)).date()
    line, settings = turn.scope.line, turn.scope.settings
    standing = () if line is None else tuple(_read_standing(turn, ports, line, config=config, now=now))
    blocks = [render_environment(today, timezone=timezone), *standing]
    if line is not None and (is_compacted or ledger.lacks_window(line)):
        window = read_window(ports, line, settings, today=today)
        blocks += [window] if window else []
    found = assemble(blocks, ledger, line=line, is_compacted=is_compacted)
    sent = {block.text for block in found.blocks}
    seen = [block for block in blocks if block.name is not BlockName.DAILY or block.text in sent]
    return Delivery(
        session=session,
        line=line,
        blocks=found.blocks,
        standing=standing,
        recall=_recall(turn, ports, message, seen),
        carrier=carrier,
        receipt=found.receipt,
        needs_note=not turn.replay and needs_note(ledger, found.receipt, now=now),
    )


def _read_standing(turn: Turn, ports: Ports, line: LineName, *, config: BrainFiles, now: datetime) -> Iterable[Block]:
    memory = read_memory(ports, line, turn.scope.settings, memory=config.manifest.memory)
    if memory is not None:
        yield memory
    try:
        ladder = read_ladder_block(ports, turn.scope, now=now, config=config)
    except (ScopeError, StorageError) as error:
        ladder = render_unreadable(BlockName.PERIODS, line, error.message)
    if ladder is not None:
        yield ladder


def _recall(turn: Turn, ports: Ports, message: str | None, blocks: Iterable[Block]) -> Recall | None:
    """Return what the message recalls beyond what the turn shows; None when nothing is to be looked for."""
    settings = turn.scope.settings
    if message is None or not message.strip() or not turn.scope.has_memory:
        return None
    if not settings.recall_results or not settings.recall_chars:
        return None
    from omnislash.recall.hits import Shown  # noqa: PLC0415 - numpy, which only a search needs
    from omnislash.runtime.tools import searching  # noqa: PLC0415 - as above

    shown = {path: spans for block in blocks for path, spans in block.shown.items()}
    return searching.recall(turn, ports, message, shown=Shown(shown))


# -- the ledger ------------------------------------------------------------------------------------------------------


def _read_ledger(ports: Ports, session: str, carrier: Carrier) -> Ledger:
    try:
        return read_ledger(ports.state(), session, carrier)
    except (StorageError, WriterUnavailableError) as error:
        _LOG.warning("The session ledger can't be read: %s", error.message, extra={"action": "ledger_unavailable"})
        return Ledger()


def confirm(ports: Ports, turn: Turn, delivery: Delivery) -> None:
    """Note that the turn was sent: one transaction, and none when there is nothing to note; in a replay nothing is."""
    if turn.replay or not delivery.needs_note:
        return
    try:
        state = ports.state()
        with state.transaction():
            note(ports, turn, delivery)
    except (StorageError, WriterUnavailableError) as error:
        _LOG.warning("The session ledger can't be written: %s", error.message, extra={"action": "ledger_unavailable"})


def note(ports: Ports, turn: Turn, delivery: Delivery) -> None:
    """Do the same inside a transaction of the caller's, who keeps more of the turn in it.

    Raises:
        WriterUnavailableError: The database can't be written.
    """
    if not turn.replay:
        note_delivery(
            ports.state(),
            delivery.session,
            delivery.receipt,
            carrier=delivery.carrier,
            role=turn.scope.role,
            now=ports.clock.now(),
        )
