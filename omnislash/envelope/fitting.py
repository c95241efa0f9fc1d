"""Which blocks of a turn go into a conversation that takes only so much at a time.

Some hosts cut what is added to a conversation, or replace it by a few lines of it. So a block goes whole or waits for the
next turn; what waits is not noted as sent, and the turn says that it waits and how it can be read now.

Rules: ENVELOPE-06, ENVELOPE-17; interface.md, "Blocks that a turn carries".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.envelope.assemble import Assembly
from omnislash.envelope.blocks import BlockName, Why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.core.declarations import Settings
    from omnislash.envelope.blocks import Sent

#: UTF-16 units between two parts of a turn: an empty line.
GAP_CHARS: Final = 2
#: Left beside the largest block for what is small and goes with every one: snapshot line, environment, withdrawals,
#: labels and pointers of the block, and the sentence about what waits. In UTF-16 units.
SMALL_CHARS: Final = 1_200
#: Blocks that can wait for a turn without which the agent would be without its standing knowledge.
_PATIENT: Final = frozenset({BlockName.PERIODS, BlockName.DAILY})
_TITLES: Final = {
    BlockName.MEMORY: "the file {}",
    BlockName.PERIODS: "the period summaries of {}",
    BlockName.DAILY: "the recent days of {}",
    BlockName.ENVIRONMENT: "the day and the time zone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What goes, and what waits."""

    assembly: Assembly
    waiting: tuple[Sent, ...]


def limit_settings(settings: Settings, most_chars: int) -> Settings:
    """Return the knobs with ceilings under which each block alone has room; a block that is shortened says so itself."""
    most = max(most_chars - SMALL_CHARS, 0)
    return replace(
        settings,
        priority_chars=min(settings.priority_chars, most),
        recent_chars=min(settings.recent_chars, most),
        recall_chars=min(settings.recall_chars, most),
        period_chars=min(settings.period_chars, most),
    )


def can_wait(block: Sent) -> bool:
    """Tell whether a block leaves its place to the recall of the message: summaries and days, when they are no withdrawal."""
    return block.name in _PATIENT and block.why in {Why.NEW, Why.CHANGED}


def measure(texts: Iterable[str]) -> int:
    """Return what texts take with the gaps between them, in UTF-16 units."""
    return sum(count_chars(text) + GAP_CHARS for text in texts if text)


def fit(found: Assembly, room: int) -> Fitted:
    """Return the blocks that have room, in their order; the snapshot line and withdrawals always go.

    Args:
        found: What would be sent.
        room: UTF-16 units.
    """
    kept: list[Sent] = []
    waiting: list[Sent] = []
    must = [block for block in found.blocks if block.why in {Why.SNAPSHOT, Why.WITHDRAWN}]
    room -= measure(block.text for block in must)
    for block in found.blocks:
        cost = measure([block.text])
        if block in must:
            kept.append(block)
        elif cost <= room:
            kept.append(block)
            room -= cost
        else:
            waiting.append(block)
    left = {(block.name, block.place) for block in waiting}
    sent = tuple(each for each in found.receipt.sent if each[0] not in left)
    assembly = Assembly(blocks=tuple(kept), receipt=replace(found.receipt, sent=sent))
    return Fitted(assembly=assembly, waiting=tuple(waiting))


def describe_waiting(waiting: Iterable[Sent], *, has_cut_recall: bool) -> str:
    """Return the sentence about what had no room; empty when all of it had."""
    names = [_TITLES[block.name].format(block.place) for block in waiting if block.name in _TITLES]
    told = []
    if names:
        told.append(f"There was no room for {_join(names)}; it comes with a later message.")
    if has_cut_recall:
        told.append("There was no room for what the message recalls.")
    if not told:
        return ""
    return f"({' '.join(told)} The memory tools read all of it now: memory_overview, memory_read, memory_search.)"


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
