"""The tick over a real brain: what it writes, in which order, from what, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.events import MemoryConsolidated
from omnislash.errors import ModelError, StorageError, UsageError, WriterUnavailableError
from omnislash.runtime.ladder import consolidation
from omnislash.testing import ScriptedModel
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import SampleBrain

#: Monday, 7 September 2026, 04:00 in UTC.
NIGHT = datetime(2026, 9, 7, 4, 0, tzinfo=UTC)
#: Monday of the week 2026-W34.
MONDAY = date(2026, 8, 17)


def enable(
    sample: SampleBrain, lines: str = "{main: {periods: [week, month]}}", *, more: str = "", **options: Any
) -> None:
    """Switch the ladder on."""
    extra = f", {more}" if more else ""
    sample.manifest(f"{{consolidation: {{lines: {lines}{extra}}}}}", **options)


def log(sample: SampleBrain, on: date, text: str = "The choir came.", *, line: str = "main") -> Path:
    """Write a daily log by hand."""
    return sample.put_memory(f"{line}/{on:%Y/%m}/{on}.md", f"# {on}\n\n- 09:00 {text} It was day {on.day}.\n")


def log_days(sample: SampleBrain, first: date, count: int, *, line: str = "main") -> None:
    """Write the logs of consecutive days."""
    for number in range(count):
        log(sample, first + timedelta(days=number), line=line)


def tick(sample: SampleBrain, model: ScriptedModel, *, now: datetime = NIGHT, **options: Any) -> dict[str, Any]:
    """Run a tick of all lines and return its answer as JSON."""
    return sample.open().consolidate(now=now, models=model, **options).to_json()


def only_line(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer's one line."""
    (line,) = answer["lines"]
    return dict(line)


def periods(results: list[dict[str, Any]]) -> list[str]:
    """Return the names of the periods of results."""
    return [each["period"] for each in results]


def summaries(sample: SampleBrain, line: str = "main") -> set[str]:
    """Return the names of the summaries on disk."""
    return {place.stem for place in (sample.root / "memory" / line).glob("[0-9]*/*.md")}


