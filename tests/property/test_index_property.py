"""Whatever happens to the files: what two indexes of one brain hold is what scoring every note on disk would give."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnislash.core.lines import parse_source
from omnislash.index.live import IndexSettings, LiveIndex
from omnislash.index.notes import NoteSource, decode, split_notes
from omnislash.index.packing import hash_term
from omnislash.index.stemming import Stemmer
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = ("memory/ops/MEMORY.md", "memory/ops/a.md", "memory/ops/d/b.md", "memory/two/c.md", "lore/x.md", "lore/y/z.md")
WORDS = ("quay", "tide", "rope", "lamp", "sync", "report", "gantry", "trestle")
STEMMER = Stemmer(("english",))
QUESTION = "the tide at the quay"

texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=0, max_size=4).map(
    lambda notes: "".join(f"# {note}\n\nbody of {note}\n\n" for note in notes)
)
steps = st.one_of(
    st.tuples(st.just("save"), st.sampled_from(PLACES), texts),
    st.tuples(st.just("remove"), st.sampled_from(PLACES), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("move folder"), st.just("memory/ops"), st.just("memory/two")),
    st.tuples(st.just("move folder"), st.just("memory/two"), st.just("memory/ops")),
    st.tuples(st.just("touch"), st.sampled_from(PLACES), st.none()),
    st.tuples(st.just("look"), st.sampled_from([0, 1]), st.none()),
    st.tuples(st.just("rebuild"), st.sampled_from([0, 1]), st.none()),
)


@contextmanager
def open_two() -> Iterator[tuple[Path, list[LiveIndex], list[CountingEmbedder]]]:
    """Make a brain and open it twice, as two processes would."""
    root = Path(tempfile.mkdtemp(prefix="omnislash-test-"))
    (root / ".omnislash").mkdir()
    (root / "memory").mkdir()
    embedders = [CountingEmbedder(), CountingEmbedder()]
    lives = [
        LiveIndex(
            root, IndexSettings((parse_source("lore"),), ("english",), (each,)), state_directory=root / ".omnislash"
        )
        for each in embedders
    ]
    try:
        yield root, lives, embedders
    finally:
        for live in lives:
            live.close()
        shutil.rmtree(root)


def change(root: Path, what: str, first: str, second: str | None) -> None:
    """Do to the files what a person does."""
    place = root / first
    if what == "save":
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(second or "")
    elif what == "remove":
        place.unlink(missing_ok=True)
    elif what == "touch" and place.exists():
        place.touch()
    elif what in {"rename", "move folder"} and place.exists():
        target = root / str(second)
        if what == "move folder" and target.exists():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        place.replace(target)


def read_disk(root: Path) -> dict[tuple[str, int, int], tuple[dict[int, int], float]]:
    """Return every note on disk by file and span, with its terms and its cosine with the question: the brute force."""
    twin = CountingEmbedder()
    query, found = twin.embed_query(QUESTION), {}
    for path in root.rglob("*.md"):
        place, text = path.relative_to(root).as_posix(), decode(path.read_bytes()).text
        kind = "memory" if place.endswith("MEMORY.md") else "source" if place.startswith("lore") else "document"
        for note in split_notes(text, NoteSource(kind=kind, on=None)):
            terms = {hash_term(term): count for term, count in STEMMER.note_terms(note.searched).items()}
            cosine = float(twin.embed_passages([note.searched])[0] @ query)
            found[place, note.start, note.end] = (terms, cosine)
    return found


def read_index(live: LiveIndex, embedder: CountingEmbedder) -> dict[tuple[str, int, int], tuple[dict[int, int], float]]:
    """Return the same as the index in memory has it, after catching up."""
    freshness = live.refresh(limit_s=None)
    assert (freshness.behind, dict(freshness.unreadable), freshness.failure, freshness.embedder_failure) == (
        (),
        {},
        None,
        None,
    )
    view = live.view(freshness)
    snapshot, notes = view.snapshot, view.snapshot.notes
    cosines = view.vectors.cosines(
        view.models[embedder.identity], CountingEmbedder().embed_query(QUESTION), notes["row"]
    )
    found: dict[tuple[str, int, int], tuple[dict[int, int], float]] = {}
    for number in np.flatnonzero(snapshot.alive).tolist():
        key = (snapshot.files[snapshot.file_of[number]].place, int(notes["start"][number]), int(notes["end"][number]))
        assert key not in found
        found[key] = ({}, float(cosines[number]))
    for term in {int(term) for part in snapshot.parts for term in part.terms}:
        for number, count in zip(*(each.tolist() for each in snapshot.find(term)), strict=True):
            if snapshot.alive[number]:
                place = snapshot.files[snapshot.file_of[number]].place
                found[place, int(notes["start"][number]), int(notes["end"][number])][0][term] = count
    return found


@pytest.mark.rule("RECALL-O1", "LINE-06", "SOURCE-O9", "MIGRATE-O3")
@settings(max_examples=120)
@given(st.lists(steps, min_size=1, max_size=14))
def test_two_indexes_hold_what_brute_force_finds(sequence: list[tuple[str, object, str | None]]) -> None:
    """After every sequence of changes, looked at in between by either, both indexes equal the disk; no text twice."""
    with open_two() as (root, lives, embedders):
        for what, first, second in sequence:
            if what == "look":
                lives[int(str(first))].refresh(limit_s=None)
            elif what == "rebuild":
                lives[int(str(first))].rebuild()
            else:
                change(root, what, str(first), second)
        expected = read_disk(root)
        for live, embedder in zip(lives, embedders, strict=True):
            found = read_index(live, embedder)
            assert {key: value[0] for key, value in found.items()} == {key: value[0] for key, value in expected.items()}
            for key, (_, cosine) in expected.items():
                assert found[key][1] == pytest.approx(cosine, abs=1e-6)
        if all(what != "rebuild" for what, _, _ in sequence):
            embedded = [text for each in embedders for call in each.passage_calls for text in call]
            assert len(embedded) == len(set(embedded))
