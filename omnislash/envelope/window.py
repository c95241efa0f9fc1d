"""The window of a turn: the last days of daily logs in one block within `recentChars`.

Room is given to the newest day first, and of a day that does not fit the lines from the bottom stay, so that the newest
entries survive. The block shows the days in their order, oldest first.

Every length is in UTF-16 code units.

Rules: ENVELOPE-13 to ENVELOPE-15, ENVELOPE-18, ENVELOPE-20 to ENVELOPE-24, ENVELOPE-O2, KNOB-07, KNOB-08, LINE-O3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.daily import has_writing, render_heading
from omnislash.core.entries import BYTE_ORDER_MARK
from omnislash.core.escaping import escape_document
from omnislash.core.ladder_block import GAP, escape_labels, render_label
from omnislash.core.lines import daily_path
from omnislash.envelope.blocks import Block, BlockName, frame
from omnislash.envelope.cutting import keep_bottom, keep_first_words, show_bottom

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from omnislash.core.lines import LineName, ManagedPath
    from omnislash.envelope.blocks import Spans

#: Last line of the block: what it leaves out, and how to reach it (ENVELOPE-14).
POINTER: Final = "(older entries exist — memory_search finds them, memory_read opens a path)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLog:
    """A daily log as it was read."""

    on: date
    #: The text of its file; '' where it could not be read.
    text: str
    #: Why it could not be read; '' when it was.
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A day under its label."""

    text: str
    #: Lines of its file that are shown; None = all of them.
    spans: Spans


def render_window(logs: Iterable[DayLog], *, line: LineName, ceiling: int) -> Block | None:
    """Return the block, never longer than `ceiling`; None when there is nothing to show or no room.

    Args:
        logs: Those of the window, newest day first; no more of them are asked for than there is room for.
        line: The line they are of.
        ceiling: `recentChars` in force, in UTF-16 units; 0 = no block.
    """
    room = ceiling - count_chars(_frame(line, []))
    parts: list[_Part] = []
    shown: dict[str, Spans] = {}
    troubles: list[str] = []
    is_partial = False
    for log in logs:
        if room <= 0:
            is_partial = True
            break
        if not log.trouble and not has_writing(log.text):
            continue
        path = daily_path(line, log.on)
        troubles += [f"{path}: {log.trouble}"] if log.trouble else []
        part = _fit(log, path, room - len(GAP))
        if part is not None:
            parts.append(part)
            shown[path] = part.spans
            room -= count_chars(part.text) + len(GAP)
        if part is None or part.spans is not None:
            is_partial = True
            if not log.trouble:  # what is older must not survive it
                break
    if not parts:
        return None
    text = _frame(line, [part.text for part in reversed(parts)])
    trouble = "\n".join(troubles)
    return Block(name=BlockName.DAILY, place=line, text=text, is_partial=is_partial, trouble=trouble, shown=shown)


def _frame(line: LineName, parts: list[str]) -> str:
    return frame(BlockName.DAILY, line, GAP.join([*parts, POINTER]))


def _fit(log: DayLog, path: ManagedPath, room: int) -> _Part | None:
    """Return label and text of a day, as much of it as the room holds; None when it holds none."""
    if log.trouble:
        said = f"{render_label(path, is_whole=False)}\n(could not be read: {log.trouble})"
        return _Part(said, ()) if count_chars(said) <= room else None
    text = _drop_heading(log)
    piece = show_bottom(text, room, escape=lambda each: escape_labels(escape_document(each)))
    whole = "\n".join([render_label(path, is_whole=True), *piece.lines])
    if not piece.is_clipped and count_chars(whole) <= room:
        return _Part(whole, None)
    label = render_label(path, is_whole=False)
    left = room - count_chars(label) - 1
    kept = keep_bottom(piece.whole, left)
    if kept:
        last = log.text.rstrip().count("\n") + 1
        spans = ((last - len(kept) + 1, last),) if piece.is_countable and kept[-1] == piece.lines[-1] else ()
        return _Part("\n".join([label, *kept]), spans)
    words = keep_first_words(_newest_line(piece.lines), left)
    return _Part(f"{label}\n{words}", ()) if words else None


def _drop_heading(log: DayLog) -> str:
    """Return the log without the heading that only repeats its label, and without empty lines around the rest."""
    text = log.text.removeprefix(BYTE_ORDER_MARK).strip("\r\n")
    title, _, below = text.partition("\n")
    return below.strip("\r\n").rstrip() if title.rstrip() == render_heading(log.on) else text.rstrip()


def _newest_line(lines: tuple[str, ...]) -> list[str]:
    """Return the last line that may say something, alone."""
    return next(([line] for line in reversed(lines) if has_writing(line)), [])
