"""How far a search could look, and the two texts that say so to a turn.

A healthy search is silent about itself: a text stands there only when something was missing.

Rules: RECALL-08 to RECALL-14, RECALL-O3, RECALL-O7, RECALL-O8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.core.budgets import clip_chars
from omnislash.core.credentials import mask_secrets
from omnislash.core.escaping import escape_label
from omnislash.recall.hits import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

#: First line of the block when nothing was found and nothing could be looked at properly (RECALL-10).
NOT_CHECKED_HEADING = "### Memory recall — NOT CHECKED"
#: Reasons that one text names at most; the rest are counted.
_NAMED = 3
#: Longest reason in a text, in UTF-16 units: what a provider answers or a directory is called is not ours to trust.
_REASON_MAX = 240


def judge(*, hits: int, reasons: Sequence[str]) -> Coverage:
    """Return how far the search could look, given how many notes it found and what was missing."""
    if not reasons:
        return Coverage.FULL
    return Coverage.INCOMPLETE if hits else Coverage.NOT_CHECKED


def join_reasons(reasons: Sequence[str]) -> str:
    """Return the reasons as one line; from the fourth on they are counted."""
    named = "; ".join(_quote(reason) for reason in reasons[:_NAMED])
    more = len(reasons) - _NAMED
    return named + (f"; and {more} more" if more > 0 else "")


def _quote(reason: str) -> str:
    """Return a reason on one line and within bounds; it can neither end the text nor look like another one."""
    plain = escape_label(mask_secrets(reason)).rstrip(". ")
    clipped = clip_chars(plain, _REASON_MAX)
    return plain if clipped == plain else f"{clipped.rstrip()} …"


def render_footer(reasons: Sequence[str]) -> str:
    """Return the line that stands under hits when the search was incomplete (RECALL-12)."""
    return f"_INCOMPLETE — {join_reasons(reasons)}; this list is a sample_"


def render_not_checked(reasons: Sequence[str]) -> str:
    """Return the block of a search that found nothing because it could not look (RECALL-10, RECALL-O8)."""
    return (
        f"{NOT_CHECKED_HEADING}\n"
        f"Memory could not be searched properly: {join_reasons(reasons)}. "
        "That nothing was found is no proof that nothing is there."
    )
