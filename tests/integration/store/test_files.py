"""The steps of a durable replacement on a real disk, and where a managed path lies."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError, StorageError
from omnislash.core.lines import ManagedPath
from omnislash.store.disk import Disk, ExchangeUnsupportedError, has_open_writer, open_regular
from omnislash.store.files import MemoryFiles
from omnislash.store.settling import wait_for_writers

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.store.replacement import Replacement

PATH = ManagedPath("main/2026/08/2026-08-30.md")


class NoExchange(Disk):
    """A file system that can't exchange two names."""

    def exchange(self, temp: Path, target: Path) -> None:
        raise ExchangeUnsupportedError


@pytest.fixture(params=["exchange", "no exchange"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryFiles:
    """Return the managed files of an empty brain, on a disk with and without exchange."""
    return MemoryFiles(tmp_path / "memory", disk=NoExchange() if request.param == "no exchange" else Disk())


def names(files: MemoryFiles) -> list[str]:
    """Return the names of all files, hidden ones too."""
    return sorted(str(place.relative_to(files.memory)) for place in files.memory.rglob("*") if place.is_file())


def put(files: MemoryFiles, data: bytes) -> Path:
    """Save the file by hand."""
    place = files.memory / PATH
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def staged(files: MemoryFiles, before: bytes | None, after: bytes | None) -> Replacement:
    """Return a change that is ready to be swapped in."""
    change = files.prepare(PATH, before=before, after=after)
    files.stage([change])
    return change


def test_new_file_appears_whole(files: MemoryFiles) -> None:
    """A new file and its directories appear with the whole text; before the swap there is no such name."""
    change = staged(files, None, b"new\n")
    assert files.read(PATH) is None

    files.swap(change)
    files.sync_parents([change])
    files.discard(change)

    assert files.read(PATH) == b"new\n"
    assert names(files) == [PATH]


def test_change_brings_the_old_bytes_out(files: MemoryFiles) -> None:
    """After a swap the file has the new text, and what stood there can be looked at."""
    put(files, b"old\n")
    change = staged(files, b"old\n", b"new\n")

    files.swap(change)

    assert files.read(PATH) == b"new\n"
    assert files.displaced(change) == (b"old\n", False)
    files.discard(change)
    assert names(files) == [PATH]


def test_removal_can_be_taken_back(files: MemoryFiles) -> None:
    """A removed file is gone from its name, and back when the removal is taken back."""
    put(files, b"old\n")
    change = staged(files, b"old\n", None)
    files.swap(change)
    assert files.read(PATH) is None

    assert files.take_back(change)
    assert files.read(PATH) == b"old\n"
    files.swap(change)
    files.discard(change)
    assert names(files) == []


@pytest.mark.parametrize("before", [None, b"old\n"])
def test_taken_back_change_leaves_no_trace(files: MemoryFiles, before: bytes | None) -> None:
    """A change that is taken back leaves the file as it was, or no file where there was none."""
    if before is not None:
        put(files, before)
    change = staged(files, before, b"new\n")
    files.swap(change)

    assert files.take_back(change)

    files.discard(change)
    assert files.read(PATH) == before
    assert names(files) == ([PATH] if before is not None else [])


@pytest.mark.parametrize("before", [None, b"old\n"])
def test_save_on_top_survives_taking_back(files: MemoryFiles, before: bytes | None) -> None:
    """When a person has saved on top of the new text, taking back leaves their save and says so."""
    if before is not None:
        put(files, before)
    change = staged(files, before, b"new\n")
    files.swap(change)
    put(files, b"theirs\n")

    assert not files.take_back(change)
    assert files.read(PATH) == b"theirs\n"


def test_name_that_was_taken_meanwhile_is_not_overwritten(files: MemoryFiles) -> None:
    """A file that a person makes in the last moment makes the swap fail, and stays."""
    change = staged(files, None, b"new\n")
    put(files, b"theirs\n")

    with pytest.raises(FileExistsError):
        files.swap(change)
    assert files.read(PATH) == b"theirs\n"


def test_file_that_is_gone_meanwhile_is_not_made(files: MemoryFiles) -> None:
    """A file that a person deletes in the last moment makes the swap fail, and is not made again."""
    place = put(files, b"old\n")
    change = staged(files, b"old\n", b"new\n")
    place.unlink()

    with pytest.raises(FileNotFoundError):
        files.swap(change)
    files.discard(change)
    assert names(files) == []


def test_save_in_the_last_moment_comes_out(tmp_path: Path) -> None:
    """A save between planning and exchange is what comes out of it."""
    files = MemoryFiles(tmp_path / "memory")
    put(files, b"old\n")
    change = staged(files, b"old\n", b"new\n")
    put(files, b"theirs\n")

    files.swap(change)

    assert files.displaced(change)[0] == b"theirs\n"
    assert files.take_back(change)
    assert files.read(PATH) == b"theirs\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
def test_mode_is_taken_over(files: MemoryFiles, mode: int) -> None:
    """The new file has the permissions of the old one; a new name has the usual ones."""
    put(files, b"old\n").chmod(mode)
    change = staged(files, b"old\n", b"new\n")
    files.swap(change)

    assert (files.memory / PATH).stat().st_mode & 0o777 == mode


def test_read_only_file_is_respected(files: MemoryFiles) -> None:
    """A file that is marked read-only is not replaced, even by a user who could."""
    put(files, b"old\n").chmod(0o444)

    with pytest.raises(PermissionError):
        staged(files, b"old\n", b"new\n")
    assert files.read(PATH) == b"old\n"
    assert names(files) == [PATH]


def test_temporary_names_are_hidden_and_ours(files: MemoryFiles) -> None:
    """What lies there during a change begins with a dot and our name, beside the target."""
    staged(files, None, b"new\n")

    (name,) = names(files)
    assert name.startswith("main/2026/08/.omnislash-")
    assert name.endswith(".new")


@pytest.mark.rule("SCOPE-O6")
def test_locate_refuses_links_out_of_the_line(tmp_path: Path) -> None:
    """A link on the way out of the line is refused; one that stays in it is not."""
    files = MemoryFiles(tmp_path / "memory")
    (tmp_path / "memory/main/real").mkdir(parents=True)
    (tmp_path / "memory/ops").mkdir()
    (tmp_path / "memory/main/out").symlink_to(tmp_path)
    (tmp_path / "memory/main/other").symlink_to("../ops")
    (tmp_path / "memory/main/in").symlink_to("real")

    for path in ("main/out/a.md", "main/other/a.md"):
        with pytest.raises(ScopeError, match="symbolic link"):
            files.locate(ManagedPath(path))
    assert files.locate(ManagedPath("main/in/a.md")) == tmp_path / "memory/main/in/a.md"


def test_linked_memory_directory_is_fine(tmp_path: Path) -> None:
    """A person may keep `memory/` itself elsewhere, behind a link."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "memory").symlink_to(tmp_path / "elsewhere")
    files = MemoryFiles(tmp_path / "memory")
    change = staged(files, None, b"new\n")
    files.swap(change)

    assert (tmp_path / "elsewhere" / PATH).read_bytes() == b"new\n"


def test_twin_of_the_line_is_named(tmp_path: Path) -> None:
    """A folder that differs from the line in letter case only is refused by name."""
    (tmp_path / "memory/Main").mkdir(parents=True)

    with pytest.raises(StorageError, match="memory/Main"):
        MemoryFiles(tmp_path / "memory").locate(PATH)


# -- a person's editor -----------------------------------------------------------------------------------------------


def can_tell(place: Path) -> bool:
    """Tell whether this file system knows about open writers."""
    descriptor = open_regular(place)
    with contextlib.closing(open(descriptor, "rb")):  # noqa: PTH123
        return has_open_writer(descriptor) is False


def test_reading_waits_for_a_save_in_place(tmp_path: Path) -> None:
    """A file that an editor is just writing in place is read once the editor has closed it."""
    files = MemoryFiles(tmp_path / "memory")
    place = put(files, b"old\n")
    if not can_tell(place):
        pytest.skip("this file system can't tell who has a file open")
    editor = place.open("wb")
    editor.write(b"new ")
    editor.flush()

    def finish() -> None:
        time.sleep(0.1)
        editor.write(b"text\n")
        editor.close()

    saver = threading.Thread(target=finish)
    saver.start()
    assert files.read_settled(PATH) == b"new text\n"
    saver.join()


def test_waiting_for_an_editor_ends(tmp_path: Path) -> None:
    """An editor that keeps the file open is waited for no longer than said, and reported."""
    files = MemoryFiles(tmp_path / "memory")
    place = put(files, b"old\n")
    if not can_tell(place):
        pytest.skip("this file system can't tell who has a file open")

    with place.open("ab"):
        started = time.monotonic()
        assert wait_for_writers(place, limit_s=0.1)
        assert time.monotonic() - started < 1
    assert not wait_for_writers(place, limit_s=0.1)
