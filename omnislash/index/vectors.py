"""The vectors in memory, and the meaning leg: the cosine of a question with every note, exactly.

Vectors are kept in segments of a fixed number of rows, as they lie in the index, and viewed there without a copy: a
change rewrites one segment at most.
They are read and not mapped from the file, because a file that somebody shortens while it is mapped kills the process.
Every segment has a checksum: what was damaged is made again instead of being compared.

Rules: RECALL-O1, RECALL-11; architecture.md section 5.
Source: exact search with numpy was measured against SQLite's vector extension and two approximate indexes:
7 ms against 62 ms at 100,000 vectors, with nothing lost (retrieval evidence, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.index.packing import checksum, find_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from omnislash.index.database import Database

#: Rows of a segment. 512 rows of 384 numbers are 0.8 MB: what one small change writes at most.
SEGMENT_ROWS = 512
_BYTES = 4


def find_rows(database: Database, model: int, hashes: Iterable[bytes]) -> dict[bytes, int]:
    """Return the rows of those texts that the embedding cache has."""
    found: dict[bytes, int] = {}
    for text_hash in hashes:
        row = database.value("SELECT row FROM embeddings WHERE model = ? AND text_hash = ?", (model, text_hash))
        if row is not None:
            found[text_hash] = row
    return found


def store_vectors(
    database: Database, model: int, hashes: Sequence[bytes], vectors: NDArray[np.float32]
) -> dict[bytes, int]:
    """Append vectors to a model's segments and to the cache, inside a transaction; return their rows.

    A text that the cache has meanwhile keeps the row it has.

    Args:
        database: The index, in `writing`.
        model: Id of the model.
        hashes: Of the texts, distinct.
        vectors: Shape (n, d), unit rows, in the order of `hashes`.
    """
    known = find_rows(database, model, hashes)
    fresh = [place for place, text_hash in enumerate(hashes) if text_hash not in known]
    first = _append(database, model, vectors[fresh])
    added = {hashes[place]: first + number for number, place in enumerate(fresh)}
    database.run_many(
        "INSERT INTO embeddings VALUES (?, ?, ?)", ((model, text_hash, row) for text_hash, row in added.items())
    )
    return known | added


def _append(database: Database, model: int, vectors: NDArray[np.float32]) -> int:
    """Write vectors behind the last row of a model; return the first new row."""
    last = database.rows(
        "SELECT number, length, vectors FROM segments WHERE model = ? ORDER BY number DESC LIMIT 1", (model,)
    )
    number, length, blob = (last[0][0], last[0][1], last[0][2]) if last else (0, 0, b"")
    first = number * SEGMENT_ROWS + length
    todo = vectors
    while len(todo):
        taken = todo[: SEGMENT_ROWS - length]
        if len(taken):
            blob += np.ascontiguousarray(taken, "<f4").tobytes()
            length += len(taken)
            database.run(
                "INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?)", (model, number, length, checksum(blob), blob)
            )
        todo = todo[len(taken) :]
        if length == SEGMENT_ROWS:
            number, length, blob = number + 1, 0, b""
    return first


@dataclass(frozen=True, slots=True)
class Segment:
    """Some rows of a model."""

    #: Of its bytes; another one means other vectors.
    checksum: int
    #: Shape (n, d), float32.
    matrix: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of all models as they were at one moment; never changed, so a search keeps what it began with."""

    #: By id of the model, then by number of the segment.
    segments: Mapping[int, Mapping[int, Segment]] = field(default_factory=dict)

    def updated(self, database: Database, model: int, dimension: int) -> tuple[Vectors, list[int]]:
        """Return the vectors with the segments of a model as they are now, and the numbers of damaged ones.

        What did not change is shared.
        """
        held = self.segments.get(model, {})
        found: dict[int, Segment] = {}
        damaged: list[int] = []
        for number, stored in database.rows("SELECT number, checksum FROM segments WHERE model = ?", (model,)):
            segment = held.get(number)
            if segment is None or segment.checksum != stored:
                matrix = read_segment(database, model, number, dimension)
                segment = None if matrix is None else Segment(stored, matrix)
            if segment is None:
                damaged.append(number)
            else:
                found[number] = segment
        return Vectors({**self.segments, model: found}), damaged

    def find_missing(self, model: int, rows: NDArray[Any]) -> list[int]:
        """Return the numbers of segments that hold some rows and are not here; rows below 0 are none."""
        return [number for number in _segments_of(rows) if number not in self.segments.get(model, {})]

    def cosines(self, model: int, query: NDArray[np.float32], rows: NDArray[Any]) -> NDArray[np.float32]:
        """Return the cosine of a query with the vectors of some rows; NaN for a row that is not loaded.

        Summed row by row and not as a product of matrices, whose last digit depends on where a row lies: a note would have
        another score in a brain that holds other notes besides (32 ms instead of 23 at 200,000 notes, 2026-12-01).

        Args:
            model: Id of the model.
            query: Shape (d,), of unit length.
            rows: Any integers; those below 0 are no rows.
        """
        segments = self.segments.get(model, {})
        found = np.full(rows.shape, np.nan, np.float32)
        if not segments:
            return found
        table = np.full((max(segments) + 1) * SEGMENT_ROWS, np.nan, np.float32)
        wanted = _wanted_segments(rows, len(rows) * 4 < len(table))
        for number, segment in segments.items():
            matrix = segment.matrix
            if (wanted is None or number in wanted) and matrix.shape[1] == len(query):
                cosines = np.einsum("ij,j->i", matrix, query)
                table[number * SEGMENT_ROWS : number * SEGMENT_ROWS + len(matrix)] = cosines
        valid = (rows >= 0) & (rows < len(table))
        found[valid] = table[rows[valid]]
        return found

    def vectors(self, model: int, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Return copies of the vectors of some loaded rows, shape (n, d)."""
        segments = self.segments.get(model, {})
        return np.array([segments[row // SEGMENT_ROWS].matrix[row % SEGMENT_ROWS] for row in rows.tolist()], np.float32)


def _wanted_segments(rows: NDArray[Any], few: bool) -> set[int] | None:  # noqa: FBT001 - a yes or no about the first
    """Return the segments that hold some rows, or None for all of them."""
    return set(_segments_of(rows)) if few else None


def _segments_of(rows: NDArray[Any]) -> list[int]:
    """Return the segments that hold some rows, in order; rows below 0 are none."""
    ordered = np.sort(rows[rows >= 0] // SEGMENT_ROWS)
    found: list[int] = ordered[find_runs(ordered)].tolist()
    return found


def read_segment(database: Database, model: int, number: int, dimension: int) -> NDArray[np.float32] | None:
    """Return a segment as a matrix that lies in the bytes as they were read, or None when it is damaged."""
    rows = database.rows(
        "SELECT length, vectors, checksum FROM segments WHERE model = ? AND number = ?", (model, number)
    )
    if not rows:
        return None
    length, blob, stored = rows[0]
    if len(blob) != length * dimension * _BYTES or checksum(blob) != stored:
        return None
    return np.frombuffer(blob, "<f4").reshape(length, dimension)
