"""Reading what an agent may see: managed files and authored documents, one at a time or as a listing.

Reads only. A symbolic link that leads out of its line or its source is neither followed nor listed.

Rules: SCOPE-O6, SOURCE-O5, SOURCE-O6, SOURCE-O8.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnislash.errors import ScopeError, StorageError
from omnislash.store.disk import open_regular, read_descriptor
from omnislash.store.files import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Document:
    """The bytes of a file and when they were last changed."""

    data: bytes
    #: Aware, in UTC.
    modified_at: datetime


def read_document(root: Path, relative: str, *, within: str) -> Document | None:
    """Return a file, or None when there is none of exactly this name.

    Args:
        root: The directory that `relative` starts from.
        relative: Path with forward slashes, already checked for climbing.
        within: The line, source or file that must hold it after links are followed.

    Raises:
        ScopeError: A symbolic link leads out of `within`.
        StorageError: Something else is in the way, or the disk refuses.
    """
    place, inside = os.path.realpath(root / relative), os.path.realpath(root / within)
    if place != inside and not place.startswith(inside + os.sep):
        message = f"{relative} leads out of {within} through a symbolic link; nothing was read."
        raise ScopeError(message, path=relative)
    if not _is_spelled(root, relative):
        return None
    return _read(root / os.path.relpath(place, os.path.realpath(root)), relative) if place else None


def _read(place: Path, relative: str) -> Document | None:
    try:
        descriptor = open_regular(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _read_error(error, relative) from error
    try:
        changed = datetime.fromtimestamp(os.fstat(descriptor).st_mtime, UTC)
        return Document(read_descriptor(descriptor), changed)
    except OSError as error:
        raise _read_error(error, relative) from error
    finally:
        os.close(descriptor)


def _read_error(error: OSError, relative: str) -> StorageError:
    wrapped = storage_error(error, relative)
    return StorageError(
        wrapped.message.replace(f"memory/{relative} can't be used", f"{relative} can't be read"),
        path=relative,
        hint=wrapped.hint,
    )


def _is_spelled(root: Path, relative: str) -> bool:
    """Tell whether the last segment is spelled as on disk; a file system that ignores case must not help (SOURCE-O6)."""
    place = root / relative
    try:
        return place.name in os.listdir(place.parent)
    except OSError:
        return True


def walk_documents(root: Path, relative: str) -> Iterator[str]:
    """Return the `.md` files below a directory, or the file itself, in order of their path; hidden ones are skipped."""
    start = root / relative
    if start.is_file():
        yield relative
        return
    try:
        entries = sorted(os.scandir(start), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _read_error(error, relative) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = f"{relative}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from walk_documents(root, path)
        elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
            yield path
