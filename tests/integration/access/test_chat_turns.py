"""Turns of chats with a model: what is shared, what is not, what a role may do there, and what a replay leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash import UsageError
from omnislash.engine import ModelOptions
from omnislash.runtime.loop.run_values import RunOptions
from omnislash.testing import ScriptedCall, ScriptedChatModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash import Agent, Brain
    from omnislash.runtime.loop.run_values import Run
    from tests.integration.conftest import SampleBrain

DAY = "2026/08/2026-08-30.md"
READ_ONLY = "memory is read-only for this turn; nothing was written; do not retry"
ACCESS = """
chats: {"telegram:1": nova, "telegram:2": nova, "group:ops": ops}
bots: [{name: desk, role: nova, secretary: {contacts: {"maria@example.org": maria}}}]
"""


@pytest.fixture
def bound(sample: SampleBrain) -> SampleBrain:
    """A brain with a wide role, a narrow one, and one for a person."""
    sample.role("ops", "{write: ops}", capabilities="memory:read, memory:write")
    sample.role("maria", "{write: maria, read: [main, people/maria], recall: []}")
    sample.sources("people/maria")
    sample.put("people/maria/style.md", "# Style\n\nThe quince jelly wants a tall glass.\n")
    sample.put("constitution/access.yaml", ACCESS)
    return sample


def open_with(sample: SampleBrain, model: ScriptedChatModel) -> Brain:
    """Open the brain with this model and no variables of providers."""
    return sample.open(models=ModelOptions(environment={}, chat=model))


def write(content: str, **more: Any) -> ScriptedCall:
    """Return a call of `memory_write`."""
    return ScriptedCall("memory_write", {"content": content, **more})


def notes(sample: SampleBrain) -> dict[str, bytes]:
    """Return every file of memory, without the derived index."""
    return {path: data for path, data in sample.files().items() if not path.startswith(".memory-index")}


def answers(run: Run) -> list[Mapping[str, Any]]:
    """Return what the tools of a turn answered."""
    return [call.answer for call in run.calls]


# -- conversations and lines -----------------------------------------------------------------------------------------


@pytest.mark.rule("BOUNDARY-13", "BOUNDARY-16")
def test_two_chats_with_one_role_share_the_line_and_not_the_conversation(bound: SampleBrain) -> None:
    """What the one chat has written the other is shown; what was said there it never hears."""
    model = ScriptedChatModel(write("The stove is out.", priority=True), "Noted in one.", "Answered in two.")
    brain = open_with(bound, model)
    brain.chat_agent(chat="telegram:1").run("My secret word is heliotrope.")
    brain.chat_agent(chat="telegram:2").run("What is new?")
    asked = model.requests[-1]
    assert "The stove is out." in asked.standing
    assert [said.text for said in asked.said] == ["What is new?"]
    assert "heliotrope" not in repr(asked.messages)
    assert "Noted in one." not in repr(asked.messages)
    assert sorted(notes(bound)) == [f"main/{DAY}", "main/MEMORY.md"]


@pytest.mark.rule("BOUNDARY-16")
def test_a_chat_goes_on_by_itself_after_a_restart(bound: SampleBrain) -> None:
    """The next message of the chat, in another process view, follows on what was said in it before."""
    open_with(bound, ScriptedChatModel("The stove is cold.")).chat_agent(chat="telegram:1").run("Is the stove warm?")
    model = ScriptedChatModel("As I said.")
    run = open_with(bound, model).chat_agent(chat="telegram:1").run("And now?")
    assert run.session == "chat:telegram:1"
    assert [said.text for said in model.requests[0].said] == ["Is the stove warm?", "The stove is cold.", "And now?"]


@pytest.mark.rule("BOUNDARY-15", "BOUNDARY-16")
def test_people_at_one_bot_never_hear_each_other(bound: SampleBrain) -> None:
    """Each person has a conversation of her own; a role of her own gives Maria a line as well."""
    model = ScriptedChatModel("One.", "Two.", write("Maria likes quince."), "Three.")
    brain = open_with(bound, model)
    for who in ("ann@example.org", "bo@example.org", "maria@example.org"):
        brain.chat_agent(bot="desk", contact=who).run(f"I am {who}.")
    assert [next(said.text for said in request.said) for request in model.requests[:3]] == [
        "I am ann@example.org.",
        "I am bo@example.org.",
        "I am maria@example.org.",
    ]
    assert sorted(notes(bound)) == [f"maria/{DAY}"]


@pytest.mark.rule("BOUNDARY-14")
def test_a_chat_that_gets_another_role_does_not_hand_on_what_was_said(bound: SampleBrain) -> None:
    """The new role begins anew; the old talk can't be resumed with it by name either."""
    model = ScriptedChatModel("One.", "Two.")
    brain = open_with(bound, model)
    brain.chat_agent(chat="telegram:1").run("My secret word is heliotrope.")
    bound.put("constitution/access.yaml", 'chats: {"telegram:1": ops}\n')
    run = brain.chat_agent(chat="telegram:1").run("What was my word?")
    assert run.role == "ops"
    assert "heliotrope" not in repr(model.requests[-1].messages)
    with pytest.raises(UsageError, match="belongs to the role 'nova'"):
        brain.agent("ops").run("And now?", session="chat:telegram:1")
    assert len(model.requests) == 2


