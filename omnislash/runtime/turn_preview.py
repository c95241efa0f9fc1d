"""What a turn would carry, block by block, for a person; nothing is sent, and nothing is noted.

Rules: ENVELOPE-03 to ENVELOPE-10, ENVELOPE-O1, RECALL-02; interface.md, "Blocks that a turn carries".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core.budgets import count_chars
from omnislash.envelope.blocks import BlockName
from omnislash.envelope.ledger import Carrier
from omnislash.errors import UsageError
from omnislash.runtime import session_listing
from omnislash.runtime.delivery import Occasion, deliver

if TYPE_CHECKING:
    from omnislash.core.scopes import Settings
    from omnislash.envelope.blocks import Block, Sent
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.turns import Ports, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBlock:
    """One block of a turn."""

    name: str
    #: Path or line; '' for a block that has neither.
    place: str
    #: The exact text.
    text: str
    is_partial: bool
    #: `new`, `changed`, `withdrawn`, `snapshot`, or `standing` for one that goes with every request.
    why: str
    #: Setting that bounds it, and how much it says, in UTF-16 units; None for a block without one.
    setting: str | None = None
    ceiling: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{name, place, text, partial, chars, why, setting, ceiling}`."""
        return {
            "name": self.name,
            "place": self.place,
            "text": self.text,
            "partial": self.is_partial,
            "chars": count_chars(self.text),
            "why": self.why,
            "setting": self.setting,
            "ceiling": self.ceiling,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a turn would carry."""

    #: Id of the session; None for a new one.
    session: str | None
    carrier: Carrier
    delivery: Delivery
    blocks: tuple[SeenBlock, ...]
    settings: Settings

    def to_json(self) -> dict[str, Any]:
        """Return `{session, carrier, line, blocks, recall, notice, chars}`; recall is null without a message.

        `recall` is as `omnislash recall --json` has it, with `chars`, `setting` and `ceiling`.
        """
        recall = self.delivery.recall
        block = recall.block if recall else ""
        recalled = recall and {
            **recall.to_json(),
            "chars": count_chars(block),
            "setting": "recallChars",
            "ceiling": self.settings.recall_chars,
        }
        return {
            "session": self.session,
            "carrier": self.carrier.value,
            "line": self.delivery.line,
            "blocks": [each.to_json() for each in self.blocks],
            "recall": recalled,
            "notice": self.delivery.notice,
            "chars": sum(count_chars(each.text) for each in self.blocks) + count_chars(block),
        }


def preview(turn: Turn, ports: Ports, *, session: str | None, message: str | None) -> Preview:
    """Return what the next turn of a session would carry, or the first one of a new session.

    A session that omnislash runs a model in gets MEMORY.md and the ladder with every request; one of a harness gets what
    changed.

    Args:
        turn: Who acts.
        ports: The brain.
        session: Id of a session; None = a new one.
        message: What came in; None = nothing to recall for.

    Raises:
        UsageError: There is no such session, or it belongs to another role.
    """
    known = None if session is None else session_listing.find_session(ports, session)
    if session is not None and known is None:
        raise UsageError(f"There is no session {session[:80]!r}.", key="session")
    if known is not None and known.role != turn.scope.role:
        sentence = f"The session {known.id!r} belongs to the role {known.role!r}, not to {turn.scope.role!r}."
        raise UsageError(sentence, key="session")
    carrier = Carrier.MODEL if known is not None and known.turns else Carrier.HARNESS
    chosen = ports.new_session_id() if known is None else known.id
    found = deliver(turn, ports, session=chosen, message=message, occasion=Occasion(carrier=carrier))
    return Preview(
        session=session,
        carrier=carrier,
        delivery=found,
        blocks=tuple(_see(block, turn.scope.settings) for block in _choose(found)),
        settings=turn.scope.settings,
    )


def _choose(found: Delivery) -> list[Block | Sent]:
    """Return what the request holds of memory, in the order of delivery."""
    if found.carrier is Carrier.HARNESS:
        return list(found.blocks)
    standing = {(block.name, block.place) for block in found.standing}
    return [*found.standing, *(block for block in found.blocks if (block.name, block.place) not in standing)]


def _see(block: Block | Sent, settings: Settings) -> SeenBlock:
    ceilings = {
        BlockName.MEMORY: ("priorityChars", settings.priority_chars),
        BlockName.PERIODS: ("periodChars", settings.period_chars),
        BlockName.DAILY: ("recentChars", settings.recent_chars),
    }
    setting, ceiling = ceilings.get(block.name, (None, None))
    why = getattr(block, "why", None)
    return SeenBlock(
        name=block.name.value,
        place=block.place,
        text=block.text,
        is_partial=block.is_partial,
        why="standing" if why is None else why.value,
        setting=setting,
        ceiling=ceiling,
    )
