"""The engine's blocking calls, each in a thread of its own, so that the connection goes on meanwhile.

A call that is cancelled is abandoned at once; what it does is told so and may stop between two steps, and what it returns is
dropped.
The threads do not keep the process from ending: what has to land is waited for by :meth:`Calls.finish`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio

from omnislash.surfaces.mcp.progress import GIVEN_UP

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: Calls that run at the same time; further ones wait. A machine is busy with fewer, and a write that waits for a slow
#: writer must not keep others from reading.
_MOST: Final = 32


class Calls:
    """The calls of one server; made and used in one event loop."""

    def __init__(self) -> None:
        """Begin with none."""
        self._free = anyio.Semaphore(_MOST)
        self._landing: set[Future[Any]] = set()

    async def run(self, work: Callable[[], T], *, lands: bool = False) -> T:
        """Return what a call returns, or raise what it raises.

        Args:
            work: The call; it sees the context variables of the caller.
            lands: True for a call that may change memory: :meth:`finish` waits for it, abandoned or not.
        """
        await self._free.acquire()
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _tell(loop, self._free.release))
        if lands:
            self._landing.add(future)
            future.add_done_callback(self._landing.discard)
        context, given_up = contextvars.copy_context(), threading.Event()
        context.run(GIVEN_UP.set, given_up)
        threading.Thread(target=context.run, args=(_fulfil, future, work), name="omnislash-mcp", daemon=True).start()
        try:
            return await asyncio.wrap_future(future)
        finally:
            given_up.set()

    async def finish(self, limit_s: float) -> None:
        """Return when every call that may change memory has ended, or the time is over; nothing interrupts it."""
        waiting = {asyncio.wrap_future(future) for future in set(self._landing)}
        if waiting:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(waiting, timeout=limit_s)


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    """Let a future hold what a call returns or raises."""
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 - it is raised again where the call is waited for
        future.set_exception(error)
    else:
        future.set_result(result)


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    """Call something in the loop; nothing when the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)
