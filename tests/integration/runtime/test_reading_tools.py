"""`memory_read` and `memory_overview`: what they show, in which parts, and with which numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash import MissingFileError, StorageError
from omnislash.core.verdicts import Outcome
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    from omnislash import Agent
    from tests.integration.conftest import SampleBrain


def utf16(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def read_in_parts(agent: Agent, path: str, *, max_chars: int) -> list[str]:
    """Return the parts of a file, asked for one after another as the tool says."""
    parts, arguments = [], {"path": path, "maxChars": max_chars}
    while True:
        answer = agent.call("memory_read", arguments).to_json()
        parts.append(answer["content"])
        assert answer.get("truncated", False) is ("nextOffset" in answer)
        if "nextOffset" not in answer:
            return parts
        assert answer["nextOffset"] > arguments.get("offset", 0)
        arguments = {**arguments, "offset": answer["nextOffset"]}


# -- a whole file ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-10", "WRITE-09", "TOOL-O3", "TOOL-O4", "BUDGET-21", "BUDGET-20", "BUDGET-18")
def test_read_of_a_memory_file(sample: SampleBrain) -> None:
    """The answer holds path, text, size, time of the last change, and the reading in UTF-16 units."""
    sample.manifest("{fileMaxChars: 50}")
    text = "- Решили: релиз 12-го 👍\n"
    place = sample.put_memory("main/MEMORY.md", text)

    answer = sample.agent().call("memory_read", {"path": "main/MEMORY.md"}).to_json()

    assert {
        "path": "main/MEMORY.md",
        "content": text,
        "chars": 25,
        "budget": {"chars": 25, "fileMaxChars": 50, "percent": 50},
    } == {key: answer[key] for key in ("path", "content", "chars", "budget")}
    assert datetime.fromisoformat(answer["modifiedAt"]) == datetime.fromtimestamp(place.stat().st_mtime, UTC)
    assert answer["hash"] == hash_bytes(text.encode())
    assert "truncated" not in answer


@pytest.mark.rule("TOOL-O4", "BUDGET-O7", "BUDGET-15")
def test_budget_is_the_readings_own_line(sample: SampleBrain) -> None:
    """An unbounded MEMORY.md has null limits, another line has its own number, every other file has no budget."""
    sample.role("overseer", "{read: ['*']}")
    sample.manifest("{fileMaxChars: 0, lines: {ops: {fileMaxChars: 20}}}")
    for path in ("main/MEMORY.md", "ops/MEMORY.md", "main/2026/08/2026-08-29.md", "main/notes/MEMORY2.md"):
        sample.put_memory(path, "x" * 10)
    agent = sample.agent("overseer")
    readings = {path: agent.memory.read(path).to_json()["budget"] for path in sample.files()}

    assert readings == {
        "main/MEMORY.md": {"chars": 10, "fileMaxChars": None, "percent": None},
        "ops/MEMORY.md": {"chars": 10, "fileMaxChars": 20, "percent": 50},
        "main/2026/08/2026-08-29.md": None,
        "main/notes/MEMORY2.md": None,
    }


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        pytest.param(b"\xef\xbb\xbfa\n", "a\n", id="byte order mark"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb\r\n", id="CRLF"),
        pytest.param(b"a \xff b\n", "a � b\n", id="no UTF-8"),
        pytest.param(b"", "", id="empty"),
        pytest.param("a\u2028b\x0bc\x1dd".encode(), "a\u2028b\x0bc\x1dd", id="odd line ends"),
    ],
)
def test_read_shows_what_is_there(sample: SampleBrain, data: bytes, shown: str) -> None:
    """A file is shown as it is, with its mark skipped and bytes that are no text replaced."""
    sample.put_memory("main/a.md", data)

    assert sample.agent().memory.read("main/a.md").content == shown


def test_missing_file_is_named(sample: SampleBrain) -> None:
    """A file of the read set that does not exist raises an error that names it and says how to go on."""
    sample.put_memory("main/a.md", "x\n")
    for path in ("main/b.md", "main/2026/08/2026-08-29.md"):
        with pytest.raises(MissingFileError, match="memory_list") as caught:
            sample.agent().memory.read(path)
        assert path in str(caught.value)


def test_directory_in_place_of_a_file(sample: SampleBrain) -> None:
    """A directory with the name of a file raises one sentence that names it."""
    (sample.root / "memory/main/a.md").mkdir(parents=True)

    with pytest.raises(StorageError, match=r"main/a\.md.*directory"):
        sample.agent().memory.read("main/a.md")


# -- a section -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "content"),
    [
        ("People", "## People\n\n- Maria\n"),
        ("## People", "## People\n\n- Maria\n"),
        ("Memory (2026-08-01)", "## Memory (2026-08-01)\n\n- a\n"),
    ],
)
def test_section_is_read_alone(sample: SampleBrain, section: str, content: str) -> None:
    """A section is shown from its heading to the next one, and the size is still that of the whole file."""
    text = "# M\n## Memory (2026-08-01)\n\n- a\n## People\n\n- Maria\n## Empty\n"
    sample.put_memory("main/MEMORY.md", text)

    found = sample.agent().memory.read("main/MEMORY.md", section=section)

    assert (found.content, found.chars) == (content, len(text))


def test_unknown_section_lists_the_known_ones(sample: SampleBrain) -> None:
    """A section that is not there raises an error that lists those that are."""
    sample.put_memory("main/MEMORY.md", "## People\n\n- Maria\n")

    with pytest.raises(MissingFileError, match="People"):
        sample.agent().memory.read("main/MEMORY.md", section="Peopel")


# -- in parts --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("ADAPT-O5")
@pytest.mark.parametrize("max_chars", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("text", ["a👍b👍👍c\n", "👍👍👍", "👨‍👩‍👧 family\n", "plain\n", "ё" * 9])
def test_parts_make_the_whole(sample: SampleBrain, text: str, max_chars: int) -> None:
    """Read in parts of any size, a file comes back whole, each part is text, and no pair is split between two."""
    sample.put_memory("main/a.md", text)

    parts = read_in_parts(sample.agent(), "main/a.md", max_chars=max_chars)

    assert "".join(parts) == text
    # A pair does not fit into one unit; whoever asks for one gets the pair.
    assert all(utf16(part) <= max(max_chars, 2) for part in parts)


@pytest.mark.parametrize("offset", range(7))
def test_any_offset_gives_text(sample: SampleBrain, offset: int) -> None:
    """An offset in the middle of a pair, or beyond the end, gives text too."""
    sample.put_memory("main/a.md", "a👍b👍")

    content = sample.agent().memory.read("main/a.md", offset=offset, max_chars=2).content

    assert content in {"a👍b👍"[start:end] for start in range(5) for end in range(5)}
    content.encode()


def test_huge_file_is_read_in_parts(sample: SampleBrain) -> None:
    """Of a file of five million units one call shows 40,000, and the parts together are the file."""
    text = "0123456789👍ё\n" * 360_000
    sample.put_memory("main/a.md", text)
    nova = sample.agent()

    first = nova.memory.read("main/a.md")

    assert (first.chars, utf16(first.content)) == (utf16(text), 40_000)
    assert "".join(read_in_parts(nova, "main/a.md", max_chars=600_001)) == text


def test_section_is_cut_too(sample: SampleBrain) -> None:
    """The offset of a part of a section counts from the section's beginning."""
    sample.put_memory("main/MEMORY.md", "# Top\n## A\n\n0123456789\n## B\n")
    memory = sample.agent().memory

    part = memory.read("main/MEMORY.md", section="A", offset=7, max_chars=5)

    assert (part.content, part.next_offset) == ("12345", 12)
    assert memory.read("main/MEMORY.md", section="A", offset=12).content == "6789\n"


