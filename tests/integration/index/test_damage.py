"""Whatever happens to the index file: no exception, a right answer or a plain reason, and markdown stays as it is."""

from __future__ import annotations

import contextlib
import os
import random  # noqa: TID251 - seeded
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash.index import database as database_module
from omnislash.index.database import Database, IndexDamagedError, set_aside
from omnislash.testing.embedders import CountingEmbedder
from tests.integration.index.conftest import IndexBrain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = 4096
NOTES = 40


@pytest.fixture
def built(index_brain: IndexBrain) -> IndexBrain:
    """A brain with forty indexed notes, and no process that has it open."""
    for number in range(NOTES):
        index_brain.write(f"memory/ops/n{number:02}.md", f"# Note {number}\n\nword{number} at the quay of harbour\n")
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    live.close()
    return index_brain


def put_index(brain: IndexBrain, data: bytes) -> None:
    """Leave these bytes as the only file of the index."""
    for path in brain.index_path.parent.glob(".memory-index.db*"):
        path.unlink()
    brain.index_path.write_bytes(data)


def check_answers(brain: IndexBrain) -> CountingEmbedder:
    """Open the index as a fresh process, hold the right answers against it; return the embedder with its counts."""
    before = brain.markdown()
    embedder = CountingEmbedder()
    live = brain.open(embedder)
    freshness = live.refresh(limit_s=None)
    assert (freshness.failure, freshness.embedder_failure, freshness.behind) == (None, None, ())
    assert brain.find_words(live, "word7 quay", freshness=freshness) == ["memory/ops/n07.md"]
    assert len(brain.find_words(live, "harbour")) == NOTES
    assert len(brain.find_meaning(live, embedder, "quay")) == NOTES
    live.close()
    assert brain.markdown() == before
    return embedder


@pytest.mark.rule("RECALL-11")
def test_every_page_overwritten_in_turn(built: IndexBrain) -> None:
    """O-10 at every page: the answer is right at once, and no text is embedded whose vector can still be read."""
    good = built.index_path.read_bytes()
    assert len(good) >= 15 * PAGE
    embedded = []
    for offset in range(0, len(good), PAGE):
        put_index(built, good[:offset] + b"\xff" * PAGE + good[offset + PAGE :])
        embedded.append(sum(map(len, check_answers(built).passage_calls)))
    assert embedded.count(NOTES) <= len(embedded) / 2
    assert embedded.count(0) >= len(embedded) / 3


def test_random_bytes_in_random_places(built: IndexBrain) -> None:
    """Damage that SQLite does not notice by itself raises nothing that a user would see as a stack trace."""
    good, chance = built.index_path.read_bytes(), random.Random(4711)
    for _ in range(25):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 40)):
            place = chance.randrange(100, len(data))
            data[place] = chance.randrange(256)
        put_index(built, bytes(data))
        live = built.open(CountingEmbedder())
        freshness = live.refresh(limit_s=None)
        built.find_words(live, "word7 quay", freshness=freshness)
        live.close()


