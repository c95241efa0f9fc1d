"""Reading a file for the index: its bytes, its notes, and what stands in each.

Rules: SOURCE-18, MIGRATE-O3, RECALL-O5, SECRET-O2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnislash.core.credentials import blank_secrets, mask_secrets
from omnislash.core.lines import FileKind, ManagedPath, date_of
from omnislash.index.diff import Stat, settle
from omnislash.index.notes import Note, NoteSource, Problem, decode, split_notes
from omnislash.store.disk import open_regular, read_descriptor
from omnislash.store.hashing import hash_bytes
from omnislash.store.system_clock import file_time_ns

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file as it was read."""

    data: bytes
    #: As to be remembered.
    stat: Stat
    #: SHA-256 of the bytes.
    hash: bytes


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file cut into notes."""

    #: The decoded text that the notes' offsets count in.
    text: str
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


def read_bytes(root: Path, place: str) -> FileBytes | None:
    """Return a file's bytes with the stat that belongs to them, or None when it is gone.

    Raises:
        OSError: It is there and can't be read.
    """
    begun_ns = file_time_ns()  # not after it: however long the reading took, the file may have changed since
    try:
        descriptor = open_regular(root / place)
    except FileNotFoundError:
        return None
    try:
        before = os.fstat(descriptor)
        data = read_descriptor(descriptor)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    stat = _stat(after)
    steady = _stat(before) == stat
    stat = settle(stat, read_at_ns=begun_ns if steady else stat.changed_ns)
    return FileBytes(data, stat, bytes.fromhex(hash_bytes(data)))


def _stat(seen: os.stat_result) -> Stat:
    return Stat(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def parse_file(data: bytes, *, kind: str, path: str) -> ParsedFile:
    """Return the notes of a file; a credential that came in by hand is searched and embedded as blanks (SECRET-O2).

    Args:
        data: Its bytes; what is no UTF-8 is searched as U+FFFD, and the file stays as it is.
        kind: As `Scanner.kind` says.
        path: The path that tools use; only the day in a daily log's name is taken from it.
    """
    decoded = decode(data)
    source = NoteSource(kind=kind, on=_day_of(kind, path))
    problems = tuple(replace(each, message=mask_secrets(each.message)) for each in decoded.problems)
    return ParsedFile(decoded.text, split_notes(blank_secrets(decoded.text), source), problems)


def _day_of(kind: str, path: str) -> date | None:
    return date_of(ManagedPath(path)) if kind == FileKind.DAILY.value else None
