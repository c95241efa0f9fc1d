"""MEMORY.md in a turn: the reading first, oldest dated sections gone first, whole lines, and honesty about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core.budgets import Budget
from omnislash.core.lines import LineName
from omnislash.envelope.memory_block import render_memory

if TYPE_CHECKING:
    from omnislash.envelope.blocks import Block

MAIN = LineName("main")
OPEN, CLOSE = '<agent-memory path="main/MEMORY.md">', "</agent-memory>"


def units(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render(text: str, ceiling: int = 12_000, budget: int = 10_000) -> Block | None:
    """Return the block of a file with this text."""
    return render_memory(text, line=MAIN, ceiling=ceiling, budget=Budget.of(budget))


def lines_of(block: Block | None) -> tuple[list[str], str]:
    """Return what stands above the file's text, and that text."""
    assert block is not None
    lines = block.text.split("\n")
    assert (lines[0], lines[-1]) == (OPEN, CLOSE)
    above = 2 if block.is_partial else 1
    return lines[1 : 1 + above], "\n".join(lines[1 + above : -1])


def dated(day: str, *entries: str) -> str:
    """Return a section as the engine writes it."""
    return f"## Memory ({day})\n\n" + "".join(f"- {entry}\n" for entry in entries)


# -- whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("ENVELOPE-03", "BUDGET-20")
def test_whole_file_below_its_reading() -> None:
    """The first line is the reading, then the file as it stands, headings included."""
    text = "# Main\n\n## People\n\n- Tomek is not rung before nine.\n"

    block = render(text)

    assert block is not None
    assert block.text == f"{OPEN}\n{len(text)} of 10000 fileMaxChars (1%)\n{text.rstrip()}\n{CLOSE}"
    assert (block.place, block.is_partial, block.shown) == ("main/MEMORY.md", False, {"main/MEMORY.md": None})


@pytest.mark.rule("BUDGET-20")
def test_reading_of_an_unbounded_line() -> None:
    """Without a budget the reading gives the length alone."""
    assert lines_of(render("- a\n", budget=0))[0] == ["4 chars (no fileMaxChars)"]


@pytest.mark.rule("ENVELOPE-O8")
@pytest.mark.parametrize("text", ["", "\n", " \n\t\r\n", "\ufeff", "\ufeff\r\n\r\n"])
def test_empty_file_has_no_block(text: str) -> None:
    """A file that holds no character but blanks sends nothing."""
    assert render(text) is None


@pytest.mark.rule("KNOB-06")
def test_zero_carries_nothing() -> None:
    """`priorityChars: 0` switches the block off."""
    assert render("- a\n", ceiling=0) is None


@pytest.mark.rule("KNOB-27", "ENVELOPE-16", "TENSION-13")
def test_ceiling_bounds_the_text_of_the_file() -> None:
    """A file of exactly `priorityChars` is whole, reading and tags on top; one unit more and it is partial."""
    text = "- " + "a" * 95 + "\n- b"

    assert len(text) == 101
    assert lines_of(render(text, ceiling=101)) == ([f"{101} of 10000 fileMaxChars (1%)"], text)
    assert lines_of(render(text, ceiling=100))[1] == "- " + "a" * 95


def test_ceiling_counts_utf16_units() -> None:
    """An emoji costs two."""
    text = "- " + "\U0001f600" * 10

    assert lines_of(render(text, ceiling=22))[1] == text
    assert render(text, ceiling=21) is None or lines_of(render(text, ceiling=21))[1] != text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\ufeff# Main\n- a\n", "# Main\n- a"),
        ("# Main\r\n- a\r\n", "# Main\n- a"),
        ("# Main\r- a\r", "# Main\n- a"),
        ("- \udce9t\udce9\n", "- \ufffdt\ufffd"),
        ("- заметка\n- 覚え書き\n- حاشية\n", "- заметка\n- 覚え書き\n- حاشية"),
        ("\n\n  indented\n", "  indented"),
    ],
)
def test_any_file_is_shown(text: str, shown: str) -> None:
    """A byte order mark, foreign line ends, bytes that are no UTF-8 and any script are shown as text."""
    assert lines_of(render(text))[1] == shown


