"""Bytes to text, and what is wrong with a file that is searched all the same."""

from __future__ import annotations

from datetime import date

import pytest

from omnislash.index.note_texts import decode, read_header


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"", "", id="nothing"),
        pytest.param(b"\xef\xbb\xbf---\nname: a\n---\nb", "---\nname: a\n---\nb", id="O-24: a byte order mark"),
        pytest.param(b"a\r\nb\rc\n", "a\r\nb\rc\n", id="line ends stay"),
        pytest.param("Größe €\U0001f44d".encode(), "Größe €\U0001f44d", id="UTF-8"),
        pytest.param("\ufffd".encode(), "\ufffd", id="the replacement character itself is no fault"),
        pytest.param(b"a\x00b", "a\x00b", id="NUL"),
    ],
)
def test_text_of_a_file(data: bytes, text: str) -> None:
    """Only the mark at the beginning goes, and nothing is reported."""
    found = decode(data)
    assert found.text == text
    assert found.problems == ()


@pytest.mark.parametrize(
    ("data", "text", "line"),
    [
        (b"caf\xe9\nb", "caf\ufffd\nb", 1),
        (b"a\nb\xff", "a\nb\ufffd", 2),
        (b"bed \xed\xa0\xbc sown", "bed \ufffd\ufffd\ufffd sown", 1),
        ("\ufeffGröße\nb".encode("utf-16-le"), "Größe\nb", 1),
        ("\ufeffGröße\nb".encode("utf-16-be"), "Größe\nb", 1),
    ],
)
def test_bytes_that_are_no_utf8_are_searched_and_named(data: bytes, text: str, line: int) -> None:
    """What can be read is, and the first line that can't is reported."""
    found = decode(data)
    assert found.text == text
    assert [problem.line for problem in found.problems] == [line]
    assert found.problems[0].message.endswith("UTF-8.")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("---\nname: harbour\nsummary: tide notes: north quay\n---\nHigh water.\n", 3, id="O-18"),
        pytest.param("---\npath: `D:\\agent\\in`\n---\nbody", 2, id="O-19 (1)"),
        pytest.param("---\nA note that begins with a rule.\n", 1, id="O-19 (2)"),
        pytest.param("---\ntitle: *Soft launch*\n---\nbody", 2, id="O-19 (3)"),
        pytest.param("---\nlinks:\n  - [[harbour]]s\n---\nbody", 3, id="O-19 (4)"),
        pytest.param("---\nnote: 50% off: today\n---\nbody", 2, id="O-19 (5)"),
        pytest.param("---\nname:\n\tfirst: a\n---\nbody", 3, id="O-19 (6)"),
        pytest.param("---\nname: a\nname: b\n---\nbody", 3, id="a key given twice"),
    ],
)
def test_frontmatter_that_does_not_parse_is_named(text: str, line: int) -> None:
    """The line stands in the report, and a mended file has none."""
    assert line in {problem.line for problem in decode(text.encode()).problems}
    assert decode(b"---\ntitle: '*Soft launch*'\n---\nbody").problems == ()


@pytest.mark.parametrize("value", ["2026-11-30", "2026-11-30 08:00:00", "2026-02-30", "2026-13-45"])
def test_bare_dates_stop_nothing(value: str) -> None:
    """O-22: an impossible date is text."""
    text = f"---\ndue: {value}\n---\nbody"
    assert decode(text.encode()).problems == ()
    assert read_header(text).details == f"due: {value}"


def test_keys_of_a_header() -> None:
    """Title and day are taken out, all other values are searched as they were typed."""
    header = read_header(
        "---\ntitle: Harbour\ndate: 2026-03-02\ntags: [tide, quay]\nid: 012\nat: {a: b}\nno: ~\n---\nbody"
    )
    assert (header.title, header.on) == ("Harbour", date(2026, 3, 2))
    assert header.details == "date: 2026-03-02\ntags: tide, quay\nid: 012\nat: b"


def test_prose_between_two_rules_is_body() -> None:
    """Text without a key is no frontmatter, and nothing is reported."""
    text = "---\n\nJust a thought.\n\n---\n\nMore."
    assert read_header(text).body == 0
    assert decode(text.encode()).problems == ()


def test_a_huge_header_is_text() -> None:
    """More than 65,536 characters of keys are named and searched as text."""
    text = "---\nk: " + "v " * 40_000 + "\n---\nbody"
    assert read_header(text).broken is not None
    assert len(decode(text.encode()).problems) == 1
