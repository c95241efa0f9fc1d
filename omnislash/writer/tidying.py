"""What is left of changes that are over: their temporary names, and the rows that tell recovery of them.

A row goes only once the directory that held the name is synced: until then a power cut brings back a name of which
nobody would know.

Rules: WRITE-O5; architecture.md section 4.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from omnislash.errors import OmnislashError
from omnislash.writer.displaced import left_key, save_displaced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omnislash.core.clock import Clock
    from omnislash.store.files import MemoryFiles
    from omnislash.store.replacement import Replacement
    from omnislash.store.state import State


class Leftovers:
    """Removes them when there is time for it; what can't be removed is tried again."""

    def __init__(self, state: State, files: MemoryFiles, clock: Clock) -> None:
        """Nothing is left yet."""
        self._state = state
        self._files = files
        self._clock = clock
        #: Batches that are done: the key of their intent rows and their changes.
        self._finished: list[tuple[str, Sequence[Replacement]]] = []
        #: Changes that did not come about and whose temporary names could not be removed yet.
        self._stuck: list[Replacement] = []
        #: Keys of intent rows of which nothing is left, with the directories that have to be synced before they go.
        self._tidied: dict[str, set[Path]] = {}

    def add(self, key: str, changes: Sequence[Replacement]) -> None:
        """Note a batch that is done; the key is empty where it had no intent."""
        self._finished.append((key, changes))

    @property
    def untidied(self) -> int:
        """How many temporary files of finished batches wait to be removed."""
        return sum(len(changes) for _, changes in self._finished)

    def tidy(self) -> None:
        """Remove the temporary names of what is done; what stays is tried again."""
        self._finished = [(key, changes) for key, changes in self._finished if not self._clear(key, changes)]
        self._stuck = [change for change in self._stuck if not self._clear_stuck(change)]

    def clear_failed(self, change: Replacement) -> None:
        """Remove the temporary names of a change that did not come about, now or later."""
        if not self._clear_stuck(change):
            self._stuck.append(change)

    def _clear(self, key: str, changes: Sequence[Replacement]) -> bool:
        gone = [self._clear_change(change) for change in changes]
        if not all(gone):
            return False
        if key:
            self._tidied[key] = {change.target.parent for change in changes}
        return True

    def _clear_change(self, change: Replacement) -> bool:
        """Remove what an exchange brought out, unless somebody has written to it since."""
        if change.before is not None and not change.blind:
            came_out = self._files.read_ready(change)
            change.foreign = came_out is not None and came_out != change.before
        if not change.foreign:
            return self._files.discard(change)
        with contextlib.suppress(OSError, OmnislashError):
            save_displaced(change, files=self._files, now=self._clock.now(), unless_held=True)
        return self._files.discard(change)

    def _clear_stuck(self, change: Replacement) -> bool:
        try:
            if change.foreign:
                save_displaced(change, files=self._files, now=self._clock.now(), unless_held=True)
        except (OSError, OmnislashError):
            return False
        if not self._files.discard(change):
            return False
        self._tidied[left_key(change)] = {change.target.parent}
        return True

    # -- the rows ----------------------------------------------------------------------------------------------------

    def drop_later(self, directories: Mapping[str, set[Path]]) -> None:
        """Note intent rows that can go once these directories are synced."""
        self._tidied.update(directories)

    def note_synced(self, directories: set[Path]) -> None:
        """Note that the names in these directories are durable, and so is the removal of others."""
        for unsynced in self._tidied.values():
            unsynced.difference_update(directories)

    def drop_rows(self) -> None:
        """Remove the intent rows of which nothing is left; inside a transaction."""
        for key, unsynced in self._tidied.items():
            if not unsynced:
                self._state.run("drop_changes", batch=key)

    def forget_rows(self) -> None:
        """Forget the rows that :meth:`drop_rows` has removed, once the transaction is committed."""
        self._tidied = {key: unsynced for key, unsynced in self._tidied.items() if unsynced}
