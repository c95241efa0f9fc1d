"""Failure cases: which day, and which week, a text belongs to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omnislash import Brain, Outcome

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain

TABLE = [
    ("Asia/Shanghai", "2026-11-29T18:40:00+00:00", "2026/11/2026-11-30.md", "02:40"),
    ("America/Los_Angeles", "2026-12-01T03:05:00+00:00", "2026/11/2026-11-30.md", "19:05"),
    ("America/Los_Angeles", "2026-12-01T07:59:59+00:00", "2026/11/2026-11-30.md", "23:59"),
    ("America/Los_Angeles", "2026-12-01T08:00:00+00:00", "2026/12/2026-12-01.md", "00:00"),
    ("Europe/Berlin", "2026-12-31T22:59:59+00:00", "2026/12/2026-12-31.md", "23:59"),
    ("Europe/Berlin", "2026-12-31T23:00:00+00:00", "2027/01/2027-01-01.md", "00:00"),
]


@pytest.mark.rule("LINE-O3", "LINE-05")
@pytest.mark.parametrize(("zone", "instant", "file", "time"), TABLE, ids=[f"{row[0]}-{row[1][11:19]}" for row in TABLE])
def test_o_30_which_day_it_is(make_brain: MakeBrain, zone: str, instant: str, file: str, time: str) -> None:
    """The brain's zone decides the file, and the date and the time inside agree with its name."""
    brain = make_brain(zone=zone)
    brain.at(instant)
    assert brain.put("here", day=f"ops/{file}").paths == (f"ops/{file}",)
    assert brain.text(f"ops/{file}") == f"# {file[8:18]}\n\n- {time} here\n"


@pytest.mark.rule("LINE-O3", "BUDGET-02")
def test_o_30_the_durable_section_has_the_same_day(make_brain: MakeBrain) -> None:
    """The dated section of MEMORY.md carries the brain's own day, whatever the instant says in UTC."""
    brain = make_brain(zone="America/Los_Angeles")
    brain.at("2026-12-01T03:05:00+00:00")
    assert brain.core("here").outcome is Outcome.WRITTEN
    assert brain.text() == "## Memory (2026-11-30)\n\n- here\n"


@pytest.mark.rule("LINE-O3", "WRITE-O6")
def test_o_31_a_process_that_lives_past_midnight(make_brain: MakeBrain) -> None:
    """One process files each entry under the day of its own moment, and shows the new day as the last one."""
    brain = make_brain(zone="Europe/Berlin")
    brain.name("ops/2026/11/2026-11-30.md", "ops/2026/12/2026-12-01.md")
    server = brain.session()
    server.ask({"now": "2026-11-30T22:59:58+00:00"})
    late = server.call("memory_write", content="late")
    server.ask({"now": "2026-11-30T23:00:03+00:00"})
    early = server.call("memory_write", content="early")
    again = server.call("memory_write", content="late")
    assert [answer["outcome"] for answer in (late, early, again)] == ["written"] * 3
    assert late["paths"] == ["ops/2026/11/2026-11-30.md"]
    assert early["paths"] == again["paths"] == ["ops/2026/12/2026-12-01.md"]
    assert brain.text("ops/2026/11/2026-11-30.md") == "# 2026-11-30\n\n- 23:59 late\n"
    assert brain.text("ops/2026/12/2026-12-01.md") == "# 2026-12-01\n\n- 00:00 early\n- 00:00 late\n"
    assert server.call("memory_overview")["days"] == {"count": 2, "first": "2026-11-30", "last": "2026-12-01"}


@pytest.mark.rule("LINE-O3", "WRITE-07", "WRITE-O9")
def test_o_31_queued_before_midnight_and_written_after(make_brain: MakeBrain) -> None:
    """A write that was queued before midnight lands under the day of its call, and the verdict names that file."""
    brain = make_brain(zone="Europe/Berlin")
    brain.at("2026-11-30T22:59:58+00:00")
    with Brain.open(brain.root, clock=brain.clock, queue_only=True) as queueing:
        queued = queueing.agent("ops").memory.write("on the edge", request_id="edge")
    assert queued.outcome is Outcome.QUEUED
    brain.name(brain.day)
    brain.at("2026-11-30T23:00:03+00:00")
    verdict = brain.agent().memory.write("on the edge", request_id="edge")
    assert (verdict.outcome, verdict.paths) == (Outcome.WRITTEN, (brain.day,))
    assert brain.text(brain.day) == "# 2026-11-30\n\n- 23:59 on the edge\n"


