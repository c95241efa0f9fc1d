"""How much goes into one note: long blocks are cut, short ones are packed together.

Sizes are word pieces, the unit of an embedder's window, and are estimated without a tokenizer, which would cost more
than all the rest: a run of up to seven letters or digits is a piece, and so are a Chinese or Japanese character and
any other sign.
Against MiniLM's tokenizer the estimate is 1.02 (p5 0.82, p95 1.16) on English prose and technical notes, against
multilingual-e5's 1.08 on English, 1.21 on Russian, 0.6 on Chinese and Japanese, where e5 packs two characters in a
piece (measured 2026-12-01 on XQuAD, this project's texts and small samples; figures are true pieces an estimated one).

Rules: RECALL-O5.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.index.blocks import BlockKind
from omnislash.index.plain_text import has_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnislash.index.blocks import Block

#: Most pieces in the body of a note. The window of the embedders is 256; 2 go to the marks at its ends, and some 30
#: to title, headings and date (a date in words and numbers takes 14).
WHOLE_PIECES: Final = 224
#: Size up to which paragraphs and list items of a document are packed: about 600 characters of English, the length of
#: a paragraph that speaks of one thing. Longer notes blur the vector, shorter ones don't make sense by themselves.
TARGET_PIECES: Final = 140
#: A note below this many pieces, some 120 characters, is joined to its neighbour when both fit the window.
SHORT_PIECES: Final = 28

_WIDE = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U00010000-\U0010ffff"
_PIECE = rf"(?:[{_WIDE}]|[^\W{_WIDE}]{{1,7}}+|[^\w\s])"
_PIECES = re.compile(_PIECE)
_STRETCH = re.compile(rf"\s*+(?:{_PIECE}\s*+){{1,{TARGET_PIECES}}}+")
#: More characters than this can't be few pieces: each has at most seven, and white space between them rarely as many.
_SURELY_LONG_CHARS = 16 * WHOLE_PIECES
_SENTENCE_END = re.compile(r"[.!?\u2026][\"')\]\u00bb\u201d\u2019]{0,3}\s|[\u3002\uff01\uff1f]")
_FENCE_LINE = re.compile(r"(?m)^[ \t>]*+(?:[-*+][ \t]++)*+(`{3,}+|~{3,}+)([^\r\n]*+)")
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True)
class Part:
    """A block, or a piece of a long one."""

    block: Block
    #: Offset of its first character.
    start: int
    #: Offset after its last character.
    end: int
    #: Estimated size in word pieces.
    pieces: int

    @property
    def is_continued(self) -> bool:
        """Tell whether the beginning of its block stands in an earlier note."""
        return self.start > self.block.start


def count_pieces(text: str) -> int:
    """Return the estimated word pieces of a text; some number over `WHOLE_PIECES` when it is very long."""
    if len(text) > _SURELY_LONG_CHARS:
        return len(text)
    return len(_PIECES.findall(text))


def pack_blocks(text: str, blocks: Sequence[Block]) -> list[tuple[Part, ...]]:
    """Return the notes of the blocks below one heading, in order, each as the parts that it is made of.

    A block that fits the window is never cut. Neighbours are packed up to `TARGET_PIECES`; a short beginning is joined
    to what follows, and a short end to what precedes, when both fit the window.
    """
    packs: list[list[Part]] = []
    sizes: list[int] = []
    for part in (part for block in blocks for part in cut_block(text, block)):
        if packs and _belongs(sizes[-1], part.pieces):
            packs[-1].append(part)
            sizes[-1] += part.pieces
        else:
            packs.append([part])
            sizes.append(part.pieces)
    if len(packs) > 1 and sizes[-1] < SHORT_PIECES and sizes[-2] + sizes[-1] <= WHOLE_PIECES:
        packs[-2].extend(packs.pop())
    return [tuple(pack) for pack in packs]


def cut_block(text: str, block: Block) -> list[Part]:
    """Return a block as parts: one when it fits the window, else pieces that are cut where it hurts least."""
    pieces = count_pieces(text[block.start : block.end])
    if pieces <= WHOLE_PIECES:
        return [Part(block, block.start, block.end, pieces)]
    fences = () if block.kind is BlockKind.CODE else tuple(_find_fences(text, block))
    spans = (span for span in _cut(text, block, fences) if has_words(text[slice(*span)]))
    parts = [_part(text, block, start, end) for start, end in spans]
    if len(parts) > 1 and parts[-1].pieces < SHORT_PIECES and parts[-2].pieces + parts[-1].pieces <= WHOLE_PIECES:
        last = parts.pop()
        parts[-1] = _part(text, block, parts[-1].start, last.end)
    return parts


def _belongs(size: int, more: int) -> bool:
    """Tell whether a part goes into a note that is already so large."""
    return size + more <= (WHOLE_PIECES if size < SHORT_PIECES else TARGET_PIECES)


def _part(text: str, block: Block, start: int, end: int) -> Part:
    return Part(block, start, end, count_pieces(text[start:end]))


def _find_fences(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the fences inside an item or quote that fit the window, as offsets."""
    opened: re.Match[str] | None = None
    for found in _FENCE_LINE.finditer(text, block.start, block.end):
        if opened is None:
            opened = found
        elif found[1].startswith(opened[1]) and not found[2].strip():
            if count_pieces(text[opened.start() : found.end()]) <= WHOLE_PIECES:
                yield opened.start(), found.end()
            opened = None


def _cut(text: str, block: Block, fences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a block that is longer than the window, without white space around them."""
    cursor, waiting = block.start, iter(fences)
    fence = next(waiting, None)
    while cursor < block.end:
        stretch = _STRETCH.match(text, cursor, block.end)
        if stretch is None:
            return
        while fence is not None and fence[1] <= cursor:
            fence = next(waiting, None)
        end = _choose_end(text, cursor, stretch.end(), block.end)
        if fence is not None and fence[0] < end < fence[1]:
            end = fence[0] if fence[0] > cursor and text[cursor : fence[0]].strip() else fence[1]
        first, last = cursor, end
        while first < last and text[first].isspace() and block.kind is not BlockKind.CODE:
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        yield first, last
        cursor = end


def _choose_end(text: str, start: int, limit: int, end: int) -> int:
    """Return where a piece that begins at `start` should end: at a paragraph, line, sentence or word, else at `limit`."""
    if limit >= end:
        return end
    half = start + (limit - start) // 2
    for mark in ("\n\n", "\r\n\r\n", "\n", "\r"):
        found = text.rfind(mark, half, limit)
        if found > start:
            return found + len(mark)
    sentences = [found.end() for found in _SENTENCE_END.finditer(text, half, limit)]
    if sentences:
        return sentences[-1]
    at = limit
    while at > half and not text[at - 1].isspace():
        at -= 1
    return at if at > half else _back_off(text, half, limit)


def _back_off(text: str, start: int, limit: int) -> int:
    """Return the last offset up to `limit` at which no character is torn from its accents, or `limit`."""
    at = limit
    while at > start and (unicodedata.combining(text[at]) or text[at] in _JOINERS or text[at - 1] == "\u200d"):
        at -= 1
    return at if at > start else limit
