"""What stands around the summaries of a ladder, and what it takes of `periodChars`."""

from __future__ import annotations

import time
from datetime import date

import pytest

from omnislash.core.ladder_block import border_chars, escape_labels, frame_chars, render_label, render_ladder
from omnislash.core.lines import LineName, ManagedPath
from omnislash.core.periods import LADDER, Level, order_levels

MAIN = LineName("main")
POINTER = (
    "(older entries and the days behind these summaries exist — memory_search finds them, memory_read opens a path)"
)


def units(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.rule("ENVELOPE-18")
def test_label() -> None:
    """The path stands in brackets; a summary that is cut says so in the words of the rule."""
    path = ManagedPath("main/2026/2026-09.md")

    assert render_label(path, is_whole=True) == "[main/2026/2026-09.md]"
    assert render_label(path, is_whole=False) == "[main/2026/2026-09.md] (in part — memory_read for the rest)"


@pytest.mark.rule("ENVELOPE-03", "ENVELOPE-05", "ENVELOPE-O2")
def test_block() -> None:
    """The tag names the line, by which a later copy replaces this one; the pointer comes last."""
    block = render_ladder(LineName("ops-eu"), ["[a]\nFirst.", "[b]\nSecond."])

    assert block.split("\n") == [
        '<agent-memory-periods line="ops-eu">',
        "[a]",
        "First.",
        "",
        "[b]",
        "Second.",
        "",
        POINTER,
        "</agent-memory-periods>",
    ]


@pytest.mark.rule("PERIOD-45", "ENVELOPE-24")
def test_no_parts_no_block() -> None:
    """Tags and a pointer alone are no block."""
    assert render_ladder(MAIN, []) == ""


@pytest.mark.rule("PERIOD-37", "ENVELOPE-23")
@pytest.mark.parametrize(
    ("levels", "count", "paths"),
    [
        pytest.param("week", 1, ["2026-W35"], id="one level"),
        pytest.param("week month year", 1, ["2025", "2026-08", "2026-W35"], id="three levels"),
        pytest.param(
            "week month year", 2, ["2024", "2025", "2026-07", "2026-08", "2026-W34", "2026-W35"], id="two of each"
        ),
        pytest.param("week month quarter year", 1, ["2025", "2026-Q2", "2026-08", "2026-W35"], id="all four"),
    ],
)
@pytest.mark.parametrize("line", ["main", "a-line-with-a-long-name"])
def test_frame_is_a_full_ladder_without_its_texts(line: str, levels: str, count: int, paths: list[str]) -> None:
    """On 2026-09-02 a full ladder has these labels; the frame is its length with empty texts."""
    labels = [f"[{line}/{name[:4]}/{name}.md]\n" for name in paths]
    block = "\n\n".join([f'<agent-memory-periods line="{line}">\n{labels[0]}', *labels[1:], POINTER])
    right = units(f"{block}\n</agent-memory-periods>")

    assert frame_chars(order_levels(levels.split()), date(2026, 9, 2), count, line=LineName(line)) == right


@pytest.mark.rule("PERIOD-37")
def test_frame_is_near_the_worked_table() -> None:
    """The table of target lengths takes 240 for `[week, month, year]`; 2 units a target are no matter."""
    assert abs(frame_chars((Level.WEEK, Level.MONTH, Level.YEAR), date(2026, 9, 2), 1, line=MAIN) - 240) <= 6


@pytest.mark.parametrize("today", [date(2026, 9, 2), date(2027, 1, 4), date(2024, 2, 29), date(9999, 12, 31)])
def test_frame_is_the_same_every_day(today: date) -> None:
    """The length asked of a summary does not move with the calendar."""
    assert frame_chars(LADDER, today, 3, line=MAIN) == frame_chars(LADDER, date(2026, 12, 1), 3, line=MAIN)


@pytest.mark.parametrize(("levels", "count"), [((), 1), (LADDER, 0)])
def test_frame_of_no_summaries(levels: tuple[Level, ...], count: int) -> None:
    """Without a level or a count only the borders are left."""
    assert frame_chars(levels, date(2026, 9, 2), count, line=MAIN) == border_chars(MAIN)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param("[main/2026/2026-08.md]\nX", "\\[main/2026/2026-08.md]\nX", id="a label"),
        pytest.param("a\n[ops/2026/2026.MD] (in part)", "a\n\\[ops/2026/2026.MD] (in part)", id="capitals"),
        pytest.param("a\n  > [x.md ]", "a\n  > \\[x.md ]", id="quoted"),
        pytest.param("\u200b[x.md]", "\u200b\\[x.md]", id="behind a character that nobody sees"),
        pytest.param("[[x.md]", "[\\[x.md]", id="two brackets"),
        pytest.param("See [x.md] and [y](z.md).", "See [x.md] and [y](z.md).", id="a mention in a sentence"),
        pytest.param("[Friday] we ship", "[Friday] we ship", id="brackets without a path"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_text_is_no_label(text: str, right: str) -> None:
    """Only what could be taken for the label of another summary is changed."""
    assert escape_labels(text) == right


@pytest.mark.parametrize(
    "text", ["[" * 10**6, "[.md" * 250_000, "[a.md" + " " * 10**6, "\n[.md " * 200_000, " " * 10**6]
)
def test_hostile_text_is_linear(text: str) -> None:
    """A million characters take no noticeable time; the limit leaves room for a busy machine."""
    started = time.perf_counter()

    escape_labels(text)

    assert time.perf_counter() - started < 2
