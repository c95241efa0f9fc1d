"""Git's objects, as merging reads and makes them: differences, the bytes of files, trees and commits.

Nothing here touches the working tree, the index or a branch.

Source: git-diff-tree(1), "RAW OUTPUT FORMAT"; git-cat-file(1), "BATCH OUTPUT"; git-mktree(1).
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.errors import GitTroubleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from omnislash.store.git import Repository

#: Mode of a directory, of a symbolic link and of a submodule.
TREE, LINK, SUBMODULE = "040000", "120000", "160000"
#: Makes what is written survive a power cut; older git ignores it.
DURABLE: Final = ("-c", "core.fsync=committed", "-c", "core.fsyncMethod=fsync")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What stands under a name in a tree."""

    #: As git writes it: `100644`, `100755`, :data:`TREE`, :data:`LINK` or :data:`SUBMODULE`.
    mode: str
    #: Id of the object.
    id: str

    @property
    def is_file(self) -> bool:
        """True for an ordinary file."""
        return self.mode.startswith("100")


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of a path between two trees."""

    before: TreeEntry | None
    after: TreeEntry | None


def diff_trees(repository: Repository, old: str, new: str, *, under: str | None = None) -> dict[str, Difference]:
    """Return the paths that differ between two commits or trees; a move is a removal and a new file.

    Args:
        repository: Where both are.
        old: Id of a commit or tree.
        new: Id of a commit or tree.
        under: Only what lies below this directory.
    """
    paths = ("--", under) if under is not None else ()
    output = repository.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new, *paths)
    parts = iter(os.fsdecode(part) for part in output.split(b"\0") if part)
    found: dict[str, Difference] = {}
    for fields, path in zip(parts, parts, strict=True):
        old_mode, new_mode, old_id, new_id, _ = fields.removeprefix(":").split(" ")
        found[path] = Difference(_entry(old_mode, old_id), _entry(new_mode, new_id))
    return found


def _entry(mode: str, oid: str) -> TreeEntry | None:
    return None if set(mode) == {"0"} else TreeEntry(mode, oid)


def find_moves(repository: Repository, old: str, new: str, *, under: str) -> dict[str, str]:
    """Return the files that were moved between two commits, old path to new path; only what is surely a move.

    Two of them count as one file when their bytes are the same or their names are; similar bytes alone do not: two daily
    logs may be alike.
    """
    output = repository.run("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", old, new, "--", under)
    parts = iter(os.fsdecode(part) for part in output.split(b"\0") if part)
    return {
        source: target
        for status, source, target in zip(parts, parts, parts, strict=True)
        if status == "R100" or source.rpartition("/")[2] == target.rpartition("/")[2]
    }


def find_entry(repository: Repository, tree: str, path: str) -> TreeEntry | None:
    """Return what stands at a path of a commit or tree; None for nothing."""
    output = repository.run("ls-tree", "-z", "--full-tree", tree, "--", path)
    for line in output.split(b"\0"):
        fields, _, name = line.partition(b"\t")
        if name == os.fsencode(path):
            mode, _, oid = fields.decode().split(" ")
            return TreeEntry(mode, oid)
    return None


def read_blobs(repository: Repository, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of files by the ids of their objects, as git stores them.

    Raises:
        GitTroubleError: One of them is not there, as in a clone that left objects out.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    output = repository.run("cat-file", "--batch", input="".join(f"{oid}\n" for oid in wanted).encode())
    found: dict[str, bytes] = {}
    cursor = 0
    for oid in wanted:
        end = output.index(b"\n", cursor)
        fields = output[cursor:end].split(b" ")
        if fields[-1] == b"missing":
            message = f"git has no object {oid[:10]}. Run `git fetch --refetch` to get what this clone left out."
            raise GitTroubleError(message)
        size = int(fields[2])
        found[oid] = output[end + 1 : end + 1 + size]
        cursor = end + 2 + size
    return found


def write_blob(repository: Repository, data: bytes) -> str:
    """Store the bytes of a file and return the id of the object."""
    return repository.run(*DURABLE, "hash-object", "-w", "--stdin", input=data).decode().strip()


def hash_blob(data: bytes, *, like: str) -> str:
    """Return the id that git gives these bytes, in the repository's own kind of ids, of which `like` is one."""
    hashed = hashlib.sha256() if len(like) == 64 else hashlib.sha1(usedforsecurity=False)  # noqa: PLR2004 - hex digits
    hashed.update(b"blob %d\0" % len(data))
    hashed.update(data)
    return hashed.hexdigest()


