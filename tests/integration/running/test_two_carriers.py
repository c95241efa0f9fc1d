"""One id of a session in two conversations: a harness's, which asks for its turns, and that of a model that we run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.testing import ScriptedChatModel
from tests.integration.running.conftest import read_rows
from tests.integration.running.test_cancelled_turns import open_scripted

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

DAY, WINDOW, MEMORY = "agent-environment", "agent-memory-daily", "agent-memory"


@pytest.fixture
def model() -> ScriptedChatModel:
    """Return a model that always has something to say."""
    return ScriptedChatModel(*["Yes."] * 9)


@pytest.fixture
def brain(sample: SampleBrain, model: ScriptedChatModel) -> Brain:
    """Return a brain with a MEMORY.md and a day."""
    sample.put_memory("main/MEMORY.md", "- Short answers.\n")
    sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 08:00 Tea with Ada.\n")
    return open_scripted(sample, model)


def harness(brain: Brain, *, is_compacted: bool = False) -> list[str]:
    """Return the blocks that a harness is given for a turn."""
    sent = brain.agent("nova").turn(session="mix", message="Hello?", is_compacted=is_compacted).blocks
    return [block.name.value for block in sent]


def chat(brain: Brain, model: ScriptedChatModel) -> list[str]:
    """Return the blocks that open a turn of the model."""
    brain.agent("nova").run("Hello?", session="mix")
    return [name for name in (DAY, WINDOW) if f"<{name}" in model.requests[-1].opening]


@pytest.mark.rule("ENVELOPE-06", "ENVELOPE-10", "ENVELOPE-O7")
def test_a_model_is_told_what_only_a_harness_was(brain: Brain, model: ScriptedChatModel) -> None:
    """Day and window come in the model's first turn, though the id was used before, and not again."""
    assert harness(brain) == [DAY, MEMORY, WINDOW]

    assert chat(brain, model) == [DAY, WINDOW]
    assert chat(brain, model) == []
    assert harness(brain) == [], "and the harness is not told twice"
    assert "Tea with Ada." in model.requests[-1].said[0].opening


@pytest.mark.rule("ENVELOPE-06", "ENVELOPE-10", "ENVELOPE-O7")
def test_a_harness_is_told_what_only_a_model_was(brain: Brain, model: ScriptedChatModel) -> None:
    """The other way round."""
    assert chat(brain, model) == [DAY, WINDOW]

    assert harness(brain) == [DAY, MEMORY, WINDOW]
    assert harness(brain) == []
    assert chat(brain, model) == []


@pytest.mark.rule("ENVELOPE-07", "ENVELOPE-O7")
def test_a_compaction_voids_one_conversation(brain: Brain, model: ScriptedChatModel, sample: SampleBrain) -> None:
    """A harness that shortened its conversation gets everything again; the model's is as it was."""
    chat(brain, model)
    harness(brain)

    assert harness(brain, is_compacted=True) == ["agent-context-snapshot", DAY, MEMORY, WINDOW]
    assert chat(brain, model) == []
    assert harness(brain) == []
    assert sorted({row[1] for row in read_rows(sample, "session_blocks")}) == ["harness", "model"]


@pytest.mark.rule("ENVELOPE-08")
def test_what_goes_is_withdrawn_from_both(brain: Brain, model: ScriptedChatModel, sample: SampleBrain) -> None:
    """Each conversation that was shown MEMORY.md is told once that it is gone."""
    harness(brain)
    chat(brain, model)
    (sample.root / "memory/main/MEMORY.md").unlink()

    withdrawn = [f"<{MEMORY} " in brain.agent("nova").turn(session="mix").render() for _ in range(2)]
    chat(brain, model)
    told = model.requests[-1].standing
    chat(brain, model)

    assert withdrawn == [True, False]
    assert told.count("no longer part of your context") == 1
    assert "no longer part of your context" not in str(model.requests[-1].messages)


@pytest.mark.rule("ENVELOPE-O1", "ENVELOPE-08")
def test_what_comes_back_is_in_force(brain: Brain, model: ScriptedChatModel, sample: SampleBrain) -> None:
    """A MEMORY.md that was emptied and written again stands, and nothing in the history takes it back."""
    place = sample.root / "memory/main/MEMORY.md"
    chat(brain, model)
    place.write_text("", encoding="utf-8")
    chat(brain, model)
    place.write_text("- The red key opens the attic.\n", encoding="utf-8")
    chat(brain, model)

    assert "The red key opens the attic." in model.requests[-1].standing
    assert "the copy above is withdrawn" not in str(model.requests[-1].messages)


def test_the_ledger_of_another_role(brain: Brain, model: ScriptedChatModel, sample: SampleBrain) -> None:
    """A harness may go on with another role: what is no longer its own is withdrawn. A session of a model stays nova's."""
    from omnislash import UsageError

    sample.role("ops", "{write: ops}")
    sample.put_memory("ops/MEMORY.md", "- Long answers.\n")
    harness(brain)

    sent = [(block.why.value, block.place) for block in brain.agent("ops").turn(session="mix").blocks]

    assert sent[:2] == [("withdrawn", "main/MEMORY.md"), ("new", "ops/MEMORY.md")]
    with pytest.raises(UsageError, match="The session 'mix' belongs to the role 'nova', not to 'ops'"):
        brain.agent("ops").run("Hello?", session="mix")
    assert chat(brain, model) == [DAY, WINDOW]
