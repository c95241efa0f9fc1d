"""A brain follows its files while it runs: good changes take effect at once, bad ones change nothing."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import pytest

from omnislash import ConfigError, UsageError
from omnislash.core.verdicts import Outcome
from omnislash.surfaces.cli.following import follow

if TYPE_CHECKING:
    from omnislash import Agent, Verdict
    from tests.integration.conftest import SampleBrain

MEMORY = "main/MEMORY.md"
BAD = "memory: {fileMaxChar: 5}\n"
MANIFEST = "constitution/MANIFEST.yaml"


def fill(agent: Agent, text: str) -> Verdict:
    """Return the verdict of a priority write."""
    return agent.memory.write(text, priority=True)


@pytest.mark.rule("KNOB-26", "BUDGET-24")
@pytest.mark.parametrize("worker", ["none", "in this process", "in its own"])
def test_changed_budget_holds_from_the_next_write(sample: SampleBrain, worker: str) -> None:
    """A number that is changed in the manifest holds for the next write, without a restart of anybody."""
    sample.manifest("{fileMaxChars: 60}")
    brain = sample.open()
    own = brain.start_worker() if worker == "in this process" else None
    if worker == "in its own":
        sample.start_worker()
    nova = brain.agent("nova")
    assert fill(nova, "x" * 50).outcome is Outcome.PARTIAL

    sample.manifest("{fileMaxChars: 100}")
    raised = fill(nova, "y" * 50)
    sample.manifest("{fileMaxChars: 90}")
    lowered = fill(nova, "z" * 50)

    assert (raised.outcome, raised.budget and raised.budget.limit) == (Outcome.WRITTEN, 100)
    assert (lowered.outcome, lowered.budget and lowered.budget.limit) == (Outcome.PARTIAL, 90)
    if own:
        own.stop()


@pytest.mark.rule("KNOB-26")
def test_every_write_key_is_hot(sample: SampleBrain) -> None:
    """Default priority, refusal of credentials and time zone follow the manifest during one turn."""
    secret = "the token is ghp_" + "b" * 36
    nova = sample.agent()
    assert nova.memory.write("one").paths == ("main/2026/08/2026-08-30.md",)
    assert nova.memory.write(secret).outcome is Outcome.REFUSED

    sample.manifest("{priorityDefault: true, secrets: allow}", timezone="Pacific/Kiritimati")

    assert nova.memory.write("two").paths == ("main/2026/08/2026-08-30.md", MEMORY)
    assert nova.memory.write(secret).outcome is Outcome.WRITTEN
    assert "- 23:05 two\n" in sample.text("main/2026/08/2026-08-30.md")


@pytest.mark.rule("KNOB-26")
def test_new_role_and_grant_hold_for_the_next_turn(sample: SampleBrain) -> None:
    """A role that is added, and a grant that is taken away, hold for the next turn."""
    brain = sample.open()
    sample.role("mira", "{write: mira}")
    sample.role("nova", capabilities="memory:read")

    assert brain.agent("mira").memory.write("x").paths == ("mira/2026/08/2026-08-30.md",)
    assert "memory_write" not in brain.agent("nova").tools


@pytest.mark.rule("KNOB-O6")
@pytest.mark.parametrize("worker", ["none", "in this process"])
def test_broken_manifest_keeps_the_last_good_one(
    sample: SampleBrain, caplog: pytest.LogCaptureFixture, worker: str
) -> None:
    """A manifest that does not load changes nothing and is logged once; mended, it takes effect."""
    sample.manifest("{fileMaxChars: 60}")
    brain = sample.open()
    own = brain.start_worker() if worker == "in this process" else None
    nova = brain.agent("nova")

    with caplog.at_level(logging.ERROR):
        sample.put(MANIFEST, BAD)
        verdicts = [fill(nova, letter * 50) for letter in "abc"]
    sample.manifest("{fileMaxChars: 100}")
    mended = fill(nova, "d" * 50)

    assert [(each.outcome, each.budget and each.budget.limit) for each in verdicts] == [(Outcome.PARTIAL, 60)] * 3
    rejected = [record for record in caplog.records if record.__dict__.get("action") == "config_rejected"]
    assert [(record.__dict__["path"], record.__dict__["key"]) for record in rejected] == [
        (MANIFEST, "memory.fileMaxChar")
    ]
    assert mended.outcome is Outcome.WRITTEN
    if own:
        own.stop()


@pytest.mark.rule("KNOB-O6", "KNOB-26")
def test_worker_process_survives_a_broken_manifest(sample: SampleBrain) -> None:
    """A worker of its own keeps writing by the last good manifest, and takes the mended one."""
    sample.manifest("{fileMaxChars: 60}")
    caller = sample.open()
    sample.start_worker()
    nova = caller.agent("nova")
    sample.put(MANIFEST, BAD)
    assert fill(nova, "a" * 50).outcome is Outcome.PARTIAL

    sample.manifest("{fileMaxChars: 100}")

    assert fill(nova, "b" * 50).outcome is Outcome.WRITTEN


@pytest.mark.rule("KNOB-O5", "KNOB-25")
def test_broken_manifest_stops_the_boot(sample: SampleBrain) -> None:
    """A brain whose manifest does not load is not opened; the error names file, line, key and the nearest one."""
    sample.put(MANIFEST, BAD)

    with pytest.raises(ConfigError) as caught:
        sample.open()

    error = caught.value
    assert (error.path, error.line, error.key) == (MANIFEST, 1, "memory.fileMaxChar")
    assert "fileMaxChars" in str(error)


@pytest.mark.rule("KNOB-O5", "KNOB-25", "LINE-09")
@pytest.mark.parametrize(
    ("memory", "named"),
    [
        ("{recallResult: 2}", "recallResult"),
        ("{write: Research}", "Research"),
        ("{write: ../x}", "../x"),
        ("{write: a/b}", "a/b"),
        ("{write: '2026'}", "2026"),
        ("{fileMaxChars: 5}", "fileMaxChars"),
        ("true", "memory"),
    ],
)
def test_broken_role_is_refused_alone(sample: SampleBrain, memory: str, named: str) -> None:
    """A role whose block does not load can't act, with an error that names its file; the others run."""
    sample.role("bad", memory)
    brain = sample.open()

    with pytest.raises(UsageError) as caught:
        brain.agent("bad")

    assert "features/team/bad.agent.md" in str(caught.value.hint)
    assert named in str(caught.value.hint)
    assert brain.agent("nova").memory.write("x").outcome is Outcome.WRITTEN
    assert set(sample.files()) == {"main/2026/08/2026-08-30.md"}


