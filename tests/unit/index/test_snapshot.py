"""The index in memory: files come and go, and what is found is always what a fresh index would find."""

from __future__ import annotations

import numpy as np
import pytest

from omnislash.index.packing import NOTE, Packed, hash_term, pack_terms
from omnislash.index.snapshot import IndexedFile, Loaded, Snapshot


def make_file(number: int, *notes: str, place: str | None = None) -> Loaded:
    """Return a file whose notes are texts of words."""
    counts = [{word: text.split().count(word) for word in dict.fromkeys(text.split())} for text in notes]
    records = np.zeros(len(notes), NOTE)
    records["terms"] = [len(each) for each in counts]
    records["start"] = range(len(notes))
    file = IndexedFile(number, place or f"f{number}.md", "document", b"")
    return Loaded(file, Packed(records, *pack_terms(counts)))


def find(snapshot: Snapshot, word: str) -> dict[tuple[int, int], int]:
    """Return how often each living note has a word, by file and number."""
    notes, counts = snapshot.find(hash_term(word))
    assert notes.tolist() == sorted(notes.tolist())
    return {
        (snapshot.files[snapshot.file_of[note]].id, int(snapshot.notes["start"][note])): int(count)
        for note, count in zip(notes.tolist(), counts.tolist(), strict=True)
        if snapshot.alive[note]
    }


def test_an_empty_index_finds_nothing() -> None:
    """A snapshot without files has empty arrays of the right types."""
    empty = Snapshot()
    assert find(empty, "quay") == {}
    assert empty.size == len(empty.notes) == len(empty.file_of) == len(empty.alive) == 0


def test_words_are_found_in_every_part() -> None:
    """What came first and what came later is one index."""
    first = Snapshot().updated([make_file(1, "tide quay tide", "quay"), make_file(2, "rope")], [], revision=2)
    second = first.updated([make_file(3, "quay")], [], revision=3)
    assert find(second, "quay") == {(1, 0): 1, (1, 1): 1, (3, 0): 1}
    assert find(second, "tide") == {(1, 0): 2}
    assert find(second, "rope") == {(2, 0): 1}
    assert second.revision == 3


@pytest.mark.rule("SCOPE-O8")
def test_the_old_snapshot_stays_as_it_was() -> None:
    """A search that runs keeps its view while files change under it."""
    first = Snapshot().updated([make_file(1, "quay"), make_file(2, "quay")], [], revision=2)
    before = find(first, "quay")
    first.updated([make_file(3, "tide")], [1, 2], revision=5)
    assert find(first, "quay") == before == {(1, 0): 1, (2, 0): 1}


def test_a_changed_file_loses_its_old_words() -> None:
    """A file that changed has a new id; words of the old one are found nowhere (O-11)."""
    first = Snapshot().updated([make_file(1, "quay", place="a.md"), make_file(2, "rope " * 3)], [], revision=2)
    second = first.updated([make_file(4, "tide", place="a.md")], [1], revision=4)
    assert find(second, "quay") == {}
    assert find(second, "tide") == {(4, 0): 1}
    assert find(second, "rope") == {(2, 0): 3}


def test_a_removal_alone() -> None:
    """A file that is only removed is gone, be it of the large part or the last of all."""
    first = Snapshot().updated([make_file(1, "quay"), make_file(2, "quay")], [], revision=2)
    second = first.updated([], [1], revision=3)
    assert find(second, "quay") == {(2, 0): 1}
    third = second.updated([], [2], revision=4)
    assert find(third, "quay") == {}
    assert third.size == 0
    assert third.files == ()


def test_ids_that_are_not_here_are_passed_over() -> None:
    """A removal of a file that came and went between two looks says nothing to this snapshot."""
    first = Snapshot().updated([make_file(1, "quay")], [77], revision=3)
    assert first.gone == frozenset()
    assert find(first, "quay") == {(1, 0): 1}


def test_files_without_notes_do_not_pile_up() -> None:
    """An empty file that is touched again and again leaves nothing behind."""
    snapshot = Snapshot().updated([make_file(1, "quay " * 4)], [], revision=1)
    for number in range(2, 40):
        snapshot = snapshot.updated([make_file(number)], [number - 1] if number > 2 else [], revision=number)
    assert find(snapshot, "quay") == {(1, 0): 4}
    assert len(snapshot.files) <= 3


def test_many_small_changes_stay_few_parts() -> None:
    """A hundred changes one by one leave some parts of falling size and at most as many dead notes as living ones."""
    snapshot = Snapshot().updated([make_file(number, f"w{number} all") for number in range(1, 65)], [], revision=64)
    for number in range(65, 365):
        gone = number - 64
        snapshot = snapshot.updated([make_file(number, f"w{number} all")], [gone], revision=number)
        assert len(snapshot.parts) <= 8
        assert snapshot.size <= 2 * 64
    assert find(snapshot, "all") == {(number, 0): 1 for number in range(301, 365)}
    assert find(snapshot, "w300") == {}
    assert find(snapshot, "w301") == {(301, 0): 1}


def test_file_numbers_hold_through_merging() -> None:
    """After merges each note still knows its own file."""
    snapshot = Snapshot()
    for number in range(1, 20):
        snapshot = snapshot.updated([make_file(number, *[f"only{number}"] * number)], [], revision=number)
    for number in range(1, 20):
        assert find(snapshot, f"only{number}") == {(number, note): 1 for note in range(number)}
