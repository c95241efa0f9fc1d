"""What git sees of the brain: which changes brain-sync commits, which it leaves alone, and which wait for a person.

Committed are changes of tracked files, and new files of the brain itself: below `memory/`, the declared sources,
`features/` and `constitution/`, and `omnislash.yaml` and `.gitignore`. A person's other new files, and what a person has
staged outside of the brain's own files, are left as they are.

Rules: failure cases O-50 to O-54.
Source: git-status(1), "Porcelain Format Version 2".
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from omnislash.core.conflict_marks import find_conflict_marks
from omnislash.runtime.syncing.values import Blocked
from omnislash.store.disk import open_regular, read_descriptor
from omnislash.store.git import join_paths, split_paths
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnislash.store.git import Repository

#: What of a brain is its own, beside the declared sources; relative to the brain.
_OWN_DIRECTORIES: Final = ("memory", "features", "constitution")
_OWN_FILES: Final = ("omnislash.yaml", ".gitignore")
#: Machine state, which no commit ever holds: by the first segment, by the file's name, and the search index.
_STATE_DIRECTORY, _TEMPORARY, _INDEX = ".omnislash", ".omnislash-", ".memory-index.db"
#: What editors, systems and programs leave beside notes, and files of keys: new ones are never taken. A template of a
#: file of keys is none.
_CLUTTER = re.compile(
    r"\..*\.sw[a-p]|.*~|#.*#|\.#.*|~\$.*|\.~lock\..*|\._.*|\.nfs[0-9a-f]+|\.fuse_hidden.*|\.goutputstream-.*"
    r"|\.ds_store|thumbs\.db|desktop\.ini|icon\r|\.directory"
    r"|\.envrc|\.env(?:\.(?!example$|sample$|template$|dist$).*)?",
    re.DOTALL | re.IGNORECASE,
)
#: A file that is larger is committed without a look into it, in bytes.
_LOOKED_AT: Final = 64 << 20
_HALF_REMOVED: Final = (
    "It is staged for removal and still there. Commit the removal, or take it back with: git restore --staged PATH"
)
_HALF_STAGED: Final = (
    "It was staged and then removed. Get it back with `git restore PATH`, or drop what was staged with: "
    "git restore --staged PATH"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that is committed. Paths are those of the repository."""

    path: str
    #: The file is gone.
    is_removal: bool = False
    #: Git has not seen the file yet.
    is_new: bool = False
    #: SHA-256 of the bytes on disk, `absent` for a removal; '' for what is no regular file, and for a very large one.
    hash: str = ""
    #: Id of the blob that the bytes make, and of the one that was committed before; '' when not known.
    blob: str = ""
    before: str = ""
    #: Id of what a person had staged, when it is neither on disk nor committed: it is kept under a name.
    staged: str = ""


@dataclass(slots=True)
class Changes:
    """All that differs from the last commit."""

    #: To commit, by path.
    wanted: list[Change] = field(default_factory=list)
    #: Not to commit, and why.
    blocked: list[Blocked] = field(default_factory=list)
    #: Not the brain's.
    left_alone: list[str] = field(default_factory=list)
    #: Left in conflict by a merge that somebody began.
    unmerged: list[str] = field(default_factory=list)
    #: Below memory/, and hidden by an ignore rule.
    ignored: list[str] = field(default_factory=list)
    #: Announced to git (`git add -N`) and gone: nothing is to commit, and git still waits for them.
    forgotten: list[str] = field(default_factory=list)

    def block(self, refused: Mapping[str, str]) -> None:
        """Take what git can't store out of what is committed; `refused` is the reason by path."""
        self.blocked += [Blocked(each.path, refused[each.path]) for each in self.wanted if each.path in refused]
        self.blocked.sort(key=lambda each: each.path)
        self.wanted = [each for each in self.wanted if each.path not in refused]

    @property
    def pending(self) -> tuple[str, ...]:
        """Every changed file of the brain."""
        return tuple(sorted({*(change.path for change in self.wanted), *(each.path for each in self.blocked)}))


@dataclass(frozen=True, slots=True)
class _Seen:
    """One line of `git status`."""

    index: str
    tree: str
    before: str
    staged: str
    path: str


