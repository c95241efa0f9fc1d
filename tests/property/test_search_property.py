"""Search within a scope: what a role may not see changes nothing, and the result is that of scoring every note."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from omnislash.core.corpora import Ref, RefKind
from omnislash.core.languages import Script
from omnislash.core.lines import parse_source
from omnislash.index.live import IndexSettings, LiveIndex, View
from omnislash.index.reading import parse_file
from omnislash.index.stemming import QueryWord, Stemmer
from omnislash.recall.explain import explain
from omnislash.recall.hits import Request, SearchResult, Shown
from omnislash.recall.search import choose, score_notes, search
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

TODAY = date(2026, 8, 30)
#: Few words, so that notes and messages share them; a hidden word stands in hidden notes alone.
WORDS = [
    "anchor",
    "baskets",
    "candle",
    "the",
    "of",
    "dragon",
    "engine",
    "REQ-0317",
    "forest",
    "harbours",
    "заметка",
    "修理渔网",
    "v1.2.3",
]
SECRET = "canary"
VISIBLE = ("main/MEMORY.md", "main/2026/08/2026-08-29.md", "main/2026/08/2026-08-30.md", "main/notes/a.md")
HIDDEN = ("hr/MEMORY.md", "aaa/2026/08/2026-08-29.md", "main2/MEMORY.md", "zzz/notes/a.md")
SCOPE = (Ref(RefKind.LINE, "main"), Ref(RefKind.AUTHORED, "people/maria"))
SOURCES = (parse_source("people"), parse_source("cases"))

note = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
notes = st.lists(note, min_size=0, max_size=5)
query = st.lists(
    st.sampled_from([*WORDS, "anchors", "req-0317", '"anchor baskets"', "1.2.3"]), min_size=1, max_size=6
).map(" ".join)


def files(visible: list[list[str]], hidden: list[list[str]]) -> dict[str, str]:
    """Return the brain's files: visible ones, then those that nobody in the test may see."""
    places = [*(f"memory/{path}" for path in VISIBLE), "people/maria/a.md"]
    out = [*(f"memory/{path}" for path in HIDDEN), "people/maria-old/a.md", "cases/b.md"]
    shown = dict(zip(places, (_render(each) for each in visible), strict=True))
    return shown | dict(zip(out, (_render([*each, f"{SECRET} anchor"]) for each in hidden), strict=True))


def _render(entries: list[str]) -> str:
    return "".join(f"- {entry}\n\n" for entry in entries)


@contextmanager
def indexed(found: dict[str, str], embedder: CountingEmbedder | None) -> Iterator[View]:
    """Make a brain of these files and yield its index."""
    root = Path(tempfile.mkdtemp())
    index = None
    try:
        for place, text in found.items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text, "utf-8")
        embedders = () if embedder is None else (embedder,)
        options = IndexSettings(sources=SOURCES, languages=("english",), embedders=embedders)
        (root / "memory").mkdir(exist_ok=True)
        index = LiveIndex(root, options, state_directory=root / ".omnislash")
        yield index.view(index.refresh(limit_s=None))
    finally:
        if index is not None:
            index.close()
        shutil.rmtree(root)


def told(result: SearchResult) -> dict[str, object]:
    """Return everything that a caller sees."""
    return result.to_json()


lists = st.lists(notes, min_size=len(VISIBLE) + 1, max_size=len(VISIBLE) + 1)
hidden_lists = st.lists(notes, min_size=len(HIDDEN) + 2, max_size=len(HIDDEN) + 2)
heavy = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])


def ask(message: str, *, floor: float = 0.3, limit: int = 8, shown: Shown | None = None) -> Request:
    """Return a request within the scope."""
    return Request(query=message, refs=SCOPE, floor=floor, limit=limit, today=TODAY, shown=shown or Shown())


def _reads_latin(script: Script | None, language: str | None) -> bool:
    del language
    return script in {Script.latin, None}


