"""The two legs of a search, each over every note of the snapshot, and what was missing of either.

Rules: LANG-01, RECALL-11, RECALL-17, RECALL-O1, RECALL-O3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnislash.errors import IndexUnavailableError
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.index.lexical import match_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnislash.index.lexical import Match
    from omnislash.index.live import View
    from omnislash.index.stemming import Query

#: Decimals to which a cosine of 32-bit vectors is known: where a vector lies in the matrix changes the eighth (3e-8,
#: measured on 2026-12-01 with 384 numbers). What is behind them must decide neither a tie at the floor nor an order.
_KNOWN_DECIMALS = 6
#: Longest message that is embedded as it is, in characters: about the 256 tokens that the shipped model reads.
_EMBEDDED_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the meaning leg says."""

    #: For each note the cosine on the common scale, as it is; 0 for a note in another language's space.
    scaled: NDArray[np.float64]
    #: For each note whether the leg could judge it; where not, words carry the scale alone.
    judged: NDArray[np.bool_]
    #: Why it could judge no note at all; None when it could.
    down: str | None = None
    #: For each note whether its vector is still to be made, and would have been asked.
    waiting: NDArray[np.bool_] | None = None


def measure_meaning(view: View, text: str) -> Meaning:
    """Return how close each note is to a message, in the space of the message's own language."""
    size = view.snapshot.size
    scaled, notes = np.zeros(size), view.snapshot.notes
    judged = notes["model"] > 0
    embedders = view.router.routes(text)
    if not embedders:
        return Meaning(scaled, np.zeros(size, bool), _explain_unread(view))
    asked = np.zeros(size, bool)
    for embedder in embedders:
        model = view.models[embedder.identity]
        try:
            query = embedder.embed_query(keep_ends(text, _EMBEDDED_MAX))
        except EmbedderUnavailableError as error:
            return Meaning(scaled, np.zeros(size, bool), f"the meaning leg is down: {error.message.rstrip('.')}")
        rows = np.where(notes["model"] == model, notes["row"], -1)
        cosines = view.vectors.cosines(model, query, rows)
        known = ~np.isnan(cosines)
        scaled[known] = np.round(embedder.calibration.raw(cosines[known]).astype(np.float64), _KNOWN_DECIMALS)
        mine = notes["model"] == model
        judged &= known | ~mine
        asked |= mine
    return Meaning(scaled, judged, waiting=asked & ~judged)


def keep_ends(text: str, limit: int) -> str:
    """Return a message that is not longer than `limit` characters: of a longer one its beginning and its end.

    What is asked stands before or behind what was pasted.
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n{text[len(text) - (limit - half - 1) :]}"


def _explain_unread(view: View) -> str:
    if not view.embedders:
        return "the meaning leg is down: no embedder is configured (memory.embeddingModel is none)"
    names = ", ".join(each.name for each in view.embedders)
    return f"the meaning leg is down for this text: {names} can't read its language"


def find_words(view: View, query: Query) -> tuple[tuple[Match, ...], str | None]:
    """Return the notes that have each word of a message, and why the leg is down, if it is."""
    try:
        return match_words(view.snapshot, query), None
    except IndexUnavailableError as error:
        return (), f"the word leg is down: {error.message.rstrip('.')}"
