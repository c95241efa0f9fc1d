"""A daily log only grows, and its entries read back in order."""

from __future__ import annotations

from datetime import date

import pytest

from omnislash.core.daily import append_entry, has_writing, parse_daily, render_heading

NOV_30 = date(2026, 11, 30)
BOM = "\ufeff"


@pytest.mark.rule("LINE-05", "WRITE-12")
def test_a_log_begins_with_its_heading() -> None:
    """The first entry of a day makes a log of heading, empty line and one item."""
    assert render_heading(NOV_30) == "# 2026-11-30"
    assert append_entry(None, "text", on=NOV_30, time="09:05") == "# 2026-11-30\n\n- 09:05 text\n"


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize(
    ("old", "result"),
    [
        pytest.param("", "# 2026-11-30\n\n- 10:00 called back\n", id="an empty file"),
        pytest.param(BOM, BOM + "# 2026-11-30\n\n- 10:00 called back\n", id="only a byte order mark"),
        pytest.param(" ", " \n# 2026-11-30\n\n- 10:00 called back\n", id="only white space"),
        pytest.param("\r\n", "\r\n# 2026-11-30\r\n\r\n- 10:00 called back\r\n", id="only an empty CRLF line"),
        pytest.param(
            "# 2026-11-30\n\n- 09:00 opened the shop\n- 09:40 till counted",
            "# 2026-11-30\n\n- 09:00 opened the shop\n- 09:40 till counted\n- 10:00 called back\n",
            id="a person's log without a line end",
        ),
        pytest.param(
            "# 2026-11-30\r\n\r\n- 09:00 a\r\n", "# 2026-11-30\r\n\r\n- 09:00 a\r\n- 10:00 called back\r\n", id="CRLF"
        ),
        pytest.param("# 2026-11-30", "# 2026-11-30\n\n- 10:00 called back\n", id="only the heading"),
        pytest.param("# 2026-11-30\n", "# 2026-11-30\n\n- 10:00 called back\n", id="only the heading line"),
        pytest.param("# 2026-11-30\n\n", "# 2026-11-30\n\n- 10:00 called back\n", id="heading and empty line"),
        pytest.param("x\n## Later\n", "x\n## Later\n\n- 10:00 called back\n", id="it ends in a heading"),
        pytest.param("#tag", "#tag\n- 10:00 called back\n", id="a tag is no heading"),
        pytest.param("- a\n\n\n", "- a\n\n\n- 10:00 called back\n", id="blank lines at the end"),
        pytest.param("- a\n  ```", "- a\n  ```\n- 10:00 called back\n", id="a fence left open in an entry"),
        pytest.param("```\nx\n", "```\nx\n- 10:00 called back\n", id="a fence left open"),
        pytest.param("\udcff\udcfe\n", "\udcff\udcfe\n- 10:00 called back\n", id="bytes that are no UTF-8"),
    ],
)
def test_the_old_text_stays_in_front(old: str, result: str) -> None:
    """Whatever a log holds stays as it is, and the new entry starts a line of its own."""
    text = append_entry(old, "called back", on=NOV_30, time="10:00")
    assert text == result
    assert text.startswith(old)
    assert [(e.time, e.text) for e in parse_daily(text)][-1] == ("10:00", "called back")


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize(
    "separator",
    ["§", "---", "## 2026-11-30", "- [ ] x", "<!-- end -->", "```", "- 09:05 own mark", "-->", "~~~"],
)
def test_our_own_separators_are_text(separator: str) -> None:
    """Two writes make two entries, and the first reads back whole, whatever its second line is."""
    content = f"first half\n{separator}\nsecond half"
    first = append_entry(None, content, on=NOV_30, time="09:05")
    second = append_entry(first, "after", on=NOV_30, time="09:06")
    assert second.startswith(first)
    assert [(e.time, e.text) for e in parse_daily(second)] == [("09:05", content), ("09:06", "after")]


@pytest.mark.rule("REPORT-04", "REPORT-07")
def test_a_deposit_is_signed() -> None:
    """A deposit is an ordinary entry that ends in its signature."""
    text = append_entry(None, "sync failed", on=NOV_30, time="09:05", signature="assistant · briefing")
    assert text == "# 2026-11-30\n\n- 09:05 sync failed — assistant · briefing\n"


@pytest.mark.rule("PERIOD-22", "PERIOD-O3")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", False, id="nothing"),
        pytest.param("# 2026-11-30\n\n", False, id="only its heading"),
        pytest.param("# 2026-11-30", False, id="a heading without line end"),
        pytest.param(BOM + "# 2026-11-30\r\n \t\r\n", False, id="white space"),
        pytest.param("# 2026-11-30\n\n## Work\n#\n", False, id="headings to write under"),
        pytest.param("# 2026-11-30\n\n- 09:05 text\n", True, id="an entry"),
        pytest.param("# 2026-11-30\nprose", True, id="prose"),
        pytest.param("text without a heading", True, id="no heading"),
        pytest.param("# 2026-11-30\n#tag\n", True, id="a tag"),
        pytest.param("# 2026-11-30\n\n猫", True, id="one Han letter"),
    ],
)
def test_knows_a_log_that_says_something(text: str, *, says: bool) -> None:
    """A log was written in when there is text beyond its heading."""
    assert has_writing(text) is says
