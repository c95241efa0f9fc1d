"""What tells the next sync that commits were being put in place, and what a dead process left of it.

Rules: failure case O-50; architecture.md section 4.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from omnislash.errors import OmnislashError
from omnislash.runtime.syncing.merging_objects import DURABLE
from omnislash.runtime.syncing.placing_files import Home, Homes
from omnislash.store.hashing import ABSENT, hash_bytes
from omnislash.store.replacement import Replacement
from omnislash.store.settling import wait_for_writers
from omnislash.writer.displaced import SYNC

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime

    from omnislash.core.lines import ManagedPath
    from omnislash.runtime.syncing.merge_values import MergePlace

#: Name the commit that is being left and the one that is being gone to; of this working tree alone.
FROM, TO = "refs/worktree/omnislash/from", "refs/worktree/omnislash/to"


def read_begun(place: MergePlace) -> tuple[str, str] | None:
    """Return the commits of a way that was begun and not ended: left and gone to; None when there is none."""
    old, new = place.repository.resolve(FROM), place.repository.resolve(TO)
    return (old, new) if old and new else None


def forget(place: MergePlace) -> None:
    """Remove the references, and the intent rows with them: nothing of what was begun is needed any more."""
    place.repository.run(*DURABLE, "update-ref", "--stdin", input=f"delete {TO}\ndelete {FROM}\n".encode())


def settle_left(place: MergePlace, *, now: datetime) -> tuple[set[str], list[str]]:
    """Clear away the temporary files of a dead process, and keep what somebody had saved in that moment.

    Returns:
        The commits whose files these were, and the conflict copies that were kept.

    Raises:
        StorageError: The disk refused; the rows stay for the next run.
    """
    homes = Homes(place)
    rows = [row for row in place.state.rows("list_changes") if row["batch"].startswith(SYNC)]
    copies: list[str] = []
    for row in rows:
        home = homes.find(os.fsdecode(unquote_to_bytes(row["path"])))
        target = home.files.memory / home.path
        temp = Path(os.path.normpath(target.parent / row["temp"]))  # its directory may be gone, and a file in its place
        change = Replacement(home.path, target, temp, None, None)
        try:
            copy = _settle_row(change, row, home, now=now)
            home.files.discard(change)
        except OSError as error:
            raise home.explain(error) from error
        if copy is not None:
            copies.append(f"memory/{copy}" if home.is_managed else copy)
    return {str(row["batch"]).removeprefix(SYNC) for row in rows}, copies


def _settle_row(change: Replacement, row: sqlite3.Row, home: Home, *, now: datetime) -> ManagedPath | None:
    """Put what somebody had saved, and an exchange had brought out, where it belongs."""
    wait_for_writers(change.ready)
    came_out = hash_bytes(home.files.read_ready(change))
    change.foreign = came_out not in {row["hash_before"], row["hash_after"], ABSENT}
    if not change.foreign:
        return None
    there = hash_bytes(_read_quietly(home))
    if there == row["hash_after"] != ABSENT:
        home.files.disk.exchange(change.ready, change.target)
        change.foreign = False
        return None
    if there == ABSENT:
        home.files.disk.rename_new(change.ready, change.target)
        change.foreign = False
        return None
    return home.save(change, files=home.files, now=now, unless_held=True)


def _read_quietly(home: Home) -> bytes | None:
    try:
        return home.read()
    except OmnislashError:
        return b"\0unreadable"


def drop_rows(place: MergePlace, commits: Iterable[str]) -> None:
    """Remove the intent rows of ways that are forgotten."""
    with place.state.transaction() as state:
        for commit in commits:
            state.run("drop_changes", batch=f"{SYNC}{commit}")
