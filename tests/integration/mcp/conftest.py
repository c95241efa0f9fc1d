"""What the tests of the MCP server share: a client in this process, in both generations of the protocol."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp import Client

from omnislash.engine import SearchOptions
from omnislash.surfaces.mcp.progress import is_given_up, tell
from omnislash.surfaces.mcp.server import Caller, make_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from omnislash import Brain
    from omnislash.index.embedders.ports import Embedder
    from tests.integration.conftest import SampleBrain

#: The handshake of 2025 and before, and the protocol of 2026, which has none.
MODES = ("legacy", "auto")
MEMORY = "# M\n\n## Memory (2026-08-01)\n\n- a\n- b\n\n## People\n\n- Maria\n"


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """How the client connects."""
    return str(request.param)


@pytest.fixture
def brain(sample: SampleBrain) -> Brain:
    """Return the sample brain as the command opens it, with a search by words alone."""
    return open_brain(sample)


def open_brain(sample: SampleBrain, *, embedders: tuple[Embedder, ...] = (), **options: Any) -> Brain:
    """Open a brain as the command does."""
    return sample.open(search=SearchOptions(on_progress=tell, is_over=is_given_up, embedders=embedders), **options)


@asynccontextmanager
async def connect(
    brain: Brain, *, mode: str = "legacy", role: str = "nova", replay: bool = False, **options: Any
) -> AsyncIterator[Client]:
    """Yield a client of a server in this process."""
    server = make_server(brain, Caller(role=role, replay=replay))
    async with Client(server, mode=mode, cache=None, **options) as client:
        yield client


class Person:
    """Somebody at a client who is asked, and says the same each time; `wait` says nothing."""

    def __init__(self, action: str, *, yes: bool | None = None, then: Callable[[], object] | None = None) -> None:
        self.action = action
        self.content = None if yes is None else {"delete": yes}
        self.then = then
        self.asked: list[types.ElicitRequestFormParams] = []

    async def __call__(self, _context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params)
        if self.then is not None:
            self.then()
        if self.action == "wait":
            await anyio.sleep_forever()
        return types.ElicitResult.model_validate({"action": self.action, "content": self.content})


class Inbox:
    """What a server tells its client without being asked."""

    def __init__(self) -> None:
        self.methods: list[str] = []
        self.updated: list[str] = []

    async def __call__(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.ResourceListChangedNotification):
            self.methods.append(message.method)
        if isinstance(message, types.PromptListChangedNotification):
            self.methods.append(message.method)
        if isinstance(message, types.ResourceUpdatedNotification):
            self.updated.append(str(message.params.uri))


async def wait_until(what: Callable[[], object], *, limit_s: float = 10.0) -> None:
    """Return when something is the case."""
    end = time.monotonic() + limit_s
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        await anyio.sleep(0.02)


def text_of(result: types.CallToolResult) -> str:
    """Return the text of an answer."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def names(found: Sequence[types.Tool] | Sequence[types.Prompt]) -> list[str]:
    """Return the names of what was listed."""
    return [each.name for each in found]
