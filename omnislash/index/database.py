"""The index's database file: opening it, telling when it is damaged, and setting a damaged one aside.

Everything in it is derived, so it is never repaired: what can't be read is set aside and made anew from the files.
Readers and the one that writes do not wait for each other (write-ahead log); a commit is not synced on its own, because
a power cut loses only what the next search finds missing.

Rules: LINE-06, RECALL-11; architecture.md sections 1, 5 and 7.
Source: https://sqlite.org/wal.html
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

from omnislash.errors import IndexUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows renames no open file, so nobody can set one aside under another
    fcntl = None  # type: ignore[assignment]

#: Name of the index in `memory/`.
INDEX_FILE = ".memory-index.db"
#: Raise it whenever the tables or the packed arrays change; an index of another version is made anew.
SCHEMA_VERSION = 1
#: How long a transaction waits for another process's transaction, in milliseconds; one lasts well under a second.
_BUSY_MS = 10_000
#: Page cache of a connection in KiB: an index is read once and then kept as arrays.
_CACHE_KIB = 2_048
#: What SQLite's functions raise: a message of an error that quotes a damaged page may be no text.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
#: How often somebody who waits for another process looks again, in seconds.
_LOOK_S = 0.01
#: The files that belong to one database.
_SUFFIXES = ("", "-wal", "-shm", "-journal")
#: What a damaged database is renamed to; the one before is replaced.
DAMAGED_SUFFIX = ".damaged"


class IndexDamagedError(IndexUnavailableError):
    """The index file can't be read; it is made anew from the files."""


