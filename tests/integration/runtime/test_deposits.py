"""Signed deposits into another line: where they land, how they end, and everything they do not open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import ConfigError, ScopeError
from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

OPS_TODAY = "ops/2026/08/2026-08-30.md"


@pytest.fixture
def two(sample: SampleBrain) -> SampleBrain:
    """Return a brain with `assistant` in `main`, `ops` in `ops`, and the beat `briefing` that may deposit there."""
    sample.role("assistant")
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "assistant", "{report: [ops]}")
    return sample


@pytest.mark.rule("REPORT-02", "REPORT-03", "REPORT-04", "REPORT-07", "REPORT-O4", "TOOL-08")
def test_deposit_is_signed_by_role_and_heartbeat(two: SampleBrain) -> None:
    """A deposit is one entry in today's log of the destination and ends in role and heartbeat."""
    verdict = two.agent("assistant", heartbeat="briefing").memory.write("sync failed", line="ops")

    assert (verdict.outcome, verdict.paths) == (Outcome.WRITTEN, (OPS_TODAY,))
    assert two.files() == {OPS_TODAY: "# 2026-08-30\n\n- 09:05 sync failed — assistant · briefing\n".encode()}


@pytest.mark.rule("REPORT-08", "REPORT-14")
def test_deposit_in_a_chat_is_signed_by_the_role(two: SampleBrain) -> None:
    """Outside a heartbeat, with the set in the role's own file, the signature is the role alone."""
    two.role("assistant", "{report: [ops]}")

    two.agent("assistant").memory.write("sync failed", line="ops")

    assert two.text(OPS_TODAY) == "# 2026-08-30\n\n- 09:05 sync failed — assistant\n"


@pytest.mark.rule("REPORT-14")
def test_report_in_the_manifest_holds_for_every_agent(two: SampleBrain) -> None:
    """A set in the manifest opens the line for every role, in a chat too."""
    two.manifest("{report: [ops]}")

    for role in ("assistant", "nova"):
        assert two.agent(role).memory.write("sync failed", line="ops").outcome is Outcome.WRITTEN
    assert two.text(OPS_TODAY).splitlines()[2:] == [
        "- 09:05 sync failed — assistant",
        "- 09:05 sync failed — nova",
    ]


@pytest.mark.rule("REPORT-07")
def test_signature_stands_at_the_very_end(two: SampleBrain) -> None:
    """The signature ends an entry of several lines too."""
    two.agent("assistant", heartbeat="briefing").memory.write("sync failed\n\ntwice today", line="ops")

    assert two.text(OPS_TODAY) == ("# 2026-08-30\n\n- 09:05 sync failed\n\n  twice today — assistant · briefing\n")


@pytest.mark.rule("REPORT-05")
@pytest.mark.parametrize("default", ["false", "true"])
def test_priority_deposit_is_refused_up_front(two: SampleBrain, default: str) -> None:
    """An explicit priority on a foreign line writes nothing, not even the daily entry."""
    two.manifest(f"{{priorityDefault: {default}}}")

    verdict = two.agent("assistant", heartbeat="briefing").memory.write("sync failed", line="ops", priority=True)

    assert (verdict.outcome, verdict.paths) == (Outcome.REFUSED, ())
    assert two.files() == {}


@pytest.mark.rule("REPORT-O3", "REPORT-06")
@pytest.mark.parametrize("priority", [None, False])
def test_priority_default_spares_deposits(two: SampleBrain, priority: bool | None) -> None:
    """With priorityDefault on, a deposit that does not ask for priority stays a plain deposit."""
    two.manifest("{priorityDefault: true}")

    two.agent("assistant", heartbeat="briefing").memory.write("sync failed", line="ops", priority=priority)

    assert set(two.files()) == {OPS_TODAY}


@pytest.mark.rule("TOOL-08", "TOOL-09")
@pytest.mark.parametrize("line", ["team", "content", "*", "../ops", "", "OPS", "ops/2026"])
def test_other_line_is_refused_and_the_allowed_ones_are_named(two: SampleBrain, line: str) -> None:
    """Any line but the own one and the opened ones is refused, and the message spells those out."""
    two.put_memory("team/MEMORY.md", "x\n")
    before = two.files()

    verdict = two.agent("assistant", heartbeat="briefing").memory.write("sync failed", line=line)

    assert (verdict.outcome, verdict.paths) == (Outcome.REFUSED, ())
    assert "main" in verdict.message
    assert "ops" in verdict.message
    assert two.files() == before


@pytest.mark.rule("REPORT-02", "TOOL-09", "BOUNDARY-07")
def test_chat_of_the_same_role_may_not_deposit(two: SampleBrain) -> None:
    """What a heartbeat opens is open in its turns only."""
    verdict = two.agent("assistant").memory.write("sync failed", line="ops")

    assert verdict.outcome is Outcome.REFUSED
    assert two.files() == {}


@pytest.mark.rule("TOOL-11")
def test_memory_scope_writes_to_the_own_line(two: SampleBrain) -> None:
    """`memoryScope: ops` is dropped and the entry is written to `main`."""
    answer = two.agent("assistant").call("memory_write", {"content": "sync failed", "memoryScope": "ops"}).to_json()

    assert answer["paths"] == ["main/2026/08/2026-08-30.md"]


