"""constitution/MANIFEST.yaml: the defaults of a brain, strictly decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.brain.manifest import Manifest, parse_manifest
from omnislash.core.scopes import Declaration

if TYPE_CHECKING:
    from omnislash.errors import Fault


def memory(block: str) -> Manifest:
    """Return a manifest whose memory block must load."""
    found = parse_manifest(f"memory: {block}\n")
    assert found.faults == ()
    assert found.value is not None
    return found.value


def faults_of(block: str) -> tuple[Fault, ...]:
    """Return the faults of a memory block."""
    return parse_manifest(f"memory: {block}\n").faults


@pytest.mark.rule("KNOB-16", "KNOB-20", "FLUSH-O2", "PERIOD-12", "PERIOD-13", "PERIOD-14")
def test_empty_manifest_gives_defaults() -> None:
    """Without a word the documented defaults hold and nothing is consolidated."""
    manifest = parse_manifest("").value
    assert manifest == Manifest()
    assert manifest is not None
    block = manifest.memory
    assert (block.file_max_chars, block.priority_default, block.secrets, block.flush.enabled) == (
        10_000,
        False,
        "refuse",
        True,
    )
    consolidation = block.consolidation
    assert dict(consolidation.lines) == {}
    assert (consolidation.schedule, consolidation.max_runs_per_tick, consolidation.max_source_chars) == (
        "0 4 * * *",
        4,
        120_000,
    )
    assert (consolidation.model_ref, manifest.locale.timezone) == (None, "UTC")


@pytest.mark.rule("DECLARE-O1")
@pytest.mark.parametrize("text", ["memory:\n", "memory: {}\n", "memory:\nlocale:\nloop:\n"])
def test_empty_blocks_change_nothing(text: str) -> None:
    """A block whose keys are all commented out is an empty block."""
    assert parse_manifest(text).value == Manifest()


@pytest.mark.rule("KNOB-02", "KNOB-03", "KNOB-04", "KNOB-05")
def test_block_keeps_set_and_absent_apart() -> None:
    """Keys that are set reach the declaration, and keys that are absent stay absent."""
    block = memory("{ write: team, recall: [content, '*'], recentDays: 0, recallScore: 0.5, recallGate: evidence }")
    assert block.memory.to_declaration() == Declaration(
        write="team", recall=("content", "*"), recent_days=0, recall_score=0.5, recall_gate="evidence"
    )
    lists = memory("{ report: [ops, desk], read: ['*', content], recall: [] }")
    assert lists.memory.to_declaration() == Declaration(report=("ops", "desk"), read=("*", "content"), recall=())


@pytest.mark.rule("KNOB-16")
def test_budgets_by_line() -> None:
    """A line may have a number of its own, 0 included; a line that says nothing has none."""
    manifest = memory("{ fileMaxChars: 0, lines: { main: { fileMaxChars: 60000 }, ops: { fileMaxChars: 0 }, team: } }")
    assert manifest.memory.file_max_chars == 0
    assert manifest.memory.line_budgets == {"main": 60_000, "ops": 0, "team": None}


@pytest.mark.rule("PERIOD-02", "PERIOD-03", "PERIOD-15", "KNOB-20")
def test_consolidation_by_line() -> None:
    """Lines name their levels, and may name a model."""
    lines = "{ main: { periods: [week, month, year] }, research: { periods: [week], modelRef: fast } }"
    manifest = memory(f"{{ consolidation: {{ lines: {lines}, modelRef: 'cli:smart', maxRunsPerTick: 0 }} }}")
    consolidation = manifest.memory.consolidation
    assert {name: line.periods for name, line in consolidation.lines.items()} == {
        "main": ("week", "month", "year"),
        "research": ("week",),
    }
    assert consolidation.lines["research"].model_ref == "fast"  # type: ignore[index]
    assert (consolidation.model_ref, consolidation.max_runs_per_tick) == ("cli:smart", 0)


@pytest.mark.rule("KNOB-O2")
def test_zero_source_cap_loads() -> None:
    """0 is a value of its own: it does not fall back to the default."""
    assert memory("{ consolidation: { maxSourceChars: 0 } }").memory.consolidation.max_source_chars == 0


@pytest.mark.rule("KNOB-O4", "KNOB-25", "KNOB-29", "LINE-09", "PERIOD-O12", "PERIOD-O13", "REPORT-11", "KNOB-O8")
@pytest.mark.parametrize(
    ("block", "key", "words"),
    [
        pytest.param("{ recentDays: 12:30 }", "memory.recentDays", "'12:30' is text", id="time"),
        pytest.param('{ recallResults: "4" }', "memory.recallResults", "text in quotes", id="quoted number"),
        pytest.param("{ periodCount: 4.0 }", "memory.periodCount", "4.0 is not whole", id="fraction"),
        pytest.param("{ recentChars: -1 }", "memory.recentChars", "-1 is too small", id="negative"),
        pytest.param("{ recentChars: 012 }", "memory.recentChars", "'012' is text", id="leading zero"),
        pytest.param("{ recentChars: 2000000000 }", "memory.recentChars", "too large", id="too large"),
        pytest.param("{ recentChars: }", "memory.recentChars", "no value", id="no value"),
        pytest.param("{ recentChars: true }", "memory.recentChars", "'true' is a switch", id="switch"),
        pytest.param("{ recentChars: [1] }", "memory.recentChars", "There is a list", id="list"),
        pytest.param("{ recallScore: 1.5 }", "memory.recallScore", "too large", id="score over one"),
        pytest.param("{ searchScore: -0.1 }", "memory.searchScore", "too small", id="score under zero"),
        pytest.param("{ searchScore: .3 }", "memory.searchScore", "'.3' is text", id="score without zero"),
        pytest.param("{ searchScore: '0.3' }", "memory.searchScore", "text in quotes", id="quoted score"),
        pytest.param("{ searchScore: 41% }", "memory.searchScore", "'41%' is text", id="percent"),
        pytest.param("{ priorityDefault: off }", "memory.priorityDefault", "'off' is text", id="off"),
        pytest.param("{ recallGate: floors }", "memory.recallGate", "'floors' is not one of", id="gate"),
        pytest.param("{ secrets: allow, secrets: refuse }", None, "given twice", id="doubled"),
        pytest.param("{ write: [a] }", "memory.write", "There is a list; expected the name of one line", id="list"),
        pytest.param("{ write: '*' }", "memory.write", "'*' is not a line name", id="every line"),
        pytest.param("{ write: people/maria }", "memory.write", "'people/maria' is not a line name", id="path"),
        pytest.param("{ write: Research }", "memory.write", "'Research' is not a line name", id="capital"),
        pytest.param("{ write: 2026 }", "memory.write", "'2026' is not a line name", id="year"),
        pytest.param("{ write: handbook.md }", "memory.write", "'handbook.md' is not a line name", id="file"),
        pytest.param("{ report: ['*'] }", "memory.report[0]", "'*' is not a line name", id="report every line"),
        pytest.param("{ report: [people/maria] }", "memory.report[0]", "is not a line name", id="report a path"),
        pytest.param("{ report: ops }", "memory.report", "expected a list", id="report text"),
        pytest.param("{ read: content }", "memory.read", "expected a list", id="read text"),
        pytest.param("{ read: }", "memory.read", "no value", id="read nothing"),
        pytest.param("{ read: [my notes] }", "memory.read[0]", "'my notes'", id="read a bad path"),
        pytest.param("{ lines: { Main: {} } }", "memory.lines.Main", "'Main' is not a line name", id="line key"),
        pytest.param("{ lines: [main] }", "memory.lines", "There is a list", id="lines as list"),
        pytest.param("{ lines: { main: 5 } }", "memory.lines.main", "'5' is a number", id="line as number"),
        pytest.param(
            "{ consolidation: { lines: { main: { periods: [week, week] } } } }",
            "memory.consolidation.lines.main.periods[1]",
            "in the list twice",
            id="level twice",
        ),
        pytest.param(
            "{ consolidation: { lines: { main: { periods: [] } } } }",
            "memory.consolidation.lines.main.periods",
            "The list is empty",
            id="no level",
        ),
        pytest.param(
            "{ consolidation: { lines: { main: { periods: [day] } } } }",
            "memory.consolidation.lines.main.periods[0]",
            "'day' is not one of week, month, quarter, year",
            id="unknown level",
        ),
        pytest.param(
            "{ consolidation: { lines: { main: {} } } }",
            "memory.consolidation.lines.main.periods",
            "The key is missing",
            id="levels missing",
        ),
        pytest.param(
            "{ consolidation: { schedule: nightly } }",
            "memory.consolidation.schedule",
            "'nightly' is not a cron expression",
            id="schedule",
        ),
        pytest.param("true", "memory", "'true' is a switch", id="block as switch"),
        pytest.param("[]", "memory", "There is a list", id="block as list"),
    ],
)
def test_wrong_value_is_named(block: str, key: str | None, words: str) -> None:
    """A wrong value fails the load; its key, its place and what was expected are told."""
    (fault,) = faults_of(block)
    assert (fault.path, fault.line, fault.key) == ("constitution/MANIFEST.yaml", 1, key)
    assert fault.column is not None
    assert words in fault.message


@pytest.mark.parametrize(
    ("block", "step"),
    [
        pytest.param('{ recentDays: "4" }', "Remove the quotes: 4.", id="quotes"),
        pytest.param("{ recentDays: 4.0 }", "Write 4.", id="fraction of zero"),
        pytest.param("{ recentDays: 012 }", "Write 12.", id="leading zero"),
        pytest.param("{ recentChars: 1_000 }", "Write 1000.", id="separator"),
        pytest.param("{ recentChars: '1,000' }", "Write 1000.", id="comma"),
        pytest.param("{ recentChars: +5 }", "Write 5.", id="plus"),
        pytest.param("{ recallScore: .3 }", "Write 0.3.", id="score without zero"),
        pytest.param("{ recallScore: '0.3' }", "Remove the quotes: 0.3.", id="quoted score"),
        pytest.param("{ recallScore: '0,3' }", "Write 0.3.", id="comma in score"),
        pytest.param("{ recentDays: -1 }", "0 switches it off.", id="negative"),
        pytest.param("{ priorityDefault: on }", "Write true, without quotes.", id="on"),
        pytest.param("{ priorityDefault: 'false' }", "Write false, without quotes.", id="quoted switch"),
        pytest.param("{ priorityDefault: True }", "Write true, without quotes.", id="capital"),
        pytest.param("{ read: content }", "Write [content].", id="text for list"),
        pytest.param("{ write: [a] }", "name others under report, read or recall", id="list for name"),
        pytest.param("{ read: }", "Write a value, or remove the key.", id="no value"),
        pytest.param("{ recallResult: 2 }", "Did you mean 'recallResults'?", id="slip"),
        pytest.param("{ recent_days: 2 }", "Did you mean 'recentDays'?", id="snake case"),
        pytest.param("{ languages: [x] }", "It belongs in `memory` of omnislash.yaml.", id="key of the project"),
        pytest.param("{ memoryFlush: true }", "It stands beside the `memory` block", id="key beside"),
        pytest.param("{ enabled: true }", "no such switch", id="second switch"),
        pytest.param("{ zzz: 1 }", "Known keys: write, report, read", id="unknown"),
    ],
)
def test_next_step_is_told(block: str, step: str) -> None:
    """Each fault says how to write it, or where it belongs."""
    (fault,) = faults_of(block)
    assert step in (fault.hint or "")


def test_priority_default_without_hint() -> None:
    """A value that resembles nothing gets no made-up advice."""
    (fault,) = faults_of("{ priorityDefault: maybe }")
    assert fault.hint is None


def test_all_faults_of_a_file_at_once() -> None:
    """One run reports every fault, each at its own place."""
    found = parse_manifest(
        "memory:\n"
        "  recallResult: 2\n"
        "  recallScore: 2\n"
        "  write: '*'\n"
        "  read: [a b, ops, ../x]\n"
        "  recentDays:\n"
        "locale:\n"
        "  timezone: Europe/Berln\n"
        "memroy: {}\n"
    )
    assert found.value is None
    assert [(fault.line, fault.column, fault.key) for fault in found.faults] == [
        (2, 3, "memory.recallResult"),
        (3, 16, "memory.recallScore"),
        (4, 10, "memory.write"),
        (5, 10, "memory.read[0]"),
        (5, 20, "memory.read[2]"),
        (6, 3, "memory.recentDays"),
        (8, 13, "locale.timezone"),
        (9, 1, "memroy"),
    ]


def test_refused_values_are_reported_once() -> None:
    """An alias is told once, by the reader of the text, and never as a missing value."""
    found = parse_manifest("memory:\n  write: *x\n  consolidation: *y\n  read: [*z]\nlocale: {timezone: !!str UTC}\n")
    assert found.value is None
    assert [fault.line for fault in found.faults] == [2, 3, 4, 5]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu"])
def test_time_zone_is_an_iana_name(zone: str) -> None:
    """Every zone of the time zone database is taken."""
    manifest = parse_manifest(f"locale: {{ timezone: {zone} }}\n").value
    assert manifest is not None
    assert manifest.locale.timezone == zone


@pytest.mark.parametrize(
    ("zone", "step"),
    [
        pytest.param("Europe/Berln", "'Europe/Berlin'", id="slip"),
        pytest.param("../../etc/passwd", "Area/City", id="path"),
        pytest.param("+02:00", "Area/City", id="offset"),
    ],
)
def test_other_zones_are_refused(zone: str, step: str) -> None:
    """What is no zone is refused with the nearest one, or with an example."""
    (fault,) = parse_manifest(f"locale: {{ timezone: '{zone}' }}\n").faults
    assert step in (fault.hint or "")


def test_loop_is_kept_and_not_judged() -> None:
    """The loop's settings are another system's: kept as they are, but still a block."""
    manifest = parse_manifest("loop: { check: { mode: replay, times: [1, 12:30] } }\n").value
    assert manifest is not None
    assert manifest.loop == {"check": {"mode": "replay", "times": [1, "12:30"]}}
    assert parse_manifest("loop: 5\n").value is None


@pytest.mark.rule("SECRET-O1")
def test_credentials_may_be_allowed() -> None:
    """`secrets: allow` switches the refusal off."""
    assert memory("{ secrets: allow }").memory.secrets == "allow"


@pytest.mark.rule("FLUSH-02", "KNOB-18")
def test_flush_can_be_stopped() -> None:
    """`flush.enabled: false` stops the flush of the whole brain."""
    assert memory("{ flush: { enabled: false } }").memory.flush.enabled is False
