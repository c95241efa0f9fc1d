"""The state database: the schema is the sum of its migrations, and every older one can be brought up to date."""

from __future__ import annotations

import re
import sqlite3
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from omnislash import WriterUnavailableError
from omnislash.store.state import SCHEMA_VERSION, State, load_migrations

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = resources.files("omnislash.store").joinpath("migrations")


def describe(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the tables and indexes with their text, comments and white space aside."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return {name: " ".join(re.sub(r"--[^\n]*", "", sql).split()) for name, sql in rows}


def build(path: Path, *, version: int) -> sqlite3.Connection:
    """Return a database as an omnislash of that version made it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for number, sql in load_migrations():
        if number <= version:
            connection.executescript(sql)
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


def test_schema_is_the_sum_of_the_migrations(tmp_path: Path) -> None:
    """A database from `schema.sql` and one from all migrations have the same tables and indexes."""
    whole = sqlite3.connect(":memory:")
    whole.executescript(resources.files("omnislash.store").joinpath("schema.sql").read_text(encoding="utf-8"))
    grown = build(tmp_path / "state.db", version=SCHEMA_VERSION)

    assert describe(whole) == describe(grown)
    assert len(describe(whole)) > 7
    whole.close()
    grown.close()


def test_version_is_the_newest_migration() -> None:
    """The migrations are numbered from 1 without a gap, each with a description, and the last is the version."""
    numbers = [number for number, _ in load_migrations()]
    names = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".sql"))

    assert numbers == list(range(1, SCHEMA_VERSION + 1))
    assert all(re.fullmatch(r"[0-9]{4}_[a-z][a-z_]+\.sql", name) for name in names)


def test_new_database_has_the_newest_schema(tmp_path: Path) -> None:
    """A database that is made today is that of the schema, with its version."""
    State(tmp_path / "new.db").close()
    made, grown = sqlite3.connect(tmp_path / "new.db"), build(tmp_path / "grown.db", version=SCHEMA_VERSION)

    assert describe(made) == describe(grown)
    assert made.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    made.close()
    grown.close()


@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
def test_older_database_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    """Opening a database of any older version leaves it at the newest, with its rows, and opening again changes nothing."""
    old = build(tmp_path / "state.db", version=version)
    if version:
        old.execute("INSERT INTO events (at, name, payload) VALUES ('2026-08-30', 'memory:written', '{}')")
    old.close()

    for _ in range(2):
        state = State(tmp_path / "state.db")
        assert len(state.rows("list_events", after=0, limit=9)) == bool(version)
        state.close()

    new, grown = sqlite3.connect(tmp_path / "state.db"), build(tmp_path / "grown.db", version=SCHEMA_VERSION)
    assert describe(new) == describe(grown)
    assert new.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    new.close()
    grown.close()


def test_newer_database_is_refused(tmp_path: Path) -> None:
    """A database of a newer omnislash is refused with a sentence that names both versions, and is left as it is."""
    newer = build(tmp_path / "state.db", version=SCHEMA_VERSION)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 98}")
    newer.close()
    before = (tmp_path / "state.db").read_bytes()

    with pytest.raises(WriterUnavailableError) as caught:
        State(tmp_path / "state.db")

    message = str(caught.value)
    assert "newer omnislash" in message
    assert str(SCHEMA_VERSION + 98) in message
    assert f"knows {SCHEMA_VERSION}" in message
    assert (tmp_path / "state.db").read_bytes() == before


def test_damaged_database_gives_one_sentence(tmp_path: Path) -> None:
    """A damaged database is refused with one line that says what to do and what is lost."""
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 2000)

    with pytest.raises(WriterUnavailableError, match=r"^The state database .*can't be used: .*move it away"):
        State(tmp_path / "state.db")