# -- what a role may do in a chat ------------------------------------------------------------------------------------


@pytest.mark.rule("BOUNDARY-14", "BOUNDARY-07", "TOOL-05", "TOOL-08", "TOOL-14")
def test_a_group_on_a_narrow_role_does_only_what_that_role_may(bound: SampleBrain) -> None:
    """It is shown, told and recalled nothing of `main`, reads nothing there, writes nothing there, and can't ask for it."""
    bound.put_memory("main/MEMORY.md", "# Main\n\n- The quince tree stands by the gate.\n")
    bound.put_memory(f"main/{DAY}", "# 2026-08-30\n\n- 08:00 The quince is ripe.\n")
    model = ScriptedChatModel(
        ScriptedCall("memory_read", {"path": "main/MEMORY.md"}),
        ScriptedCall("memory_search", {"query": "quince", "corpora": ["main"]}),
        ScriptedCall("memory_search", {"query": "quince"}),
        write("Mine.", line="main"),
        write("Ours.", memoryScope="main", role="nova"),
        ScriptedCall("memory_delete", {"path": "main/MEMORY.md"}),
        "Done.",
    )
    run = open_with(bound, model).chat_agent(chat="group:ops").run("Where does the quince tree stand?")
    read, narrowed, searched, foreign, own, deletion = answers(run)
    assert read["error"]["kind"] == "scope"
    assert "error" in narrowed
    assert searched["hits"] == []
    assert (foreign["outcome"], own["outcome"], own["paths"]) == ("refused", "written", [f"ops/{DAY}"])
    assert "error" in deletion
    assert "quince tree" not in "".join(str(each) for each in answers(run))
    first = model.requests[0]
    assert not run.delivery or not run.delivery.recall or run.delivery.recall.block == ""
    assert "gate" not in first.standing + first.opening
    assert first.tools == ("memory_overview", "memory_list", "memory_search", "memory_read", "memory_write")


@pytest.mark.rule("BOUNDARY-17", "SCOPE-08", "SCOPE-18")
def test_the_example_of_a_person_works_in_a_turn(bound: SampleBrain) -> None:
    """Nothing rides Maria's turn from outside `maria`, and her model can search `main` and `people/maria`."""
    bound.put_memory("main/MEMORY.md", "# Main\n\n- The quince tree stands by the gate.\n")
    bound.put_memory("maria/MEMORY.md", "# Maria\n\n- Maria is called at noon.\n")
    model = ScriptedChatModel(ScriptedCall("memory_search", {"query": "quince"}), "Found.")
    run = open_with(bound, model).chat_agent(bot="desk", contact="maria@example.org").run("What about the quince tree?")
    first = model.requests[0]
    assert "called at noon" in first.standing
    assert "quince" not in first.standing + first.opening
    assert {hit["path"] for hit in answers(run)[0]["hits"]} == {"people/maria/style.md", "main/MEMORY.md"}