class Database:
    """A connection to the index; safe to share between threads."""

    def __init__(self, path: Path, *, in_memory: bool = False) -> None:
        """Open the index, and make its tables when it is new.

        Args:
            path: The file.
            in_memory: True keeps it in this process's memory instead, see :meth:`temporary`.

        Raises:
            IndexDamagedError: It is no index, another version's, or broken.
            IndexUnavailableError: It can't be opened or made: permissions, a full disk, a directory in the way.
        """
        self.path = path
        #: What tells the file from another one of its name; 0 for an index in memory.
        self.inode = 0
        self._lock = threading.RLock()
        self._commits = 0
        #: Whether the index can't be kept on disk: it lives in memory for this process.
        self.is_temporary = in_memory
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        if self.is_temporary:
            return self._connect_to(":memory:")
        with _held(self.path.parent, alone=False):
            connection = self._connect_to(str(self.path))
            self.inode = inode_of(self.path)
            return connection

    def _connect_to(self, place: str) -> sqlite3.Connection:
        try:
            connection = _connect_patiently(place)
        except SQLITE_ERRORS as error:
            raise explain(error, self.path) from error
        try:
            self._prepare(connection)
        except SQLITE_ERRORS as error:
            connection.close()
            raise explain(error, self.path) from error
        except IndexUnavailableError:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in {0, SCHEMA_VERSION}:
            message = f"The search index memory/{self.path.name} was made by another version (schema {version})."
            raise IndexDamagedError(message, path=f"memory/{self.path.name}")
        if version == 0:
            _make_tables(connection)
        connection.execute("SELECT count(*) FROM meta").fetchone()

    @classmethod
    def temporary(cls, path: Path) -> Database:
        """Return an empty index that lives in this process's memory, for a brain whose index can't be written."""
        return cls(path, in_memory=True)

    def close(self) -> None:
        """Close the connection; further calls fail."""
        with self._lock:
            self._connection.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query.

        Raises:
            IndexDamagedError: The file is broken.
            IndexUnavailableError: It can't be read for another reason.
        """
        with self._lock:
            try:
                return self._connection.execute(sql, tuple(parameters)).fetchall()
            except SQLITE_ERRORS as error:
                raise explain(error, self.path) from error

    def value(self, sql: str, parameters: Iterable[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    def meta(self, key: str, default: str = "") -> str:
        """Return a value of the table `meta`."""
        found = self.value("SELECT value FROM meta WHERE key = ?", (key,))
        return default if found is None else str(found)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Let every query inside see one state of the index; may stand in another one."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._begin("BEGIN")
            try:
                yield
            finally:
                with contextlib.suppress(*SQLITE_ERRORS):
                    self._connection.execute("ROLLBACK")

    # -- writing -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[Database]:
        """Run what is inside as one transaction, undone when it raises.

        Raises:
            IndexUnavailableError: The disk is full or read-only, or another process holds the index for too long.
        """
        with self._lock:
            self._begin("BEGIN IMMEDIATE")
            try:
                yield self
                self._connection.execute("COMMIT")
                self._commits += 1
            except SQLITE_ERRORS as error:
                self._roll_back()
                raise explain(error, self.path) from error
            except BaseException:
                self._roll_back()
                raise

    def _begin(self, statement: str) -> None:
        try:
            self._connection.execute(statement)
        except SQLITE_ERRORS as error:
            raise explain(error, self.path) from error

    def _roll_back(self) -> None:
        with contextlib.suppress(*SQLITE_ERRORS):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def run(self, sql: str, parameters: Iterable[Any] = ()) -> int:
        """Run a statement inside :meth:`writing`; return the id of the row that it made."""
        return self._connection.execute(sql, tuple(parameters)).lastrowid or 0

    def run_many(self, sql: str, parameters: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement for each row of parameters inside :meth:`writing`."""
        self._connection.executemany(sql, parameters)

    def set_meta(self, key: str, value: str) -> None:
        """Store a value of the table `meta` inside :meth:`writing`."""
        self.run("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))

    def shrink(self) -> None:
        """Give back the space of what was dropped; another process that reads only puts it off."""
        with self._lock, contextlib.suppress(*SQLITE_ERRORS):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # -- what it is like ---------------------------------------------------------------------------------------------

    def state_token(self) -> tuple[int, int]:
        """Return what changes whenever anybody has committed: another connection, or this one."""
        return int(self.value("PRAGMA data_version")), self._commits

    def find_damage(self) -> list[str]:
        """Return what SQLite itself finds wrong in the whole file, a sentence each; empty when it is sound."""
        try:
            found = [str(row[0]) for row in self.rows("PRAGMA integrity_check(20)")]
        except IndexUnavailableError as error:
            return [error.message]
        return [text for text in found if text != "ok"]


def _connect_patiently(path: str) -> sqlite3.Connection:
    """Connect; try again while another process makes the file or closes it as the last one, which SQLite won't wait for."""
    end = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            return _connect(path)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(_LOOK_S)


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False, cached_statements=128
    )
    connection.row_factory = sqlite3.Row
    try:
        for pragma in (
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "secure_delete = ON",
            "journal_size_limit = 0",  # what was removed does not stay behind in the log
            f"cache_size = -{_CACHE_KIB}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except SQLITE_ERRORS:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in one transaction; of two processes that start together the second finds them made."""
    sql = resources.files("omnislash.index").joinpath("schema.sql").read_text(encoding="utf-8")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in sql.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


_REMEDY = "omnislash index rebuild makes it anew."


def damaged(path: Path, error: Exception) -> IndexDamagedError:
    """Return the error that says that the index is damaged."""
    place = f"memory/{path.name}"
    return IndexDamagedError(f"The search index {place} is damaged ({error}).", path=place, hint=_REMEDY)


def explain(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> IndexUnavailableError:
    """Return SQLite's error as one of ours, told apart by whether the file itself is broken."""
    code = getattr(error, "sqlite_errorcode", None)
    place = f"memory/{path.name}"
    broken = code is not None and code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    if broken or isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8"):
        return damaged(path, error)
    if str(error).startswith("no such "):
        message = f"The search index {place} is not what this version writes ({error})."
        return IndexDamagedError(message, path=place, hint=_REMEDY)
    message = f"The search index {place} can't be used: {error}."
    return IndexUnavailableError(message, path=place, hint="Check the disk and the permissions of memory/.")


def set_aside(path: Path, *, inode: int | None = None) -> None:
    """Rename a damaged database, with the files that belong to it, so that a new one can be made in its place.

    Nobody opens an index here meanwhile: a new file with the log of the old one would be a mixture of both.

    Args:
        path: Where it lies.
        inode: Of the file that is damaged: nothing happens when another process has put a new one in its place.

    Raises:
        OSError: The directory can't be written.
    """
    with _held(path.parent, alone=True):
        if inode is not None and inode_of(path) != inode:
            return
        for suffix in _SUFFIXES:
            target = f"{path}{DAMAGED_SUFFIX}{suffix}"
            try:
                os.replace(f"{path}{suffix}", target)
            except FileNotFoundError:  # the log of one that was damaged before does not belong to this one
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(target)


def inode_of(path: Path) -> int:
    """Return what tells two files of one name apart; 0 when there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


@contextlib.contextmanager
def _held(directory: Path, *, alone: bool) -> Iterator[None]:
    """Hold a lock on a directory, alone or beside others; a file system that has none goes without."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:  # whoever opens the index hears of it
        yield
        return
    try:
        if fcntl is not None:
            _wait_for(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, kind: int) -> None:
    """Take a lock; after `_BUSY_MS` go on without it, because whoever holds it that long has stopped."""
    end = time.monotonic() + _BUSY_MS / 1000
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOOK_S)
        except OSError:
            return
        else:
            return


def size_on_disk(path: Path) -> int:
    """Return how many bytes the index takes, its log included."""
    total = 0
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            total += os.stat(f"{path}{suffix}").st_size
    return total
