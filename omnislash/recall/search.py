"""Search within a scope: both legs over the notes in it, one score, the floor, then the order.

Rules: RECALL-01 to RECALL-05, RECALL-11, RECALL-12, RECALL-15, RECALL-O1 to RECALL-O4, TOOL-12, TOOL-13, SCOPE-O8.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from omnislash.core import scoring
from omnislash.core.words import fold
from omnislash.index.notes import decode
from omnislash.index.reading import read_bytes
from omnislash.index.sync import fold_body, hash_body
from omnislash.recall import coverage, ranking
from omnislash.recall.hits import BelowFloor, Hit, Literal, SearchResult
from omnislash.recall.legs import find_words, measure_meaning
from omnislash.recall.scoped import allow_notes, corpus_of, may_hold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnislash.index.lexical import Match
    from omnislash.index.live import View
    from omnislash.index.snapshot import Snapshot
    from omnislash.index.stemming import Query
    from omnislash.recall.hits import Request
    from omnislash.recall.legs import Meaning
    from omnislash.recall.ranking import WordScores

#: A word of the question is rare when no more notes of the scope than this have it.
_RARE = 5
#: Notes under the floor that are named because they hold a rare literal, at most; one of each literal before the second
#: of any.
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Scored:
    """Every note of the snapshot with what a search made of it."""

    request: Request
    query: Query
    #: Notes in scope and within the days.
    allowed: NDArray[np.bool_]
    matches: tuple[Match, ...]
    meaning: Meaning
    words: WordScores
    #: Relevance in [0, 1].
    score: NDArray[np.float64]
    #: The ordering key without decay, and the recency that goes into it.
    key: NDArray[np.float64]
    recency: NDArray[np.float64]
    #: The ordering key.
    rank: NDArray[np.float64]
    #: What was missing, a sentence each; of hits that stand on words alone more may come.
    reasons: tuple[str, ...]
    snapshot: Snapshot

    @property
    def passing(self) -> NDArray[np.int64]:
        """Notes at or above the floor, best first."""
        over = self.allowed & (self.score > 0) & (self.score >= self.request.floor)
        return ranking.order(self.rank, np.flatnonzero(over), (self.score, self.words.near_coverage), self.snapshot)

    @property
    def failing(self) -> NDArray[np.bool_]:
        """For each note whether it has something of the question and lies under the floor."""
        return self.allowed & (self.score > 0) & (self.score < self.request.floor)


def score_notes(view: View, request: Request) -> Scored:
    """Return what the two legs make of every note in scope."""
    query = view.stemmer.parse_query(request.query)
    allowed = allow_notes(view, request)
    matches, words_down = find_words(view, query)
    words = ranking.score_words(matches, view.snapshot, allowed)
    meaning = measure_meaning(view, request.query)
    score = _score(meaning, words, words_down=words_down is not None)
    recency = ranking.decay_of(view.snapshot, request.today.toordinal())
    key = _key(view, allowed, score, meaning, words)
    reasons = tuple(_find_reasons(view, request, allowed, meaning, words_down))
    rank = scoring.apply_decay(key, recency)
    return Scored(request, query, allowed, matches, meaning, words, score, key, recency, rank, reasons, view.snapshot)


def _score(meaning: Meaning, words: WordScores, *, words_down: bool) -> NDArray[np.float64]:
    """Return the score: the formula, or the scale of the leg that is left (RECALL-O3)."""
    if words_down:
        both = scoring.score_meaning_alone(meaning.scaled)
    else:
        both = scoring.score_relevance(meaning.scaled, words.share)
    alone = scoring.score_words_alone(words.content_share)
    score: NDArray[np.float64] = np.where(meaning.judged, both, alone)
    return score


def _key(
    view: View, allowed: NDArray[np.bool_], score: NDArray[np.float64], meaning: Meaning, words: WordScores
) -> NDArray[np.float64]:
    """Return the ordering key of each note; what stands on words alone takes its score for the meaning."""
    if not (meaning.judged & allowed).any():
        return np.where(allowed, words.near_coverage, 0.0)
    base = np.where(meaning.judged, meaning.scaled, score)
    agreement = scoring.weigh_agreement(
        base[allowed], words.coverage[allowed], words.found[allowed], words.content_words
    )
    single = np.where(allowed, scoring.order_key(base, words.near_coverage, agreement), 0.0)
    before, after = view.snapshot.neighbours
    keys: NDArray[np.float64] = scoring.add_neighbours(single, before, after, agreement)
    return keys


# -- what was missing ------------------------------------------------------------------------------------------------


def _find_reasons(
    view: View, request: Request, allowed: NDArray[np.bool_], meaning: Meaning, words_down: str | None
) -> Iterator[str]:
    """Yield what was missing in the scope of this search; what lies outside of it is not spoken of."""
    fresh = view.freshness
    behind = [place for place in fresh.behind if may_hold(view, request.refs, place)]
    waiting = 0 if meaning.waiting is None else int(np.count_nonzero(allowed & meaning.waiting))
    if fresh.failure is not None:
        yield f"the index could not be brought up to date: {fresh.failure.rstrip('.')}"
    if behind:
        yield f"{len(behind)} changed file{'s' * (len(behind) > 1)} could not be indexed in time"
    for place, reason in fresh.unreadable.items():
        if may_hold(view, request.refs, place):
            yield f"{place} can't be read ({reason})"
    if allowed.any():
        yield from (reason for reason in (meaning.down, words_down) if reason is not None)
    if waiting:
        failure = (fresh.embedder_failure or "").rstrip(".")
        cause = f": {failure}" if failure else " (a worker makes them, and so does omnislash index sync)"
        yield f"{waiting} note{'s' * (waiting > 1)} could be searched by words only, their vectors are not made yet{cause}"


def explain_unread_hits(scored: Scored, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the reason to add when hits stand on words alone although the message itself could be read."""
    if scored.reasons or all(scored.meaning.judged[hit.note] for hit in hits):
        return ()
    return ("the meaning leg is down for notes in a language that the model can't read",)


