"""Why a note was shown, or was not: the legs, the score, the floor, the decay, and one reason from a closed list.

Rules: RECALL-01, RECALL-02, RECALL-04, RECALL-05, RECALL-15, TOOL-12, KNOB-O8, SECRET-O2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.core import scoring
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.credentials import mask_secrets
from omnislash.recall.legs import find_words
from omnislash.recall.scoped import holding_files
from omnislash.recall.search import NoteReader, fold_phrase, is_shown, make_hit, shown_bodies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from omnislash.index.live import View
    from omnislash.recall.hits import Hit
    from omnislash.recall.search import Scored

#: How the name of every file of the index ends.
SUFFIX = ".md"
#: Notes that one target explains at most: a file may have thousands.
_EXPLAINED = 20
#: How much of a note is shown, in characters; masked is more than that, so that no credential is cut before it is known.
_SHOWN_CHARS, _MASKED_CHARS = 160, 4_000


class Reason(StrEnum):
    """Why a note was shown or not; the first that holds, in this order."""

    SHOWN = "shown"
    #: No file of the index is meant by the target, or no note has the text or all of its words.
    NOT_INDEXED = "not-indexed"
    OUT_OF_SCOPE = "out-of-scope"
    OUTSIDE_DAYS = "outside-days"
    ON_SCREEN = "on-screen"
    NOTHING_IN_COMMON = "nothing-in-common"
    UNDER_FLOOR = "under-floor"
    SAID_ABOVE = "said-above"
    OVER_LIMIT = "over-limit"
    NO_EVIDENCE = "no-evidence"
    NO_ROOM = "no-room"
    CHANGED = "changed-meanwhile"


#: What each reason means for a person.
SENTENCES = {
    Reason.SHOWN: "It was shown.",
    Reason.NOT_INDEXED: "No note of the index is meant by this: look at the path, or run omnislash index sync.",
    Reason.OUT_OF_SCOPE: "The role neither reads nor recalls its corpus, so the search never looked at it.",
    Reason.OUTSIDE_DAYS: "Its day lies outside of --since and --until, or it has none.",
    Reason.ON_SCREEN: "The turn shows it already.",
    Reason.NOTHING_IN_COMMON: "It shares no word with the message, and its meaning is not near.",
    Reason.UNDER_FLOOR: "Its score is under the floor.",
    Reason.SAID_ABOVE: "A note that says the same was shown above it.",
    Reason.OVER_LIMIT: "Enough notes came before it in the order.",
    Reason.NO_EVIDENCE: "Too little speaks for it, and recallGate asks for evidence.",
    Reason.NO_ROOM: "recallChars leaves no room for it.",
    Reason.CHANGED: "Its file changed while it was searched.",
}

#: What `not-indexed` means for a target that is a text and no path.
_NO_SUCH_TEXT = "No note in reach holds this text, and none holds all of these words."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a search made of one note."""

    #: Path as tools use it, or the target where no note is meant.
    path: str
    span: tuple[int, int] | None
    reason: Reason
    #: Place in the order, from 1; None for a note that does not pass the floor.
    position: int | None = None
    score: float | None = None
    #: Calibrated cosine, unclamped; None where the meaning leg did not judge the note.
    meaning: float | None = None
    #: Words of the message that the note has.
    matched: tuple[str, ...] = ()
    #: Words of the message that it has not.
    missing: tuple[str, ...] = ()
    #: Share of the message's words by their rarity in scope.
    coverage: float | None = None
    floor: float | None = None
    #: Recency in (0, 1]; 1 for what does not age.
    decay: float | None = None
    #: What decides the order.
    rank: float | None = None
    #: How the note begins, credentials masked (SECRET-O2).
    text: str = ""
    #: What spoke for and against it, in one sentence; None where `recallGate` asked for no evidence.
    evidence: str | None = None

    @property
    def message(self) -> str:
        """What the reason means, as a sentence."""
        is_text = self.reason is Reason.NOT_INDEXED and not self.path.endswith(SUFFIX)
        return _NO_SUCH_TEXT if is_text else SENTENCES[self.reason]

    def to_json(self) -> dict[str, Any]:
        """Return the fields in camelCase; None where nothing is known."""
        return {
            "path": mask_secrets(self.path),
            "span": list(self.span) if self.span else None,
            "reason": self.reason.value,
            "message": self.message,
            "position": self.position,
            "score": self.score,
            "meaning": self.meaning,
            "matched": list(self.matched),
            "missing": list(self.missing),
            "wordCoverage": self.coverage,
            "floor": self.floor,
            "decay": self.decay,
            "rank": self.rank,
            "text": self.text,
            **({} if self.evidence is None else {"evidence": self.evidence}),
        }


