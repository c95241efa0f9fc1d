"""Looking at a folder: which files are notes, and what kind of folder it is. Reads only.

Hidden files and directories, `node_modules`, links and the brain's own directories are named and not entered.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Final

from omnislash.runtime.adopting.values import BRAIN_DIRECTORIES, FolderKind, Left, Survey

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIX: Final = ".md"
_DAY: Final = re.compile(r"(\d{4})([-_])(\d{2})\2(\d{2})", re.ASCII)
#: Files that tell about a folder and are no notes of its owner, without their suffix; only at its top.
_ABOUT: Final = frozenset(
    {"readme", "license", "licence", "changelog", "contributing", "code_of_conduct", "security", "agents", "claude"}
)
#: The keys that a topic file of a Claude Code memory folder begins with.
_TOPIC: Final = re.compile(rb"\A---\r?\n(?=(?:[^\r\n]*\r?\n){0,12}?description:)(?:[^\r\n]*\r?\n){0,12}?name:")
#: How much of a file is read to tell the kind of its folder, and of how many files.
_HEAD_BYTES, _HEADS = 2_000, 200
#: What the directory of a Logseq graph's own files is called; copies of notes lie in it.
_LOGSEQ: Final = "logseq"


@dataclass(slots=True)
class _Found:
    notes: list[str] = field(default_factory=list)
    others: list[Left] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    top: set[str] = field(default_factory=set)
    #: Directories that hold nothing but directories, with the number of those.
    hollow: dict[str, int] = field(default_factory=dict)


def survey_folder(root: Path) -> Survey:
    """Return what a folder holds; of a folder that can't be listed, that it can't be."""
    found = _Found()
    pending = [""]
    while pending:
        pending += _look(root, pending.pop(), found)
    notes = tuple(sorted(found.notes))
    return Survey(
        kind=_tell_kind(root, found.top, notes),
        notes=notes,
        days={note: day for note in notes if (day := find_day(note))},
        others=tuple(sorted(found.others, key=lambda each: each.path)),
        left=tuple(sorted(found.left, key=lambda each: each.path)),
        empty=_find_empty(found.hollow),
    )


def _find_empty(hollow: dict[str, int]) -> tuple[str, ...]:
    """Return the directories below which there is no file."""
    found: dict[str, int] = {}
    empty = []
    for path in sorted(hollow, key=lambda path: path.count("/"), reverse=True):
        if path and found.get(path, 0) == hollow[path]:
            empty.append(path)
            above = path.rpartition("/")[0]
            found[above] = found.get(above, 0) + 1
    return tuple(sorted(empty))


def find_day(path: str) -> date | None:
    """Return the day that a note is named after (`2026-11-30.md`, `2026_11_30.md`); None for any other name."""
    match = _DAY.fullmatch(path.rpartition("/")[2].removesuffix(_SUFFIX))
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:
        return None


def _look(root: Path, directory: str, found: _Found) -> list[str]:
    """Sort the entries of one directory; return those that are to be entered."""
    try:
        with os.scandir(root / directory) as entries:
            listed = list(entries)
    except OSError as error:
        found.left.append(Left(f"{directory}/", (error.strerror or str(error)).lower()))
        return []
    if not directory:
        found.top = {entry.name for entry in listed}
    inside = []
    for entry in listed:
        path = f"{directory}/{entry.name}" if directory else entry.name
        if reason := _find_reason(entry, is_top=not directory, top=found.top):
            found.left.append(Left(f"{path}/" if entry.is_dir(follow_symlinks=False) else path, reason))
        elif entry.is_dir(follow_symlinks=False):
            inside.append(path)
        else:
            _take_file(path, found)
    if len(inside) == len(listed):
        found.hollow[directory] = len(inside)
    return inside


def _find_reason(entry: os.DirEntry[str], *, is_top: bool, top: set[str]) -> str | None:
    """Return why an entry is not even looked at; None when it is."""
    if entry.is_symlink():
        return "it is a link"
    if entry.name.startswith("."):
        return "it is hidden"
    if not entry.is_dir():
        return None if entry.is_file() else "it is no regular file"
    reason = "it holds packages" if entry.name == "node_modules" else None
    return _find_top_reason(entry.name, top) if is_top and reason is None else reason


def _find_top_reason(name: str, top: set[str]) -> str | None:
    if name in BRAIN_DIRECTORIES:
        return "it is a directory of the brain itself"
    return "it holds the graph's own files" if name == _LOGSEQ and "journals" in top else None


def _take_file(path: str, found: _Found) -> None:
    stem = path.removesuffix(_SUFFIX)
    if stem == path:
        found.others.append(Left(path, "it is not markdown"))
    elif stem.casefold() in _ABOUT:
        found.others.append(Left(path, "it tells about the folder"))
    else:
        found.notes.append(path)


def _tell_kind(root: Path, top: set[str], notes: tuple[str, ...]) -> FolderKind:
    if ".obsidian" in top:
        return FolderKind.OBSIDIAN
    if any(note.startswith("journals/") and "_" in note and find_day(note) for note in notes):
        return FolderKind.LOGSEQ
    topics = [note for note in notes if "/" not in note and note != "MEMORY.md"][:_HEADS]
    if "MEMORY.md" in top and any(_is_topic(root / note) for note in topics):
        return FolderKind.CLAUDE_CODE
    return FolderKind.NOTES


def _is_topic(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            return _TOPIC.match(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False
