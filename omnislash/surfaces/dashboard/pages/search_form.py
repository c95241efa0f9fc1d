"""What the search page is asked: read from the address, checked field by field, and written into an address again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from omnislash.brain.names import normalise_id
from omnislash.core.lines import quote_name
from omnislash.runtime.tools.arguments import DEFAULT_HITS, LARGEST_HITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.datastructures import QueryParams

    from omnislash.brain.files import BrainFiles

SEARCH, RECALL = "search", "recall"
#: Fields with one value.
_FIELDS: Final = ("q", "mode", "role", "since", "until", "minScore", "limit", "target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One search, as it was typed and as it is meant."""

    #: Each field as text, `corpora` as a list.
    typed: Mapping[str, Any]
    #: What is wrong, a sentence by field.
    errors: Mapping[str, str]
    query: str
    is_recall: bool
    #: None = a person, over everything.
    role: str | None
    corpora: tuple[str, ...]
    target: str | None
    #: The other arguments of `memory_search`, as far as they were given.
    narrowing: Mapping[str, Any]

    @property
    def is_asked(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.query)

    def link(self, **changed: str) -> str:
        """Return the address of the same search with some fields changed."""
        fields = {name: self.typed[name] for name in _FIELDS if self.typed[name]} | changed
        if fields["mode"] == SEARCH:
            del fields["mode"]
        pairs = [*fields.items(), *(("corpora", name) for name in self.typed["corpora"])]
        return f"/search?{urlencode(pairs)}"


def read_question(asked: QueryParams, config: BrainFiles) -> Question:
    """Return what is asked; what is wrong with it is in its errors."""
    typed: dict[str, Any] = {name: asked.get(name, "").strip() for name in _FIELDS}
    typed["corpora"] = [name.strip() for name in asked.getlist("corpora") if name.strip()]
    typed["mode"] = typed["mode"] or SEARCH
    errors = dict(_check(typed, config))
    is_recall = typed["mode"] == RECALL
    return Question(
        typed=typed,
        errors=errors,
        query=typed["q"],
        is_recall=is_recall,
        role=typed["role"] or None,
        corpora=() if is_recall else tuple(typed["corpora"]),
        target=typed["target"] or None,
        narrowing={} if errors else _narrow(typed),
    )


def _check(typed: Mapping[str, Any], config: BrainFiles) -> Iterator[tuple[str, str]]:
    if typed["target"] and not typed["q"]:
        yield "q", "Write what is looked for; whether the note shows depends on that."
    if typed["mode"] not in {SEARCH, RECALL}:
        yield "mode", f"Choose {SEARCH} or {RECALL}."
    if typed["role"] and normalise_id(typed["role"]) not in config.roles:
        yield "role", f"There is no role {quote_name(typed['role'])}."
    if typed["mode"] == RECALL and not typed["role"]:
        yield "role", "Choose a role: what a turn is shown unasked depends on whose turn it is."
    for name in ("since", "until"):
        if typed[name] and not _is_day(typed[name]):
            yield name, "Write a day of the calendar, for example 2026-11-30."
    if _is_day(typed["since"]) and _is_day(typed["until"]) and typed["since"] > typed["until"]:
        yield "until", "This day lies before the first one, so no day lies between them."
    if typed["minScore"] and _read_score(typed["minScore"]) is None:
        yield "minScore", "Write a number from 0 to 1, for example 0.25."
    if typed["limit"] and parse_limit(typed["limit"], most=LARGEST_HITS) is None:
        yield "limit", f"Write a whole number from 1 to {LARGEST_HITS}."


def _narrow(typed: Mapping[str, Any]) -> dict[str, Any]:
    score, limit = _read_score(typed["minScore"]), parse_limit(typed["limit"], most=LARGEST_HITS)
    return {
        "corpora": typed["corpora"] or None,
        "since": typed["since"] or None,
        "until": typed["until"] or None,
        "minScore": score,
        "limit": DEFAULT_HITS if limit is None else limit,
    }


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _read_score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if math.isfinite(score) and 0 <= score <= 1 else None


def parse_limit(text: str, *, most: int) -> int | None:
    """Return a whole number from 1 to `most`; None for anything else."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    return int(text) if is_number and 1 <= int(text) <= most else None
