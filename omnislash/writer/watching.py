"""Notice when a person's late save drops what was confirmed, and keep it.

An editor that read a file before the engine wrote to it knows nothing of that entry, and its next save leaves it out.
So the texts that a write adds are watched for a while: those of the engine, and those of a person's save that an
exchange had brought out for a moment, because somebody may have read the file in that moment.
A save that leaves out an older text but holds the newest one was made with knowledge of it: it is a person's own
deletion, and nothing is copied.

A text is a whole entry, paragraph or heading; a part of a longer one is another text.

Rules: architecture.md section 4 ("their bytes are never lost"); WRITE-O5.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omnislash.core.dedupe import fold
from omnislash.core.entries import parse_entries, render_entry
from omnislash.core.sections import memory_units, parse_memory
from omnislash.store.hashing import hash_bytes
from omnislash.writer.displaced import conflict_path, warn_of_copy, write_copy
from omnislash.writer.plans import Watch, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from omnislash.core.lines import ManagedPath
    from omnislash.store.files import MemoryFiles
    from omnislash.store.state import State
    from omnislash.writer.plans import PlannedChange

#: How long a confirmed text is watched: an editor that held the file open for longer asks before it overwrites.
WATCHED = timedelta(hours=1)


def parse_texts(data: bytes | None) -> dict[str, str]:
    """Return the texts of a file by their folded form: headings and other loose lines, then entries and paragraphs."""
    text = decode(data)
    units = {fold(unit): unit for unit in memory_units(parse_memory(text))}
    inside = {fold(line) for unit in units.values() for line in unit.split("\n")}
    loose = {fold(line): line.strip() for line in text.split("\n")}
    loose = {folded: line for folded, line in loose.items() if folded and not {folded, folded[2:]} & inside}
    return loose | units


def watch_change(change: PlannedChange, before: bytes | None) -> Watch:
    """Return what a planned change adds and removes; cheap for an entry that is appended."""
    if change.after is None:
        return Watch(change.path, gone=True)
    if change.appended is not None:
        return Watch(change.path, added=tuple(entry.text for entry in parse_entries(change.appended, timed=False)))
    return watch_bytes(change.path, before, change.after)


def watch_bytes(path: ManagedPath, before: bytes | None, after: bytes | None) -> Watch:
    """Return what a save added and removed."""
    old, new = parse_texts(before), parse_texts(after)
    added = tuple(text for folded, text in new.items() if folded not in old)
    return Watch(path, added=added, removed=tuple(text for folded, text in old.items() if folded not in new))


def watch_exposed(path: ManagedPath, shown: bytes | None, saved: bytes | None) -> Watch:
    """Return the watch of a person's save that an exchange had brought out.

    Args:
        path: The file.
        shown: What readers saw meanwhile.
        saved: What the person had saved.
    """
    return replace(watch_bytes(path, shown, saved), removed=(), own=False)


def watch_standing(path: ManagedPath, data: bytes | None, told: str) -> Watch:
    """Return the watch of a text that stands in a file without a change: somebody's save holds it."""
    wanted = fold(told)
    return Watch(path, added=tuple(text for folded, text in parse_texts(data).items() if wanted and wanted in folded))


def note_watches(state: State, watches: Iterable[Watch], *, at: str) -> None:
    """Note what is watched from now on; inside a transaction."""
    for watch in watches:
        if watch.gone:
            state.run("drop_additions", path=watch.path)
        _forget(state, watch.path, watch.removed)
        for text in watch.added:
            state.run("add_addition", path=watch.path, text=text, at=at, own=int(watch.own))


def _forget(state: State, path: ManagedPath, texts: Iterable[str]) -> None:
    folded = {fold(text) for text in texts}
    if folded:
        for row in state.rows("list_additions", path=path):
            if fold(row["text"]) in folded:
                state.run("drop_addition", id=row["id"])


def find_lost(present: Mapping[str, str], additions: Sequence[tuple[str, bool]]) -> list[str]:
    """Return the texts that a save left out without knowing them, oldest first.

    Args:
        present: Texts of the file as it is now, by their folded form.
        additions: Texts that were added, newest first, each with whether it is the engine's own.
    """
    lost: list[str] = []
    for addition, own in additions:
        if fold(addition) not in present:
            lost.append(addition)
        elif own:
            break
    return lost[::-1]


def keep_lost_entries(
    originals: Mapping[ManagedPath, bytes | None],
    paths: Iterable[ManagedPath],
    *,
    state: State,
    files: MemoryFiles,
    now: datetime,
) -> dict[ManagedPath, str]:
    """Keep confirmed entries that a later save dropped; return a sentence for each file that lost some.

    Raises:
        OSError, WriterUnavailableError: They can't be kept now; they stay watched.
    """
    notes: dict[ManagedPath, str] = {}
    for path in paths:
        data = originals[path]
        known = state.row("find_file", path=path)
        if known is not None and known["hash"] == hash_bytes(data):
            continue
        since = (now - WATCHED).isoformat()
        rows = state.rows("list_additions", path=path)
        additions = [(row["text"], bool(row["own"])) for row in rows if row["at"] >= since]
        if additions and (lost := find_lost(parse_texts(data), additions)):
            notes[path] = _keep(path, lost, state=state, files=files, now=now)
    return notes


def _keep(path: ManagedPath, lost: list[str], *, state: State, files: MemoryFiles, now: datetime) -> str:
    copy = conflict_path(path, now=now)
    heading = f"# Entries that a later save of {path} left out\n\n"
    listed = "\n".join(render_entry(text) for text in lost)
    data = f"{heading}{listed}\n".encode("utf-8", "surrogateescape")

    def note() -> None:
        _forget(state, path, lost)
        _audit(path, copy, state=state, now=now)

    write_copy(copy, data, state=state, files=files, note=note)
    entries = "1 confirmed entry" if len(lost) == 1 else f"{len(lost)} confirmed entries"
    warn_of_copy(path, copy, f"a save by somebody else left out {entries}")
    return f"A save of {path} by somebody else left out {entries}; the text is kept in {copy}."


def _audit(path: ManagedPath, copy: ManagedPath, *, state: State, now: datetime) -> None:
    state.run(
        "insert_audit",
        at=now.isoformat(),
        actor="engine",
        role=None,
        heartbeat=None,
        tool="conflict_copy",
        line=path.partition("/")[0],
        paths=json.dumps([copy, path], ensure_ascii=False),
        outcome="written",
        chars=0,
        job=None,
    )
