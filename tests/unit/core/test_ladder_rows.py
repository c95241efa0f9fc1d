"""What is due, from what, and when: every worked row and seam case of the rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING

import pytest

from omnislash.core.ladder import (
    LineState,
    Stage,
    TickReport,
    Waiting,
    days_to_read,
    find_sources,
    plan_tick,
    survey_ladder,
)
from omnislash.core.lines import LineName
from omnislash.core.periods import order_levels, parse_period

if TYPE_CHECKING:
    from collections.abc import Iterable

MAIN = LineName("main")
ALL_FOUR = "week month quarter year"

#: Month; first and last week with their number; the days of these two; days read from logs; weekday of the end; written.
MONTHS = """
2025-08 | 2025-W31 2025-W35 5 | 2025-07-28 2025-08-03 | 2025-08-25 2025-08-31 | none                    | Sun | 2025-09-02
2026-01 | 2026-W01 2026-W04 4 | 2025-12-29 2026-01-04 | 2026-01-19 2026-01-25 | 2026-01-26 2026-01-31 6 | Sat | 2026-02-01
2026-02 | 2026-W05 2026-W08 4 | 2026-01-26 2026-02-01 | 2026-02-16 2026-02-22 | 2026-02-23 2026-02-28 6 | Sat | 2026-03-01
2026-03 | 2026-W09 2026-W13 5 | 2026-02-23 2026-03-01 | 2026-03-23 2026-03-29 | 2026-03-30 2026-03-31 2 | Tue | 2026-04-01
2026-04 | 2026-W14 2026-W17 4 | 2026-03-30 2026-04-05 | 2026-04-20 2026-04-26 | 2026-04-27 2026-04-30 4 | Thu | 2026-05-01
2026-05 | 2026-W18 2026-W22 5 | 2026-04-27 2026-05-03 | 2026-05-25 2026-05-31 | none                    | Sun | 2026-06-02
2026-06 | 2026-W23 2026-W26 4 | 2026-06-01 2026-06-07 | 2026-06-22 2026-06-28 | 2026-06-29 2026-06-30 2 | Tue | 2026-07-01
2026-07 | 2026-W27 2026-W30 4 | 2026-06-29 2026-07-05 | 2026-07-20 2026-07-26 | 2026-07-27 2026-07-31 5 | Fri | 2026-08-01
2026-08 | 2026-W31 2026-W35 5 | 2026-07-27 2026-08-02 | 2026-08-24 2026-08-30 | 2026-08-31 2026-08-31 1 | Mon | 2026-09-01
2026-09 | 2026-W36 2026-W39 4 | 2026-08-31 2026-09-06 | 2026-09-21 2026-09-27 | 2026-09-28 2026-09-30 3 | Wed | 2026-10-01
2026-10 | 2026-W40 2026-W43 4 | 2026-09-28 2026-10-04 | 2026-10-19 2026-10-25 | 2026-10-26 2026-10-31 6 | Sat | 2026-11-01
2026-11 | 2026-W44 2026-W48 5 | 2026-10-26 2026-11-01 | 2026-11-23 2026-11-29 | 2026-11-30 2026-11-30 1 | Mon | 2026-12-01
2026-12 | 2026-W49 2026-W52 4 | 2026-11-30 2026-12-06 | 2026-12-21 2026-12-27 | 2026-12-28 2026-12-31 4 | Thu | 2027-01-01
2027-01 | 2026-W53 2027-W04 5 | 2026-12-28 2027-01-03 | 2027-01-25 2027-01-31 | none                    | Sun | 2027-02-02
2027-02 | 2027-W05 2027-W08 4 | 2027-02-01 2027-02-07 | 2027-02-22 2027-02-28 | none                    | Sun | 2027-03-02
""".strip().splitlines()

#: Enabled levels; period; the files from which, runs of them written as first .. last; written.
LONG_PERIODS = """
week month quarter year | 2026-Q1 | 2026-01 2026-02 2026-03 | 2026-04-02
week month quarter year | 2026-Q2 | 2026-04 2026-05 2026-06 | 2026-07-02
week month quarter year | 2026-Q3 | 2026-07 2026-08 2026-09 | 2026-10-02
week month quarter year | 2026-Q4 | 2026-10 2026-11 2026-12 | 2027-01-02
week month quarter year | 2026    | 2026-Q1 .. 2026-Q4 | 2027-01-03
week month quarter year | 2027-Q1 | 2027-01 2027-02 2027-03 | 2027-04-02
week month year | 2026 | 2026-01 .. 2026-12 | 2027-01-02
month quarter year | 2026-08 | 2026-08-01 .. 2026-08-31 | 2026-09-01
month quarter year | 2026 | 2026-Q1 .. 2026-Q4 | 2027-01-03
week year | 2026 | 2026-W01 .. 2026-W52 2026-12-28 .. 2026-12-31 | 2027-01-01
week year | 2027 | 2026-W53 .. 2027-W51 2027-12-27 .. 2027-12-31 | 2028-01-01
week quarter | 2026-Q3 | 2026-W27 .. 2026-W39 2026-09-28 .. 2026-09-30 | 2026-10-01
year | 2026 | 2026-01-01 .. 2026-12-31 | 2027-01-01
""".strip().splitlines()


def day(text: str) -> date:
    """Return the day that is written there."""
    return date.fromisoformat(text)


def days(first: str, last: str | None = None) -> set[date]:
    """Return the days from the first to the last, both counted."""
    start, end = day(first), day(last or first)
    return {start + timedelta(days=number) for number in range((end - start).days + 1)}


def names(periods: Iterable[object]) -> list[str]:
    """Return the names of periods."""
    return [str(period) for period in periods]


def spell_out(text: str) -> list[str]:
    """Return the names of a list in which `a .. b` stands for all from a to b."""
    found: list[str] = []
    words = iter(text.split())
    for word in words:
        if word != "..":
            found.append(word)
            continue
        last = next(words)
        while found[-1] != last:
            found.append(str(parse_period(found[-1]).step(1)))
    return found


def make_state(levels: str, logs: Iterable[date], files: str = "") -> LineState:
    """Return a line with those levels, those days written in and those summaries."""
    return LineState(
        MAIN, order_levels(levels.split()), frozenset(logs), frozenset(map(parse_period, spell_out(files)))
    )


@dataclass
class Nights:
    """A line on which a tick runs each night."""

    #: The line as the last tick left it.
    state: LineState
    #: `maxRunsPerTick`.
    max_runs: int = 4
    #: When each summary was written, and from what.
    written: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    #: The log line of each night.
    messages: dict[str, str] = field(default_factory=dict)

    def run(self, first: str, last: str) -> Nights:
        """Run the ticks of those nights; every summary succeeds."""
        for on in sorted(days(first, last)):
            plan = plan_tick(self.state, on, max_runs=self.max_runs)
            for run in plan.runs:
                assert run.period.name not in self.written, "no file is ever written twice"
                self.written[run.period.name] = (str(on), names(run.sources))
            self.messages[str(on)] = plan.report(done=len(plan.runs)).render()
            self.state = replace(self.state, files=self.state.files | {run.period for run in plan.runs})
        return self

    def on(self, night: str) -> list[str]:
        """Return what was written in a night, in order."""
        return [name for name, (on, _) in self.written.items() if on == night]


@cache
def run_two_years(levels: str) -> Nights:
    """Return a line with those levels and something written on every day, from the end of 2025 to January 2028."""
    return Nights(make_state(levels, days("2025-12-29", "2028-01-05"))).run("2025-12-29", "2028-01-05")


@pytest.fixture(scope="module")
def months() -> Nights:
    """Return a line with weeks and months and something written on every day, from July 2025 to March 2027."""
    return Nights(make_state("week month", days("2025-06-30", "2027-03-31"))).run("2025-07-01", "2027-03-31")


class TestWorkedPeriods:
    """The tables of months, quarters and years, something written on every day."""

    @pytest.mark.rule(
        "PERIOD-10", "PERIOD-26", "PERIOD-27", "PERIOD-28", "PERIOD-29", "PERIOD-30", "PERIOD-31", "PERIOD-33"
    )
    @pytest.mark.parametrize("row", MONTHS, ids=lambda row: row[:7])
    def test_month(self, months: Nights, row: str) -> None:
        """A month is written from its weeks and its last days, on the first or, if it ends on a Sunday, the second."""
        month, weeks, first_week, last_week, rest, weekday, written = (part.strip() for part in row.split("|"))
        first, last, count = weeks.split()

        night, sources = months.written[month]

        of_weeks = spell_out(f"{first} .. {last}")
        of_days = [] if rest == "none" else spell_out("{} .. {}".format(*rest.split()))
        assert len(of_weeks) == int(count)
        assert [str(parse_period(first).first), str(parse_period(first).last)] == first_week.split()
        assert [str(parse_period(last).first), str(parse_period(last).last)] == last_week.split()
        assert len(of_days) == (0 if rest == "none" else int(rest.split()[2]))
        assert parse_period(month).last.strftime("%w") == str(
            ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].index(weekday)
        )
        assert (night, sources) == (written, of_weeks + of_days)

    @pytest.mark.rule("PERIOD-03", "PERIOD-09", "PERIOD-10", "PERIOD-32", "PERIOD-33", "PERIOD-O2")
    @pytest.mark.parametrize("row", LONG_PERIODS, ids=lambda row: "-".join(row.replace("|", " ").split()[:5]))
    def test_quarter_or_year(self, row: str) -> None:
        """A longer period is written from the next lower enabled level, on the first night that has all of it."""
        levels, period, sources, written = (part.strip() for part in row.split("|"))

        assert run_two_years(levels).written[period] == (written, spell_out(sources))

    def test_a_row_of_weeks_is_as_long_as_the_table_says(self) -> None:
        """2026 has 52 weeks of its own and so has 2027; a third quarter 13."""
        assert len(spell_out("2026-W01 .. 2026-W52")) == len(spell_out("2026-W53 .. 2027-W51")) == 52
        assert len(spell_out("2026-W27 .. 2026-W39")) == 13


class TestSeams:
    """The seam cases: what is due, from what, and when."""

    @pytest.mark.rule("PERIOD-22", "PERIOD-23", "PERIOD-30")
    def test_only_the_30th_of_july(self) -> None:
        """July is written from the log, the week after it, August never."""
        nights = Nights(make_state("week month", days("2026-07-30"))).run("2026-07-25", "2027-02-01")

        assert nights.written == {
            "2026-07": ("2026-08-01", ["2026-07-30"]),
            "2026-W31": ("2026-08-03", ["2026-07-30"]),
        }

    @pytest.mark.rule("PERIOD-22", "PERIOD-23", "PERIOD-35")
    def test_only_the_first_of_august(self) -> None:
        """The week is written, then August from it, July never."""
        nights = Nights(make_state("week month", days("2026-08-01"))).run("2026-07-25", "2027-02-01")

        assert nights.written == {
            "2026-W31": ("2026-08-03", ["2026-08-01"]),
            "2026-08": ("2026-09-01", ["2026-W31"]),
        }

    @pytest.mark.rule("PERIOD-23", "PERIOD-29", "PERIOD-30")
    def test_only_the_31st_of_august(self) -> None:
        """August is written from the log before its week is over; September is never due although the week feeds it."""
        nights = Nights(make_state("week month", days("2026-08-31"))).run("2026-08-25", "2027-02-01")

        assert nights.written == {
            "2026-08": ("2026-09-01", ["2026-08-31"]),
            "2026-W36": ("2026-09-07", ["2026-08-31"]),
        }

    @pytest.mark.rule("PERIOD-27", "PERIOD-29", "PERIOD-31", "PERIOD-33")
    def test_all_days_of_august_and_its_first_week(self) -> None:
        """The seam days reach July through their logs and August through its first week (TENSION-10)."""
        nights = Nights(make_state("week month", days("2026-07-27", "2026-08-31"))).run("2026-07-25", "2026-12-01")

        when = {name: on for name, (on, _) in nights.written.items()}
        assert when == {
            "2026-07": "2026-08-01",
            "2026-W31": "2026-08-03",
            "2026-W32": "2026-08-10",
            "2026-W33": "2026-08-17",
            "2026-W34": "2026-08-24",
            "2026-W35": "2026-08-31",
            "2026-08": "2026-09-01",
            "2026-W36": "2026-09-07",
        }
        assert nights.written["2026-07"][1] == spell_out("2026-07-27 .. 2026-07-31")
        assert nights.written["2026-08"][1] == spell_out("2026-W31 .. 2026-W35 2026-08-31")

    @pytest.mark.rule("PERIOD-33")
    def test_a_month_that_ends_on_a_sunday_waits_one_night(self) -> None:
        """The last week lands on the first, and the month is written from files that exist before the tick."""
        nights = Nights(make_state("week month", days("2025-07-28", "2025-08-31"))).run("2025-07-28", "2025-12-01")

        assert nights.written["2025-W35"][0] == "2025-09-01"
        assert nights.written["2025-08"] == ("2025-09-02", spell_out("2025-W31 .. 2025-W35"))

    @pytest.mark.rule("PERIOD-10", "PERIOD-32", "PERIOD-O1", "PERIOD-O4")
    def test_two_days_around_new_year_with_all_four_levels(self) -> None:
        """Each year gets its own day, and January the whole week."""
        nights = Nights(make_state(ALL_FOUR, {day("2026-12-30"), day("2027-01-02")})).run("2026-12-25", "2027-03-31")

        assert nights.written == {
            "2026-12": ("2027-01-01", ["2026-12-30"]),
            "2026-Q4": ("2027-01-02", ["2026-12"]),
            "2026": ("2027-01-03", ["2026-Q4"]),
            "2026-W53": ("2027-01-04", ["2026-12-30", "2027-01-02"]),
            "2027-01": ("2027-02-01", ["2026-W53"]),
        }

    @pytest.mark.rule("PERIOD-10", "PERIOD-O2")
    def test_two_days_around_new_year_with_weeks_and_years(self) -> None:
        """The week belongs to the year in which it ends; the year before reads the log."""
        nights = Nights(make_state("week year", {day("2026-12-30"), day("2027-01-02")})).run("2026-12-25", "2028-01-05")

        assert nights.written == {
            "2026": ("2027-01-01", ["2026-12-30"]),
            "2026-W53": ("2027-01-04", ["2026-12-30", "2027-01-02"]),
            "2027": ("2028-01-01", ["2026-W53"]),
        }

    @pytest.mark.rule("PERIOD-33")
    def test_a_year_waits_for_the_month_of_the_same_night(self) -> None:
        """The month is written on New Year's Day and the year the night after."""
        nights = Nights(make_state("month year", days("2026-12-30"))).run("2026-12-25", "2027-03-01")

        assert nights.written == {"2026-12": ("2027-01-01", ["2026-12-30"]), "2026": ("2027-01-02", ["2026-12"])}

    @pytest.mark.rule("PERIOD-19", "PERIOD-20", "PERIOD-36")
    def test_a_late_entry_changes_nothing_until_the_file_is_deleted(self) -> None:
        """A closed period is not reopened; a deleted summary is due at the next tick."""
        nights = Nights(make_state("week", days("2026-08-17", "2026-08-23"))).run("2026-08-20", "2026-08-30")
        assert nights.written == {"2026-W34": ("2026-08-24", spell_out("2026-08-17 .. 2026-08-23"))}

        nights.written.clear()
        nights.state = replace(nights.state, files=frozenset())

        assert nights.run("2026-08-31", "2026-09-05").written == {
            "2026-W34": ("2026-08-31", spell_out("2026-08-17 .. 2026-08-23"))
        }


