"""A brain older than lines is folded into `main` when the writer starts, and nothing else of it is touched."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain, Outcome
from omnislash.engine import SearchOptions
from omnislash.store.files import MemoryFiles
from omnislash.testing.disks import STOPPED, WrappedDisk
from omnislash.testing.embedders import CountingEmbedder
from omnislash.testing.power import PowerLossDisk
from omnislash.writer.migrating import foresee_migration, migrate
from tests.crash.harness import run_in_child

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.integration.conftest import SampleBrain

OLD = {
    "MEMORY.md": "## People\r\n\r\n- Ida wants whole euros.\r\n",
    "choir.md": "# Choir\n\nTen vouchers.\n",
    "2025/12/2025-12-31.md": "# 2025-12-31\n\n- 09:05 Two chains were missing.\n",
    "2026/01/2026-01-02.md": "# 2026-01-02\n\n- 11:20 The compressor runs again.\n",
    "2026/2026-W01.md": "A quiet week.\n",
}
MOVED = {f"main/{path}": text.encode() for path, text in OLD.items()}


def put_old(sample: SampleBrain, files: Mapping[str, str | bytes] = OLD) -> None:
    """Save files at the root of `memory/`, as a brain older than lines has them."""
    for path, text in files.items():
        sample.put_memory(path, text)


def start(sample: SampleBrain) -> None:
    """Start a worker and stop it again, in a process view of its own."""
    with Brain.open(sample.root, clock=sample.clock) as brain:
        brain.start_worker()


@pytest.mark.rule("MIGRATE-01", "MIGRATE-02", "MIGRATE-03")
def test_the_first_start_folds_everything_old_into_main(sample: SampleBrain) -> None:
    """MEMORY.md, loose notes and years move byte for byte; a second start changes nothing."""
    put_old(sample)

    start(sample)

    assert sample.files() == MOVED
    assert [place.name for place in (sample.root / "memory").iterdir()] == ["main"]
    stats = {path: (sample.root / "memory" / path).stat() for path in MOVED}
    start(sample)
    assert {path: (sample.root / "memory" / path).stat() for path in MOVED} == stats
    with sample.open() as brain:
        assert [(row.tool, row.actor, row.paths) for row in brain.audit().rows] == [
            ("migrate", "engine", ("main/2025", "main/2026", "main/MEMORY.md", "main/choir.md"))
        ]


@pytest.mark.rule("MIGRATE-O2")
def test_a_process_that_writes_for_a_moment_migrates_first(sample: SampleBrain) -> None:
    """Without a worker the first write finds the old MEMORY.md in its place and adds to it."""
    put_old(sample)

    verdict = sample.agent().memory.write("The tyres are due.", priority=True)

    assert verdict.outcome is Outcome.WRITTEN
    assert sample.text("main/MEMORY.md").startswith(OLD["MEMORY.md"])
    assert "The tyres are due." in sample.text("main/MEMORY.md")
    assert set(sample.files()) == {*MOVED, "main/2026/08/2026-08-30.md"}


@pytest.mark.rule("MIGRATE-06")
def test_a_process_that_only_reads_sees_an_empty_line(sample: SampleBrain) -> None:
    """Before the writer has started once, nothing is moved and nothing is found; afterwards all of it is."""
    put_old(sample)
    reader = sample.open(search=SearchOptions(embedders=()))
    memory = reader.agent("nova").memory

    assert memory.list().entries == ()
    assert memory.search("vouchers").hits == ()
    assert {path for path in sample.files() if not path.startswith(".memory-index")} == set(OLD)

    start(sample)

    assert [entry.path for entry in memory.list().entries] == sorted(MOVED)
    assert [hit.path for hit in memory.search("vouchers").hits] == ["main/choir.md"]


@pytest.mark.rule("MIGRATE-07", "MIGRATE-08", "MIGRATE-09", "EVENT-10")
def test_other_directories_stay_and_are_named(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """A directory that no role declares is a line from now on, and the warning names three ways out."""
    put_old(sample, {"MEMORY.md": "- a\n", "knowledge/tea.md": "Green.\n", "ops/MEMORY.md": "- b\n"})
    sample.put_memory("shared/MEMORY.md", "- c\n")
    sample.put_memory(".drafts/x.md", "- d\n")
    sample.role("ops", "{write: ops}")
    sample.role("reader", "{read: [shared]}")

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert set(sample.files()) == {
        "main/MEMORY.md",
        "knowledge/tea.md",
        "ops/MEMORY.md",
        "shared/MEMORY.md",
        ".drafts/x.md",
    }
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "This brain was older than lines: moved into memory/main: MEMORY.md.",
        (
            "memory/knowledge stays where it is: it is a line now, and no role declares it. Point a role at it "
            "(`memory.write: knowledge` or `memory.read: [knowledge]`), move its files into a line that is read "
            "(memory/main/…), or move the folder out of memory/, name it under memory.sources in omnislash.yaml, and then "
            "in memory.recall of the manifest or of roles."
        ),
    ]


@pytest.mark.rule("MIGRATE-08")
def test_a_brain_with_lines_is_told_nothing(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """Without anything old a line that nobody declares is no matter of the migration."""
    put_old(sample, {"main/MEMORY.md": "- a\n", "knowledge/tea.md": "Green.\n"})

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert caplog.records == []
    assert set(sample.files()) == {"main/MEMORY.md", "knowledge/tea.md"}


@pytest.mark.rule("MIGRATE-08")
def test_a_role_that_names_every_line_declares_them(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """With `read: ['*']` somebody reads the directory that stays, so nothing is wrong with it."""
    put_old(sample, {"MEMORY.md": "- a\n", "knowledge/tea.md": "Green.\n"})
    sample.role("auditor", "{write: audit, read: ['*']}")

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert [record.getMessage() for record in caplog.records] == [
        "This brain was older than lines: moved into memory/main: MEMORY.md."
    ]


@pytest.mark.rule("MIGRATE-O1", "MIGRATE-02")
def test_nothing_is_ever_overwritten(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """What finds its place taken stays at the root with its text, the rest moves, and the warning says which."""
    put_old(sample)
    sample.put_memory("main/MEMORY.md", "- written since\n")
    sample.put_memory("main/2026/01/2026-01-02.md", "# 2026-01-02\n\n- 12:00 Another day.\n")
    sample.put_memory("main/choir.md", OLD["choir.md"])

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert sample.files() == {
        "MEMORY.md": OLD["MEMORY.md"].encode(),
        "main/MEMORY.md": b"- written since\n",
        "choir.md": OLD["choir.md"].encode(),
        "main/choir.md": OLD["choir.md"].encode(),
        "2026/01/2026-01-02.md": OLD["2026/01/2026-01-02.md"].encode(),
        "main/2026/01/2026-01-02.md": b"# 2026-01-02\n\n- 12:00 Another day.\n",
        "main/2026/2026-W01.md": OLD["2026/2026-W01.md"].encode(),
        "main/2025/12/2025-12-31.md": OLD["2025/12/2025-12-31.md"].encode(),
    }
    assert [record.getMessage() for record in caplog.records] == [
        "This brain was older than lines: moved into memory/main: 2025, 2026/2026-W01.md.",
        (
            "memory/2026/01/2026-01-02.md stays where it is: memory/main/2026/01/2026-01-02.md is there already and holds "
            "something else, so bring the two together by hand."
        ),
        (
            "memory/MEMORY.md stays where it is: memory/main/MEMORY.md is there already and holds something else, so bring "
            "the two together by hand."
        ),
        (
            "memory/choir.md stays where it is: memory/main/choir.md is there already and holds the same, so this copy can "
            "be deleted."
        ),
    ]


@pytest.mark.rule("MIGRATE-02", "LINE-O2")
def test_what_is_no_memory_stays(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hidden files, other suffixes, links, directories with a note's name and names that no tool can spell stay."""
    put_old(sample, {"MEMORY.md": "- a\n", ".hidden.md": "h", "notes.txt": "t", "memory.md": "m", "aux.md": "x"})
    monkeypatch.setattr("omnislash.writer.migrating._KEPT", 6)
    sample.put("outside.md", "outside\n")
    (sample.root / "memory/link.md").symlink_to(sample.root / "outside.md")
    (sample.root / "memory/2024").symlink_to(sample.root / "features")
    (sample.root / "memory/folder.md").mkdir()
    os.mkfifo(sample.root / "memory/pipe.txt")
    os.mkfifo(sample.root / "memory/pipe.md")
    sample.put_memory("two\nlines.md", "x")

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    left = sorted(place.name for place in (sample.root / "memory").iterdir())
    assert left == sorted(
        [
            ".hidden.md",
            "2024",
            "aux.md",
            "folder.md",
            "link.md",
            "main",
            "memory.md",
            "notes.txt",
            "pipe.md",
            "pipe.txt",
            "two\nlines.md",
        ]
    )
    assert sample.text("main/MEMORY.md") == "- a\n"
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "memory/link.md stays where it is: it is a link; put the real file there." in said
    assert "memory/2024 stays where it is: it is a link" in said
    assert "memory/memory.md stays where it is: no tool could name it in a line (only the curated file itself" in said
    assert "memory/aux.md stays where it is: no tool could name it in a line ('aux.md' is the name of a device" in said
    assert "memory/pipe.md stays where it is: it is no regular file." in said
    assert "memory/two\\nlines.md stays where it is: no tool could name it" in said
    assert "two\nlines" not in said
    assert "hidden" not in said
    assert "notes.txt" not in said