def cut_short(data: bytes) -> bytes:
    """Return the first half, ending within a page."""
    return data[: len(data) // 2 + 100]


def cut_at_a_page(data: bytes) -> bytes:
    """Return the first pages."""
    return data[: 5 * PAGE]


def empty(_: bytes) -> bytes:
    """Return nothing."""
    return b""


def garbage(data: bytes) -> bytes:
    """Return as many bytes that mean nothing."""
    return random.Random(1).randbytes(len(data))


def text(_: bytes) -> bytes:
    """Return a text."""
    return b"# Not a database\n" * 1000


def header_only(data: bytes) -> bytes:
    """Return what says that it is a database, and no more."""
    return data[:100]


@pytest.mark.parametrize("damage", [cut_short, cut_at_a_page, empty, garbage, text, header_only])
def test_another_file_in_the_place(built: IndexBrain, damage: Callable[[bytes], bytes]) -> None:
    """A file that was cut, emptied or replaced by something else is set aside and made anew."""
    put_index(built, damage(built.index_path.read_bytes()))
    check_answers(built)
    assert check_answers(built).passage_calls == []


def test_no_file_at_all(built: IndexBrain) -> None:
    """A deleted index is made anew."""
    built.index_path.unlink()
    check_answers(built)


@pytest.mark.parametrize("garbage_in", ["-wal", "-shm", "-journal"])
def test_garbage_beside_the_file(built: IndexBrain, garbage_in: str) -> None:
    """A log that belongs to nothing changes no answer."""
    Path(f"{built.index_path}{garbage_in}").write_bytes(b"\xff" * 5000)
    check_answers(built)


def test_another_version_of_the_tables(built: IndexBrain) -> None:
    """An index of another version is made anew with its vectors, and none of them is asked for again."""
    with contextlib.closing(sqlite3.connect(built.index_path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    with pytest.raises(IndexDamagedError, match=r"made by another version \(schema 99\)"):
        Database(built.index_path)
    assert check_answers(built).passage_calls == []


def test_another_database_in_the_place(built: IndexBrain) -> None:
    """A sound database that is no index is set aside, not written into."""
    built.index_path.unlink()
    with contextlib.closing(sqlite3.connect(built.index_path)) as connection:
        connection.execute("CREATE TABLE meta (other TEXT)")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    check_answers(built)
    with contextlib.closing(sqlite3.connect(f"{built.index_path}.damaged")) as connection:
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (0,)


@pytest.mark.parametrize("kept", ["meta", "files", "removals", "models", "segments", "embeddings"])
def test_a_missing_table(built: IndexBrain, kept: str) -> None:
    """An index that lacks a table is made anew."""
    with contextlib.closing(sqlite3.connect(built.index_path)) as connection:
        connection.execute(f"DROP TABLE {kept}")
        connection.commit()
    check_answers(built)


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM meta WHERE key = 'counter'",
        "UPDATE meta SET value = 'many' WHERE key = 'counter'",
        "UPDATE meta SET value = 'none' WHERE key = 'removalsSince'",
        "DELETE FROM meta",
        "DELETE FROM embeddings",
        "DELETE FROM segments",
        "DELETE FROM models",
        "UPDATE models SET dimension = 0",
        "UPDATE models SET dimension = 3",
        "UPDATE files SET words = x'00'",
        "UPDATE files SET notes = 'text'",
        "UPDATE files SET place = CAST(x'ff' AS TEXT) WHERE id = 3",
    ],
)
def test_rows_that_are_lost_or_wrong(built: IndexBrain, loss: str) -> None:
    """A sound database whose rows don't fit together gives no wrong answer, and above all no empty one."""
    with contextlib.closing(sqlite3.connect(built.index_path)) as connection:
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('removalsSince', '0')")
        connection.execute(loss)
        connection.commit()
    check_answers(built)


def test_a_file_that_stands_there_twice(built: IndexBrain) -> None:
    """When the list of names is broken, a file would be indexed beside itself: the index is made anew instead."""
    with contextlib.closing(sqlite3.connect(built.index_path)) as connection:
        connection.executescript(
            "CREATE TABLE copy AS SELECT * FROM files; DROP TABLE files; ALTER TABLE copy RENAME TO files;"
            "UPDATE meta SET value = '9999' WHERE key = 'counter';"
            "INSERT INTO files SELECT 9999, place, kind, size, modified_ns, changed_ns, inode, hash, problems, pending,"
            " notes, words, checksum FROM files WHERE place = 'memory/ops/n07.md';"
        )
        connection.commit()
    check_answers(built)


def test_damage_while_it_is_open(built: IndexBrain) -> None:
    """The file is overwritten under a process that has it in memory: what it answers stays right, and so do later changes."""
    live = built.open(CountingEmbedder())
    live.refresh(limit_s=None)
    size = built.index_path.stat().st_size
    with built.index_path.open("r+b") as file:
        file.seek(PAGE)
        file.write(b"\xff" * (size - PAGE))
    built.write("memory/ops/n07.md", "# Note\n\nword7 at another quay of harbour\n")
    built.write("memory/ops/more.md", "# Note\n\nlamp\n")
    assert built.find_words(live, "word7 quay") == ["memory/ops/n07.md"]
    assert built.find_words(live, "lamp") == ["memory/ops/more.md"]
    assert built.find_words(live, "word8 quay") == ["memory/ops/n08.md"]


def test_the_file_is_deleted_or_replaced_while_it_is_open(built: IndexBrain) -> None:
    """A process notices that its file is not the one in the directory any more, and goes on with that one."""
    live = built.open(CountingEmbedder())
    live.refresh(limit_s=None)
    good = built.index_path.read_bytes()
    for path in built.index_path.parent.glob(".memory-index.db*"):
        path.unlink()
    assert built.find_words(live, "word7 quay") == ["memory/ops/n07.md"]
    other = built.root.parent / "other.db"
    other.write_bytes(good)
    for path in built.index_path.parent.glob(".memory-index.db*"):
        path.unlink()
    other.replace(built.index_path)
    built.write("memory/ops/more.md", "# Note\n\nlamp\n")
    assert built.find_words(live, "lamp") == ["memory/ops/more.md"]
    assert built.find_words(built.open(CountingEmbedder()), "lamp") == ["memory/ops/more.md"]


def test_a_name_that_means_something_in_an_address(tmp_path: Path) -> None:
    """Vectors move over from a damaged index in a directory with `?`, `#`, `%` and a space in its name."""
    brain = IndexBrain(tmp_path / "a? b#c%20d")
    for number in range(NOTES):
        brain.write(f"memory/ops/n{number:02}.md", f"# Note {number}\n\nword{number} at the quay of harbour\n")
    live = brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    live.close()
    with contextlib.closing(sqlite3.connect(brain.index_path)) as connection:
        connection.execute("DROP TABLE files")
        connection.commit()
    assert check_answers(brain).passage_calls == []


def test_only_the_damaged_file_is_set_aside(built: IndexBrain) -> None:
    """Of two processes that find the damage, the second does not throw away what the first has made in its place."""
    inode = built.index_path.stat().st_ino
    keeper = built.index_path.open("rb")  # so that the new file gets another inode
    set_aside(built.index_path, inode=inode)
    check_answers(built)
    sound = built.index_path.read_bytes()
    set_aside(built.index_path, inode=inode)
    assert built.index_path.read_bytes() == sound
    keeper.close()


def test_the_log_of_an_earlier_damage_does_not_stay(built: IndexBrain) -> None:
    """Beside a file that was set aside lies its own log or none."""
    stale = Path(f"{built.index_path}.damaged-wal")
    stale.write_bytes(b"of another file")
    set_aside(built.index_path)
    assert not stale.exists()
    assert Path(f"{built.index_path}.damaged").exists()


# -- where the index can't be written ----------------------------------------------------------------------------------


def test_a_directory_in_the_place(built: IndexBrain) -> None:
    """The index lives in memory, says why, and everything is found; the directory stays."""
    built.index_path.unlink()
    (built.index_path / "inner").mkdir(parents=True)
    live = built.open(CountingEmbedder())
    assert built.find_words(live, "word7 quay") == ["memory/ops/n07.md"]
    assert live.trouble is not None
    assert "memory/.memory-index.db" in live.trouble
    assert (built.index_path / "inner").is_dir()


def test_an_index_in_memory_is_kept_when_that_is_possible_again(
    built: IndexBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When what was in the way is gone, the next try keeps the index on disk."""
    built.index_path.unlink()
    built.index_path.mkdir()
    live = built.open(CountingEmbedder())
    assert len(built.find_words(live, "harbour")) == NOTES
    built.index_path.rmdir()
    assert len(built.find_words(live, "harbour")) == NOTES
    assert not built.index_path.exists()
    monkeypatch.setattr(live._file, "_try_again_at", 0.0)
    assert len(built.find_words(live, "harbour")) == NOTES
    assert live.trouble is None
    assert built.index_path.is_file()


def test_a_full_disk(built: IndexBrain) -> None:
    """What was indexed is still found, and the reason why the rest is not stands in the freshness."""
    live = built.open(CountingEmbedder())
    live.refresh(limit_s=None)
    connection = live.open_database()._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    before = built.markdown()
    for number in range(64):
        built.write(f"memory/ops/more{number}.md", "".join(f"# N {each}\n\nlamp{each}\n\n" for each in range(40)))
    freshness = live.refresh(limit_s=None)
    assert freshness.failure is not None
    assert "full" in freshness.failure
    assert built.find_words(live, "word7 quay", freshness=freshness) == ["memory/ops/n07.md"]
    connection.execute("PRAGMA max_page_count = 1000000")
    assert live.refresh(limit_s=None).failure is None
    assert len(built.find_words(live, "lamp3")) == 64
    assert before.items() <= built.markdown().items()


def test_a_disk_that_is_full_from_the_start(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even empty tables fit, the index lives in memory."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    real = database_module._make_tables

    def refuse(connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA database_list").fetchone()[2]:
            connection.execute("PRAGMA max_page_count = 1")
        real(connection)

    monkeypatch.setattr(database_module, "_make_tables", refuse)
    live = index_brain.open(CountingEmbedder())
    assert index_brain.find_words(live, "quay") == ["memory/ops/a.md"]
    assert live.trouble is not None
    assert "full" in live.trouble


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Be somebody whom permissions bind."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_directory_that_is_read_only() -> None:
    """Everything is found without writing a byte, and the vectors of the index on disk are used, not made again."""
    root = Path(tempfile.mkdtemp(prefix="omnislash-test-"))
    root.chmod(0o755)
    brain = IndexBrain(root / "brain")
    try:
        for number in range(NOTES):
            brain.write(f"memory/ops/n{number:02}.md", f"# Note {number}\n\nword{number} at the quay of harbour\n")
        live = brain.open(CountingEmbedder())
        live.refresh(limit_s=None)
        live.close()
        for path in [root / "brain/memory", brain.index_path]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = sorted(path.name for path in brain.index_path.parent.iterdir())
        with nobody():
            embedder = check_answers(brain)
            fresh = brain.open(embedder)
            fresh.refresh(limit_s=None)
            assert fresh.trouble is not None
            fresh.close()
        assert embedder.passage_calls == []
        assert sorted(path.name for path in brain.index_path.parent.iterdir()) == before
    finally:
        (root / "brain/memory").chmod(0o755)
        shutil.rmtree(root)


def test_memory_is_missing(index_brain: IndexBrain) -> None:
    """In a brain that has sources only the index has its place all the same, and the first memory is found too."""
    (index_brain.root / "memory").rmdir()
    index_brain.write("lore/a.md", "# A\n\nquay\n")
    embedder = CountingEmbedder()
    live = index_brain.open(embedder, sources=("lore",))
    assert index_brain.find_words(live, "quay") == ["lore/a.md"]
    assert (live.trouble, index_brain.index_path.is_file()) == (None, True)
    index_brain.write("memory/ops/b.md", "# B\n\nquay\n")
    other = index_brain.open(embedder, sources=("lore",))
    assert index_brain.find_words(other, "quay") == ["lore/a.md", "memory/ops/b.md"]
    assert embedder.texts == 2


def test_memory_can_not_be_made(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the place of `memory/`: the sources are searched from an index in memory, until the file is gone."""
    memory = index_brain.root / "memory"
    memory.rmdir()
    memory.write_text("in the way")
    index_brain.write("lore/a.md", "# A\n\nquay\n")
    live = index_brain.open(CountingEmbedder(), sources=("lore",))
    assert index_brain.find_words(live, "quay") == ["lore/a.md"]
    assert live.trouble is not None
    memory.unlink()
    index_brain.write("memory/ops/b.md", "# B\n\nquay\n")
    monkeypatch.setattr(live._file, "_try_again_at", 0.0)
    assert index_brain.find_words(live, "quay") == ["lore/a.md", "memory/ops/b.md"]
    assert live.trouble is None
    assert index_brain.index_path.is_file()
