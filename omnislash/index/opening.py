"""Getting hold of the index's database, whatever became of its file: damaged, replaced, not to be written, forked.

Rules: LINE-06, RECALL-11; architecture.md section 7; failure case O-10.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.errors import IndexUnavailableError
from omnislash.index.database import DAMAGED_SUFFIX, Database, IndexDamagedError, inode_of, set_aside
from omnislash.index.rebuild import copy_vectors

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)
#: How often an index that lives in memory is tried to be kept on disk after all, in seconds.
_TRY_AGAIN_S = 10.0
#: Connections of the process that this one was forked from: they may be neither used nor closed here.
_OF_PARENT: list[Database] = []


@dataclass(frozen=True, slots=True)
class Handle:
    """An open database and what it was opened as."""

    database: Database
    #: Of the file at that moment; 0 for an index in memory.
    inode: int
    #: Of the process that opened it: a connection does not live through a fork.
    pid: int


class IndexFile:
    """The file of one brain's index."""

    def __init__(self, path: Path) -> None:
        """Keep where it lies; nothing is opened yet."""
        self.path = path
        #: Why the index is kept in memory only, if it is.
        self.trouble: str | None = None
        self._try_again_at = 0.0

    def open(self) -> Handle:
        """Return the database: a damaged one is set aside first, and one that can't be kept lives in memory."""
        database = self._open_database()
        return Handle(database, 0 if database.is_temporary else inode_of(self.path), os.getpid())

    def is_current(self, handle: Handle) -> bool:
        """Tell whether a handle still is the index: of this process, and not replaced under it."""
        if handle.pid != os.getpid():
            return False
        if handle.database.is_temporary:
            return not self._can_be_kept()
        return inode_of(self.path) == handle.inode

    def recover(self, error: IndexDamagedError, handle: Handle | None) -> None:
        """Make the index anew after damage that showed while it was used; the handle must be dropped before."""
        self._replace_damaged(error, handle.inode if handle is not None else inode_of(self.path)).close()

    def _can_be_kept(self) -> bool:
        """Tell whether an index that lives in memory can be kept on disk by now; tried now and then."""
        if time.monotonic() < self._try_again_at:
            return False
        self._try_again_at = time.monotonic() + _TRY_AGAIN_S
        try:
            Database(self.path).close()
        except IndexUnavailableError:
            return False
        return True

    def _open_database(self) -> Database:
        inode = inode_of(self.path)
        with contextlib.suppress(OSError):  # where it can't be made, opening says why
            self.path.parent.mkdir(exist_ok=True)
        try:
            self.trouble = None
            return Database(self.path)
        except IndexDamagedError as error:
            return self._replace_damaged(error, inode)
        except IndexUnavailableError as error:
            self.trouble = f"{error.message} It is kept in memory for now."
            _LOG.warning("%s", self.trouble, extra={"action": "index_not_kept"})
            return self._open_temporary()

    def _open_temporary(self) -> Database:
        """Return an index in memory, with the vectors of the one on disk where that can be read."""
        self._try_again_at = time.monotonic() + _TRY_AGAIN_S
        database = Database.temporary(self.path)
        copy_vectors(self.path, database)
        return database

    def _replace_damaged(self, error: IndexDamagedError, inode: int) -> Database:
        """Set a damaged index aside and start a new one with the vectors that can be read."""
        _LOG.warning("%s It is set aside and made anew.", error.message, extra={"action": "index_damaged"})
        try:
            set_aside(self.path, inode=inode)
            database = Database(self.path)
        except (OSError, IndexUnavailableError) as second:
            self.trouble = f"{error.message} It can't be replaced either: {second}. It is kept in memory for now."
            return self._open_temporary()
        copied = copy_vectors(self.path.with_name(f"{self.path.name}{DAMAGED_SUFFIX}"), database)
        _LOG.warning("%d vectors could be read and are kept.", copied, extra={"action": "vectors_kept"})
        return database


def drop(handle: Handle) -> None:
    """Close a database, unless it belongs to the process that this one was forked from."""
    if handle.pid == os.getpid():
        handle.database.close()
    else:
        _OF_PARENT.append(handle.database)
