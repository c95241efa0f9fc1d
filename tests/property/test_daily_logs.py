"""Promises of a daily log that hold for every file, however it came to be, and for every accepted content."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnislash.core.content import check_content, normalise_content
from omnislash.core.daily import append_entry, has_writing, parse_daily
from omnislash.core.entries import match_entries, render_text
from omnislash.core.sections import remove_entry
from omnislash.errors import InvalidContentError

NOV_30 = date(2026, 11, 30)

#: Lines of a log that a person or a program may have left.
LINES = [
    "", " ", "\t", "# 2026-11-30", "## Later", "#", "text", "- 09:05 a", "- 25:00 b", "- c", "* d", "  more", "\tmore",
    "```", "  ```", "````md", "~~~", "<!--", "-->", "- x -->", "- 09:06 ```", "- 09:07", "---", "\udcff", "a\rb", "- ",
]  # fmt: skip

logs = st.builds(
    lambda mark, lines, tail: mark + "".join(line + end for line, end in lines) + tail,
    st.sampled_from(["", "", "\ufeff", "# 2026-11-30\n\n", "# 2026-11-30\r\n\r\n"]),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\r\n"])), max_size=20),
    st.sampled_from(["", "", *LINES]),
) | st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
times = st.builds("{:02d}:{:02d}".format, st.integers(0, 23), st.integers(0, 59))
signatures = st.sampled_from([None, "nova", "nova · briefing"])


def is_accepted(text: str) -> bool:
    """Tell whether a text may be written."""
    try:
        check_content(text)
    except InvalidContentError:
        return False
    return True


contents = (
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("\n".join)
    | st.text(min_size=1, max_size=60)
    | st.text(alphabet="- *`~#<!>:0129\n\r\t \u200d\u200f\U0001f44d", min_size=1, max_size=30)
    | st.builds("{} {}".format, times, st.text(max_size=10))
).filter(is_accepted)


@given(logs)
@settings(max_examples=200)
@pytest.mark.rule("WRITE-15")
def test_every_text_is_a_log(text: str) -> None:
    """Parsing never fails, and each entry is where it says: in order, from its marker to its last character."""
    entries = parse_daily(text)
    cursor = 0
    for entry in entries:
        assert entry.start >= cursor
        assert text[entry.start : entry.start + 2] in {"- ", "* ", "+ "}
        assert text[: entry.start].lstrip("\ufeff").endswith("\n") or not text[: entry.start].strip("\ufeff")
        assert text[entry.end : entry.end + 1] in {"", "\n", "\r"}
        assert entry.line == text.count("\n", 0, entry.start) + 1
        cursor = entry.end
    has_writing(text)


@given(logs | st.none(), contents, times, signatures)
@settings(max_examples=200)
@example("```\n- 09:00 a", "b\n```\nc", "10:00", None)
@example("<!-- \n- 09:00 a", "b --> c", "10:00", None)
@example("- 09:00 a\n\n", "12:30 lunch", "10:00", "nova · briefing")
@pytest.mark.rule("WRITE-12", "WRITE-15", "REPORT-04", "REPORT-07")
def test_appending_only_appends(old: str | None, content: str, time: str, signature: str | None) -> None:
    """The old text is a prefix, its entries read as before, and exactly one comes after them, whole."""
    text = append_entry(old, content, on=NOV_30, time=time, signature=signature)
    assert text.startswith(old or "")
    assert text.endswith("\n")
    assert has_writing(text)
    before = [(entry.time, entry.text) for entry in parse_daily(old or "")]
    said = render_text(content, signature=signature)
    assert [(entry.time, entry.text) for entry in parse_daily(text)] == [*before, (time, said)]


@given(logs, contents, times)
@settings(max_examples=150)
@pytest.mark.rule("WRITE-15")
def test_removing_takes_one_entry(old: str, content: str, time: str) -> None:
    """An appended entry is found by all of its text, and removing it leaves every byte of the old log."""
    text = append_entry(old, content, on=NOV_30, time=time)
    entries = parse_daily(text)
    own = entries[-1]
    assert own in match_entries(entries, content)
    shown = normalise_content(text[own.start : own.end])
    assert own in match_entries(entries, shown) or shown in {entry.text.strip() for entry in entries}
    left = remove_entry(text, own)
    assert left.startswith(old)
    assert [entry.text for entry in parse_daily(left)] == [entry.text for entry in entries[:-1]]


@given(st.lists(st.tuples(contents, times), max_size=6), st.sampled_from(["", "# 2026-11-30\r\n\r\n"]))
@settings(max_examples=100)
@pytest.mark.rule("WRITE-15")
def test_many_writes_make_as_many_entries(writes: list[tuple[str, str]], old: str) -> None:
    """A log that only the engine wrote holds the writes in order, in one kind of line end."""
    text: str = old
    for content, time in writes:
        text = append_entry(text, content, on=NOV_30, time=time)
    assert [(entry.time, entry.text) for entry in parse_daily(text)] == [
        (time, render_text(content)) for content, time in writes
    ]
    if old:
        assert text.count("\n") == text.count("\r\n")
