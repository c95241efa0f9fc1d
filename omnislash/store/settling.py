"""Waiting for a person's save that is under way: an editor that writes in place holds its file open meanwhile.

Rules: WRITE-O5; architecture.md section 4 ("their bytes are never lost").
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from omnislash.store.disk import has_open_writer, open_regular, read_descriptor

if TYPE_CHECKING:
    from pathlib import Path

#: How long a write waits for an editor that holds the file open for writing, in seconds.
#: An in-place save takes milliseconds; whoever keeps the file open longer gets a conflict copy instead.
OPEN_WRITER_LIMIT_S = 2.0
_OPEN_WRITER_STEP_S = 0.002


def read_settled(path: Path, *, known: bytes | None = None) -> tuple[bytes | None, bool]:
    """Return a file's bytes once nobody is saving it, and whether somebody holds it open after the limit all the same.

    Args:
        path: The file; None comes back when there is none.
        known: Bytes that are no half of a save: a file that holds them is not waited for.

    Raises:
        OSError: Something else is in the way, or the disk refuses.
    """
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return None, False
    try:
        if known is not None and (data := read_descriptor(descriptor)) == known:
            return data, False
        still_open = _wait(descriptor, limit_s=OPEN_WRITER_LIMIT_S)
        return read_descriptor(descriptor), still_open
    finally:
        os.close(descriptor)


def wait_for_writers(path: Path, *, limit_s: float = OPEN_WRITER_LIMIT_S) -> bool:
    """Wait until nobody has the file open for writing; True when somebody still has after the limit.

    Where the platform can't tell, a file that was saved within the last two seconds gets 20 ms to settle.
    """
    try:
        descriptor = open_regular(path)
    except OSError:
        return False
    try:
        return _wait(descriptor, limit_s=limit_s)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, *, limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while (busy := has_open_writer(descriptor)) and time.monotonic() < deadline:
        time.sleep(_OPEN_WRITER_STEP_S)
    if busy is None:
        _settle(descriptor)
    return bool(busy)


def _settle(descriptor: int) -> None:
    for _ in range(10):
        before = os.fstat(descriptor)
        if time.time() - before.st_mtime > OPEN_WRITER_LIMIT_S:  # noqa: TID251 - beside the file's own time
            return
        time.sleep(_OPEN_WRITER_STEP_S * 10)
        after = os.fstat(descriptor)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            return
