"""Files as people and machines leave them: delivered as far as they can be read, and never silently taken for empty."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from omnislash.store.files import MemoryFiles

if TYPE_CHECKING:
    from tests.integration.envelope.conftest import Desk


def put_directory(desk: Desk, path: str) -> None:
    """Put a directory where a file should be."""
    place = desk.sample.root / "memory" / path
    place.unlink(missing_ok=True)
    place.mkdir()


def test_memory_that_cannot_be_read(desk: Desk) -> None:
    """The block says so and is not withdrawn; it is sent once, and again when the file can be read."""
    desk.turn()
    text = desk.sample.text("main/MEMORY.md")
    put_directory(desk, "main/MEMORY.md")

    turn = desk.turn()

    assert [(block.name, block.why, block.is_partial) for block in turn.blocks] == [("agent-memory", "changed", True)]
    assert "could not be read" in turn.render()
    assert "there is a directory where a file should be" in turn.render()
    assert desk.sent() == []
    (desk.sample.root / "memory/main/MEMORY.md").rmdir()
    desk.sample.put_memory("main/MEMORY.md", text)
    assert desk.sent() == ["changed memory main/MEMORY.md"]


def test_memory_behind_a_link_out_of_its_line(desk: Desk) -> None:
    """Nothing of another place is shown, and the block says why."""
    secret = desk.sample.put("elsewhere.md", "- not of this line\n")
    place = desk.sample.root / "memory/main/MEMORY.md"
    place.unlink()
    place.symlink_to(secret)

    block = desk.text("memory")

    assert "not of this line" not in block
    assert "symbolic link" in block


def test_day_that_cannot_be_read(desk: Desk) -> None:
    """The other days of the window are shown, and this one is named."""
    desk.sample.role("nova", "{recentDays: 2}")
    put_directory(desk, "main/2026/08/2026-08-30.md")

    block = desk.text("memory-daily")

    assert "The pump is dead." in block
    assert "[main/2026/08/2026-08-30.md] (in part — memory_read for the rest)\n(could not be read: " in block


@pytest.mark.rule("ENVELOPE-06", "ENVELOPE-13")
def test_window_that_could_not_be_read_comes_later(desk: Desk) -> None:
    """It is sent once with what was missing, not for what is added meanwhile, and again once it can be read."""
    desk.sample.role("nova", "{recentDays: 2}")
    text = desk.sample.text("main/2026/08/2026-08-29.md")
    put_directory(desk, "main/2026/08/2026-08-29.md")
    assert "(could not be read: " in desk.turn().render()
    desk.sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 09:00 Something new.\n")
    assert desk.sent() == []

    (desk.sample.root / "memory/main/2026/08/2026-08-29.md").rmdir()
    desk.sample.put_memory("main/2026/08/2026-08-29.md", text)

    (block,) = desk.turn().blocks
    assert (block.name, block.why) == ("agent-memory-daily", "changed")
    assert "The pump is dead." in block.text
    desk.sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 09:00 Newer still.\n")
    assert desk.sent() == []


def test_window_that_could_not_be_read_and_is_gone(desk: Desk) -> None:
    """Once the file is gone there is nothing to send, and the window is not waited for any longer."""
    put_directory(desk, "main/2026/08/2026-08-30.md")
    desk.turn()
    (desk.sample.root / "memory/main/2026/08/2026-08-30.md").rmdir()

    assert desk.sent() == []
    desk.sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 09:00 Something new.\n")
    assert desk.sent() == []


def test_summaries_that_cannot_be_read(desk: Desk) -> None:
    """The ladder says so, and the rest of the turn comes."""
    put_directory(desk, "main/2026/2026-W34.md")

    turn = desk.turn()

    assert [block.name for block in turn.blocks][1:] == ["agent-memory", "agent-memory-periods", "agent-memory-daily"]
    assert "could not be read" in turn.blocks[2].text


def test_file_that_vanishes_while_it_is_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log or summary that is listed and gone is passed over."""
    desk.sample.role("nova", "{recentDays: 2}")
    read = MemoryFiles.read

    def vanishing(files: MemoryFiles, path: str) -> bytes | None:
        if "2026-08-29" in path or "W34" in path:
            (files.memory / path).unlink(missing_ok=True)
        return read(files, path)  # type: ignore[arg-type]

    monkeypatch.setattr(MemoryFiles, "read", vanishing)

    assert desk.sent() == ["new environment", "new memory main/MEMORY.md", "new memory-daily main"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xef\xbb\xbf- with a mark\r\n- and CRLF\r\n", "- with a mark\n- and CRLF"),
        (b"- caf\xe9 \xff\xfe\n", "- caf\ufffd \ufffd\ufffd"),
        (b"- nul \x00 and escape \x1b[2J\n", "- nul \ufffd and escape \ufffd[2J"),
        ("- заметка по-русски\n- 日本語の覚え書き\n- می\u200cرود\n- हिन्दी क्\u200dष\n".encode(), None),
        (
            "- family 👨\u200d👩\u200d👧, flag 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\n".encode(),
            None,
        ),
    ],
)
def test_any_bytes(desk: Desk, data: bytes, shown: str | None) -> None:
    """A byte order mark, CRLF, broken UTF-8 and controls are shown as text, honest scripts as they are; on disk the same."""
    desk.sample.put_memory("main/MEMORY.md", data)
    desk.sample.put_memory("main/2026/08/2026-08-30.md", data)

    turn = desk.turn()

    assert turn.render().count(data.decode().rstrip() if shown is None else shown) == 2
    assert desk.sample.data("main/MEMORY.md") == data


def test_line_without_anything(desk: Desk) -> None:
    """A new line has the day and no block of memory; what is written first comes at once."""
    desk.sample.role("fresh", "{write: fresh}")

    assert desk.sent(role="fresh") == ["new environment"]
    desk.brain.agent("fresh").memory.write("First.", priority=True)
    assert desk.sent(role="fresh") == ["new memory fresh/MEMORY.md"]


def test_five_megabytes(desk: Desk) -> None:
    """One line of five megabytes in every file: the turn keeps its ceilings, and says what is partial."""
    long = b"- " + b"x" * 5_000_000
    for path in ("main/MEMORY.md", "main/2026/08/2026-08-30.md", "main/2026/2026-W34.md"):
        desk.sample.put_memory(path, long)

    turn = desk.turn()

    assert [block.is_partial for block in turn.blocks] == [False, True, True, True]
    assert len(turn.render()) < 12_000 + 4_000 + 6_000 + 1_000


def test_folder_that_cannot_be_listed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window says so, and the rest of the turn comes."""
    desk.sample.role("nova", "{recentDays: 2}")
    scan = os.scandir

    def refusing(place: str) -> object:
        if str(place).endswith("main"):
            raise PermissionError(13, "Permission denied", place)
        return scan(place)

    monkeypatch.setattr(os, "scandir", refusing)
    turn = desk.turn()

    assert turn.blocks[-1].name == "agent-memory-daily"
    assert "could not be read" in turn.blocks[-1].text
    assert "Tomek" in turn.render()