@pytest.mark.rule("SCOPE-O8", "LINE-11", "LINE-13", "SCOPE-12", "SOURCE-09", "RECALL-05")
@heavy
@given(
    visible=lists,
    hidden=hidden_lists,
    message=query,
    floor=st.sampled_from([0.0, 0.1, 0.3, 0.41]),
    embedder=st.sampled_from([None, CountingEmbedder(), CountingEmbedder(readable=_reads_latin)]),
)
@example(
    [["заметка anchor", "заметка"], [], [], [], []],
    [["anchor"]] * 6,
    "заметка anchor",
    0.0,
    CountingEmbedder(readable=_reads_latin),
)
@example([["anchor"], ["anchor the"], [], [], []], [["anchor baskets the"]] * 6, "the anchor baskets", 0.0, None)
def test_hidden_notes_change_nothing(
    visible: list[list[str]], hidden: list[list[str]], message: str, floor: float, embedder: CountingEmbedder | None
) -> None:
    """Hits, order, scores, counts and reasons are those of a brain that holds the visible notes alone."""
    shown = Shown({VISIBLE[0]: ((1, 2),)})
    everything = files(visible, hidden)
    alone = {place: text for place, text in everything.items() if SECRET not in text}
    with indexed(everything, embedder) as view, indexed(alone, embedder) as small:
        for request in (ask(message, floor=floor, limit=3), ask(message, floor=floor, limit=100, shown=shown)):
            found, expected = search(view, request), search(small, request)
            assert told(found) == told(expected)
            assert SECRET not in str(told(found))
            for place in everything:
                target = place.removeprefix("memory/")
                left, right = (
                    [each.to_json() for each in explain(each, score_notes(each, request), result.hits, target=target)]
                    for each, result in ((view, found), (small, expected))
                )
                assert left == right
            told_of_text = explain(view, score_notes(view, request), found.hits, target=f"{SECRET} anchor")
            assert [(each.reason, each.score, each.text) for each in told_of_text] == [("not-indexed", None, "")]


def _holds(stemmer: Stemmer, word: QueryWord, text: str) -> bool:
    terms = stemmer.note_terms(text)
    return word.term in terms or (bool(word.parts) and all(part in terms for part in word.parts))


def score_by_hand(found: dict[str, str], message: str, embedder: CountingEmbedder) -> dict[tuple[str, int], float]:
    """Return the documented formula for every note of the scope, one after the other."""
    stemmer = Stemmer(("english",))
    words = stemmer.parse_query(message).words
    scores = {}
    for place, text in found.items():
        path = place.removeprefix("memory/")
        kind = (
            "source" if path == place else "daily" if "2026-" in path else "memory" if "MEMORY" in path else "document"
        )
        for each in parse_file(text.encode(), kind=kind, path=path).notes:
            cosine = float(np.dot(embedder.embed_query(message), embedder.embed_passages([each.embedded])[0]))
            share = sum(_holds(stemmer, word, each.searched) for word in words) / max(len(words), 1)
            scores[path, each.first_line] = 0.85 * min(max(cosine, 0), 1) + 0.15 * share
    return scores


@pytest.mark.rule("RECALL-01", "RECALL-O1", "TOOL-13")
@heavy
@given(visible=lists, hidden=hidden_lists, message=query)
def test_result_is_that_of_scoring_every_note(visible: list[list[str]], hidden: list[list[str]], message: str) -> None:
    """Nothing is left out by an approximation: each hit has the formula's score, and none at the floor is missing."""
    embedder = CountingEmbedder()
    everything = files(visible, hidden)
    alone = {place: text for place, text in everything.items() if SECRET not in text}
    by_hand = score_by_hand(alone, message, embedder)
    with indexed(everything, embedder) as view:
        scored = score_notes(view, ask(message, limit=100))
        result = choose(view, scored)
        lines = view.snapshot.notes["first_line"]
        scores = {
            (_path(view, note), int(lines[note])): float(scored.score[note])
            for note in np.flatnonzero(scored.allowed).tolist()
        }
    assert scores == pytest.approx(by_hand, abs=2e-6)
    clear = {place for place, score in by_hand.items() if abs(score - 0.3) > 1e-5}
    over = {place for place in clear if by_hand[place] >= 0.3}
    hit = {(each.path, each.span[0]) for each in result.hits}
    assert hit & clear <= over
    said = {each.snippet.casefold() for each in result.hits}
    missing = [place for place in over - hit if _line(alone, place).casefold() not in said]
    assert not missing
    under = [score for place, score in by_hand.items() if place in clear and 1e-5 < score < 0.3]
    if len(clear) == len(by_hand) and not hit:
        assert result.below_floor.count == pytest.approx(
            len(under), abs=sum(score <= 1e-5 for score in by_hand.values())
        )
        assert result.below_floor.best_score == pytest.approx(max(under, default=None), abs=2e-6)


def _path(view: View, note: int) -> str:
    located = view.scanner.locate(view.snapshot.files[view.snapshot.file_of[note]].place)
    assert located is not None
    return located.path


def _line(found: dict[str, str], place: tuple[str, int]) -> str:
    text = found.get(f"memory/{place[0]}") or found[place[0]]
    return text.splitlines()[place[1] - 1].strip()
