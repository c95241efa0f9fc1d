"""The ladder against a model that is written from the text of the rules; see `ladder_model`."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnislash.core.clipping import clip_sources
from omnislash.core.ladder import LineState, days_to_read, find_pending, plan_tick, survey_ladder
from omnislash.core.lines import LineName, kind_of, parse_managed_path
from omnislash.core.periods import (
    LADDER,
    Level,
    days_in_folder,
    find_period,
    order_levels,
    period_at,
    period_on,
    split_period,
    summaries_in_folder,
)
from tests.property.ladder_model import FINEST_FIRST, Line, Model, list_days, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN = LineName("main")


# -- random lines ----------------------------------------------------------------------------------------------------

level_sets = st.sets(st.sampled_from(FINEST_FIRST), min_size=1)


@st.composite
def logs_of(draw: st.DrawFn, start: date, nights: int) -> set[date]:
    """Return days with a log: some single ones, some stretches, some in the weeks around the first of a month."""
    offsets = st.integers(0, nights)
    found = {start + timedelta(days=offset) for offset in draw(st.sets(offsets, max_size=30))}
    for offset, length in draw(st.lists(st.tuples(offsets, st.integers(1, 120)), max_size=6)):
        found |= set(list_days(start + timedelta(days=offset), start + timedelta(days=min(offset + length, nights))))
    for offset, near in draw(st.lists(st.tuples(offsets, st.integers(-8, 8)), max_size=12)):
        found.add((start + timedelta(days=offset)).replace(day=1) + timedelta(days=near))
    return found


def to_state(line: Line) -> LineState:
    """Return a line as the product sees it."""
    periods = [period for name in line.files if (period := find_period(name)) is not None]
    assert len(periods) == len(line.files)
    return LineState(MAIN, order_levels(line.levels), frozenset(line.logs), frozenset(periods))


def check_tick(model: Model, line: Line, today: date, max_runs: int) -> list[str]:
    """Compare one tick, and return the names of what it runs."""
    state = to_state(line)
    due, waiting = model.tick(line, today)

    plan = plan_tick(state, today, max_runs=max_runs)

    planned = [(run.period.name, [source.name for source in run.sources]) for run in (*plan.runs, *plan.later)]
    assert planned == due
    assert len(plan.runs) == min(max_runs, len(due))
    assert {wait.period.name: [one.name for one in wait.waits_for] for wait in plan.waiting} == waiting
    assert plan.pending == len(due) + len(waiting)
    return [run.period.name for run in plan.runs]


@pytest.mark.rule(
    "PERIOD-08", "PERIOD-09", "PERIOD-10", "PERIOD-13", "PERIOD-19", "PERIOD-22", "PERIOD-23", "PERIOD-24"
)
@pytest.mark.rule(
    "PERIOD-26", "PERIOD-29", "PERIOD-30", "PERIOD-31", "PERIOD-32", "PERIOD-33", "PERIOD-34", "PERIOD-35"
)
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    data=st.data(),
    start=st.dates(date(1971, 1, 1), date(2196, 1, 1)),
    levels=level_sets,
    max_runs=st.sampled_from([1, 2, 4, 4, 9]),
)
def test_three_years_of_nights(data: st.DataObject, start: date, levels: set[str], max_runs: int) -> None:
    """Night by night the same files are written from the same sources, with deletions, failures and a changed manifest.

    No night runs more than it may, nothing is ever written twice unless it was deleted, and when the nights have gone
    on long enough nothing is left that could be written.
    """
    nights = 3 * 366
    line = Line(levels, data.draw(logs_of(start, nights)))
    model = Model.of(start, start + timedelta(days=nights + 400))
    night_numbers = st.integers(0, nights)
    deletions = data.draw(st.sets(night_numbers, max_size=12))
    late = data.draw(st.dictionaries(night_numbers, st.integers(1, 60), max_size=8))
    failures = data.draw(st.sets(night_numbers, max_size=20))
    switches = data.draw(st.dictionaries(night_numbers, level_sets, max_size=2))
    for night in range(nights):
        today = start + timedelta(days=night)
        line.levels = switches.get(night, line.levels)
        if night in late:
            line.logs.add(today - timedelta(days=late[night]))
        if night in deletions and line.files:
            line.files.remove(sorted(line.files)[night % len(line.files)])
        runs = check_tick(model, line, today, max_runs)
        written = runs[1:] if night in failures else runs
        assert not line.files & set(written)
        line.files |= set(written)
    for extra in range(400):
        line.files |= set(check_tick(model, line, start + timedelta(days=nights), max_runs=400))
        if not find_pending(to_state(line), start + timedelta(days=nights)):
            break
        assert extra < len(FINEST_FIRST), "each level takes one more night"


@pytest.mark.rule("PERIOD-O2", "PERIOD-O3", "PERIOD-O4", "PERIOD-O5", "PERIOD-O15")
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    start=st.dates(date(1971, 1, 1), date(2198, 1, 1)),
    levels=level_sets,
    max_runs=st.integers(0, 5),
    night=st.integers(0, 420),
)
def test_any_state_of_a_line(data: st.DataObject, start: date, levels: set[str], max_runs: int, night: int) -> None:
    """Whatever files are there, by whomever, a tick plans what the model plans; and it needs no other logs."""
    line = Line(levels, data.draw(logs_of(start, 400)))
    model = Model.of(start, start + timedelta(days=420))
    for level, offset, length in data.draw(
        st.lists(st.tuples(st.sampled_from(FINEST_FIRST), st.integers(0, 400), st.integers(1, 90)), max_size=8)
    ):
        line.files |= {name_of(level, start + timedelta(days=offset + more)) for more in range(length)}
    today = start + timedelta(days=night)

    check_tick(model, line, today, max_runs)

    state = to_state(line)
    needed = set(days_to_read(state, today))
    of_needed = plan_tick(state.without(line.logs - needed), today, max_runs=max_runs)
    assert of_needed == plan_tick(state, today, max_runs=max_runs)
    assert bool(needed) == bool(of_needed.pending)
    check_view(state, today)


def check_view(state: LineState, today: date) -> None:
    """Check that a view is a tree that holds every summary and every period that is missing, once."""
    rungs = survey_ladder(state, today)
    shown = [rung.period for rung in rungs]
    assert len(shown) == len(set(shown))
    assert state.files <= set(shown)
    assert set(find_pending(state, today)) <= set(shown)
    above: list[str] = []
    for rung in rungs:
        del above[rung.depth :]
        assert len(above) == rung.depth
        if above:
            assert above[-1] == name_of(find_level(above[-1]), rung.period.last)
        above.append(rung.period.name)


def find_level(name: str) -> str:
    """Return the level of a name by its shape."""
    if "W" in name:
        return "week"
    if "Q" in name:
        return "quarter"
    return "year" if len(name) == 4 else "month"


# -- the calendar ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def centuries() -> Model:
    """Return every period of 1970 to 2200."""
    return Model.of(date(1971, 1, 1), date(2199, 12, 31))


@pytest.mark.rule("PERIOD-04", "PERIOD-05", "PERIOD-06", "PERIOD-07", "PERIOD-O1", "PERIOD-O10")
@pytest.mark.parametrize("level", FINEST_FIRST)
def test_every_period_from_1970_to_2200(centuries: Model, level: str) -> None:
    """Each has its name, its days and its path; its neighbours are the next and the one before."""
    whole = list(centuries.calendar[level].items())[1:-1]
    before = None
    for name, days in whole:
        period = find_period(name)
        assert period is not None
        assert (period.level, period.name, period.first, period.last) == (Level(level), name, days[0], days[-1])
        assert period.day_count == len(days)
        assert {period_on(Level(level), on) for on in days} == {period}
        assert period.path_in(MAIN) == f"main/{name[:4]}/{name}.md"
        assert before is None or (before.step(1) == period and period.step(-1) == before and before < period)
        before = period


@pytest.mark.rule("PERIOD-26", "PERIOD-29", "PERIOD-31", "PERIOD-32", "PERIOD-O2")
@pytest.mark.parametrize(
    ("level", "below"), [(a, b) for a in FINEST_FIRST for b in FINEST_FIRST[: FINEST_FIRST.index(a)]]
)
def test_every_split_from_1970_to_2200(centuries: Model, level: str, below: str) -> None:
    """Each period has the parts that end in it, and no day of the next; each part belongs to exactly one."""
    owners: dict[str, str] = {}
    for name in list(centuries.calendar[level])[1:-1]:
        period = find_period(name)
        assert period is not None
        own, rest = centuries.split(level, name, below)

        parts = split_period(period, Level(below))

        assert [part.name for part in parts.units] == own
        assert [part.first for part in parts.rest] == rest
        assert all(part.last <= period.last for part in (*parts.units, *parts.rest))
        assert all(part.belongs_to(Level(level)) == period for part in parts.units)
        assert not owners.keys() & set(own)
        owners |= dict.fromkeys(own, name)


@pytest.mark.rule("PERIOD-O1")
@given(on=st.dates(), level=st.sampled_from(Level))
def test_every_day_of_the_calendar(on: date, level: Level) -> None:
    """From the year 1 to 9999: a day lies in the period that has its name, and the path leads there and back."""
    period = period_on(level, on)

    assert period.name == name_of(level.value, on)
    assert period.first <= on <= period.last
    assert period.holds(on)
    assert not period.is_closed(on)
    path = parse_managed_path(period.path_in(MAIN))
    assert kind_of(path) is period.file_kind
    assert period_at(path) == period
    folder, file = path.split("/")[1:-1], path.rpartition("/")[2]
    if level is Level.DAY:
        assert days_in_folder(folder[0], folder[1], [file]) == {on}
    else:
        assert summaries_in_folder(folder[0], [file]) == {period}
    for above in LADDER:
        if above.rank > level.rank:
            assert period in split_period(period.belongs_to(above), level).units


@given(name=st.from_regex(r"[0-9]{4}(-[WQ]?[0-9]{1,2}(-[0-9]{2})?)?", fullmatch=True) | st.text(max_size=12))
def test_every_name(name: str) -> None:
    """A text names a period exactly when that period has this name."""
    period = find_period(name)

    assert period is None or period.name == name


# -- clipping --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-14", "PERIOD-O8")
@given(texts=st.lists(st.text(st.sampled_from("ab \n\r\U0001f44d"), max_size=30), max_size=5), cap=st.integers(0, 60))
def test_clipping_keeps_the_longest_end_in_whole_lines(texts: list[str], cap: int) -> None:
    """What is left of the joined text is its longest end that begins at a line and keeps the cap."""
    closed = [text + "\n" for text in texts]
    clipped = clip_sources(closed, max_chars=cap)
    left, whole = "".join(clipped.texts), "".join(closed)

    right = next(end for end in ends_by_line(whole) if not cap or units(end) <= cap)
    if right.strip():
        assert left == right
    elif not whole.strip():
        assert not left.strip()
        assert units(left) <= cap or not cap
    else:
        assert left == "" or left in whole
        assert units(left) <= cap
        assert units(left) >= min(cap - 1, 1)
    assert (clipped.chars, clipped.kept_chars) == (units(whole), units(left))


def units(text: str) -> int:
    """Return the length in UTF-16 units: two for the emoji."""
    return len(text) + text.count("\U0001f44d")


def ends_by_line(text: str) -> Iterator[str]:
    """Yield the ends of a text that begin at a line, longest first; the empty one last."""
    for at in range(len(text) + 1):
        before, after = text[:at][-1:], text[at:][:1]
        if at in (0, len(text)) or before == "\n" or (before == "\r" and after != "\n"):
            yield text[at:]