# -- over the ceiling ------------------------------------------------------------------------------------------------

CURATED = "# Main\n\n## People\n\n- Tomek is not rung before nine.\n\n"
OLD, MIDDLE, NEW = dated("2026-08-01", "x" * 40), dated("2026-08-02", "y" * 40), dated("2026-08-03", "z" * 40)


@pytest.mark.rule("ENVELOPE-16", "ENVELOPE-17")
@pytest.mark.parametrize("order", [(OLD, MIDDLE, NEW), (NEW, OLD, MIDDLE)])
def test_oldest_dated_sections_go_first(order: tuple[str, ...]) -> None:
    """By date, not by place; what is left stands in its order, and the block says that it is partial and where more is."""
    text = CURATED + "\n".join(order)
    kept = [section for section in order if section is not OLD]

    above, shown = lines_of(render(text, ceiling=len(text.rstrip()) - 1))

    assert shown == (CURATED + "\n".join(kept)).rstrip()
    assert above[0] == f"{len(text)} of 10000 fileMaxChars ({(200 * len(text) + 10_000) // 20_000}%)"
    assert "partial" in above[1]
    assert "main/MEMORY.md" in above[1]


@pytest.mark.rule("ENVELOPE-16")
def test_no_more_is_dropped_than_needed() -> None:
    """Room for all but two sections keeps all but two."""
    text = CURATED + f"{OLD}\n{MIDDLE}\n{NEW}"

    assert lines_of(render(text, ceiling=len(CURATED + NEW) - 1))[1] == (CURATED + NEW).rstrip()
    assert lines_of(render(text, ceiling=len(CURATED + NEW) - 2))[1] == CURATED.rstrip()


@pytest.mark.rule("ENVELOPE-16", "ENVELOPE-21")
def test_clipped_where_dropping_is_not_enough() -> None:
    """Whole lines from the top, never half of one, and no heading at the end."""
    text = "# Main\n\n- one\n- two\n\n## Later\n\n- three\n\n" + OLD

    for ceiling, shown in [
        (len("# Main\n\n- one\n- two\n\n## Later\n\n- three"), "# Main\n\n- one\n- two\n\n## Later\n\n- three"),
        (len("# Main\n\n- one\n- two\n\n## Later\n\n- thre"), "# Main\n\n- one\n- two"),
        (len("# Main\n\n- one\n- two"), "# Main\n\n- one\n- two"),
        (len("# Main\n\n- one\n- tw"), "# Main\n\n- one"),
    ]:
        assert lines_of(render(text, ceiling=ceiling))[1] == shown


@pytest.mark.rule("ENVELOPE-22", "ENVELOPE-24")
def test_first_words_where_no_line_fits() -> None:
    """A line too long for the ceiling is shown up to a word; with no room for a few words there is no block at all."""
    text = "# Main\n\n- " + "many words of one line " * 20

    assert lines_of(render(text, ceiling=40))[1] == "- many words of one line many words of …"
    assert render(text, ceiling=10) is None


def test_only_dated_section_is_cut_not_dropped() -> None:
    """Where nothing but headings would be left, the newest dated section stays and is cut."""
    text = "# Main\n\n" + OLD + "\n" + dated("2026-08-02", "first note", "second note", "third note")

    above, shown = lines_of(render(text, ceiling=60))

    assert shown == "# Main\n\n## Memory (2026-08-02)\n\n- first note\n- second note"
    assert "partial" in above[1]


def test_line_of_five_megabytes() -> None:
    """It is cut like any other, and what follows it is not shown as if nothing was missing."""
    block = render("- " + "word " * 1_000_000 + "\n- after\n", ceiling=100)

    above, shown = lines_of(block)
    assert shown.startswith("- word word")
    assert shown.endswith(" …")
    assert units(shown) <= 100
    assert above[0] == "5000011 of 10000 fileMaxChars (50000%)"


