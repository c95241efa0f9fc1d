"""MEMORY.md is read into sections, and changed without touching a byte that was not meant."""

from __future__ import annotations

from datetime import date

import pytest
from markdown_it import MarkdownIt

from omnislash.core.entries import match_entries, parse_entries
from omnislash.core.sections import (
    MemoryDocument,
    add_entry,
    drop_section,
    find_sections,
    memory_units,
    parse_memory,
    remove_entry,
)

AUG_30 = date(2026, 8, 30)
BOM = "\ufeff"


def headings(document: MemoryDocument) -> list[str | None]:
    """Return the headings of a document in order."""
    return [section.heading for section in document.sections]


@pytest.mark.rule("BUDGET-03")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("prose\n", [None], id="only a preamble"),
        pytest.param("## A\n", ["A"], id="no preamble"),
        pytest.param("x\n## A\n##  B \n##\tC\n##\n", [None, "A", "B", "C", ""], id="several"),
        pytest.param("# A\n### B\n##C\n #### D\n", [None], id="other levels and none"),
        pytest.param("x\n ## A\n    ## B\n", [None], id="indented"),
        pytest.param("- x\n  ## A\n", [None], id="inside a list item"),
        pytest.param("```\n## A\n```\n## B\n", [None, "B"], id="inside a fence"),
        pytest.param("```\n## A\n## B\n", [None, "A", "B"], id="after a fence that never ends"),
        pytest.param("<!--\n## A\n-->\n## B\n", [None, "B"], id="inside a comment"),
        pytest.param("<!--\n## A\n", [None, "A"], id="after a comment that never ends"),
        pytest.param("- x\n  ```\n## A\n  ```\n## B\n", [None, "A", "B"], id="after a fence left open in an item"),
        pytest.param(BOM + "## A\n", [None, "A"], id="after a byte order mark"),
        pytest.param("## A\r\n\r\n## B\r\n", ["A", "B"], id="CRLF"),
        pytest.param("## A", ["A"], id="no line end"),
        pytest.param("A\n--\n## B\n", [None, "B"], id="an underlined heading is prose"),
    ],
)
def test_splits_at_second_level_headings(text: str, found: list[str | None]) -> None:
    """Sections begin at `##` lines outside of items, closed fences and closed comments, and together are the text."""
    document = parse_memory(text)
    assert headings(document) == found
    assert "".join(document.slice(section) for section in document.sections) == text


@pytest.mark.parametrize(
    "text",
    [
        "intro\n## A\ntext\n### a\n## B\n",
        "```\n## no\n```\n\n## A\n~~~~ md\n## no\n~~~\n~~~~\n## B\n",
        "<!-- one -->\n## A\n<!--\n## no\n-->\n## B\n",
        "- x\n  ## no\n- y\n  ```\n  ## no\n  ```\n## A\n",
        "- x\n  ```\n## A\n- y\n## B ##\n",
        "## A\n\n- a\n\n  b\n## B\n\n1. c\n2. d\n\n## C\n",
        "text\n## A\n> ## no\n\n    ## no\n##\tB\n##\n#hash\n##no\n",
        "````\n```\n## no\n````\n## A\n``` a`b\n## B\n",
        "## A\r\n```\r\n## no\r\n```\r\n## B\r\n",
    ],
)
def test_splits_as_commonmark_does(text: str) -> None:
    """An independent CommonMark parser finds the same top-level `##` headings, where every fence ends."""
    tokens = MarkdownIt("commonmark").parse(text)
    lines = [
        token.map[0] + 1
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.markup == "##" and token.map
    ]
    assert [section.line for section in parse_memory(text).sections if section.heading is not None] == lines


