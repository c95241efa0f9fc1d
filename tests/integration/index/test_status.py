"""Looking at the index tells the truth about it and changes nothing."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import IndexUnavailableError
from omnislash.index import status as status_module
from omnislash.index.diff import Drift
from omnislash.index.status import check_index, read_status
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from tests.integration.index.conftest import IndexBrain

DAYS = [f"memory/ops/2026/11/2026-11-{day}.md" for day in range(23, 28)]


@pytest.mark.rule("RECALL-11")
def test_files_that_nobody_indexed_are_counted(index_brain: IndexBrain) -> None:
    """O-14: five logs written by hand are five files that are not indexed; after a sync there are none."""
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    for place in DAYS:
        index_brain.write(place, "- 09:00 opened the shop\n")
    status = read_status(live)
    assert status.drift == Drift(added=tuple(DAYS))
    assert not status.is_clean
    assert status.to_json()["coverage"] == "incomplete"
    assert [line.partition(" ")[0] for line in check_index(live)] == DAYS
    assert read_status(live).drift == Drift(added=tuple(DAYS))
    live.refresh(limit_s=None)
    status = read_status(live)
    assert status.is_clean
    assert (status.files, status.notes, status.pending) == (5, 5, 0)
    assert status.to_json()["coverage"] == "full"
    assert check_index(live) == ()


def test_there_is_no_index_yet(index_brain: IndexBrain) -> None:
    """Looking makes none."""
    index_brain.write(DAYS[0], "- 09:00 opened the shop\n")
    live = index_brain.open(CountingEmbedder())
    status = read_status(live)
    assert status.drift == Drift(added=(DAYS[0],))
    assert not status.is_clean
    assert any("no search index yet" in line for line in status.advice)
    assert check_index(live) == ("There is no search index yet: omnislash index sync makes it.",)
    assert not index_brain.index_path.exists()


def test_changed_removed_and_touched(index_brain: IndexBrain) -> None:
    """A file with other content and a file that is gone differ; one that was only touched does not."""
    for place in DAYS[:3]:
        index_brain.write(place, "- 09:00 opened the shop\n")
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    index_brain.write(DAYS[0], "- 09:00 opened the shop late\n")
    (index_brain.root / DAYS[1]).unlink()
    os.utime(index_brain.root / DAYS[2], (1, 1))
    assert read_status(live).drift == Drift(changed=(DAYS[0],), removed=(DAYS[1],))


def test_notes_that_wait_are_counted(index_brain: IndexBrain) -> None:
    """A note without its vector makes the index incomplete."""
    embedder = CountingEmbedder()
    embedder.fail(1)
    index_brain.write(DAYS[0], "- 09:00 opened the shop\n")
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    status = read_status(live)
    assert status.pending == 1
    assert not status.is_clean
    assert status.embedders == (("counting", 64, 0),)
    assert check_index(live) == ("1 notes wait for their vector: omnislash index sync makes them.",)


@pytest.mark.rule("LANG-O6")
def test_an_index_for_other_languages(index_brain: IndexBrain) -> None:
    """The advice says that the next sync makes the index anew."""
    index_brain.write(DAYS[0], "- 09:00 opened the shop\n")
    index_brain.open().refresh(limit_s=None)
    advice = read_status(index_brain.open(languages=("german",))).advice
    assert any("made for other languages" in line for line in advice)


def test_damage_is_named_and_nothing_is_repaired(index_brain: IndexBrain) -> None:
    """O-10: at every page of the file the check says that it is damaged and what to do, and touches no byte of it."""
    for number in range(40):
        index_brain.write(f"memory/ops/n{number}.md", f"# N\n\nword{number} and quay\n")
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    live.close()
    good = index_brain.index_path.read_bytes()
    for offset in range(0, len(good), 4096):
        damaged = good[:offset] + b"\xff" * 4096 + good[offset + 4096 :]
        index_brain.index_path.write_bytes(damaged)
        found = check_index(live)
        assert any("damaged" in line or "***" in line or "btree" in line.lower() for line in found), offset
        assert any("omnislash index rebuild" in line for line in found)
        assert index_brain.index_path.read_bytes() == damaged
        assert not index_brain.index_path.with_name(".memory-index.db.damaged").exists()


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE segments SET vectors = zeroblob(length(vectors))", "Block 0 of the vectors of counting is damaged."),
        ("UPDATE files SET words = x'00'", "The index's row of memory/ops/a.md is damaged."),
        ("UPDATE files SET notes = 'text'", "The index's row of memory/ops/a.md is damaged."),
    ],
)
def test_damage_that_sqlite_does_not_know_of(index_brain: IndexBrain, damage: str, named: str) -> None:
    """The checksums of rows and blocks are checked too."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    with contextlib.closing(sqlite3.connect(index_brain.index_path)) as connection:
        connection.execute(damage)
        connection.commit()
    assert check_index(live)[0] == named


def test_an_index_that_can_not_be_read(index_brain: IndexBrain) -> None:
    """A status raises one plain error with the remedy; a check returns it."""
    index_brain.index_path.write_bytes(b"# Not a database\n" * 1000)
    live = index_brain.open(CountingEmbedder())
    with pytest.raises(IndexUnavailableError, match="damaged") as caught:
        read_status(live)
    assert caught.value.hint == "omnislash index rebuild makes it anew."
    assert any("rebuild" in line for line in check_index(live))
    assert index_brain.index_path.read_bytes() == b"# Not a database\n" * 1000


def test_problems_of_files_are_listed(index_brain: IndexBrain) -> None:
    """A file with broken frontmatter is named with its line, in the status and by the check, and is searched."""
    index_brain.write(
        "memory/ops/r.md", "---\nname: harbour\nsummary: tide notes: north quay\n---\nHigh water at 06:10.\n"
    )
    live = index_brain.open(CountingEmbedder())
    assert index_brain.find_words(live, "water") == ["memory/ops/r.md"]
    (problem,) = read_status(live).problems
    assert (problem.path, problem.line) == ("memory/ops/r.md", 3)
    assert any(line.startswith("memory/ops/r.md: ") for line in check_index(live))


def test_vectors_of_forgotten_texts_are_named(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """When more than half of the vectors belong to nothing any more, the status says so and what drops them."""
    monkeypatch.setattr(status_module, "_MANY_UNUSED", 3)
    for number in range(4):
        index_brain.write(f"memory/ops/n{number}.md", f"# N\n\nword{number}\n")
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    for number in range(2):
        (index_brain.root / f"memory/ops/n{number}.md").unlink()
    live.refresh(limit_s=None)
    assert not any("no file has any more" in line for line in read_status(live).advice)
    (index_brain.root / "memory/ops/n2.md").unlink()
    live.refresh(limit_s=None)
    assert any(line.startswith("3 of 4 vectors") for line in read_status(live).advice)
    live.rebuild()
    assert read_status(live).advice == ()
