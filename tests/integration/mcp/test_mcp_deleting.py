"""Deletions over MCP: a person at the client is asked, and what they say is the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError

from omnislash.surfaces.mcp import deleting
from tests.integration.mcp.conftest import MEMORY, Person, connect, open_brain, text_of, wait_until

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
PATH = "main/MEMORY.md"
TARGETS = [
    pytest.param(({"path": PATH}, None, f"the whole file {PATH}"), id="the file"),
    pytest.param(({"path": PATH, "entry": "a"}, MEMORY.replace("- a\n", ""), "\n\na\n\n"), id="an entry"),
    pytest.param(({"path": PATH, "section": "People"}, MEMORY.partition("## People")[0], "'People'"), id="a section"),
]


@pytest.fixture
def kept(sample: SampleBrain) -> Brain:
    """Return a brain that remembers something."""
    sample.put_memory(PATH, MEMORY)
    return open_brain(sample)


def states(brain: Brain) -> list[str]:
    """Return how every question stands."""
    return [each.state for each in brain.approvals(state=None)]


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize("case", TARGETS)
async def test_a_yes_deletes(
    sample: SampleBrain, kept: Brain, mode: str, case: tuple[dict[str, Any], str | None, str]
) -> None:
    """A person who says yes is shown exactly what goes and who wants it; it is gone with the answer."""
    target, after, shown = case
    person = Person("accept", yes=True)

    async with connect(kept, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", target)

    assert result.structured_content["outcome"] == "written"
    assert not result.is_error
    assert sample.files() == ({} if after is None else {PATH: after.encode()})
    (question,) = person.asked
    assert shown in question.message
    assert PATH in question.message
    assert "The agent nova asks for it." in question.message
    assert question.requested_schema["required"] == ["delete"]
    assert states(kept) == ["approved"]
    assert kept.audit(limit=1).rows[0].actor == "person"


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(
    "person",
    [Person("decline"), Person("accept", yes=False), Person("decline", yes=True)],
    ids=["declined", "no", "declined with the box ticked"],
)
async def test_a_no_settles_it(sample: SampleBrain, kept: Brain, mode: str, person: Person) -> None:
    """A person who says no keeps it: the agent is told so, and no question is left."""
    async with connect(kept, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "refused"
    assert "A person was asked and declined" in text_of(result)
    assert sample.data(PATH) == MEMORY.encode()
    assert states(kept) == ["refused"]


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(
    "person",
    [Person("cancel"), Person("cancel", yes=True), Person("accept"), None],
    ids=["away", "away with the box ticked", "no answer", "cannot ask"],
)
async def test_without_an_answer_it_stays_open(
    sample: SampleBrain, kept: Brain, mode: str, person: Person | None
) -> None:
    """A client that can't ask, and a person who says neither yes nor no, leave the question to the command line."""
    async with connect(kept, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    (waiting,) = kept.approvals()
    assert result.structured_content["outcome"] == "approval-required"
    assert result.structured_content["approval"] == waiting.id
    assert f"omnislash approvals approve {waiting.id}" in text_of(result)
    assert not result.is_error
    assert sample.data(PATH) == MEMORY.encode()


@pytest.mark.rule("TOOL-16")
async def test_with_the_gate_off_nobody_is_asked(sample: SampleBrain, mode: str) -> None:
    """`hitl: false` deletes at once."""
    sample.open_gate()
    sample.put_memory(PATH, MEMORY)
    person = Person("decline")

    async with connect(open_brain(sample), mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "written"
    assert person.asked == []
    assert sample.files() == {}


@pytest.mark.rule("TOOL-16")
async def test_what_would_be_refused_anyway_is_not_asked(sample: SampleBrain, mode: str) -> None:
    """Nobody is asked about a file that is not there, or one of another line."""
    sample.put_memory("hr/MEMORY.md", MEMORY)
    person = Person("accept", yes=True)

    async with connect(open_brain(sample), mode=mode, elicitation_callback=person) as client:
        results = [await client.call_tool("memory_delete", {"path": path}) for path in (PATH, "hr/MEMORY.md")]

    assert [each.structured_content["outcome"] for each in results] == ["refused", "refused"]
    assert person.asked == []
    assert sample.data("hr/MEMORY.md") == MEMORY.encode()


async def test_somebody_else_may_decide_first(sample: SampleBrain, kept: Brain, mode: str) -> None:
    """A question that was turned down at the command line while it was shown deletes nothing."""
    person = Person("accept", yes=True, then=lambda: kept.refuse(kept.approvals()[0].id))

    async with connect(kept, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "refused"
    assert "was refused already" in text_of(result)
    assert sample.data(PATH) == MEMORY.encode()


async def test_a_changed_file_is_not_deleted(sample: SampleBrain, kept: Brain, mode: str) -> None:
    """A yes is about the file that was shown: one that changed meanwhile stays."""
    person = Person("accept", yes=True, then=lambda: sample.put_memory(PATH, MEMORY + "- New\n"))

    async with connect(kept, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "refused"
    assert "has changed since" in text_of(result)
    assert sample.text(PATH).endswith("- New\n")


async def test_a_person_who_takes_too_long(kept: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time for thinking the agent gets its answer, and the question stays open."""
    monkeypatch.setattr(deleting, "PATIENCE_S", 0.1)

    async with connect(kept, elicitation_callback=Person("wait")) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "approval-required"
    assert states(kept) == ["open"]


async def test_a_cancelled_call_leaves_the_question_open(sample: SampleBrain, kept: Brain) -> None:
    """When the client gives the call up while a person is asked, nothing is deleted and the question waits."""
    person = Person("wait")

    async with connect(kept, elicitation_callback=person) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_delete", {"path": PATH})
            await wait_until(lambda: person.asked)
            group.cancel_scope.cancel()
        assert not (await client.call_tool("memory_overview")).is_error

    assert states(kept) == ["open"]
    assert sample.data(PATH) == MEMORY.encode()


async def test_a_made_up_reply_decides_nothing(sample: SampleBrain, kept: Brain) -> None:
    """In the newest protocol a reply counts only with the state that the server itself sealed, for this very call."""
    sample.put_memory("main/other.md", "Other.\n")
    reply: types.InputResponses = {"delete": types.ElicitResult(action="accept", content={"delete": True})}

    async with connect(kept, mode="auto", elicitation_callback=Person("cancel")) as client:
        first = await client.session.call_tool("memory_delete", {"path": PATH}, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        for path, state in ((PATH, kept.approvals()[0].id), ("main/other.md", first.request_state)):
            with pytest.raises(MCPError, match="requestState"):
                await client.session.call_tool(
                    "memory_delete", {"path": path}, input_responses=reply, request_state=state
                )

    assert states(kept) == ["open"]
    assert set(sample.files()) == {PATH, "main/other.md"}


@pytest.mark.rule("TOOL-05", "TOOL-16")
@pytest.mark.parametrize("capabilities", ["memory:read", None], ids=["a right less", "no role"])
async def test_a_right_that_is_gone_counts(
    sample: SampleBrain, kept: Brain, mode: str, capabilities: str | None
) -> None:
    """A yes of a client whose role lost the right to delete, or is gone, while the person thought deletes nothing."""

    def take_away() -> None:
        if capabilities is None:
            (sample.root / "features/team/nova.agent.md").unlink()
        else:
            sample.role("nova", capabilities=capabilities)

    async with connect(kept, mode=mode, elicitation_callback=Person("accept", yes=True, then=take_away)) as client:
        result = await client.call_tool("memory_delete", {"path": PATH})

    assert result.structured_content["outcome"] == "refused"
    assert sample.data(PATH) == MEMORY.encode()
    assert states(kept) == ["open"]