def find_changes(repository: Repository, sources: Iterable[str], *, only: Iterable[str] | None = None) -> Changes:
    """Return what differs from the last commit.

    Args:
        repository: The brain's.
        sources: The declared sources, relative to the brain.
        only: Paths in the repository; anything else is not looked at. None = all.

    Raises:
        GitTroubleError: Git could not say.
    """
    search = _Search(repository, tuple(sources), None if only is None else frozenset(only))
    search.run()
    found = search.found
    found.block(_find_covered(repository, found.wanted))
    for part in (found.blocked, found.wanted):
        part.sort(key=lambda each: each.path)
    for names in (found.left_alone, found.unmerged, found.ignored):
        names.sort()
    return found


def _find_covered(repository: Repository, wanted: Iterable[Change]) -> dict[str, str]:
    """Return why a file can't go, by path: a directory took its name and holds nothing that is committed."""
    paths = {up for change in wanted if not change.is_removal for up in _list_above(change.path)}
    return {
        change.path: f"A directory has its name now. Remove that one, or run: git rm --cached {show_path(change.path)}"
        for change in wanted
        if change.is_removal and change.path not in paths and (repository.top / change.path).is_dir()
    }


def _list_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


class _Search:
    def __init__(self, repository: Repository, sources: tuple[str, ...], only: frozenset[str] | None) -> None:
        self._repository = repository
        self._prefix = repository.prefix
        directories = [*_OWN_DIRECTORIES, *(source for source in sources if not source.endswith(".md"))]
        self._directories = tuple(f"{self._prefix}{name.rstrip('/')}/" for name in directories)
        self._files = {self._prefix + name for name in (*_OWN_FILES, *sources)}
        self._only = only
        self._removed: set[str] = set()
        self.found = Changes()

    def run(self) -> None:
        """Fill `found`."""
        arguments = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=none")
        answer = self._repository.run("status", *arguments, "--", self._prefix or ".")
        untracked: list[str] = []
        for line in split_paths(answer):
            if line.startswith("? "):
                untracked.append(line[2:])
            else:
                self._take_tracked(line)
        self._take_untracked(untracked)

    # -- tracked -----------------------------------------------------------------------------------------------------

    def _take_tracked(self, line: str) -> None:
        if line.startswith("u "):
            path = line.split(" ", 10)[10]
            self.found.unmerged.append(path)
        elif line.startswith("1 "):
            _, both, module, *_, before, staged, path = line.split(" ", 8)
            if module == "N...":
                self._judge(_Seen(both[0], both[1], _known(before), _known(staged), path))

    def _judge(self, seen: _Seen) -> None:
        path = seen.path
        if self._only is not None and path not in self._only:
            return
        is_announced = seen.index == "." and self._is_announced(seen)
        if is_state(path, self._prefix) or ((seen.index != "." or is_announced) and not self.is_own(path)):
            self.found.left_alone.append(path)
            return
        if is_announced and seen.tree == "D":
            self.found.forgotten.append(path)
            return
        if seen.index == "D":
            self._removed.add(path)
            place = self._repository.top / path
            if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()):
                self.found.blocked.append(Blocked(path, _HALF_REMOVED))
                return
        if seen.index in "AMT" and seen.tree == "D":
            self.found.blocked.append(Blocked(path, _HALF_STAGED))
            return
        staged = seen.staged if seen.index in "AMT" and seen.tree in "MT" else ""
        self._want(Change(path=path, before=seen.before, staged=staged))

    def _is_announced(self, seen: _Seen) -> bool:
        """Tell whether git only knows that a file shall come (`git add -N`)."""
        if seen.tree != "D":
            return not seen.before
        # one that is gone again looks like a file that was committed empty
        is_empty = seen.before in {"", _EMPTY}
        return is_empty and self._repository.ask("cat-file", "-e", f"HEAD:{seen.path}").status != 0

    # -- untracked ---------------------------------------------------------------------------------------------------

    def _take_untracked(self, collapsed: Iterable[str]) -> None:
        """Take new files; git names a directory that holds nothing else by its own name."""
        self.found.left_alone += [
            path for path in collapsed if not self._may_hold_own(path) and not is_state(path, self._prefix)
        ]
        wanted = self._existing(*self._directories, *self._files)
        if not wanted:
            return
        for path in self._list("--exclude-standard", wanted=wanted):
            self._take_new(path)
        memory = self._existing(f"{self._prefix}memory/")
        hidden = self._list("--ignored", "--exclude-standard", wanted=memory) if memory else ()
        for path in hidden:
            if path.endswith(".md") and not is_state(path, self._prefix) and not _is_clutter(path):
                self.found.ignored.append(path)
                self._take_new(path)

    def _list(self, *arguments: str, wanted: list[str]) -> Iterable[str]:
        answer = self._repository.run("ls-files", "-z", "--others", *arguments, "--", *wanted)
        return tuple(dict.fromkeys(split_paths(answer)))

    def _existing(self, *paths: str) -> list[str]:
        top = self._repository.top
        return sorted({path.rstrip("/") for path in paths if os.path.lexists(top / path.rstrip("/"))})

    def _take_new(self, path: str) -> None:
        if path.endswith("/") or _is_clutter(path):  # a repository of its own, or nothing that anybody keeps
            self.found.left_alone.append(path)
        elif path not in self._removed and not is_state(path, self._prefix):
            self._want(Change(path=path, is_new=True))

    def is_own(self, path: str) -> bool:
        """Tell whether a path is one of the brain's own."""
        return path in self._files or path.startswith(self._directories)

    def _may_hold_own(self, path: str) -> bool:
        if not path.endswith("/"):
            return self.is_own(path)
        return self.is_own(path) or any(own.startswith(path) for own in (*self._directories, *self._files))

    # -- judging -----------------------------------------------------------------------------------------------------

    def _want(self, change: Change) -> None:
        if self._only is not None and change.path not in self._only:
            return
        try:
            read = _read(self._repository, change)
        except OSError as error:
            reason = f"It can't be read: {(error.strerror or str(error)).lower()}. Give this user access to it."
            self.found.blocked.append(Blocked(change.path, reason))
            return
        if isinstance(read, Blocked):
            self.found.blocked.append(read)
        else:
            self.found.wanted.append(read)


