"""The token of a door: given, kept, made once, and refused when others could know it."""

from __future__ import annotations

import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import StorageError, UsageError
from omnislash.store.disk import Disk
from omnislash.surfaces.web.tokens import choose_token

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "abcdefghijklmnop"


def make_file(directory: Path, text: str, *, mode: int = 0o600) -> Path:
    """Write a token file as a person would."""
    place = directory / "token"
    place.write_text(text, encoding="utf-8")
    place.chmod(mode)
    return place


def test_the_environment_comes_first(tmp_path: Path) -> None:
    """OMNISLASH_TOKEN is used as it is, and no file is read or made."""
    make_file(tmp_path, "the-one-of-the-file-1234")

    assert choose_token(tmp_path, {"OMNISLASH_TOKEN": GOOD}) == GOOD
    assert choose_token(tmp_path, {}) == "the-one-of-the-file-1234"


def test_a_token_is_made_once_and_kept_for_the_owner_only(tmp_path: Path) -> None:
    """The first door makes it with mode 600 in a directory that git does not see; the next one uses the same."""
    directory = tmp_path / ".omnislash"
    first = choose_token(directory, {})

    assert len(first) >= 40
    assert choose_token(directory, {}) == first
    assert stat.S_IMODE((directory / "token").stat().st_mode) == 0o600
    assert (directory / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert sorted(file.name for file in directory.iterdir()) == [".gitignore", "token"]
    assert choose_token(tmp_path / "other", {}) != first


def test_doors_that_start_together_agree(tmp_path: Path) -> None:
    """Of eight threads that make a token at once all use the one that is on disk."""
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(choose_token(tmp_path, {}))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(found) == {(tmp_path / "token").read_text(encoding="utf-8").strip()}
    assert len(found) == 8


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "short",
        "x" * 15,
        "with a space in it",
        "tab\tin-the-token-here",
        "ümläut-token-token",
        f"{GOOD}\n{GOOD}",
        "x" * 600,
    ],
)
def test_what_is_no_token_is_refused(text: str, tmp_path: Path) -> None:
    """An empty, short or odd token is an error in the environment and in the file, and the file stays as it is."""
    with pytest.raises(UsageError) as given:
        choose_token(tmp_path, {"OMNISLASH_TOKEN": text})
    place = make_file(tmp_path, text)
    with pytest.raises(UsageError) as kept:
        choose_token(tmp_path, {})

    assert given.value.key == "OMNISLASH_TOKEN"
    assert kept.value.path == ".omnislash/token"
    assert len(text) < 10 or text not in given.value.message
    assert place.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o660])
def test_a_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    """A token that other users of the machine may know protects nothing."""
    make_file(tmp_path, GOOD, mode=mode)

    with pytest.raises(UsageError, match="other users"):
        choose_token(tmp_path, {})


@pytest.mark.parametrize("kind", ["directory", "link", "pipe"])
def test_something_in_the_way_is_no_token(kind: str, tmp_path: Path) -> None:
    """A directory, a link or a pipe under that name is refused, without a wait and without following."""
    place = tmp_path / "token"
    if kind == "directory":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(make_file(tmp_path, GOOD).rename(tmp_path / "elsewhere"))
    else:
        os.mkfifo(place)

    with pytest.raises(StorageError) as error:
        choose_token(tmp_path, {})

    assert error.value.path == ".omnislash/token"


def test_a_disk_that_says_no_is_one_sentence(tmp_path: Path) -> None:
    """A file in place of the directory can hold no token."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(StorageError) as error:
        choose_token(tmp_path / "file", {})

    assert "OMNISLASH_TOKEN" in (error.value.hint or "")


def test_a_failed_attempt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full while the token is written leaves no half of one."""

    def refuse(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Disk, "write", refuse)
    with pytest.raises(StorageError, match="No space left"):
        choose_token(tmp_path, {})

    assert list(tmp_path.iterdir()) == []
