"""Conflict copies: what a person saved at the same moment, or what a person's late save dropped.

A copy is `<line>/conflicts/<file>-<instant>-<id>.md`, which a person finds and may delete.

Rules: architecture.md section 4 ("their bytes are never lost").
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from omnislash.core.dedupe import fold
from omnislash.core.lines import ManagedPath, split_path
from omnislash.store import ids
from omnislash.store.hashing import ABSENT, hash_bytes
from omnislash.writer.plans import decode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.store.files import MemoryFiles
    from omnislash.store.replacement import Replacement
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)
#: Keys of intent rows that belong to no batch: a temporary name that could not be removed yet, and a conflict copy
#: that only needs its name.
LEFT, COPY = "left:", "copy:"
#: Key of the intent rows of a sync, which only the holder of the lock of the sync touches.
SYNC = "sync:"


def left_key(change: Replacement) -> str:
    """Return the key under which the query `leave_changes` files the row of a change."""
    return f"{LEFT}{change.temp.name}"


def conflict_path(path: ManagedPath, *, now: datetime) -> ManagedPath:
    """Return the name of a conflict copy of a file."""
    line, rest = split_path(path)
    stem = rest.rsplit("/", 1)[-1].removesuffix(".md")
    return ManagedPath(f"{line}/conflicts/{stem}-{now:%Y%m%dT%H%M%SZ}-{ids.new_suffix()}.md")


def is_held(part: str, whole: str) -> bool:
    """Tell whether every line of `part` that says something also stands in `whole`."""
    lines = {fold(line) for line in whole.split("\n")}
    return all(fold(line) in lines for line in part.split("\n") if line.strip())


def save_displaced(
    change: Replacement, *, files: MemoryFiles, now: datetime, unless_held: bool = False
) -> ManagedPath | None:
    """Give the bytes that came out of an exchange a name of their own; return it.

    With `unless_held` bytes that stand in the file as it is now are let go, and None comes back.

    Raises:
        OSError: The disk said no; the bytes stay under the temporary name.
    """
    came_out = files.read_ready(change)
    if came_out is None or (unless_held and is_held(decode(came_out), decode(files.read(change.path)))):
        change.foreign = False
        return None
    copy = conflict_path(change.path, now=now)
    files.keep_copy(change, copy)
    warn_of_copy(change.path, copy, "somebody saved it while it was being written")
    return copy


def write_copy(copy: ManagedPath, data: bytes, *, state: State, files: MemoryFiles, note: Callable[[], None]) -> None:
    """Write a conflict copy from bytes that stand nowhere else.

    `note` runs in the transaction that forgets where the bytes came from; from then on recovery finishes the copy.

    Raises:
        OSError, WriterUnavailableError: The disk said no.
    """
    change = files.prepare(copy, before=None, after=data)
    temp = change.temp.name
    with state.transaction():
        hashes = {"hash_before": ABSENT, "hash_after": hash_bytes(data)}
        state.run("insert_change", batch=left_key(change), path=copy, temp=temp, **hashes)
    files.stage([change])
    files.sync_parents([change])
    with state.transaction():
        note()
        state.run("mark_copy", temp=temp)
    finish_copy(change, files=files)
    if files.discard(change):
        with state.transaction():
            state.run("drop_changes", batch=f"{COPY}{temp}")


def finish_copy(change: Replacement, *, files: MemoryFiles) -> None:
    """Give a conflict copy that is whole its name; nothing happens when it has it already.

    Raises:
        OSError: The disk said no.
    """
    if files.read_ready(change) is not None and files.read_target(change) is None:
        files.disk.rename_new(change.ready, change.target)
    files.sync_parents([change])


def warn_of_copy(path: ManagedPath, copy: ManagedPath, why: str) -> None:
    """Log that a conflict copy was kept."""
    extra = {"action": "conflict_copy", "path": path, "copy": copy}
    _LOG.warning("kept a conflict copy of %s in %s: %s", path, copy, why, extra=extra)
