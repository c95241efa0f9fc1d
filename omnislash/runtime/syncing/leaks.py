"""Credentials in commits that are not pushed yet (SECRET-O3).

Looked at is what each commit adds, not what the files hold: what a later commit takes out again is still in the history
that a push hands over. The names of new files and the messages of the commits go out as well.

What a merge adds is what stands in none of its parents. Values are compared for that, here and in memory only.

Rules: SECRET-O2, SECRET-O3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

from omnislash.core.credentials import find_secrets, mask_secrets
from omnislash.runtime.syncing.changes import show_path
from omnislash.runtime.syncing.values import Held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.store.git import Repository

    #: The class of a credential and its value.
    _Value = tuple[str, str]

#: Seconds that looking through the commits may take: the first push of a long history reads all of it.
_LIMIT_S: Final = 600.0
#: What a push hands over is the commits themselves, not those that a person has set in their place here.
_AS_STORED: Final = {"GIT_NO_REPLACE_OBJECTS": "1"}
_ORDER: Final = ("--reverse", "--topo-order", "--no-color")
#: Each is given, so that no setting of a person takes something out of what is looked at.
_PATCH: Final = (
    *("--patch", "--root", "--diff-merges=separate", "--no-renames", "--unified=0", "--inter-hunk-context=0"),
    *("--no-ext-diff", "--no-textconv", "--text", "--no-relative", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--format=commit %H %P"),
)
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_COMMIT, _FILE, _ADDED, _REMOVED = b"commit ", b"diff --git ", b"+", b"-"
_NAMES: Final = {b"new file mode ": _ADDED, b"deleted file mode ": _REMOVED}


def find_held(repository: Repository, *revisions: str) -> tuple[Held, ...]:
    """Return each credential that the commits add, once a commit, path and class, oldest commit first.

    Args:
        repository: Where.
        revisions: Which commits, as `git rev-list` takes them.

    Raises:
        GitTroubleError: Git could not say.
    """
    messages = dict(_read_messages(repository, revisions))
    output = repository.run("log", *_ORDER, *_PATCH, *revisions, "--", limit_s=_LIMIT_S, extra=_AS_STORED)
    found = [held for _, diffs in groupby(_read_diffs(output), _name_commit) for held in _list_added(list(diffs))]
    for commit, message in messages.items():
        found += [Held(commit, "", line, name) for line, (name, _) in _find(message, 1)]
    order = {commit: number for number, commit in enumerate(messages)}
    once: dict[tuple[str, str, str], Held] = {}
    for held in found:
        once.setdefault((held.commit, held.path, held.credential), held)
    return tuple(sorted(once.values(), key=lambda held: order.get(held.commit, len(order))))


def _read_messages(repository: Repository, revisions: Iterable[str]) -> Iterator[tuple[str, str]]:
    words = ("log", *_ORDER, "--no-patch", "-z", "--format=%H%n%B", *revisions, "--")
    output = repository.run(*words, limit_s=_LIMIT_S, extra=_AS_STORED)
    for each in output.decode("utf-8", "replace").split("\0"):
        commit, _, message = each.partition("\n")
        if commit:
            yield commit, message


def _find(text: str, start: int) -> Iterator[tuple[int, _Value]]:
    """Yield each credential of a text with its line; zeros between the letters, as UTF-16 has them, hide none."""
    for version in (text, text.replace("\0", "")) if "\0" in text else (text,):
        for begin, end, name in find_secrets(version):
            yield start + version.count("\n", 0, begin), (name, version[begin:end])


# -- one commit against one parent -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Diff:
    """What a commit changes against one of its parents."""

    commit: str
    #: How many parents it has.
    parents: int
    added: list[tuple[Held, _Value]] = field(default_factory=list)
    #: What stands in the parent; looked for where there are several only.
    removed: set[_Value] = field(default_factory=set)
    _path: str = ""
    _is_in_hunk: bool = False
    _start: int = 0
    _sign: bytes = b""
    _run: list[bytes] = field(default_factory=list)

    def read(self, line: bytes) -> None:
        """Take the next line of the patch."""
        if self._is_in_hunk and line[:1] in {_ADDED, _REMOVED}:
            self._add(line)
            return
        self.end()
        if hunk := _HUNK.match(line):
            self._is_in_hunk, self._start = True, int(hunk[1])
        elif line.startswith(_FILE):
            self._is_in_hunk, self._path = False, _read_path(line.removeprefix(_FILE))
        elif not self._is_in_hunk:
            self._note_name(line)

    def _add(self, line: bytes) -> None:
        if line[:1] != self._sign:
            self.end()
            self._sign = line[:1]
        self._run.append(line[1:])

    def end(self) -> None:
        """Look at the lines that stand together, now that there are no more of them."""
        if self._run:
            self._note(self._sign, b"\n".join(self._run).decode("utf-8", "replace"), self._start)
            self._run = []

    def _note_name(self, line: bytes) -> None:
        for words, sign in _NAMES.items():
            if line.startswith(words):
                self._note(sign, self._path, None)

    def _note(self, sign: bytes, text: str, start: int | None) -> None:
        """Note the credentials of a text that begins in a line; None = it is the path itself."""
        if sign == _REMOVED and self.parents < 2:  # noqa: PLR2004 - a merge has two
            return
        for line, value in _find(text, start or 0):
            if sign == _REMOVED:
                self.removed.add(value)
            else:
                shown = mask_secrets(show_path(self._path))
                self.added.append((Held(self.commit, shown, 0 if start is None else line, value[0]), value))


def _name_commit(diff: _Diff) -> str:
    return diff.commit


def _list_added(diffs: list[_Diff]) -> list[Held]:
    """Return what a commit adds to all of its parents; what stands in one of them a merge only carries on."""
    if len(diffs) < diffs[0].parents:
        return []  # it is the same as a parent
    new = set.intersection(*({value for _, value in diff.added} - diff.removed for diff in diffs))
    return [held for held, value in diffs[0].added if value in new]


def _read_diffs(output: bytes) -> Iterator[_Diff]:
    """Yield what each commit changes, once for each parent from which it differs."""
    diff = None
    for line in output.split(b"\n"):
        if line.startswith(_COMMIT):
            if diff is not None:
                diff.end()
                yield diff
            commit, *parents = line.removeprefix(_COMMIT).decode().split()
            diff = _Diff(commit, len(parents))
        elif diff is not None:
            diff.read(line)
    if diff is not None:
        diff.end()
        yield diff


def _read_path(words: bytes) -> str:
    """Return the path of a `diff --git a/x b/x` line, its bytes as they are; git quotes control characters and quotes."""
    text = words[len(words) // 2 + 1 :]  # without renames both are the same
    if text.startswith(b'"') and text.endswith(b'"'):
        text = _ESCAPE.sub(lambda found: _unescape(found[1]), text[1:-1])
    return text.removeprefix(b"b/").decode("utf-8", "surrogateescape")


def _unescape(code: bytes) -> bytes:
    return bytes([int(code, 8)]) if code.isdigit() else _LETTERS.get(code, code)