class TestCatchingUp:
    """A year of logs, turned on before the tick of 2027-01-01, at 4 runs a night."""

    @pytest.mark.rule("PERIOD-13", "PERIOD-24", "PERIOD-25", "PERIOD-O5", "PERIOD-O6", "PERIOD-O7", "EVENT-09")
    def test_every_night_of_the_table(self) -> None:
        """Every row: what is written, in which order, and what the log says."""
        nights = Nights(make_state("week month year", days("2026-01-01", "2026-12-31"))).run("2027-01-01", "2027-01-20")

        assert nights.on("2027-01-01") == spell_out("2026-W01 .. 2026-W04")
        assert nights.on("2027-01-02") == spell_out("2026-W05 .. 2026-W08")
        assert nights.on("2027-01-03") == spell_out("2026-W09 .. 2026-W12")
        assert nights.on("2027-01-04") == spell_out("2026-W13 .. 2026-W16")
        assert nights.on("2027-01-14") == ["2026-W53", "2026-01", "2026-02", "2026-03"]
        assert nights.on("2027-01-17") == ["2026-12"]
        assert nights.on("2027-01-18") == ["2026"]
        assert {night: nights.messages[f"2027-01-{night}"] for night in ("01", "02", "03", "04", "14", "17", "18")} == {
            "01": "Consolidated 4/4 due period(s), 61 more queued for the next tick",
            "02": "Consolidated 4/4 due period(s), 57 more queued for the next tick",
            "03": "Consolidated 4/4 due period(s), 53 more queued for the next tick",
            "04": "Consolidated 4/4 due period(s), 50 more queued for the next tick",
            "14": "Consolidated 4/4 due period(s), 10 more queued for the next tick",
            "17": "Consolidated 1/1 due period(s), 1 more queued for the next tick",
            "18": "Consolidated 1/1 due period(s)",
        }
        assert len(nights.written) == 53 + 12 + 1
        assert nights.on("2027-01-19") == nights.on("2027-01-20") == []

    @pytest.mark.rule("PERIOD-24")
    def test_a_level_enabled_after_two_years(self) -> None:
        """`year` builds each year in which something was written, and only those."""
        logs = days("2023-05-05") | days("2025-03-01", "2025-03-04") | days("2026-01-01")

        nights = Nights(make_state("year", logs)).run("2026-02-01", "2026-02-03")

        assert nights.written == {
            "2023": ("2026-02-01", ["2023-05-05"]),
            "2025": ("2026-02-01", spell_out("2025-03-01 .. 2025-03-04")),
        }

    @pytest.mark.rule("PERIOD-13", "KNOB-O2")
    def test_no_runs_at_all(self) -> None:
        """With `maxRunsPerTick: 0` nothing runs, and what is missing stays queued (TENSION-09)."""
        plan = plan_tick(make_state("week", days("2026-08-03", "2026-08-30")), day("2026-09-01"), max_runs=0)

        assert plan.runs == ()
        assert names(run.period for run in plan.later) == spell_out("2026-W32 .. 2026-W35")
        assert plan.report(done=0).render() == "Consolidated 0/0 due period(s), 4 more queued for the next tick"


