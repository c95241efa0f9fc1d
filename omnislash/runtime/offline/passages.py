r"""Sources cut into passages: what a summary may take or leave, each a stretch of one source, word for word.

An entry is one passage, because its sentences lean on each other; a long one is cut between sentences, and a sentence
that is longer still between words. White space is all that changes: a passage is one line.

Every length is in UTF-16 code units.

Rules: PERIOD-O3, SECRET-O2.
"""

# ruff: noqa: RUF001, RUF003  (sentence ends of other scripts)
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from omnislash.core.budgets import clip_chars, count_chars
from omnislash.core.credentials import mask_secrets
from omnislash.core.entries import BYTE_ORDER_MARK, scan_blocks
from omnislash.runtime.offline.cues import Kind, kind_of_heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnislash.runtime.ladder.summarising import Source

#: Longest passage. The longest of the 175 entries of brain-example has 247, half of them at most 121 (2026-12-01): whole
#: entries stay whole, and a summary of the default 1,450 holds at least five.
PASSAGE_MAX = 280
#: A sentence end that is none behind a word of at most so many letters: "Dr.", "z. B.", "т. е.", "No. 3".
_SHORT_WORD = 2

_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ud800-\udfff]+")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]+|$)")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9] (?=\S)")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”»)\]]*+ |(?<![。！？])[。！？]++[”」』）]*+ ?")
_PERIOD = r"[0-9]{4}(?:-(?:[0-9]{2}(?:-[0-9]{2})?|W[0-9]{2}|Q[1-4]))?"
_CITATION = re.compile(rf" ?\(({_PERIOD}(?:, {_PERIOD})*)\)$")
_HIDDEN_ENDS = re.compile(r"^\s*(?:<!--|`{3,}|~{3,})|-->\s*$|(?:`{3,}|~{3,})\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source."""

    #: What it says, on one line, without the time in front and the citation behind.
    text: str
    #: The days or the period on which it rests.
    cites: tuple[str, ...]
    #: Which source it is from, counted from 0.
    source: int
    #: Which statement it is part of, counted over all sources; the parts of a long one share it.
    statement: int
    #: The kind that the heading above it names; None when there is none.
    heading: Kind | None


class _Statement(NamedTuple):
    """An entry or a paragraph as the source has it."""

    #: Its text.
    text: str
    #: The kind that the heading above it names.
    heading: Kind | None


def read_passages(sources: Sequence[Source]) -> list[Passage]:
    """Return the passages of all sources in order; credentials are masked in them.

    A source whose writing is all in fences or comments gives these, because it says nothing else.
    """
    passages: list[Passage] = []
    statement = 0
    for number, source in enumerate(sources):
        for said in _read_statements(source):
            statement += 1
            body, cites = _split_citation(said.text, source)
            parts = split_statement(body)
            passages += [Passage(part, cites, number, statement, said.heading) for part in parts]
    return passages


def _read_statements(source: Source) -> list[_Statement]:
    """Return the entries and the paragraphs of a source, in order, each on one line."""
    text = mask_secrets(source.text).removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    found = list(_walk(text, timed=source.is_daily))
    plain = [_Statement(_squeeze(said.text), said.heading) for said in found]
    kept = [said for said in plain if any(map(str.isalnum, said.text))]
    if kept:
        return kept
    lines = [line for line in text.split("\n") if not _HEADING.match(line)]
    bare = [_squeeze(_HIDDEN_ENDS.sub("", line)) for line in lines]
    return [_Statement(line, None) for line in (bare if any(bare) else map(_squeeze, lines)) if line]


def _walk(text: str, *, timed: bool) -> Iterator[_Statement]:
    """Yield what stands in the list items and, between them, in the paragraphs; headings name what is below them."""
    heading: Kind | None = None
    cursor = 0
    for kind, start, end in [*scan_blocks(text), ("end", len(text), len(text))]:
        for paragraph in _split_prose(text[cursor:start]):
            if _HEADING.match(paragraph):
                heading = kind_of_heading(paragraph)
            else:
                yield _Statement(paragraph, heading)
        cursor = end
        if kind == "heading":
            heading = kind_of_heading(text[start:end])
        elif kind == "item":
            said = text[start + 2 : end]
            clock = _TIME.match(said) if timed else None
            yield _Statement(said[clock.end() :] if clock else said, heading)


def _split_prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text without list items, and its heading lines, in order."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not _HEADING.match(line):
            lines.append(line)
            continue
        if lines:
            yield "\n".join(lines)
            lines = []
        if line.strip():
            yield line
    if lines:
        yield "\n".join(lines)


def _squeeze(text: str) -> str:
    """Return a text on one line: white space and what nobody sees becomes single blanks."""
    return _UNSEEN.sub(" ", text).strip()


def _split_citation(text: str, source: Source) -> tuple[str, tuple[str, ...]]:
    """Return a statement without the days cited at its end, and these days.

    Only in a summary they are a citation; what ends a daily entry is its own text, and the day is that of the log.
    What a summary says without citing a day rests on the period that it covers.
    """
    if source.is_daily:
        return text, (source.first.isoformat(),)
    found = _CITATION.search(text)
    body = text[: found.start()] if found else text
    if found and any(map(str.isalnum, body)):
        return body, tuple(dict.fromkeys(found[1].split(", ")))
    name = source.path.rpartition("/")[2].removesuffix(".md")
    return text, (name,) if re.fullmatch(_PERIOD, name) else ()


def split_statement(text: str) -> list[str]:
    """Return a statement in parts of at most `PASSAGE_MAX`: whole sentences where they fit, else whole words."""
    if count_chars(text) <= PASSAGE_MAX:
        return [text] if text else []
    parts: list[str] = []
    open_part = ""
    for piece in (piece for sentence in split_sentences(text) for piece in _split_words(sentence)):
        joined = f"{open_part} {piece}" if open_part else piece
        if open_part and count_chars(joined) > PASSAGE_MAX:
            parts.append(open_part)
            open_part = piece
        else:
            open_part = joined
    return [*parts, open_part]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of one line; a full stop behind a number or a word of two letters ends none."""
    sentences: list[str] = []
    start = 0
    for found in _END.finditer(text):
        if found[0] == ". " and _is_abbreviated(text, start, found.start()):
            continue
        sentences.append(text[start : found.end()].strip())
        start = found.end()
    return [sentence for sentence in [*sentences, text[start:].strip()] if sentence]


def _is_abbreviated(text: str, start: int, stop: int) -> bool:
    """Tell whether the full stop at `stop` belongs to the word before it, or the next sentence begins in lower case."""
    word = text[max(start, text.rfind(" ", start, stop) + 1) : stop].strip("(\"'„«“")
    return word.isdigit() or (word.isalpha() and len(word) <= _SHORT_WORD) or text[stop + 2 : stop + 3].islower()


def _split_words(sentence: str) -> Iterator[str]:
    """Yield a sentence in pieces of at most `PASSAGE_MAX`, cut at blanks where there are any in reach."""
    at = 0
    while at < len(sentence):
        window = sentence[at : at + PASSAGE_MAX + 1]
        piece = clip_words(window, PASSAGE_MAX)
        yield piece
        at += len(piece)
        at += sentence[at : at + 1] == " "


def clip_words(text: str, limit: int) -> str:
    """Return the longest beginning of a text within a limit that ends at a blank; of one long word its beginning."""
    clipped = clip_chars(text, limit)
    if len(clipped) == len(text) or text[len(clipped)] == " ":
        return clipped.rstrip()
    blank = clipped.rfind(" ")
    return clipped[:blank].rstrip() if blank > len(clipped) // 2 else clipped