@pytest.mark.parametrize("odd", ["Main", "file", "link"])
def test_a_line_that_cannot_be_made_moves_nothing(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture, odd: str, tmp_path: Path
) -> None:
    """With a twin of `main`, a file in its place or a link out of the brain, all stays and the reason is said."""
    put_old(sample)
    memory = sample.root / "memory"
    if odd == "Main":
        (memory / "Main").mkdir()
    elif odd == "file":
        (memory / "main").write_text("no directory")
    else:
        (tmp_path / "elsewhere").mkdir()
        (memory / "main").symlink_to(tmp_path / "elsewhere")
    expected = {
        "Main": "differ in letter case only",
        "file": "memory/main is no directory",
        "link": "through a symbolic link",
    }[odd]

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert {path: data for path, data in sample.files().items() if path != "main"} == {
        path: text.encode() for path, text in OLD.items()
    }
    assert not list((tmp_path / "elsewhere").iterdir()) if odd == "link" else True
    assert expected in caplog.records[0].getMessage()
    assert len(caplog.records) == 4


@pytest.mark.rule("MIGRATE-04", "MIGRATE-O3")
@pytest.mark.parametrize("read_first", [False, True])
def test_nothing_is_embedded_again(sample: SampleBrain, read_first: bool) -> None:
    """The index of the older brain stays where it is, and every moved note keeps its vector."""
    put_old(sample, {f"main/{path}": text for path, text in OLD.items()})
    first = CountingEmbedder()
    with Brain.open(
        sample.root, clock=sample.clock, search=SearchOptions(embedders=(first,), catch_up_s=None)
    ) as brain:
        assert [hit.path for hit in brain.agent("nova").memory.search("ten vouchers").hits][:1] == ["main/choir.md"]
    assert first.passage_calls
    # What an engine older than lines left: the same files and rows, without the line in their path.
    for path in ("MEMORY.md", "choir.md", "2025", "2026"):
        (sample.root / "memory/main" / path).rename(sample.root / "memory" / path)
    (sample.root / "memory/main").rmdir()
    index = sample.root / "memory/.memory-index.db"
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE files SET place = replace(place, 'memory/main/', 'memory/')")
    inode = index.stat().st_ino
    again = CountingEmbedder()
    options = SearchOptions(embedders=(again,), catch_up_s=None)
    if read_first:
        with Brain.open(sample.root, clock=sample.clock, search=options) as brain:
            assert brain.agent("nova").memory.search("ten vouchers").hits == ()

    start(sample)
    with Brain.open(sample.root, clock=sample.clock, search=options) as brain:
        hits = brain.agent("nova").memory.search("ten vouchers").hits

    assert hits[0].path == "main/choir.md"
    assert again.passage_calls == []
    assert index.stat().st_ino == inode


