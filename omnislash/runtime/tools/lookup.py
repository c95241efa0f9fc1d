"""A search for the eyes of a person: each hit with why it ranks and where its words stand, and why others do not show.

Rules: RECALL-01, RECALL-02, RECALL-08 to RECALL-12, TOOL-12, TOOL-13, SECRET-O2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.credentials import mask_secrets
from omnislash.core.words import TokenKind, split_words
from omnislash.runtime.tools.searching import find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from omnislash.core.words import Token
    from omnislash.index.stemming import Stemmer
    from omnislash.recall.explain import Explanation
    from omnislash.recall.hits import Hit, SearchResult
    from omnislash.runtime.tools.arguments import SearchArguments
    from omnislash.runtime.tools.searching import Found
    from omnislash.runtime.turns import Ports, Turn

#: How much of a note is shown beside its numbers, in characters: a long paragraph. The answer holds all of it as well.
SHOWN_MAX: Final = 1_500


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a note."""

    text: str
    #: True for a word that the question asks for.
    is_match: bool

    def to_json(self) -> dict[str, Any]:
        """Return `{text, match}`."""
        return {"text": self.text, "match": self.is_match}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenHit:
    """A hit with how it came about."""

    hit: Hit
    explanation: Explanation
    #: The beginning of the note, credentials masked; joined they are that text.
    pieces: tuple[Piece, ...]
    #: True when the note goes on.
    is_cut: bool

    def to_json(self) -> dict[str, Any]:
        """Return the hit as `memory_search` has it, with `explain`, `pieces` and `cut`."""
        return {
            **self.hit.to_json(),
            "explain": self.explanation.to_json(),
            "pieces": [piece.to_json() for piece in self.pieces],
            "cut": self.is_cut,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A search that was made, for a person."""

    result: SearchResult
    hits: tuple[SeenHit, ...]
    #: What became of the notes that the target means; None without a target.
    target: tuple[Explanation, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the answer of `memory_search` with explained hits, and `target` where one was named."""
        targeted = {} if self.target is None else {"target": [each.to_json() for each in self.target]}
        return {**self.result.to_json(), "hits": [hit.to_json() for hit in self.hits], **targeted}


def look_up(turn: Turn, ports: Ports, arguments: SearchArguments, *, target: str | None = None) -> Lookup:
    """Return a search with why each hit ranks and, for a target, why the notes that it means were shown or not.

    Args:
        turn: Who searches.
        ports: The brain.
        arguments: As `memory_search` takes them.
        target: A path, or a text of a note; None = nothing in particular.

    Raises:
        ScopeError: A corpus lies outside the read set, or the role has no memory.
        UsageError: A day does not exist.
    """
    found = find(turn, ports, arguments)
    explanations = found.explain(None)
    hits = tuple(_see(found, hit, each) for hit, each in zip(found.result.hits, explanations, strict=True))
    return Lookup(result=found.result, hits=hits, target=None if target is None else found.explain(target))


def _see(found: Found, hit: Hit, explanation: Explanation) -> SeenHit:
    text = mask_secrets(hit.snippet)
    shown = text[:SHOWN_MAX]
    if found.view is None or found.scored is None:
        pieces: tuple[Piece, ...] = (Piece(shown, is_match=False),)
    else:
        words = [match.word for match in found.scored.matches if hit.note in match.notes]
        terms = {term for word in words if not word.is_stop for term in (word.term, *word.parts)}
        pieces = tuple(mark_words(shown, terms, found.view.stemmer))
    return SeenHit(hit=hit, explanation=explanation, pieces=pieces, is_cut=len(text) > len(shown))


# -- where the words stand -------------------------------------------------------------------------------------------


def mark_words(text: str, terms: Collection[str], stemmer: Stemmer) -> Iterator[Piece]:
    """Yield a text in pieces, the words that stand for some term apart from what lies between them.

    A compound is marked as a whole when a part of it is asked for; of text without blanks the characters that are.
    """
    done = 0
    for start, end in _join(_spans(text, terms, stemmer)):
        if start > done:
            yield Piece(text[done:start], is_match=False)
        yield Piece(text[start:end], is_match=True)
        done = end
    if done < len(text):
        yield Piece(text[done:], is_match=False)


def _spans(text: str, terms: Collection[str], stemmer: Stemmer) -> Iterator[tuple[int, int]]:
    for token in split_words(text) if terms else ():
        if _stands_for(token, text, terms, stemmer):
            yield token.start, token.end


def _stands_for(token: Token, text: str, terms: Collection[str], stemmer: Stemmer) -> bool:
    if token.kind is TokenKind.GRAM:
        return token.text in terms
    return not stemmer.note_terms(text[token.start : token.end]).keys().isdisjoint(terms)


def _join(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans with those that overlap made one."""
    open_start, open_end = -1, -1
    for start, end in spans:
        if start < open_end:
            open_end = max(open_end, end)
            continue
        if open_end >= 0:
            yield open_start, open_end
        open_start, open_end = start, end
    if open_end >= 0:
        yield open_start, open_end
