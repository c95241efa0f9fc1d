"""Ctrl-C and its like while a line editor waits for a key.

A signal that arrives in the instant before the editor begins to wait is noticed at the next key only: Python has set
its mark, and nothing runs that would look at it. So a thread looks on and sends the signal again until the wait is
over.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: After how long a signal that nobody has taken is sent again, in seconds.
_AGAIN_S: Final = 0.2
#: The signals whose handler ends a wait.
_ENDING: Final = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def send_again() -> Iterator[None]:
    """Send each signal that asks for an end again, five times a second, until the block is left.

    Only in the main thread, whose handlers raise to leave the block; elsewhere, and where a thread can't be signalled,
    nothing is done.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_kill"):
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    looking = _Looking(reading)
    former = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        looking.start()
        yield
    finally:
        looking.stop()
        signal.set_wakeup_fd(former)
        os.close(writing)  # which ends the thread


class _Looking:
    """Looks on from a thread of its own."""

    def __init__(self, arrivals: int) -> None:
        self._arrivals = arrivals
        self._is_over = threading.Event()
        self._sending = threading.Lock()

    def start(self) -> None:
        threading.Thread(target=self._look_on, name="omnislash-signals", daemon=True).start()

    def stop(self) -> None:
        """Return once nothing is sent any more."""
        self._is_over.set()
        with self._sending:
            pass

    def _look_on(self) -> None:
        while arrived := os.read(self._arrivals, 1):
            while arrived[0] in _ENDING and not self._is_over.wait(_AGAIN_S):
                self._send(arrived[0])
        os.close(self._arrivals)

    def _send(self, number: int) -> None:
        with self._sending:
            if not self._is_over.is_set():
                signal.pthread_kill(threading.main_thread().ident or 0, number)
