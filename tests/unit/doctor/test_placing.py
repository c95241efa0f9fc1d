"""What a file below `memory/` is by its place: the fast way says what the general one says."""

from __future__ import annotations

import pytest

from omnislash.checks.examined import Area, Kind, Listed
from omnislash.checks.placing import Placed, place_of
from omnislash.core.lines import kind_of, parse_managed_path, split_path
from omnislash.core.periods import period_at
from omnislash.errors import InvalidNameError


def place(path: str) -> Placed | None:
    """Return what a file at this path is."""
    return place_of(Listed(path, Area.MEMORY, Kind.FILE, 1, 0, 0o644, 1, 1))


@pytest.mark.rule("LINE-05", "LINE-07", "LINE-08", "PERIOD-04")
@pytest.mark.parametrize(
    "path",
    [
        *("main/2026/11/2026-11-30.md", "main/2026/02/2026-02-29.md", "main/2024/02/2024-02-29.md"),
        *("2026/2026/11/2026-11-30.md", "_x/2026/11/2026-11-30.md", "con/2026/11/2026-11-30.md"),
        *("main/2026/12/2026-11-30.md", "main/0000/01/0000-01-01.md", "main/9999/12/9999-12-31.md"),
        *("main/2026/2026-W48.md", "main/MEMORY.md", "main/memory.md", "main/a/b.md", "Main/a.md", "x.md"),
        *(f"{'a' * 64}/2026/11/2026-11-30.md", f"{'a' * 65}/2026/11/2026-11-30.md", "main/2026/11/2026-11-30.MD"),
    ],
)
def test_both_ways_agree(path: str) -> None:
    """A path that tools take has its line, kind and period; any other has no place."""
    try:
        managed = parse_managed_path(path)
    except InvalidNameError:
        assert place(f"memory/{path}") is None
        return
    assert place(f"memory/{path}") == Placed(managed, split_path(managed)[0], kind_of(managed), period_at(managed))


def test_outside_of_memory_there_is_no_place() -> None:
    """A dated file of a source is no daily log."""
    assert place("content/2026/11/2026-11-30.md") is None
