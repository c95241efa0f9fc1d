"""The source text of one summary, cut to what a prompt may hold.

What goes is the oldest text, by whole lines, and the prompt is told so. The newest line alone may be longer than the
cap; then its end is kept, because a summary of nothing would be invented.

Every length is in UTF-16 code units.

Rules: PERIOD-14, PERIOD-O8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.core.budgets import count_chars

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


@dataclass(frozen=True, slots=True)
class Clipped:
    """Source texts after the cap."""

    #: What is left of each, in the order given; '' where nothing is.
    texts: tuple[str, ...]
    #: Length of all of them before.
    chars: int
    #: Length of what is left.
    kept_chars: int

    @property
    def is_complete(self) -> bool:
        """Tell whether nothing was taken away."""
        return self.kept_chars == self.chars

    def render_loss(self) -> str:
        """Return the sentence that says what is missing; '' when nothing is."""
        if self.is_complete:
            return ""
        return (
            f"The source text is incomplete: its oldest part, {self.chars - self.kept_chars} of {self.chars} characters, "
            "was left out."
        )


def clip_sources(texts: Sequence[str], *, max_chars: int) -> Clipped:
    """Return the texts, oldest first, without as many of their oldest lines as it takes to keep the cap.

    Args:
        texts: The sources in order, oldest first.
        max_chars: `maxSourceChars`; 0 is no cap (TENSION-09).
    """
    sizes = [int(count_chars(text)) for text in texts]
    chars = sum(sizes)
    if not max_chars or chars <= max_chars:
        return Clipped(tuple(texts), chars, chars)
    kept = list(texts)
    room = max_chars
    for at in reversed(range(len(texts))):
        if sizes[at] <= room:
            room -= sizes[at]
            continue
        kept[at] = _keep_newest_lines(texts[at], room)
        kept[:at] = [""] * at
        break
    if not any(text.strip() for text in kept):
        kept = _keep_end(texts, max_chars)
    return Clipped(tuple(kept), chars, sum(count_chars(text) for text in kept))


def _keep_newest_lines(text: str, limit: int) -> str:
    """Return the longest end of a text, longer than `limit` units, that begins at a line and has at most that many."""
    start = _find_line_start(text, max(len(text) - limit, 0))
    over = count_chars(text[start:]) - limit
    while over > 0 and (line := _LINE.match(text, start)):
        start = line.end()
        over -= count_chars(line.group())
    return text[start:]


def _find_line_start(text: str, at: int) -> int:
    """Return the first offset from `at` on at which a line begins, the end of the text when none does."""
    is_start = at == 0 or text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at : at + 1] != "\n")
    line = None if is_start else _LINE.match(text, at)
    return line.end() if line else at


def _keep_end(texts: Sequence[str], limit: int) -> list[str]:
    """Return the end of the newest line that says anything, cut within the line; nothing else is kept."""
    kept = [""] * len(texts)
    for at in reversed(range(len(texts))):
        written = texts[at].rstrip()
        if written:
            kept[at] = _clip_start(written[max(written.rfind("\n"), written.rfind("\r")) + 1 :], limit)
            break
    return kept


def _clip_start(text: str, limit: int) -> str:
    """Return the longest end of `text` that has at most `limit` units, never half a pair."""
    kept = text[-limit:]
    over = count_chars(kept) - limit
    while over > 0:
        kept = kept[(over + 1) // 2 :]
        over = count_chars(kept) - limit
    return kept
