"""Several calls at once, calls that are cancelled, and how far a long one is."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import anyio
import pytest

from omnislash.engine import ModelOptions, SearchOptions
from omnislash.surfaces.mcp import progress as reporting
from omnislash.surfaces.mcp.threads import Calls
from omnislash.testing import CountingEmbedder, ScriptedCall, ScriptedChatModel
from omnislash.testing.disks import WrappedDisk
from tests.integration.mcp.conftest import connect, open_brain, wait_until

if TYPE_CHECKING:
    from omnislash.testing.disks import Call
    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
NOTE = "main/2026/08/2026-08-30.md"


class Gate:
    """Something that waits inside the engine until it is let on; never so long that a test hangs."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def wait(self, _seconds: float = 0) -> None:
        """Wait inside the engine."""
        self.reached.set()
        self.opened.wait(20)


class SlowDisk(WrappedDisk):
    """A disk that waits before it gives the first new file its name."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    def before(self, call: Call) -> None:
        if call.name == "link":
            self._gate.wait()


async def test_a_slow_search_holds_nobody_up(sample: SampleBrain, mode: str) -> None:
    """While a search waits for an embedder, reads, writes and pings of the same client are answered."""
    sample.put_memory(NOTE, "# 2026-08-30\n\n- 08:00 The depot opens at six.\n")
    gate = Gate()
    brain = open_brain(sample, embedders=(CountingEmbedder(delay_s=1, sleep=gate.wait),))
    found: list[object] = []

    async with connect(brain, mode=mode) as client, anyio.create_task_group() as group:

        async def search() -> None:
            found.append(await client.call_tool("memory_search", {"query": "depot"}))

        group.start_soon(search)
        await wait_until(gate.reached.is_set)
        written = await client.call_tool("memory_write", {"content": "Meanwhile."})
        read = await client.call_tool("memory_read", {"path": NOTE})
        if mode == "legacy":
            await client.session.send_ping()
        assert found == []
        gate.opened.set()

    assert written.structured_content["outcome"] == "written"
    assert read.structured_content["content"].endswith("Meanwhile.\n")
    assert len(found) == 1


async def test_a_cancelled_search_is_abandoned_at_once(sample: SampleBrain, mode: str) -> None:
    """Giving a search up returns at once though the engine is still busy, and the next call is answered."""
    sample.put_memory(NOTE, "# 2026-08-30\n\n- 08:00 The depot opens at six.\n")
    gate = Gate()
    brain = open_brain(sample, embedders=(CountingEmbedder(delay_s=1, sleep=gate.wait),))

    async with connect(brain, mode=mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_search", {"query": "depot"})
            await wait_until(gate.reached.is_set)
            began = time.monotonic()
            group.cancel_scope.cancel()
        assert time.monotonic() - began < 2
        assert not (await client.call_tool("memory_overview")).is_error
        gate.opened.set()


async def test_a_cancelled_write_lands_once(sample: SampleBrain, mode: str) -> None:
    """A write that was given up after it was handed in is there once, and asking again by its id says so."""
    gate = Gate()
    brain = open_brain(sample, disk=SlowDisk(gate))
    given = {"content": "The crane is yellow.", "requestId": "r1"}

    async with connect(brain, mode=mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_write", given)
            await wait_until(gate.reached.is_set)
            group.cancel_scope.cancel()
        gate.opened.set()
        again = await client.call_tool("memory_write", given)

    assert again.structured_content["outcome"] == "written"
    assert sample.text(NOTE).count("The crane is yellow.") == 1


async def test_the_end_of_a_server_waits_for_its_writes(sample: SampleBrain) -> None:
    """When a client leaves in the middle of a write, the server ends after the write has landed."""
    gate = Gate()
    brain = open_brain(sample, disk=SlowDisk(gate))

    async with connect(brain) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "memory_write", {"content": "The crane is yellow."})
        await wait_until(gate.reached.is_set)
        group.cancel_scope.cancel()
        threading.Timer(0.3, gate.opened.set).start()

    assert sample.text(NOTE).count("The crane is yellow.") == 1


async def test_calls_beyond_the_most_wait_and_end() -> None:
    """Many more calls than run at once all return what they should; one that raises raises where it is waited for."""
    calls = Calls()
    done: list[int] = []

    async def run(number: int) -> None:
        done.append(await calls.run(lambda: number))

    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(run, number)

    assert sorted(done) == list(range(200))
    with pytest.raises(ZeroDivisionError):
        await calls.run(lambda: 1 // 0)


# -- progress --------------------------------------------------------------------------------------------------------


async def test_a_long_search_says_how_far_it_is(sample: SampleBrain, mode: str) -> None:
    """The first search of a brain reports what it reads and embeds, in numbers that only grow."""
    for number in range(300):
        sample.put_memory(f"main/n{number:03}.md", f"Note {number} about the depot.\n")
    brain = open_brain(sample, embedders=(CountingEmbedder(delay_s=0.3),))
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with connect(brain, mode=mode) as client:
        await client.call_tool("memory_search", {"query": "depot"}, progress_callback=note)

    values = [done for done, _, _ in told]
    assert values
    assert values == sorted(set(values))
    assert all(total is not None and done <= total for done, total, _ in told)
    assert {message for _, _, message in told} <= {"Reading files", "Embedding notes"}


async def test_doctor_says_how_far_it_is(sample: SampleBrain) -> None:
    """Each report of doctor names the files examined so far, of all."""
    for number in range(50):
        sample.put_memory(f"main/n{number:02}.md", "x\n")
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with connect(open_brain(sample)) as client:
        await client.call_tool("doctor_report", progress_callback=note)

    assert told
    assert {message for _, _, message in told} == {"Examining files"}
    assert told[0][1] is not None
    assert told[0][1] >= 50


async def test_a_task_says_that_it_still_runs(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """A sub-agent that takes long is reported as running, so that a client does not take it for dead."""
    monkeypatch.setattr(reporting, "_SILENCE_S", 0.1)
    sample.role("nova", capabilities="agent:task")
    sample.role("clerk")
    gate = Gate()

    def think(_request: object) -> str:
        gate.wait()
        return "Done thinking."

    brain = open_brain(sample, models=ModelOptions(chat=ScriptedChatModel(think)))
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        assert (message or "").startswith("Running for")
        told.append(progress)
        if len(told) == 2:
            gate.opened.set()

    async with connect(brain, mode=mode) as client:
        given = {"role": "clerk", "task": "Think."}
        result = await client.call_tool("agent_task", given, progress_callback=note)

    assert result.structured_content["text"] == "Done thinking."
    assert told == sorted(set(told))
    assert len(told) >= 2


async def wait_for_threads() -> None:
    """Return when no call of a server runs any more."""
    await wait_until(lambda: not any(each.name == "omnislash-mcp" for each in threading.enumerate()))


async def test_a_cancelled_search_stops_between_two_steps(sample: SampleBrain) -> None:
    """The catching up that nobody waits for ends with the batch that it is at; what it took up is kept for the next search."""
    for number in range(200):
        sample.put_memory(f"main/n{number:03}.md", f"- 08:00 Container {number} is unloaded.\n")
    gate = Gate()
    embedder = CountingEmbedder(delay_s=1, sleep=gate.wait)
    options = SearchOptions(is_over=reporting.is_given_up, embedders=(embedder,), catch_up_s=None)

    async with connect(sample.open(search=options)) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_search", {"query": "container"})
            await wait_until(gate.reached.is_set)
            group.cancel_scope.cancel()
        await anyio.sleep(0.1)
        gate.opened.set()
        await wait_for_threads()
        made = sum(map(len, embedder.passage_calls))
        found = await client.call_tool("memory_search", {"query": "container"})

    assert 0 < made < 200
    assert found.structured_content["coverage"] == "full"


async def test_a_cancelled_task_asks_no_model_again(sample: SampleBrain) -> None:
    """The agent that works for a caller who gave up ends after the answer that it waits for."""
    sample.role("nova", capabilities="agent:task")
    sample.role("clerk")
    gate = Gate()

    def think(_request: object) -> ScriptedCall:
        gate.wait()
        return ScriptedCall("memory_overview", {})

    model = ScriptedChatModel(think, ScriptedCall("memory_overview", {}), ScriptedCall("memory_overview", {}))

    async with connect(open_brain(sample, models=ModelOptions(chat=model))) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "agent_task", {"role": "clerk", "task": "Look."})
            await wait_until(gate.reached.is_set)
            group.cancel_scope.cancel()
        await anyio.sleep(0.1)
        gate.opened.set()
        await wait_for_threads()

    assert len(model.requests) == 1