@pytest.mark.rule("BUDGET-08", "BUDGET-O5", "BUDGET-O6", "BUDGET-O9")
@pytest.mark.parametrize(
    ("text", "on"),
    [
        pytest.param("## Memory (2026-08-30)\n\n- one\n- two\n", AUG_30, id="as written"),
        pytest.param("## Memory (2026-08-30)\n\n- one\n\n  more\n\n- two", AUG_30, id="further and blank lines"),
        pytest.param("## Memory (2026-08-30)\r\n\r\n- one\r\n  more\r\n\r\n", AUG_30, id="CRLF"),
        pytest.param("## Memory (2026-08-30)\n\n\n- one edited\n \n\n", AUG_30, id="an edit that keeps the shape"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n  ```\n  ## x\n", AUG_30, id="a fence left open inside"),
        pytest.param("## Memory (2028-02-29)\n\n- a\n", date(2028, 2, 29), id="a leap day"),
        pytest.param("## Memory (2026-02-30)\n\n- a\n", None, id="no real date"),
        pytest.param("## Memory (0000-01-01)\n\n- a\n", None, id="no year"),
        pytest.param("## Memory (2026-08-30) \n\n- a\n", None, id="a blank after the header"),
        pytest.param("## Memory (2026-08-30): x\n\n- a\n", None, id="words after the header"),
        pytest.param("##  Memory (2026-08-30)\n\n- a\n", None, id="two blanks in the header"),
        pytest.param("## memory (2026-08-30)\n\n- a\n", None, id="another case"),
        pytest.param("## Memory (2026-8-30)\n\n- a\n", None, id="one digit"),
        pytest.param("## Memory (٢٠٢٦-08-30)\n\n- a\n", None, id="other digits"),
        pytest.param("## Memory (2026-08-30)\n- a\n", None, id="no empty line"),
        pytest.param("## Memory (2026-08-30)\n \n- a\n", None, id="a line of white space instead"),
        pytest.param("## Memory (2026-08-30)\n\n", None, id="no entry"),
        pytest.param("## Memory (2026-08-30)", None, id="only the header"),
        pytest.param("## Memory (2026-08-30)\n\nprose\n", None, id="prose"),
        pytest.param("## Memory (2026-08-30)\n\n- a\nprose\n", None, id="prose after an entry"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n\tb\n", None, id="a tab"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n b\n", None, id="one space"),
        pytest.param("## Memory (2026-08-30)\n\n* a\n", None, id="another marker"),
        pytest.param("## Memory (2026-08-30)\n\n  b\n- a\n", None, id="a further line first"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n### b\n", None, id="a heading below"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n# b\n", None, id="a title below"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n<!-- keep -->\n", None, id="a comment"),
        pytest.param("## Decisions\n\n- a\n", None, id="another header"),
    ],
)
def test_only_the_emitted_shape_is_droppable(text: str, on: date | None) -> None:
    """A section is dated only under the exact header of a real day and with nothing but entries below."""
    (section,) = parse_memory(text).sections
    assert section.on == on
    assert parse_memory(text).droppable() == ((section,) if on else ())


@pytest.mark.rule("BUDGET-06", "BUDGET-O8")
def test_oldest_goes_first() -> None:
    """Dated sections go by date, of one date by place."""
    days = ["2026-08-02", "2026-08-01", "2026-07-31", "2026-08-01"]
    document = parse_memory("".join(f"## Memory ({day})\n\n- {n}\n" for n, day in enumerate(days)))
    assert [document.slice(section)[-2] for section in document.droppable()] == ["2", "1", "3", "0"]


@pytest.mark.rule("BUDGET-02", "BUDGET-O5")
@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("", "## Memory (2026-08-30)\n\n- new\n", id="an empty file"),
        pytest.param("# T\n\nx\n", "# T\n\nx\n\n## Memory (2026-08-30)\n\n- new\n", id="a new section"),
        pytest.param("x", "x\n\n## Memory (2026-08-30)\n\n- new\n", id="no line end"),
        pytest.param("x\n\n", "x\n\n## Memory (2026-08-30)\n\n- new\n", id="an empty line is there"),
        pytest.param("x\n \t\n", "x\n \t\n## Memory (2026-08-30)\n\n- new\n", id="a blank line is there"),
        pytest.param("\n", "\n## Memory (2026-08-30)\n\n- new\n", id="only an empty line"),
        pytest.param(BOM, BOM + "## Memory (2026-08-30)\n\n- new\n", id="only a byte order mark"),
        pytest.param(
            "## Memory (2026-08-30)\n\n- old\n", "## Memory (2026-08-30)\n\n- old\n- new\n", id="today's section"
        ),
        pytest.param(
            "## Memory (2026-08-30)\n\n- old", "## Memory (2026-08-30)\n\n- old\n- new\n", id="today's without line end"
        ),
        pytest.param(
            "## Memory (2026-08-30)\n\n- old\n  b\n\n\n## Next\n",
            "## Memory (2026-08-30)\n\n- old\n  b\n- new\n\n\n## Next\n",
            id="before the blank lines of today's",
        ),
        pytest.param(
            "x\r\n\r\n## Memory (2026-08-30)\r\n\r\n- old\r\n",
            "x\r\n\r\n## Memory (2026-08-30)\r\n\r\n- old\r\n- new\r\n",
            id="today's in CRLF",
        ),
        pytest.param("x\r\ny", "x\r\ny\r\n\r\n## Memory (2026-08-30)\r\n\r\n- new\r\n", id="a new section in CRLF"),
        pytest.param(
            "## Memory (2026-08-30)\n\nprose\n",
            "## Memory (2026-08-30)\n\nprose\n\n## Memory (2026-08-30)\n\n- new\n",
            id="today's is curated",
        ),
        pytest.param(
            "## Memory (2026-08-30)\n\n- a\n\n## Memory (2026-08-30)\n\n- b\n\n## Memory (2026-08-29)\n\n- c\n",
            "## Memory (2026-08-30)\n\n- a\n\n## Memory (2026-08-30)\n\n- b\n- new\n\n## Memory (2026-08-29)\n\n- c\n",
            id="the last of today's",
        ),
        pytest.param(
            "```\n## Memory (2026-08-30)\n\n- a\n```\n",
            "```\n## Memory (2026-08-30)\n\n- a\n```\n\n## Memory (2026-08-30)\n\n- new\n",
            id="an example in a fence",
        ),
    ],
)
def test_adds_under_todays_header(text: str, result: str) -> None:
    """A priority entry lands at the end of today's dated section, or of a new one, and nothing else changes."""
    added = add_entry(parse_memory(text), "new", on=AUG_30)
    assert added.text == result
    assert added.text.startswith("## Memory (2026-08-30)", added.at)
    receiving = [s for s in parse_memory(result).sections if s.start <= added.at < s.end]
    assert [s.on for s in receiving] == [AUG_30]