# -- off, and nothing to do ------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-01")
def test_nothing_runs_where_no_line_is_named(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is made, no directory listed, no lock taken."""
    log_days(sample, MONDAY, 14)
    sample.manifest()

    def fail(*_arguments: object) -> None:
        pytest.fail("a line was listed")

    monkeypatch.setattr(consolidation, "read_state", fail)
    model = ScriptedModel()

    answer = tick(sample, model)

    assert answer == {"now": "2026-09-07T04:00:00+00:00", "lines": []}
    assert (model.requests, model.references) == ([], [])
    assert not (sample.root / ".omnislash" / "consolidation.lock").exists()
    assert sample.open().plan_consolidation(now=NIGHT).lines == ()
    assert sample.open().show_ladder(now=NIGHT).lines == ()


@pytest.mark.rule("PERIOD-01", "PERIOD-22", "PERIOD-O7")
def test_a_line_without_writing_makes_no_model(sample: SampleBrain) -> None:
    """A line that nobody has written in, and one whose logs hold headings only, are not due."""
    enable(sample, "{main: {periods: [week]}, nobody: {periods: [week, year]}}")
    sample.put_memory("main/2026/08/2026-08-20.md", "# 2026-08-20\n\n## Plans\n")
    model = ScriptedModel()

    answer = tick(sample, model)

    assert [line["message"] for line in answer["lines"]] == ["Consolidated 0/0 due period(s)"] * 2
    assert (model.requests, model.references) == ([], [])
    assert summaries(sample) == set()


def test_no_log_is_opened_when_all_is_filed(sample: SampleBrain) -> None:
    """Names are enough to see that nothing is due: the logs could be unreadable."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    sample.put_memory("main/2026/2026-W34.md", "# 2026-W34\n\nWritten by hand.\n")
    for place in (sample.root / "memory/main/2026/08").iterdir():
        place.unlink()
        place.mkdir()

    assert only_line(tick(sample, ScriptedModel()))["message"] == "Consolidated 0/0 due period(s)"


# -- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-13", "PERIOD-24", "PERIOD-25", "PERIOD-33", "PERIOD-O5", "PERIOD-O6")
def test_finest_first_and_oldest_first(sample: SampleBrain) -> None:
    """Six weeks and two months are due over three nights: four weeks, the rest of what is due, then what waited."""
    enable(sample)
    log_days(sample, date(2026, 7, 27), 36)
    model = ScriptedModel()

    first = only_line(tick(sample, model))
    assert model.periods == ["2026-W31", "2026-W32", "2026-W33", "2026-W34"]
    assert periods(first["done"]) == model.periods
    assert first["message"] == "Consolidated 4/4 due period(s), 4 more queued for the next tick"
    assert periods(first["waiting"]) == ["2026-08"]
    assert summaries(sample) == set(model.periods)

    second = only_line(tick(sample, model, now=NIGHT + timedelta(days=1)))
    assert periods(second["done"]) == ["2026-W35", "2026-W36", "2026-07"]
    assert second["message"] == "Consolidated 3/3 due period(s), 1 more queued for the next tick"

    third = only_line(tick(sample, model, now=NIGHT + timedelta(days=2)))
    assert third["message"] == "Consolidated 1/1 due period(s)"
    assert third["done"][0]["sources"] == [
        *(f"main/2026/2026-W{week}.md" for week in range(31, 36)),
        "main/2026/08/2026-08-31.md",
    ]


@pytest.mark.rule("PERIOD-33")
def test_what_a_tick_writes_feeds_none_of_its_runs(sample: SampleBrain) -> None:
    """The month whose last week is written tonight is written tomorrow, however many runs are left."""
    enable(sample, more="maxRunsPerTick: 50")
    log_days(sample, date(2026, 8, 1), 31)

    assert all(name.startswith("2026-W") for name in periods(only_line(tick(sample, ScriptedModel()))["done"]))
    assert "2026-08" not in summaries(sample)
    assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-08"]


@pytest.mark.rule("PERIOD-13", "PERIOD-O7")
def test_each_line_has_its_own_runs_and_numbers(sample: SampleBrain) -> None:
    """`maxRunsPerTick` holds for each line, and each line has its own model."""
    lines = "{main: {periods: [week]}, ops: {periods: [week], modelRef: 'cli:smart'}}"
    enable(sample, lines, more="maxRunsPerTick: 2, modelRef: fast")
    log_days(sample, MONDAY, 21)
    log_days(sample, MONDAY, 14, line="ops")
    model = ScriptedModel()

    answer = tick(sample, model)

    assert [line["line"] for line in answer["lines"]] == ["main", "ops"]
    assert [line["message"] for line in answer["lines"]] == [
        "Consolidated 2/2 due period(s), 1 more queued for the next tick",
        "Consolidated 2/2 due period(s)",
    ]
    assert model.references == ["fast", "cli:smart"]
    assert [(request.line, request.period.name) for request in model.requests] == [
        ("main", "2026-W34"),
        ("main", "2026-W35"),
        ("ops", "2026-W34"),
        ("ops", "2026-W35"),
    ]


@pytest.mark.rule("PERIOD-13", "KNOB-O2")
def test_no_runs_at_all(sample: SampleBrain) -> None:
    """`maxRunsPerTick: 0` writes none, and counts what is missing."""
    enable(sample, more="maxRunsPerTick: 0")
    log_days(sample, MONDAY, 7)
    line = only_line(tick(sample, model := ScriptedModel()))

    assert line["message"] == "Consolidated 0/0 due period(s), 2 more queued for the next tick"
    assert periods(line["later"]) == ["2026-W34"]
    assert model.requests == []


@pytest.mark.rule("PERIOD-14", "PERIOD-16", "PERIOD-17", "PERIOD-37", "PERIOD-O8", "SECRET-O2")
def test_what_a_model_is_given(sample: SampleBrain) -> None:
    """Sources in order with path and days, no credential, cut at the oldest end; the target and the brain's criteria."""
    enable(sample, "{main: {periods: [week]}}", more="maxSourceChars: 130")
    sample.put("constitution/Agents/system/role-consolidator.md", "---\n---\nSay only what the choir did.\n")
    log_days(sample, MONDAY, 5)
    log(sample, date(2026, 8, 22), "The password = Kr4nich#77 was changed.")
    model = ScriptedModel()

    done = only_line(tick(sample, model))["done"][0]

    (request,) = model.requests
    assert request.criteria.strip() == "Say only what the choir did."
    assert [source.path for source in request.sources] == [f"memory/{path}" for path in done["sources"]]
    assert (request.sources[-1].first, request.sources[-1].last) == (date(2026, 8, 22), date(2026, 8, 22))
    assert "[redacted: password or token]" in request.sources[-1].text
    assert sum(len(source.text) for source in request.sources) <= 130
    assert request.is_clipped
    assert "was left out" in request.lost
    assert request.target_chars == done["targetChars"]
    assert 5_000 < done["targetChars"] < 6_000
    assert "Kr4nich" in sample.text("main/2026/08/2026-08-22.md")


@pytest.mark.rule("PERIOD-37", "PERIOD-38", "PERIOD-39", "PERIOD-40", "EVENT-06", "EVENT-O3")
@pytest.mark.parametrize(("chars", "target"), [(6_000, True), (400, True), (0, False)])
def test_the_target_is_the_brains_and_no_cut(sample: SampleBrain, chars: int, target: bool) -> None:
    """A longer answer is filed as written and reported; a role's own number changes nothing."""
    sample.role("nova", "{periodChars: 300}")
    sample.manifest(f"{{periodChars: {chars}, consolidation: {{lines: {{main: {{periods: [week]}}}}}}}}")
    log_days(sample, MONDAY, 7)
    answer = "".join(f"- On day {number} the choir of the town sang number {number}.\n" for number in range(40))

    done = only_line(tick(sample, ScriptedModel(answer)))["done"][0]

    assert sample.text("main/2026/2026-W34.md") == f"# 2026-W34\n\n{answer}"
    assert done["chars"] == len(answer) + 12
    assert (done["targetChars"] is not None) is target
    assert done["overTarget"] is (target and done["chars"] > done["targetChars"])
    if chars == 400:
        assert done["overTarget"]


@pytest.mark.rule("EVENT-06", "EVENT-09", "EVENT-O3", "EVENT-O4", "PERIOD-25")
def test_event_log_line_and_action_log(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """Each summary is an event and a row of the engine; the line of the log has the numbers."""
    enable(sample)
    log_days(sample, MONDAY, 7)
    seen: list[Any] = []
    brain = sample.open()
    brain.on_event(lambda event: seen.append((event, sample.text(event.to_json()["file"]))))

    with caplog.at_level("INFO", logger="omnislash"):
        brain.consolidate(now=NIGHT, models=ScriptedModel())

    ((event, text),) = seen
    assert isinstance(event, MemoryConsolidated)
    assert event.to_json() == {
        "file": "main/2026/2026-W34.md",
        "scope": "main",
        "level": "week",
        "period": "2026-W34",
        "chars": len(text),
        "targetChars": event.target_chars,
        "overTarget": False,
        "sources": [f"main/2026/08/2026-08-{day}.md" for day in range(17, 24)],
    }
    row = brain.audit().to_json()["rows"][0]
    assert (row["actor"], row["role"], row["tool"], row["outcome"]) == (
        "engine",
        "system:consolidator",
        "consolidate",
        "written",
    )
    assert "Consolidated 1/1 due period(s), 1 more queued for the next tick" in caplog.text


@pytest.mark.rule("PERIOD-11", "PERIOD-19", "PERIOD-20", "PERIOD-36", "PERIOD-O15")
def test_a_summary_is_an_ordinary_file_and_the_record(sample: SampleBrain) -> None:
    """It is not redone for a late entry, nor after an edit; once deleted it is written anew, and the month is not."""
    enable(sample)
    sample.open_gate()
    log_days(sample, date(2026, 8, 1), 31)
    for _ in range(3):
        tick(sample, ScriptedModel())
    agent = sample.agent()
    assert "choir" in agent.memory.read("main/2026/2026-W34.md").content
    before = sample.files()

    log(sample, date(2026, 8, 20), "A late entry.")
    assert only_line(tick(sample, model := ScriptedModel()))["message"] == "Consolidated 0/0 due period(s)"
    assert model.requests == []

    assert agent.memory.delete("main/2026/2026-W34.md").outcome.value == "written"
    assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-W34"]
    assert "A late entry." in sample.text("main/2026/2026-W34.md")
    after = sample.files()
    assert {path for path in before if before[path] != after.get(path)} == {
        "main/2026/08/2026-08-20.md",
        "main/2026/2026-W34.md",
    }


@pytest.mark.rule("PERIOD-43")
def test_memory_md_is_left_alone(sample: SampleBrain) -> None:
    """No model is shown MEMORY.md, and the tick does not touch it."""
    enable(sample)
    sample.put_memory("main/MEMORY.md", "# Notes\n\nThe workshop opens at nine.\n")
    log_days(sample, MONDAY, 7)
    tick(sample, model := ScriptedModel())

    assert all("workshop" not in source.text for request in model.requests for source in request.sources)
    assert sample.text("main/MEMORY.md") == "# Notes\n\nThe workshop opens at nine.\n"


# -- what a model may do ---------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-O9")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("# 2026-W34\n", "empty"),
        ("I'm sorry, but I can't help with that.", "apology"),
        ("The same thing was said once more.\n" * 50, "repeats"),
        (ModelError("cli:smart gave no answer within 300 seconds."), "no answer within 300 seconds"),
        (RuntimeError("boom"), "The model scripted failed: RuntimeError: boom"),
        ("Use " + "ghp_" + "a1B2" * 9 + " for the next release of the whole choir.", "credential"),
        ("y" * 1_000_001, "more than 1000000 bytes"),
        ("A \x00 in the middle of what the choir sang on every day of that week.", "U+0000"),
    ],
    ids=["nothing", "space", "heading", "apology", "loop", "late", "raises", "credential", "huge", "nul"],
)
def test_a_failed_run_leaves_nothing_and_counts(sample: SampleBrain, answer: str | Exception, reason: str) -> None:
    """No file, no event; the reason is told, the next period is tried, and both numbers say so; it is due again."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 14)
    before = sample.files()
    model = ScriptedModel(answer)

    line = only_line(tick(sample, model))

    assert line["message"] == "Consolidated 1/2 due period(s), 1 more queued for the next tick"
    assert periods(line["failed"]) == ["2026-W34"]
    assert reason in line["failed"][0]["reason"]
    assert model.periods == ["2026-W34", "2026-W35"]
    after = sample.files()
    assert {path: data for path, data in after.items() if path != "main/2026/2026-W35.md"} == before

    again = only_line(tick(sample, ScriptedModel()))
    assert (periods(again["done"]), again["message"]) == (["2026-W34"], "Consolidated 1/1 due period(s)")


@pytest.mark.rule("PERIOD-O9")
def test_a_model_that_is_no_model(sample: SampleBrain) -> None:
    """Where none can be had, every run of the line fails with the reason, and other lines have theirs."""
    enable(sample, "{main: {periods: [week], modelRef: fast}, ops: {periods: [week]}}")
    sample.put("omnislash.yaml", "models: {fast: gpt-5-mini}\n")
    log_days(sample, MONDAY, 14)
    log_days(sample, MONDAY, 7, line="ops")

    main, ops = sample.open().consolidate(now=NIGHT).to_json()["lines"]

    assert main["message"] == "Consolidated 0/2 due period(s), 2 more queued for the next tick"
    assert "There is no model 'gpt-5-mini', which 'fast' stands for." in main["failed"][0]["reason"]
    assert ops["message"] == "Consolidated 1/1 due period(s)"


@pytest.mark.rule("PERIOD-17", "PERIOD-O9")
def test_a_broken_role_of_the_consolidator(sample: SampleBrain) -> None:
    """The runs fail and name its file's fault; mended, they go on without a restart."""
    enable(sample, "{main: {periods: [week]}}")
    role = "constitution/Agents/system/role-consolidator.md"
    sample.put(role, "---\nmodle: x\n---\nSum up.\n")
    log_days(sample, MONDAY, 7)
    brain = sample.open()

    failed = only_line(brain.consolidate(now=NIGHT, models=ScriptedModel()).to_json())["failed"]
    assert "modle" in failed[0]["reason"]

    sample.put(role, "---\n---\nSum up.\n")
    assert only_line(brain.consolidate(now=NIGHT, models=ScriptedModel()).to_json())["failed"] == []


