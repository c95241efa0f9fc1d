"""A turn runs in a thread of its own: its caller listens, may end it at any moment, and never tears it apart.

Ctrl-C reaches the thread that called, and so can't break a tool off halfway.
A stop that is asked for while a tool runs takes effect when the tool has answered.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnislash.runtime.loop.run_values import RunEvent

R = TypeVar("R")

#: How often is asked whether the turn is over, in seconds.
_LOOK_S: Final = 0.1


class StopReason(StrEnum):
    """Why a turn is ended early."""

    #: A person, or whoever runs it, wants it to end; what was said and done is kept.
    CANCELLED = "cancelled"
    #: It took too long.
    LATE = "late"


class Stop:
    """The wish that a turn ends; safe to use from any thread."""

    def __init__(self) -> None:
        """Wish nothing yet."""
        # A signal handler may ask for the stop while its own thread holds the lock.
        self._lock = threading.RLock()
        self._reason: StopReason | None = None
        self._cancel: Callable[[], None] | None = None
        self._tools = 0

    @property
    def reason(self) -> StopReason | None:
        """Why the turn is to end; None = it goes on."""
        return self._reason

    def is_set(self) -> bool:
        """Tell whether the turn is to end."""
        return self._reason is not None

    def request(self, reason: StopReason = StopReason.CANCELLED) -> None:
        """Have the turn end: at once, or when the tool that runs has answered. The first reason counts."""
        with self._lock:
            self._reason = self._reason or reason
        self.deliver()

    def bind(self, cancel: Callable[[], None]) -> None:
        """Say what breaks off the model; it is called at once when the turn is to end already."""
        with self._lock:
            self._cancel = cancel
        self.deliver()

    def deliver(self) -> None:
        """Break off the model when the turn is to end and no tool runs."""
        with self._lock:
            cancel = self._cancel if self._reason is not None and self._tools == 0 else None
        if cancel is not None:
            cancel()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Let a tool run to its end: what it answers is kept before the model is broken off."""
        with self._lock:
            self._tools += 1
        try:
            yield
        finally:
            with self._lock:
                self._tools -= 1


def run_in_thread(
    work: Callable[[Callable[[RunEvent], None], Stop], R],
    *,
    on_event: Callable[[RunEvent], None] | None,
    is_over: Callable[[], bool],
    is_late: Callable[[], bool],
) -> R:
    """Return what a work comes to, which runs in a thread of its own, and hand on its events in this thread.

    Ctrl-C, `is_over` and a listener that fails all ask the work to stop; further Ctrl-C change nothing.

    Args:
        work: Is given a function that tells an event, and the stop to heed.
        on_event: Told each event; when it raises, the work is stopped and the error raised after its end.
        is_over: Asked several times a second: True stops the work.
        is_late: The same, for a time limit.

    Raises:
        BaseException: What the work or the listener raised.
    """
    said: queue.SimpleQueue[RunEvent | None] = queue.SimpleQueue()
    stop = Stop()
    with _heed_interrupts(stop), ThreadPoolExecutor(1, thread_name_prefix="omnislash-turn") as pool:
        turn = pool.submit(work, said.put, stop)
        turn.add_done_callback(lambda _turn: said.put(None))
        try:
            _listen(said, on_event, stop, is_over=is_over, is_late=is_late)
        except BaseException:
            stop.request()
            raise
    return turn.result()


@contextlib.contextmanager
def _heed_interrupts(stop: Stop) -> Iterator[None]:
    """Let Ctrl-C ask for the stop and raise nothing, where nobody else has decided what it does."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, lambda _number, _frame: stop.request())
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _listen(
    said: queue.SimpleQueue[RunEvent | None],
    on_event: Callable[[RunEvent], None] | None,
    stop: Stop,
    *,
    is_over: Callable[[], bool],
    is_late: Callable[[], bool],
) -> None:
    """Hand on what is said until the end."""
    while True:
        try:
            if is_over():
                stop.request()
            elif is_late():
                stop.request(StopReason.LATE)
            try:
                event = said.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            if event is None:
                return
            if on_event is not None:
                on_event(event)
        except KeyboardInterrupt:  # of a handler that is not the usual one
            stop.request()