def test_a_disk_without_exclusive_renames_migrates_too(sample: SampleBrain) -> None:
    """With hard links in their place, files move just the same, and a link that a crash left behind is taken up."""
    put_old(sample)
    (sample.root / "memory/main").mkdir()
    os.link(sample.root / "memory/MEMORY.md", sample.root / "memory/main/MEMORY.md")

    start(sample)

    assert sample.files() == MOVED
    assert (sample.root / "memory/main/MEMORY.md").stat().st_nlink == 1


class Refusing(WrappedDisk):
    """Refuses to move one name."""

    def rename_new(self, source: Path, target: Path) -> None:
        if source.name == "choir.md":
            raise PermissionError(13, "Permission denied", str(source))
        super().rename_new(source, target)


def test_one_file_that_cannot_move_stops_nothing(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """A file that the disk won't move stays and is named; the next start tries again."""
    put_old(sample)

    with (
        caplog.at_level(logging.WARNING, logger="omnislash"),
        Brain.open(sample.root, clock=sample.clock, disk=Refusing()) as brain,
    ):
        brain.start_worker()

    assert sample.files().keys() == (MOVED.keys() - {"main/choir.md"}) | {"choir.md"}
    assert caplog.records[-1].getMessage() == "memory/choir.md stays where it is: permission denied."
    start(sample)
    assert sample.files() == MOVED


def test_many_that_stay_are_counted(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """Of many files whose place is taken five are named, and the rest is a number."""
    for number in range(8):
        put_old(sample, {f"note{number}.md": "old\n", f"main/note{number}.md": "new\n"})

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert len(caplog.records) == 6
    assert caplog.records[-1].getMessage() == "3 more stay at the root of memory/."


def test_a_process_that_writes_for_a_moment_does_not_say_again_what_stays(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture
) -> None:
    """The command under which something moved says what stays, later ones do not, and a worker says it at its start."""
    put_old(sample, {"MEMORY.md": "old\n", "choir.md": "x\n", "main/MEMORY.md": "- new\n"})

    said = []
    for text in ("One.", "Two."):
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="omnislash"), sample.open() as brain:
            assert brain.agent("nova").memory.write(text).outcome is Outcome.WRITTEN
        said.append([record.getMessage().partition(":")[0] for record in caplog.records])
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="omnislash"):
        start(sample)

    assert said == [["This brain was older than lines", "memory/MEMORY.md stays where it is"], []]
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "memory/MEMORY.md stays where it is"
    ]