@pytest.mark.rule("REPORT-08", "REPORT-14", "REPORT-02", "REPORT-05")
def test_a_model_deposits_in_a_chat_by_the_report_of_its_role(bound: SampleBrain) -> None:
    """The role's own `report` holds in a chat and signs with the role alone; priority is refused there as anywhere."""
    bound.role("nova", "{report: [ops]}")
    model = ScriptedChatModel(
        write("The hall light is out.", line="ops"), write("Now!", line="ops", priority=True), "Told."
    )
    run = open_with(bound, model).chat_agent(chat="telegram:1").run("Tell the backroom.")
    assert [answer["outcome"] for answer in answers(run)] == ["written", "refused"]
    assert bound.text(f"ops/{DAY}") == "# 2026-08-30\n\n- 09:05 The hall light is out. — nova\n"


@pytest.mark.rule("REPORT-02", "TOOL-06", "TOOL-09")
def test_what_a_beat_opens_is_shut_in_a_chat(bound: SampleBrain) -> None:
    """A beat's `report` and memory hold in its runs only, and it grants no tool that its role lacks."""
    bound.role("clerk", None, capabilities="memory:write")
    bound.beat("round", "clerk", "{write: clerk, report: [ops]}")
    bound.put("constitution/access.yaml", "chats: {a: clerk}\n")
    model = ScriptedChatModel(write("One.", line="ops"), "Done.", write("Two.", line="ops"), "Done.")
    brain = open_with(bound, model)
    beat = brain.agent("clerk", heartbeat="round").run("Do it.")
    chat = brain.chat_agent(chat="a").run("Do it.")
    assert (answers(beat)[0]["outcome"], model.requests[0].tools) == ("written", ("memory_write",))
    assert bound.text(f"ops/{DAY}").endswith("One. — clerk · round\n")
    assert ("error" in answers(chat)[0], model.requests[2].tools, chat.line) == (True, (), None)
    assert sorted(notes(bound)) == [f"ops/{DAY}"]


@pytest.mark.rule("RESOLVE-01", "RESOLVE-02", "RESOLVE-03", "RESOLVE-04", "RESOLVE-05", "RESOLVE-06", "RESOLVE-08")
@pytest.mark.parametrize(
    ("handed", "beat", "role", "manifest", "line"),
    [
        (None, None, "{}", "{}", "main"),
        (None, None, "{}", "{write: team}", "team"),
        (None, None, "{write: research}", "{write: team}", "research"),
        (None, "{write: circles}", "{write: research}", "{write: team}", "circles"),
        (None, "{recentDays: 0}", "{write: research}", "{write: team}", "research"),
        (None, "{}", None, "{write: team}", "team"),
        (None, None, None, "{write: team}", None),
        ("research", None, "{}", "{write: team}", "research"),
        ("research", None, "{write: ops}", "{}", "research"),
        ("research", None, None, "{write: team}", None),
    ],
)
def test_the_line_of_a_real_turn_is_the_most_specific_tier(  # noqa: PLR0917 - the columns of the table
    bound: SampleBrain, handed: str | None, beat: str | None, role: str | None, manifest: str, line: str | None
) -> None:
    """The worked table: where a model's write lands, and whose MEMORY.md its turn carries, tier by tier."""
    bound.manifest(manifest)
    bound.role("nova", role)
    for each in ("main", "team", "research", "circles", "ops"):
        bound.put_memory(f"{each}/MEMORY.md", f"# {each}\n\n- mark-of-{each}\n")
    if beat is not None:
        bound.beat("round", "nova", beat)
    model = ScriptedChatModel(write("A note."), "Done.")
    agent = open_with(bound, model).agent("nova", heartbeat="round" if beat else None, handed_line=handed)
    run = agent.run("Write it down.")
    assert run.line == line
    logs = sorted(path for path in notes(bound) if path.endswith(DAY))
    assert logs == ([f"{line}/{DAY}"] if line else [])
    marks = [
        each
        for each in ("main", "team", "research", "circles", "ops")
        if f"mark-of-{each}" in model.requests[0].standing
    ]
    assert marks == ([line] if line else [])


