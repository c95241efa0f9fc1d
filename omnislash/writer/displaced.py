"""Keep what a person saved at the same moment, and what a person's late save dropped.

Two things can go missing when an editor and the engine share a file, and both get a conflict copy,
`<line>/conflicts/<file>-<instant>-<id>.md`, that a person finds and may delete:

- bytes that came out of an exchange and that no longer stand anywhere else;
- entries that the engine confirmed lately and that a later save leaves out, because the editor had read the file
  before they were written. A save that leaves out an older entry but holds the newest one was made with knowledge of
  it: it is a person's own deletion, and nothing is copied.

Rules: architecture.md section 4 ("their bytes are never lost"); WRITE-O5.
"""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from omnislash.core.dedupe import fold
from omnislash.core.lines import ManagedPath, split_path
from omnislash.store import ids
from omnislash.store.hashing import hash_bytes
from omnislash.writer.plans import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from omnislash.store.files import MemoryFiles, Replacement
    from omnislash.store.state import State

_LOG = logging.getLogger(__name__)
#: How long a confirmed entry is watched: an editor that held the file open for longer asks before it overwrites.
WATCHED = timedelta(hours=1)


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
        return None
    copy = conflict_path(change.path, now=now)
    files.keep_copy(change, copy)
    _warn(change.path, copy, "somebody saved it while it was being written")
    return copy


def find_lost(text: str, additions: Sequence[str]) -> list[str]:
    """Return the confirmed entries that a save left out without knowing them, oldest first.

    Args:
        text: The file as it is now.
        additions: Folded texts that the engine added, newest first.
    """
    present = fold(text)
    lost: list[str] = []
    for addition in additions:
        if addition in present:
            break
        lost.append(addition)
    return lost[::-1]


def keep_lost_entries(
    originals: Mapping[ManagedPath, bytes | None],
    paths: Iterable[ManagedPath],
    *,
    state: State,
    files: MemoryFiles,
    now: datetime,
) -> dict[ManagedPath, str]:
    """Keep confirmed entries that a later save dropped; return a sentence for each file that lost some."""
    notes: dict[ManagedPath, str] = {}
    for path in paths:
        data = originals[path]
        known = state.row("find_file", path=path)
        if known is None or known["hash"] == hash_bytes(data):
            continue
        since = (now - WATCHED).isoformat()
        rows = state.rows("list_additions", path=path)
        lost = find_lost(decode(data), [row["text"] for row in rows if row["at"] >= since])
        if lost:
            notes[path] = _keep(path, lost, state=state, files=files, now=now)
    return notes


def _keep(path: ManagedPath, lost: list[str], *, state: State, files: MemoryFiles, now: datetime) -> str:
    copy = conflict_path(path, now=now)
    heading = f"# Entries that a later save of {path} left out\n\n"
    change = files.prepare(copy, before=None, after=(heading + "\n".join(lost) + "\n").encode("utf-8", "surrogateescape"))
    files.stage(change)
    files.swap(change)
    files.sync_parents([change])
    files.discard(change)
    with state.transaction():
        state.run("drop_additions", path=path)
        state.run(
            "insert_audit",
            at=now.isoformat(),
            actor="engine",
            role=None,
            heartbeat=None,
            tool="conflict_copy",
            line=split_path(path)[0],
            paths=json.dumps([copy, path], ensure_ascii=False),
            outcome="written",
            chars=0,
            job=None,
        )
    _warn(path, copy, f"a save by somebody else left out {len(lost)} confirmed entries")
    entries = "1 confirmed entry" if len(lost) == 1 else f"{len(lost)} confirmed entries"
    return f"A save of {path} by somebody else left out {entries}; the text is kept in {copy}."


def _warn(path: ManagedPath, copy: ManagedPath, why: str) -> None:
    extra = {"action": "conflict_copy", "path": path, "copy": copy}
    _LOG.warning("kept a conflict copy of %s in %s: %s", path, copy, why, extra=extra)
