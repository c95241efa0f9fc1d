"""Failure cases: the index is damaged, stale, made by another model, or remembers what was forgotten."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from omnislash import Outcome
from tests.cases.conftest import INDEX

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain
    from tests.cases.embedding_server import EmbeddingServer

PAGE = 4096
ENTRIES = "".join(f"- entry{number:03} stands in the log\n" for number in range(200))


@pytest.mark.rule("RECALL-11", "LINE-06")
def test_o_10_a_damaged_index(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """CHECK names the damage; ASK answers rightly after rebuilding by itself, embeds nothing again, and CHECK is content."""
    brain = make_brain(embedder=embedder, files={"memory/ops/MEMORY.md": ENTRIES})
    assert brain.index().code == 0
    embedded = len(embedder.texts)
    for path in brain.place("").glob(f"{INDEX}*"):
        data = bytearray(path.read_bytes())
        if len(data) > 2 * PAGE:
            data[PAGE : 2 * PAGE] = b"\xff" * PAGE
            path.write_bytes(data)
    checked = brain.check()
    assert checked.code == 1
    assert any("damaged" in finding or "***" in finding for finding in checked.answer["findings"])
    assert any("omnislash index rebuild" in finding for finding in checked.answer["findings"])
    begun = time.monotonic()
    hits = brain.find("entry123")
    assert time.monotonic() - begun < 60
    assert hits[0]["path"] == "ops/MEMORY.md"
    assert "entry123" in hits[0]["snippet"]
    assert brain.check().answer == {"sound": True, "findings": []}
    assert len(embedder.texts) == embedded + 1


def test_o_10_the_command_that_check_names(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """`omnislash index rebuild` repairs a file that is damaged from its second page to its end."""
    brain = make_brain(embedder=embedder, files={"memory/ops/MEMORY.md": ENTRIES})
    brain.index()
    index = brain.place(INDEX)
    index.write_bytes(index.read_bytes()[:PAGE] + b"\xff" * (index.stat().st_size - PAGE))
    assert brain.check().code == 1
    assert brain.command("index", "rebuild").code == 0
    assert brain.check().code == 0
    assert brain.find_paths("entry123") == ["ops/MEMORY.md"]


@pytest.mark.rule("SOURCE-16")
@pytest.mark.parametrize("apart", [True, False])
def test_o_11_a_new_note_inherits_nothing(make_brain: MakeBrain, embedder: EmbeddingServer, apart: bool) -> None:
    """Words of a file that is gone, or of its old content, are found nowhere, be it one sync or two."""
    brain = make_brain(embedder=embedder, sources=("notes",), files={"notes/s1.md": "quillwort lantern\n"})
    brain.index()
    session = brain.session()
    assert session.find("quillwort") == ["notes/s1.md"]
    brain.remove("notes/s1.md")
    if apart:
        brain.index()
    brain.by_hand("notes/s2.md", "plain trestle\n")
    brain.index()
    assert session.find("quillwort") == []
    assert session.find("trestle") == ["notes/s2.md"]
    brain.by_hand("notes/s2.md", "plain gantry\n")
    brain.index()
    assert session.find("trestle") == []
    assert session.find("gantry") == ["notes/s2.md"]


@pytest.mark.rule("RECALL-11")
def test_o_12_no_ghost_of_a_deleted_file(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Neither a file that was removed nor a word that was replaced while nothing ran is given as current."""
    files = {"notes/g.md": "the wraith7141 walks\n", "notes/h.md": "the spectre walks\n"}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    brain.index()
    session = brain.session()
    assert session.find("wraith7141")[0] == "notes/g.md"
    brain.by_hand("notes/g.md", "the fresh7142 walks\n")
    assert all("wraith7141" not in hit["snippet"] for hit in brain.find("wraith7141"))
    assert session.find("fresh7142")[0] == "notes/g.md"
    brain.remove("notes/g.md")
    assert "notes/g.md" not in session.find("fresh7142")
    assert brain.command("memory", "read", "--role", "ops", "notes/g.md").code != 0


