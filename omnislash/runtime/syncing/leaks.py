"""Credentials in commits that are not pushed yet (SECRET-O3).

Looked at is what each commit adds, not what the files hold: what a later commit takes out again is still in the history
that a push hands over.

Rules: SECRET-O2, SECRET-O3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from omnislash.core.credentials import find_secrets
from omnislash.runtime.syncing.changes import show_path
from omnislash.runtime.syncing.values import Held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.store.git import Repository

#: Seconds that looking through the commits may take: the first push of a long history reads all of it.
_LIMIT_S: Final = 600.0
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_COMMIT, _FILE, _ADDED = b"commit ", b"+++ ", b"+"


def find_held(repository: Repository, *revisions: str) -> tuple[Held, ...]:
    """Return each credential that the commits add, once a commit, path and class, oldest commit first.

    Args:
        repository: Where.
        revisions: Which commits, as `git rev-list` takes them.

    Raises:
        GitTroubleError: Git could not say.
    """
    options = ("--format=commit %H", "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
    ways = ("--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--diff-merges=separate", "--reverse", "--topo-order")
    output = repository.run("log", *options, *ways, *revisions, "--", limit_s=_LIMIT_S)
    found: dict[tuple[str, str, str], Held] = {}
    for commit, path, start, text in _split(output):
        for offset, _, name in find_secrets(text):
            held = Held(commit, path, start + text.count("\n", 0, offset), name)
            found.setdefault((commit, path, name), held)
    return _without_inherited(repository, tuple(found.values()))


def _without_inherited(repository: Repository, held: tuple[Held, ...]) -> tuple[Held, ...]:
    """Drop what a merge only carries on: it differs from one parent, and stands in the other."""
    kept = []
    for each in held:
        parents = (repository.text("rev-list", "--parents", "--max-count=1", each.commit) or "").split()[1:]
        is_merge = len(parents) > 1
        if not is_merge or not any(_stands_in(repository, parent, each) for parent in parents):
            kept.append(each)
    return tuple(kept)


def _stands_in(repository: Repository, parent: str, held: Held) -> bool:
    answer = repository.ask("cat-file", "blob", f"{parent}:{held.path}")
    text = answer.out.decode("utf-8", "replace")
    return not answer.status and any(name == held.credential for _, _, name in find_secrets(text))


def _split(output: bytes) -> Iterator[tuple[str, str, int, str]]:
    """Yield commit, path, number of the first line and text of each run of added lines."""
    commit, path, start = "", "", 0
    added: list[bytes] = []
    for line in output.split(b"\n"):
        if start and line.startswith(_ADDED):
            added.append(line[1:])
            continue
        if added:
            yield commit, path, start, b"\n".join(added).decode("utf-8", "replace")
            added = []
        if line.startswith(_COMMIT):
            commit, start = line.removeprefix(_COMMIT).split(b" ")[0].decode(), 0
        elif line.startswith(b"diff --git "):
            start = 0
        elif line.startswith(_FILE) and not start:
            path = _read_path(line.removeprefix(_FILE))
        elif hunk := _HUNK.match(line):
            start = int(hunk[1])
    if added:
        yield commit, path, start, b"\n".join(added).decode("utf-8", "replace")


def _read_path(word: bytes) -> str:
    """Return the path of a `+++` line; git quotes what holds control characters or a quote."""
    text = word.rstrip(b"\t")
    if text.startswith(b'"') and text.endswith(b'"'):
        text = _ESCAPE.sub(lambda found: _unescape(found[1]), text[1:-1])
    return show_path(text.removeprefix(b"b/").decode("utf-8", "surrogateescape"))


def _unescape(code: bytes) -> bytes:
    return bytes([int(code, 8)]) if code.isdigit() else _LETTERS.get(code, code)