def test_a_power_cut_loses_no_note(sample: SampleBrain, tmp_path: Path) -> None:
    """Before any call and at the end the power may go: every note is there, and what is done at the end is durable."""
    # A directory that moves as a whole is one name, and the disk of this test follows files only: `main` has each of them.
    put_old(sample, {**OLD, "main/2025/12/2025-12-29.md": "b\n", "main/2026/01/2026-01-01.md": "c\n"})
    template = sample.root / "memory"
    texts = {place.read_bytes() for place in template.rglob("*") if place.is_file()}

    def run(memory: Path, *, at: int | None) -> PowerLossDisk:
        disk = PowerLossDisk(memory, at=at)
        migrate(MemoryFiles(memory, disk=disk), named=frozenset)
        return disk

    quiet = shutil.copytree(template, tmp_path / "quiet")
    disk = run(quiet, at=None)
    end = sorted(quiet.rglob("*"))
    disk.cut_power()
    assert sorted(quiet.rglob("*")) == end
    for at in range(1, len(disk.calls) + 1):
        memory = shutil.copytree(template, tmp_path / f"cut-{at}")
        assert run_in_child(lambda: run(memory, at=at)) == STOPPED  # noqa: B023 - run at once
        assert {place.read_bytes() for place in memory.rglob("*") if place.is_file()} == texts, at


