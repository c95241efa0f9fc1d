"""Source text over `maxSourceChars` loses its oldest lines."""

from __future__ import annotations

import pytest

from omnislash.core.clipping import clip_sources

OLD, NEW = "# Mon\n\n- one\n- two\n", "# Tue\n\n- three\n- four\n"
EMOJI = "\U0001f44d"


@pytest.mark.rule("PERIOD-14", "PERIOD-O8", "KNOB-O2")
@pytest.mark.parametrize(
    ("texts", "cap", "kept"),
    [
        pytest.param([OLD, NEW], 0, [OLD, NEW], id="no cap"),
        pytest.param([OLD, NEW], len(OLD + NEW), [OLD, NEW], id="exactly at the cap"),
        pytest.param([OLD, NEW], len(OLD + NEW) - 1, ["\n- one\n- two\n", NEW], id="one over loses a line"),
        pytest.param([OLD, NEW], len(NEW) + 6, ["- two\n", NEW], id="the oldest lines go"),
        pytest.param([OLD, NEW], len(NEW) + 5, ["", NEW], id="no part of a line is kept"),
        pytest.param([OLD, NEW], len(NEW), ["", NEW], id="only the newest"),
        pytest.param([OLD, NEW], 15, ["", "- three\n- four\n"], id="a part of the newest"),
        pytest.param(["old\n", "x" * 20 + "\n", "new\n"], 20, ["", "", "new\n"], id="what goes has no gap"),
        pytest.param(["a\r\nb\r\n", "c\r"], 5, ["b\r\n", "c\r"], id="foreign line ends"),
        pytest.param(["one\ntwo", ""], 4, ["two", ""], id="no line end at the end"),
        pytest.param([EMOJI * 2 + "\n" + EMOJI + "\n"], 3, [EMOJI + "\n"], id="an emoji counts two"),
        pytest.param([EMOJI * 2 + "\n" + EMOJI + "\n"], 7, [EMOJI + "\n"], id="a unit short for the line of two"),
        pytest.param([], 10, [], id="nothing"),
    ],
)
def test_the_oldest_whole_lines_go(texts: list[str], cap: int, kept: list[str]) -> None:
    """What is left is the longest end in whole lines that keeps the cap."""
    clipped = clip_sources(texts, max_chars=cap)

    assert list(clipped.texts) == kept
    assert clipped.is_complete is (texts == kept)


@pytest.mark.rule("PERIOD-O8")
@pytest.mark.parametrize(
    ("texts", "cap", "kept"),
    [
        pytest.param(["a\n", "x" * 10 + "end\n"], 5, ["", "xxend"], id="the newest line alone is too long"),
        pytest.param(["a\n", "x" * 10 + "end\n\n\n"], 5, ["", "xxend"], id="blank lines after it"),
        pytest.param(["x" * 10 + "end\n", "\n \n"], 4, ["xend", ""], id="a blank newest source"),
        pytest.param([EMOJI * 3], 5, [EMOJI * 2], id="never half an emoji"),
        pytest.param([EMOJI * 3], 1, [""], id="too small for anything"),
        pytest.param(["\n\n", "  "], 1, ["", ""], id="nothing that says anything"),
    ],
)
def test_a_line_over_the_cap_keeps_its_end(texts: list[str], cap: int, kept: list[str]) -> None:
    """A summary of nothing would be invented, so the newest line with text is cut when nothing else is left."""
    clipped = clip_sources(texts, max_chars=cap)

    assert [text if text.strip() else "" for text in clipped.texts] == kept
    assert clipped.kept_chars <= cap


@pytest.mark.rule("PERIOD-O8")
def test_the_loss_is_stated() -> None:
    """The sentence for the prompt has the numbers, in UTF-16 units, and there is none when nothing is lost."""
    clipped = clip_sources([EMOJI + "\n", "new\n"], max_chars=4)

    assert (clipped.chars, clipped.kept_chars) == (7, 4)
    assert clipped.render_loss() == ("The source text is incomplete: its oldest part, 3 of 7 characters, was left out.")
    assert clip_sources(["new\n"], max_chars=4).render_loss() == ""


def test_a_long_source_is_cut_in_one_pass() -> None:
    """Eight megabytes in one line, or in lines of nothing, are no trouble."""
    assert clip_sources(["x" * 8_000_000], max_chars=10).texts == ("x" * 10,)
    assert clip_sources(["\n" * 2_000_000], max_chars=10).kept_chars <= 10
