"""The rows of the index: files with their packed notes, and the counter behind them.

Every method that writes runs inside `Database.writing`.

Rules: LINE-06, LANG-10; failure case O-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.index.database import damaged
from omnislash.index.packing import PENDING, Packed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnislash.index.database import Database
    from omnislash.index.diff import Stat


class Rows:
    """The rows of one index."""

    def __init__(self, database: Database) -> None:
        """Keep the database."""
        self._database = database

    def set_stat(self, place: str, content: bytes, stat: Stat) -> None:
        """Remember another stat for a file whose content is the same; nothing happens when it no longer is."""
        self._database.run(
            "UPDATE files SET size = ?, modified_ns = ?, changed_ns = ?, inode = ? WHERE place = ? AND hash = ?",
            (*stat, place, content),
        )

    def remove(self, place: str) -> None:
        """Forget a file, its notes and its terms."""
        number = self._database.value("SELECT id FROM files WHERE place = ?", (place,))
        if number is not None:
            self._database.run("DELETE FROM files WHERE id = ?", (number,))
            self._database.run("INSERT INTO removals VALUES (?, ?)", (number, self.next_number()))

    def next_number(self) -> int:
        """Return the next number of the counter."""
        number = read_counter(self._database) + 1
        self._database.set_meta("counter", str(number))
        return number

    def insert(self, place: str, kind: str, stat: Stat, values: Sequence[Any], packed: Packed) -> None:
        """Add a file.

        Args:
            place: Path from the brain's directory.
            kind: What kind of file it is.
            stat: As to be remembered.
            values: Hash of its bytes and its problems.
            packed: Its notes.
        """
        self._database.run(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.next_number(), place, kind, *stat, *values, count_pending(packed.notes), *packed.to_blobs()),
        )

    def unpack(self, row: sqlite3.Row) -> Packed:
        """Return the notes of a row with the columns `notes`, `words` and `checksum`.

        Raises:
            IndexDamagedError: They are not what was stored.
        """
        try:
            return Packed.from_blobs(row["notes"], row["words"], row["checksum"])
        except (ValueError, TypeError) as error:
            raise damaged(self._database.path, error) from error

    def replace_notes(self, file: int, packed: Packed) -> None:
        """Store other note records for a file, under a new id."""
        notes, _, total = packed.to_blobs()
        number = self.next_number()
        self._database.run("INSERT INTO removals VALUES (?, ?)", (file, number))
        self._database.run(
            "UPDATE files SET id = ?, notes = ?, checksum = ?, pending = ? WHERE id = ?",
            (number, notes, total, count_pending(packed.notes), file),
        )

    def clear_files(self) -> None:
        """Forget every file and term; the embedding cache stays (LANG-10)."""
        number = self.next_number()
        self._database.run("INSERT OR IGNORE INTO removals SELECT id, ? FROM files", (number,))
        self._database.run("DELETE FROM files")


def count_pending(notes: NDArray[Any]) -> int:
    """Return how many notes wait for their vector."""
    return int(np.count_nonzero((notes["row"] == PENDING) & (notes["model"] > 0)))


def read_counter(database: Database, key: str = "counter") -> int:
    """Return the number of the last change, or another number of the table `meta`; 0 without one.

    Raises:
        IndexDamagedError: What stands there is no number.
    """
    try:
        return int(database.meta(key, "0"))
    except ValueError as error:
        raise damaged(database.path, error) from error
