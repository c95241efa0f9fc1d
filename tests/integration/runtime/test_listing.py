"""`memory_list`: every file that may be read, once, in order, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from omnislash import Agent
    from tests.integration.conftest import SampleBrain


def pages(agent: Agent, **arguments: Any) -> list[list[str]]:
    """Return the paths of all pages, asked for as the tool says."""
    found: list[list[str]] = []
    while True:
        answer = agent.call("memory_list", arguments).to_json()
        found.append([entry["path"] for entry in answer["entries"]])
        if "nextCursor" not in answer:
            return found
        arguments = {**arguments, "cursor": answer["nextCursor"]}


@pytest.mark.parametrize(("limit", "lengths"), [(300, [300, 300, 300, 100]), (1000, [1000])])
def test_thousand_files_page_by_page(sample: SampleBrain, limit: int, lengths: list[int]) -> None:
    """A thousand files come in pages of the asked size, each file once, in the order of their paths."""
    names = sorted(f"main/notes/{number:04}.md" for number in range(1000))
    for name in names:
        sample.put_memory(name, "x")

    found = pages(sample.agent(), limit=limit)

    assert [len(page) for page in found] == lengths
    assert [path for page in found for path in page] == names


def test_fifty_files_when_nobody_says(sample: SampleBrain) -> None:
    """Without a limit a page holds fifty files."""
    for number in range(51):
        sample.put_memory(f"main/notes/{number:02}.md", "x")

    assert [len(page) for page in pages(sample.agent())] == [50, 1]


def test_page_goes_on_behind_a_deleted_file(sample: SampleBrain) -> None:
    """A cursor whose file is gone goes on behind the place where it was, and new files in front do not disturb it."""
    for name in "bdfh":
        sample.put_memory(f"main/{name}.md", "x")
    nova = sample.agent()
    first = nova.memory.list(limit=2)
    (sample.root / "memory/main/d.md").unlink()
    sample.put_memory("main/a.md", "x")

    rest = nova.memory.list(limit=10, cursor=first.next_cursor)

    assert [entry.path for entry in (*first.entries, *rest.entries)] == [f"main/{name}.md" for name in "bdfh"]


def test_entries_say_kind_and_size(sample: SampleBrain) -> None:
    """Each entry has its path, what kind of file it is, and its size in UTF-16 units."""
    sample.sources("content")
    sample.manifest("{read: [content]}")
    kinds = {
        "main/MEMORY.md": "memory",
        "main/2026/08/2026-08-29.md": "daily",
        "main/2026/2026-W34.md": "week",
        "main/2026/2026-07.md": "month",
        "main/2026/2026-Q2.md": "quarter",
        "main/2026/2026.md": "year",
        "main/notes.md": "document",
    }
    for path in kinds:
        sample.put_memory(path, "👍ё\n")
    sample.put("content/2026/08/2026-08-29.md", "👍ё\n")

    answer = sample.agent().call("memory_list", {}).to_json()

    assert {entry["path"]: entry["kind"] for entry in answer["entries"]} == {
        **kinds,
        "content/2026/08/2026-08-29.md": "source",
    }
    assert {entry["chars"] for entry in answer["entries"]} == {4}
    assert {tuple(entry) for entry in answer["entries"]} == {("path", "kind", "chars", "modifiedAt")}


@pytest.mark.rule("SOURCE-O8", "LINE-O2")
def test_only_markdown_that_can_be_named_is_listed(sample: SampleBrain) -> None:
    """Hidden files, other types, temporary files, and names that no tool could address are left out."""
    for path in (
        "main/a.md",
        "main/.b.md",
        "main/.obsidian/c.md",
        "main/d.txt",
        "main/e.md.bak",
        "main/.omnislash-0123456789abcdef.new",
        "main/2026/13/2026-13-01.md",
        "main/2026/2026-W54.md",
        "main/trailing .md",
        ".memory-index.db",
    ):
        sample.put_memory(path, "x")

    assert pages(sample.agent()) == [["main/a.md", "main/trailing .md"]]


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("main/2026", ["main/2026/08/2026-08-29.md", "main/2026/2026.md"]),
        ("main/2026/08/", ["main/2026/08/2026-08-29.md"]),
        ("main/M", ["main/MEMORY.md"]),
        ("ops", []),
        ("../", []),
        ("", ["main/2026/08/2026-08-29.md", "main/2026/2026.md", "main/MEMORY.md"]),
    ],
)
def test_prefix_narrows_the_list(sample: SampleBrain, prefix: str, names: list[str]) -> None:
    """A prefix keeps the paths that begin with it, and opens nothing that may not be read."""
    for path in ("main/MEMORY.md", "main/2026/2026.md", "main/2026/08/2026-08-29.md", "ops/MEMORY.md"):
        sample.put_memory(path, "x")

    assert pages(sample.agent(), prefix=prefix) == [names]


@pytest.mark.rule("SOURCE-O9")
def test_nested_corpora_list_a_file_once(sample: SampleBrain) -> None:
    """A file that two names of the read set hold is listed once."""
    sample.sources("people", "people/maria")
    sample.manifest("{read: [people, people/maria], recall: [people/maria]}")
    sample.put("people/maria/a.md", "x")

    assert pages(sample.agent()) == [["people/maria/a.md"]]


@pytest.mark.rule("SOURCE-O5")
def test_missing_corpora_are_empty(sample: SampleBrain) -> None:
    """A source or a line that does not exist yet is an empty corpus."""
    sample.sources("content", "handbook.md")
    sample.manifest("{read: [content, handbook.md, later]}")

    assert pages(sample.agent()) == [[]]


def test_unreadable_file_does_not_end_the_list(sample: SampleBrain) -> None:
    """A name that is no regular file does not keep the others from being listed."""
    sample.put_memory("main/a.md", "x")
    (sample.root / "memory/main/b.md").mkdir()
    (sample.root / "memory/main/c.md").symlink_to(sample.root / "nowhere.md")
    sample.put_memory("main/d.md", "x")

    assert pages(sample.agent()) == [["main/a.md", "main/d.md"]]
