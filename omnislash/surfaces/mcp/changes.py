"""What changes behind a client's back, told to it: its tools, the list of files, and a file that it follows.

A change of a role's file is seen within a second, one of a memory file as the system tells of it.
Where the system tells of none, only files are not told of; every request reads what is there all the same.

Rules: KNOB-26, KNOB-O6, TOOL-05, TOOL-14; failure case O-55.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
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
from omnislash.surfaces.mcp.resources import may_read, path_of, uri_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

    from mcp.server.connection import Connection
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
#: How long one client may take to be told, in seconds: one that does not read keeps nobody else from hearing.
_TELLING_S: Final = 2.0


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
        #: Clients of the protocol up to 2025-11-25, with the addresses that each follows, and the path that each means.
        self._followed: dict[Connection, dict[str, str]] = {}
        #: Addresses that later clients follow and write in another way than we do, by the path that they mean.
        self._spelled: Counter[tuple[str, str]] = Counter()
        self._listed: set[str] = set()
        self._offered = Offered()
        self._wanted = anyio.Event()
        self._watches_files = True

    # -- clients -----------------------------------------------------------------------------------------------------

    def welcome(self, session: ServerSession) -> None:
        """Tell a client of what changes, until its connection ends."""
        self._find(session)

    def subscribe(self, session: ServerSession, uri: str, path: str) -> None:
        """Tell a client of each change of one file, under the address by which it asked."""
        self._find(session)[uri] = path

    def unsubscribe(self, session: ServerSession, uri: str) -> None:
        """Tell it no longer."""
        self._find(session).pop(uri, None)

    def _find(self, session: ServerSession) -> dict[str, str]:
        """Return what a client follows: a session is made anew for each request, and a client may say hello again."""
        connection = session._connection  # noqa: SLF001 - the SDK says nowhere else whose request it is, and when it ends
        if connection not in self._followed:
            self._followed[connection] = {}
            connection.exit_stack.callback(self._followed.pop, connection, None)
            self._wanted.set()
        return self._followed[connection]

    def note_listed(self, paths: Iterable[str]) -> None:
        """Note files that clients know of."""
        self._listed.update(paths)

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one `subscriptions/listen`, by which later clients say what they want to hear of."""
        self._wanted.set()
        spelled = list(_find_spellings(params.notifications.resource_subscriptions or ()))
        self._spelled.update(spelled)
        try:
            return await self._listening(ctx, params)
        finally:
            self._spelled -= Counter(spelled)

    # -- watching ----------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Watch, from the first client on, until cancelled; trouble with it ends no connection."""
        await self._wanted.wait()
        self._offered = await self._calls.run(self._look)
        fresh: set[str] = set()
        while True:
            try:
                async for changed in self._files_changing():
                    await self._compare()
                    looked = changed | fresh
                    fresh = {place for place in changed if not _is_document(place)}
                    await self._tell_of_files(await self._calls.run(functools.partial(_open_directories, looked)))
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
        from watchfiles import Change, awatch  # noqa: PLC0415 - in the background, so that the server is ready sooner

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
            watch_filter=lambda change, path: _is_document(path) or (change is Change.added and Path(path).is_dir()),
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
            await self._tell_all(lambda each: each.send_tool_list_changed())
        if now.has_prompt != before.has_prompt:
            await self._bus.publish(PromptsListChanged())
            await self._tell_all(lambda each: each.send_prompt_list_changed())
        if now.corpora != before.corpora:
            await self._tell_of_list()

    async def _tell_of_list(self) -> None:
        await self._bus.publish(ResourcesListChanged())
        await self._tell_all(lambda each: each.send_resource_list_changed())

    async def _tell_all(self, send: Callable[[Connection], Awaitable[None]]) -> None:
        for connection in tuple(self._followed):
            with anyio.move_on_after(_TELLING_S):
                await send(connection)

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
            for uri in (uri_of(path), *[uri for meant, uri in self._spelled if meant == path]):
                await self._bus.publish(ResourceUpdated(uri))
            following = [(each, uri) for each, uris in self._followed.items() for uri in uris if uris[uri] == path]
            for connection, uri in following:
                with anyio.move_on_after(_TELLING_S):
                    await connection.send_resource_updated(uri)

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


def _find_spellings(uris: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield path and address of those addresses that are written in another way than :func:`uri_of` does."""
    for uri in uris:
        try:
            path = path_of(uri)
        except OmnislashError:
            continue
        if uri != uri_of(path):
            yield path, uri


def _open_directories(places: set[str]) -> set[str]:
    """Return the documents among some places, and those in the directories among them.

    What comes into a new directory before the system watches it is told by nobody, so such a directory is looked into at
    once and once more with the next news.
    """
    found = {place for place in places if _is_document(place)}
    for directory in places - found:
        with contextlib.suppress(OSError):  # gone again, or not to be listed: nothing to tell of
            found.update(path for path in map(str, Path(directory).rglob("*")) if _is_document(path))
    return found


def _is_document(path: str) -> bool:
    """Tell whether a file on disk can be a resource."""
    name = path.rpartition("/")[2]
    return name.endswith(".md") and not name.startswith(".")
