"""The one listing and the one read of each file: nothing is dropped in silence, and what changed since is not followed."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.examined import Area, Kind
from omnislash.checks.listing import BYTES_MAX, Listing, read_file

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.checks.examined import Listed


def listed(root: Path, path: str) -> Listed:
    """Return the entry of a file, as the listing finds it."""
    entries = {entry.path: entry for entry in Listing(root, ()).run()}
    return entries[path]


def put(root: Path, path: str, text: str = "- text\n") -> Path:
    """Write a file and return its place."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def test_a_file_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    """What a link leads to that was put there since the listing is not read: it may be a secret of another place."""
    place = put(tmp_path / "brain", "memory/main/a.md")
    entry = listed(tmp_path / "brain", "memory/main/a.md")
    put(tmp_path, "secret", "canary!")
    place.unlink()
    place.symlink_to(tmp_path / "secret")

    file = read_file(tmp_path / "brain", entry)

    assert (file.data, file.problem) == (None, os.strerror(errno.ELOOP).lower())


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe that nobody writes to keeps nobody waiting."""
    place = put(tmp_path, "memory/main/a.md")
    entry = listed(tmp_path, "memory/main/a.md")
    place.unlink()
    os.mkfifo(place)
    seen: list[bytes | None] = []
    reading = threading.Thread(target=lambda: seen.append(read_file(tmp_path, entry).data), daemon=True)

    reading.start()
    reading.join(10)
    waited = reading.is_alive()
    if waited:  # let the thread go
        os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))
        reading.join()

    assert not waited
    assert seen == [b""]


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path) -> None:
    """Its size is known from the listing."""
    place = put(tmp_path, "memory/main/a.md")
    os.truncate(place, BYTES_MAX + 1)

    file = read_file(tmp_path, listed(tmp_path, "memory/main/a.md"))

    assert (file.data, file.problem) == (None, "larger than 64 MiB")


def refuse(monkeypatch: pytest.MonkeyPatch, error: OSError, *names: str) -> None:
    """Let the system answer with an error where it is asked what an entry of a directory is."""
    scan = os.scandir

    class Entry:
        def __init__(self, entry: os.DirEntry[str]) -> None:
            self.name = entry.name
            self._entry = entry

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            if self.name in names:
                raise error
            return self._entry.stat(follow_symlinks=follow_symlinks)

    class Scan:
        def __init__(self, path: str) -> None:
            self._scan = scan(path)

        def __enter__(self) -> list[Entry]:
            return [Entry(entry) for entry in self._scan]

        def __exit__(self, *_: object) -> None:
            self._scan.close()

    monkeypatch.setattr("omnislash.checks.listing.os.scandir", Scan)


@pytest.mark.parametrize("code", [errno.EACCES, errno.ENAMETOOLONG, errno.EIO])
def test_what_can_not_be_asked_is_kept_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A directory whose entries can be named and not looked at is no empty one; the others are listed."""
    put(tmp_path, "memory/main/secret/a.md")
    put(tmp_path, "memory/main/b.md")
    refuse(monkeypatch, OSError(code, os.strerror(code)), "a.md")
    listing = Listing(tmp_path, ())

    paths = [entry.path for entry in listing.run()]

    assert listing.unlistable == {"memory/main/secret": os.strerror(code).lower()}
    assert paths == ["memory", "memory/main", "memory/main/b.md", "memory/main/secret"]


def test_what_was_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that went away between its name and its look is no fault."""
    put(tmp_path, "memory/main/a.md")
    refuse(monkeypatch, FileNotFoundError(errno.ENOENT, "gone"), "a.md")
    listing = Listing(tmp_path, ())

    assert [entry.path for entry in listing.run()] == ["memory", "memory/main"]
    assert listing.unlistable == {}


def test_a_tree_that_is_deeper_than_a_path_can_be_is_told(tmp_path: Path) -> None:
    """Directories below each other until the system takes no longer path: the rest is named, and not dropped."""
    put(tmp_path, "memory/main/a.md")
    here = os.open(tmp_path / "memory/main", os.O_RDONLY)
    for _ in range(30):  # each 200 characters; a path has 4096 at most
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    listing = Listing(tmp_path, ())

    found = listing.run()

    (path,) = listing.unlistable
    assert listing.unlistable[path] == os.strerror(errno.ENAMETOOLONG).lower()
    assert path in {entry.path for entry in found if entry.kind is Kind.DIRECTORY}


def test_a_source_that_may_not_be_looked_at_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for one that does not exist; one that does not exist is no fault of the disk."""
    ask = os.lstat

    def lstat(path: str) -> os.stat_result:
        if path.endswith("notes/team"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return ask(path)

    monkeypatch.setattr("omnislash.checks.listing.os.lstat", lstat)
    listing = Listing(tmp_path, ("notes/team", "handbook", "omnislash.yaml/x"))
    (tmp_path / "omnislash.yaml").write_text("{}\n")

    assert [(entry.path, entry.area) for entry in listing.run()] == [("omnislash.yaml", Area.TOP)]
    assert listing.unlistable == {"notes/team": "permission denied"}