def _read(repository: Repository, change: Change) -> Change | Blocked:
    """Return a change with what its file holds now, or why it is not committed."""
    place = repository.top / change.path
    try:
        found = os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        found = None
    if found is None or stat.S_ISDIR(found.st_mode):  # a directory may have taken the name of the file
        return Change(path=change.path, is_removal=True, before=change.before, hash=hash_bytes(None))
    data = b""
    is_read = stat.S_ISREG(found.st_mode) and found.st_size <= _LOOKED_AT
    if is_read:
        descriptor = open_regular(place)
        try:
            data = read_descriptor(descriptor)
        finally:
            os.close(descriptor)
        if marks := find_conflict_marks(data):
            lines = ", ".join(map(str, marks[:4])) + (", …" if len(marks) > 4 else "")  # noqa: PLR2004 - enough to find them
            return Blocked(change.path, f"It holds the marks of a conflict (line {lines}). Edit it and remove them.")
    return Change(
        path=change.path,
        is_new=change.is_new,
        hash=hash_bytes(data) if is_read else "",
        blob=hash_blob(data) if is_read else "",
        before=change.before,
        staged=change.staged,
    )


def hash_blob(data: bytes) -> str:
    """Return the id that git gives to these bytes, in a repository of the usual kind."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


#: What git names a file that holds nothing.
_EMPTY: Final = hash_blob(b"")


def _known(blob: str) -> str:
    return blob if blob.strip("0") else ""


def is_state(path: str, prefix: str) -> bool:
    """Tell whether a path is state of this machine, which is never committed."""
    inner = path.removeprefix(prefix)
    name = inner.rstrip("/").rpartition("/")[2]
    return inner.split("/", 1)[0] == _STATE_DIRECTORY or name.startswith((_TEMPORARY, _INDEX))


def _is_clutter(path: str) -> bool:
    return _CLUTTER.fullmatch(path.rstrip("/").rpartition("/")[2]) is not None


def find_rules(repository: Repository, paths: Iterable[str]) -> dict[str, str]:
    """Return the rule that hides each path, as `FILE:LINE: PATTERN`.

    Raises:
        GitTroubleError: Git could not say.
    """
    plain = {"GIT_LITERAL_PATHSPECS": "0"}  # the command does not know the word
    answer = repository.ask("check-ignore", "--verbose", "-z", "--stdin", input=join_paths(paths), extra=plain)
    parts = answer.out.split(b"\0")
    rows = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
    return {
        os.fsdecode(path): f"{os.fsdecode(file)}:{number.decode()}: {os.fsdecode(pattern)}"
        for file, number, pattern, path in rows
    }


def show_path(path: str) -> str:
    """Return a path for people: on one line, bytes that are no text and control characters spelled out."""
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown)
