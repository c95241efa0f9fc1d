"""What the handlers of one server share while it runs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from omnislash.surfaces.mcp.changes import Changes
from omnislash.surfaces.mcp.threads import Calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omnislash.surfaces.mcp.seat import Seat

#: How long a server that ends waits for writes that are on their way, in seconds; what is durable lands later anyway.
LANDING_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Service:
    """A brain being served to a caller."""

    seat: Seat
    calls: Calls
    changes: Changes


@asynccontextmanager
async def serve_seat(seat: Seat) -> AsyncIterator[Service]:
    """Keep a service up; at its end, writes that are on their way get their verdict."""
    calls = Calls()
    service = Service(seat, calls, Changes(seat, calls))
    async with anyio.create_task_group() as group:
        group.start_soon(service.changes.watch)
        try:
            yield service
        finally:
            group.cancel_scope.cancel()
            await calls.finish(LANDING_S)
