"""A brain's `.omnislash/`: made when it is first needed, hidden from git, with the connections to the database in it.

Source: architecture.md section 1.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from omnislash.errors import StorageError
from omnislash.store.state import State

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.store.disk import Disk

#: Where a brain keeps its queue, audit log and approvals.
STATE_DIRECTORY = ".omnislash"


class StateDirectory:
    """The state of one brain; safe to share between threads."""

    def __init__(self, root: Path, *, disk: Disk | None = None) -> None:
        """Name it; nothing is on disk yet.

        Args:
            root: The brain's directory.
            disk: The calls that change the disk; the real ones by default.
        """
        self.path = root / STATE_DIRECTORY
        self._disk = disk
        self._lock = threading.Lock()
        self._shared: State | None = None
        self._opened: list[State] = []

    def prepare(self) -> None:
        """Make the directory, hidden from git.

        Raises:
            StorageError: It can't be made; nothing was changed.
        """
        hidden = self.path / ".gitignore"
        if hidden.is_file():
            return
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            hidden.write_text("*\n", encoding="utf-8")
        except OSError as error:
            in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
            remedy = "Move that file away." if in_the_way else "Give this user write access to the brain's directory."
            message = f"{STATE_DIRECTORY}/ can't be made in the brain: {error.strerror}. Nothing was changed. {remedy}"
            raise StorageError(message, path=STATE_DIRECTORY) from error

    def open(self) -> State:
        """Return the state database that the whole process shares.

        Raises:
            StorageError: The directory can't be made.
            WriterUnavailableError: The state database can't be used.
        """
        with self._lock:
            if self._shared is None:
                self._shared = self._connect()
            return self._shared

    def open_another(self) -> State:
        """Return it anew, for one that must not wait for the others; the same errors mean the same."""
        with self._lock:
            return self._connect()

    def _connect(self) -> State:
        self.prepare()
        state = State(self.path / "state.db", disk=self._disk)
        self._opened.append(state)
        return state

    def close(self) -> None:
        """Close every connection; another use opens a new one."""
        with self._lock:
            for state in self._opened:
                state.close()
            self._opened.clear()
            self._shared = None
