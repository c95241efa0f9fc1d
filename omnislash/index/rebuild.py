"""Making the index anew: after damage beside what was set aside, and compactly when a person asks for it.

What was embedded is not embedded again: vectors that can be read, and are what was stored, move over.

Rules: LANG-10, RECALL-11; architecture.md section 7; failure case O-10.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from omnislash.index.database import SQLITE_ERRORS
from omnislash.index.packing import PENDING, checksum
from omnislash.index.rows import Rows
from omnislash.index.vectors import SEGMENT_ROWS, read_segment, store_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from omnislash.index.database import Database


def copy_vectors(old: Path, new: Database) -> int:
    """Copy the embedding cache of another index, and its calibrations, as far as they can be read.

    Args:
        old: The file; it may be damaged.
        new: Where the vectors go.

    Returns:
        How many vectors were copied.
    """
    copied = 0
    with contextlib.suppress(*SQLITE_ERRORS), contextlib.closing(_open_to_read(old)) as source:
        _copy_calibrations(source, new)
        for model, identity, name, dimension in source.execute("SELECT id, identity, name, dimension FROM models"):
            for hashes, vectors in _read_segments(source, model, dimension):
                with new.writing():
                    store_vectors(new, register_model(new, identity, name, dimension), hashes, vectors)
                copied += len(hashes)
    return copied


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Open another index without changing it; where not even a lock file can be made beside it, as it stands."""
    place = path.absolute().as_uri()
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM models").fetchone()
    except SQLITE_ERRORS:
        connection.close()
        connection = sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True)
    return connection


def _copy_calibrations(source: sqlite3.Connection, new: Database) -> None:
    with contextlib.suppress(*SQLITE_ERRORS):
        rows = source.execute("SELECT key, value FROM meta WHERE key LIKE 'calibration:%'").fetchall()
        with new.writing():
            for key, value in rows:
                new.set_meta(key, value)