@pytest.mark.rule("PERIOD-15")
def test_the_offline_model_and_a_command_write_too(sample: SampleBrain) -> None:
    """A brain that names no model has summaries, and so has one that names a command."""
    enable(sample, "{main: {periods: [week]}, ops: {periods: [week], modelRef: 'cli:say'}}")
    code = "import sys; text = sys.stdin.read(); print('The choir came on', text.count('The choir came.'), 'days.')"
    sample.put("omnislash.yaml", f"harnesses: {{say: ['{sys.executable}', -c, \"{code}\"]}}\n")
    log_days(sample, MONDAY, 7)
    log_days(sample, MONDAY, 7, line="ops")

    answer = sample.open().consolidate(now=NIGHT).to_json()

    assert [line["message"] for line in answer["lines"]] == ["Consolidated 1/1 due period(s)"] * 2
    assert sample.text("ops/2026/2026-W34.md") == "# 2026-W34\n\nThe choir came on 7 days.\n"
    assert "The choir came." in sample.text("main/2026/2026-W34.md")


# -- what a person does meanwhile ------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-21", "PERIOD-O11")
def test_a_summary_that_a_person_saves_meanwhile_stands(sample: SampleBrain) -> None:
    """Byte for byte; the run is discarded, is no failure, and the period is settled."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    theirs = "# 2026-W34\r\n\r\nIn my own words.\r\n"
    model = ScriptedModel(during=lambda _request: sample.put_memory("main/2026/2026-W34.md", theirs))

    line = only_line(tick(sample, model))

    assert sample.data("main/2026/2026-W34.md") == theirs.encode()
    assert (line["done"], line["failed"]) == ([], [])
    assert (periods(line["discarded"]), line["queued"]) == (["2026-W34"], 0)
    assert line["message"] == "Consolidated 0/1 due period(s)"
    assert not [path for path in sample.files() if "conflict" in path]


@pytest.mark.rule("PERIOD-21")
def test_no_model_is_asked_for_what_was_saved_meanwhile(sample: SampleBrain) -> None:
    """A later period of the tick that a person has filed by then costs no run of a model."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 14)
    model = ScriptedModel(during=lambda _request: sample.put_memory("main/2026/2026-W35.md", "Mine.\n"))

    line = only_line(tick(sample, model))

    assert model.periods == ["2026-W34"]
    assert (periods(line["done"]), periods(line["discarded"])) == (["2026-W34"], ["2026-W35"])


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", ["changed", "added"])
def test_a_source_that_changes_while_the_model_runs(sample: SampleBrain, times: int, what: str) -> None:
    """The model is asked once more with the new text; after a second change the run leaves nothing, and is due again."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 5)
    left = [f"Late entry {number}." for number in range(times)]
    on = date(2026, 8, 18 if what == "changed" else 22)

    def save(_request: object) -> None:
        if left:
            log(sample, on, left.pop(0))

    line = only_line(tick(sample, model := ScriptedModel(during=save)))

    assert model.periods == ["2026-W34"] * 2
    if times == 1:
        assert "Late entry 0." in sample.text("main/2026/2026-W34.md")
        assert line["message"] == "Consolidated 1/1 due period(s)"
    else:
        assert summaries(sample) == set()
        assert "changed again and again" in line["failed"][0]["reason"]
        assert "Late entry 1." in sample.text(f"main/2026/08/{on}.md")
        assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-W34"]
        assert "Late entry 1." in sample.text("main/2026/2026-W34.md")


@pytest.mark.rule("PERIOD-34")
def test_a_week_that_goes_while_its_month_is_written(sample: SampleBrain) -> None:
    """The month is not built on what is left; the next ticks write the week, then the month."""
    enable(sample)
    log_days(sample, date(2026, 8, 3), 28)
    tick(sample, ScriptedModel())
    week = sample.root / "memory/main/2026/2026-W34.md"

    line = only_line(tick(sample, ScriptedModel(during=lambda _request: week.unlink(missing_ok=True))))

    assert "2026-W34, on which it rests, is gone" in line["failed"][0]["reason"]
    assert "2026-08" not in summaries(sample)
    assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-W34"]
    assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-08"]


@pytest.mark.rule("PERIOD-O9")
def test_sources_that_can_not_be_read(sample: SampleBrain) -> None:
    """A directory in the place of a log: the run fails and names it; nothing is invented from the rest."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 6)
    (sample.root / "memory/main/2026/08/2026-08-23.md").mkdir()
    line = only_line(tick(sample, model := ScriptedModel()))

    assert model.requests == []
    assert "2026-08-23.md" in line["failed"][0]["reason"]