class TestTick:
    """What waits for what, and how a tick ends."""

    @pytest.mark.rule("PERIOD-34", "PERIOD-O4")
    def test_a_missing_week_in_the_middle_holds_back_what_rests_on_it(self) -> None:
        """August waits for the two weeks without a file; the year waits for August; nothing else waits."""
        state = make_state("week month year", days("2026-07-27", "2026-09-30"), "2026-W31 2026-W32 2026-W35 2026-07")

        plan = plan_tick(state, day("2027-01-01"), max_runs=2)

        assert names(run.period for run in plan.runs) == ["2026-W33", "2026-W34"]
        assert names(run.period for run in plan.later) == spell_out("2026-W36 .. 2026-W40")
        assert [(str(entry.period), names(entry.waits_for)) for entry in plan.waiting] == [
            ("2026-08", ["2026-W33", "2026-W34"]),
            ("2026-09", spell_out("2026-W36 .. 2026-W39")),
            ("2026", ["2026-08", "2026-09"]),
        ]
        assert plan.waiting[0].render() == (
            "2026-08 waits for 2 periods from 2026-W33 to 2026-W34, which have no summary yet."
        )

    def test_one_blocker_is_named(self) -> None:
        """The sentence of a single blocker is in the singular."""
        waiting = Waiting(parse_period("2026"), (parse_period("2026-12"),))

        assert waiting.render() == "2026 waits for 2026-12, which has no summary yet."

    @pytest.mark.rule("PERIOD-O4")
    def test_a_week_written_in_only_before_the_month_blocks_it(self) -> None:
        """W31 lies in August's sources and was written in, in July; it has no file, so August waits."""
        state = make_state("week month", days("2026-07-30") | days("2026-08-05"), "2026-W32 2026-07")

        plan = plan_tick(state, day("2026-09-01"), max_runs=4)

        assert names(run.period for run in plan.runs) == ["2026-W31"]
        assert [(str(entry.period), names(entry.waits_for)) for entry in plan.waiting] == [("2026-08", ["2026-W31"])]

    @pytest.mark.rule("PERIOD-O15")
    def test_a_deleted_week_below_a_month_is_written_alone(self) -> None:
        """The month exists, so it is not redone."""
        state = make_state(
            "week month", days("2026-08-01", "2026-08-31"), "2026-W31 .. 2026-W33 2026-W35 2026-W36 2026-08"
        )

        plan = plan_tick(state, day("2026-09-10"), max_runs=4)

        assert [(str(run.period), names(run.sources)) for run in plan.runs] == [
            ("2026-W34", spell_out("2026-08-17 .. 2026-08-23"))
        ]
        assert plan.pending == 1

    @pytest.mark.rule("PERIOD-09", "PERIOD-19")
    def test_a_removed_level_is_no_source_any_more(self) -> None:
        """Without `week`, the weeks' files stay and the month is made from its own days' logs."""
        state = make_state("month", days("2026-07-30", "2026-08-02"), "2026-W31 2026-07")

        plan = plan_tick(state, day("2026-09-01"), max_runs=4)

        assert [(str(run.period), names(run.sources)) for run in plan.runs] == [
            ("2026-08", ["2026-08-01", "2026-08-02"])
        ]

    def test_a_summary_by_hand_is_a_source(self) -> None:
        """A week for which a person wrote a summary without a log feeds its month, and does not make it due."""
        logs = days("2026-08-05")
        state = make_state("week month", logs, "2026-W32 2026-W34")

        assert names(find_sources(state, parse_period("2026-08"))) == ["2026-W32", "2026-W34"]
        assert plan_tick(replace(state, days=frozenset()), day("2026-09-01"), max_runs=4).pending == 0

    @pytest.mark.rule("PERIOD-08")
    def test_the_future_is_no_part_of_a_closed_period(self) -> None:
        """A log dated ahead makes nothing due before its day is over, and no summary rests on it until then."""
        state = make_state(ALL_FOUR, days("2026-08-20") | days("2026-08-27") | days("2031-01-01"))

        plan = plan_tick(state, day("2026-08-24"), max_runs=4)

        assert [(str(run.period), names(run.sources)) for run in plan.runs] == [("2026-W34", ["2026-08-20"])]
        assert plan.pending == 1

    @pytest.mark.rule("PERIOD-22", "PERIOD-O3")
    def test_a_log_that_says_nothing_is_not_writing(self) -> None:
        """The logs to be opened are named; without the silent ones among them less is due."""
        state = make_state(
            "week", days("2026-08-03") | days("2026-08-12", "2026-08-13") | days("2026-08-19"), "2026-W34"
        )
        today = day("2026-08-24")

        asked = days_to_read(state, today)
        plan = plan_tick(state.without({day("2026-08-03"), day("2026-08-13")}), today, max_runs=4)

        assert asked == (day("2026-08-03"), day("2026-08-12"), day("2026-08-13"))
        assert [(str(run.period), names(run.sources)) for run in plan.runs] == [("2026-W33", ["2026-08-12"])]

    def test_with_nothing_to_do_no_log_is_opened(self) -> None:
        """Once the ladder stands, no log's text matters any more; the open week is not looked at."""
        logs = days("2026-01-01", "2026-12-31")
        nights = Nights(make_state(ALL_FOUR, logs), max_runs=1000).run("2027-01-01", "2027-01-06")

        assert days_to_read(nights.state, day("2027-01-06")) == ()
        assert days_to_read(replace(nights.state, days=nights.state.days | days("2027-01-05")), day("2027-01-06")) == ()
        assert plan_tick(nights.state, day("2027-01-06"), max_runs=4).pending == 0

    def test_a_line_without_levels_has_nothing_due(self) -> None:
        """Consolidation that is off plans nothing."""
        state = make_state("", days("2020-01-01", "2020-12-31"))

        assert days_to_read(state, day("2026-01-01")) == ()
        assert plan_tick(state, day("2026-01-01"), max_runs=4).pending == 0

    @pytest.mark.rule("PERIOD-O6", "PERIOD-O9")
    @pytest.mark.parametrize(
        ("done", "failed", "discarded", "said"),
        [
            pytest.param(4, 0, 0, "Consolidated 4/4 due period(s), 9 more queued for the next tick", id="all done"),
            pytest.param(3, 1, 0, "Consolidated 3/4 due period(s), 10 more queued for the next tick", id="one failed"),
            pytest.param(
                3, 0, 1, "Consolidated 3/4 due period(s), 9 more queued for the next tick", id="one was saved by hand"
            ),
            pytest.param(
                1, 0, 0, "Consolidated 1/1 due period(s), 12 more queued for the next tick", id="stopped early"
            ),
        ],
    )
    def test_the_numbers_of_a_tick(self, done: int, failed: int, discarded: int, said: str) -> None:
        """Failed runs count as tried and as queued; a period that somebody else saved is settled."""
        plan = plan_tick(make_state("week", days("2026-01-05", "2026-04-05")), day("2026-05-01"), max_runs=4)
        assert (len(plan.runs), plan.pending) == (4, 13)

        assert plan.report(done=done, failed=failed, discarded=discarded).render() == said

    @pytest.mark.rule("PERIOD-O7")
    def test_nothing_queued_is_not_mentioned(self) -> None:
        """The second half of the sentence goes when there is nothing to say."""
        assert TickReport(1, 1, 0).render() == "Consolidated 1/1 due period(s)"


