"""Loading the index into memory, and catching up with what other processes wrote.

Rules: LINE-06; architecture.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.index.database import damaged
from omnislash.index.diff import Stat
from omnislash.index.rows import Rows, read_counter
from omnislash.index.snapshot import IndexedFile, Loaded, Snapshot

if TYPE_CHECKING:
    from omnislash.index.database import Database

_COLUMNS = "id, place, kind, hash, notes, words, checksum"


def load_snapshot(database: Database, snapshot: Snapshot) -> Snapshot:
    """Return the index as it is now, given how it was; the same object when nothing changed.

    Raises:
        IndexDamagedError: A row is not what was stored, or what counts the rows is lost.
    """
    with database.reading():
        counter = read_counter(database)
        if counter < (database.value("SELECT max(id) FROM files") or 0):
            raise damaged(database.path, ValueError("files have numbers beyond the counter"))
        if counter == snapshot.revision:
            return snapshot
        if snapshot.revision < read_counter(database, "removalsSince") or counter < snapshot.revision:
            snapshot = Snapshot()
        rows = database.rows(f"SELECT {_COLUMNS} FROM files WHERE id > ? ORDER BY id", (snapshot.revision,))  # noqa: S608 - a constant
        removed = [row[0] for row in database.rows("SELECT file FROM removals WHERE at > ?", (snapshot.revision,))]
    reader = Rows(database)
    added = [Loaded(IndexedFile(row["id"], row["place"], row["kind"], row["hash"]), reader.unpack(row)) for row in rows]
    return snapshot.updated(added, removed, revision=counter)


def load_stats(database: Database) -> dict[str, Stat]:
    """Return the stat with which each file was indexed, by its place.

    Raises:
        IndexDamagedError: A file stands there twice, so what keeps names apart is broken.
    """
    rows = database.rows("SELECT place, size, modified_ns, changed_ns, inode FROM files")
    stats = {row[0]: Stat(row[1], row[2], row[3], row[4]) for row in rows}
    if len(stats) != len(rows):
        raise damaged(database.path, ValueError("a file stands there twice"))
    return stats
