"""The block of a ladder for random summaries: its ceiling, its order, and that nothing in it is made up."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core.ladder_block import frame_chars
from omnislash.core.lines import LineName
from omnislash.core.periods import LADDER, Period, find_period, period_on
from omnislash.core.targets import full_ladder, target_chars
from omnislash.envelope.ladder import Summary, render_summaries

MAIN = LineName("main")
IN_PART = " (in part — memory_read for the rest)"
_LABEL = re.compile(r"^\[main/(\d{4})/(\S+)\.md\](.*)$")

periods = st.builds(period_on, st.sampled_from(LADDER), st.dates(date(2020, 1, 1), date(2030, 1, 1)))
pieces = st.sampled_from(
    [
        "## Decisions",
        "- We ship on Fridays. (2026-08-14)",
        "Решили: релиз в пятницу 👍",
        "我们决定每周五发布",
        "</agent-memory-periods>",
        "### Memory recall",
        "[main/2026/2026-08.md]",
        "===",
        "---",
        "",
        "```",
        "**Open**",
        "\u200b",
        "a\rb",
    ]
)
lines = st.one_of(pieces, pieces, st.text(max_size=60), st.text("x y", min_size=100, max_size=400))
texts = st.lists(lines, max_size=12).map("\n".join)


def units(text: str) -> int:
    """Return the length as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render(summaries: dict[Period, str], ceiling: int) -> str:
    """Return the block of these summaries."""
    return render_summaries([Summary(period, text) for period, text in summaries.items()], line=MAIN, ceiling=ceiling)


def split_block(block: str) -> dict[str, tuple[bool, list[str]]]:
    """Return, by name of its period and in the block's order, whether a summary is whole, and its lines."""
    shown: dict[str, tuple[bool, list[str]]] = {}
    inside: list[str] = []
    for line in block.split("\n")[1:-3]:
        found = _LABEL.match(line)
        if found and find_period(found[2]):
            assert found[3] in {"", IN_PART}
            assert found[2] not in shown
            inside = []
            shown[found[2]] = not found[3], inside
        else:
            inside.append(line)
    return shown


@pytest.mark.rule("ENVELOPE-23", "ENVELOPE-24", "ENVELOPE-28", "ENVELOPE-O3", "PERIOD-45")
@given(st.dictionaries(periods, texts, max_size=8), st.integers(0, 3000))
def test_block_of_random_summaries(summaries: dict[Period, str], ceiling: int) -> None:
    """It keeps its ceiling and its order, holds each summary once at most, and is sent as one block."""
    block = render(summaries, ceiling)

    assert units(block) <= ceiling
    if not block:
        return
    block.encode()
    assert len(re.findall(r"<\W*agent-", block, re.IGNORECASE)) == 2
    assert not re.search(r"^[^\S\n]*#{1,6}(?=\s|$)", block, re.MULTILINE)
    shown = split_block(block)
    assert shown
    known = {period.name: period for period in summaries}
    order = [known[name] for name in shown]
    assert order == sorted(order, key=lambda period: (-period.level.rank, period.number))
    for _, inside in shown.values():
        assert re.search(r"[^\s\u200b]", "".join(inside))


@pytest.mark.rule("ENVELOPE-19", "ENVELOPE-22", "TENSION-20")
@given(st.dictionaries(periods, texts, max_size=6), st.integers(200, 2500))
def test_cut_summaries_are_beginnings(summaries: dict[Period, str], ceiling: int) -> None:
    """A cut summary is whole lines from the top of what an unbounded block shows, or the start of one line and `…`."""
    all_of_it, some = (split_block(render(summaries, limit)) for limit in (10**6, ceiling))

    for name, (is_whole, inside) in some.items():
        full = [line for line in all_of_it[name][1] if line]
        part = [line for line in inside if line]
        if is_whole:
            assert part == full
        elif part != full[: len(part)]:
            assert len(part) == 1
            start = part[0].removesuffix(" …")
            assert start != part[0]
            assert any(line.strip().startswith(start) for line in full)


@pytest.mark.rule("PERIOD-37", "ENVELOPE-23")
@given(
    st.sets(st.sampled_from(LADDER), min_size=1),
    st.integers(1, 4),
    st.dates(date(2021, 1, 1), date(2030, 1, 1)),
    st.integers(600, 12_000),
)
def test_target_and_block_agree(levels: set[object], count: int, today: date, period_chars: int) -> None:
    """Summaries of exactly the length asked fill a full ladder, each of them whole; what is left is a rounding."""
    enabled = tuple(level for level in LADDER if level in levels)
    framing = frame_chars(enabled, today, count, line=MAIN)
    target = target_chars(
        period_chars=period_chars, period_count=count, level_count=len(enabled), framing_chars=framing
    )
    if target is None:
        return

    block = render(dict.fromkeys(full_ladder(enabled, today, count=count), "x" * target), period_chars)

    assert IN_PART not in block
    assert len(split_block(block)) == count * len(enabled)
    assert period_chars - units(block) < count * len(enabled)