@pytest.mark.rule("REPORT-01", "REPORT-06", "REPORT-09", "TOOL-07")
def test_report_opens_nothing_but_the_deposit(two: SampleBrain) -> None:
    """A depositor can neither read nor list nor edit, replace, move or delete in the destination."""
    two.open_gate()
    two.put_memory("ops/MEMORY.md", "checklist\n")
    agent = two.agent("assistant", heartbeat="briefing")
    agent.memory.write("sync failed", line="ops")
    before = two.files()

    with pytest.raises(ScopeError):
        agent.memory.read(OPS_TODAY)
    with pytest.raises(ScopeError):
        agent.memory.list(corpus="ops")
    assert agent.memory.list().entries == ()
    for verdict in (
        agent.memory.edit("ops/MEMORY.md", old="checklist", new="x"),
        agent.memory.write_file("ops/MEMORY.md", "x"),
        agent.memory.move(OPS_TODAY, "ops/x.md"),
        agent.memory.delete(OPS_TODAY, entry="sync failed — assistant · briefing"),
        agent.memory.delete("ops/MEMORY.md"),
    ):
        assert verdict.outcome is Outcome.REFUSED
    assert two.files() == before


@pytest.mark.rule("REPORT-06")
def test_deposit_leaves_memory_file_and_budget_alone(two: SampleBrain) -> None:
    """A deposit into a line whose MEMORY.md is over its budget lands and reports no budget."""
    two.manifest("{lines: {ops: {fileMaxChars: 10}}}")
    two.put_memory("ops/MEMORY.md", "x" * 50)

    verdict = two.agent("assistant", heartbeat="briefing").memory.write("sync failed", line="ops")

    assert (verdict.outcome, verdict.budget) == (Outcome.WRITTEN, None)
    assert two.text("ops/MEMORY.md") == "x" * 50


@pytest.mark.rule("REPORT-O2")
@pytest.mark.parametrize("report", ["[]", "[main, ops]"])
def test_own_line_by_name_is_an_ordinary_write(two: SampleBrain, report: str) -> None:
    """Naming the own line, in `line` or in `report`, writes unsigned, and with priority to MEMORY.md too."""
    two.beat("briefing", "assistant", f"{{report: {report}}}")

    verdict = two.agent("assistant", heartbeat="briefing").memory.write("x", line="main", priority=True)

    assert verdict.outcome is Outcome.WRITTEN
    assert two.files() == {
        "main/2026/08/2026-08-30.md": b"# 2026-08-30\n\n- 09:05 x\n",
        "main/MEMORY.md": b"## Memory (2026-08-30)\n\n- x\n",
    }


@pytest.mark.rule("REPORT-10", "RESOLVE-11")
def test_borrower_inherits_the_line_and_no_report(two: SampleBrain) -> None:
    """A sub-agent in a handed line writes there, and may not deposit where its spawner, or its own beat, may."""
    two.role("helper", "{report: [ops]}")
    helper = two.open().agent("helper", handed_line="research")

    assert helper.memory.write("x").paths == ("research/2026/08/2026-08-30.md",)
    assert helper.memory.write("x", line="ops").outcome is Outcome.REFUSED
    assert helper.memory.write("x", line="main").outcome is Outcome.REFUSED


@pytest.mark.rule("REPORT-O5")
def test_turn_keeps_the_set_it_started_with(two: SampleBrain) -> None:
    """A set that is removed during a turn still holds for that turn, and no more for the next."""
    brain = two.open()
    turn = brain.agent("assistant", heartbeat="briefing")
    two.beat("briefing", "assistant")

    assert turn.memory.write("sync failed", line="ops").outcome is Outcome.WRITTEN
    later = brain.agent("assistant", heartbeat="briefing")
    assert later.memory.write("sync failed again", line="ops").outcome is Outcome.REFUSED


@pytest.mark.rule("REPORT-13")
@pytest.mark.parametrize("target", ["osp", "nowhere"])
def test_unknown_destination_stops_the_boot(two: SampleBrain, target: str) -> None:
    """A destination that nobody curates stops the boot, and no directory of that name is made."""
    two.beat("briefing", "assistant", f"{{report: [{target}]}}")

    with pytest.raises(ConfigError, match=target):
        two.open()
    assert two.files() == {}


@pytest.mark.rule("REPORT-12", "REPORT-O1")
def test_directory_and_main_count_as_curated(two: SampleBrain) -> None:
    """A directory under memory/ and the default line are destinations, whether a role names them or not."""
    two.put_memory("shelf/MEMORY.md", "x\n")
    two.beat("briefing", "assistant", "{write: notes, report: [shelf, main]}")
    agent = two.agent("assistant", heartbeat="briefing")

    assert agent.memory.write("x", line="shelf").outcome is Outcome.WRITTEN
    assert agent.memory.write("x", line="main").paths == ("main/2026/08/2026-08-30.md",)


@pytest.mark.rule("WRITE-14", "REPORT-07")
def test_same_deposit_again_is_a_duplicate(two: SampleBrain) -> None:
    """The same deposit twice is one entry; the destination's own entry of those words is another."""
    agent = two.agent("assistant", heartbeat="briefing")
    agent.memory.write("sync failed", line="ops")

    assert agent.memory.write("sync failed", line="ops").outcome is Outcome.DUPLICATE
    assert two.agent("ops").memory.write("sync failed").outcome is Outcome.WRITTEN
    assert two.text(OPS_TODAY).count("sync failed") == 2
