"""How a tick, what is due, and the tree of a line look to a person."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.ladder import Stage
from omnislash.surfaces.cli import ladder_showing as showing

if TYPE_CHECKING:
    from collections.abc import Callable

    Shows = Callable[..., tuple[list[str], list[str]]]

WEEK = {"level": "week", "period": "2026-W46"}
WEEK_DONE = {
    **WEEK,
    "file": "main/2026/2026-W46.md",
    "chars": 1930,
    "targetChars": 1920,
    "overTarget": True,
    "sources": [f"main/2026/11/2026-11-{day:02d}.md" for day in range(9, 16)],
}
MONTH_WAITS = {"level": "month", "period": "2026-11", "waitsFor": ["2026-W46", "2026-W47", "2026-W48"]}


def _line(**changes: Any) -> dict[str, Any]:
    line = {"line": "main", "done": [], "failed": [], "waiting": [], "queued": 0, "message": "Consolidated 0/0"}
    return line | changes


@pytest.fixture
def shows(capsys: pytest.CaptureFixture[str]) -> Shows:
    """Shows an answer and returns the lines on stdout and on stderr."""

    def show(how: Callable[..., None], *lines: dict[str, Any], quiet: bool = False) -> tuple[list[str], list[str]]:
        how({"now": "2026-11-30T04:00:00+01:00", "lines": list(lines)}, quiet=quiet)
        printed = capsys.readouterr()
        return printed.out.split("\n")[:-1], printed.err.split("\n")[:-1]

    return show


# -- a tick ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-25", "PERIOD-39")
def test_a_tick_tells_what_it_wrote_and_what_waits(shows: Shows) -> None:
    """The sentence of the tick, a row for each summary, then what waits for what."""
    message = "Consolidated 1/1 due period(s), 1 more queued for the next tick"
    out, err = shows(showing.show_tick, _line(done=[WEEK_DONE], waiting=[MONTH_WAITS], message=message))

    assert out[0] == f"main: {message}"
    assert [cell.strip() for cell in out[2].split("  ") if cell] == [
        "main/2026/2026-W46.md",
        "1930 (longer than asked)",
        "1920",
        "7 files, 2026-11-09 to 2026-11-15",
    ]
    assert out[3:] == ["2026-11 waits for 3 periods, 2026-W46 to 2026-W48."]
    assert err == []


@pytest.mark.rule("PERIOD-O9")
def test_a_failed_run_is_told_even_when_quiet(shows: Shows) -> None:
    """The reason is a sentence; with `--quiet` nothing else is said."""
    failed = _line(failed=[{**WEEK, "reason": "The answer is empty"}], message="Consolidated 0/1 due period(s)")

    out, _ = shows(showing.show_tick, failed, _line(line="ops", done=[WEEK_DONE]), quiet=True)

    assert out == ["main: Consolidated 0/1 due period(s)", "2026-W46 was not written: The answer is empty."]


def test_a_line_that_could_not_be_looked_at_is_told(shows: Shows) -> None:
    """Its sentence stands in for the numbers, in a tick as in a dry run, and counts as a failure."""
    broken = _line(message="memory/main can't be used.", error="memory/main can't be used.", due=[])

    for how in (showing.show_tick, showing.show_plan):
        assert shows(how, broken, quiet=True)[0] == ["main: memory/main can't be used."]
    assert showing.has_failed(broken)
    assert not showing.has_failed(_line(due=[]))


@pytest.mark.rule("PERIOD-21")
def test_a_discarded_run_is_told(shows: Shows) -> None:
    """Somebody else's summary stands, and the reader hears it."""
    discarded = _line(discarded=[{**WEEK, "reason": "Somebody saved it meanwhile."}])

    assert shows(showing.show_tick, discarded)[0][1:] == ["2026-W46 was left as it is: Somebody saved it meanwhile."]


def test_a_long_queue_is_cut_after_a_tick(shows: Shows) -> None:
    """Five that wait are named, and the number of the others."""
    waiting = [{"level": "month", "period": f"2026-{month:02d}", "waitsFor": ["2026-W01"]} for month in range(1, 13)]

    out, _ = shows(showing.show_tick, _line(waiting=waiting))

    assert out[5] == "2026-05 waits for 2026-W01."
    assert out[6:] == ["7 more wait as well; omnislash consolidate --dry-run names them."]


