"""The right to embed: one thread of one process at a time, so that nothing is embedded twice.

Rules: LANG-10; architecture.md section 5.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING

from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Notes that a search waits for while somebody else embeds; more than that is a first build, and is admitted.
_WORTH_WAITING = 128
#: How often somebody who waits for another's vectors looks again, in seconds.
_LOOK_S = 0.02


class EmbeddingClaim:
    """Who may embed for one brain."""

    def __init__(self, lock_file: Path) -> None:
        """Keep the file that is locked among processes; its directory need not be there."""
        self._lock_file = lock_file
        self._threads = threading.Lock()

    @contextlib.contextmanager
    def hold(
        self, count_waiting: Callable[[], int], *, is_over: Callable[[], bool], is_patient: bool
    ) -> Iterator[bool]:
        """Hold the right; False when another thread or process has it still, or has left nothing to do.

        Args:
            count_waiting: Tells how many notes wait for a vector.
            is_over: Tells when to wait no longer.
            is_patient: True waits for as long as there is time; False only for few notes, as a search does.
        """
        lock = WriterLock(self._lock_file)
        while True:
            if self._threads.acquire(blocking=False):
                try:
                    if _try_acquire(lock):
                        yield True
                        return
                finally:
                    lock.release()
                    self._threads.release()
            waiting = count_waiting()
            if not waiting or is_over() or (waiting > _WORTH_WAITING and not is_patient):
                break
            time.sleep(_LOOK_S)
        yield False


def _try_acquire(lock: WriterLock) -> bool:
    """Take the lock among processes; a brain that can't hold one is not shared with a process that embeds."""
    try:
        return lock.acquire(Owner(pid=os.getpid(), role="index", since=""))
    except OSError:
        return True
