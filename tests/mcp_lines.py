"""The real `omnislash mcp` process, driven with raw lines on stdin; every line on its stdout has to be JSON-RPC 2.0."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
#: The newest revision that begins with a handshake, and the oldest.
NEW, OLD = "2025-11-25", "2024-11-05"
#: Seconds within which an answer comes, on a machine that is busy.
PATIENCE_S = 30.0
_PARTS = {"jsonrpc", "id", "method", "params", "result", "error"}


class McpLines:
    """One server process."""

    def __init__(
        self,
        root: Path,
        *options: str,
        role: str = "ops",
        environment: Mapping[str, str] | None = None,
        python: tuple[str, ...] = (),
    ) -> None:
        """Start it; `python` are options of the interpreter."""
        self._process = subprocess.Popen(
            [sys.executable, *python, "-m", "omnislash", "--brain", str(root), "mcp", "--role", role, *options],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONUTF8": "1", **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        #: Every line of stdout, as it came.
        self.lines: list[bytes] = []
        self._errors: list[bytes] = []
        self._came: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._held: list[dict[str, Any]] = []
        self._number = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    # -- what comes ----------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            try:
                found = json.loads(line)
            except ValueError:
                found = {"not": "JSON"}
            self._came.put(found if isinstance(found, dict) else {"not": "an object"})
        self._came.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    @property
    def stderr(self) -> str:
        """Everything that was said beside the protocol until now."""
        return b"".join(self._errors).decode("utf-8", "replace")

    def wait_for(self, number: int | str | None) -> dict[str, Any]:
        """Return the answer to a request, or, for None, an error that answers none."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for message in self._held:
                if "method" not in message and message.get("id") == number:
                    self._held.remove(message)
                    return message
            found = self._came.get(timeout=max(0.0, deadline - time.monotonic()))
            assert found is not None, f"the server ended: {self.stderr}"
            check_message(found)
            self._held.append(found)

    @property
    def held(self) -> list[dict[str, Any]]:
        """What came and was not asked for yet."""
        while not self._came.empty():
            found = self._came.get()
            if found is not None:
                check_message(found)
                self._held.append(found)
        return self._held

    # -- what is sent --------------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, line: bytes | dict[str, Any]) -> None:
        """Send one line."""
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()

    def send_part(self, data: bytes) -> None:
        """Send bytes without an end of the line."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def new_number(self) -> int:
        """Return an id that was not used yet."""
        self._number += 1
        return self._number

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return its answer."""
        number = self.new_number()
        self.send(make_request(method, params, number=number))
        return self.wait_for(number)

    def begin(self, version: str = NEW, *, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        """Shake hands and return what the server says of itself."""
        client = {"name": "raw lines", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": client}
        answer = self.ask("initialize", params)
        self.send(make_request("notifications/initialized", number=None))
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result: dict[str, Any] = answer["result"]
        return result

    # -- the end -------------------------------------------------------------------------------------------------------

    def end_input(self) -> None:
        """Send nothing more."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for an end that comes by itself, and return the exit code."""
        try:
            return self._process.wait(timeout=PATIENCE_S)
        finally:
            self.close()

    def finish(self) -> int:
        """End the input, wait for the end, check every line that came, and return the exit code."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            code = self._process.wait(timeout=PATIENCE_S)
        finally:
            self.close()
        for line in self.lines:
            assert line.endswith(b"\n"), line[:200]
            check_message(json.loads(line))
        return code

    def close(self) -> None:
        """Kill what still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(10)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def make_request(method: str, params: dict[str, Any] | None = None, *, number: int | str | None) -> dict[str, Any]:
    """Return a request; without a number a notification."""
    head: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        head["params"] = params
    return head if number is None else {**head, "id": number}


def check_message(message: dict[str, Any]) -> None:
    """Fail unless this is one message of JSON-RPC 2.0: a request, a notification, a result or an error."""
    assert message.get("jsonrpc") == "2.0", message
    assert set(message) <= _PARTS, message
    if "method" in message:
        assert isinstance(message["method"], str), message
        assert not {"result", "error"} & set(message), message
        return
    assert ("result" in message) != ("error" in message), message
    assert isinstance(message.get("id"), int | str) or (message.get("id") is None and "error" in message), message
    if "error" in message:
        assert isinstance(message["error"]["code"], int), message
        assert message["error"]["message"].strip(), message
        assert "Traceback" not in message["error"]["message"], message


def text_of(result: dict[str, Any]) -> str:
    """Return the text of an answer of a tool or a prompt."""
    return "\n".join(part["text"] for part in result["content"])
