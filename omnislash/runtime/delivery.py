"""What a turn carries of memory: the blocks that its session lacks, and what recall finds for its message.

`deliver` reads and compares and changes nothing; `confirm` notes that the turn was sent. So a turn that never went out is
delivered again, and one that did is not, after a restart too.

A host that is about to shorten a conversation says so once (`mark_compacted`); the delivery after it opens with the
snapshot line, whichever turn that is and whatever was restarted in between. A host that takes only so much at a time gets
whole blocks up to that, and a sentence about those that wait.

The ledger is one of a session and a carrier: what was added to a harness's conversation under some id is not in the one
that omnislash runs a model in under the same id, and the other way round.

A file that can't be read is said to be unreadable in its block. A ledger that can't be read or written costs one more
delivery and is logged; memory is delivered all the same.

Rules: ENVELOPE-01 to ENVELOPE-10, ENVELOPE-12, ENVELOPE-O1, ENVELOPE-O4, ENVELOPE-O5, ENVELOPE-O7 to ENVELOPE-O9,
RECALL-06, RECALL-07, RECALL-O9, DECLARE-04, DECLARE-05, DECLARE-13, SCOPE-18, RESOLVE-11, BOUNDARY-08.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from omnislash.envelope.assemble import Assembly, Ledger, Receipt, assemble
from omnislash.envelope.blocks import Block, BlockName, Why, render_unreadable
from omnislash.envelope.environment import render_environment
from omnislash.envelope.fitting import can_wait, describe_waiting, fit, limit_settings, measure
from omnislash.envelope.ledger import Carrier, needs_note, note_compaction, note_delivery, read_ledger
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
#: Under so many UTF-16 units a recall block has room for a heading and no note: then it is said that it had no room.
_RECALL_MIN: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What kind of turn it is, and what its conversation takes."""

    #: Whose conversation it goes into; each has a ledger of its own.
    carrier: Carrier = Carrier.HARNESS
    #: True in the first turn after a harness has shortened the conversation (ENVELOPE-07).
    is_compacted: bool = False
    #: True when the conversation begins anew under its old id.
    is_cleared: bool = False
    #: UTF-16 units that the conversation takes at a time; None = all that there is.
    most_chars: int | None = None


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
    #: What had no room, as a sentence; empty when all of it had.
    notice: str = ""
    #: Whose conversation it goes into.
    carrier: Carrier = Carrier.HARNESS
    #: What the ledger notes once the turn was sent.
    receipt: Receipt = field(default_factory=Receipt)
    #: False when the ledger holds all of that already.
    needs_note: bool = False

    def render(self) -> str:
        """Return what a harness session gets: blocks, recall and what waits, joined by empty lines; '' for nothing."""
        return _join([*(block.text for block in self.blocks), self._recalled, self.notice])

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
        """Return `{session, line, blocks, recall?, notice?}`."""
        recalled = {"recall": self.recall.to_json()} if self.recall else {}
        told = {"notice": self.notice} if self.notice else {}
        return {
            "session": self.session,
            "line": self.line,
            "blocks": [block.to_json() for block in self.blocks],
            **recalled,
            **told,
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
    turn: Turn, ports: Ports, *, session: str, message: str | None = None, occasion: Occasion = Occasion()
) -> Delivery:
    """Return what the turn carries; nothing is changed.

    Args:
        turn: Who acts.
        ports: The brain.
        session: Id of the session that the turn belongs to.
        message: What came in; None = nothing to recall for.
        occasion: What kind of turn it is.

    Raises:
        UsageError: The id of the session can't be one.
    """
    check_session(session)
    turn = _limit(turn, occasion.most_chars)
    now, config = ports.clock.now(), ports.config()
    ledger = Ledger() if turn.replay else _read_ledger(ports, session, occasion.carrier)
    is_compacted = occasion.is_compacted or (ledger.compaction > 0 and not occasion.is_cleared)
    line, settings = turn.scope.line, turn.scope.settings
    timezone = config.manifest.locale.timezone
    today = now.astimezone(ZoneInfo(timezone)).date()
    standing = () if line is None else tuple(_read_standing(turn, ports, line, config=config, now=now))
    blocks = [render_environment(today, timezone=timezone), *standing]
    if line is not None and (is_compacted or occasion.is_cleared or ledger.lacks_window(line)):
        window = read_window(ports, line, settings, today=today)
        blocks += [window] if window else []
    found = assemble(blocks, ledger, line=line, is_compacted=is_compacted, is_cleared=occasion.is_cleared)
    carried = _carry(found, blocks, turn, ports, message=message, most_chars=occasion.most_chars)
    return Delivery(
        session=session,
        line=line,
        blocks=carried.assembly.blocks,
        standing=standing,
        recall=carried.recall,
        notice=carried.notice,
        carrier=occasion.carrier,
        receipt=carried.assembly.receipt,
        needs_note=not turn.replay and needs_note(ledger, carried.assembly.receipt, now=now),
    )


