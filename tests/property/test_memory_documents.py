"""Promises of MEMORY.md that hold for every file, however it came to be, and for every accepted content."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from omnislash.core.budgets import Budget, clip_chars, count_chars, fit_memory
from omnislash.core.content import check_content, normalise_content
from omnislash.core.dedupe import is_same
from omnislash.core.entries import match_entries, parse_entries, render_entry, render_text
from omnislash.core.sections import (
    add_entry,
    drop_section,
    memory_units,
    parse_memory,
    remove_entry,
)
from omnislash.errors import InvalidContentError

AUG_30 = date(2026, 8, 30)

#: Lines that mean something to a markdown parser, or nearly.
LINES = [
    "", " ", "   ", "\t", "text", "## A", "##", "##A", " ## A", "  ## A", "# T", "### s",
    "## Memory (2026-08-30)", "## Memory (2026-08-01)", "## Memory (2026-02-30)", "## Memory (2026-08-30) ",
    "- a", "- 12:30 lunch", "* b", "+ c", "- ", "-", "- - -", "* * *", "---", "  more", "\tmore", " one", "  - sub",
    "```", "```py", "````", "~~~", "  ```", "   ~~~", "    ```", "``` a`b", "<!--", "-->", "<!-- x -->", "  <!--",
    "- x -->", "- ```", "- <!--", "§", "- \U0001f44d", "1. n", "\udcff\udc80", "a\rb", "\x0b\x0c", "\u2028", "- \ufeff",
]  # fmt: skip
LINE_ENDS = ["\n", "\n", "\n", "\r\n", "\n\n", "\r\n\r\n"]

made_of_lines = st.builds(
    lambda mark, lines, tail: mark + "".join(line + end for line, end in lines) + tail,
    st.sampled_from(["", "", "", "\ufeff"]),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(LINE_ENDS)), max_size=24),
    st.sampled_from(["", "", *LINES]),
)
made_of_days = st.builds(
    lambda front, days: front + "".join(f"## Memory (2026-08-{day:02d})\n\n- {'x' * size}\n" for day, size in days),
    st.sampled_from(["", "# T\n\nfacts\n\n", "```\n", "<!--\n", "\ufeff", "text\n\U0001f44d\n"]),
    st.lists(st.tuples(st.integers(1, 31), st.integers(0, 60)), max_size=8),
)
made_of_bytes = st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
texts = made_of_lines | made_of_days | made_of_bytes


def is_accepted(text: str) -> bool:
    """Tell whether a text may be written."""
    try:
        check_content(text)
    except InvalidContentError:
        return False
    return True


contents = (
    st.lists(st.sampled_from(LINES), min_size=1, max_size=8).map("\n".join)
    | st.text(min_size=1, max_size=60)
    | st.text(alphabet="- *`~#<!>:0129\n\r\t \u200d\u200f\U0001f44d", min_size=1, max_size=30)
).filter(is_accepted)


@given(texts)
@settings(max_examples=200)
@pytest.mark.rule("BUDGET-03")
def test_every_text_is_a_document(text: str) -> None:
    """Parsing never fails, sections follow each other without gaps, and joined they are the text, byte for byte."""
    document = parse_memory(text)
    assert "".join(document.slice(section) for section in document.sections) == text
    ends = [0, *(section.end for section in document.sections)]
    assert [section.start for section in document.sections] == ends[:-1]
    for section in document.sections:
        assert section.line == text.count("\n", 0, section.start) + 1
    memory_units(document)


@given(texts, contents)
@settings(max_examples=200)
@example("```\n- a\n", "b\n```\nc")
@example("<!--\n- a\n", "b -->\nc")
@example("\ufeff", "## Memory (2026-08-30)")
@example("## Memory (2026-08-30)\n\n- a\n\n  \n## B", "- \n- ")
@pytest.mark.rule("BUDGET-02", "BUDGET-03", "WRITE-15")
def test_adding_changes_nothing_else(text: str, content: str) -> None:
    """A new entry is found whole under today's header; every old character, entry and section is still there."""
    document = parse_memory(text)
    added = add_entry(document, content, on=AUG_30)
    after = parse_memory(added.text)
    old = parse_entries(text, timed=False)
    new = parse_entries(added.text, timed=False)
    (receiving,) = [section for section in after.sections if section.start <= added.at < section.end]
    assert receiving.on == AUG_30
    own = parse_entries(added.text, start=receiving.start, end=receiving.end, timed=False)[-1]
    assert own.text == normalise_content(content)
    assert [entry.text for entry in new if entry.start != own.start] == [entry.text for entry in old]
    before_it = added.text[: own.start]
    assert text.startswith(before_it) or before_it.startswith(text)
    assert added.text.endswith(text[own.start :])
    assert [s.heading for s in after.sections if s != receiving] == [
        s.heading for s in document.sections if s.start != receiving.start
    ]
    assert is_same(content, memory_units(after))


@given(texts, contents)
@settings(max_examples=150)
@pytest.mark.rule("BUDGET-O5", "WRITE-15")
def test_a_new_entry_can_be_removed(text: str, content: str) -> None:
    """Removing an entry removes it alone; of the file as it was, every character and every other entry stays."""
    added = add_entry(parse_memory(text), content, on=AUG_30)
    entries = parse_entries(added.text, timed=False)
    own = [entry for entry in match_entries(entries, content) if entry.start >= added.at][-1]
    left = remove_entry(added.text, own)
    assert left.startswith(text[: added.at])
    assert [entry.text for entry in parse_entries(left, timed=False)] == [
        entry.text for entry in entries if entry.start != own.start
    ]
    assert left.replace("\r", "").replace("\n", "") == text.replace("\r", "").replace("\n", "")


