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
from typing import TYPE_CHECKING, Any

from omnislash.writer.wake import LINE_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_LOG = logging.getLogger(__name__)


class _Caller(socketserver.StreamRequestHandler):
    """Answers one caller until it hangs up."""

    server: LocalServer

    def setup(self) -> None:
        super().setup()
        self.server.connected.add(self.connection)

    def finish(self) -> None:
        self.server.connected.discard(self.connection)
        super().finish()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := self.rfile.readline(LINE_LIMIT_BYTES + 1):
                if len(line) > LINE_LIMIT_BYTES:
                    self._send({"error": f"the request is longer than {LINE_LIMIT_BYTES} bytes"})
                    return
                self._send({"ack": True})
                self._send(self.server.answer(line))

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
        self.connected: set[socket.socket] = set()
        mask = os.umask(0o177)
        try:
            super().__init__(str(path), _Caller)
        finally:
            os.umask(mask)

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self.serve_forever, args=(0.2,), name="omnislash-socket", daemon=True).start()

    def stop(self) -> None:
        """Stop serving, hang up on every caller and remove the socket."""
        self.shutdown()
        self.server_close()
        for connection in list(self.connected):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def answer(self, line: bytes) -> dict[str, Any]:
        """Return the answer to one request; a request that makes no sense gets an error, never an exception."""
        try:
            request = json.loads(line)
            operation = self._operations[request["op"]]
        except (ValueError, KeyError, TypeError):
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