def edit_tree(repository: Repository, tree: str | None, edits: Mapping[str, TreeEntry | None]) -> str | None:
    """Return the id of a tree with some entries put in, replaced or taken out; None when nothing is left in it.

    Args:
        repository: Where it is made.
        tree: Id of the tree or commit to begin with; None for an empty one.
        edits: What shall stand at each path; None takes it out.
    """
    names = _read_names(repository, tree) if tree else {}
    below: dict[str, dict[str, TreeEntry | None]] = {}
    for path, entry in edits.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        elif entry is None:
            names.pop(name, None)
        else:
            names[name] = entry
    for name, inner in below.items():
        there = names.get(name)
        made = edit_tree(repository, there.id if there and there.mode == TREE else None, inner)
        if made is None:
            names.pop(name, None)
        else:
            names[name] = TreeEntry(TREE, made)
    return _make_tree(repository, names) if names else None


def _read_names(repository: Repository, tree: str) -> dict[str, TreeEntry]:
    names: dict[str, TreeEntry] = {}
    for line in repository.run("ls-tree", "-z", "--full-tree", tree).split(b"\0"):
        if line:
            fields, _, name = line.partition(b"\t")
            mode, _, oid = fields.decode().split(" ")
            names[os.fsdecode(name)] = TreeEntry(mode, oid)
    return names


def _make_tree(repository: Repository, names: Mapping[str, TreeEntry]) -> str:
    kinds = {TREE: "tree", SUBMODULE: "commit"}
    lines = [
        f"{entry.mode} {kinds.get(entry.mode, 'blob')} {entry.id}\t".encode() + os.fsencode(name) + b"\0"
        for name, entry in names.items()
    ]
    return repository.run(*DURABLE, "mktree", "-z", input=b"".join(lines)).decode().strip()


def make_empty_tree(repository: Repository) -> str:
    """Return the id of the tree with nothing in it."""
    return repository.run("mktree", "-z").decode().strip()


def make_commit(repository: Repository, tree: str, parents: Sequence[str], *, message: str, at: str) -> str:
    """Return the id of a new commit that no branch stands on yet.

    Args:
        repository: Where it is made.
        tree: What it holds.
        parents: Ids of the commits before it.
        message: Of the commit.
        at: Its ISO instant.
    """
    settings = (*repository.name_identity(), *DURABLE, "-c", "i18n.commitEncoding=UTF-8", "-c", "commit.gpgSign=false")
    words = [word for parent in parents for word in ("-p", parent)]
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    text = message.encode("utf-8", "surrogateescape")
    return repository.run(*settings, "commit-tree", tree, *words, input=text, extra=dates).decode().strip()


def split_conflicts(output: bytes) -> tuple[str, set[str], Iterator[tuple[list[str], str, str]]]:
    """Return what `git merge-tree --write-tree -z` says: tree, conflicted paths, and its messages.

    A message is the paths that it is about, its kind, and its text.
    """
    parts = [os.fsdecode(part) for part in output.split(b"\0")]
    end = parts.index("", 1)
    paths = {part.partition("\t")[2] for part in parts[1:end]}
    return parts[0].strip(), paths, _read_messages(parts[end + 1 :])


def _read_messages(parts: list[str]) -> Iterator[tuple[list[str], str, str]]:
    cursor = 0
    while cursor < len(parts) and parts[cursor].strip().isdigit():
        number = int(parts[cursor])
        paths = parts[cursor + 1 : cursor + 1 + number]
        kind, text = parts[cursor + 1 + number : cursor + 3 + number]
        yield paths, kind, text.strip()
        cursor += 3 + number