@given(texts, st.data())
@settings(max_examples=150)
@pytest.mark.rule("BUDGET-03", "BUDGET-06")
def test_dropping_keeps_all_other_slices(text: str, data: st.DataObject) -> None:
    """A section dropped takes its own slice; the others read as before."""
    document = parse_memory(text)
    assume(document.sections)
    section = data.draw(st.sampled_from(document.sections))
    after = parse_memory(drop_section(document, section))
    kept = [document.slice(other) for other in document.sections if other != section]
    assert after.text == "".join(kept)
    if section.heading is not None:
        assert [after.slice(other) for other in after.sections] == kept


@given(before=texts, after=texts, limit=st.integers(0, 400), adds=st.booleans())
@settings(max_examples=200)
@pytest.mark.rule("BUDGET-06", "BUDGET-09", "BUDGET-10", "BUDGET-12", "BUDGET-13", "BUDGET-O1", "BUDGET-O2")
def test_the_budget_is_never_exceeded_anew(*, before: str, after: str, limit: int, adds: bool) -> None:
    """A file within its budget stays within it, one over it never grows, and only dated sections ever go."""
    added = add_entry(parse_memory(before), "one more", on=AUG_30)
    wanted = added.text if adds else after
    budget = Budget.of(limit)
    fit = fit_memory(wanted, text_before=before, budget=budget, protected_at=added.at if adds else None)
    if not fit.accepted:
        assert (fit.text, fit.dropped) == (before, ())
        assert limit
        assert fit.chars > limit
        assert fit.chars >= count_chars(before)
        return
    assert fit.chars == count_chars(fit.text)
    assert not limit or fit.chars <= limit or fit.chars < count_chars(before)
    document = parse_memory(wanted)
    curated = "".join(document.slice(s) for s in document.sections if s.on is None)
    left = parse_memory(fit.text)
    assert "".join(left.slice(s) for s in left.sections if s.on is None).strip() == curated.strip()
    days = [section.on for section in document.droppable()]
    assert sorted([*fit.dropped, *(section.on for section in left.droppable() if section.on)]) == days
    assert list(fit.dropped) == sorted(fit.dropped)
    if adds:
        assert "one more" in fit.text


@given(contents, st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, "nova", "nova · briefing"]))
@settings(max_examples=200)
@example("12:30 lunch", "\n", None)
@example("- - -", "\n", None)
@pytest.mark.rule("BUDGET-O5", "REPORT-07", "WRITE-15")
def test_every_content_reads_back(content: str, newline: str, signature: str | None) -> None:
    """What is rendered is one list item, and reads back as the text that was given, signature and all."""
    item = render_entry(content, signature=signature, newline=newline)
    (entry,) = parse_entries(item, timed=False)
    assert entry.text == render_text(content, signature=signature)
    assert (entry.start, entry.end, entry.time) == (0, len(item), None)
    assert entry.text.endswith(f" — {signature}" if signature else normalise_content(content))


@given(st.text(max_size=40) | made_of_bytes, st.integers(0, 60))
@settings(max_examples=200)
@pytest.mark.rule("BUDGET-18")
def test_clipping_is_the_longest_beginning(text: str, limit: int) -> None:
    """A clipped text is a beginning within the limit, and one character more would be over it."""
    kept = clip_chars(text, limit)
    assert text.startswith(kept)
    assert count_chars(kept) <= limit
    assert kept == text or count_chars(text[: len(kept) + 1]) > limit


# What an independent parser is asked about: documents in which each fence and each comment ends.
bodies = st.lists(st.sampled_from(["", "x", "## no", "- y", "  z", "> q", "# no", "<!--", "~~", "``"]), max_size=5)
pieces = st.one_of(
    st.sampled_from(["", "text", "more text", "## A", "## B c ##", "##", "# T", "### s", "#tag", "> ## no", "##no"]),
    st.builds(
        lambda fence, body: "\n".join([fence + "md", *body, fence]), st.sampled_from(["```", "~~~", "`````"]), bodies
    ),
    st.builds(lambda body: "\n".join(["<!-- c", *body, "-->"]), bodies),
    st.builds(
        lambda body: "\n".join(["- item", *(f"  {line}" if line else "" for line in body)]),
        st.lists(st.sampled_from(["", "x", "## no", "- y", "```", "~~~", "<!--", "-->"]), max_size=5),
    ),
)


def top_headings(text: str) -> list[int]:
    """Return the lines of the top-level `##` headings that an independent CommonMark parser finds."""
    return [
        token.map[0] + 1
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "heading_open" and token.level == 0 and token.markup == "##" and token.map
    ]


@given(st.lists(pieces, max_size=12).map("\n".join))
@settings(max_examples=200)
@pytest.mark.rule("BUDGET-03")
def test_commonmark_sees_the_same_sections(text: str) -> None:
    """Where every fence and comment ends, sections begin where an independent CommonMark parser finds `##` headings."""
    found = [section.line for section in parse_memory(text).sections if section.heading is not None]
    assert found == top_headings(text)


@given(st.lists(st.lists(st.sampled_from(["x y", "## no", "- z", "```", "", "§", "> q"]), min_size=1), max_size=6))
@settings(max_examples=100)
@pytest.mark.rule("BUDGET-02", "BUDGET-O5")
def test_commonmark_sees_what_was_written(contents_: list[list[str]]) -> None:
    """An independent CommonMark parser finds one section in a written file, with a list item for each write."""
    text = ""
    for lines in contents_:
        text = add_entry(parse_memory(text), "\n".join(["w", *lines]), on=AUG_30).text
    tokens = MarkdownIt("commonmark").parse(text)
    assert sum(token.type == "list_item_open" and token.level == 1 for token in tokens) == len(contents_)
    assert top_headings(text) == ([1] if contents_ else [])