def _limit(turn: Turn, most_chars: int | None) -> Turn:
    """Return the turn with knobs under which each block has room."""
    if most_chars is None:
        return turn
    return replace(turn, scope=replace(turn.scope, settings=limit_settings(turn.scope.settings, most_chars)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carried:
    """What of a turn goes."""

    assembly: Assembly
    recall: Recall | None
    notice: str = ""


def _carry(
    found: Assembly, blocks: list[Block], turn: Turn, ports: Ports, *, message: str | None, most_chars: int | None
) -> _Carried:
    """Return the blocks and the recall that go.

    Where room is short, MEMORY.md comes before the recall, and the recall of the message before summaries and days: those
    can come later, and it can't.
    """
    if most_chars is None:
        return _Carried(assembly=found, recall=_recall(turn, ports, message, _seen(blocks, found.blocks)))
    wanted = turn.scope.settings.recall_chars if message is not None and message.strip() else 0
    room = most_chars - measure([describe_waiting(found.blocks, has_cut_recall=True)])
    has_room_for_all = measure(block.text for block in found.blocks) + wanted <= room
    first = found if has_room_for_all else replace(found, blocks=tuple(b for b in found.blocks if not can_wait(b)))
    left = room - measure(block.text for block in fit(first, room).assembly.blocks)
    is_cut = wanted > 0 and left < min(wanted, _RECALL_MIN)
    narrow = replace(turn.scope.settings, recall_chars=max(min(wanted, left), 0))
    asking = replace(turn, scope=replace(turn.scope, settings=narrow))
    recall = None if is_cut else _recall(asking, ports, message, _seen(blocks, first.blocks, of=found.blocks))
    fitted = fit(found, room - measure([recall.block if recall else ""]))
    notice = describe_waiting(fitted.waiting, has_cut_recall=is_cut)
    return _Carried(assembly=fitted.assembly, recall=recall, notice=notice)


def _seen(blocks: Iterable[Block], going: Iterable[Sent], *, of: Iterable[Sent] | None = None) -> list[Block]:
    """Return the blocks that the session shows once this turn was sent: those that go, and the standing ones it has.

    Args:
        blocks: All as they should stand.
        going: Those that go.
        of: All that it lacks, where some of them wait; None when none does.
    """
    sent = {block.text for block in going}
    lacking = sent if of is None else {block.text for block in of}
    return [
        block
        for block in blocks
        if block.text in sent or (block.name is not BlockName.DAILY and block.text not in lacking)
    ]


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


def mark_compacted(ports: Ports, turn: Turn, session: str) -> None:
    """Note that a harness is about to shorten the session's conversation; in a replay nothing is.

    Raises:
        UsageError: The id of the session can't be one.
        WriterUnavailableError: The database can't be written.
    """
    check_session(session)
    if turn.replay:
        return
    state = ports.state()
    with state.transaction():
        note_compaction(state, session, role=turn.scope.role, now=ports.clock.now())


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