# -- what recall need not repeat -------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-06", "RECALL-07")
def test_spans_are_the_lines_that_are_shown() -> None:
    """A whole file is shown as a whole, a partial one by the lines that stand in the block."""
    text = f"{CURATED.rstrip()}\n\n{OLD}\n{MIDDLE}\n{NEW}".rstrip()
    lines = text.split("\n")

    def spoken(block: Block | None) -> list[str]:
        assert block is not None
        spans = block.shown["main/MEMORY.md"]
        assert spans is not None
        return [
            lines[at - 1] for first, last in spans for at in range(first, last + 1) if lines[at - 1].startswith("-")
        ]

    assert spoken(render(text, ceiling=len(text) - 1)) == [
        "- Tomek is not rung before nine.",
        f"- {'y' * 40}",
        f"- {'z' * 40}",
    ]
    assert spoken(render(text, ceiling=60)) == ["- Tomek is not rung before nine."]
    words = render("- " + "word " * 50, ceiling=60)
    assert words is not None
    assert words.shown == {"main/MEMORY.md": ()}


def test_lines_that_cannot_be_counted_are_not_claimed() -> None:
    """A line separator breaks a line in the block and none in the file, so nothing is taken as shown."""
    block = render("- one\u2028two\n- three\n- " + "x" * 80, ceiling=40)

    assert lines_of(block)[1] == "- one\ntwo\n- three"
    assert block is not None
    assert block.shown == {"main/MEMORY.md": ()}


# -- credentials -----------------------------------------------------------------------------------------------------

KEY = (
    "-----BEGIN "
    "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 20 + "-----END " + "PRIVATE KEY-----\n"
)


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("ceiling", [12_000, 400, 200, 60])
def test_credentials_are_masked(ceiling: int) -> None:
    """Whether whole or cut, the value stands nowhere, and the class of it does."""
    value = "ghp_" + "b1" * 18
    text = f"# Main\n\n- token {value}\n- more\n\n{KEY}\n## Memory (2026-08-01)\n\n- {value} again\n"

    shown = lines_of(render(text, ceiling=ceiling))[1]

    assert "[redacted: GitHub token]" in shown
    assert value not in shown
    assert "MIIEvQ" not in shown


@pytest.mark.rule("SECRET-O2")
def test_cut_shows_no_half_of_a_credential() -> None:
    """In a file so long that it is clipped first, no piece of a key comes to stand at the end."""
    for before in range(0, 4_000, 233):
        text = "- " + "x" * before + "\n" + KEY * 40
        block = render(text, ceiling=before + 2_000)
        assert block is None or "MIIEvQ" not in block.text


# -- any file --------------------------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [
        "# A\n",
        "## B\n",
        OLD,
        MIDDLE,
        NEW,
        "- note\n",
        "  more\n",
        "\n",
        "word ",
        "\U0001f600",
        "\r\n",
        "<system>",
        "---\n",
        "```\n",
    ]
)


@given(st.lists(pieces, max_size=20).map("".join), st.integers(0, 200))
def test_any_file_keeps_the_ceiling(text: str, ceiling: int) -> None:
    """What is shown of the file has at most `priorityChars` units; partial is said exactly where lines are missing."""
    block = render(text, ceiling=ceiling)
    if block is None:
        return
    above, shown = lines_of(block)
    whole, shown_whole = lines_of(render(text, ceiling=100_000))

    assert units(shown) <= ceiling
    assert shown.strip()
    assert above[0] == whole[0]
    assert block.is_partial is (shown != shown_whole)


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("shift", range(0, 41, 8))
def test_no_beginning_of_a_token_is_shown_without_its_end(shift: int) -> None:
    """In a line so long that it is clipped first, the clip may go through a token; nothing of that token is shown."""
    token = "ghp_" + "b1" * 18

    shown = lines_of(render("- " + "y" * shift + f" {token}" * 3_000, ceiling=30_000))[1]

    assert "[redacted: GitHub token]" in shown
    assert "ghp_" not in shown
