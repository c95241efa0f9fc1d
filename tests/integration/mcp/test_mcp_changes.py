"""What a client is told without asking: its tools, its files, and a file that it follows."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, cast

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

from omnislash.surfaces.mcp import changes
from tests.integration.mcp.conftest import MEMORY, Inbox, connect, open_brain, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client
    from mcp.server.connection import Connection

    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
TOOLS, FILES, PROMPTS = (f"notifications/{each}/list_changed" for each in ("tools", "resources", "prompts"))
URI = "omnislash:///main/MEMORY.md"


async def settle() -> None:
    """Let the server begin to watch: what changes before that is not told, only read."""
    await anyio.sleep(0.5)


@pytest.mark.rule("KNOB-26", "TOOL-06")
async def test_an_edited_role_is_told(sample: SampleBrain) -> None:
    """A client hears that its tools, files and prompt are others than before."""
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await client.list_tools()
        await settle()
        sample.role("nova", capabilities="memory:read")
        await wait_until(lambda: inbox.methods == [TOOLS])
        sample.role("nova", None)
        await wait_until(lambda: sorted(inbox.methods) == sorted([TOOLS, TOOLS, FILES, PROMPTS]))


def test_a_new_directory_is_looked_into(tmp_path: Path) -> None:
    """What lies in a directory that is news is news too, however deep; one that is gone tells of what was in it."""
    day = tmp_path / "memory" / "main" / "2026" / "2026-08-30.md"
    day.parent.mkdir(parents=True)
    day.write_text("# 2026-08-30\n", encoding="utf-8")
    (day.parent / ".hidden.md").write_text("", encoding="utf-8")
    news = {str(day.parent), str(tmp_path / "memory/main/old"), str(tmp_path / "Docs"), "/x/MEMORY.md"}
    known = {"main/old/a.md", "main/older/b.md", "main/old.md", "Docs/c.md"}

    found = changes._open_directories(news, known, tmp_path)

    gone = {str(tmp_path / "memory/main/old/a.md"), str(tmp_path / "Docs/c.md")}
    assert found == {str(day), "/x/MEMORY.md", *gone}


async def test_new_and_lost_files_are_told(sample: SampleBrain) -> None:
    """A client that listed the files hears when one is new or gone; not when one only changed, nor of hidden lines."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await client.list_resources()
        await settle()
        sample.put_memory("main/MEMORY.md", MEMORY + "- Otto\n")
        sample.put_memory("hr/MEMORY.md", "- secret\n")
        await anyio.sleep(0.5)
        assert inbox.methods == []
        await client.call_tool("memory_write", {"content": "A new day begins."})
        await wait_until(lambda: inbox.methods == [FILES])
        (sample.root / "memory/main/MEMORY.md").unlink()
        await wait_until(lambda: inbox.methods == [FILES, FILES])


@pytest.mark.rule("TOOL-14")
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_followed_file_is_told_when_it_changes(sample: SampleBrain) -> None:
    """A client hears of each change of what it follows, by whoever makes it, and of nothing else; one that may not be read can't be followed."""
    for path in ("main/MEMORY.md", "main/other.md", "hr/MEMORY.md"):
        sample.put_memory(path, MEMORY)
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await _subscribe(client, URI)
        with pytest.raises(MCPError, match="outside what this agent may read"):
            await _subscribe(client, "omnislash:///hr/MEMORY.md")
        await settle()
        sample.put_memory("main/other.md", "x\n")
        sample.put_memory("hr/MEMORY.md", "x\n")
        await client.call_tool("memory_edit", {"path": "main/MEMORY.md", "old": "Maria", "new": "Mia"})
        await wait_until(lambda: inbox.updated)
        assert set(inbox.updated) == {URI}
        await client.session.unsubscribe_resource(URI)
        before = list(inbox.updated)
        sample.put_memory("main/MEMORY.md", MEMORY)
        await anyio.sleep(0.5)

    assert inbox.updated == before


async def _subscribe(client: Client, uri: str) -> None:
    await client.session.subscribe_resource(uri)


