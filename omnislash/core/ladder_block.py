"""What stands around the summaries of a ladder in a turn: the tags of the block, a label for each summary, a pointer.

::

    <agent-memory-periods line="main">
    [main/2025/2025.md] (in part — memory_read for the rest)
    …

    [main/2026/2026-W34.md]
    …

    (older entries and the days behind these summaries exist — …)
    </agent-memory-periods>

All of it counts against `periodChars`, so what it takes in a full ladder is also what the length asked of a summary is
made without. Every length is in UTF-16 code units.

Rules: PERIOD-37, ENVELOPE-03, ENVELOPE-05, ENVELOPE-14, ENVELOPE-18, ENVELOPE-23, ENVELOPE-O2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.targets import full_ladder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from omnislash.core.lines import LineName, ManagedPath
    from omnislash.core.periods import Level

#: What a label says of a summary that does not stand there whole (ENVELOPE-18).
IN_PART: Final = "(in part — memory_read for the rest)"
#: Last line of the block: what the summaries leave out, and how to reach it (ENVELOPE-14).
POINTER: Final = (
    "(older entries and the days behind these summaries exist — memory_search finds them, memory_read opens a path)"
)
#: Between two summaries, and between the last one and the pointer: an empty line.
GAP: Final = "\n\n"
_CLOSE: Final = "</agent-memory-periods>"
#: The start of a line that could be read as a label: the first thing said in it is a path in brackets.
_LABEL_LIKE = re.compile(r"^([^\w\n]*?)(?=\[[^\[\]\n]*\.md\s*\])", re.MULTILINE | re.IGNORECASE)


def render_label(path: ManagedPath, *, is_whole: bool) -> str:
    """Return the line above a summary: its path, and whether more of it can be read there (ENVELOPE-18)."""
    return f"[{path}]" if is_whole else f"[{path}] {IN_PART}"


def render_ladder(line: LineName, parts: Sequence[str]) -> str:
    """Return the block that holds these parts, each a label and the text below it, in their order; '' without any.

    Rules: PERIOD-45, ENVELOPE-24.
    """
    if not parts:
        return ""
    return f'<agent-memory-periods line="{line}">\n{GAP.join([*parts, POINTER])}\n{_CLOSE}'


def border_chars(line: LineName) -> int:
    """Return the length of what every ladder of the line has: its tags and its pointer."""
    return count_chars(f'<agent-memory-periods line="{line}">\n{POINTER}\n{_CLOSE}')


def frame_chars(levels: Iterable[Level], today: date, count: int, *, line: LineName) -> int:
    """Return the length of a full ladder of the line without the texts of its summaries.

    With `core.targets.target_chars` it gives the length asked of a summary: `count` summaries of every level, each of
    that length, stand whole in a block of `periodChars`.

    Args:
        levels: Levels that the line enables.
        today: Local day; the ladder holds the last closed periods before it.
        count: The manifest's `periodCount`.
        line: The line; its name stands in every label.

    Rules: PERIOD-37, PERIOD-38, ENVELOPE-23.
    """
    labels = (render_label(period.path_in(line), is_whole=True) for period in full_ladder(levels, today, count=count))
    return border_chars(line) + sum(count_chars(label) + 1 + len(GAP) for label in labels)


def escape_labels(text: str) -> str:
    r"""Return the text with `\[` where a line of it could be taken for the label of a summary."""
    return _LABEL_LIKE.sub(r"\1\\", text)
