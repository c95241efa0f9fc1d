"""The state database: all or nothing, durable, up to date, and clear about what is wrong with it."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from omnislash import WriterUnavailableError
from omnislash.store.disk import Disk
from omnislash.store.state import SCHEMA_VERSION, State, load_queries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENT = {"at": "2026-08-30T09:05:00+00:00", "name": "memory:written", "payload": "{}", "heartbeat": None}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    """Return a new state database."""
    opened = State(tmp_path / "state.db")
    yield opened
    opened.close()


def count_events(state: State) -> int:
    """Return how many events there are."""
    return len(state.rows("list_events", after=0, limit=1000))


def test_transaction_is_kept_when_the_block_ends(state: State, tmp_path: Path) -> None:
    """What was done in a block is there for everybody once the block is left."""
    with state.transaction():
        state.run("insert_event", **EVENT)
        state.run("insert_event", **EVENT)

    other = State(tmp_path / "state.db")
    assert count_events(other) == 2
    other.close()


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError("no")])
def test_transaction_is_undone_when_the_block_raises(state: State, error: BaseException) -> None:
    """Nothing of a block that raises is kept, and the next one works."""

    def fail() -> None:
        with state.transaction():
            state.run("insert_event", **EVENT)
            raise error

    with pytest.raises((type(error), WriterUnavailableError)):
        fail()
    assert count_events(state) == 0
    with state.transaction():
        state.run("insert_event", **EVENT)
    assert count_events(state) == 1


class FullDisk(Disk):
    """Has no room for a commit."""

    def commit(self, connection: sqlite3.Connection) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_failed_commit_keeps_nothing(tmp_path: Path) -> None:
    """A commit that the disk refuses raises one sentence with the cause, and nothing is kept."""
    state = State(tmp_path / "state.db", disk=FullDisk())

    with pytest.raises(WriterUnavailableError, match="No space left"), state.transaction():
        state.run("insert_event", **EVENT)

    assert count_events(state) == 0
    state.close()


@pytest.mark.rule("WRITE-O3")
def test_commit_reaches_the_disk(state: State) -> None:
    """Commits are synced before they return, and what is deleted is overwritten."""
    pragmas = {
        name: state._connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("synchronous", "journal_mode", "secure_delete")
    }

    assert pragmas == {"synchronous": 2, "journal_mode": "wal", "secure_delete": 1}


def test_other_commits_are_noticed(state: State, tmp_path: Path) -> None:
    """The data version changes with another connection's commit, and with nothing else."""
    other = State(tmp_path / "state.db")
    before = state.data_version()
    assert state.data_version() == before

    with other.transaction():
        other.run("insert_event", **EVENT)

    assert state.data_version() != before
    other.close()


def test_threads_share_a_connection(state: State) -> None:
    """Transactions of eight threads do not mix."""

    def add(_number: int) -> None:
        with state.transaction():
            before = count_events(state)
            state.run("insert_event", **EVENT)
            assert count_events(state) == before + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(80)))
    assert count_events(state) == 80


def test_two_processes_make_the_database_once(tmp_path: Path) -> None:
    """Openers that start together end up with one database of the newest version."""
    gate = threading.Barrier(6)

    def start(_number: int) -> int:
        gate.wait()
        opened = State(tmp_path / "state.db")
        version: int = opened._connection.execute("PRAGMA user_version").fetchone()[0]
        opened.close()
        return version

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(start, range(6))) == {SCHEMA_VERSION}


@pytest.mark.parametrize("name", sorted(load_queries()))
def test_every_query_is_sound(state: State, name: str) -> None:
    """Each named query names tables and columns that exist."""
    query = load_queries()[name]
    parameters = dict.fromkeys((word.strip(":(),;") for word in query.split() if ":" in word), None)

    state._connection.execute(f"EXPLAIN {query}", {key.split(":")[-1]: value for key, value in parameters.items()})


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        pytest.param(b"no database at all, but long enough to look like one " * 40, "not a database", id="other file"),
        pytest.param(b"SQLite format 3\x00" + b"\xff" * 4000, "", id="damaged header"),
    ],
)
def test_damaged_file_gives_one_sentence(tmp_path: Path, data: bytes, cause: str) -> None:
    """A damaged file raises an error that names it, the cause, and what is and is not lost by moving it away."""
    place = tmp_path / "state.db"
    place.write_bytes(data)

    with pytest.raises(WriterUnavailableError) as caught:
        State(place)

    message = str(caught.value)
    assert message.startswith("The state database .omnislash/state.db can't be used")
    assert cause in message
    assert "confirmed memory is not" in message
    assert "\n" not in message
    assert place.read_bytes() == data


def test_a_table_that_was_dropped_gives_one_sentence(tmp_path: Path) -> None:
    """A sound file from which somebody took a table is to be moved away; the disk and its permissions are not at fault."""
    with contextlib.closing(State(tmp_path / "state.db")) as state:
        with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as other:
            other.execute("DROP TABLE approvals")
            other.commit()
        with pytest.raises(WriterUnavailableError, match=r"no such table: approvals\. .* move it away"):
            state.rows("list_approvals", state=None)


def test_directory_in_its_place(tmp_path: Path) -> None:
    """A directory where the database should be raises the same kind of sentence."""
    (tmp_path / "state.db").mkdir()

    with pytest.raises(WriterUnavailableError, match=r"state\.db can't be used"):
        State(tmp_path / "state.db")


def test_damage_while_open_gives_one_sentence(tmp_path: Path) -> None:
    """A database that is damaged while it is open raises the same sentence from reads and from transactions."""
    place = tmp_path / "state.db"
    first = State(place)
    with first.transaction():
        for _ in range(200):
            first.run("insert_event", **{**EVENT, "payload": "x" * 500})
    first.close()
    data = bytearray(place.read_bytes())
    data[4096:] = b"\xa5" * len(data[4096:])
    place.write_bytes(data)

    def read() -> None:
        broken = State(place)
        try:
            count_events(broken)
        finally:
            broken.close()

    def write() -> None:
        broken = State(place)
        try:
            with broken.transaction():
                broken.run("insert_event", **EVENT)
        finally:
            broken.close()

    for use in (read, write):
        with pytest.raises(WriterUnavailableError, match="can't be used"):
            use()


def test_a_database_that_somebody_holds_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes while another process stands in the middle of a change is told that, and not to look at the disk."""
    monkeypatch.setattr("omnislash.store.state._BUSY_MS", 50)
    holder, other = State(tmp_path / "state.db"), State(tmp_path / "state.db")

    with holder.transaction(), pytest.raises(WriterUnavailableError) as caught, other.transaction():
        pass  # it can't begin

    assert "Another process was stopped in the middle of a change" in caught.value.message
    with other.transaction():
        assert other.rows("queued_jobs", limit=1) == []
    holder.close()
    other.close()
