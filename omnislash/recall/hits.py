"""What a search is asked and what it answers: values, and their JSON.

Rules: RECALL-01 to RECALL-12, RECALL-O3, TOOL-12, TOOL-13, SOURCE-17, TOOL-O3; interface.md, "Memory tools".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from omnislash.core.credentials import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from omnislash.core.corpora import Ref


class Coverage(StrEnum):
    """How far the search could look."""

    #: Everything in scope was looked at; nothing found means that nothing is there.
    FULL = "full"
    #: There are hits, and there may be more that could not be seen.
    INCOMPLETE = "incomplete"
    #: Nothing was found because the search could not look properly; that proves nothing.
    NOT_CHECKED = "not-checked"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a turn shows of a file already, so that recall does not repeat it (RECALL-06, RECALL-07)."""

    #: Path as tools use it, then the spans of lines that are shown, each from and to, counted from 1; None = all of it.
    spans: Mapping[str, tuple[tuple[int, int], ...] | None] = field(default_factory=dict)

    def holds(self, path: str, first: int, last: int) -> bool:
        """Tell whether every line of a note is on screen already."""
        if path not in self.spans:
            return False
        spans = self.spans[path]
        if spans is None:
            return True
        for start, end in sorted(spans):
            if start <= first <= end:
                first = end + 1
        return first > last


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search."""

    #: The message or question, as it was written.
    query: str
    #: The corpora that are searched, and no others.
    refs: tuple[Ref, ...]
    #: Score from which a note is a hit; 0 = no floor (KNOB-O1).
    floor: float
    #: How many hits at most.
    limit: int
    #: Today in the brain's zone; from it the age of a note counts.
    today: date
    #: Only notes of this day or later; notes without a day are left out then.
    since: date | None = None
    #: Only notes of this day or earlier.
    until: date | None = None
    #: What the turn shows already.
    shown: Shown = field(default_factory=Shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A note that was found."""

    #: As `memory_read` takes it.
    path: str
    #: First and last line, counted from 1.
    span: tuple[int, int]
    #: The line, or the source.
    corpus: str
    #: memory, daily, week, month, quarter, year, document or source.
    kind: str
    #: The day it belongs to; None without one.
    date: date | None
    #: Relevance in [0, 1]; the floor is compared with it (RECALL-01).
    score: float
    #: Calibrated cosine in [0, 1]; None where no embedder read the note or the message.
    meaning: float | None
    #: Share of the message's distinct words that the note has, in [0, 1].
    words: float
    #: The note as it stands in the file.
    snippet: str
    #: What decided the order among the hits; not a score.
    rank: float
    #: Number of the note in the snapshot that was searched.
    note: int = -1

    def to_json(self) -> dict[str, Any]:
        """Return the hit as the tools answer it."""
        return {
            "path": mask_secrets(self.path),
            "span": list(self.span),
            "corpus": self.corpus,
            "kind": self.kind,
            **({} if self.date is None else {"date": self.date.isoformat()}),
            "score": self.score,
            "meaning": self.meaning,
            "words": self.words,
            "rank": self.rank,
            "snippet": mask_secrets(self.snippet),
        }


@dataclass(frozen=True, slots=True)
class Literal:
    """A note under the floor that has something exact of the question, and rare in the scope."""

    #: The identifier, number or quoted phrase.
    text: str
    path: str
    span: tuple[int, int]
    score: float

    def to_json(self) -> dict[str, Any]:
        """Return `{literal, path, span, score}`."""
        return {"literal": self.text, "path": mask_secrets(self.path), "span": list(self.span), "score": self.score}


@dataclass(frozen=True, slots=True)
class BelowFloor:
    """What lies under the floor (TOOL-13)."""

    #: Notes that have something of the question and score less than the floor.
    count: int = 0
    #: The best score among them: as `minScore` it would surface that note.
    best_score: float | None = None
    #: Notes among them that hold a rare literal of the question.
    literals: tuple[Literal, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{count, bestScore?, literals?}`."""
        best = {} if self.best_score is None else {"bestScore": self.best_score}
        named = {"literals": [each.to_json() for each in self.literals]} if self.literals else {}
        return {"count": self.count, **best, **named}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found, and how far the search could look."""

    hits: tuple[Hit, ...]
    below_floor: BelowFloor
    coverage: Coverage
    #: Why it is not full, a sentence each; empty when it is.
    reasons: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{hits, belowFloor, coverage, reasons}`."""
        return {
            "hits": [hit.to_json() for hit in self.hits],
            "belowFloor": self.below_floor.to_json(),
            "coverage": self.coverage.value,
            "reasons": list(map(mask_secrets, self.reasons)),
        }
