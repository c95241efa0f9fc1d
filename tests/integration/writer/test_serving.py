"""The local socket: an answer that takes its time is announced, a quick one is not, and a frozen server is noticed."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.writer.serving import LocalServer
from omnislash.writer.wake import Connection, WorkerSilentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def answer_late(_request: dict[str, Any]) -> dict[str, Any]:
    """Answer after more than the time from which an answer is announced."""
    time.sleep(1.2)
    return {"done": "late"}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Path]:
    """Serve a quick and a slow operation."""
    path = tmp_path / "s.sock"
    server = LocalServer(path, {"quick": lambda _request: {"done": "quick"}, "slow": answer_late})
    server.start()
    yield path
    server.stop()


def lines_of(address: Path, operation: str) -> list[dict[str, Any]]:
    """Ask once and return every line up to the answer."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(str(address))
        caller.sendall(json.dumps({"op": operation}).encode() + b"\n")
        with caller.makefile("rb") as answers:
            found = [json.loads(answers.readline())]
            while "done" not in found[-1]:
                found.append(json.loads(answers.readline()))
    return found


@pytest.mark.rule("WRITE-O4")
def test_only_a_slow_answer_is_announced(address: Path) -> None:
    """A quick answer comes alone; a slow one comes behind one announcement."""
    assert lines_of(address, "quick") == [{"done": "quick"}]
    assert lines_of(address, "slow") == [{"ack": True}, {"done": "late"}]


def test_connection_waits_for_what_was_announced(address: Path) -> None:
    """A caller gets the slow answer, and the next one over the same connection."""
    connection = Connection(str(address))
    assert connection.ask({"op": "slow"}, timeout_s=10) == {"done": "late"}
    assert connection.ask({"op": "quick"}, timeout_s=10) == {"done": "quick"}
    connection.close()


@pytest.mark.rule("WRITE-02")
def test_announced_answer_may_come_too_late(address: Path) -> None:
    """Waiting ends at the caller's own limit, and that is told apart from silence."""
    connection = Connection(str(address))
    with pytest.raises(TimeoutError):
        connection.ask({"op": "slow"}, timeout_s=0.1)
    connection.close()


@pytest.mark.rule("WRITE-O4")
def test_silence_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that holds the socket and says nothing, as a stopped one does, is silent."""
    monkeypatch.setattr("omnislash.writer.wake.ACK_LIMIT_S", 0.2)
    with socket.socket(socket.AF_UNIX) as frozen:
        frozen.bind(str(tmp_path / "f.sock"))
        frozen.listen()
        connection = Connection(str(tmp_path / "f.sock"))
        started = time.monotonic()
        with pytest.raises(WorkerSilentError):
            connection.ask({"op": "quick"}, timeout_s=30)
        assert time.monotonic() - started < 10
        connection.close()


@pytest.mark.parametrize("request_line", [b"{", b"[]", b'{"op": "none"}', b'{"op": []}', b"[" * 100_000])
def test_a_request_that_makes_no_sense_is_answered(address: Path, request_line: bytes) -> None:
    """It gets an error, however deep it is nested, and the connection goes on."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(str(address))
        with caller.makefile("rb") as answers:
            caller.sendall(request_line + b"\n")
            assert json.loads(answers.readline()) == {"error": "this request is not understood"}
            caller.sendall(b'{"op": "quick"}\n')
            assert json.loads(answers.readline()) == {"done": "quick"}