def test_new_names_are_durable_before_old_ones_go(tmp_path: Path) -> None:
    """Each directory that got a name is synced before any that lost one, and both are."""
    for path in ("memory/a.md", "memory/2025/12/x.md", "memory/2026/y.md", "memory/main/2025/12/z.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)

    class Noting(WrappedDisk):
        """Notes which directories are synced."""

        def sync_directory(self, path: Path) -> None:
            synced.append(str(path.relative_to(tmp_path)))
            super().sync_directory(path)

    synced: list[str] = []
    migrate(MemoryFiles(tmp_path / "memory", disk=Noting()), named=frozenset)

    assert synced == ["memory/main", "memory/main/2025/12", "memory"]  # memory/2025 and below are gone


def test_a_year_that_is_deeper_than_python_can_call(tmp_path: Path) -> None:
    """Where both years have the same directories, however deep, what is in the old one moves."""
    below = "/".join(["a"] * 520)  # a recursion would take two calls for each
    (tmp_path / "memory/2025" / below).mkdir(parents=True)
    (tmp_path / "memory/main/2025" / below).mkdir(parents=True)
    (tmp_path / "memory/2025" / below / "x.md").write_text("x")

    done = migrate(MemoryFiles(tmp_path / "memory"), named=frozenset)

    assert done.moved == [f"main/2025/{below}/x.md"]
    assert not (tmp_path / "memory/2025").exists()
    assert (tmp_path / "memory/main/2025" / below / "x.md").read_text() == "x"


def test_a_directory_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in a part of a year that can't be entered stays, and is not passed over in silence."""
    for path in ("memory/2025/12/x.md", "memory/main/2025/12/z.md"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(path)
    scandir = os.scandir

    def refuse(place: Path) -> object:
        if place == tmp_path / "memory/2025/12":
            raise PermissionError(13, "Permission denied", str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refuse)

    assert migrate(MemoryFiles(tmp_path / "memory"), named=frozenset).kept == {"2025/12": "permission denied"}


@pytest.mark.rule("MIGRATE-02", "MIGRATE-O1")
def test_what_is_foreseen_is_what_happens(sample: SampleBrain, tmp_path: Path) -> None:
    """Of every kind of entry the foresight names the same as the migration then does, and touches nothing."""
    put_old(sample, {**OLD, "aux.md": "x", "both.md": "1", "main/both.md": "2", "main/2025/x.md": "3", "taken.md": "4"})
    (sample.root / "memory/link.md").symlink_to("choir.md")
    os.mkfifo(sample.root / "memory/pipe.md")
    files = MemoryFiles(sample.root / "memory")
    before = sorted(sample.root.rglob("*"))

    foreseen = foresee_migration(files, taken=["main/taken.md", "main/2026/01/2026-01-09.md"])

    assert sorted(sample.root.rglob("*")) == before
    put_old(sample, {"main/taken.md": "5", "main/2026/01/2026-01-09.md": "6"})
    done = migrate(files, named=frozenset)
    assert (foreseen.moved, foreseen.kept) == (done.moved, done.kept)
    assert set(done.kept) == {"aux.md", "both.md", "taken.md", "link.md", "pipe.md"}
    assert foresee_migration(MemoryFiles(tmp_path / "nothing")).moved == []


@pytest.mark.rule("BOUNDARY-08")
def test_a_replay_migrates_nothing(sample: SampleBrain) -> None:
    """A replay writes nothing, so it moves nothing either."""
    put_old(sample)

    verdict = sample.agent(replay=True).memory.write("not this")

    assert verdict.outcome is not Outcome.WRITTEN
    assert set(sample.files()) == set(OLD)