# -- hits ------------------------------------------------------------------------------------------------------------


class NoteReader:
    """Reads notes out of their files, each file once, and each note only while it still says what was indexed."""

    def __init__(self, view: View) -> None:
        """Keep the view."""
        self._view = view
        self._texts: dict[str, tuple[str, bool]] = {}

    def read(self, note: int) -> str | None:
        """Return the text of a note; None when it changed since it was indexed, or can't be read.

        What was written behind it meanwhile, as into a log that is in use, takes nothing from it.
        """
        snapshot = self._view.snapshot
        file = snapshot.files[snapshot.file_of[note]]
        if file.place not in self._texts:
            self._texts[file.place] = self._load(file.place, file.hash)
        text, is_as_indexed = self._texts[file.place]
        record = snapshot.notes[note]
        said = text[record["start"] : record["end"]]
        return said if is_as_indexed or hash_body(fold_body(said)) == int(record["body"]) else None

    def _load(self, place: str, content: bytes) -> tuple[str, bool]:
        """Return the file's text, and whether it is all of it as it was indexed; '' when it can't be read."""
        try:
            found = read_bytes(self._view.scanner.root, place)
        except OSError:
            return "", False
        return ("", False) if found is None else (decode(found.data).text, found.hash == content)


def search(view: View, request: Request) -> SearchResult:
    """Return the best notes of the scope for a message, and how far the search could look."""
    return choose(view, score_notes(view, request))


def choose(view: View, scored: Scored, *, looks_below: bool = True) -> SearchResult:
    """Return what a search answers, given what it made of every note.

    Args:
        view: The index that was searched.
        scored: What the search made of it.
        looks_below: False leaves out what lies under the floor, of which a turn is told nothing (RECALL-09).
    """
    reader = NoteReader(view)
    changed: set[str] = set()
    hits = list(_take(view, scored, reader, changed))
    reasons = (
        *scored.reasons,
        *explain_unread_hits(scored, hits),
        *(f"{place} changed while it was searched" for place in sorted(changed - set(view.freshness.unreadable))),
    )
    below = _look_below(view, scored, reader, hits) if looks_below else BelowFloor()
    return SearchResult(tuple(hits), below, coverage.judge(hits=len(hits), reasons=reasons), reasons)


def _take(view: View, scored: Scored, reader: NoteReader, changed: set[str]) -> Iterator[Hit]:
    """Yield the hits, best first: no text twice, and nothing that the turn shows already."""
    bodies = shown_bodies(view, scored.request)
    taken = 0
    for note in scored.passing.tolist():
        if taken == scored.request.limit:
            return
        body = int(view.snapshot.notes["body"][note])
        if body in bodies or is_shown(view, scored.request, note):
            continue
        text = reader.read(note)
        if text is None:
            changed.add(view.snapshot.files[view.snapshot.file_of[note]].place)
            continue
        bodies.add(body)
        taken += 1
        yield make_hit(view, scored, note, text)


def is_shown(view: View, request: Request, note: int) -> bool:
    """Tell whether the turn shows a note already (RECALL-06, RECALL-07)."""
    record = view.snapshot.notes[note]
    return request.shown.holds(_path_of(view, note), int(record["first_line"]), int(record["last_line"]))


