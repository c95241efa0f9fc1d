"""The check `schedules`: what comes due never, rarely or all the time, and changes of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.runtime.beats.cron import list_instants

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "schedules"
MANIFEST = "constitution/MANIFEST.yaml"
NOVA = "features/nova.agent.md"
ROLE = "---\ncapabilities: [memory:read]\nmemory: {}\n---\nYou are Nova.\n"
DAWN = "features/dawn.heartbeat.md"
AVOID = "Another hour of the day avoids that."
BERLIN = "locale: {timezone: Europe/Berlin}\n"


def beat(schedule: str, *, body: str = "Go.\n", more: str = "") -> str:
    """Return a heartbeat whose schedule stands in line 3."""
    return f"---\nagent: nova\nschedule: '{schedule}'\n{more}---\n{body}"


def test_ordinary_schedules_pass(examine: Examine) -> None:
    """Each morning, every half hour, and brain-sync every ten minutes, in a zone that changes its clocks."""
    files = {
        MANIFEST: BERLIN,
        NOVA: ROLE,
        DAWN: beat("30 7 * * 1-5"),
        "features/often.heartbeat.md": beat("*/30 * * * *"),
        "features/hourly.heartbeat.md": beat("@hourly"),
    }

    result = examine(files, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.rule("PERIOD-O13")
@pytest.mark.parametrize("schedule", ["0 7 30 2 *", "0 25 * * *", "every day"])
def test_a_schedule_that_never_comes_fails(examine: Examine, schedule: str) -> None:
    """30 February, an hour that is none, and words."""
    result = examine({NOVA: ROLE, DAWN: beat(schedule)}, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings == (
        Finding(
            Severity.FAIL,
            f"'{schedule}' is not a cron expression of five fields that ever comes due.",
            DAWN,
            3,
            "schedule",
            "Write five fields, minute hour day month weekday, for example '0 4 * * *'.",
        ),
    )


def test_a_leap_day_is_told_with_its_date(examine: Examine) -> None:
    """It comes, though not soon."""
    result = examine({NOVA: ROLE, DAWN: beat("0 7 29 2 *")}, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "The heartbeat 'dawn' comes due on 2028-02-29 for the first time from now.",
            DAWN,
            3,
            "schedule",
        ),
    )


@pytest.mark.parametrize("schedule", ["* * * * *", "*/1 * * * *", "* 9-17 * * *"])
def test_a_heartbeat_of_every_minute_is_a_warning(examine: Examine, schedule: str) -> None:
    """It asks a model each time."""
    result = examine({NOVA: ROLE, DAWN: beat(schedule)}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "The heartbeat 'dawn' runs every minute, and asks a model each time.",
            DAWN,
            3,
            "schedule",
            "Let it run less often, for example `schedule: '*/30 * * * *'`.",
        ),
    )


@pytest.mark.parametrize("schedule", ["*/2 * * * *", "0,1 9 * * *"])
def test_less_often_is_no_warning(examine: Examine, schedule: str) -> None:
    """Two minutes in a row are not every minute."""
    assert examine({NOVA: ROLE, DAWN: beat(schedule)}, ID)[ID].findings == ()


@pytest.mark.rule("LINE-O3")
def test_an_hour_that_is_left_out_is_told_with_its_day(examine: Examine) -> None:
    """Berlin leaves out 02:00 to 03:00 on 2027-03-28 and has it twice on 2027-10-31."""
    result = examine({MANIFEST: BERLIN, NOVA: ROLE, DAWN: beat("30 2 * * *")}, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "The heartbeat 'dawn' is set for 02:30, which is left out on 2027-03-28 in Europe/Berlin: "
            "it runs at 03:30 that day.",
            DAWN,
            3,
            "schedule",
            AVOID,
        ),
        Finding(
            Severity.INFO,
            "The heartbeat 'dawn' is set for 02:30, which comes twice on 2027-10-31 in Europe/Berlin: "
            "it runs the first time only.",
            DAWN,
            3,
            "schedule",
            AVOID,
        ),
    )


def test_what_is_told_is_what_the_scheduler_does() -> None:
    """The instants of the runtime: 03:30 summer time on the one day, and one of the two 02:30 on the other."""
    zone = ZoneInfo("Europe/Berlin")
    start, end = datetime(2027, 3, 27, 12, tzinfo=UTC), datetime(2027, 11, 2, tzinfo=UTC)
    instants = list(takewhile(lambda at: at < end, list_instants("30 2 * * *", after=start, zone=zone)))

    assert instants[0].astimezone(zone).isoformat() == "2027-03-28T03:30:00+02:00"
    doubled = [at.astimezone(zone) for at in instants if at.astimezone(zone).date().isoformat() == "2027-10-31"]
    assert [at.isoformat() for at in doubled] == ["2027-10-31T02:30:00+02:00"]
    assert all(one < other for one, other in pairwise(instants))


@pytest.mark.parametrize(
    ("zone", "schedule", "told"),
    [
        ("America/New_York", "15 2 * * *", ["2027-03-14"]),
        ("America/New_York", "15 1 * * *", ["2027-11-07"]),
        ("Australia/Lord_Howe", "10 2 * * *", ["2027-10-03"]),
        ("Europe/Berlin", "30 2 * * 1-5", []),
        ("Europe/Berlin", "0 3 * * *", []),
        ("Europe/Berlin", "0 2 * * *", ["2027-03-28", "2027-10-31"]),
        ("Asia/Tokyo", "30 2 * * *", []),
        ("UTC", "30 2 * * *", []),
        ("Africa/Cairo", "30 0 * * *", ["2027-04-30"]),
    ],
)
def test_other_zones_have_other_days(examine: Examine, zone: str, schedule: str, told: list[str]) -> None:
    """Half an hour on Lord Howe, midnight in Cairo, none in Tokyo, and no Sunday for who works on weekdays."""
    files = {MANIFEST: f"locale: {{timezone: {zone}}}\n", NOVA: ROLE, DAWN: beat(schedule)}

    findings = examine(files, ID)[ID].findings

    assert [each.message.partition(" on ")[2][:10] for each in findings] == told


def test_the_manifest_has_schedules_too(examine: Examine) -> None:
    """The tick of summaries counts where lines are summarised, and brain-sync where it is on."""
    files = {
        MANIFEST: BERLIN
        + "memory:\n  consolidation:\n    schedule: '5 2 * * *'\n    lines: {main: {periods: [week]}}\n"
        + "sync:\n  schedule: '10 2 * * 0'\n",
        NOVA: ROLE,
    }

    findings = examine(files, ID)[ID].findings

    assert [(each.message.partition(",")[0], each.path, each.line, each.key) for each in findings] == [
        ("The tick of period summaries is set for 02:05", MANIFEST, 4, "memory.consolidation.schedule"),
        ("The tick of period summaries is set for 02:05", MANIFEST, 4, "memory.consolidation.schedule"),
        ("brain-sync is set for 02:10", MANIFEST, 7, "sync.schedule"),
        ("brain-sync is set for 02:10", MANIFEST, 7, "sync.schedule"),
    ]


def test_a_tick_that_summarises_nothing_is_not_spoken_of(examine: Examine) -> None:
    """No line is named under `consolidation.lines`."""
    manifest = BERLIN + "memory: {consolidation: {schedule: '5 2 * * *'}}\nsync: {enabled: true}\n"

    assert examine({MANIFEST: manifest}, ID)[ID].findings == ()


def test_what_is_off_is_told(examine: Examine) -> None:
    """And nothing else is said of it; that brain-sync is off is told by its own check."""
    files = {
        MANIFEST: "sync:\n  enabled: false\n",
        NOVA: ROLE,
        DAWN: beat("* * * * *", body="", more="enabled: false\n"),
        "features/after.hook.md": "---\non: memory:written\nagent: nova\nenabled: false\n---\nGo.\n",
    }

    result = examine(files, ID)[ID]

    on = "Delete `enabled: false` to have it run."
    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "features/after.hook.md is off, so it does not run by itself.",
            "features/after.hook.md",
            4,
            "enabled",
            on,
        ),
        Finding(Severity.INFO, f"{DAWN} is off, so it does not run by itself.", DAWN, 4, "enabled", on),
    )


@pytest.mark.parametrize("body", ["", "\n \n", "# Dawn\n\n<!-- later -->\n", "- [ ] \n"])
def test_a_file_that_asks_for_nothing_is_a_warning(examine: Examine, body: str) -> None:
    """O-39: no model is asked; a heartbeat and a hook alike."""
    hook = "features/after.hook.md"
    files = {NOVA: ROLE, DAWN: beat("0 7 * * *", body=body), hook: f"---\non: memory:written\nagent: nova\n---\n{body}"}

    result = examine(files, ID)[ID]

    hint = "Write below its frontmatter what it should do, or set `enabled: false`."
    assert result.status is Status.WARN
    assert result.findings == tuple(
        Finding(Severity.WARN, f"{path} has no prompt, so no model is asked when it runs.", path, hint=hint)
        for path in (hook, DAWN)
    )


def test_two_things_at_once_are_both_said_the_failure_first(examine: Examine) -> None:
    """A schedule that is none, and a heartbeat of every minute without a prompt."""
    files = {NOVA: ROLE, DAWN: beat("0 0 30 2 *"), "features/a.heartbeat.md": beat("* * * * *", body="")}

    assert [(each.severity.value, each.path) for each in examine(files, ID)[ID].findings] == [
        ("fail", DAWN),
        ("warn", "features/a.heartbeat.md"),
        ("warn", "features/a.heartbeat.md"),
    ]


def test_a_broken_manifest_means_the_defaults(examine: Examine) -> None:
    """An unknown zone is told by another check; odd ids break nothing."""
    files = {MANIFEST: "locale: {timezone: Nowhere/Land}\n", NOVA: ROLE, "features/Ёж.heartbeat.md": beat("30 2 * * *")}

    assert examine(files, ID)[ID].findings == ()


def test_an_empty_brain_passes(examine: Examine) -> None:
    """Only brain-sync is scheduled."""
    assert examine({}, ID)[ID].findings == ()
