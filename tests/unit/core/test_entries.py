"""Entries are read from list items, and what is written reads back word for word."""

from __future__ import annotations

import time

import pytest

from omnislash.core.entries import Entry, match_entries, parse_entries, render_entry, render_text

#: Accepted contents that look like something else.
AWKWARD = [
    pytest.param("first half\n§\nsecond half", id="a separator sign"),
    pytest.param("first half\n---\nsecond half", id="a thematic break"),
    pytest.param("first half\n## 2026-11-30\nsecond half", id="a heading"),
    pytest.param("first half\n## Memory (2026-08-01)\n\n- x", id="a dated section"),
    pytest.param("first half\n- [ ] x\nsecond half", id="a task"),
    pytest.param("first half\n<!-- end -->\nsecond half", id="a comment"),
    pytest.param("first half\n<!--\nsecond half", id="a comment left open"),
    pytest.param("first half\n-->\nsecond half", id="the end of a comment"),
    pytest.param("first half\n```\nsecond half", id="a fence left open"),
    pytest.param("```python\nprint()\n```", id="a fence"),
    pytest.param("~~~", id="a fence alone"),
    pytest.param("first half\n- 09:05 our own mark\nsecond half", id="an entry's mark"),
    pytest.param("- x", id="a leading list marker"),
    pytest.param("- - x", id="two leading list markers"),
    pytest.param("-", id="a dash"),
    pytest.param("- -", id="two dashes"),
    pytest.param("--", id="dashes"),
    pytest.param("* * *", id="stars"),
    pytest.param("# x", id="a title"),
    pytest.param("12:30 lunch", id="a leading time"),
    pytest.param("12:30", id="only a time"),
    pytest.param("12:30 13:30", id="two times"),
    pytest.param("12:30\nlunch", id="a time on a line of its own"),
    pytest.param("a\n\n\nb", id="inner blank lines"),
    pytest.param("a\n \n  \n\t\nb", id="inner lines of white space"),
    pytest.param("a\n\tb\n  c\n    d", id="inner indentation"),
    pytest.param("    a\n  b", id="leading indentation"),
    pytest.param("\ta", id="a leading tab"),
    pytest.param("a  \nb", id="white space at the end of a line"),
    pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d", id="emoji"),
    pytest.param("\u200fمرحبا\u200f\nשלום", id="right to left"),
    pytest.param("می\u200cرود", id="a non-joiner"),
    pytest.param("a\x0b\nb\x0c\u2028c\x85d", id="other line separators"),
    pytest.param("\ufeffa", id="a byte order mark"),
    pytest.param(" — role · beat", id="a signature"),
]


def texts(entries: tuple[Entry, ...]) -> list[str]:
    """Return what the entries say."""
    return [entry.text for entry in entries]


@pytest.mark.rule("WRITE-15", "BUDGET-O5")
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("content", AWKWARD)
def test_what_is_written_reads_back(content: str, newline: str) -> None:
    """An entry is one list item that says its content word for word, with a time and without."""
    plain = render_entry(content, newline=newline)
    assert texts(parse_entries(plain, timed=False)) == [content]
    item = render_entry(content, time="09:05", newline=newline)
    assert parse_entries(item, timed=True) == (Entry(content, "09:05", 0, len(item), 1),)


@pytest.mark.rule("WRITE-15", "BUDGET-O5")
@pytest.mark.parametrize("content", AWKWARD)
def test_an_entry_stays_inside_its_item(content: str) -> None:
    """Between two others an entry neither hides one nor takes anything from one."""
    text = f"# 2026-11-30\n\n- 09:00 before\n{render_entry(content, time='09:05')}\n- 09:10 after\n"
    assert texts(parse_entries(text, timed=True)) == ["before", content, "after"]


@pytest.mark.rule("BUDGET-O5")
def test_further_lines_are_indented() -> None:
    """Further lines are indented by two spaces and empty lines are left empty."""
    assert render_entry("one\n\ntwo\n  three") == "- one\n\n  two\n    three"
    assert render_entry("one\n\ntwo", time="09:05", newline="\r\n") == "- 09:05 one\r\n\r\n  two"


def test_content_is_normalised_when_written() -> None:
    """CRLF and outer blank lines of a content never reach the file."""
    assert render_entry("\n\none\r\ntwo\n\n") == "- one\n  two"


