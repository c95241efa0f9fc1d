"""Where a path of the repository lies, and what a person is told when it can't be used."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError, StorageError
from omnislash.runtime.syncing.placing_files import Homes
from tests.integration.syncing.merge_stage import DAY, MergeStage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def stage(tmp_path: Path) -> MergeStage:
    """Return a brain under git with a managed file and one beside it."""
    return MergeStage(tmp_path / "brain", {DAY: "- 09:00 — Tide.\n", "docs/a.md": "Plan.\n"})


@pytest.fixture
def homes(stage: MergeStage) -> Iterator[Homes]:
    """Return what finds the homes of its paths."""
    place = stage.place()
    yield Homes(place)
    place.state.close()


def test_a_file_beside_memory_is_called_by_its_own_path(stage: MergeStage, homes: Homes, tmp_path: Path) -> None:
    """A message about a file that is not below `memory/` does not say that it is."""
    home = homes.find("docs/a.md")
    assert home.read() == b"Plan.\n"
    full = home.explain(OSError(errno.ENOSPC, "no space"))
    (stage.root / "docs").rename(tmp_path / "elsewhere")
    (stage.root / "docs").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ScopeError) as led:
        home.read()
    assert full.message.startswith("docs/a.md can't be used: the disk is full.")
    assert led.value.message.startswith("docs/a.md leads out")
    assert (full.path, led.value.path) == ("docs/a.md", "docs/a.md")


def test_a_twin_beside_memory_is_called_by_its_own_path(stage: MergeStage, homes: Homes) -> None:
    """Two directories that differ in letter case only are named as they stand in the repository."""
    (stage.root / "Docs").mkdir()

    with pytest.raises(StorageError, match=r"^Docs and docs differ") as refused:
        homes.find("docs/a.md").read()
    assert refused.value.path == "Docs"


def test_a_managed_file_is_called_with_its_directory(homes: Homes) -> None:
    """A message about a file of a line names `memory/`, as a person sees it in the brain."""
    told = homes.find(DAY).explain(OSError(errno.EACCES, "denied"))

    assert told.message.startswith(f"{DAY} can't be used: permission denied.")
    assert told.path == DAY
