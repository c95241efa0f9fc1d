"""Promises of the cut into notes that hold for every text."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnislash.core.content import check_content
from omnislash.core.daily import append_entry
from omnislash.errors import InvalidContentError
from omnislash.index.note_packing import WHOLE_PIECES, count_pieces
from omnislash.index.note_texts import read_header
from omnislash.index.notes import Note, NoteSource, decode, split_notes

if TYPE_CHECKING:
    from collections.abc import Iterable

NOV_30 = date(2026, 11, 30)
#: A word up to this length is cut in no script; longer ones are pieces of a text without spaces.
UNCUT_CHARS = 140
KINDS = ["memory", "daily", "week", "month", "quarter", "year", "document", "source"]

#: Lines that mean something to a reader of markdown, or nearly.
LINES = [
    "", " ", "\t", "alpha", "beta gamma delta", "# Title", "## Head", "### Sub ##", "#", "#tag", "## Memory (2026-08-30)",
    "- one", "* two", "+ three", "- 09:05 timed", "1. first", "  more", "   - nested", "\tmore", "- ", "- - deep", "* * *",
    "---", "===", "```", "```py", "````", "~~~", "  ```", "    code", "<!--", "-->", "<!-- note -->", "<div>", "<br>",
    "> quoted", "> - item", "| a | b |", "|---|---|", "| c | d |", "[x]: http://example.org", "[link](a/b.md)", "**bold**",
    "`code`", "snake_case", "a\u2028b", "a\rb", "\x00", "a\x00b", "\ud83c", "\ufeff", "\U0001f44d", "\u200b", "\xa0",
    "name: value", "date: 2026-03-02", "2026-11-30", "word " * 300, "\u4e2d\u6587" * 200, "x" * 2000, "- " + "long " * 400,
]  # fmt: skip

made_of_lines = st.builds(
    lambda mark, lines, tail: mark + "".join(line + end for line, end in lines) + tail,
    st.sampled_from(
        ["", "", "", "\ufeff", "---\n", "---\ntitle: Harbour\n---\n", "---\na: b: c\n---\n", "# 2026-11-30\n\n"]
    ),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r"])), max_size=24),
    st.sampled_from(["", "", *LINES]),
)
made_of_bytes = st.binary(max_size=80).map(lambda raw: decode(raw).text)
texts = made_of_lines | made_of_bytes | st.text(max_size=60)
sources = st.builds(NoteSource, st.sampled_from(KINDS), st.sampled_from([None, NOV_30]))

contents = st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map("\n".join) | st.text(min_size=1, max_size=60)


def is_accepted(text: str) -> bool:
    """Tell whether a text may be written."""
    try:
        check_content(text)
    except InvalidContentError:
        return False
    return True


def find_words(text: str) -> set[str]:
    """Return the words of a text that no markup tears apart."""
    return set(re.findall(r"[^\W_]+", text))


def gather_words(texts: Iterable[str]) -> set[str]:
    """Return the words of several texts."""
    return set().union(*(find_words(text) for text in texts))


@given(texts, sources)
@settings(max_examples=400)
@pytest.mark.rule("RECALL-O5")
def test_notes_are_where_they_say(text: str, source: NoteSource) -> None:
    """Notes stand in order inside the text without overlap, and their lines are those of their offsets."""
    cursor = 0
    for note in split_notes(text, source):
        assert cursor <= note.start < note.end <= len(text)
        assert note.first_line == text.count("\n", 0, note.start) + 1
        assert note.last_line == text.count("\n", 0, note.end) + 1
        assert text[note.end - 1].strip()
        cursor = note.end


@given(texts, sources)
@settings(max_examples=400)
@example("<br>\n<br/>", NoteSource("source"))
@example("- [x]\n- **\n- &nbsp;", NoteSource("memory"))
@pytest.mark.rule("RECALL-O5")
def test_what_is_searched_can_be_embedded(text: str, source: NoteSource) -> None:
    """It is never blank, holds no control character, and can be stored as UTF-8."""
    for note in split_notes(text, source):
        assert note.searched.strip()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\ufeff]", note.searched)
        note.searched.encode("utf-8")


@given(texts, sources)
@settings(max_examples=600)
@example("```\n# a\n", NoteSource("source"))
@example("# T\n## A\n### B\n## C\n\ntext", NoteSource("document"))
@example("# Title\n## Memory (2026-08-30)", NoteSource("memory"))
@example("<!-- never\n\n## H\n\n- x", NoteSource("source"))
@example("## 2026-03-01\n\n### 2026-03-02\n\nx\n", NoteSource("source"))
@example("- item\nlazy\n> quote\n1. one\n\n| a | b |\n|---|---|\n| c | d |", NoteSource("memory"))
@pytest.mark.rule("RECALL-O5")
def test_every_word_is_found(text: str, source: NoteSource) -> None:
    """Each word of the body lies in a note, or in a heading above one; what it says is searched."""
    header = read_header(text)
    notes = split_notes(text, source)
    whole = find_words(text[header.body :]) | (find_words(text[slice(*header.broken)]) if header.broken else set())
    spans = gather_words(text[note.start : note.end] for note in notes)
    headings = gather_words(name for note in notes for name in (note.title, *note.trail))
    own = {"2026", "11", "30", "08", "Memory"}
    assert {word for word in whole - spans - headings - own if len(word) < UNCUT_CHARS} == set()
    said = gather_words(note.searched for note in notes)
    markup = {"br", "div", "x", "nbsp", "a", "b"}
    assert {word for word in whole - said - own - markup if len(word) < UNCUT_CHARS} == set()


@given(texts, st.sampled_from([source for source in KINDS if source not in {"document", "source"}]))
@settings(max_examples=200)
@pytest.mark.rule("RECALL-O5")
def test_a_piece_is_cut_only_when_too_long(text: str, kind: str) -> None:
    """Whatever is longer than the window was cut: no note is longer than it."""
    for note in split_notes(text, NoteSource(kind)):
        assert count_pieces(text[note.start : note.end]) <= WHOLE_PIECES


def is_lone_heading(note: Note, text: str) -> bool:
    """Tell whether a note is a heading that has nothing below it."""
    is_underlined = re.search(r"[\r\n][ ]{0,3}(?:=+|-+)[ \t]*(?=[\r\n]|\Z)", text) is not None
    return re.match(r"[ ]{0,3}#", text[note.start : note.end]) is not None or is_underlined


@given(made_of_lines, contents.filter(is_accepted))
@settings(max_examples=400)
@example("# 2026-11-30\n\n- 09:00 a\n\n```\ncode", "x\n```")
@example("# 2026-11-30\n\n## Later\n", "now it has a body")
@example("- 09:00 a\nlazy", "b")
@example("<!-- open", "b -->")
@example("word " * 280 + "\n---", "0")
@example("| a | b |\r- \n", "0")
@pytest.mark.rule("RECALL-O5", "WRITE-12")
def test_appending_changes_no_earlier_note(old: str, content: str) -> None:
    """A log's notes stay as they are when an entry is added at its end; only a heading that gets a body goes."""
    source = NoteSource("daily", NOV_30)
    before = split_notes(old, source)
    new = append_entry(old, content, on=NOV_30, time="12:00")
    after = split_notes(new, source)
    while before and is_lone_heading(before[-1], old) and before[-1] not in after:  # a long one has several notes
        before = before[:-1]
    assert after[: len(before)] == before
    assert len(after) > len(before)


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_any_bytes_are_a_text(data: bytes) -> None:
    """Decoding never fails, and the text can be written as UTF-8."""
    found = decode(data)
    found.text.encode("utf-8")
    assert all(problem.message and problem.line >= 1 for problem in found.problems)
