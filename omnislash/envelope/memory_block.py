"""MEMORY.md as a turn carries it: its reading, and as much of its text as `priorityChars` holds.

Over that ceiling the oldest dated sections go first, and what is still too long is cut by whole lines from the top. The
ceiling bounds the file's text as it is shown; the reading and the sentence that says "partial" come on top.

Every length is in UTF-16 code units.

Rules: ENVELOPE-03, ENVELOPE-16, ENVELOPE-17, ENVELOPE-21, ENVELOPE-24, ENVELOPE-O6, ENVELOPE-O8, RECALL-06, RECALL-07,
KNOB-06, KNOB-27, BUDGET-20, TENSION-13.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.entries import BYTE_ORDER_MARK
from omnislash.core.lines import memory_path
from omnislash.core.sections import MemoryDocument, Section, parse_memory
from omnislash.envelope.blocks import Block, BlockName, frame
from omnislash.envelope.cutting import is_far_longer, keep_first_words, keep_top, says_something, show_top

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnislash.core.budgets import Budget
    from omnislash.core.lines import LineName
    from omnislash.envelope.cutting import Piece

#: Stands in the heading of every dated section.
_DATED: Final = "## Memory ("
#: Files up to this length are remembered as they were last shown, in characters.
_REMEMBERED_CHARS: Final = 50_000


def render_memory(text: str, *, line: LineName, ceiling: int, budget: Budget) -> Block | None:
    """Return the block; None when the file says nothing, the ceiling is 0, or it is too small for anything of the file.

    Args:
        text: The whole file; bytes that were no UTF-8 as surrogate escapes.
        line: The line that it belongs to.
        ceiling: `priorityChars` in force.
        budget: `fileMaxChars` of the line, for the reading.
    """
    if ceiling <= 0 or not text.removeprefix(BYTE_ORDER_MARK).strip():
        return None
    render = _render if len(text) > _REMEMBERED_CHARS else _render_again
    return render(text, line, ceiling, budget)


def _render(text: str, line: LineName, ceiling: int, budget: Budget) -> Block | None:
    fit = _fit_whole(text, ceiling) or _fit_sections(text, ceiling)
    if fit is None:
        return None
    path = memory_path(line)
    partial = f"(partial — not all of {path} is shown here; memory_read of that path gives the rest)"
    body = "\n".join([budget.measure(text).render(), *([partial] if fit.is_partial else []), fit.text])
    return Block(
        name=BlockName.MEMORY,
        place=path,
        text=frame(BlockName.MEMORY, path, body),
        is_partial=fit.is_partial,
        shown={path: fit.spans if fit.is_partial else None},
    )


#: The same for a file that did not change since: masking and escaping it takes most of the time of a quiet turn.
_render_again = lru_cache(maxsize=64)(_render)


@dataclass(frozen=True, slots=True)
class _Fit:
    """What of the file is shown."""

    text: str
    is_partial: bool
    #: Lines of the file that are shown.
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A section ready to be shown."""

    section: Section
    piece: Piece
    #: Length of its lines together; over the ceiling for one that was clipped.
    chars: int
    #: Length of what is blank at its end.
    blank: int

    @property
    def says_something(self) -> bool:
        """Tell whether it has content: a line that is no heading."""
        return any(says_something(self.piece.lines, at) for at in range(len(self.piece.lines)))

    def span(self, lines: int) -> Iterable[tuple[int, int]]:
        """Yield the lines of the file that so many shown ones stand for; none where they can't be counted."""
        if lines and self.piece.is_countable:
            yield self.section.line, self.section.line + lines - 1


def _fit_whole(text: str, ceiling: int) -> _Fit | None:
    bare = _trim(text)
    if is_far_longer(bare, ceiling):
        return None
    piece = show_top(bare, ceiling)
    is_whole = not piece.is_clipped and piece.chars <= ceiling
    return _Fit("\n".join(piece.lines), is_partial=False) if is_whole else None


def _trim(text: str) -> str:
    """Return the text without a byte order mark and without empty lines around it."""
    return text.removeprefix(BYTE_ORDER_MARK).rstrip().lstrip("\r\n")


def _fit_sections(text: str, ceiling: int) -> _Fit | None:
    """Return the file without as many of its oldest dated sections as it takes, and cut when that is not enough."""
    document = _parse(text.rstrip())
    newest = document.droppable()[-1:]
    left = _drop_far_too_much(document, 2 * ceiling)
    parts = [_show(document, section, ceiling) for section in left]
    kept = _drop_oldest(document, parts, ceiling)
    if not any(part.says_something for part in kept):  # only headings are left without it
        back = {part.section.start for part in kept} | {section.start for section in newest}
        kept = [_show(document, section, ceiling) for section in document.sections if section.start in back]
    if _size(kept) <= ceiling:
        spans = [span for part in kept for span in part.span(len(part.piece.lines))]
        return _Fit(
            "\n".join("\n".join(part.piece.lines) for part in kept).rstrip(), is_partial=True, spans=_merge(spans)
        )
    return _cut(kept, ceiling)


def _parse(text: str) -> MemoryDocument:
    """Return the file as sections; one without a dated section is looked at no further, as it can be megabytes long."""
    if _DATED in text:
        return parse_memory(text)
    return MemoryDocument(text, (Section(None, 0, len(text), None, 1),), "\n")


def _drop_far_too_much(document: MemoryDocument, limit: int) -> tuple[Section, ...]:
    """Return the sections without the oldest dated ones of a file so long that not all of it has to be looked at."""
    size = len(document.text)
    dropped: set[int] = set()
    for section in document.droppable():
        if size <= limit:
            break
        size -= section.end - section.start
        dropped.add(section.start)
    return tuple(section for section in document.sections if section.start not in dropped)


def _show(document: MemoryDocument, section: Section, ceiling: int) -> _Part:
    own = document.slice(section).removeprefix(BYTE_ORDER_MARK)
    piece = show_top(own.removesuffix("\n").removesuffix("\r"), ceiling)
    joined = "\n".join(piece.lines)
    chars = ceiling + 1 if piece.is_clipped else count_chars(joined)
    return _Part(section, piece, chars, count_chars(joined) - count_chars(joined.rstrip()))


def _size(parts: Sequence[_Part]) -> int:
    """Return the length of these parts one below the other, without what is blank at their end."""
    return sum(part.chars + 1 for part in parts) - 1 - (parts[-1].blank if parts else 0)


def _drop_oldest(document: MemoryDocument, parts: Sequence[_Part], ceiling: int) -> list[_Part]:
    kept = list(parts)
    for section in document.droppable():
        if _size(kept) <= ceiling:
            break
        kept = [part for part in kept if part.section.start != section.start]
    return kept


def _cut(parts: Sequence[_Part], ceiling: int) -> _Fit | None:
    """Return whole lines from the top, or the first words where not one line fits (ENVELOPE-21, ENVELOPE-22)."""
    lines: list[str] = []
    for part in parts:
        lines += part.piece.whole
        if part.piece.is_clipped:
            break
    kept = keep_top(lines, ceiling)
    if not kept:
        words = keep_first_words([line for part in parts for line in part.piece.lines], ceiling)
        return _Fit(words, is_partial=True) if words else None
    spans: list[tuple[int, int]] = []
    left = len(kept)
    for part in parts:
        count = min(left, len(part.piece.lines))
        spans += part.span(count)
        left -= count
    return _Fit("\n".join(kept), is_partial=True, spans=_merge(spans))


def _merge(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the spans with those that touch made one, so that a note across two of them counts as shown."""
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and merged[-1][1] + 1 >= first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)
