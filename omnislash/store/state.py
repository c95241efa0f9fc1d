"""The state database: one SQLite file, opened the same way by everybody.

It holds the queue, verdicts, audit log, events, approvals, what the writer last left on disk, what each session was
shown, and the runs of heartbeats and hooks.
It runs in WAL mode with `synchronous=FULL`: a transaction that was committed survives a power cut.
The queries stand in `queries.sql`, the tables in `schema.sql` and `migrations/`.

Rules: WRITE-O3, WRITE-O5, WRITE-11; architecture.md sections 1 and 4.
Source: https://sqlite.org/pragma.html#pragma_synchronous
"""

from __future__ import annotations

import contextlib
import functools
import re
import sqlite3
import threading
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

from omnislash.errors import WriterUnavailableError
from omnislash.store.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: How long a transaction waits for another process's transaction, in milliseconds.
#: A transaction lasts as long as one sync of the disk, so ten seconds mean that something is really wrong.
_BUSY_MS = 10_000
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@functools.cache
def load_queries() -> Mapping[str, str]:
    """Return the queries of `queries.sql` by name."""
    text = resources.files("omnislash.store").joinpath("queries.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def load_migrations() -> list[tuple[int, str]]:
    """Return `(version, sql)` of each migration, in order."""
    folder = resources.files("omnislash.store").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text(encoding="utf-8")) for name in names]


#: The version of the newest migration; raise it together with a new file in `migrations/`.
SCHEMA_VERSION = 4


_DAMAGED = "The file is damaged: move it away and start again; queued writes are lost with it, confirmed memory is not."
#: What a person can do, by what SQLite says; for all else the disk is to be looked at.
_REMEDIES = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_BUSY: "Another process was stopped in the middle of a change: let it go on or end it, and try again.",
}


class State:
    """A connection to the state database; safe to share between threads."""

    def __init__(self, path: Path, *, disk: Disk | None = None) -> None:
        """Open the database, make it if it is missing, and bring an older one up to date.

        Raises:
            WriterUnavailableError: It can't be opened, is damaged, or was made by a newer version.
        """
        self.path = path
        self._disk = disk or Disk()
        self._lock = threading.RLock()
        try:
            self._connection = self._open()
        except (sqlite3.Error, OSError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> WriterUnavailableError:
        remedy = _REMEDIES.get(getattr(error, "sqlite_errorcode", 0), "Check the disk and its permissions.")
        if str(error).startswith("no such "):  # a table or a column: SQLite has no code of its own for it
            remedy = _DAMAGED
        message = f"The state database .omnislash/{self.path.name} can't be used: {error}. {remedy}"
        return WriterUnavailableError(message, path=f".omnislash/{self.path.name}")

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.row_factory = sqlite3.Row
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version < SCHEMA_VERSION:
                _switch_to_wal(connection)
            for pragma in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {pragma}")
            if version < SCHEMA_VERSION:
                self._migrate(connection)
            elif version > SCHEMA_VERSION:
                message = (
                    f"The state database .omnislash/{self.path.name} was written by a newer omnislash (schema {version}, "
                    f"this one knows {SCHEMA_VERSION}). Update omnislash to open this brain."
                )
                raise WriterUnavailableError(message, path=f".omnislash/{self.path.name}")
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _migrate(connection: sqlite3.Connection) -> None:
        """Run the missing migrations in one transaction; two processes that start together run them once."""
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for number, sql in load_migrations():
            if number > version:
                for statement in _statements(sql):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection; further calls fail."""
        with self._lock:
            self._connection.close()

    # -- reading and writing -----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[State]:
        """Run what is inside as one transaction; durable when the block is left, undone when it raises.

        Raises:
            WriterUnavailableError: The disk is full, read-only or broken; nothing of the block is kept.
        """
        with self._lock:
            self._begin()
            try:
                yield self
                self._disk.commit(self._connection)
            except (sqlite3.Error, OSError) as error:
                self._roll_back()
                raise self._unavailable(error) from error
            except BaseException:
                self._roll_back()
                raise

    def _begin(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def run(self, query: str, **parameters: Any) -> int:
        """Run a named query that changes rows; return how many it changed."""
        with self._lock:
            return self._connection.execute(load_queries()[query], parameters).rowcount

    def rows(self, query: str, **parameters: Any) -> list[sqlite3.Row]:
        """Return all rows of a named query.

        Raises:
            WriterUnavailableError: The database can't be read.
        """
        with self._lock:
            try:
                return self._connection.execute(load_queries()[query], parameters).fetchall()
            except sqlite3.Error as error:
                raise self._unavailable(error) from error

    def row(self, query: str, **parameters: Any) -> sqlite3.Row | None:
        """Return the first row of a named query, or None."""
        found = self.rows(query, **parameters)
        return found[0] if found else None

    def scrub(self) -> None:
        """Overwrite what deleted rows have left in the write-ahead log, as far as no reader needs it."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def data_version(self) -> int:
        """Return a number that changes whenever another connection commits."""
        with self._lock:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return version


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch a new database to WAL; this pragma does not wait for others by itself, so it is tried again."""
    deadline = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _statements(sql: str) -> Iterator[str]:
    """Return the complete statements of a script, one after another."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
