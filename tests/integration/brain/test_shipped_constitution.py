"""The constitution that ships: every default is the one of the rules, and the right roles have memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from omnislash.brain.loading import load_brain
from omnislash.brain.manifest import MANIFEST_FILE, Manifest, parse_manifest
from omnislash.runtime.tools.catalog import TOOLS
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.brain.files import BrainFiles

#: KNOB-02 to KNOB-20 and their defaults, as the rules state them.
DEFAULTS = {
    "write": "main",
    "report": [],
    "read": [],
    "recall": [],
    "priorityChars": 12000,
    "recentDays": 1,
    "recentChars": 4000,
    "recallResults": 4,
    "recallScore": 0.41,
    "recallChars": 3000,
    "searchScore": 0.3,
    "periodCount": 1,
    "periodChars": 6000,
    "recallGate": "floor",
    "fileMaxChars": 10000,
    "priorityDefault": False,
    "secrets": "refuse",
}


@pytest.fixture
def shipped(tmp_path: Path) -> BrainFiles:
    """Return a brain that holds nothing of its own, so that everything comes from the shipped constitution."""
    (tmp_path / "omnislash.yaml").write_text("", encoding="utf-8")
    return load_brain(tmp_path, shipped=constitution_directory())


@pytest.mark.rule("KNOB-02", "KNOB-06", "KNOB-07", "KNOB-10", "KNOB-16", "KNOB-17", "KNOB-18")
def test_shipped_manifest_states_the_defaults() -> None:
    """Each knob stands in the shipped manifest with the default of the rules, in words a person can read."""
    text = (constitution_directory() / "MANIFEST.yaml").read_text(encoding="utf-8")
    for key, value in DEFAULTS.items():
        shown = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
        assert re.search(rf"^  {key}: {re.escape(str(shown))}\s*$", text, re.MULTILINE), key


@pytest.mark.rule("KNOB-20", "PERIOD-12", "PERIOD-13", "PERIOD-14", "FLUSH-O2")
def test_shipped_manifest_equals_an_empty_one() -> None:
    """Leaving the manifest out, and shipping it, come to the same settings."""
    text = (constitution_directory() / "MANIFEST.yaml").read_text(encoding="utf-8")
    decoded = parse_manifest(text, path=MANIFEST_FILE)
    assert decoded.faults == ()
    assert decoded.value is not None
    empty = Manifest()
    assert decoded.value.locale == empty.locale
    assert decoded.value.memory.consolidation == empty.memory.consolidation
    assert decoded.value.memory.flush == empty.memory.flush
    assert decoded.value.memory.file_max_chars == empty.memory.file_max_chars == 10000
    assert empty.memory.consolidation.schedule == "0 4 * * *"
    assert empty.memory.consolidation.max_runs_per_tick == 4
    assert empty.memory.consolidation.max_source_chars == 120000


@pytest.mark.rule("DECLARE-09", "FLUSH-07")
@pytest.mark.parametrize("role", ["system:general", "system:chief", "system:coder", "system:memory"])
def test_broad_role_ships_with_memory(shipped: BrainFiles, role: str) -> None:
    """The engine's broad roles declare `memory: {}` and work in the default line."""
    assert shipped.resolve_scope(role).line == "main"


@pytest.mark.rule("DECLARE-10")
@pytest.mark.parametrize("role", ["system:browser", "system:proposer", "system:implementer", "system:evaluator"])
def test_narrow_role_ships_without_memory(shipped: BrainFiles, role: str) -> None:
    """These roles have no memory block on purpose."""
    assert not shipped.resolve_scope(role).has_memory


@pytest.mark.rule("DECLARE-11")
def test_a_copy_with_a_block_has_memory(tmp_path: Path) -> None:
    """A user's copy replaces the engine's file whole, so a block that was added in it counts."""
    (tmp_path / "omnislash.yaml").write_text("", encoding="utf-8")
    copy = tmp_path / "constitution" / "Agents" / "system" / "role-browser.md"
    copy.parent.mkdir(parents=True)
    copy.write_text("---\nmemory: {}\n---\nA copy.\n", encoding="utf-8")
    brain = load_brain(tmp_path, shipped=constitution_directory())
    assert brain.resolve_scope("system:browser").line == "main"
    assert brain.find_role("system:browser").body.strip() == "A copy."


@pytest.mark.rule("ENVELOPE-26", "BUDGET-22")
def test_the_memory_module_names_no_tool() -> None:
    """The prompt module speaks of blocks, and never tells an agent to measure a file itself."""
    text = (constitution_directory() / "Agents" / "system" / "with-memory.md").read_text(encoding="utf-8")
    assert not re.search(r"\b(memory_\w+|audit_list|wc|len\(|doctor_report)\b", text)
    assert "<agent-memory" in text
    assert re.search(r"never measure", text, re.IGNORECASE)


@pytest.mark.rule("BUDGET-22")
def test_no_prompt_tells_to_measure_the_file() -> None:
    """Of all that the engine says to a model, nothing tells it to count or measure a file, by a command or by itself."""
    shipped = {path.name: path.read_text(encoding="utf-8") for path in constitution_directory().rglob("*.md")}
    texts = shipped | {tool.name: tool.description for tool in TOOLS.values()}
    assert {"with-memory.md", "role-memory.md", "role-general.md", "memory_read"} <= set(texts)
    for name, text in texts.items():
        left = text.replace("never measure the file yourself", "").replace(
            'Measure "recently" and "next week" by it', ""
        )
        assert not re.search(r"\bmeasur|\bwc\b|\blen\(|\bcount (the |its )?(char|byte|letter)", left, re.IGNORECASE), (
            name
        )


@pytest.mark.rule("PERIOD-18")
def test_the_consolidator_names_its_criteria() -> None:
    """The consolidator is told what a summary keeps."""
    text = (constitution_directory() / "Agents" / "system" / "role-consolidator.md").read_text(encoding="utf-8").lower()
    for criterion in ("decision", "commitment", "open", "pattern", "correction"):
        assert criterion in text
