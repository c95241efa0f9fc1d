"""How far a long call is, told to the client that asked for it, and whether anybody still waits for it.

The engine tells how far it is by a function of the brain, for whoever calls: :func:`tell` passes it on to the call that
runs in this very context, and :func:`is_given_up` answers for that call too. So a brain is opened with
`SearchOptions(on_progress=tell, is_over=is_given_up)`.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from omnislash.surfaces.mcp.threads import Calls

T = TypeVar("T")

#: Seconds between two reports at least, and when a call that tells nothing is said to be still running.
_PAUSE_S, _SILENCE_S = 0.2, 5.0
#: What each part of the work is called.
_NAMES: Final = {"files": "Examining files", "words": "Reading files", "vectors": "Embedding notes"}
_LISTENER: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("progress_listener", default=None)
#: Set once the current call is given up; None where nobody can.
GIVEN_UP: ContextVar[Event | None] = ContextVar("given_up", default=None)


def is_given_up() -> bool:
    """Tell whether the client has cancelled the current call, or is gone."""
    given_up = GIVEN_UP.get()
    return given_up is not None and given_up.is_set()


def tell(part: str, done: int, total: int) -> None:
    """Pass on how far the work of the current call is: the part, done, of all."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(part, done, total)


async def run_told(
    ctx: ServerRequestContext[Any, Any], calls: Calls, work: Callable[[], T], *, lands: bool = False
) -> T:
    """Return what a call returns, and report meanwhile how far it is; a client that asked for no reports gets none.

    Args:
        ctx: The request.
        calls: Runs the call.
        work: The call; it must not raise, for its error would come out in a group.
        lands: As for :meth:`Calls.run`.
    """
    import anyio  # noqa: PLC0415 - the command line imports `tell` before it needs a loop

    reporter = _Reporter(ctx.session)
    async with anyio.create_task_group() as group:
        group.start_soon(reporter.report)
        before = _LISTENER.set(reporter.take)
        try:
            found = await calls.run(work, lands=lands)
        finally:
            _LISTENER.reset(before)
        group.cancel_scope.cancel()
    return found


class _Reporter:
    """Sends the newest state of one call from time to time; what is told grows with every report."""

    def __init__(self, session: ServerSession) -> None:
        import asyncio  # noqa: PLC0415 - as above

        import anyio  # noqa: PLC0415 - as above

        self._session = session
        self._loop = asyncio.get_running_loop()
        self._news = anyio.Event()
        self._part: str | None = None
        self._base = self._sent = 0.0
        self._value, self._total = 0.0, 0.0

    def take(self, part: str, done: int, total: int) -> None:
        """Take note from any thread; nothing waits for the client."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the call
            self._loop.call_soon_threadsafe(self._note, part, done, total)

    def _note(self, part: str, done: int, total: int) -> None:
        if part != self._part:
            self._part, self._base = part, self._value
        self._value, self._total = self._base + done, self._base + total
        self._news.set()

    async def report(self) -> None:
        """Send until cancelled."""
        import anyio  # noqa: PLC0415 - as above

        while True:
            with anyio.move_on_after(_SILENCE_S):
                await self._news.wait()
            self._news = anyio.Event()
            if self._part is None:
                self._sent += _SILENCE_S
                await self._session.report_progress(self._sent, message=f"Running for {self._sent:.0f} s")
            elif self._value > self._sent:
                self._sent = self._value
                await self._session.report_progress(self._sent, self._total, _NAMES.get(self._part, self._part))
            await anyio.sleep(_PAUSE_S)