def _read_segments(
    source: sqlite3.Connection, model: int, dimension: int
) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
    """Yield hashes and vectors of each segment that is what was stored; damaged ones are passed over."""
    hashes = _read_hashes(source, model)
    for number in sorted({row // SEGMENT_ROWS for row in hashes}):
        with contextlib.suppress(*SQLITE_ERRORS, ValueError, TypeError):
            matrix = _read_matrix(source, model, number, dimension)
            first = number * SEGMENT_ROWS
            rows = [row for row in range(first, first + len(matrix)) if row in hashes]
            yield [hashes[row] for row in rows], matrix[[row - first for row in rows]]


def _read_hashes(source: sqlite3.Connection, model: int) -> dict[int, bytes]:
    """Return the hash of each row's text: those before a damaged page from the front, those behind it from the end."""
    found: dict[object, object] = {}
    for way in ("ASC", "DESC"):
        with contextlib.suppress(*SQLITE_ERRORS):
            query = f"SELECT row, text_hash FROM embeddings WHERE model = ? ORDER BY text_hash {way}"  # noqa: S608 - two constants
            found.update(source.execute(query, (model,)))
            break
    return {row: text_hash for row, text_hash in found.items() if isinstance(row, int) and isinstance(text_hash, bytes)}


def _read_matrix(source: sqlite3.Connection, model: int, number: int, dimension: int) -> NDArray[np.float32]:
    """Return a segment.

    Raises:
        ValueError, TypeError: It is not what was stored.
    """
    query = "SELECT vectors, checksum FROM segments WHERE model = ? AND number = ?"
    blob, stored = source.execute(query, (model, number)).fetchone()
    if checksum(blob) != stored:
        message = "a block of vectors is not what was stored"
        raise ValueError(message)
    return np.frombuffer(blob, "<f4").reshape(-1, dimension)


def compact_vectors(database: Database) -> int:
    """Drop vectors that no note uses and close the gaps, inside a transaction; return how many were dropped."""
    dropped = 0
    used = _used_rows(database)
    for model in [row[0] for row in database.rows("SELECT id FROM models")]:
        dropped += _compact_model(database, model, np.unique(used.get(model, np.empty(0, np.int32))))
    return dropped


def count_unused(database: Database) -> tuple[int, int]:
    """Return how many vectors belong to texts that no file has any more, and how many there are."""
    used = sum(len(np.unique(rows)) for rows in _used_rows(database).values())
    cached = int(database.value("SELECT count(*) FROM embeddings"))
    return max(cached - used, 0), cached


def _used_rows(database: Database) -> dict[int, NDArray[np.int32]]:
    """Return the rows that notes use, by model."""
    rows = Rows(database)
    found: dict[int, list[NDArray[np.int32]]] = {}
    for row in database.rows("SELECT notes, words, checksum FROM files"):
        notes = rows.unpack(row).notes
        for model in np.unique(notes["model"]).tolist():
            found.setdefault(model, []).append(notes["row"][(notes["model"] == model) & (notes["row"] >= 0)])
    return {model: np.concatenate(each) for model, each in found.items()}


def _compact_model(database: Database, model: int, used: NDArray[np.int32]) -> int:
    cached = database.rows("SELECT text_hash, row FROM embeddings WHERE model = ? ORDER BY row", (model,))
    dimension = database.value("SELECT dimension FROM models WHERE id = ?", (model,))
    matrices = _read_used(database, model, dimension, used)
    kept = [row for row in cached if row["row"] // SEGMENT_ROWS in matrices and _is_in(used, row["row"])]
    if len(kept) == len(cached):
        return 0
    hashes, old_rows = [row["text_hash"] for row in kept], [row["row"] for row in kept]
    matrix = np.zeros((len(kept), dimension), np.float32)
    for place, row in enumerate(old_rows):
        matrix[place] = matrices[row // SEGMENT_ROWS][row % SEGMENT_ROWS]
    database.run("DELETE FROM embeddings WHERE model = ?", (model,))
    database.run("DELETE FROM segments WHERE model = ?", (model,))
    if kept:
        store_vectors(database, model, hashes, matrix)
    _renumber(database, model, np.array(old_rows, np.int64))
    return len(cached) - len(kept)


def _is_in(ordered: NDArray[np.int32], row: int) -> bool:
    place = int(np.searchsorted(ordered, row))
    return place < len(ordered) and int(ordered[place]) == row


def _read_used(
    database: Database, model: int, dimension: int, used: NDArray[np.int32]
) -> dict[int, NDArray[np.float32]]:
    """Return the segments that hold used rows, by number; a damaged one is left out."""
    numbers = np.unique(used // SEGMENT_ROWS).tolist()
    read = {number: read_segment(database, model, number, dimension) for number in numbers}
    return {number: matrix for number, matrix in read.items() if matrix is not None}


def _renumber(database: Database, model: int, old_rows: NDArray[np.int64]) -> None:
    """Point the notes at the places that their vectors have now: the order stays, the gaps are closed.

    A note whose vector is not among them waits for a new one.
    """
    rows = Rows(database)
    for row in database.rows("SELECT id, notes, words, checksum FROM files"):
        packed = rows.unpack(row)
        mine = np.flatnonzero((packed.notes["model"] == model) & (packed.notes["row"] >= 0))
        if len(mine):
            changed = packed.notes.copy()
            before = changed["row"][mine]
            changed["row"][mine] = np.where(np.isin(before, old_rows), np.searchsorted(old_rows, before), PENDING)
            rows.replace_notes(row["id"], packed.with_notes(changed))


def register_model(database: Database, identity: str, name: str, dimension: int) -> int:
    """Return the id of a model in the index, inside a transaction; a new one gets its row."""
    known = database.value("SELECT id FROM models WHERE identity = ?", (identity,))
    if known is not None:
        return int(known)
    return database.run("INSERT INTO models (identity, name, dimension) VALUES (?, ?, ?)", (identity, name, dimension))
