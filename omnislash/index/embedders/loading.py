"""A thing that is made once, when it is first needed, whichever thread needs it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: Where the package keeps what the models need beside their weights.
DATA = Path(__file__).parent / "data"
#: Threads of a model at most. One note gains nothing from more than four, and the agent's machine has other work.
MOST_THREADS = 4
#: What to do when a file or module of the installation is not what it should be.
REINSTALL = "Install omnislash again: pip install --force-reinstall omnislash"


#: How long a failure to load is remembered, in seconds: a broken model costs one attempt and not one a search.
FAILURE_S = 30.0


class Once(Generic[T]):
    """A thing and the way to make it."""

    def __init__(self, make: Callable[[], T], *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        """Keep how to make it; nothing is made yet."""
        self._make = make
        self._monotonic_s = monotonic_s
        self._made: T | None = None
        self._failure: EmbedderUnavailableError | None = None
        self._again_at = 0.0
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return the thing, and make it first when nobody has; a second thread waits for the first.

        Raises:
            EmbedderUnavailableError: As making it did, for half a minute without a new attempt.
        """
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = self._try()
        return self._made

    def _try(self) -> T:
        if self._failure is not None and self._monotonic_s() < self._again_at:
            raise self._failure
        try:
            return self._make()
        except EmbedderUnavailableError as error:
            self._failure, self._again_at = error, self._monotonic_s() + FAILURE_S
            raise


def count_threads() -> int:
    """Return the threads that a model gets: the processors this process may use, `MOST_THREADS` at most."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_THREADS, usable))


def read_checked(path: Path, expected_sha256: str) -> bytes:
    """Return the bytes of a file of the installation.

    Raises:
        EmbedderUnavailableError: It can't be read, or it is another file than the one that was measured.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"The model file {path.name} can't be read: {error.strerror or error}."
        raise EmbedderUnavailableError(message, path=str(path), hint=REINSTALL) from error
    found = hashlib.sha256(data).hexdigest()
    if found != expected_sha256:
        message = f"The model file {path.name} is not the one that omnislash was measured with (sha256 {found[:12]}…)."
        raise EmbedderUnavailableError(message, path=str(path), hint=REINSTALL)
    return data


def return_memory() -> None:
    """Hand memory that was only needed while loading back to the system, where the C library can.

    Measured with all-MiniLM-L6-v2: 260 MB resident after loading, 184 MB after this (2026-12-01).
    """
    import ctypes  # noqa: PLC0415 - only when a model is loaded

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