def test_several_lines_keep_the_shape() -> None:
    """An entry of several lines leaves its section droppable, in either line end."""
    for newline in ("\n", "\r\n"):
        text = newline.join(["## Memory (2026-08-30)", "", "- old", ""])
        added = add_entry(parse_memory(text), "a\n\n## b\n```", on=AUG_30).text
        assert added == text + newline.join(["- a", "", "  ## b", "  ```", ""])
        assert [section.on for section in parse_memory(added).sections] == [AUG_30]


@pytest.mark.rule("BUDGET-03")
def test_dropping_takes_the_slice_alone() -> None:
    """A dropped section takes its blank lines with it, and no byte of another one."""
    text = BOM + "pre\r\n\r\n## A\n\n- a\n\n## B\nb\n"
    document = parse_memory(text)
    assert drop_section(document, document.sections[1]) == BOM + "pre\r\n\r\n## B\nb\n"
    assert drop_section(document, document.sections[2]) == BOM + "pre\r\n\r\n## A\n\n- a\n\n"


@pytest.mark.parametrize(
    ("heading", "lines"),
    [
        pytest.param("A", [2], id="its text"),
        pytest.param("## A", [2], id="its line"),
        pytest.param(" A ", [2], id="white space around"),
        pytest.param("a", [], id="another case"),
        pytest.param("A b", [3, 4], id="twice"),
        pytest.param("Memory (2026-08-30)", [5], id="a dated one"),
        pytest.param("## ", [], id="nothing"),
        pytest.param("pre", [], id="the preamble"),
    ],
)
def test_finds_by_exact_heading(heading: str, lines: list[int]) -> None:
    """Sections are found by the exact text of their heading, all of them."""
    document = parse_memory("pre\n## A\n## A b\n## A b\n## Memory (2026-08-30)\n## b\n")
    assert [section.line for section in find_sections(document, heading)] == lines


@pytest.mark.parametrize(
    ("text", "wanted", "result"),
    [
        pytest.param("- q\n- quay key\n- Iraq\n", "q", "- quay key\n- Iraq\n", id="the first"),
        pytest.param("- a\n- b\n  c\n\n- d\n", "b\nc", "- a\n\n- d\n", id="several lines"),
        pytest.param("- a\n- b", "b", "- a\n", id="the last without line end"),
        pytest.param("x\r\n- a\r\n- b\r\n", "a", "x\r\n- b\r\n", id="CRLF"),
        pytest.param("## Memory (2026-08-30)\n\n- a\n- b\n", "a", "## Memory (2026-08-30)\n\n- b\n", id="of two"),
        pytest.param("pre\n\n## Memory (2026-08-30)\n\n- a\n\n## B\n", "a", "pre\n\n## B\n", id="a section's only one"),
        pytest.param("## Memory (2026-08-30)\n\n- a\nx\n", "a", "## Memory (2026-08-30)\n\nx\n", id="of a curated one"),
        pytest.param(
            "## Memory (2026-08-30)\n\n- b\n\n## B\n- a\n\n## Memory (2026-08-29)\n\n- c\n",
            "a",
            "## Memory (2026-08-30)\n\n- b\n\n## B\n\n## Memory (2026-08-29)\n\n- c\n",
            id="between dated sections",
        ),
        pytest.param("## A\n\n- a\n", "a", "## A\n\n", id="the only one under another header"),
        pytest.param(BOM + "- a\n- b\n", "a", BOM + "- b\n", id="after a byte order mark"),
    ],
)
def test_removes_the_whole_entry(text: str, wanted: str, result: str) -> None:
    """An entry goes with all of its lines and nothing else goes, but for a dated section left empty."""
    (entry,) = match_entries(parse_entries(text, timed=False), wanted)
    assert remove_entry(text, entry) == result


@pytest.mark.rule("WRITE-O6")
def test_units_are_items_and_paragraphs() -> None:
    """Deduplication sees each list item and each paragraph, and neither headings nor what is hidden."""
    text = (
        BOM + "# Title\n\nOne para\nof two lines.\n\n## Section\n- item one\n  goes on\n- item two\n\n"
        "1. first\n2) second\n   more\n  - indented\n\n```\n- code\n```\n<!-- hidden -->\n"
        "## Memory (2026-08-30)\n\n- dated\n\n### Sub\nlast\n"
    )
    assert memory_units(parse_memory(text)) == (
        "One para\nof two lines.",
        "item one\ngoes on",
        "item two",
        "first",
        "second\nmore\nindented".rpartition("\n")[0],
        "indented",
        "dated",
        "last",
    )
    assert memory_units(parse_memory("")) == ()
