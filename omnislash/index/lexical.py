"""The word leg: which notes have which words of a question.

Inverted lists in memory instead of SQLite's full-text search, because the score needs, for every note in scope, how many
of *all* words of the message it has, the most frequent ones included, and because document frequencies have to be those
of the notes in scope and of no others. Measured on 2026-12-01; see `make bench-speed`.
No text of a user is ever part of a query language: a word is looked up by its hash.

Rules: RECALL-01, RECALL-O1, LANG-02, SCOPE-O8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnislash.index.packing import hash_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnislash.index.snapshot import Snapshot
    from omnislash.index.stemming import Query, QueryWord


@dataclass(frozen=True, slots=True)
class Match:
    """Which notes have one word of the question."""

    #: The word.
    word: QueryWord
    #: Notes of the snapshot in order, dead ones included; int64.
    notes: NDArray[np.int64]
    #: How often each has it, uint8.
    counts: NDArray[np.uint8]


def match_words(snapshot: Snapshot, query: Query) -> tuple[Match, ...]:
    """Return for each distinct word of the question the notes that have it, whole or in all its parts."""
    return tuple(_match(snapshot, word) for word in query.words)


def _match(snapshot: Snapshot, word: QueryWord) -> Match:
    notes, counts = snapshot.find(hash_term(word.term))
    if word.parts:
        in_parts = _find_all(snapshot, word.parts)
        apart = in_parts[~np.isin(in_parts, notes)]
        if len(apart):
            notes = np.concatenate([notes, apart])
            counts = np.concatenate([counts, np.ones(len(apart), np.uint8)])
            order = np.argsort(notes, kind="stable")
            notes, counts = notes[order], counts[order]
    return Match(word, notes, counts)


def _find_all(snapshot: Snapshot, terms: Sequence[str]) -> NDArray[np.int64]:
    """Return the notes that have every one of some terms."""
    lists = sorted((snapshot.find(hash_term(term))[0] for term in dict.fromkeys(terms)), key=len)
    found = lists[0]
    for more in lists[1:]:
        found = np.intersect1d(found, more, assume_unique=True)
    return found
