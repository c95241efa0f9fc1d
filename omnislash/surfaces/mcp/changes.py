"""What changes behind a client's back, told to it: its tools, the list of files, and a file that it follows.

A change of a role's file is seen within a second, one of a memory file as the system tells of it.
Where the system tells of none, only files are not told of; every request reads what is there all the same.

Rules: KNOB-26, KNOB-O6, TOOL-05, TOOL-14; failure case O-55.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.errors import OmnislashError
from omnislash.runtime.tools.reading import locate_quietly
from omnislash.surfaces.mcp.resources import may_read, uri_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

    from omnislash.surfaces.mcp.seat import Seat
    from omnislash.surfaces.mcp.threads import Calls

_LOG = logging.getLogger(__name__)
#: How often the configuration is looked at, in milliseconds.
_LOOK_MS: Final = 1_000
#: Changes within this time are told together, in milliseconds; an editor's save is several.
_TOGETHER_MS: Final = 100


@dataclass(frozen=True, slots=True)
class Offered:
    """What a client was last told that there is."""

    tools: tuple[str, ...] = ()
    #: Names of the corpora whose files are resources.
    corpora: tuple[str, ...] = ()
    has_prompt: bool = False


class Changes:
    """Tells the clients of one server what has changed."""

    def __init__(self, seat: Seat, calls: Calls) -> None:
        """Begin with no client."""
        self._seat = seat
        self._calls = calls
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        #: Clients of the protocol up to 2025-11-25, with the addresses that each follows.
        self._followed: dict[ServerSession, set[str]] = {}
        self._listed: set[str] = set()
        self._offered = Offered()
        self._wanted = anyio.Event()
        self._watches_files = True

    # -- clients -----------------------------------------------------------------------------------------------------

    def welcome(self, session: ServerSession) -> None:
        """Tell a client of what changes, until its connection ends."""
        self._followed[session] = set()
        session._connection.exit_stack.callback(self._followed.pop, session, None)  # noqa: SLF001 - the SDK says a connection's end nowhere else
        self._wanted.set()

    def subscribe(self, session: ServerSession, uri: str) -> None:
        """Tell a client of each change of one file."""
        self._find(session).add(uri)

    def unsubscribe(self, session: ServerSession, uri: str) -> None:
        """Tell it no longer."""
        self._find(session).discard(uri)

    def _find(self, session: ServerSession) -> set[str]:
        """Return the addresses that a client follows: a session is made anew for each request of one connection."""
        connection = session._connection  # noqa: SLF001 - as above
        known = (uris for each, uris in self._followed.items() if each._connection is connection)  # noqa: SLF001 - as above
        found = next(known, None)
        if found is None:
            self.welcome(session)
            found = self._followed[session]
        return found

    def note_listed(self, paths: Iterable[str]) -> None:
        """Note files that clients know of."""
        self._listed.update(paths)

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one `subscriptions/listen`, by which later clients say what they want to hear of."""
        self._wanted.set()
        return await self._listening(ctx, params)

    # -- watching ----------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Watch, from the first client on, until cancelled; trouble with it ends no connection."""
        await self._wanted.wait()
        self._offered = await self._calls.run(self._look)
        while True:
            try:
                async for changed in self._files_changing():
                    await self._compare()
                    await self._tell_of_files(changed)
            except Exception as error:  # noqa: BLE001 - a watch is a convenience, whatever breaks it
                self._give_up(error)
                await anyio.sleep(_LOOK_MS / 1000)

    def _give_up(self, error: Exception) -> None:
        """Watch files no longer, and say so once; the configuration is looked at all the same."""
        if self._watches_files:
            extra = {"action": "watch_failed", "state": "degraded"}
            _LOG.warning("Clients are not told of changed files (%s).", str(error).strip(), extra=extra)
        self._watches_files = False

    async def _files_changing(self) -> AsyncIterator[set[str]]:
        """Yield paths on disk that changed, and an empty set from time to time; ends when others are to be watched."""
        from watchfiles import awatch  # noqa: PLC0415 - in the background, so that the server is ready sooner

        places = await self._calls.run(self._places)
        if not places or not self._watches_files:
            await anyio.sleep(_LOOK_MS / 1000)
            yield set()
            return
        changing = awatch(
            *places,
            debounce=_TOGETHER_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            watch_filter=lambda _change, path: _is_document(path),
        )
        async for changes in changing:
            yield {path for _, path in changes}
            if await self._calls.run(self._places) != places:
                return

    def _places(self) -> tuple[Path, ...]:
        """Return what is to be watched: the managed zone and the sources that are there."""
        root = self._seat.brain.root
        names = (MANAGED_ROOT, *self._seat.brain.config.sources)
        return tuple(place for name in names if (place := root / name).exists())

    def _look(self) -> Offered:
        """Return what the role is offered now; nothing when it is gone."""
        try:
            agent = self._seat.agent()
        except OmnislashError:
            return Offered()
        corpora = tuple(ref.name for ref in agent.scope.readable) if may_read(agent) else ()
        return Offered(agent.tools, corpora, agent.scope.has_memory)

    # -- telling -----------------------------------------------------------------------------------------------------

    async def _compare(self) -> None:
        """Tell what is offered now and was not before, or the other way round."""
        before, now = self._offered, await self._calls.run(self._look)
        self._offered = now
        if now.tools != before.tools:
            await self._bus.publish(ToolsListChanged())
            for session in tuple(self._followed):
                await session.send_tool_list_changed()
        if now.has_prompt != before.has_prompt:
            await self._bus.publish(PromptsListChanged())
            for session in tuple(self._followed):
                await session.send_prompt_list_changed()
        if now.corpora != before.corpora:
            await self._tell_of_list()

    async def _tell_of_list(self) -> None:
        await self._bus.publish(ResourcesListChanged())
        for session in tuple(self._followed):
            await session.send_resource_list_changed()

    async def _tell_of_files(self, changed: set[str]) -> None:
        """Tell of changed files that the role may read, and of the list when some are new in it or gone from it."""
        if not changed:
            return
        found = await self._calls.run(lambda: self._locate(changed))
        listed = self._listed
        differ = {path for path, exists in found.items() if exists != (path in listed)}
        listed ^= differ
        if differ:
            await self._tell_of_list()
        for path in found:
            uri = uri_of(path)
            await self._bus.publish(ResourceUpdated(uri))
            for session in [each for each, uris in self._followed.items() if uri in uris]:
                await session.send_resource_updated(uri)

    def _locate(self, places: set[str]) -> dict[str, bool]:
        """Return the paths, as tools use them, of those places that the role may read, and whether each is there."""
        try:
            agent = self._seat.agent()
        except OmnislashError:
            return {}
        if not may_read(agent):
            return {}
        config, root = self._seat.brain.config, self._seat.brain.root
        found: dict[str, bool] = {}
        for place in sorted(places):
            inside = place.removeprefix(f"{root}/")
            managed = inside.removeprefix(f"{MANAGED_ROOT}/")
            located = locate_quietly(managed, config)
            if located is not None and agent.scope.may_read(located):
                found[located.path] = (root / inside).is_file()
        return found


def _is_document(path: str) -> bool:
    """Tell whether a file on disk can be a resource."""
    name = path.rpartition("/")[2]
    return name.endswith(".md") and not name.startswith(".")