# -- replay ----------------------------------------------------------------------------------------------------------


MUTATORS = (
    write("A note."),
    write("A rule.", priority=True),
    write("A deposit.", line="ops"),
    ScriptedCall("memory_edit", {"path": "main/MEMORY.md", "old": "kept", "new": "gone"}),
    ScriptedCall("memory_write_file", {"path": "main/new.md", "content": "x"}),
    ScriptedCall("memory_move", {"from": "main/MEMORY.md", "to": "main/old.md"}),
    ScriptedCall("memory_delete", {"path": "main/MEMORY.md"}),
)


def _in_chat(brain: Brain, *, replay: bool) -> Agent:
    return brain.chat_agent(chat="telegram:1", replay=replay)


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-10", "BOUNDARY-11", "BOUNDARY-O1", "BOUNDARY-O2")
def test_a_replay_of_a_chat_reads_live_and_leaves_nothing(bound: SampleBrain) -> None:
    """Every mutator answers the fixed sentence, the tools are those of a live turn, and no trace is left.

    There is no flush, no session, no row of the action log and no event.
    """
    bound.role("nova", "{report: [ops]}", more="memoryFlush: true\n")
    bound.put_memory("main/MEMORY.md", "# Main\n\n- kept\n")
    before = notes(bound)
    model = ScriptedChatModel(*MUTATORS, ScriptedCall("memory_read", {"path": "main/MEMORY.md"}), "Done.")
    brain = open_with(bound, model)
    seen: list[object] = []
    brain.on_event(seen.append)
    run = _in_chat(brain, replay=True).run("Change everything.")
    *refused, read = answers(run)
    assert [answer["message"] for answer in refused] == [READ_ONLY] * len(MUTATORS)
    assert "kept" in read["content"]
    assert "kept" in model.requests[0].standing
    assert (run.flush, len(model.requests), notes(bound)) == (None, len(MUTATORS) + 2, before)
    assert (brain.sessions().sessions, brain.audit().rows, seen) == ((), (), [])
    offered = model.requests[0].tools
    _in_chat(brain, replay=False).run("And live?", options=RunOptions(flushes=False))
    assert model.requests[-1].tools == offered
    assert "memory_write" in offered


@pytest.mark.rule("BOUNDARY-08")
def test_a_replay_neither_reads_nor_continues_a_conversation(bound: SampleBrain) -> None:
    """It stands alone: nothing said in the chat before reaches it, and nothing said in it stays."""
    model = ScriptedChatModel("One.", "Two.", "Three.")
    brain = open_with(bound, model)
    _in_chat(brain, replay=False).run("First.")
    _in_chat(brain, replay=True).run("In replay.")
    _in_chat(brain, replay=False).run("Second.")
    assert [said.text for said in model.requests[1].said] == ["In replay."]
    assert [said.text for said in model.requests[2].said] == ["First.", "One.", "Second."]


@pytest.mark.rule("BOUNDARY-09")
def test_a_sub_agent_of_a_replay_writes_nothing_either(bound: SampleBrain) -> None:
    """What the replay hands down is handed down as a replay."""
    bound.role("nova", capabilities="memory:write, agent:task")
    bound.role("helper", "{write: helper}", capabilities="memory:write")
    task = ScriptedCall("agent_task", {"role": "helper", "task": "Write it down."})
    model = ScriptedChatModel(task, write("A note of the helper."), "Written.", "Done.")
    run = _in_chat(open_with(bound, model), replay=True).run("Let the helper do it.")
    assert READ_ONLY in repr(model.requests[2].messages)
    assert "error" not in answers(run)[0]
    assert notes(bound) == {}
