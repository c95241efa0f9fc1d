"""Tells open pages that something changed, by server-sent events.

Two things are looked at while somebody listens: the brain's files, by the system's watch, so that a person's editor counts
as well as the writer; and the state database, by its version number, so that verdicts, approvals and runs of every
process count. An event only says what kind of thing changed: the page asks for itself again.

Source: WHATWG HTML, server-sent events.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from starlette.responses import StreamingResponse

from omnislash.core.pauses import Pauses
from omnislash.store.state_directory import STATE_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from starlette.requests import Request

_LOG = logging.getLogger(__name__)
#: How often the version of the state database is asked for, in seconds: under what a person notices as waiting.
_LOOK_S: Final = 0.3
#: Changes within this time are one, in milliseconds; an editor's save is several.
_TOGETHER_MS: Final = 100
#: A stream without a word for this long gets a comment, in seconds, so that nothing between closes it as idle.
_BREATH_S: Final = 15.0
#: What a stream is, and that nothing between keeps or collects it.
MEDIA_TYPE: Final = "text/event-stream"
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
#: How many pages may listen at once; a browser opens one stream a tab.
LISTENERS_MAX: Final = 64


class Topic(StrEnum):
    """What kind of thing changed."""

    #: Memory, sources or configuration: a file of the brain.
    FILES = "files"
    #: The queue, the action log, approvals, runs.
    STATE = "state"


class Changes:
    """Watches a brain while somebody listens."""

    def __init__(self, root: Path, data_version: Callable[[], int]) -> None:
        """Keep what is watched.

        Args:
            root: The brain's directory.
            data_version: Returns a number that is another one after each commit of another connection.
        """
        self._root = root
        self._data_version = data_version
        self._lock = threading.Lock()
        self._listeners: dict[asyncio.Queue[Topic | None], asyncio.AbstractEventLoop] = {}
        self._watching: threading.Event | None = None

    @contextlib.contextmanager
    def listen(self) -> Iterator[asyncio.Queue[Topic | None]]:
        """Yield a queue into which changes come, and None at the end; to be used in the loop that reads it."""
        queue: asyncio.Queue[Topic | None] = asyncio.Queue(maxsize=16)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
            if self._watching is None:
                self._start()
        try:
            yield queue
        finally:
            with self._lock:
                self._listeners.pop(queue, None)
                if not self._listeners and self._watching is not None:
                    self._watching.set()
                    self._watching = None

    @property
    def is_full(self) -> bool:
        """Whether nobody else may listen."""
        return len(self._listeners) >= LISTENERS_MAX

    def close(self) -> None:
        """End every stream."""
        self._tell(None)

    def tell(self, topic: Topic) -> None:
        """Tell every listener of a change that this process made and that stands in no file and no database."""
        self._tell(topic)

    # -- the threads -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        stopping = self._watching = threading.Event()
        for name, work in (("files", self._watch_files), ("state", self._watch_state)):
            threading.Thread(target=work, args=(stopping,), name=f"omnislash-live-{name}", daemon=True).start()

    def _watch_files(self, stopping: threading.Event) -> None:
        """Tell of changed files; a watch that broke begins again, and what happened meanwhile counts as a change."""
        pauses, said = Pauses(), False
        while not stopping.is_set():
            pauses.begin(time.monotonic())
            try:
                for _ in self._changed_files(stopping):
                    self._tell(Topic.FILES)
            except (OSError, RuntimeError) as error:  # a name that is no UTF-8 among others
                if not said:
                    said, text = True, "Pages are not told of changed files for now (%s); it is tried again."
                    _LOG.warning(text, str(error).strip(), extra={"action": "live_watch_failed"})
                stopping.wait(pauses.after_break(time.monotonic()))
                self._tell(Topic.FILES)

    def _changed_files(self, stopping: threading.Event) -> Iterable[object]:
        from watchfiles import watch  # noqa: PLC0415 - only while somebody looks

        return watch(
            self._root,
            watch_filter=lambda _change, path: not self._is_inner(path),
            debounce=_TOGETHER_MS,
            stop_event=stopping,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )

    def _is_inner(self, path: str) -> bool:
        """Tell whether a path is the engine's or git's own, and no file that a page shows."""
        parts = path.removeprefix(str(self._root)).strip("/").split("/")
        return parts[0] in {".git", STATE_DIRECTORY} or parts[-1].startswith(".memory-index") or parts[-1].endswith("~")

    def _watch_state(self, stopping: threading.Event) -> None:
        known = self._data_version()
        while not stopping.wait(_LOOK_S):
            version = self._data_version()
            if version != known:
                known = version
                self._tell(Topic.STATE)

    def _tell(self, topic: Topic | None) -> None:
        with self._lock:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(_put, queue, topic)


def _put(queue: asyncio.Queue[Topic | None], topic: Topic | None) -> None:
    """Put a change in; a full queue holds enough of them to make the page look again."""
    if topic is None and queue.full():
        queue.get_nowait()
    with contextlib.suppress(asyncio.QueueFull):
        queue.put_nowait(topic)


def stream(changes: Changes, request: Request) -> StreamingResponse:
    """Return the stream of a page: `event: files` or `event: state`, each without content."""
    return StreamingResponse(_events(changes, request), media_type=MEDIA_TYPE, headers=HEADERS)


async def _events(changes: Changes, request: Request) -> AsyncIterator[str]:
    with changes.listen() as queue:
        yield "retry: 2000\n\n"
        while not await request.is_disconnected():
            try:
                topic = await asyncio.wait_for(queue.get(), _BREATH_S)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if topic is None:
                return
            for each in sorted({topic, *_waiting(queue)}):
                yield f"event: {each}\ndata:\n\n"


def _waiting(queue: asyncio.Queue[Topic | None]) -> Iterable[Topic]:
    """Take out what came together with the last change."""
    while not queue.empty():
        topic = queue.get_nowait()
        if topic is None:
            queue.put_nowait(None)
            return
        yield topic