@pytest.mark.rule("REPORT-07", "REPORT-08")
@pytest.mark.parametrize(
    ("content", "signature", "item"),
    [
        pytest.param("sync failed", "assistant · briefing", "- 09:05 sync failed — assistant · briefing", id="a beat"),
        pytest.param("sync failed", "assistant", "- 09:05 sync failed — assistant", id="a role"),
        pytest.param("a\nb", "assistant", "- 09:05 a\n  b — assistant", id="two lines"),
        pytest.param("```\na\n```", "assistant", "- 09:05 ```\n  a\n  ```\n   — assistant", id="after a fence"),
        pytest.param("a\n~~~ b", "assistant", "- 09:05 a\n  ~~~ b — assistant", id="after what is no fence's end"),
    ],
)
def test_the_signature_ends_the_entry(content: str, signature: str, item: str) -> None:
    """A signed entry ends in a dash and the signature, which are part of its text."""
    assert render_entry(content, time="09:05", signature=signature) == item
    (entry,) = parse_entries(item, timed=True)
    assert entry.text == render_text(content, signature=signature)
    assert entry.text.endswith(f" — {signature}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("prose\n", [], id="prose"),
        pytest.param("- a\n* b\n+ c\n", ["a", "b", "c"], id="three markers"),
        pytest.param("-a\n-\n1. b\n  - c\n", [], id="what is no item at column 0"),
        pytest.param("* * *\n***\n* **\n* a * b\n", ["a * b"], id="a break of stars"),
        pytest.param("- a\nb\n  c\n", ["a"], id="a line not indented ends it"),
        pytest.param("- a\n c\n", ["a"], id="one space does not belong"),
        pytest.param("- a\n\tb\n \tc\n", ["a\nb\nc"], id="a tab belongs"),
        pytest.param("- a\n\n\n  b\n\n\n- c\n\n", ["a\n\n\nb", "c"], id="blank lines before a belonging line"),
        pytest.param("- a\n   \n  b\n   \n", ["a\n \nb"], id="lines of white space"),
        pytest.param("- \n  a\n", ["a"], id="text on the second line"),
        pytest.param("- a", ["a"], id="no line end"),
        pytest.param("\ufeff- a\n- b\n", ["a", "b"], id="after a byte order mark"),
        pytest.param("- a\r\n  b\r\n\r\n- c\r\n", ["a\nb", "c"], id="CRLF"),
        pytest.param("```\n- a\n```\n- b\n", ["b"], id="inside a fence"),
        pytest.param("   ~~~~ md\n- a\n~~~\n```\n~~~~~  \n- b\n", ["b"], id="a fence needs its own kind and length"),
        pytest.param("```\n- a\n```` b\n", ["a"], id="a fence that never ends"),
        pytest.param("``` a`b\n- a\n```\n", ["a"], id="inline code is no fence"),
        pytest.param("    ```\n- a\n    ```\n", ["a\n  ```"], id="an indented code line is no fence"),
        pytest.param("````\n```\n- a\n````\n- b\n```\n- c\n", ["b", "c"], id="a longer fence around a shorter one"),
        pytest.param("<!--\n- a\n-->\n- b\n", ["b"], id="inside a comment"),
        pytest.param("<!-- x -->\n- a\n<!-- y\n- b\n", ["a", "b"], id="a comment that never ends"),
        pytest.param("<!-- x\n- a\nb --> c\n- d\n", ["d"], id="a comment that ends within a line"),
        pytest.param("x <!--\n- a\n-->\n", ["a"], id="a comment that begins within a line"),
        pytest.param("<!--\n```\n-->\n- a\n```\n- b\n", ["a", "b"], id="a fence inside a comment"),
        pytest.param("```\n<!--\n```\n- a\n-->\n- b\n", ["a", "b"], id="a comment inside a fence"),
        pytest.param("<!--\n- a\n- b -->\n- c\n", ["a", "b -->", "c"], id="no item ends a comment"),
        pytest.param("```\n- a\n  ```\n- b\n", ["a\n```", "b"], id="no item ends a fence"),
        pytest.param("- a\n  ```\nb\n- c\n  ```\n- d\n", ["a\n```", "c\n```", "d"], id="a fence ends with its item"),
        pytest.param("```\n- a\n", ["a"], id="a fence left open before"),
    ],
)
def test_finds_the_items(text: str, said: list[str]) -> None:
    """List items at column 0 are entries with all lines that belong to them, outside of closed fences and comments."""
    assert texts(parse_entries(text, timed=False)) == said


