"""What comes back from an OpenAI-compatible endpoint: checked before anything is kept of it."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.index.embedders.ports import Vectors

#: Characters of an endpoint's own words that are repeated.
_LONGEST_WORDS = 200


class BadAnswerError(EmbedderUnavailableError):
    """The endpoint answered something that can't be used."""


def parse_vectors(body: bytes, count: int) -> Vectors:
    """Return the vectors of an answer in the order of the texts, shape (count, d), rows of unit length.

    Raises:
        BadAnswerError: It is no JSON, has another number of vectors than there were texts, vectors of different
            lengths, numbers that are not finite, or a vector of nothing but zeros.
    """
    import numpy as np  # noqa: PLC0415 - only when there is an answer

    rows = _order_rows(_read_rows(body), count)
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not min(lengths):
        raise BadAnswerError(f"vectors of {_name_sizes(lengths)} numbers in one answer")
    try:
        vectors = np.array(rows, np.float64)
    except (TypeError, ValueError) as error:
        raise BadAnswerError("something that is no number in a vector") from error
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    if not (np.isfinite(peaks).all() and peaks.all()):
        raise BadAnswerError("a vector whose numbers are not finite, or are all zero")
    scaled = vectors / peaks  # so that no square is past what a number holds
    units: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return units


def _read_rows(body: bytes) -> list[tuple[int, list[float]]]:
    """Return place and numbers of each vector."""
    try:
        data: Any = json.loads(body)["data"]
        return [(int(item.get("index", place)), list(item["embedding"])) for place, item in enumerate(data)]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise BadAnswerError("no list of embeddings") from error


def _order_rows(rows: list[tuple[int, list[float]]], count: int) -> list[list[float]]:
    by_place = dict(rows)
    if len(rows) != count or by_place.keys() != set(range(count)):
        raise BadAnswerError(f"{len(rows)} vectors for {count} texts, or not each text's")
    return [by_place[place] for place in range(count)]


def _name_sizes(lengths: set[int]) -> str:
    return " and ".join(str(length) for length in sorted(lengths))


def read_words(body: bytes, key: str) -> str:
    """Return what an endpoint says about an error, on one line, without the key; empty when it says nothing."""
    try:
        told: Any = json.loads(body)
    except (RecursionError, ValueError):
        return ""
    error = told.get("error", told) if isinstance(told, dict) else told
    words = error.get("message") if isinstance(error, dict) else error
    if not isinstance(words, str):
        return ""
    safe = words.replace(key, "…") if key else words
    return re.sub(r"\s+", " ", safe).strip()[:_LONGEST_WORDS].rstrip(".")


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait; None when it does not say.

    A moment is compared with the endpoint's own clock, as its `Date` tells it.
    """
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", asked):
        return float(asked)
    try:
        moment, now = parsedate_to_datetime(asked), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (moment - now).total_seconds())
    except (TypeError, ValueError):
        return None