@pytest.mark.rule("LANG-10")
def test_o_13_indexing_a_part(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """After a sync that had to take up one file only, the other is still found, and a full rebuild embeds nothing."""
    files = {"notes/a.md": "amber lamp\n", "notes/b.md": "birch ladder\n"}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    brain.index()
    brain.by_hand("notes/a.md", "amber lantern\n")
    brain.index()
    embedded = len(embedder.texts)
    assert embedded == 3
    assert brain.command("index", "rebuild").code == 0
    assert brain.index().code == 0
    assert len(embedder.texts) == embedded
    assert brain.find_paths("birch") == ["notes/b.md"]
    assert brain.find_paths("lantern") == ["notes/a.md"]


@pytest.mark.rule("RECALL-11")
def test_o_14_status_says_what_the_disk_says(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Five logs that a person wrote are five files that are not indexed; after a sync there are none."""
    brain = make_brain(embedder=embedder)
    brain.index()
    days = [f"ops/2026/11/2026-11-{day}.md" for day in range(23, 28)]
    for day in days:
        brain.remember("- 09:00 opened the shop\n", day)
    status = brain.status()
    assert status["coverage"] == "incomplete"
    assert status["drift"]["added"] == [f"memory/{day}" for day in days]
    assert len([each for each in brain.check().answer["findings"] if "not indexed" in each]) == 5
    assert brain.index().code == 0
    status = brain.status()
    assert status["coverage"] == "full"
    assert status["drift"] == {"added": [], "changed": [], "removed": [], "pending": 0}
    assert brain.check().code == 0


@pytest.mark.rule("RECALL-11", "RECALL-O3")
def test_o_47_another_embedding_model(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """When the endpoint answers in 16 numbers instead of 8, words are found and the search says so; then all is made anew."""
    embedder.dimension = 8
    brain = make_brain(embedder=embedder, files={"memory/ops/MEMORY.md": ENTRIES})
    brain.index()
    embedder.dimension = 16
    done = brain.command("memory", "search", "--role", "ops", "entry123")
    assert done.answer["hits"][0]["path"] == "ops/MEMORY.md"
    assert "entry123" in done.answer["hits"][0]["snippet"]
    assert done.answer["coverage"] == "incomplete"
    assert done.answer["reasons"]
    hits = brain.find("entry124")
    assert "entry124" in hits[0]["snippet"]
    assert hits[0]["meaning"] is not None
    assert brain.check().code == 0
    with contextlib.closing(sqlite3.connect(brain.place(INDEX))) as connection:
        sizes = {
            size / length
            for length, size in connection.execute("SELECT length, length(vectors) FROM segments").fetchall()
        }
    assert sizes == {16 * 4.0}


@pytest.mark.rule("SOURCE-16", "SOURCE-17")
def test_o_48_almost_the_same_file_name_is_found_apart(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Four names that differ in one sign are four hits with four paths, and each path opens and holds the word."""
    words = dict(
        zip(
            ("notes/tide_notes.md", "notes/tide-notes.md", "notes/tide notes.md", "notes/Tide.Notes.md"),
            ("alder", "birch", "cedar", "dogwood"),
            strict=True,
        )
    )
    brain = make_brain(
        embedder=embedder, sources=("notes",), files={path: f"the {word}\n" for path, word in words.items()}
    )
    brain.index()
    session = brain.session()
    for path, word in words.items():
        assert session.find(word)[0] == path
        assert word in session.call("memory_read", path=path)["content"]


@pytest.mark.rule("SOURCE-O6")
def test_o_49_names_that_differ_in_case_only_are_two_documents(
    make_brain: MakeBrain, embedder: EmbeddingServer
) -> None:
    """`Plan.md` and `plan.md` are found each by its own word."""
    files = {"notes/Plan.md": "the upper one\n", "notes/plan.md": "the lower one\n"}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    brain.index()
    assert brain.find_paths("upper")[0] == "notes/Plan.md"
    assert brain.find_paths("lower")[0] == "notes/plan.md"


@pytest.mark.rule("RECALL-11")
def test_o_66_forgotten_while_it_was_still_being_stored(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """A fact that is dropped while its vector is being made is found at no step, and stands nowhere but in git and the queue."""
    brain = make_brain(embedder=embedder, files={"memory/ops/MEMORY.md": "- the quay is wet\n"})
    watch = brain.watch()
    watch.settle()
    embedder.delay_s = 1.5
    assert brain.core("forget-me 5521").outcome is Outcome.WRITTEN
    assert brain.drop("forget-me 5521").outcome is Outcome.WRITTEN
    assert is_gone(brain)
    brain.drop("forget-me 5521", path=brain.day)
    assert is_gone(brain)
    watch.settle()
    embedder.delay_s = 0
    brain.index()
    assert is_gone(brain)
    assert b"5521" not in b"".join(path.read_bytes() for path in brain.place("").glob(f"{INDEX}*"))


def is_gone(brain: CaseBrain) -> bool:
    """Tell whether no durable entry holds the fact, for a search in the durable memory."""
    hits = [hit for hit in brain.find("5521") if hit["path"] == brain.memory]
    return all("5521" not in hit["snippet"] for hit in hits)