class TestView:
    """The tree of a line's periods."""

    def test_every_stage_has_its_place(self) -> None:
        """A period stands under the one in which it ends, with what it waits for; silent ones hold their parts."""
        logs = days("2026-07-30") | days("2026-08-05") | days("2026-08-31") | days("2026-10-14")
        state = make_state("week month year", logs, "2026-W32 2026-W36 2025-Q4")

        seen = [
            (rung.depth, str(rung.period), rung.stage, names(rung.waits_for))
            for rung in survey_ladder(state, day("2026-10-15"))
        ]

        assert seen == [
            (0, "2025", Stage.SILENT, []),
            (1, "2025-Q4", Stage.FILED, []),
            (0, "2026", Stage.OPEN, []),
            (1, "2026-Q3", Stage.OFF, []),
            (2, "2026-07", Stage.DUE, []),
            (2, "2026-08", Stage.WAITING, ["2026-W31"]),
            (3, "2026-W31", Stage.DUE, []),
            (3, "2026-W32", Stage.FILED, []),
            (2, "2026-09", Stage.SILENT, []),
            (3, "2026-W36", Stage.FILED, []),
            (1, "2026-Q4", Stage.OFF, []),
            (2, "2026-10", Stage.OPEN, []),
            (3, "2026-W42", Stage.OPEN, []),
        ]

    def test_an_empty_line_has_an_empty_view(self) -> None:
        """Nothing is shown where nothing was written, and the future is not shown."""
        assert survey_ladder(make_state(ALL_FOUR, days("2030-01-01")), day("2026-10-15")) == ()
