"""How a caller and the running worker talk: one line of JSON each way over a local socket.

A request is `{"op": …}`; the worker sends the answer when it is there.
When that takes more than half a second it first sends `{"ack": true}`, so that a caller can tell a busy worker from one
that has stopped.
The socket lies in the brain's `.omnislash/`, or in the temporary directory when that path is too long for a socket;
the worker writes the place into the label of the writer's lock.

Rules: WRITE-O4; architecture.md section 4 ("callers wake by notification").
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

#: Raised with every change of the requests and answers; a caller of another version uses the queue's table instead.
PROTOCOL = 1
#: How long a worker may take to answer, or to say that it has read a request, in seconds. A healthy one needs half a
#: second at most; one that takes longer is stopped or starved, and the caller is told that its write is queued.
ACK_LIMIT_S = 3.0
#: The longest line that either side accepts, in bytes: the largest content, escaped, with room to spare.
LINE_LIMIT_BYTES = 16 * 1024 * 1024
#: sockaddr_un holds 104 bytes on macOS and 108 on Linux, the final NUL included.
_PATH_LIMIT_BYTES = 103


class WorkerGoneError(ConnectionError):
    """The worker closed the connection, or can't be reached."""


class WorkerSilentError(ConnectionError):
    """The worker holds the lock, but does not answer: it is stopped or starved."""


def socket_path(state_directory: Path) -> Path:
    """Return where the worker of this brain listens."""
    direct = state_directory / "worker.sock"
    if len(os.fsencode(direct)) <= _PATH_LIMIT_BYTES:
        return direct
    digest = hashlib.sha256(os.fsencode(state_directory.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"omnislash-{os.getuid()}-{digest}.sock"


class Connection:
    """A caller's connection to the worker; one request at a time."""

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            WorkerGoneError: Nobody listens there.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(ACK_LIMIT_S)
            self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise WorkerGoneError(str(error)) from error
        self._buffer = bytearray()

    def ask(self, request: dict[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            WorkerGoneError: The worker died or closed the connection.
            WorkerSilentError: It did not even say that it has read the request.
            TimeoutError: It has read the request, and the answer did not come in time.
        """
        try:
            self._socket.settimeout(ACK_LIMIT_S)
            self._socket.sendall(json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
            answer: dict[str, Any] = json.loads(self._read_line())
        except TimeoutError as error:
            raise WorkerSilentError(str(error)) from error
        except (OSError, ValueError) as error:
            raise WorkerGoneError(str(error)) from error
        return self._wait(timeout_s) if "ack" in answer else answer

    def _wait(self, timeout_s: float) -> dict[str, Any]:
        try:
            self._socket.settimeout(max(timeout_s, 0.001))
            answer: dict[str, Any] = json.loads(self._read_line())
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise WorkerGoneError(str(error)) from error
        return answer

    def _read_line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            part = self._socket.recv(1 << 16)
            if not part:
                message = "the worker closed the connection"
                raise WorkerGoneError(message)
            self._buffer += part
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.close()
