"""`omnislash up` as a process: the worker, the dashboard, who may knock at it, and how both end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")} | {
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
}
#: A token of the right form, for these tests only.
TOKEN = "for-these-tests-only-0123456789"
#: Seconds after which a test gives up; a busy machine is slow.
LIMIT_S = 60


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A brain with one role and one line."""
    root = tmp_path / "brain"
    (root / "features").mkdir(parents=True)
    (root / "memory" / "main").mkdir(parents=True)
    (root / "omnislash.yaml").write_text("memory: {}\n")
    (root / "features" / "desk.agent.md").write_text("---\nmemory: {}\ncapabilities: [memory:write]\n---\nHello.\n")
    (root / "memory" / "main" / "MEMORY.md").write_text("# Notes\n\n- The gate is green.\n")
    return root


@pytest.fixture
def start(brain: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], dict[str, str]]]]:
    """Starts a command that serves, returns it with its ready object, and ends it in the end."""
    running: list[subprocess.Popen[str]] = []

    def begin(*words: str, **variables: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
        with (brain.parent / f"stderr-{len(running)}").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "omnislash", "--brain", str(brain), "--json", *words],
                env=ENVIRONMENT | variables,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        running.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline() or "{}")

    yield begin
    for process in running:
        process.kill()
        process.wait(timeout=LIMIT_S)
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.rule("DASH-01", "WRITE-O8")
def test_one_command_is_worker_and_dashboard(
    brain: Path, start: Callable[..., tuple[subprocess.Popen[str], dict[str, str]]]
) -> None:
    """The pages are there, a write of another process goes through its worker, and SIGTERM ends all of it with 0."""
    process, ready = start("up", "--port", "0")
    page = httpx.get(ready["url"] + "/knowledge", follow_redirects=True, timeout=LIMIT_S)
    write = subprocess.run(
        [
            sys.executable,
            "-m",
            "omnislash",
            "--brain",
            str(brain),
            "memory",
            "write",
            "--role",
            "desk",
            "Fridays are free.",
        ],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ready["state"], ready["brain"]) == ("ready", str(brain))
    assert ready["url"].startswith("http://127.0.0.1:")
    assert page.status_code == 200
    assert "<h1" in page.text
    assert write.returncode == 0, write.stderr

    with httpx.stream("GET", ready["url"] + "/events", timeout=LIMIT_S) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT_S) == 0
    assert "Traceback" not in (brain.parent / "stderr-0").read_text()


def test_beside_a_worker_only_the_dashboard_starts(
    brain: Path, start: Callable[..., tuple[subprocess.Popen[str], dict[str, str]]]
) -> None:
    """A worker that runs already goes on, and the dashboard says that it left the work to it."""
    worker, _ = start("worker")
    process, ready = start("up", "--port", "0")

    assert httpx.get(ready["url"] + "/help", follow_redirects=True, timeout=LIMIT_S).status_code == 200
    assert "A worker of this brain runs already" in (brain.parent / "stderr-1").read_text()
    refused = _run(brain, "up", "--port", ready["url"].rpartition(":")[2].strip("/"))
    assert refused.returncode == 2
    assert "--port" in refused.stderr
    assert "is started" not in refused.stderr
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=LIMIT_S) == 0
    assert worker.poll() is None


def test_who_comes_from_elsewhere_needs_the_token(
    start: Callable[..., tuple[subprocess.Popen[str], dict[str, str]]],
) -> None:
    """Bound to every address, pages lead to the form, the token opens them, and a foreign host name is refused."""
    _, ready = start("up", "--port", "0", "--host", "0.0.0.0", OMNISLASH_TOKEN=TOKEN)
    port = ready["url"].rpartition(":")[2].strip("/")
    base = f"http://127.0.0.1:{port}"
    client = httpx.Client(base_url=base, headers={"Origin": base}, timeout=LIMIT_S)

    with client:
        assert client.get("/knowledge").status_code == 303
        assert client.get("/knowledge").headers["location"].startswith("/login?next=")
        assert client.post("/login", data={"token": "wrong-token-of-these-tests"}).status_code == 401
        assert client.post("/login", data={"token": TOKEN, "next": "/help"}).headers["location"] == "/help"
        assert client.get("/help").status_code == 200
        assert "Sign out" in client.get("/help").text
        assert client.get("/help", headers={"Host": "evil.example"}).status_code in {403, 421}
    assert httpx.get(f"{base}/help", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=LIMIT_S).status_code == 200


def _run(brain: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "omnislash", "--brain", str(brain), *words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_a_taken_port_is_one_sentence(brain: Path) -> None:
    """Where somebody listens already, the command says so and ends with 2, and the worker is not left behind."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = _run(brain, "up", "--port", str(taken.getsockname()[1]))

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(taken) not in done.stderr
    assert "Name another port with --port" in done.stderr
    assert "The worker writes for" not in done.stderr
    assert done.stdout == ""


def test_a_short_token_is_refused_before_anything_starts(brain: Path) -> None:
    """A token that could be guessed opens no door."""
    done = subprocess.run(
        [sys.executable, "-m", "omnislash", "--brain", str(brain), "up", "--host", "0.0.0.0", "--port", "0"],
        env=ENVIRONMENT | {"OMNISLASH_TOKEN": "short"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert done.returncode == 2
    assert "OMNISLASH_TOKEN can't be used as a token" in done.stderr