def shown_bodies(view: View, request: Request) -> set[int]:
    """Return what is said by notes that are on screen: the same words elsewhere are not recalled either."""
    if not request.shown.spans:
        return set()
    wanted = [
        number
        for number, file in enumerate(view.snapshot.files)
        if (located := view.scanner.locate(file.place)) is not None and located.path in request.shown.spans
    ]
    inside = np.flatnonzero(np.isin(view.snapshot.file_of, wanted) & view.snapshot.alive)
    return {int(view.snapshot.notes["body"][note]) for note in inside.tolist() if is_shown(view, request, note)}


def _path_of(view: View, note: int) -> str:
    located = view.scanner.locate(view.snapshot.files[view.snapshot.file_of[note]].place)
    return located.path if located is not None else ""


def make_hit(view: View, scored: Scored, note: int, text: str) -> Hit:
    """Return a note as a hit."""
    file = view.snapshot.files[view.snapshot.file_of[note]]
    located = view.scanner.locate(file.place)
    record = view.snapshot.notes[note]
    judged = bool(scored.meaning.judged[note])
    return Hit(
        path=_path_of(view, note),
        span=(int(record["first_line"]), int(record["last_line"])),
        corpus=corpus_of(located, view.scanner.sources) if located else "",
        kind=file.kind,
        date=date.fromordinal(int(record["on"])) if record["on"] else None,
        score=float(scored.score[note]),
        meaning=round(float(np.clip(scored.meaning.scaled[note], 0, 1)), scoring.DECIMALS) if judged else None,
        words=round(float(scored.words.share[note]), scoring.DECIMALS),
        snippet=text.strip(),
        rank=round(float(scored.rank[note]), scoring.DECIMALS),
        note=note,
    )


# -- under the floor -------------------------------------------------------------------------------------------------


def _look_below(view: View, scored: Scored, reader: NoteReader, hits: list[Hit]) -> BelowFloor:
    """Return what lies under the floor; what a hit says already is not hidden, and no score would surface it."""
    bodies = view.snapshot.notes["body"]
    failing = scored.failing & ~np.isin(bodies, bodies[[hit.note for hit in hits]])
    count = int(np.count_nonzero(failing))
    if not count:
        return BelowFloor()
    literals = tuple(_name_literals(view, scored, reader, failing))
    return BelowFloor(count, float(scored.score[failing].max()), literals)


def _name_literals(view: View, scored: Scored, reader: NoteReader, failing: NDArray[np.bool_]) -> Iterator[Literal]:
    """Yield notes under the floor that hold something exact and rare of the question, so that it is never hidden."""
    named: set[int] = set()
    holders = [
        [(text, note) for note in notes if failing[note]]
        for text, notes in (*_rare_words(scored), *_phrases(view, scored, reader))
    ]
    for text, note in filter(None, chain.from_iterable(zip_longest(*holders))):
        if note not in named and len(named) < _NAMED:
            named.add(note)
            record = view.snapshot.notes[note]
            span = (int(record["first_line"]), int(record["last_line"]))
            yield Literal(text, _path_of(view, note), span, float(scored.score[note]))


def _rare_words(scored: Scored) -> Iterator[tuple[str, list[int]]]:
    for match in scored.matches:
        if match.word.is_literal:
            inside = match.notes[scored.allowed[match.notes]]
            if len(inside) <= _RARE:
                yield match.word.text, inside.tolist()


def _phrases(view: View, scored: Scored, reader: NoteReader) -> Iterator[tuple[str, list[int]]]:
    """Yield each quoted phrase with the notes that hold it as it stands, letter case and spacing aside."""
    for phrase in scored.query.phrases:
        wanted = fold_phrase(phrase)
        terms = {word.term for word in view.stemmer.parse_query(phrase).words}
        holders = [note for note in _with_all(scored, terms) if wanted in fold_phrase(reader.read(note) or "")]
        if wanted and len(holders) <= _RARE:
            yield phrase, holders


def _with_all(scored: Scored, terms: set[str]) -> list[int]:
    """Return a few notes in scope that have every word of a phrase, best first."""
    lists = [match.notes for match in scored.matches if match.word.term in terms]
    if not lists:
        return []
    found = lists[0]
    for more in lists[1:]:
        found = np.intersect1d(found, more)
    inside = found[scored.allowed[found]]
    best: list[int] = ranking.order(scored.rank, inside, (scored.score,), scored.snapshot)[: 10 * _RARE].tolist()
    return best


def fold_phrase(text: str) -> str:
    """Return a text as phrases are compared: letter case, spacing and the spelling of accents aside."""
    return " ".join(fold(text).split())
