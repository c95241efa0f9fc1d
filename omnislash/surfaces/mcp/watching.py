"""What changes on disk below a brain's memory and its sources, as the system tells of it.

The system tells of no file in a directory that was moved away, nor of what came into a new one before that was watched, nor of
anything while the watch was broken. Such a directory is named instead: anything below it may be another than before.

Source: watchfiles, "awatch"; it breaks at a name that is no UTF-8, wherever below what is watched.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.pauses import Pauses

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from watchfiles import Change

    from omnislash.surfaces.mcp.seat import Seat
    from omnislash.surfaces.mcp.threads import Calls

_LOG = logging.getLogger(__name__)
#: How often the caller may look at what no file tells, in milliseconds.
LOOK_MS: Final = 1_000
#: Changes within this time are told together, in milliseconds; an editor's save is several.
_TOGETHER_MS: Final = 100


class Watch:
    """Watches the directories of a brain, whichever these are at the moment."""

    def __init__(self, seat: Seat, calls: Calls) -> None:
        """Begin with nothing watched."""
        self._seat = seat
        self._calls = calls
        #: What is watched, with what tells a directory from another one of its name; None before the first time.
        self._watched: dict[Path, tuple[int, int]] | None = None
        self._pauses = Pauses()
        self._rests_until = float("-inf")
        self._said: set[str] = set()

    async def changing(self) -> AsyncGenerator[set[str], None]:
        """Yield documents on disk that changed and directories below which any may have, and an empty set now and then.

        Raises:
            Exception: The watch broke; :meth:`rest`, and begin again.
        """
        while True:
            while anyio.current_time() < self._rests_until:
                await anyio.sleep(LOOK_MS / 1000)
                yield set()
            async for places in self._watch():
                yield places

    def rest(self, error: Exception) -> None:
        """Leave what broke alone for a while, and say so once."""
        now = anyio.current_time()
        self._rests_until = now + self._pauses.after_break(now)
        self._watched = {}
        text = _find_cause(error)
        if text not in self._said:
            self._said.add(text)
            extra = {"action": "watch_failed", "state": "degraded"}
            _LOG.warning("Clients are not told of changed files for now (%s); it is tried again.", text, extra=extra)

    async def _watch(self) -> AsyncGenerator[set[str], None]:
        """Watch until there is something else to watch."""
        places = await self._calls.run(self._find_places)
        before = self._watched
        unseen = set() if before is None else {str(each) for each, _ in before.items() ^ places.items()}
        self._pauses.begin(anyio.current_time())
        async for changed in self._told(tuple(places)):
            self._watched = places
            yield changed | unseen
            unseen = set()
            if await self._calls.run(self._find_places) != places:
                return

    async def _told(self, places: tuple[Path, ...]) -> AsyncGenerator[set[str], None]:
        if not places:
            await anyio.sleep(LOOK_MS / 1000)
            yield set()
            return
        from watchfiles import awatch  # noqa: PLC0415 - in the background, so that the server is ready sooner

        changing = awatch(
            *places,
            debounce=_TOGETHER_MS,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            watch_filter=self._matters,
        )
        async for changes in changing:
            yield {path for _, path in changes}

    def _find_places(self) -> dict[Path, tuple[int, int]]:
        """Return what is to be watched: the managed zone and the sources that are there."""
        root = self._seat.brain.root
        found = {}
        for name in (MANAGED_ROOT, *self._seat.brain.config.sources):
            try:
                what = (root / name).stat()
            except OSError:
                continue
            found[root / name] = (what.st_dev, what.st_ino)
        return found

    def _matters(self, change: Change, path: str) -> bool:
        """Tell whether a change is one of a document, or of what may be a directory."""
        from watchfiles import Change as Kind  # noqa: PLC0415 - as above

        if "/." in path.removeprefix(str(self._seat.brain.root)):
            return False
        return is_document(path) or change is Kind.deleted or (change is Kind.added and Path(path).is_dir())


def is_document(path: str) -> bool:
    """Tell whether a file on disk can be a resource."""
    name = path.rpartition("/")[2]
    return name.endswith(".md") and not name.startswith(".")


def _find_cause(error: Exception) -> str:
    """Return what broke a watch, in the words of whatever broke."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error).strip()