@pytest.mark.parametrize(
    ("item", "when", "said"),
    [
        pytest.param("- 09:05 a", "09:05", "a", id="a time"),
        pytest.param("- 09:05 12:30 a", "09:05", "12:30 a", id="only the first time"),
        pytest.param("- 00:00 a", "00:00", "a", id="midnight"),
        pytest.param("- 23:59 a", "23:59", "a", id="the last minute"),
        pytest.param("- 24:00 a", None, "24:00 a", id="no hour of the day"),
        pytest.param("- 12:60 a", None, "12:60 a", id="no minute"),
        pytest.param("- 9:05 a", None, "9:05 a", id="one digit"),
        pytest.param("- 09:05a", None, "09:05a", id="no blank after it"),
        pytest.param("- 09:05", None, "09:05", id="nothing after it"),
        pytest.param("- 09:05 \n", None, "09:05", id="only a blank after it"),
        pytest.param("- 09:05\n  a", "09:05", "a", id="text below it"),
        pytest.param("- ٠٩:٠٥ a", None, "٠٩:٠٥ a", id="other digits"),
    ],
)
def test_reads_the_time_once(item: str, when: str | None, said: str) -> None:
    """In a daily log a leading time of day is the entry's time; elsewhere it is never taken off."""
    (entry,) = parse_entries(item, timed=True)
    assert (entry.time, entry.text) == (when, said)
    (plain,) = parse_entries(item, timed=False)
    assert plain.time is None
    assert plain.text == item[2:].rstrip().replace("\n  ", "\n")


def test_knows_where_an_entry_stands() -> None:
    """Offsets span the item without its line end and the blank lines after it; lines count from 1."""
    text = "# x\r\n\r\n- a\r\n  b\r\n\r\n- c\n\n"
    first, second = parse_entries(text, timed=False)
    assert (text[first.start : first.end], first.line) == ("- a\r\n  b", 3)
    assert (text[second.start : second.end], second.line) == ("- c", 6)


def test_reads_a_part_of_a_document() -> None:
    """Between two offsets only the items there are read, with offsets and lines of the whole."""
    text = "- a\n## x\n- b\n## y\n- c\n"
    start, end = text.index("## x"), text.index("## y")
    assert parse_entries(text, start=start, end=end, timed=False) == (Entry("b", None, 9, 12, 3),)


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        pytest.param("q", [1], id="one letter"),
        pytest.param("  q \n", [1], id="white space around it"),
        pytest.param("- q", [1], id="with its marker"),
        pytest.param("- 09:00 q", [1], id="as the file shows it"),
        pytest.param("09:00 q", [1], id="with its time"),
        pytest.param("09:01 q", [], id="with another time"),
        pytest.param("Q", [], id="in another case"),
        pytest.param("quay", [], id="a part"),
        pytest.param("", [], id="nothing"),
        pytest.param("None untimed", [], id="no time is no word"),
        pytest.param("untimed", [6], id="without a time"),
        pytest.param("two\nlines", [4], id="two lines"),
        pytest.param("two\n  lines", [4], id="two lines as indented"),
        pytest.param("- 09:03 two\r\n  lines", [4], id="two lines as the file shows them"),
        pytest.param("twice", [7, 8], id="twice the same"),
        pytest.param("09:06 twice", [8], id="told apart by time"),
        pytest.param("- marked", [9], id="exactly what another one shows"),
        pytest.param("marked", [10], id="the other one"),
        pytest.param("- 09:09   indented", [11], id="indented as the file shows it"),
        pytest.param("indented", [11], id="indented without its indentation"),
    ],
)
def test_matches_whole_entries_only(wanted: str, lines: list[int]) -> None:
    """An entry is addressed by all of its text, or by all of what the file shows, never by a part."""
    text = (
        "- 09:00 q\n- 09:01 quay key\n- 09:02 Iraq trip 2026\n- 09:03 two\n  lines\n- untimed\n"
        "- 09:05 twice\n- 09:06 twice\n- 09:07 - marked\n- 09:08 marked\n"
        "- 09:09   indented\n"
    )
    assert [entry.line for entry in match_entries(parse_entries(text, timed=True), wanted)] == lines


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" " * 1_000_000, id="spaces"),
        pytest.param("- " * 500_000, id="dashes"),
        pytest.param("* " * 500_000 + "x", id="stars"),
        pytest.param("`" * 1_000_000, id="backquotes"),
        pytest.param("```a\n" * 100_000, id="fences that never end"),
        pytest.param("".join("`" * (3 + n % 400) + "a\n" for n in range(2000)), id="fences of many lengths"),
        pytest.param("<!--\n" * 50_000 + "- -->\n" * 50_000, id="comments that never end"),
        pytest.param("- a\n" + "   \n" * 200_000, id="blank lines"),
        pytest.param("- a\n" + "  b\n" * 200_000, id="further lines"),
    ],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    """A megabyte made to slow a parser down is read in time that grows with its length; the square of it would be minutes."""
    started = time.perf_counter()
    parse_entries(text, timed=True)
    assert time.perf_counter() - started < 30