@pytest.mark.rule("KNOB-O5", "KNOB-26")
def test_role_that_breaks_while_running_is_refused_alone(sample: SampleBrain) -> None:
    """A role file that is broken during a run stops that role's next turn and nobody else's, until it is mended."""
    sample.role("mira")
    brain = sample.open()
    sample.role("mira", "{rite: x}")

    with pytest.raises(UsageError, match="mira"):
        brain.agent("mira")
    assert brain.agent("nova").memory.write("x").outcome is Outcome.WRITTEN
    sample.role("mira")
    assert brain.agent("mira").memory.write("y").outcome is Outcome.WRITTEN


@pytest.mark.rule("KNOB-O5")
def test_broken_beat_leaves_its_role_alone(sample: SampleBrain) -> None:
    """A heartbeat whose block does not load can't run; its role still does."""
    sample.beat("rounds", "nova", "{recentDay: 1}")
    brain = sample.open()

    with pytest.raises(UsageError) as caught:
        brain.agent("nova", heartbeat="rounds")
    assert "recentDay" in str(caught.value.hint)
    assert brain.agent("nova").memory.write("x").outcome is Outcome.WRITTEN


@pytest.mark.rule("TOOL-16", "KNOB-26")
def test_gate_is_hot(sample: SampleBrain) -> None:
    """The approval gate follows its file: opened and shut again while the brain runs."""
    for name in "abc":
        sample.put_memory(f"main/{name}.md", "x\n")
    nova = sample.agent()
    outcomes = [nova.memory.delete("main/a.md").outcome]
    sample.open_gate()
    outcomes.append(nova.memory.delete("main/b.md").outcome)
    sample.put("constitution/engine-capabilities.json", "{}")
    outcomes.append(nova.memory.delete("main/c.md").outcome)

    assert outcomes == [Outcome.APPROVAL_REQUIRED, Outcome.WRITTEN, Outcome.APPROVAL_REQUIRED]


@pytest.mark.rule("EVENT-11", "SOURCE-10", "SOURCE-O4")
def test_what_nobody_names_is_told_when_a_worker_starts(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """The log of a start names each source that no list names, and not the one that a list does, once each."""
    sample.sources("content", "journal", "people/maria", "memory/ops")
    sample.role("nova", "{read: [content]}")
    is_over = threading.Event()
    is_over.set()

    with caplog.at_level(logging.WARNING, logger="omnislash"):
        follow(sample.open(), is_over)

    said = [record.getMessage() for record in caplog.records if "nobody names" in record.getMessage().lower()]
    assert ["'journal'" in said[0], "'people/maria'" in said[1]] == [True, True]
    assert len(said) == 2
    assert any("'memory/ops'" in record.getMessage() for record in caplog.records)