@pytest.mark.rule("LINE-O3")
@pytest.mark.parametrize("host", ["UTC", "Asia/Tokyo", "America/Chicago"])
def test_o_32_reading_uses_the_same_day_as_writing(make_brain: MakeBrain, host: str) -> None:
    """Whatever zone the machine is in, command and process show the brain's own day, with the entry in it."""
    brain = make_brain(zone="America/Chicago")
    brain.at("2026-12-01T01:00:00+00:00")
    brain.name(brain.day)
    session = brain.session(TZ=host)
    assert session.call("memory_write", content="dusk")["paths"] == [brain.day]
    assert session.call("memory_overview")["days"] == {"count": 1, "first": "2026-11-30", "last": "2026-11-30"}
    assert [entry["path"] for entry in session.call("memory_list")["entries"]] == [brain.day]
    assert session.call("memory_read", path=brain.day)["content"] == "# 2026-11-30\n\n- 19:00 dusk\n"
    done = brain.command("memory", "overview", "--role", "ops", TZ=host)
    assert done.answer["days"]["last"] == "2026-11-30"
    assert brain.command("memory", "write", "--role", "ops", "dusk", TZ=host).answer["outcome"] == "duplicate"


@pytest.mark.rule("LINE-O3")
def test_o_32_an_hour_that_comes_twice_is_two_moments(make_brain: MakeBrain) -> None:
    """In the night in which an hour comes twice, entries stay in the order in which they were written."""
    brain = make_brain(zone="Europe/Berlin")
    day = "ops/2026/10/2026-10-25.md"
    for instant, text in (("00:30", "first"), ("01:10", "second")):
        brain.at(f"2026-10-25T{instant}:00+00:00")
        assert brain.put(text, day=day).outcome is Outcome.WRITTEN
    assert brain.text(day) == "# 2026-10-25\n\n- 02:30 first\n- 02:10 second\n"


WEEKS = {
    date(2026, 11, 30): "2026-W49",
    date(2026, 12, 27): "2026-W52",
    date(2026, 12, 28): "2026-W53",
    date(2026, 12, 31): "2026-W53",
    date(2027, 1, 1): "2026-W53",
    date(2027, 1, 3): "2026-W53",
    date(2027, 1, 4): "2027-W01",
}


@pytest.mark.rule("PERIOD-04")
def test_o_33_each_week_has_one_file_name(brain: CaseBrain) -> None:
    """The file of a week lies under the year of its ISO week; the calendar year's folder is refused for W53's end."""
    for number, name in enumerate(sorted(set(WEEKS.values()))):
        assert brain.write_file(f"ops/{name[:4]}/{name}.md", f"# {name}\n\nSummary {number}.\n").outcome == "written"
    assert brain.write_file("ops/2027/2026-W53.md", "# 2026-W53\n").outcome is Outcome.REFUSED
    found = brain.agent().memory.overview().to_json()["periods"]
    assert found == {"week": ["2026-W49", "2026-W52", "2026-W53", "2027-W01"]}


@pytest.mark.rule("PERIOD-04", "PERIOD-O1")
@pytest.mark.parametrize("week", ["2027-W53", "2025-W53", "2026-W00", "2026-W54"])
def test_o_34_a_week_that_does_not_exist_is_an_error(brain: CaseBrain, week: str) -> None:
    """A week that its year does not have can be neither written nor read, and the message says that it doesn't exist."""
    path = f"ops/{week[:4]}/{week}.md"
    verdict = brain.write_file(path, f"# {week}\n")
    assert verdict.outcome is Outcome.REFUSED
    assert week in verdict.message
    assert "exists" in verdict.message
    session = brain.session()
    answer = session.call("memory_read", path=path)
    assert (answer["kind"], "exists" in answer["message"]) == ("name", True)


@pytest.mark.rule("PERIOD-04", "LINE-05")
def test_o_34_logs_over_the_new_year_are_listed_in_order(make_brain: MakeBrain) -> None:
    """Logs of every day from 2026-12-20 to 2027-01-10 are listed in order, between two years, none twice."""
    days = [date(2026, 12, 20) + timedelta(days=number) for number in range(22)]
    paths = [f"ops/{on:%Y/%m}/{on.isoformat()}.md" for on in days]
    files = {f"memory/{path}": f"# {on}\n\n- 09:00 x\n" for path, on in zip(paths, days, strict=True)}
    brain = make_brain(files=files)
    memory = brain.agent().memory
    assert [entry.path for entry in memory.list().entries] == paths
    assert memory.overview().to_json()["days"] == {"count": 22, "first": "2026-12-20", "last": "2027-01-10"}


def test_the_case_table_agrees_with_the_zones() -> None:
    """The instants of the table are what the zones make of them; a wrong table would prove nothing."""
    for zone, instant, file, time in TABLE:
        local = datetime.fromisoformat(instant).astimezone(UTC).astimezone(ZoneInfo(zone))
        assert f"{local:%Y/%m/%Y-%m-%d.md %H:%M}" == f"{file} {time}"