async def test_the_newest_protocol_listens(sample: SampleBrain) -> None:
    """A client of 2026 says what it wants to hear of, and hears just that."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    async with connect(open_brain(sample), mode="auto") as client, AsyncExitStack() as stack:
        await client.list_resources()
        heard = await stack.enter_async_context(
            client.listen(tools_list_changed=True, resources_list_changed=True, resource_subscriptions=[URI])
        )
        await settle()
        sample.role("nova", capabilities="memory:read")
        with anyio.fail_after(10):
            assert await anext(heard) == ToolsListChanged()
        sample.put_memory("main/MEMORY.md", MEMORY + "- Otto\n")
        with anyio.fail_after(10):
            assert await anext(heard) == ResourceUpdated(uri=URI)
        sample.put_memory("main/new.md", "x\n")
        with anyio.fail_after(10):
            assert await anext(heard) == ResourcesListChanged()


async def test_two_clients_hear_the_same(sample: SampleBrain) -> None:
    """Every client of a server is told, and one that left bothers nobody."""
    inboxes = [Inbox(), Inbox()]
    brain = open_brain(sample)
    async with connect(brain, message_handler=inboxes[0]):
        async with connect(brain, message_handler=inboxes[1]):
            await settle()
            sample.role("nova", capabilities="memory:read")
            await wait_until(lambda: all(each.methods == [TOOLS] for each in inboxes))
        sample.role("nova")
        await wait_until(lambda: inboxes[0].methods == [TOOLS, TOOLS])

    assert inboxes[1].methods == [TOOLS]


async def test_without_a_watch_the_role_is_told_of(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the system gives no watch, that is said once, an edited role is still told of, and calls are answered."""
    sample.put_memory("main/MEMORY.md", MEMORY)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr("watchfiles.awatch", refuse)
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await settle()
        sample.role("nova", capabilities="memory:read")
        await wait_until(lambda: inbox.methods == [TOOLS])
        assert not (await client.call_tool("memory_overview")).is_error

    assert caplog.text.count("Clients are not told of changed files") == 1


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_directory_that_is_moved_away_is_told_of(sample: SampleBrain) -> None:
    """A file that goes with its directory is news for who follows it, and so is the list; so is what comes back."""
    place = sample.put_memory("main/notes/a.md", "x\n").parent
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await client.list_resources()
        await _subscribe(client, "omnislash:///main/notes/a.md")
        await settle()
        place.rename(sample.root / "elsewhere")
        await wait_until(lambda: inbox.methods == [FILES] and inbox.updated == ["omnislash:///main/notes/a.md"])
        (sample.root / "elsewhere").rename(place)
        await wait_until(lambda: inbox.methods == [FILES, FILES])


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_memory_that_is_exchanged_is_watched_again(sample: SampleBrain) -> None:
    """When all of memory is another directory, as after a restored backup, that is told, and so is what changes in it."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await client.list_resources()
        await _subscribe(client, URI)
        await settle()
        (sample.root / "memory").rename(sample.root / "before")
        sample.put_memory("main/MEMORY.md", MEMORY + "- Otto\n")
        await wait_until(lambda: URI in inbox.updated)
        await anyio.sleep(1.5)
        inbox.updated.clear()
        sample.put_memory("main/MEMORY.md", MEMORY)
        await wait_until(lambda: URI in inbox.updated)


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_name_that_is_no_text_ends_no_watch(sample: SampleBrain, caplog: pytest.LogCaptureFixture) -> None:
    """A file with a name in another encoding is passed over, and a change at that moment and later ones are told."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    odd = os.fsdecode(b"memory/main/caf\xe9.md")
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await _subscribe(client, URI)
        await settle()
        for text in (MEMORY, MEMORY + "- Otto\n"):
            inbox.updated.clear()
            sample.put(odd, "x")
            sample.put_memory("main/MEMORY.md", text)
            await wait_until(lambda: URI in inbox.updated, limit_s=15)

    assert caplog.text.count("Unable to decode path") == 1


async def test_a_client_that_does_not_read_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many news it is waited for once, and not for each; the others are told meanwhile."""
    monkeypatch.setattr(changes, "_TELLING_S", 0.05)
    tried: list[object] = []

    async def send(connection: object) -> None:
        tried.append(connection)
        if connection == "deaf":
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        for client in ("deaf", "listening"):
            await changes._tell(cast("Connection", client), [send] * 1000)

    assert (tried.count("deaf"), tried.count("listening")) == (1, 1000)


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_client_that_says_hello_again_hears_once(sample: SampleBrain) -> None:
    """However often a client says that it is ready, before and after it follows a file, each change is told it once."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    inbox = Inbox()
    async with connect(open_brain(sample), message_handler=inbox) as client:
        await _subscribe(client, URI)
        for _ in range(3):
            await client.session.send_notification(types.InitializedNotification())
        await settle()
        sample.role("nova", capabilities="memory:read")
        await wait_until(lambda: inbox.methods)
        await anyio.sleep(0.2)
        assert inbox.methods == [TOOLS]
        sample.put_memory("main/MEMORY.md", MEMORY + "- Otto\n")
        await wait_until(lambda: inbox.updated)
        await anyio.sleep(0.2)

    assert inbox.updated == [URI]


@pytest.mark.parametrize(
    "uri",
    ["omnislash:///main/a (b) é.md", "omnislash:///main/a%20(b)%20%c3%a9.md", "omnislash:///main%2Fa%20%28b%29%20é.md"],
)
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_an_address_may_be_written_in_several_ways(sample: SampleBrain, mode: str, uri: str) -> None:
    """A file that is followed under another spelling of its address, as templates make it, is told of under that one."""
    sample.put_memory("main/a (b) é.md", "x\n")
    inbox = Inbox()
    async with connect(open_brain(sample), mode=mode, message_handler=inbox) as client, AsyncExitStack() as stack:
        if mode == "legacy":
            await _subscribe(client, uri)
        else:
            heard = await stack.enter_async_context(client.listen(resource_subscriptions=[uri]))
        await settle()
        sample.put_memory("main/a (b) é.md", "y\n")
        if mode == "legacy":
            await wait_until(lambda: inbox.updated)
            assert set(inbox.updated) == {uri}
        else:
            with anyio.fail_after(10):
                assert await anext(heard) == ResourceUpdated(uri=uri)
