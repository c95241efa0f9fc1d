"""The ladder of a turn: the latest summaries of a line in one block within `periodChars`.

Room is given to the finest level first and within a level to the newest summary, so that a long week crowds out the
month. The block shows them the other way round: coarsest level first, and within a level the oldest.

Every length is in UTF-16 code units.

Rules: ENVELOPE-18, ENVELOPE-19, ENVELOPE-21 to ENVELOPE-24, ENVELOPE-28, ENVELOPE-O2, ENVELOPE-O3, PERIOD-41, PERIOD-45,
KNOB-14, TENSION-13, TENSION-20.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.escaping import escape_note
from omnislash.core.ladder_block import GAP, border_chars, escape_labels, render_label, render_ladder
from omnislash.envelope.cutting import keep_first_words, keep_top, show_top

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnislash.core.lines import LineName, ManagedPath
    from omnislash.core.periods import Period
    from omnislash.envelope.blocks import Spans
    from omnislash.envelope.cutting import Piece

#: What only repeats a label: the heading of a summary.
_TITLE: Final = "# \t\r"
#: Summaries up to this length together are remembered as they were last shown, in characters.
_REMEMBERED_CHARS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as it was read."""

    #: What it sums up.
    period: Period
    #: The text of its file.
    text: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder as a turn shows it."""

    #: The block; '' when there is nothing to show or no room.
    text: str = ""
    #: True when a summary is shown in part, or left out for want of room.
    is_partial: bool = False
    #: Lines of the summaries that are shown, by path; None = all of them.
    shown: Mapping[str, Spans] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """A summary under its label."""

    text: str
    #: Lines of its file that are shown; None = all of them.
    spans: Spans


def render_summaries(summaries: Iterable[Summary], *, line: LineName, ceiling: int) -> str:
    """Return the block alone, as `render_rungs` gives it."""
    return render_rungs(summaries, line=line, ceiling=ceiling).text


def render_rungs(summaries: Iterable[Summary], *, line: LineName, ceiling: int) -> Ladder:
    """Return the ladder, its block never longer than `ceiling`.

    Args:
        summaries: The ones that `core.targets.choose_summaries` chose; those without text are passed over.
        line: The line they are of.
        ceiling: `periodChars` in force for the turn, in UTF-16 units; 0 = no block.
    """
    chosen = tuple(summaries)
    render = _render if sum(len(each.text) for each in chosen) > _REMEMBERED_CHARS else _render_again
    return render(chosen, line, ceiling)


def _render(summaries: tuple[Summary, ...], line: LineName, ceiling: int) -> Ladder:
    room = ceiling - border_chars(line)
    parts: dict[Period, _Part] = {}
    is_partial = False
    for summary in sorted(summaries, key=lambda each: (each.period.level.rank, -each.period.number)):
        head = _show(summary, room - len(GAP))
        part = _fit(head, summary.period.path_in(line), room - len(GAP))
        if part:
            parts[summary.period] = part
            room -= count_chars(part.text) + len(GAP)
        is_partial |= head.piece.says_something and (part is None or part.spans is not None)
    coarsest_first = sorted(parts, key=lambda period: (-period.level.rank, period.number))
    text = render_ladder(line, [parts[period].text for period in coarsest_first])
    shown: dict[str, Spans] = {period.path_in(line): parts[period].spans for period in coarsest_first}
    return Ladder(text, is_partial, shown)


#: The same for summaries that did not change since: masking and escaping them takes most of the time of a quiet turn.
_render_again = lru_cache(maxsize=64)(_render)


@dataclass(frozen=True, slots=True)
class _Head:
    """The beginning of a summary, ready to be shown."""

    piece: Piece
    #: Number of the line of the file that it begins with.
    line: int


def _fit(head: _Head, path: ManagedPath, room: int) -> _Part | None:
    """Return label and text of a summary, as much of it as the room holds; None when it holds none."""
    lines = head.piece.lines
    if not head.piece.says_something:
        return None
    whole = "\n".join([render_label(path, is_whole=True), *lines])
    if not head.piece.is_clipped and count_chars(whole) <= room:
        return _Part(whole, None)
    label = render_label(path, is_whole=False)
    left = room - count_chars(label) - 1
    kept = keep_top(head.piece.whole, left)
    text = "\n".join(kept) or keep_first_words(lines, left)
    spans = ((head.line, head.line + len(kept) - 1),) if kept and head.piece.is_countable else ()
    return _Part(f"{label}\n{text}", spans) if text else None


def _show(summary: Summary, limit: int) -> _Head:
    """Return the beginning of a summary, masked and escaped, without the heading that only repeats its label."""
    text = summary.text.removeprefix("\ufeff").rstrip()
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start) % (len(text) + 1)
    if text.startswith("#", start) and text[start:end].strip(_TITLE) == summary.period.name:
        start = len(text) - len(text[end:].lstrip())
    piece = show_top(text[start:], limit, escape=lambda each: escape_labels(escape_note(each)))
    return _Head(piece, text.count("\n", 0, start) + 1)
