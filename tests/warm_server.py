"""The process that waits with everything imported, and forks a child for each command; see `tests/warm.py`.

Started as `python warm_server.py SOCKET`; it ends when its standard input does. A request is four bytes of length, then
`{words, cwd, environment, open}` in marshal's form, with the descriptors of the standard streams that are open. A byte
that comes later is the number of a signal for the command; the answer is four bytes, the exit code or minus the signal.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import marshal
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import omnislash
from omnislash.surfaces.cli.main import main as run_command_line

#: What the commands import from elsewhere, inside of functions; onnxruntime starts a thread, which no child would have.
_LIBRARIES = ("httpx", "numpy", "rich.table", "tokenizers")
#: Rooms that few commands need.
_LEFT_OUT = ("omnislash.__main__", "omnislash.surfaces.dashboard", "omnislash.surfaces.mcp", "omnislash.surfaces.web")


def import_everything() -> None:
    """Import what commands may import, and keep the collector from looking at it again."""
    for found in pkgutil.walk_packages(omnislash.__path__, "omnislash."):
        if not found.name.startswith(_LEFT_OUT):
            importlib.import_module(found.name)
    for name in _LIBRARIES:
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a process of several threads can't be forked"  # noqa: PTH208 - no path
    gc.freeze()


class Server:
    """Takes requests, and tells each client how its command ended."""

    def __init__(self, place: str) -> None:
        """Listen."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(place)
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin.buffer, selectors.EVENT_READ, self._end)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        #: Process, and the descriptor that tells its end, by client.
        self._running: dict[socket.socket, tuple[int, int]] = {}
        self._is_over = False

    def serve(self) -> list[str]:
        """Return, in each child, the words of its command; an empty list in the end."""
        while not self._is_over:
            for key, _ in self._selector.select():
                words: list[str] | None = key.data(key.fileobj)
                if words is not None:
                    return words
        return []

    def _end(self, _: Any) -> None:
        self._is_over = True
        for pid, _watch in self._running.values():
            os.kill(pid, signal.SIGKILL)

    def _accept(self, _: Any) -> list[str] | None:
        client, _address = self._listener.accept()
        size, streams, _flags, _sender = socket.recv_fds(client, 4, 3)
        request = marshal.loads(_read(client, int.from_bytes(size, "big")))  # of a test on this machine
        pid = os.fork()
        if pid == 0:
            self._leave(client)
            become(request, streams)
            return list(request["words"])
        for number in streams:
            os.close(number)
        watch = os.pidfd_open(pid)
        self._running[client] = (pid, watch)
        self._selector.register(client, selectors.EVENT_READ, self._hear)
        self._selector.register(watch, selectors.EVENT_READ, lambda _: self._answer(client))
        return None

    def _leave(self, client: socket.socket) -> None:
        """Close what a child has no business with."""
        self._selector.close()
        for each in (self._listener, client, *self._running):
            each.close()
        for _, watch in self._running.values():
            os.close(watch)

    def _hear(self, client: Any) -> None:
        """Hand a signal on; a client that is gone was killed, and so is its command."""
        if client not in self._running:  # it ended at the same moment
            return
        heard = client.recv(1)
        os.kill(self._running[client][0], heard[0] if heard else signal.SIGKILL)
        if not heard:
            self._selector.unregister(client)

    def _answer(self, client: socket.socket) -> None:
        pid, watch = self._running.pop(client)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(OSError):
            client.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
        for each in (client, watch):
            with contextlib.suppress(KeyError):
                self._selector.unregister(each)
        client.close()
        os.close(watch)


def _read(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += client.recv(size - len(data))
    return data


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Give this process the streams, the directory and the environment of the command, as a new process would have them."""
    held = dict(zip(request["open"], streams, strict=True))
    for number in range(3):
        os.close(number)
        if number in held:
            os.dup2(held[number], number)
    for number in streams:
        os.close(number)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8:surrogateescape").partition(":")
    errors = errors or "strict"
    sys.stdin = _open(0, held, "rb", encoding, errors)
    sys.stdout = _open(1, held, "wb", encoding, errors)
    sys.stderr = _open(2, held, "wb", encoding, "backslashreplace")


def _open(number: int, held: dict[int, int], mode: str, encoding: str, errors: str) -> Any:
    """Return a stream as the interpreter makes it, of a descriptor that stays open; None for a closed one."""
    if number not in held:
        return None
    raw = open(number, mode, closefd=False)  # noqa: SIM115 - a descriptor
    return io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2 or raw.isatty())


def run(words: list[str]) -> int:
    """Run `-m omnislash …` or `SCRIPT …`, and return the exit code."""
    if words[:2] == ["-m", "omnislash"]:
        sys.argv = [str(Path(omnislash.__file__).with_name("__main__.py")), *words[2:]]
        return run_command_line()
    sys.argv = words
    sys.path[0] = str(Path(words[0]).parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


def end(words: list[str]) -> None:
    """Run a command, and end as an interpreter does, without tearing down what was imported."""
    try:
        code = run(words)
    except SystemExit as wish:
        code = wish.code if isinstance(wish.code, int) else int(wish.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined] # waits for the threads that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = 120
    os._exit(code)


if __name__ == "__main__":
    import_everything()
    server = Server(sys.argv[1])
    os.write(1, b"ready\n")
    found = server.serve()
    if found:
        end(found)