def explain(
    view: View,
    scored: Scored,
    hits: tuple[Hit, ...],
    *,
    target: str | None = None,
    withheld: Mapping[int, Reason] | None = None,
    evidence: Mapping[int, str] | None = None,
) -> tuple[Explanation, ...]:
    """Return how each hit came about or, with a target, the same for the notes that it means.

    Of a path outside of the scope nothing is told but that, whether there is such a file or not.

    Args:
        view: The index that was searched.
        scored: What the search made of it.
        hits: What it found.
        target: A path as tools use it, a text that a note has, or the words of one; None for the hits alone.
        withheld: Hits that were not shown after all, with the reason.
        evidence: What spoke for and against each hit, in words, where the gate asked for it.
    """
    explainer = _Explainer(view, scored, hits, withheld or {}, evidence or {})
    if target is None:
        return tuple(explainer.explain(hit.note) for hit in hits)
    notes = explainer.find(target)
    if not notes:
        reason = Reason.OUT_OF_SCOPE if explainer.is_hidden(target) else Reason.NOT_INDEXED
        return (Explanation(path=target, span=None, reason=reason),)
    return tuple(explainer.explain(note) for note in notes[:_EXPLAINED])


class _Explainer:
    def __init__(
        self,
        view: View,
        scored: Scored,
        hits: tuple[Hit, ...],
        withheld: Mapping[int, Reason],
        evidence: Mapping[int, str],
    ) -> None:
        self._view = view
        self._scored = scored
        self._reader = NoteReader(view)
        self._withheld, self._evidence = withheld, evidence
        self._shown = {hit.note for hit in hits}
        self._on_screen = shown_bodies(view, scored.request)
        self._bodies = {int(view.snapshot.notes["body"][hit.note]) for hit in hits}
        self._order = {note: place for place, note in enumerate(scored.passing.tolist(), 1)}

    def is_hidden(self, target: str) -> bool:
        """Tell whether a target is a path, as tools or as the disk have it, and none of its readings lies in scope."""
        if not target.endswith(SUFFIX):
            return False
        readings = [self._view.scanner.locate(place) for place in (f"{MANAGED_ROOT}/{target}", target)]
        located = [each for each in readings if each is not None]
        return bool(located) and not any(ref.holds(each) for ref in self._scored.request.refs for each in located)

    def find(self, target: str) -> list[int]:
        """Return the notes in scope that a target means, best first.

        Those of a path; without such a file those that have the text as it is, and without one those that have all of
        its words, in whatever order.
        """
        snapshot = self._view.snapshot
        readable = holding_files(self._view, self._scored.request.refs)
        numbers = [
            number
            for number in np.flatnonzero(readable).tolist()
            if target in {self._path(number), snapshot.files[number].place}
        ]
        if numbers:
            chosen = np.flatnonzero(np.isin(snapshot.file_of, numbers))
        else:
            wanted = fold_phrase(target)
            inside = np.flatnonzero(readable[snapshot.file_of])
            chosen = np.array([note for note in inside.tolist() if self._has(note, wanted)], np.int64)
            if not chosen.size and not target.endswith(SUFFIX):
                chosen = np.intersect1d(inside, self._with_all_words(target))
        best: list[int] = chosen[np.lexsort((chosen, -self._scored.score[chosen]))].tolist()
        return best

    def _with_all_words(self, target: str) -> NDArray[np.int64]:
        """Return the notes of the index that have every word of a text."""
        matches, _ = find_words(self._view, self._view.stemmer.parse_query(target))
        found = matches[0].notes if matches else np.array([], np.int64)
        for more in matches[1:]:
            found = np.intersect1d(found, more.notes)
        return found.astype(np.int64)

    def _path(self, number: int) -> str | None:
        located = self._view.scanner.locate(self._view.snapshot.files[number].place)
        return None if located is None else located.path

    def _has(self, note: int, wanted: str) -> bool:
        return wanted in fold_phrase(self._reader.read(note) or "")

    def explain(self, note: int) -> Explanation:
        scored = self._scored
        text = self._reader.read(note)
        reason = self._reason(note, text)
        hit = make_hit(self._view, scored, note, text or "")
        judged = bool(scored.meaning.judged[note])
        return Explanation(
            path=hit.path,
            span=hit.span,
            reason=reason,
            position=self._order.get(note),
            score=hit.score,
            meaning=round(float(scored.meaning.scaled[note]), scoring.DECIMALS) if judged else None,
            matched=tuple(match.word.text for match in scored.matches if note in match.notes),
            missing=tuple(match.word.text for match in scored.matches if note not in match.notes),
            coverage=round(float(scored.words.coverage[note]), scoring.DECIMALS),
            floor=scored.request.floor,
            decay=round(float(scored.recency[note]), scoring.DECIMALS),
            rank=hit.rank,
            text=mask_secrets(hit.snippet[:_MASKED_CHARS])[:_SHOWN_CHARS],
            evidence=self._evidence.get(note),
        )

    def _reason(self, note: int, text: str | None) -> Reason:  # noqa: PLR0911 - one return a reason
        view, scored = self._view, self._scored
        body = int(view.snapshot.notes["body"][note])
        if note in self._shown:
            return self._withheld.get(note, Reason.SHOWN)
        if not scored.allowed[note]:
            return Reason.OUTSIDE_DAYS
        if is_shown(view, scored.request, note):
            return Reason.ON_SCREEN
        if note not in self._order:
            return Reason.UNDER_FLOOR if scored.score[note] > 0 else Reason.NOTHING_IN_COMMON
        if body in self._on_screen:
            return Reason.ON_SCREEN
        if body in self._bodies:
            return Reason.SAID_ABOVE
        return Reason.CHANGED if text is None else Reason.OVER_LIMIT