def test_a_line_that_can_not_be_listed_keeps_no_other(sample: SampleBrain) -> None:
    """Its sentence says why, and the other line has its summary."""
    enable(sample, "{main: {periods: [week]}, ops: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    log_days(sample, MONDAY, 7, line="ops")
    shutil.rmtree(sample.root / "memory/main")
    (sample.root / "memory/main").symlink_to("main")

    main, ops = tick(sample, ScriptedModel())["lines"]

    assert main["error"] == main["message"]
    assert "memory/main can't be used: it is a symbolic link" in main["error"]
    assert periods(ops["done"]) == ["2026-W34"]


def test_hostile_names_are_no_periods(sample: SampleBrain) -> None:
    """Links, stray files and impossible days are passed over."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 1)
    for path in (
        "2026/08/2026-08-99.md",
        "2026/13/2026-13-01.md",
        "2026/2026-W99.md",
        "20２6/08/x.md",
        "2026/08/notes.md",
    ):
        sample.put_memory(f"main/{path}", "- 09:00 Nothing.\n")
    outside = sample.root / "elsewhere" / "09"
    outside.mkdir(parents=True)
    (outside / "2026-07-01.md").write_text("- 09:00 Elsewhere.\n")
    (sample.root / "memory/main/2026/07").symlink_to(outside)
    (sample.root / "memory/main/2025").symlink_to(outside.parent)

    line = only_line(tick(sample, ScriptedModel()))

    assert (periods(line["done"]), line["failed"], line["queued"]) == (["2026-W34"], [], 0)


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-08", "LINE-O3", "PERIOD-12")
@pytest.mark.parametrize(
    ("zone", "instant", "closed"),
    [
        ("UTC", "2026-08-23T23:59:59+00:00", False),
        ("UTC", "2026-08-24T00:00:00+00:00", True),
        ("Asia/Shanghai", "2026-08-23T15:59:59+00:00", False),
        ("Asia/Shanghai", "2026-08-23T16:00:00+00:00", True),
        ("America/Los_Angeles", "2026-08-24T06:59:59+00:00", False),
        ("America/Los_Angeles", "2026-08-24T07:00:00+00:00", True),
    ],
)
def test_the_brains_zone_says_what_is_over(sample: SampleBrain, zone: str, instant: str, closed: bool) -> None:
    """A week is over when its Sunday is over where the brain lives."""
    enable(sample, "{main: {periods: [week]}}", timezone=zone)
    log_days(sample, MONDAY, 7)

    answer = tick(sample, ScriptedModel(), now=datetime.fromisoformat(instant))

    assert (periods(only_line(answer)["done"]) == ["2026-W34"]) is closed


@pytest.mark.rule("KNOB-26", "PERIOD-09")
def test_a_changed_manifest_counts_at_once(sample: SampleBrain) -> None:
    """Another zone opens a period again, a level goes and comes, without a restart and without a file rewritten."""
    enable(sample, "{main: {periods: [week]}}", timezone="Asia/Shanghai")
    log_days(sample, MONDAY, 7)
    brain = sample.open()
    at = datetime(2026, 8, 23, 20, 0, tzinfo=UTC)
    enable(sample, "{main: {periods: [week]}}", timezone="UTC")
    assert only_line(brain.consolidate(now=at, models=ScriptedModel()).to_json())["done"] == []

    brain.consolidate(now=NIGHT, models=ScriptedModel())
    before = sample.files()
    enable(sample, "{main: {periods: [year]}}")
    later = datetime(2027, 1, 2, 4, 0, tzinfo=UTC)
    done = only_line(brain.consolidate(now=later, models=ScriptedModel()).to_json())["done"]
    assert [(each["period"], len(each["sources"])) for each in done] == [("2026", 7)]
    enable(sample, "{main: {periods: [week, year]}}")
    assert only_line(brain.consolidate(now=later, models=ScriptedModel()).to_json())["done"] == []
    assert {path: data for path, data in sample.files().items() if path in before} == before


# -- lines by name, dry runs, views ----------------------------------------------------------------------------------


def test_only_the_named_line(sample: SampleBrain) -> None:
    """`--line` leaves the others for their own tick."""
    enable(sample, "{main: {periods: [week]}, ops: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    log_days(sample, MONDAY, 7, line="ops")

    assert only_line(tick(sample, ScriptedModel(), lines=["ops"]))["line"] == "ops"
    assert summaries(sample) == set()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("opps", "No line 'opps' has period summaries; those that have are main."),
        ("ops", "add ops: {periods: [week]} to memory.consolidation.lines in constitution/MANIFEST.yaml."),
        ("../x", "No line '../x' has period summaries"),
    ],
)
def test_a_line_that_is_not_enabled(sample: SampleBrain, line: str, told: str) -> None:
    """The error names those that are, or what to add; a dry run says the same."""
    enable(sample)
    log(sample, MONDAY, line="ops")
    brain = sample.open()

    for call in (brain.consolidate, brain.plan_consolidation):
        with pytest.raises(UsageError) as caught:
            call(lines=[line], now=NIGHT)
        assert told in caught.value.message


@pytest.mark.rule("PERIOD-O6")
def test_a_dry_run_says_what_a_tick_does(sample: SampleBrain) -> None:
    """What is due, from what, and what the rest waits for; nothing on disk changes."""
    enable(sample, more="maxRunsPerTick: 3")
    log_days(sample, date(2026, 8, 3), 28)
    before = sample.files()
    brain = sample.open()

    line = only_line(brain.plan_consolidation(now=NIGHT).to_json())

    assert sample.files() == before
    assert not (sample.root / ".omnislash").exists()
    assert (line["done"], line["queued"]) == ([], 2)
    assert periods(line["due"]) == ["2026-W32", "2026-W33", "2026-W34"]
    assert periods(line["later"]) == ["2026-W35"]
    assert line["due"][0] == {
        "level": "week",
        "period": "2026-W32",
        "file": "main/2026/2026-W32.md",
        "sources": [f"main/2026/08/2026-08-{day:02}.md" for day in range(3, 10)],
    }
    assert line["waiting"] == [
        {"level": "month", "period": "2026-08", "waitsFor": ["2026-W32", "2026-W33", "2026-W34", "2026-W35"]}
    ]
    done = only_line(brain.consolidate(now=NIGHT, models=ScriptedModel()).to_json())["done"]
    assert [(each["period"], each["sources"]) for each in done] == [
        (each["period"], each["sources"]) for each in line["due"]
    ]


def test_the_view_of_a_line(sample: SampleBrain) -> None:
    """Every period under the longer one; a line that is not enabled shows what has files."""
    enable(sample)
    log_days(sample, date(2026, 8, 17), 14)
    sample.put_memory("main/2026/2026-W34.md", "# 2026-W34\n\nBy hand.\n")
    sample.put_memory("ops/2026/2026.md", "# 2026\n\nBy hand.\n")
    brain = sample.open()

    rungs = brain.show_ladder(now=NIGHT).to_json()["lines"][0]["rungs"]
    assert [(rung["period"], rung["depth"], rung["stage"], rung["waitsFor"]) for rung in rungs] == [
        ("2026-08", 0, "waiting", ["2026-W35"]),
        ("2026-W34", 1, "filed", []),
        ("2026-W35", 1, "due", []),
    ]
    assert rungs[2]["file"] == "main/2026/2026-W35.md"
    (other,) = brain.show_ladder(now=NIGHT, lines=["ops"]).to_json()["lines"]
    assert (other["levels"], [rung["stage"] for rung in other["rungs"]]) == (["year"], ["filed"])


def test_progress_is_told(sample: SampleBrain) -> None:
    """Once before the first run, and after each, over all lines."""
    enable(sample, "{main: {periods: [week]}, ops: {periods: [week]}}")
    log_days(sample, MONDAY, 14)
    log_days(sample, MONDAY, 7, line="ops")
    told: list[tuple[str, int, int]] = []

    tick(sample, ScriptedModel(), on_progress=lambda *what: told.append(what))

    assert told == [("summaries", number, 3) for number in range(4)]


def test_a_tick_can_be_ended_between_two_runs(sample: SampleBrain) -> None:
    """What was not begun is not attempted, and stays due."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 21)
    model = ScriptedModel()

    line = only_line(tick(sample, model, is_over=lambda: len(model.requests) >= 1))

    assert line["message"] == "Consolidated 1/1 due period(s), 2 more queued for the next tick"


# -- two at once -----------------------------------------------------------------------------------------------------


def test_one_tick_at_a_time(sample: SampleBrain) -> None:
    """A second tick of the same brain is turned away while one runs, also in the same process; then it may go."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    begun, go_on = threading.Event(), threading.Event()

    def wait(_request: object) -> None:
        begun.set()
        go_on.wait(20)

    brain = sample.open()
    thread = threading.Thread(target=lambda: brain.consolidate(now=NIGHT, models=ScriptedModel(during=wait)))
    thread.start()
    assert begun.wait(20)
    try:
        with pytest.raises(WriterUnavailableError, match=rf"running already \(process {os.getpid()}, since "):
            tick(sample, other := ScriptedModel())
        assert periods(only_line(brain.plan_consolidation(now=NIGHT).to_json())["due"]) == ["2026-W34"]
    finally:
        go_on.set()
        thread.join()

    assert other.requests == []
    assert summaries(sample) == {"2026-W34"}
    assert only_line(tick(sample, other))["message"] == "Consolidated 0/0 due period(s)"


_RACER = """
import sys, time
from datetime import datetime
from omnislash import Brain, WriterUnavailableError
from omnislash.testing import ScriptedModel
calls = []
def note(request):
    calls.append(request.period.name)
    time.sleep(0.02)
with Brain.open(sys.argv[1]) as brain:
    sys.stdin.read(1)
    turned_away = 0
    for _ in range(200):
        try:
            line = brain.consolidate(now=datetime.fromisoformat(sys.argv[2]), models=ScriptedModel(during=note)).lines[0]
        except WriterUnavailableError:
            turned_away += 1
            time.sleep(0.01)
            continue
        if line.queued == 0:
            break
print(*calls)
"""


def test_two_processes_write_every_period_once(sample: SampleBrain) -> None:
    """Three processes tick as fast as they can: no period is asked for twice, and every one is there."""
    enable(sample, more="maxRunsPerTick: 2")
    log_days(sample, date(2026, 6, 1), 90)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, str(sample.root), NIGHT.isoformat()],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    asked = [name for racer in racers for name in racer.communicate("x", timeout=100)[0].split()]

    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert len(asked) == len(set(asked))
    assert (
        set(asked)
        == summaries(sample)
        == {*(f"2026-W{week}" for week in range(23, 36)), "2026-06", "2026-07", "2026-08"}
    )


def test_a_tick_beside_a_worker(sample: SampleBrain) -> None:
    """A tick hands its files to the worker of another process, while an agent writes to the same line."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 14)
    sample.start_worker()
    brain = sample.open()
    writes = ScriptedModel(during=lambda request: brain.agent("nova").memory.write(f"Read {request.period.name}."))

    line = only_line(tick(sample, writes))

    assert periods(line["done"]) == ["2026-W34", "2026-W35"]
    assert "Read 2026-W35." in sample.text("main/2026/08/2026-08-30.md")


@pytest.mark.rule("WRITE-07", "PERIOD-O9")
def test_nobody_runs_the_queue(sample: SampleBrain) -> None:
    """With --queue-only and no worker the text waits in the queue: not done, and the period is due until it is there."""
    enable(sample, "{main: {periods: [week]}}")
    log_days(sample, MONDAY, 7)
    line = only_line(sample.open(queue_only=True).consolidate(now=NIGHT, models=ScriptedModel()).to_json())
    assert "Queued" in line["failed"][0]["reason"]
    assert summaries(sample) == set()

    sample.open().agent("nova").memory.write("The queue runs now.")
    assert summaries(sample) == {"2026-W34"}
    assert periods(only_line(tick(sample, ScriptedModel()))["done"]) == ["2026-W35"]  # the week of that write


def test_a_lock_that_can_not_be_made(sample: SampleBrain) -> None:
    """One sentence names the file and what to do; no model is asked."""
    enable(sample)
    log_days(sample, MONDAY, 7)
    (sample.root / ".omnislash/consolidation.lock").mkdir(parents=True)

    with pytest.raises(StorageError, match=r"^\.omnislash/consolidation\.lock can't be made: .*Give this user"):
        tick(sample, model := ScriptedModel())

    assert model.requests == []


@pytest.mark.rule("PERIOD-20")
def test_a_summary_deleted_by_hand_is_written_anew_without_a_copy(sample: SampleBrain) -> None:
    """Whoever deletes a summary right after it was written loses nothing, so no conflict copy is kept of it."""
    enable(sample)
    log_days(sample, date(2026, 8, 17), 7)
    tick(sample, ScriptedModel())
    place = sample.root / "memory/main/2026/2026-W34.md"
    place.unlink()

    tick(sample, ScriptedModel())

    assert place.is_file()
    assert not (sample.root / "memory/main/conflicts").exists()


@pytest.mark.rule("PERIOD-11")
def test_a_summary_edited_by_hand_leaves_no_copy(sample: SampleBrain) -> None:
    """Whoever rewrites a summary right after it was written meant it: a curator's next edit keeps no copy either."""
    enable(sample)
    log_days(sample, date(2026, 8, 17), 7)
    tick(sample, ScriptedModel())
    place = sample.root / "memory/main/2026/2026-W34.md"
    place.write_text("# 2026-W34\n\nIn my own words.\n")

    verdict = sample.agent().memory.edit("main/2026/2026-W34.md", old="In my own words.", new="In few words.")

    assert verdict.outcome == "written"
    assert place.read_text() == "# 2026-W34\n\nIn few words.\n"
    assert not (sample.root / "memory/main/conflicts").exists()


@pytest.mark.rule("SOURCE-20")
def test_dated_files_of_a_source_make_nothing_due(sample: SampleBrain) -> None:
    """A journal kept as an authored source is no line: no period is due because of it, and none is made from it."""
    enable(sample)
    sample.sources("lifelog")
    for day in range(17, 24):
        sample.put(f"lifelog/2026/08/2026-08-{day}.md", f"# 2026-08-{day}\n\n- 09:00 The tide came in on day {day}.\n")
    model = ScriptedModel()

    answer = only_line(tick(sample, model))

    assert (answer["done"], answer["failed"], answer["queued"]) == ([], [], 0)
    assert list((sample.root / "lifelog").rglob("*-W*.md")) == []
    assert summaries(sample) == set()
