"""Looking into the brain's two databases without changing a byte, and without leaving a file beside them.

SQLite makes a `-wal` and a `-shm` beside a database that it opens, unless it is told that nobody writes (`immutable`):
that is so where there is no `-wal`, because every process that has the database open keeps one. Where there is one, the
`-shm` is only read; a log without it could be read only by making it, so such a database is left alone.

Rules: DOCTOR-16.
Source: https://sqlite.org/wal.html#read_only_databases; https://sqlite.org/c3ref/open.html (`immutable`);
`unixOpenSharedMemory` of SQLite for `readonly_shm`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from omnislash.errors import OmnislashError
from omnislash.index.limits import deadline
from omnislash.store.locks import WRITER_LOCK, is_locked
from omnislash.store.state import SCHEMA_VERSION, load_queries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash.checks.examined import Examined

#: Name of the state database in `.omnislash/`.
STATE_FILE: Final = "state.db"
#: Seconds that SQLite's own check of a database may take: what is larger than it reads in this time is left to a person.
_CHECK_S: Final = 2.0
#: How many of SQLite's instructions pass between two looks at the clock: about a millisecond.
_INSTRUCTIONS: Final = 20_000
#: Seconds that a query waits for another process.
_WAIT_S: Final = 1.0
#: What SQLite's functions raise: a message of an error that quotes a damaged page may be no text.
SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)


class UnreadLogError(OmnislashError):
    """The log beside a database can't be read without making a file."""


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading; several queries may see several states of it.

    Raises:
        UnreadLogError: There is a log whose index is missing.
        sqlite3.Error: It can't be opened.
    """
    with contextlib.closing(sqlite3.connect(_address(path), uri=True, timeout=_WAIT_S)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def _address(path: Path) -> str:
    place = quote(os.fsencode(path))
    log, shared = (_size_of(path.with_name(f"{path.name}-{suffix}")) for suffix in ("wal", "shm"))
    if log is not None and shared is not None:
        return f"file:{place}?mode=ro&readonly_shm=1"
    if not log:
        return f"file:{place}?mode=ro&immutable=1"
    message = f"The log {path.name}-wal lies there without {path.name}-shm, so it can't be read without changing it."
    raise UnreadLogError(message)


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def find_damage(connection: sqlite3.Connection, *, limit_s: float = _CHECK_S) -> tuple[str | None, bool]:
    """Return what SQLite itself finds wrong first, None for nothing, and whether it came to the end in time.

    Raises:
        sqlite3.Error: The database is so broken that it can't be checked.
    """
    is_over = deadline(limit_s)
    connection.set_progress_handler(is_over, _INSTRUCTIONS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None, False
        raise
    finally:
        connection.set_progress_handler(None, 0)
    return (None if found == "ok" else " ".join(found.split())), True


def is_broken(error: Exception) -> bool:
    """Tell whether an error of SQLite says that the file itself is broken, and not that it can't be got at."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, UnicodeDecodeError) or (
        code is not None and code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    )


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables; 0 for a new database."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def query_state(brain: Examined, query: str, *, since: int, **parameters: Any) -> list[sqlite3.Row]:
    """Return the rows of a named query of the state database.

    Nothing comes back where it is not there, can't be read, or has not these tables: the check `write-queue` tells why.

    Args:
        brain: The brain.
        query: Its name in `queries.sql`; one that only reads.
        since: The version in which its tables came.
        parameters: Of the query.
    """
    path = brain.state_directory / STATE_FILE
    if not os.path.isfile(path):  # noqa: PTH113 - False, too, where this user may not look
        return []
    with contextlib.suppress(*SQLITE_ERRORS, UnreadLogError), open_database(path) as connection:
        if since <= read_version(connection) <= SCHEMA_VERSION:
            return connection.execute(load_queries()[query], parameters).fetchall()
    return []


def is_closed(brain: Examined) -> bool:
    """Tell whether there is a directory of the state that this user may not look into; two checks say so."""
    place = brain.state_directory
    return brain.by_path.get(place.name) is not None and not os.access(place, os.R_OK | os.X_OK)


def has_writer(brain: Examined) -> bool:
    """Tell whether a process holds the lock of the writer; False where that can't be asked."""
    with contextlib.suppress(OSError):
        return is_locked(brain.state_directory / WRITER_LOCK)
    return False
