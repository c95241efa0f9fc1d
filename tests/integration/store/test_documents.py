"""Reading and listing documents: what is there under exactly that name, and nothing through a link that leads out."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError, StorageError
from omnislash.store.documents import read_document, walk_documents

if TYPE_CHECKING:
    from pathlib import Path


def put(place: Path, text: str = "x\n") -> Path:
    """Save a file, with the directories that it needs."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def test_document_has_bytes_and_time(tmp_path: Path) -> None:
    """A document comes with its bytes as they are and the aware instant of its last change."""
    place = put(tmp_path / "content/a.md")
    place.write_bytes(b"\xef\xbb\xbfa\r\n\xff")
    os.utime(place, (1_788_000_000, 1_788_000_000))

    found = read_document(tmp_path, "content/a.md", within="content")

    assert found is not None
    assert found.data == b"\xef\xbb\xbfa\r\n\xff"
    assert found.modified_at == datetime.fromtimestamp(1_788_000_000, UTC)


@pytest.mark.parametrize("path", ["content/b.md", "content/none/a.md", "content/A.md", "content/a.md/x.md"])
def test_what_is_not_there_is_none(tmp_path: Path, path: str) -> None:
    """A name that is not there, other letter case included, is no document."""
    put(tmp_path / "content/a.md")

    try:
        assert read_document(tmp_path, path, within="content") is None
    except StorageError as error:
        assert path == "content/a.md/x.md"
        assert "file where a directory" in error.message  # noqa: PT017


@pytest.mark.rule("SCOPE-O6")
@pytest.mark.parametrize("shape", ["file", "folder", "chain"])
def test_link_out_is_refused(tmp_path: Path, shape: str) -> None:
    """A link to outside of the corpus is not followed, directly, by a folder, or by a chain of links."""
    put(tmp_path / "outside/a.md")
    put(tmp_path / "content/b.md")
    if shape == "folder":
        (tmp_path / "content/sub").symlink_to(tmp_path / "outside")
    else:
        (tmp_path / "content/a.md").symlink_to("c.md" if shape == "chain" else "../outside/a.md")
        (tmp_path / "content/c.md").symlink_to("../outside/a.md")

    with pytest.raises(ScopeError, match="symbolic link"):
        read_document(tmp_path, "content/sub/a.md" if shape == "folder" else "content/a.md", within="content")


def test_link_inside_is_followed(tmp_path: Path) -> None:
    """A link that stays in its corpus shows the file that it means."""
    put(tmp_path / "content/a.md", "meant\n")
    (tmp_path / "content/b.md").symlink_to("a.md")

    found = read_document(tmp_path, "content/b.md", within="content")

    assert found is not None
    assert found.data == b"meant\n"


def test_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    """A link into `content-old` leads out of `content`."""
    put(tmp_path / "content-old/a.md")
    (tmp_path / "content").mkdir()
    (tmp_path / "content/a.md").symlink_to("../content-old/a.md")

    with pytest.raises(ScopeError):
        read_document(tmp_path, "content/a.md", within="content")


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_raises_a_sentence(tmp_path: Path, kind: str) -> None:
    """A directory or a pipe under the name raises one sentence with the path, and never blocks."""
    (tmp_path / "content").mkdir()
    place = tmp_path / "content/a.md"
    place.mkdir() if kind == "directory" else os.mkfifo(place)

    with pytest.raises(StorageError, match=r"content/a\.md can't be read"):
        read_document(tmp_path, "content/a.md", within="content")


@pytest.mark.rule("SOURCE-O8")
def test_walk_shows_markdown_in_order(tmp_path: Path) -> None:
    """A walk shows the markdown files below, without hidden ones and links, each directory in the order of its names."""
    for path in ("b.md", "a/z.md", "a/y.md", "a/.h.md", ".git/c.md", "c.txt", "ё/д.md"):
        put(tmp_path / "content" / path)
    (tmp_path / "content/l.md").symlink_to("b.md")
    (tmp_path / "content/ring").symlink_to(tmp_path / "content")

    assert list(walk_documents(tmp_path, "content")) == [
        "content/a/y.md",
        "content/a/z.md",
        "content/b.md",
        "content/ё/д.md",
    ]


def test_walk_is_in_order_of_the_whole_path(tmp_path: Path) -> None:
    """The order is that of the paths as texts, so that a reader can go on after any of them."""
    for path in ("a/z.md", "a.md", "a-b/c.md", "a/b/c.md", "a b.md", "aa/x.md"):
        put(tmp_path / "content" / path)

    found = list(walk_documents(tmp_path, "content"))

    assert found == sorted(found)
    assert len(found) == 6
    for after in (*found, "content/a", "content/a/", "content/b", ""):
        rest = [path for path in found if path > after]
        assert list(walk_documents(tmp_path, "content", after=after)) == rest
    for prefix in (*found, "content/a", "content/a/", "conten", "content/aa/y", "x"):
        chosen = [path for path in found if path.startswith(prefix)]
        assert list(walk_documents(tmp_path, "content", prefix=prefix)) == chosen


def test_walk_opens_no_directory_that_holds_nothing_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page in the middle of a large tree costs what is in it, and not the tree."""
    for number in range(20):
        put(tmp_path / f"content/{number:02}/x.md")
    opened: list[str] = []
    scan = os.scandir

    def note(place: Path) -> object:
        opened.append(place.name)
        return scan(place)

    monkeypatch.setattr("omnislash.store.documents.os.scandir", note)
    walk = walk_documents(tmp_path, "content", after="content/09/x.md")

    assert [next(walk), next(walk)] == ["content/10/x.md", "content/11/x.md"]
    assert opened == ["content", "09", "10", "11"]


def test_walk_of_a_single_file_or_of_nothing(tmp_path: Path) -> None:
    """A source that is a file shows itself; one that does not exist shows nothing."""
    put(tmp_path / "handbook.md")

    assert list(walk_documents(tmp_path, "handbook.md")) == ["handbook.md"]
    assert list(walk_documents(tmp_path, "nowhere")) == []