@pytest.mark.rule("PERIOD-01")
@pytest.mark.parametrize("how", [showing.show_tick, showing.show_plan, showing.show_ladder])
def test_a_brain_without_the_setting_is_told_where_it_is(shows: Shows, how: Callable[..., None]) -> None:
    """No line is enabled: the key that would do it is named, and nothing with `--quiet`."""
    assert "memory.consolidation.lines" in shows(how)[1][0]
    assert shows(how, quiet=True) == ([], [])


# -- what is due -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-13", "PERIOD-34")
def test_a_plan_says_from_what_and_why_not(shows: Shows) -> None:
    """What is due has its sources, what comes later and what waits has its reason."""
    due = {**WEEK, "file": "main/2026/2026-W46.md", "sources": ["main/2026/11/2026-11-09.md"]}
    later = {**due, "period": "2026-W47", "sources": ["main/2026/11/2026-11-16.md", "main/2026/11/2026-11-18.md"]}

    out, _ = shows(showing.show_plan, _line(due=[due], later=[later], waiting=[MONTH_WAITS]))

    assert out == [
        "main: 1 due, 1 due in later ticks, 1 waits",
        "period    state  because of",
        "2026-W46  due    from 2026-11-09",
        "2026-W47  later  maxRunsPerTick; from 2026-11-16 and 2026-11-18",
        "2026-11   waits  no summary yet of 3 periods, 2026-W46 to 2026-W48",
    ]


def test_nothing_due(shows: Shows) -> None:
    """A line with nothing to do is one sentence, and none with `--quiet`."""
    assert shows(showing.show_plan, _line(due=[]))[0] == ["main: nothing is due"]
    assert shows(showing.show_plan, _line(due=[]), quiet=True) == ([], [])


# -- the tree --------------------------------------------------------------------------------------------------------


def _rung(period: str, depth: int, stage: Stage, *waits_for: str) -> dict[str, Any]:
    path = f"main/2026/{period}.md"
    return {"period": period, "depth": depth, "stage": stage.value, "file": path, "waitsFor": list(waits_for)}


RUNGS = [
    _rung("2026-Q3", 0, Stage.SILENT),
    _rung("2026-Q4", 0, Stage.OPEN),
    _rung("2026-11", 1, Stage.WAITING, "2026-W46"),
    _rung("2026-W45", 2, Stage.FILED),
    _rung("2026-W46", 2, Stage.DUE),
    _rung("2026-12", 1, Stage.OFF),
    _rung("2026-W49", 2, Stage.OPEN),
]


def test_the_tree_of_a_line(shows: Shows) -> None:
    """Each period hangs under the longer one, and says how far it has come."""
    out, _ = shows(showing.show_ladder, {"line": "main", "levels": ["week", "month"], "rungs": RUNGS})

    assert out == [
        "main: week, month",
        "├── 2026-Q3  nothing written",
        "└── 2026-Q4  not over",
        "    ├── 2026-11  waits for 2026-W46",
        "    │   ├── 2026-W45  main/2026/2026-W45.md",
        "    │   └── 2026-W46  due",
        "    └── 2026-12  level not enabled",
        "        └── 2026-W49  not over",
    ]


def test_the_tree_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stdout holds no other letters, the branches are drawn with what it has."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", printed)

    showing.show_ladder({"lines": [{"line": "main", "levels": [], "rungs": RUNGS[1:3]}]}, quiet=False)

    printed.seek(0)
    assert printed.read() == "main: no level enabled\n`-- 2026-Q4  not over\n    `-- 2026-11  waits for 2026-W46\n"


def test_lines_are_apart(shows: Shows) -> None:
    """An empty line stands between two trees; a line without writing says so."""
    empty = {"line": "ops", "levels": ["week"], "rungs": []}

    out, _ = shows(showing.show_ladder, empty, empty | {"line": "research", "levels": []})

    assert out == ["ops: week", "Nothing was written yet.", "", "research: no level enabled", "There is no summary."]


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_can_be_shown(shows: Shows, stage: Stage) -> None:
    """No stage of the ladder is unknown to the view."""
    out, _ = shows(showing.show_ladder, {"line": "main", "levels": ["week"], "rungs": [_rung("2026-W46", 0, stage)]})

    assert out[1].startswith("└── 2026-W46  ")
