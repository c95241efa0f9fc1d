"""The command `omnislash mcp`: what is wrong at its start, and serving over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp import Client

from omnislash.surfaces.cli.root import run
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

NOTE = "main/2026/08/2026-08-30.md"
#: The day of the sample brain's clock, for a process of its own.
NOW = "2026-08-30T09:05:00+00:00"


def test_what_is_wrong_at_the_start(sample: SampleBrain, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong role is one sentence on stderr with exit code 2, and so are options that belong to HTTP."""
    done = subprocess.run(
        [sys.executable, "-m", "omnislash", "--brain", str(sample.root), "mcp", "--role", "nobody"],
        cwd=ROOT,
        input=b"{}",
        capture_output=True,
        check=False,
        timeout=60,
    )
    code = run(["--brain", str(sample.root), "mcp", "--role", "nova", "--port", "4112"])

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("omnislash: There is no role 'nobody'.")
    assert b"Traceback" not in done.stderr
    assert code == 2
    assert "--port can't be used with stdio" in capsys.readouterr().err


def test_a_brain_that_does_not_load(sample: SampleBrain, capfd: pytest.CaptureFixture[str]) -> None:
    """A fault of the brain itself is told with its place before anything is served, over HTTP too."""
    sample.put("omnislash.yaml", "memory: [\n")

    code = run(["--brain", str(sample.root), "mcp", "--role", "nova", "--transport", "http"])

    said = capfd.readouterr()
    assert (code, said.out) == (2, "")
    assert "omnislash.yaml" in said.err


@pytest.mark.long
def test_http_is_served_until_a_signal(sample: SampleBrain) -> None:
    """The command says where it serves, a real client writes there as the role, and SIGTERM ends it with 0."""
    command = f"-m omnislash --brain {sample.root} --json mcp --role nova --transport http --port 0"
    process = subprocess.Popen(
        [sys.executable, *command.split()],
        cwd=ROOT,
        env={**os.environ, "OMNISLASH_NOW": NOW},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None

    async def write(url: str) -> str:
        async with Client(url, mode="legacy", cache=None) as client:
            result = await client.call_tool("memory_write", {"content": "The crane is yellow."})
            return str(result.structured_content["outcome"])

    try:
        ready = json.loads(process.stdout.readline())
        outcome = anyio.run(write, ready["url"])
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()

    assert (ready["needsToken"], ready["state"]) == (False, "ready")
    assert outcome == "written"
    assert sample.text(NOTE).count("The crane is yellow.") == 1
    assert (process.returncode, errors) == (0, b"")
