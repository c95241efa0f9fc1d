"""The server over stdin and stdout: in this process over pipes, and as a real process driven by the SDK's client."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from omnislash.errors import StorageError
from omnislash.surfaces.mcp import prompts, stdio
from omnislash.surfaces.mcp.server import Caller, make_server
from omnislash.surfaces.mcp.wire import Wire
from tests.integration.conftest import ROOT
from tests.integration.mcp.conftest import MEMORY, Person, names, open_brain
from tests.integration.mcp.test_mcp_threads import Gate, SlowDisk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
NOTE = "main/2026/08/2026-08-30.md"
#: The day of the sample brain's clock, for a process of its own.
NOW = "2026-08-30T09:05:00+00:00"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a request that calls a tool."""
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


# -- in this process, over pipes -------------------------------------------------------------------------------------


class Pipes:
    """The client's side of a talk, line by line."""

    def __init__(self) -> None:
        self.to_server, self.from_server = os.pipe(), os.pipe()
        self._reader = os.fdopen(self.from_server[0], "rb")

    @property
    def wire(self) -> Wire:
        """The server's side."""
        return Wire(self.to_server[0], self.from_server[1])

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        """Send lines."""
        for each in messages:
            os.write(self.to_server[1], (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n")

    async def receive(self) -> dict[str, Any]:
        """Return the next message."""
        with anyio.fail_after(10):
            line = await anyio.to_thread.run_sync(self._reader.readline, abandon_on_cancel=True)
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        """Send nothing more."""
        os.close(self.to_server[1])

    def close(self) -> None:
        """Close what the test opened."""
        self._reader.close()
        for descriptor in (self.to_server[0], self.from_server[1]):
            os.close(descriptor)


@asynccontextmanager
async def talk_to(brain: Brain) -> AsyncIterator[Pipes]:
    """Yield the client's side of a server on pipes; the server has ended when the block is left."""
    pipes = Pipes()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(stdio._serve, make_server(brain, Caller(role="nova")), pipes.wire)
            yield pipes
    pipes.close()


async def begin(pipes: Pipes) -> None:
    """Shake hands."""
    pipes.send(INITIALIZE, INITIALIZED)
    assert (await pipes.receive())["id"] == 0


async def test_what_was_asked_is_answered_before_the_end(sample: SampleBrain) -> None:
    """A client that sends everything and closes its side at once still gets every answer, a slow write's too."""
    gate = Gate()
    brain = open_brain(sample, disk=SlowDisk(gate))

    async with talk_to(brain) as pipes:
        pipes.send(INITIALIZE, INITIALIZED, call(1, "memory_write", content="The crane is yellow."))
        pipes.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        pipes.end()
        threading.Timer(0.3, gate.opened.set).start()
        answers = {(each := await pipes.receive())["id"]: each for _ in range(3)}

    assert answers[1]["result"]["structuredContent"]["outcome"] == "written"
    assert len(answers[2]["result"]["tools"]) == 11
    assert sample.text(NOTE).count("The crane is yellow.") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_a_write_finish(sample: SampleBrain, number: signal.Signals) -> None:
    """Asked to stop in the middle of a write, the server answers it and ends, though stdin stays open."""
    gate = Gate()
    brain = open_brain(sample, disk=SlowDisk(gate))

    async with talk_to(brain) as pipes:
        await begin(pipes)
        pipes.send(call(1, "memory_write", content="The crane is yellow."))
        await anyio.to_thread.run_sync(gate.reached.wait, 10)
        signal.raise_signal(number)
        threading.Timer(0.3, gate.opened.set).start()
        answer = await pipes.receive()
    pipes.end()

    assert answer["result"]["structuredContent"]["outcome"] == "written"


async def test_lines_that_are_no_messages(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage, a wrong shape and an endless line are each answered with the protocol's error, and the talk goes on."""
    monkeypatch.setattr(stdio, "LONGEST", 100_000)
    lines: list[tuple[bytes, int, object]] = [
        (b"\xff\xfe no json", -32700, None),
        (b'{"jsonrpc":"2.0","id":5', -32700, None),
        (b"[" * 50_000, -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7),
        (b'{"id":"x","method":"ping"}', -32600, "x"),
        (b'"text"', -32600, None),
        (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":"\\ud83c"}}', -32600, 8),
        (b'{"jsonrpc":"2.0","id":"\\ud83c","method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"' + b"x" * 200_000 + b'"}', -32600, None),
    ]

    async with talk_to(brain) as pipes:
        await begin(pipes)
        for line, code, number in lines:
            await anyio.to_thread.run_sync(pipes.send, line)  # more than a pipe holds
            answer = await pipes.receive()
            assert (answer["id"], answer["error"]["code"]) == (number, code), line[:60]
            assert answer["error"]["message"].endswith(".")
        pipes.send(b"", b"  ", b'{"jsonrpc":"2.0","id":99,"result":5}', b"\r")
        pipes.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        assert await pipes.receive() == {"jsonrpc": "2.0", "id": 9, "result": {}}
        pipes.end()


@pytest.mark.parametrize("method", ["resources/list", "prompts/list"])
async def test_a_name_that_is_no_text_ends_nothing(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """An answer that names a file by bytes which are no text is sent as far as it can be, and the next one too."""
    name = os.fsdecode(b"caf\xe9")
    broken = StorageError(f"{name} can't be read: the disk reported an I/O error.")
    monkeypatch.setattr("omnislash.runtime.tools.reading.walk_documents", Mock(side_effect=broken))
    monkeypatch.setattr(prompts._PROMPT, "description", f"Memory of {name}.")
    async with talk_to(open_brain(sample)) as pipes:
        await begin(pipes)
        pipes.send({"jsonrpc": "2.0", "id": 1, "method": method}, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
        answers = {}
        for _ in range(2):
            answer = await pipes.receive()
            answers[answer["id"]] = answer
        pipes.end()

    assert "caf?" in json.dumps(answers[1])
    assert answers[2]["result"] == {}


async def test_a_cancellation_of_nothing_changes_nothing(brain: Brain) -> None:
    """Whatever a client says that it no longer wants, the talk goes on."""
    given: list[object] = [[1], {"a": 1}, None, 5.5, True, "never asked", 10**30]

    async with talk_to(brain) as pipes:
        await begin(pipes)
        for each in given:
            pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": each}})
        pipes.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        assert await pipes.receive() == {"jsonrpc": "2.0", "id": 9, "result": {}}
        pipes.end()


async def test_a_question_that_was_withdrawn_holds_no_answer_up(sample: SampleBrain) -> None:
    """A client that gave a deletion up while its person was asked gets the answer of a slow write before the end."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    gate = Gate()
    brain = open_brain(sample, disk=SlowDisk(gate))
    hello = json.loads(json.dumps(INITIALIZE).replace('"capabilities": {}', '"capabilities": {"elicitation": {}}'))

    async with talk_to(brain) as pipes:
        pipes.send(hello, INITIALIZED)
        await pipes.receive()
        pipes.send(call(1, "memory_delete", path="main/MEMORY.md"))
        assert (await pipes.receive())["method"] == "elicitation/create"
        pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert (await pipes.receive())["method"] == "notifications/cancelled"
        pipes.send(call(2, "memory_write", content="The crane is yellow."))
        await anyio.to_thread.run_sync(gate.reached.wait, 10)
        pipes.end()
        threading.Timer(0.3, gate.opened.set).start()
        while (answer := await pipes.receive()).get("id") != 2:  # it may hear of the new file first
            pass

    assert answer["result"]["structuredContent"]["outcome"] == "written"


async def test_a_client_that_is_gone_ends_the_talk(sample: SampleBrain) -> None:
    """When nobody reads the answers any more, the server ends quietly, and what was written is there."""
    pipes = Pipes()
    server = make_server(open_brain(sample), Caller(role="nova"))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(stdio._serve, server, pipes.wire)
            await begin(pipes)
            pipes._reader.close()
            pipes.send(call(1, "memory_write", content="The crane is yellow."))
    pipes.close()
    pipes.end()

    assert sample.text(NOTE).count("The crane is yellow.") == 1


# -- as a process ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def start(sample: SampleBrain, tmp_path: Path, *, mode: str, **options: Any) -> AsyncIterator[Client]:
    """Yield a client of `omnislash mcp` in a process of its own; nothing may be on its stderr."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", "-m", "omnislash", "--brain", str(sample.root), "mcp", "--role", "nova"],
        env={"OMNISLASH_NOW": NOW, **{key: os.environ[key] for key in os.environ if key.startswith("COVERAGE")}},
        cwd=ROOT,
    )
    said = tmp_path / f"stderr-{mode}"
    with said.open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=mode, cache=None, **options) as client:
            yield client
    assert said.read_text() == ""


@pytest.mark.rule("TOOL-16")
async def test_a_whole_session(sample: SampleBrain, tmp_path: Path) -> None:
    """A real client lists, calls, reads, asks a person, and leaves; stdout held nothing but the protocol."""
    sample.put("omnislash.yaml", "memory: {embeddingModel: none}\n")
    sample.put_memory("main/MEMORY.md", MEMORY)
    person = Person("accept", yes=True)

    async with start(sample, tmp_path, mode="legacy", elicitation_callback=person) as client:
        assert len((await client.list_tools()).tools) == 11
        written = await client.call_tool("memory_write", {"content": "The depot opens at six."})
        found = await client.call_tool("memory_search", {"query": "depot"})
        wrong = await client.call_tool("memory_read", {"path": "hr/MEMORY.md"})
        read = await client.read_resource("omnislash:///main/MEMORY.md")
        prompt = await client.get_prompt("memory", {"session": "s1"})
        gone = await client.call_tool("memory_delete", {"path": "main/MEMORY.md"})

    assert written.structured_content["paths"] == [NOTE]
    assert found.structured_content["hits"][0]["path"] == NOTE
    assert wrong.is_error
    assert read.contents[0].text == MEMORY  # type: ignore[union-attr]  # it is text
    assert len(prompt.messages) == 1
    assert gone.structured_content["outcome"] == "written"
    assert len(person.asked) == 1
    assert set(sample.files()) - {".memory-index.db"} == {NOTE}


@pytest.mark.rule("WRITE-O8", "WRITE-05")
async def test_two_servers_and_a_worker_that_is_killed(sample: SampleBrain, tmp_path: Path) -> None:
    """Two servers write through one worker; it is killed in the middle; every write has its verdict and is there once."""
    worker = sample.start_worker()
    texts = [f"Crate {number} is at the dock." for number in range(24)]
    outcomes: dict[str, str] = {}

    async def write(client: Client, text: str) -> None:
        answer = (await client.call_tool("memory_write", {"content": text})).structured_content
        outcomes[text] = answer["outcome"]
        if len(outcomes) == 6:
            worker.send(signal.SIGKILL)

    async with (
        start(sample, tmp_path, mode="legacy") as first,
        start(sample, tmp_path, mode="auto") as second,
        anyio.create_task_group() as group,
    ):
        assert "memory_write" in names((await second.list_tools()).tools)
        for number, text in enumerate(texts):
            group.start_soon(write, (first, second)[number % 2], text)

    sample.agent().memory.write("The last one.")
    stored = sample.text(NOTE)
    assert set(outcomes) == set(texts)
    assert set(outcomes.values()) <= {"written", "unconfirmed"}
    assert [text for text in texts if stored.count(text) != 1] == []
