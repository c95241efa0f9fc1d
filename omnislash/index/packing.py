"""What is known of a file's notes, as packed arrays: the form in which a row of the index holds them.

Rules: RECALL-O5; architecture.md section 5.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: A note in the index. Offsets are characters of the decoded text, `end` and `last_line` as `index.notes` has them.
NOTE = np.dtype(
    [
        ("start", "<u4"),
        ("end", "<u4"),
        ("first_line", "<u4"),
        ("last_line", "<u4"),
        ("on", "<i4"),  # ordinal of its day, 0 without one
        ("length", "<u4"),  # characters of it, without the context that is searched with it
        ("terms", "<u4"),  # distinct terms
        ("body", "<u8"),  # hash of what it says, without its context: two notes that say the same have the same
        ("model", "<i4"),  # id of the model of its vector; 0 = no embedder reads it
        ("row", "<i4"),  # row of its vector, or PENDING
    ]
)
#: In place of a row: the vector is still to be made.
PENDING = -1
#: The most a term's count in one note is kept as.
_MAX_COUNT = 255
#: Bytes of a term's id, and of the id with its count.
_ID_BYTES, _PAIR_BYTES = 8, 9


@dataclass(frozen=True, slots=True)
class Packed:
    """The notes of one file and their terms."""

    #: Records of type `NOTE`, in order of the file.
    notes: NDArray[Any]
    #: Ids of the terms, those of the first note first, uint64.
    term_ids: NDArray[np.uint64]
    #: How often each stands in its note, uint8, at most 255.
    term_counts: NDArray[np.uint8]

    def to_blobs(self) -> tuple[bytes, bytes, int]:
        """Return the columns `notes`, `words` and `checksum`."""
        notes, words = self.notes.tobytes(), self.term_ids.astype("<u8").tobytes() + self.term_counts.tobytes()
        return notes, words, checksum(notes, words)

    def with_notes(self, notes: NDArray[Any]) -> Packed:
        """Return the same terms with other records of the same notes."""
        return Packed(notes, self.term_ids, self.term_counts)

    @classmethod
    def from_blobs(cls, notes: bytes, words: bytes, stored: int) -> Packed:
        """Return the arrays of a row, as views.

        Raises:
            ValueError: They are not what was stored.
        """
        if checksum(notes, words) != stored or len(notes) % NOTE.itemsize or len(words) % _PAIR_BYTES:
            message = "a row of the index is not what was stored"
            raise ValueError(message)
        count = len(words) // _PAIR_BYTES
        return cls(
            np.frombuffer(notes, NOTE),
            np.frombuffer(words, "<u8", count),
            np.frombuffer(words, np.uint8, count, count * _ID_BYTES),
        )


def checksum(*blobs: bytes) -> int:
    """Return the CRC-32 of the blobs, one after the other."""
    value = 0
    for blob in blobs:
        value = zlib.crc32(blob, value)
    return value


def hash_term(term: str) -> int:
    """Return the id of a term: 64 bits of a hash, so that it is the same in every process and in every index.

    A list of terms with numbers would have to be read at each search, and could be of another moment than the notes.
    Two of a million terms share an id with a probability of 3 in 100 million.
    """
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).digest())


def pack_terms(terms: Sequence[Mapping[str, int]]) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return ids and counts of the terms of each note as the arrays of `Packed`."""
    ids = {term: hash_term(term) for note in terms for term in note}
    total = sum(map(len, terms))
    numbers = np.fromiter((ids[term] for note in terms for term in note), np.uint64, total)
    counts = np.fromiter((min(count, _MAX_COUNT) for note in terms for count in note.values()), np.uint8, total)
    return numbers, counts


def find_runs(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each value of a sorted array begins.

    `np.unique` does the same and loads masked arrays first: 25 ms of a process that searches once (2026-12-01).
    """
    begins = np.ones(len(ordered), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(begins)
