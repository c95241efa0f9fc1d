"""Who changed what, from the action log and the files, and the message of a commit that says so.

A file is by whoever the action log names for it since the last sync; and by hand when nobody is named there, or when its
bytes are other than the writer left.

Rules: CURATE-05, MIGRATE-05, WRITE-11.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from omnislash.core.credentials import mask_secrets
from omnislash.runtime.syncing.changes import show_path

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from omnislash.runtime.syncing.changes import Change
    from omnislash.store.state import State

#: Who has no name in the action log: a person with an editor, or the engine for itself.
BY_HAND, ENGINE = "by hand", "omnislash"
#: Longest subject, in characters.
SUBJECT_CHARS: Final = 72
#: Files that a message names; the rest is counted.
_FILES_NAMED: Final = 200
#: Lines that a subject names.
_LINES_NAMED: Final = 3
_CHANGED: Final = frozenset({"written", "partial"})
_ENTRY_TOOL: Final = "memory_write"
#: The rows of what came from the remote: its own commits say who wrote that.
_PULL_TOOL: Final = "sync"
#: Most bytes of a message's body: with the longest names it stays below what one argument of a program may hold
#: (128 KiB on Linux, 32 KiB with all others on Windows).
_BODY_BYTES: Final = 24_000
MARK: Final = "memory-care:"


@dataclass(frozen=True, slots=True)
class Author:
    """Who changed a file."""

    #: Role, `by hand`, or `omnislash` for the engine itself.
    name: str
    heartbeat: str | None = None

    @property
    def label(self) -> str:
        """`role`, `role · heartbeat` or `by hand`."""
        return f"{self.name} · {self.heartbeat}" if self.heartbeat else self.name


@dataclass(slots=True)
class Story:
    """Who changed each file of a commit."""

    #: Authors by path in the repository.
    authors: dict[str, tuple[Author, ...]] = field(default_factory=dict)
    #: Where a file was before it was moved, by path.
    moved: dict[str, str] = field(default_factory=dict)
    #: Entries by author.
    entries: Counter[Author] = field(default_factory=Counter)
    #: The newest row of the action log that it tells of, and the files that rows name which no commit had told of.
    newest: int = 0
    told: list[str] = field(default_factory=list)


def tell_story(changes: Sequence[Change], state: State, *, prefix: str) -> Story:
    """Return who changed the files since a commit has told of each.

    Args:
        changes: The changes, as they are on disk now.
        state: The state database.
        prefix: Where the brain lies in the repository.
    """
    memory = f"{prefix}memory/"
    last = state.row("last_sync")
    after = last["audit"] if last else 0
    told = {memory + row["path"]: row["audit"] for row in state.rows("list_told")}
    since = {change.path: max(after, told.get(change.path, 0)) for change in changes}
    found = state.rows("audit_after", after=after)
    story = Story(moved=_find_moved(changes), newest=found[-1]["id"] if found else after)
    rows = _rows_by_path(found, memory, since, story)
    story.told += rows
    for change in changes:
        named = rows.get(change.path, [])
        is_moved = change.path in story.moved or change.path in story.moved.values()
        known = state.row("find_file", path=change.path.removeprefix(memory)) if named else None
        is_as_left = known is not None and known["hash"] == change.hash
        by_hand = [] if is_as_left or is_moved else [Author(BY_HAND)]
        story.authors[change.path] = tuple(dict.fromkeys([*named, *by_hand]))
    return story


def _rows_by_path(
    rows: Iterable[sqlite3.Row], memory: str, since: Mapping[str, int], story: Story
) -> Mapping[str, list[Author]]:
    found: dict[str, list[Author]] = {}
    for row in rows:
        if row["outcome"] not in _CHANGED or row["tool"] == _PULL_TOOL:
            continue
        author = _read_author(row)
        named = [_spell(name, memory) for name in json.loads(row["paths"])]
        touched = [path for path in named if path in since and row["id"] > since[path]]
        for path in touched:
            found.setdefault(path, []).append(author)
        if touched and row["tool"] == _ENTRY_TOOL:
            story.entries[author] += 1
    return found


def _spell(name: object, memory: str) -> str:
    """Return a managed path of the action log as a path in the repository."""
    return memory + str(name).removeprefix("memory/")


def _read_author(row: sqlite3.Row) -> Author:
    if row["actor"] == "person":
        return Author(BY_HAND)
    return Author(row["role"] or ENGINE, row["heartbeat"] if row["role"] else None)


def _find_moved(changes: Sequence[Change]) -> dict[str, str]:
    """Return `{new: old}` of files that lie elsewhere now with the same bytes (MIGRATE-05)."""
    gone: dict[str, list[str]] = {}
    for change in changes:
        if change.is_removal and change.before:
            gone.setdefault(change.before, []).append(change.path)
    new = [change for change in changes if not change.is_removal and not change.before and gone.get(change.blob)]
    return {change.path: gone[change.blob].pop(0) for change in new if gone[change.blob]}


# -- the message -----------------------------------------------------------------------------------------------------


def write_message(story: Story, *, prefix: str, mark: str | None = None) -> str:
    """Return the message of a commit: a subject of at most 72 characters, a line for each file, and trailers.

    Args:
        story: Who changed what.
        prefix: Where the brain lies in the repository.
        mark: The subject of a curator's run (CURATE-05); None = one that says who changed what.
    """
    subject = _shorten(" ".join(mark.split())) if mark else write_subject(story, prefix=prefix)
    body = _bound([_describe(story, path) for path in story.authors])
    trailers = _write_trailers(story)
    text = "\n\n".join(["\n".join(part) for part in ([subject], body, trailers) if part])
    return mask_secrets(text) + "\n"


def _bound(lines: Sequence[str]) -> list[str]:
    """Return as many lines as a message holds, and how many files the others are."""
    room, kept = _BODY_BYTES, 0
    for line in lines[:_FILES_NAMED]:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept += 1
    more = len(lines) - kept
    return [*lines[:kept], *([f"and {_count(more, 'more file')}"] if more else [])]


def _describe(story: Story, path: str) -> str:
    if path in story.moved:
        labels = [f"moved from {show_path(story.moved[path])}"]
    elif path in story.moved.values():
        labels = ["moved"]
    else:
        labels = []
    return f"{show_path(path)}: {', '.join([*labels, *(author.label for author in story.authors[path])])}"


def _write_trailers(story: Story) -> list[str]:
    authors = {author for each in story.authors.values() for author in each}
    roles = {author.name for author in authors}
    if len(roles) != 1 or roles <= {BY_HAND, ENGINE}:
        return []
    beats = {author.heartbeat for author in authors}
    beat = next(iter(beats)) if len(beats) == 1 else None
    return [f"Omnislash-Role: {next(iter(roles))}", *([f"Omnislash-Heartbeat: {beat}"] if beat else [])]


def write_subject(story: Story, *, prefix: str) -> str:
    """Return `main, ops: 3 entries by nova; MEMORY.md by hand`, at most 72 characters."""
    places = _join(sorted({_find_place(path, prefix) for path in story.authors}))
    files: dict[Author, list[str]] = {}
    for path, authors in story.authors.items():
        for author in authors:
            files.setdefault(author, []).append(path)
    parts = [_say(author, paths, story) for author, paths in files.items()]
    if story.moved:
        parts.insert(0, f"{_count(len(story.moved), 'file')} moved")
    return _shorten(f"{places}: {'; '.join(parts)}")


def _say(author: Author, paths: Sequence[str], story: Story) -> str:
    by = BY_HAND if author.name == BY_HAND else f"by {author.label}"
    if count := story.entries[author]:
        return f"{count} {'entry' if count == 1 else 'entries'} {by}"
    what = show_path(paths[0]).rpartition("/")[2] if len(paths) == 1 else f"{len(paths)} files"
    return f"{what} {by}"


def _find_place(path: str, prefix: str) -> str:
    """Return the line of a memory file, else the directory at the top, else the file's own name."""
    parts = path.removeprefix(prefix).split("/")
    is_of_line = parts[0] == "memory" and len(parts) > 2  # noqa: PLR2004 - memory, line, file
    return show_path(parts[1] if is_of_line else parts[0])


def _join(places: Sequence[str]) -> str:
    named = list(places[:_LINES_NAMED])
    more = len(places) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shorten(text: str) -> str:
    return text if len(text) <= SUBJECT_CHARS else f"{text[: SUBJECT_CHARS - 1].rstrip()}…"
