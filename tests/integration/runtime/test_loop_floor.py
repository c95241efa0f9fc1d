"""The improvement loop is kept off every line and every source, wherever a path really leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.loop_floor import DeniedPath

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


@pytest.fixture
def brain(sample: SampleBrain) -> SampleBrain:
    """A brain with two sources, a role, and links that lead into memory."""
    sample.sources("content", "handbook.md")
    sample.role("nova")
    sample.put("content/prices.md", "# Prices\n")
    sample.put("handbook.md", "# Handbook\n")
    sample.put_memory("main/MEMORY.md", "# Main\n")
    (sample.root / "features" / "shortcut").symlink_to(sample.root / "memory", target_is_directory=True)
    (sample.root / "features" / "deep").symlink_to(sample.root / "memory" / "main", target_is_directory=True)
    (sample.root / "features" / "page.md").symlink_to(sample.root / "handbook.md")
    return sample


@pytest.mark.rule("BOUNDARY-05", "BOUNDARY-O3")
@pytest.mark.parametrize(
    "path",
    [
        *("memory/main/MEMORY.md", "memory", "memory/new/2026/12/2026-12-01.md", "memory/.memory-index.db"),
        *(
            "features/../memory/main/MEMORY.md",
            "features/shortcut/main/MEMORY.md",
            "features/shortcut",
            "Memory/main/a.md",
        ),
        *(".", "features/shortcut/../content/prices.md", "features/deep/new.md", "MEMORY/ma\u0308rz/a.md"),
    ],
)
def test_memory_is_denied(brain: SampleBrain, path: str) -> None:
    """Also through a link, through `..`, by another case, and by the directory that holds it."""
    (denied,) = brain.open().find_denied((path,))
    assert denied.path == path
    assert "may not touch" in denied.message


@pytest.mark.rule("BOUNDARY-06", "BOUNDARY-O3")
@pytest.mark.parametrize(
    ("path", "floor"),
    [
        ("content/prices.md", "content"),
        ("content/new/page.md", "content"),
        ("handbook.md", "handbook.md"),
        ("features/page.md", "handbook.md"),
    ],
)
def test_sources_are_denied(brain: SampleBrain, path: str, floor: str) -> None:
    """A file of a source, a new one, a source that is a file, and a link to it."""
    message = f"The loop may not touch {path!r}: it belongs to the authored source {floor!r}, which only its own writers change."
    assert brain.open().find_denied((path,)) == (DeniedPath(path, floor, message),)


@pytest.mark.rule("BOUNDARY-06", "BOUNDARY-O3")
def test_a_source_in_another_composition_is_the_source(sample: SampleBrain) -> None:
    """A disk that joins accents would open the same directory, whichever way the name is composed."""
    sample.sources("m\u00e4rz")
    (denied,) = sample.open().find_denied(("ma\u0308rz/a.md",))
    assert denied.floor == "m\u00e4rz"


@pytest.mark.rule("BOUNDARY-O3")
def test_what_can_not_be_judged_is_denied(brain: SampleBrain) -> None:
    """A path with a NUL, and a file of which memory may be the other name."""
    (brain.root / "features" / "twin.md").hardlink_to(brain.root / "memory" / "main" / "MEMORY.md")
    denied = brain.open().find_denied(("features/a\0b.md", "features/twin.md"))
    assert [(each.floor, "can't be told" in each.message) for each in denied] == [("", True), ("", True)]


@pytest.mark.rule("BOUNDARY-06")
def test_what_names_the_sources_is_on_the_floor(brain: SampleBrain) -> None:
    """Or a loop could take a source off the list, and edit it the next time."""
    (denied,) = brain.open().find_denied(("omnislash.yaml",))
    assert denied.floor == "omnislash.yaml"


@pytest.mark.rule("BOUNDARY-05", "BOUNDARY-06", "BOUNDARY-O3")
def test_a_rename_counts_at_both_ends(brain: SampleBrain) -> None:
    """Out of memory and into it; what lies elsewhere is free, also where its name only begins alike."""
    opened = brain.open()
    absolute = str(brain.root / "memory" / "main" / "a.md")
    moved = opened.find_denied(("features/a.md", "memory/main/a.md", absolute))
    assert [each.floor for each in moved] == ["memory/", "memory/"]
    free = (
        "features/team/nova.agent.md",
        "constitution/MANIFEST.yaml",
        "memory-notes.md",
        "contents/a.md",
        "handbook.md.bak",
    )
    assert opened.find_denied(free) == ()
