"""The stat pass takes every memory file and every document of a source, and nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from omnislash.core.lines import parse_source
from omnislash.index.scanning import Scanner

if TYPE_CHECKING:
    from tests.integration.index.conftest import IndexBrain


def scan(brain: IndexBrain, *sources: str) -> list[str]:
    """Return what a pass finds."""
    return sorted(Scanner(brain.root, tuple(map(parse_source, sources))).scan())


@pytest.mark.rule("LINE-10", "LINE-11", "LINE-O2", "MIGRATE-06")
def test_lines_are_scanned_and_the_rest_of_memory_is_not(index_brain: IndexBrain) -> None:
    """Every directory with a valid line name counts; loose files, years and other names wait for the migration."""
    for place in ("ops/MEMORY.md", "ops/2026/11/2026-11-30.md", "notes/deep/er/x.md"):
        index_brain.write(f"memory/{place}", "x")
    for place in (
        "MEMORY.md",
        "2026/11/2026-11-30.md",
        "Work/MEMORY.md",
        ".hidden/a.md",
        "ops/.hidden.md",
        "ops/a.txt",
    ):
        index_brain.write(f"memory/{place}", "x")
    assert scan(index_brain) == [
        "memory/notes/deep/er/x.md", "memory/ops/2026/11/2026-11-30.md", "memory/ops/MEMORY.md",
    ]  # fmt: skip


@pytest.mark.rule("SOURCE-08", "SOURCE-O5", "SOURCE-O8", "SOURCE-O9")
def test_sources_are_scanned_once(index_brain: IndexBrain) -> None:
    """Nested and doubled sources give each file once, a single file is a source, and a missing source is empty."""
    for place in ("people/maria/a.md", "people/b.md", "people/.git/c.md", "people/d.MD", "handbook.md", "other/e.md"):
        index_brain.write(place, "x")
    found = scan(index_brain, "people", "people/maria", "people", "handbook.md", "nowhere", "nowhere.md")
    assert found == ["handbook.md", "people/b.md", "people/maria/a.md"]


@pytest.mark.rule("SOURCE-O3")
def test_a_managed_file_under_a_source_of_the_same_name_is_left_out(index_brain: IndexBrain) -> None:
    """Where a tool's path means the source, the managed file that nobody can name is not indexed."""
    index_brain.write("memory/research/notes/a.md", "managed")
    index_brain.write("memory/research/b.md", "managed")
    index_brain.write("research/notes/a.md", "authored")
    assert scan(index_brain, "research/notes") == ["memory/research/b.md", "research/notes/a.md"]


def test_links_are_not_followed(index_brain: IndexBrain) -> None:
    """A link to a file, to a directory or to its own parent adds nothing and never loops."""
    index_brain.write("memory/ops/a.md", "x")
    outside = index_brain.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    ops = index_brain.root / "memory/ops"
    (ops / "loop").symlink_to(ops, target_is_directory=True)
    (ops / "out").symlink_to(outside, target_is_directory=True)
    (ops / "link.md").symlink_to(outside / "secret.md")
    (index_brain.root / "memory/linked").symlink_to(outside, target_is_directory=True)
    (ops / "dead.md").symlink_to("nowhere.md")
    assert scan(index_brain) == ["memory/ops/a.md"]


def test_only_regular_files(index_brain: IndexBrain) -> None:
    """A directory or a pipe with the name of a document is none, and a pass never waits for one."""
    index_brain.write("memory/ops/d.md/inner.md", "x")
    os.mkfifo(index_brain.root / "memory/ops/pipe.md")
    assert scan(index_brain) == ["memory/ops/d.md/inner.md"]


def test_a_name_that_is_no_utf8_is_passed_over(index_brain: IndexBrain) -> None:
    """No tool could name such a file; the others beside it are found."""
    index_brain.write("memory/ops/a.md", "x")
    try:
        with open(os.fsencode(index_brain.root / "memory/ops") + b"/b\xff.md", "wb") as file:  # noqa: PTH123 - bytes
            file.write(b"x")
    except OSError:
        pytest.skip("this file system has no such names")
    assert scan(index_brain) == ["memory/ops/a.md"]


@pytest.mark.rule("SOURCE-O6")
def test_case_twins_are_two_files(index_brain: IndexBrain) -> None:
    """Where the disk tells `Plan.md` and `plan.md` apart, so does the index."""
    index_brain.write("notes/Plan.md", "x")
    index_brain.write("notes/plan.md", "y")
    if len(list((index_brain.root / "notes").iterdir())) == 1:
        pytest.skip("this file system ignores case")
    assert scan(index_brain, "notes") == ["notes/Plan.md", "notes/plan.md"]


def test_nothing_there_at_all(index_brain: IndexBrain) -> None:
    """A brain without `memory/` has nothing to index."""
    (index_brain.root / "memory").rmdir()
    assert scan(index_brain) == []


def test_a_directory_that_can_not_be_listed_is_named(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be looked at is told with its reason, and the rest is found."""
    index_brain.write("memory/ops/a.md", "x")
    index_brain.write("memory/ops/locked/b.md", "x")
    real = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    scanner = Scanner(index_brain.root, ())
    assert sorted(scanner.scan()) == ["memory/ops/a.md"]
    assert scanner.unreadable == {"memory/ops/locked": "Permission denied"}
    monkeypatch.undo()
    assert sorted(scanner.scan()) == ["memory/ops/a.md", "memory/ops/locked/b.md"]
    assert scanner.unreadable == {}


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("memory/ops/MEMORY.md", "memory"),
        ("memory/ops/2026/11/2026-11-30.md", "daily"),
        ("memory/ops/notes/plan.md", "document"),
        ("lore/2026/11/2026-11-30.md", "source"),
    ],
)
@pytest.mark.rule("SOURCE-19")
def test_kinds(index_brain: IndexBrain, place: str, kind: str) -> None:
    """A dated file in a source is no daily log."""
    assert Scanner(index_brain.root, (parse_source("lore"),)).kind(place) == kind
