"""The one table of settings says everything that help pages need."""

from __future__ import annotations

import pytest

from omnislash.brain.settings import settings_table

ROWS = {(row.file, row.key): row for row in settings_table()}


@pytest.mark.rule("KNOB-06", "KNOB-07", "KNOB-08", "KNOB-09", "KNOB-10", "KNOB-11", "KNOB-12", "KNOB-13", "KNOB-14")
@pytest.mark.parametrize(
    ("key", "default", "unit"),
    [
        ("priorityChars", "12000", "UTF-16 units"),
        ("recentDays", "1", "days"),
        ("recentChars", "4000", "UTF-16 units"),
        ("recallResults", "4", "hits"),
        ("recallScore", "0.41", "score"),
        ("recallChars", "3000", "UTF-16 units"),
        ("searchScore", "0.3", "score"),
        ("periodCount", "1", "summaries"),
        ("periodChars", "6000", "UTF-16 units"),
        ("recallGate", "floor", None),
        ("write", "main", None),
        ("read", "[]", None),
    ],
)
def test_knob_has_its_default(key: str, default: str, unit: str | None) -> None:
    """Each reading knob shows the documented default, in a role as in the manifest."""
    for file in ("*.agent.md", "constitution/MANIFEST.yaml"):
        row = ROWS[file, f"memory.{key}"]
        assert (row.default, row.unit) == (default, unit)
    assert ("*.heartbeat.md", f"agent.memory.{key}") in ROWS


def test_numbers_have_a_range() -> None:
    """A count begins at 0 and a score lies between 0 and 1."""
    results = ROWS["*.agent.md", "memory.recallResults"]
    score = ROWS["*.agent.md", "memory.recallScore"]
    assert results.minimum == 0
    assert (score.minimum, score.maximum) == (0, 1)


@pytest.mark.rule("KNOB-15", "KNOB-O3")
def test_block_has_no_switch_and_no_key_of_the_manifest() -> None:
    """A role's block has no `enabled`, and the manifest's own keys are only there."""
    keys = {key.removeprefix("memory.") for file, key in ROWS if file == "*.agent.md"}
    assert keys.isdisjoint({"enabled", "fileMaxChars", "lines", "flush", "consolidation", "priorityDefault"})
    assert ("constitution/MANIFEST.yaml", "memory.consolidation.lines.<name>.periods") in ROWS


def test_every_row_can_be_shown() -> None:
    """Each row has a sentence and says what is expected; ignored keys are left out."""
    assert all(row.help.endswith(".") and row.expects for row in ROWS.values())
    assert ("*.agent.md", "promptFlags") not in ROWS
    assert ROWS["*.heartbeat.md", "schedule"].is_required
    assert ROWS["constitution/access.yaml", "bots[].secretary.contacts"].default == "{}"
