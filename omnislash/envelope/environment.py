"""What day it is, and where: the block that every turn measures "recently" and "next week" by.

It holds nothing that changes within a day, so that a session is told once a day.

Rules: ENVELOPE-03, ENVELOPE-04, ENVELOPE-06, LINE-O3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.envelope.blocks import Block, BlockName, frame

if TYPE_CHECKING:
    from datetime import date

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def render_environment(today: date, *, timezone: str) -> Block:
    """Return the block.

    Args:
        today: Day in the brain's zone.
        timezone: Name of that zone.
    """
    body = f"date: {today.isoformat()} ({_WEEKDAYS[today.weekday()]})\ntime zone: {timezone}"
    return Block(name=BlockName.ENVIRONMENT, place="", text=frame(BlockName.ENVIRONMENT, "", body))
