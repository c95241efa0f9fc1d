"""What changes behind a client's back, told to it: its tools, the list of files, and a file that it follows.

A change of a role's file is seen within a second, one of a memory file as the system tells of it.
Where the system tells of none, only files are not told of; every request reads what is there all the same.

Rules: KNOB-26, KNOB-O6, TOOL-05, TOOL-14; failure case O-55.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from operator import methodcaller
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
from omnislash.surfaces.mcp.resources import may_read, path_of
from omnislash.surfaces.mcp.watching import Watch, is_document

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

    from omnislash.surfaces.mcp.seat import Seat
    from omnislash.surfaces.mcp.threads import Calls

    #: Tells one client one thing.
    _Send = Callable[[Connection], Awaitable[None]]

#: How long one client may take to be told, in seconds: one that does not read keeps nobody else from hearing.
_TELLING_S: Final = 2.0
#: News that wait for one later client before its subscription is ended; a checkout may change every file that it follows.
_MOST_WAITING: Final = 65_536


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
        self._listening = ListenHandler(self._bus, max_buffered_events=_MOST_WAITING)
        #: Clients of the protocol up to 2025-11-25, with the addresses that each follows, and the path that each means.
        self._followed: dict[Connection, dict[str, str]] = {}
        #: Addresses that later clients follow, by the path that they mean, and how often each is.
        self._listened: dict[str, Counter[str]] = {}
        self._listed: set[str] = set()
        self._offered = Offered()
        self._wanted = anyio.Event()
        #: Directories that were new a moment ago.
        self._fresh: set[str] = set()

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
        heard = list(_find_paths(params.notifications.resource_subscriptions or ()))
        for path, uri in heard:
            self._listened.setdefault(path, Counter())[uri] += 1
        try:
            return await self._listening(ctx, params)
        finally:
            for path, uri in heard:
                self._listened[path] -= Counter([uri])
                if not self._listened[path]:
                    del self._listened[path]

    # -- watching ----------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Watch, from the first client on, until cancelled; trouble with it ends no connection."""
        await self._wanted.wait()
        self._offered = await self._calls.run(self._look)
        watch = Watch(self._seat, self._calls)
        while True:
            try:
                async with contextlib.aclosing(watch.changing()) as changing:
                    async for places in changing:
                        await self._compare()
                        await self._tell_of_files(places)
            except Exception as error:  # noqa: BLE001 - a watch is a convenience, whatever breaks it
                watch.rest(error)

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

    async def _tell_all(self, *sends: _Send) -> None:
        """Tell every client at once; none waits for another."""
        async with anyio.create_task_group() as group:
            for connection in tuple(self._followed):
                group.start_soon(_tell, connection, sends)

    async def _tell_of_files(self, changed: set[str]) -> None:
        """Tell of changed files that the role may read, and of the list when some are new in it or gone from it."""
        looked = changed | self._fresh
        self._fresh = {place for place in changed if not is_document(place)}
        if not looked:
            return
        known = self._listed.union(*(uris.values() for uris in self._followed.values()), self._listened)
        found = await self._calls.run(lambda: self._locate(looked, known))
        differ = {path for path, exists in found.items() if exists != (path in self._listed)}
        self._listed ^= differ
        if differ:
            await self._tell_of_list()
        for path in found.keys() & self._listened.keys():
            for uri in tuple(self._listened.get(path, ())):
                await self._bus.publish(ResourceUpdated(uri))
        async with anyio.create_task_group() as group:
            for connection, uris in tuple(self._followed.items()):
                news = [methodcaller("send_resource_updated", uri) for uri, path in uris.items() if path in found]
                group.start_soon(_tell, connection, news)

    def _locate(self, places: set[str], known: set[str]) -> dict[str, bool]:
        """Return the paths, as tools use them, of those places that the role may read, and whether each is there."""
        try:
            agent = self._seat.agent()
        except OmnislashError:
            return {}
        if not may_read(agent):
            return {}
        config, root = self._seat.brain.config, self._seat.brain.root
        found: dict[str, bool] = {}
        for place in _open_directories(places, known, root):
            inside = place.removeprefix(f"{root}/")
            managed = inside.removeprefix(f"{MANAGED_ROOT}/")
            located = locate_quietly(managed, config)
            if located is not None and agent.scope.may_read(located):
                found[located.path] = (root / inside).is_file()
        return found


async def _tell(connection: Connection, sends: Sequence[_Send]) -> None:
    """Tell one client; one that does not read what it is told hears nothing more this time."""
    for send in sends:
        with anyio.move_on_after(_TELLING_S) as limit:
            await send(connection)
        if limit.cancelled_caught:
            return


def _find_paths(uris: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield path and address of those addresses that mean a file."""
    for uri in uris:
        with contextlib.suppress(OmnislashError):
            yield path_of(uri), uri


def _open_directories(places: set[str], known: set[str], root: Path) -> set[str]:
    """Return the documents among some places, and those below the directories among them.

    Args:
        places: On disk.
        known: Paths, as tools use them, of documents that may have been there before.
        root: The brain.

    What comes into a new directory before the system watches it is told by nobody, and neither is what goes with one, so
    both what is there and what was is looked at.
    """
    found = {place for place in places if is_document(place)}
    directories = places - found
    for directory in directories:
        with contextlib.suppress(OSError):  # gone again, or not to be listed: nothing to tell of
            found.update(path for path in map(str, Path(directory).rglob("*")) if is_document(path))
    if directories:
        below = tuple(f"{directory}/" for directory in directories)
        were = (f"{top}/{path}" for path in known for top in (root / MANAGED_ROOT, root))
        found.update(place for place in were if place.startswith(below))
    return found
