"""The length asked of a summary, and which summaries a ladder holds."""

from __future__ import annotations

from datetime import date

import pytest

from omnislash.core.periods import LADDER, Level, order_levels, parse_period
from omnislash.core.targets import choose_summaries, full_ladder, is_over_target, target_chars

FILES = frozenset(
    map(parse_period, ["2026-W33", "2026-W34", "2026-W35", "2026-06", "2026-07", "2026-Q2", "2024", "2025"])
)


@pytest.mark.rule("PERIOD-37", "PERIOD-40")
@pytest.mark.parametrize(
    ("period_chars", "period_count", "levels", "framing", "target", "answer", "over"),
    [
        pytest.param(6000, 1, 3, 240, 1920, 1920, False, id="exactly"),
        pytest.param(6000, 1, 3, 240, 1920, 1921, True, id="one too many, filed as written"),
        pytest.param(6000, 2, 3, 400, 933, 900, False, id="two each, rounded down"),
        pytest.param(6000, 1, 1, 120, 5880, 7000, True, id="one level, filed as written"),
        pytest.param(4000, 1, 4, 300, 925, 925, False, id="all four"),
        pytest.param(0, 1, 2, 240, None, 50_000, False, id="no chars, none asked"),
        pytest.param(6000, 0, 2, 240, None, 50_000, False, id="no count, none asked"),
        pytest.param(240, 1, 3, 240, None, 50_000, False, id="the framing fills the ladder"),
        pytest.param(100, 1, 3, 240, None, 50_000, False, id="the framing does not fit"),
        pytest.param(242, 1, 3, 240, None, 50_000, False, id="less than one each"),
    ],
)
def test_worked_row(  # noqa: PLR0913  the columns of the table
    *, period_chars: int, period_count: int, levels: int, framing: int, target: int | None, answer: int, over: bool
) -> None:
    """Every row of the table of target lengths."""
    asked = target_chars(
        period_chars=period_chars, period_count=period_count, level_count=levels, framing_chars=framing
    )

    assert asked == target
    assert is_over_target(answer, asked) is over


@pytest.mark.rule("ENVELOPE-28")
@pytest.mark.parametrize(
    ("levels", "count", "right"),
    [
        pytest.param("week month quarter year", 1, ["2025", "2026-Q2", "2026-07", "2026-W35"], id="one of each"),
        pytest.param("week year", 2, ["2024", "2025", "2026-W34", "2026-W35"], id="two, removed levels left out"),
        pytest.param("month quarter", 5, ["2026-Q2", "2026-06", "2026-07"], id="fewer than asked"),
        pytest.param("week month quarter year", 0, [], id="none"),
        pytest.param("", 1, [], id="no level"),
    ],
)
def test_the_ladder_holds_the_latest_of_each_level(levels: str, count: int, right: list[str]) -> None:
    """The coarsest level comes first, and within a level the oldest."""
    chosen = choose_summaries(FILES, order_levels(levels.split()), count=count)

    assert [period.name for period in chosen] == right
    assert choose_summaries((), order_levels(levels.split()), count=count) == ()


def test_a_full_ladder_has_the_closed_periods_before_today() -> None:
    """On 2027-01-04 the week around New Year has just closed, and every longer period at New Year."""
    ladder = full_ladder(LADDER, date(2027, 1, 4), count=2)

    right = ["2025", "2026", "2026-Q3", "2026-Q4", "2026-11", "2026-12", "2026-W52", "2026-W53"]
    assert [period.name for period in ladder] == right
    assert full_ladder((Level.YEAR,), date.min, count=1) == ()
