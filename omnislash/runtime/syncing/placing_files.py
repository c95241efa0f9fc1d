"""The files of a brain that are under git, each as the writer's careful exchange sees it: below `memory/` or beside it.

Rules: architecture.md section 4 ("their bytes are never lost").
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, NamedTuple

from omnislash.core.lines import ManagedPath, is_line_name
from omnislash.errors import StorageError
from omnislash.runtime.syncing.merging_objects import TreeEntry, hash_blob, read_blobs
from omnislash.store import ids
from omnislash.store.files import MemoryFiles
from omnislash.store.git import join_paths
from omnislash.writer.displaced import is_held, save_displaced
from omnislash.writer.plans import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from omnislash.runtime.syncing.merge_values import MergePlace
    from omnislash.store.git import Repository
    from omnislash.store.replacement import Replacement

_LOG = logging.getLogger(__name__)
#: Attributes under which the bytes on disk are other than those that git stores.
_CONVERTING = ("text", "crlf", "eol", "filter", "ident", "working-tree-encoding")
#: What an attribute may say without changing the bytes where lines end with LF.
_PLAIN = {"text": {"auto", "set"}, "crlf": {"input"}, "eol": {"lf"}}
_OFF = {"false", "no", "off", "0", "input"}
#: The flags by which git is told not to look at a file, by their names in `git update-index`.
SPARSE, ASSUMED = "skip-worktree", "assume-unchanged"


class Home(NamedTuple):
    """Where a path of the repository lies, and who looks after it there."""

    files: MemoryFiles
    #: The path as `files` knows it.
    path: ManagedPath
    #: Keeps what somebody saved in the very moment of an exchange.
    save: Callable[..., ManagedPath | None]
    #: False for what is no file of a line.
    is_managed: bool

    def read(self) -> bytes | None:
        """Return the bytes that stand there now, None for no file: for a directory too, and below a file.

        Raises:
            ScopeError: A link leads out of the line.
            StorageError: Something else is in the way, or the disk refuses.
        """
        try:
            return self.files.read(self.path)
        except StorageError as error:
            if isinstance(error.__cause__, IsADirectoryError | NotADirectoryError):
                return None
            raise

    def explain(self, error: OSError) -> StorageError:
        """Return the operating system's error as a sentence with the path, the cause and a next step."""
        return self.files.explain(error, self.path)


class Homes:
    """Finds the home of a path."""

    def __init__(self, place: MergePlace) -> None:
        """Keep the ports."""
        self._managed = place.files
        self._memory = f"{place.repository.prefix}memory/"
        self._tree = MemoryFiles(place.repository.top, disk=place.files.disk, shown_as="")

    def find(self, path: str) -> Home:
        """Return the home of a path of the repository."""
        relative = path.removeprefix(self._memory)
        line, slash, _ = relative.partition("/")
        if relative != path and slash and is_line_name(line) and _is_utf8(path):
            return Home(self._managed, ManagedPath(relative), save_displaced, is_managed=True)
        return Home(self._tree, ManagedPath(path), save_beside, is_managed=False)

    def is_boundary(self, directory: str) -> bool:
        """Tell whether a directory stays even when it is empty."""
        return directory in {os.fspath(self._managed.memory), os.fspath(self._tree.memory), os.fspath(self._memory)}


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def save_beside(
    change: Replacement, *, files: MemoryFiles, now: datetime, unless_held: bool = False
) -> ManagedPath | None:
    """Give the bytes that came out of an exchange a name beside the file; return it. See `save_displaced`.

    Raises:
        OSError: The disk said no; the bytes stay under the temporary name.
    """
    came_out = files.read_ready(change)
    if came_out is None or (unless_held and is_held(decode(came_out), decode(files.read(change.path)))):
        change.foreign = False
        return None
    folder, slash, name = change.path.rpartition("/")
    stem, dot, suffix = name.partition(".")
    copy = ManagedPath(f"{folder}{slash}{stem}-saved-{now:%Y%m%dT%H%M%SZ}-{ids.new_suffix()}{dot}{suffix}")
    files.keep_copy(change, copy)
    extra = {"action": "conflict_copy", "path": change.path, "copy": copy}
    _LOG.warning(
        "kept a copy of %s in %s: somebody saved it while it was being replaced", change.path, copy, extra=extra
    )
    return copy


# -- bytes on disk and bytes in git ----------------------------------------------------------------------------------


def find_version(
    repository: Repository, path: str, data: bytes | None, versions: Sequence[TreeEntry | None]
) -> int | None:
    """Return which of the versions of a file the bytes on disk are, line ends and filters taken into account.

    Args:
        repository: Where the versions are.
        path: The file.
        data: Its bytes on disk, None for no file.
        versions: What git stores; None for no file.

    Returns:
        The index of the first version that it is; None when it is none of them.
    """
    ids = [None if entry is None else entry.id for entry in versions]
    if data is None:
        return ids.index(None) if None in ids else None
    stored = [each for each in ids if each is not None]
    own = hash_blob(data, like=stored[0])
    if own not in ids:
        answer = repository.ask("hash-object", "--stdin", "--path", path, input=data)
        own = answer.out.decode().strip() if answer.status == 0 else own
    return ids.index(own) if own in ids else None


def read_for_disk(repository: Repository, commit: str, entries: Mapping[str, TreeEntry]) -> dict[str, bytes]:
    """Return the bytes that belong on disk for files of a commit, by path."""
    converted = _find_converted(repository, list(entries))
    blobs = read_blobs(repository, [entry.id for path, entry in entries.items() if path not in converted])
    return {
        path: repository.run("cat-file", "--filters", f"{commit}:{path}") if path in converted else blobs[entry.id]
        for path, entry in entries.items()
    }


def _find_converted(repository: Repository, paths: list[str]) -> set[str]:
    """Return the paths whose bytes on disk may be other than those in git.

    Source: gitattributes(5), "Checking-out and checking-in".
    """
    if not paths:
        return set()
    if (repository.config("core.autocrlf") or "false").casefold() not in _OFF:
        return set(paths)
    ends = (repository.config("core.eol") or "native").casefold()
    plain = _PLAIN if ends == "lf" or (ends == "native" and os.linesep == "\n") else {}
    output = repository.run("check-attr", "-z", "--stdin", *_CONVERTING, input=join_paths(paths))
    parts = [os.fsdecode(part) for part in output.split(b"\0")]
    triples = zip(parts[0::3], parts[1::3], parts[2::3], strict=False)
    return {
        path
        for path, name, value in triples
        if value not in {"unspecified", "unset"} and value not in plain.get(name, ())
    }


def list_unwatched(repository: Repository) -> dict[str, str]:
    """Return the files that git is told not to look at, with the name of the flag that says so."""
    output = repository.run("ls-files", "-v", "-z")
    lines = (os.fsdecode(line) for line in output.split(b"\0") if line and not line.startswith(b"H "))
    return {line[2:]: SPARSE if line[0] in "Ss" else ASSUMED for line in lines if line[0] == "S" or line[0].islower()}
