"""Reading what an agent may see: managed files and authored documents, one at a time or as a listing.

Reads only. A symbolic link that leads out of its line or its source is neither followed nor listed.

Rules: SCOPE-O6, SOURCE-O5, SOURCE-O6, SOURCE-O8.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnislash.errors import ScopeError
from omnislash.store.disk import open_regular, read_descriptor
from omnislash.store.os_errors import place_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Document:
    """The bytes of a file and when they were last changed."""

    data: bytes
    #: Aware, in UTC.
    modified_at: datetime


def read_document(root: Path, relative: str, *, within: str, is_listed: bool = False) -> Document | None:
    """Return a file, or None when there is none of exactly this name.

    Args:
        root: The directory that `relative` starts from.
        relative: Path with forward slashes, already checked for climbing.
        within: The line, source or file that must hold it after links are followed.
        is_listed: True when the name was just read from its directory, so that its spelling needs no other look.

    Raises:
        ScopeError: A symbolic link leads out of `within`.
        StorageError: Something else is in the way, or the disk refuses.
    """
    place, inside = os.path.realpath(root / relative), os.path.realpath(root / within)
    if place != inside and not place.startswith(inside + os.sep):
        message = f"{relative} leads out of {within} through a symbolic link; nothing was read."
        raise ScopeError(message, path=relative)
    if not is_listed and not _is_spelled(root, relative):
        return None
    return _read(root / os.path.relpath(place, os.path.realpath(root)), relative) if place else None


def _read(place: Path, relative: str) -> Document | None:
    try:
        descriptor = open_regular(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise place_error(error, relative, doing="read") from error
    try:
        changed = datetime.fromtimestamp(os.fstat(descriptor).st_mtime, UTC)
        return Document(read_descriptor(descriptor), changed)
    except OSError as error:
        raise place_error(error, relative, doing="read") from error
    finally:
        os.close(descriptor)


def _is_spelled(root: Path, relative: str) -> bool:
    """Tell whether the last segment is spelled as on disk; a file system that ignores case must not help (SOURCE-O6)."""
    place = root / relative
    try:
        return place.name in os.listdir(place.parent)
    except OSError:
        return True


def walk_documents(root: Path, relative: str, *, after: str = "", prefix: str = "") -> Iterator[str]:
    """Yield the `.md` files below a directory, or the file itself, in order of their path; hidden ones are skipped.

    Args:
        root: The directory that `relative` starts from.
        relative: The directory, or a file.
        after: Only paths that come after this one.
        prefix: Only paths that begin like this.

    A directory that can hold none of them is not opened, and none before its files are asked for.

    Raises:
        StorageError: A directory can't be listed.
    """
    start = root / relative
    if start.is_file():
        if relative > after and relative.startswith(prefix):
            yield relative
        return
    try:
        with os.scandir(start) as found:
            entries = [entry for entry in found if not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise place_error(error, relative, doing="read") from error
    for path, is_directory in sorted(_name_paths(relative, entries)):
        if is_directory:
            if _may_hold(path, after=after, prefix=prefix):
                yield from walk_documents(root, path.removesuffix("/"), after=after, prefix=prefix)
        elif path > after and path.startswith(prefix):
            yield path


def _name_paths(relative: str, entries: list[os.DirEntry[str]]) -> Iterator[tuple[str, bool]]:
    """Yield documents and directories; the path of a directory ends with a slash, which puts it where its files belong."""
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield f"{relative}/{entry.name}/", True
        elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
            yield f"{relative}/{entry.name}", False


def _may_hold(directory: str, *, after: str, prefix: str) -> bool:
    """Tell whether a directory, named with its slash, may hold a path after one and with a prefix."""
    is_behind = directory > after or after.startswith(directory)
    return is_behind and (directory.startswith(prefix) or prefix.startswith(directory))
