"""What a database lacks of the tables that a schema makes: a table that was dropped, or a column of a hand-made copy."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def find_missing(connection: sqlite3.Connection, scripts: Iterable[str]) -> list[str]:
    """Return what is not there of the tables that SQL scripts make, as `the table jobs` or `the column at of audit`.

    Args:
        connection: A database that is only read.
        scripts: What makes the tables, in order; they are run in memory.

    Raises:
        sqlite3.Error: The database can't be read.
    """
    from sqlite_utils import Database  # noqa: PLC0415 - a tenth of a second, which only doctor pays

    with contextlib.closing(sqlite3.connect(":memory:")) as made:
        for script in scripts:
            made.executescript(script)
        wanted = {table.name: list(table.columns_dict) for table in Database(made).tables}
    there = Database(connection, recursive_triggers=False)
    names = set(there.table_names())
    missing = [f"the table {name}" for name in wanted if name not in names]
    for name in wanted.keys() & names:
        has = there[name].columns_dict
        missing += [f"the column {column} of {name}" for column in wanted[name] if column not in has]
    return sorted(missing)