def test_hash_guards_a_whole_file_save(sample: SampleBrain) -> None:
    """The hash of a read lets the text be saved, until somebody else has saved the file."""
    sample.put_memory("main/a.md", "one\n")
    memory = sample.agent().memory
    known = memory.read("main/a.md").hash
    sample.put_memory("main/a.md", "two, by a person\n")

    refusal = memory.write_file("main/a.md", "mine\n", expect_hash=known)

    assert refusal.outcome is Outcome.REFUSED
    assert sample.text("main/a.md") == "two, by a person\n"
    fresh = memory.read("main/a.md").hash
    assert memory.write_file("main/a.md", "mine\n", expect_hash=fresh).outcome is Outcome.WRITTEN
    assert memory.write_file("main/b.md", "new\n", expect_hash="absent").outcome is Outcome.WRITTEN
    assert memory.write_file("main/a.md", "again\n", expect_hash="absent").outcome is Outcome.REFUSED


# -- the overview ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("SCOPE-O8", "LINE-O4", "BUDGET-20")
def test_overview_shows_what_the_memory_consists_of(sample: SampleBrain) -> None:
    """The overview names line, reading, days, periods, and what is open to reading, recall and deposits."""
    sample.sources("content", "handbook.md")
    sample.role("nova", "{read: [content], recall: [handbook.md]}")
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    sample.manifest("{fileMaxChars: 40}")
    sample.put_memory("main/MEMORY.md", "x" * 10)
    for path in ("08/2026-08-02.md", "07/2026-07-30.md", "2026-W31.md", "2026-07.md", "2026-Q3.md", "2026.md"):
        sample.put_memory(f"main/2026/{path}", "x\n")

    answer = sample.agent(heartbeat="briefing").call("memory_overview", {}).to_json()

    assert answer == {
        "line": "main",
        "path": "main/MEMORY.md",
        "reading": "10 of 40 fileMaxChars (25%)",
        "budget": {"chars": 10, "fileMaxChars": 40, "percent": 25},
        "days": {"count": 2, "first": "2026-07-30", "last": "2026-08-02"},
        "periods": {"week": ["2026-W31"], "month": ["2026-07"], "quarter": ["2026-Q3"], "year": ["2026"]},
        "read": ["main", "content", "handbook.md"],
        "recall": ["main", "handbook.md"],
        "report": ["ops"],
    }


def test_overview_of_an_unborn_line(sample: SampleBrain) -> None:
    """A line that nobody has written yet has an overview too, and asking for it makes nothing."""
    overview = sample.agent().memory.overview()

    assert (overview.line, overview.budget, overview.days, overview.periods) == ("main", None, None, {})
    assert not (sample.root / "memory").exists()
