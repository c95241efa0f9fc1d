"""How long a summary should be, and which summaries the ladder in a prompt holds.

The length asked for is what a full ladder leaves each of its summaries, so that all of them can be shown at once. It is
a wish: a longer answer is filed as written, and a role that shows less of it changes nothing about the file.

Every length is in UTF-16 code units.

Rules: PERIOD-37 to PERIOD-41, PERIOD-45, ENVELOPE-28, EVENT-06, EVENT-O3.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from omnislash.core.periods import Level, Period, period_on

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import date


def target_chars(*, period_chars: int, period_count: int, level_count: int, framing_chars: int) -> int | None:
    """Return the length that a run is told, rounded down; None when none is asked.

    None is asked when the brain shows no ladder (either number 0), and when the framing alone fills it.

    Args:
        period_chars: The manifest's `periodChars`, not a role's.
        period_count: The manifest's `periodCount`.
        level_count: How many levels the line enables.
        framing_chars: Length of all labels and the pointer of a full ladder; `full_ladder` says what it holds.

    Rules: PERIOD-37, PERIOD-38, PERIOD-40.
    """
    shares = period_count * level_count
    if not period_chars or not shares:
        return None
    share = (period_chars - framing_chars) // shares
    return share if share > 0 else None


def is_over_target(chars: int, target: int | None) -> bool:
    """Tell whether a summary is longer than was asked, which is reported and changes nothing (PERIOD-39, EVENT-O3)."""
    return target is not None and chars > target


def full_ladder(levels: Iterable[Level], today: date, *, count: int) -> tuple[Period, ...]:
    """Return the periods of a ladder that lacks nothing: the latest `count` closed ones of each level, in its order.

    Which they are changes from day to day, how long their names and paths are does not.
    """
    closed = (period_on(level, today).step(-back) for level in levels for back in range(1, count + 1))
    return choose_summaries([period for period in closed if period is not None], levels, count=count)


def choose_summaries(files: Collection[Period], levels: Iterable[Level], *, count: int) -> tuple[Period, ...]:
    """Return the latest `count` summaries of each level, coarsest level first and oldest first in a level.

    Summaries of a level that is not enabled are left out.

    Rules: PERIOD-44, PERIOD-45, ENVELOPE-28.
    """
    coarsest_first = sorted(levels, key=lambda level: -level.rank)
    latest = (nlargest(count, (file for file in files if file.level is level)) for level in coarsest_first)
    return tuple(period for newest_first in latest for period in reversed(newest_first))
