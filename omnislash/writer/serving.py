"""The worker's side of the local socket: one thread for each caller.

A handler is a function from a request to an answer; which operations there are is decided by whoever starts the
server, so this module knows neither tools nor brains.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import socketserver
import threading
import time
from typing import TYPE_CHECKING, Any

from omnislash.writer.wake import LINE_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_LOG = logging.getLogger(__name__)
#: An answer that takes longer than this is announced, so that the caller knows that somebody is at work, in seconds.
#: A write takes milliseconds, and an announcement for each would cost both sides a wake-up.
_ACK_AFTER_S = 0.5


class _Caller(socketserver.StreamRequestHandler):
    """Answers one caller until it hangs up."""

    server: LocalServer

    def setup(self) -> None:
        super().setup()
        self._sending = threading.Lock()
        self._asked_at: float | None = None
        self.server.callers.add(self)

    def finish(self) -> None:
        self.server.callers.discard(self)
        super().finish()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := self.rfile.readline(LINE_LIMIT_BYTES + 1):
                if len(line) > LINE_LIMIT_BYTES:
                    self._send({"error": f"the request is longer than {LINE_LIMIT_BYTES} bytes"})
                    return
                self._asked_at = time.monotonic()
                answer = self.server.answer(line)
                with self._sending:
                    self._asked_at = None
                    self._send(answer)

    def acknowledge(self, *, now: float) -> None:
        """Tell a caller whose answer takes its time that its request was read; nothing happens otherwise."""
        with self._sending, contextlib.suppress(OSError):
            if self._asked_at is not None and now - self._asked_at > _ACK_AFTER_S:
                self._asked_at = float("inf")
                self._send({"ack": True})

    def hang_up(self) -> None:
        """Close the connection from this side."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, answer: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


class LocalServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens on the brain's socket; only for the holder of the writer's lock."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: Path, operations: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
        """Listen; a socket that a dead worker left behind is replaced."""
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        self._operations = operations
        self._path = path
        self.callers: set[_Caller] = set()
        self._stopped = threading.Event()
        mask = os.umask(0o177)
        try:
            super().__init__(str(path), _Caller)
        finally:
            os.umask(mask)

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self.serve_forever, args=(0.2,), name="omnislash-socket", daemon=True).start()
        threading.Thread(target=self._acknowledge, name="omnislash-acknowledge", daemon=True).start()

    def _acknowledge(self) -> None:
        while not self._stopped.wait(_ACK_AFTER_S):
            for caller in list(self.callers):
                caller.acknowledge(now=time.monotonic())

    def stop(self) -> None:
        """Stop serving, hang up on every caller and remove the socket."""
        self._stopped.set()
        self.shutdown()
        self.server_close()
        for caller in list(self.callers):
            caller.hang_up()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def answer(self, line: bytes) -> dict[str, Any]:
        """Return the answer to one request; a request that makes no sense gets an error, never an exception."""
        try:
            request = json.loads(line)
            operation = self._operations[request["op"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"error": "this request is not understood"}
        try:
            return operation(request)
        except Exception as error:  # noqa: BLE001 - the edge of the process
            _LOG.exception("a request failed", extra={"action": "request_failed"})
            return {"error": f"{type(error).__name__}: {error}"}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note a caller that hung up in the middle; nothing else can go wrong here."""
        del request, client_address
        _LOG.debug("a caller hung up", exc_info=True, extra={"action": "caller_gone"})
