"""A file's notes and terms go into two blobs and come out as they were, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from omnislash.index.packing import NOTE, PENDING, Packed, checksum, find_runs, hash_term, pack_terms


def make_packed() -> Packed:
    """Return two notes, of two terms and of one."""
    notes = np.zeros(2, NOTE)
    notes["start"], notes["end"], notes["terms"], notes["row"] = [0, 10], [9, 20], [2, 1], [3, PENDING]
    return Packed(notes, *pack_terms([{"quay": 1, "tide": 2}, {"tide": 1}]))


def test_what_comes_out_is_what_went_in() -> None:
    """Notes, terms and counts survive the way through the database."""
    packed = make_packed()
    found = Packed.from_blobs(*packed.to_blobs())
    assert found.notes.tolist() == packed.notes.tolist()
    assert found.term_ids.tolist() == [hash_term("quay"), hash_term("tide"), hash_term("tide")]
    assert found.term_counts.tolist() == [1, 2, 1]


def test_an_empty_file_has_no_notes() -> None:
    """A file without notes is packed like any other."""
    found = Packed.from_blobs(*Packed(np.zeros(0, NOTE), *pack_terms([])).to_blobs())
    assert len(found.notes) == len(found.term_ids) == len(found.term_counts) == 0


def test_every_damaged_byte_is_noticed() -> None:
    """Whichever byte of either blob changes, the row is refused."""
    notes, words, total = make_packed().to_blobs()
    for place in range(len(notes)):
        changed = notes[:place] + bytes([notes[place] ^ 0xFF]) + notes[place + 1 :]
        with pytest.raises(ValueError, match="not what was stored"):
            Packed.from_blobs(changed, words, total)
    for place in range(len(words)):
        changed = words[:place] + bytes([words[place] ^ 0x01]) + words[place + 1 :]
        with pytest.raises(ValueError, match="not what was stored"):
            Packed.from_blobs(notes, changed, total)


def test_a_blob_of_another_form_is_refused() -> None:
    """A checksum that fits does not help a blob that is no list of records."""
    with pytest.raises(ValueError, match="not what was stored"):
        Packed.from_blobs(b"abc", b"", checksum(b"abc"))


def test_a_count_stops_at_255() -> None:
    """A word that stands a thousand times in a note does not run over."""
    assert pack_terms([{"ha": 1000, "he": 255, "hi": 254}])[1].tolist() == [255, 255, 254]


def test_a_term_has_the_same_id_in_every_process() -> None:
    """Ids are no numbers that an index gives out: they are 64 bits of the BLAKE2b hash of the term."""
    assert hash_term("tide") == hash_term("tide")
    assert len({hash_term(f"word{number}") for number in range(10_000)}) == 10_000
    assert hash_term("\ud800") != hash_term("")


@pytest.mark.parametrize(
    ("ordered", "begins"), [([], []), ([7], [0]), ([3, 3, 3], [0]), ([1, 1, 2, 5, 5], [0, 2, 3]), ([1, 2], [0, 1])]
)
def test_runs_of_equal_values(ordered: list[int], begins: list[int]) -> None:
    """Each value of a sorted array begins once."""
    assert find_runs(np.array(ordered, np.uint64)).tolist() == begins
