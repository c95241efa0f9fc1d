"""What differs between the index and the disk is told by the stat, and a stat that proves nothing is not kept."""

from __future__ import annotations

import pytest

from omnislash.index.diff import SETTLING_NS, UNSETTLED, Drift, Stat, diff_files, settle

A, B = Stat(1, 100, 100, 7), Stat(2, 200, 200, 8)


def test_nothing_differs() -> None:
    """The same files with the same stat give no drift, which is false and of length 0."""
    drift = diff_files({"a.md": A}, {"a.md": A})
    assert drift == Drift()
    assert not drift
    assert len(drift) == 0


@pytest.mark.rule("SOURCE-O9")
def test_each_file_is_named_once_and_in_order() -> None:
    """Added, changed and removed files are told apart, each in order of its path."""
    known = {"gone.md": A, "also gone.md": A, "same.md": A, "other.md": A}
    drift = diff_files(known, {"same.md": A, "other.md": B, "z new.md": A, "a new.md": A})
    assert drift == Drift(added=("a new.md", "z new.md"), changed=("other.md",), removed=("also gone.md", "gone.md"))
    assert drift
    assert len(drift) == 5


@pytest.mark.parametrize("field", Stat._fields)
def test_any_part_of_the_stat_makes_a_change(field: str) -> None:
    """Another size, time or inode alone is a change: a file that was put in its place may have the same times."""
    other = A._replace(**{field: 99})
    assert diff_files({"a.md": A}, {"a.md": other}).changed == ("a.md",)


def test_an_old_change_is_settled() -> None:
    """A file that was read long after its last change keeps its stat."""
    assert settle(A, read_at_ns=A.changed_ns + SETTLING_NS + 1) == A


@pytest.mark.parametrize("after_ns", [0, SETTLING_NS, -5 * SETTLING_NS])
def test_a_change_just_now_is_not_settled(after_ns: int) -> None:
    """The clock of files ticks in milliseconds: a file read in the tick of its change may change again unseen."""
    kept = settle(A, read_at_ns=A.changed_ns + after_ns)
    assert kept.inode == UNSETTLED
    assert diff_files({"a.md": kept}, {"a.md": A}).changed == ("a.md",)


def test_a_time_of_modification_in_the_future_settles() -> None:
    """People and archives set the time of modification to anything; such a file is not read again at each search."""
    future = A._replace(modified_ns=A.changed_ns + 10**18)
    assert settle(future, read_at_ns=A.changed_ns + SETTLING_NS + 1) == future
