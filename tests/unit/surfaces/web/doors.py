"""A door that is served from a thread of the test, on a free port of loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING

from omnislash.surfaces.web.binding import Binding
from omnislash.surfaces.web.serving import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

#: Seconds within which a door opens and closes, on a machine that is busy.
PATIENCE_S = 30


class Door:
    """A server that runs in a thread."""

    def __init__(self, start: Callable[[Callable[[Binding], None], int], None]) -> None:
        """Start it; `start` is told whom to tell when it is ready, and the descriptor that stops it."""
        self._reading, self._writing = os.pipe()
        self._ready = threading.Event()
        self._found: list[Binding] = []
        self._raised: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(start,), daemon=True)
        self._thread.start()
        assert self._ready.wait(PATIENCE_S), "the server did not start"

    def _run(self, start: Callable[[Callable[[Binding], None], int], None]) -> None:
        try:
            start(self._take_ready, self._reading)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread of the test
            self._raised.append(error)
        finally:
            self._ready.set()

    def _take_ready(self, real: Binding) -> None:
        self._found.append(real)
        self._ready.set()

    @property
    def binding(self) -> Binding:
        """Where it listens; what kept it from starting is raised."""
        if not self._found:
            self.wait()
        return self._found[0]

    @property
    def url(self) -> str:
        """Where it is."""
        return self.binding.url

    def stop(self) -> None:
        """Ask it to stop."""
        os.write(self._writing, b"x")

    def wait(self) -> None:
        """Return once it has stopped, or raise what it raised."""
        self._thread.join(PATIENCE_S)
        if self._raised:
            raise self._raised.pop()
        assert not self._thread.is_alive(), "the server did not stop"

    def close(self) -> None:
        """Stop it by closing the pipe, as a process does that ends."""
        os.close(self._writing)
        self._thread.join(PATIENCE_S)
        os.close(self._reading)
        self.wait()

    def talk(self, text: bytes, *, timeout_s: float = 10.0) -> bytes:
        """Send bytes over a socket of its own and return everything that came until the server hung up."""
        with socket.create_connection((self.binding.host, self.binding.port), timeout=timeout_s) as line:
            line.sendall(text)
            return b"".join(iter(lambda: line.recv(65_536), b""))


@contextlib.contextmanager
def open_door(
    make_app: Callable[[Binding], ASGIApp], binding: Binding | None = None, *, grace_s: int = 3
) -> Iterator[Door]:
    """Serve an application until the block is left."""
    place = binding or Binding(host="127.0.0.1", port=0)
    door = Door(lambda on_ready, stop: serve(make_app, place, on_ready=on_ready, stop=stop, grace_s=grace_s))
    with contextlib.closing(door):
        assert door.binding.port
        yield door
