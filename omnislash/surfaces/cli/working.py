"""What runs for as long as a worker runs, and the signals that end it.

Rules: WRITE-01, WRITE-07, KNOB-26.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from omnislash.engine import Brain


def hear_signals() -> int:
    """Return a descriptor from which a byte can be read once SIGTERM or Ctrl-C asks this process to stop.

    A pipe that Python's own handler writes to, and not an event that ours would set: ours runs in the main thread only,
    which sleeps in the read while another thread takes the signal, or holds the event's own lock in that moment.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)
    return reading


@contextlib.contextmanager
def run_worker(brain: Brain, *, add_file: Callable[[Path], None]) -> Iterator[None]:
    """Be the brain's worker until the block is left: writer, index, summaries, heartbeats, hooks and sync.

    Args:
        brain: The brain.
        add_file: Adds the log file of a brain; called once this is the worker, before anything is said about its files.

    Raises:
        WriterUnavailableError: Another worker runs already.
    """
    from omnislash.surfaces.adapters.running import make_hook_operations  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.cli import following  # noqa: PLC0415 - as above

    running = brain.start_worker(operations=make_hook_operations(brain))
    stopping = threading.Event()
    try:
        add_file(brain.root)
        following.follow(brain, stopping)
        brain.start_indexing()
        brain.start_ticking()
        brain.start_scheduling()
        brain.start_syncing()
        brain.start_flushing()
        yield
    finally:
        stopping.set()
        brain.stop_background()
        running.stop()
