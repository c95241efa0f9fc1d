"""Run MCP's conformance suite against a memory server over HTTP, and against a demo server behind the same door.

Needs Node 22 with npx, which fetches the suite from npm; CONFORMANCE_COMMAND names another way to start it.
Exits with 0 when both runs went as they should.

::

    python tests/conformance/run_conformance.py [SCENARIO]
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: The release whose scenarios `expected-failures.yml` knows.
SUITE = "npx --yes @modelcontextprotocol/conformance@0.1.16"
ROLE = (
    "---\ncapabilities: [memory:read, memory:write, memory:edit, memory:delete]\nmemory: {}\n---\nYou keep the line.\n"
)
PATIENCE_S = 300


@contextlib.contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a server and yield its address."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def make_brain(root: Path) -> None:
    """Make a small brain with a role and a memory."""
    files = {
        "omnislash.yaml": "memory: {embeddingModel: none}\n",
        "features/team/nova.agent.md": ROLE,
        "memory/main/MEMORY.md": "The float of the till is 150.\n",
    }
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")


def run_suite(url: str, directory: Path, *options: str) -> int:
    """Run every scenario against a server and return the exit code."""
    suite = shlex.split(os.environ.get("CONFORMANCE_COMMAND", SUITE))
    words = [*suite, "server", "--url", url, *options, "--output-dir", str(directory)]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    print(done.stdout[done.stdout.find("=== SUMMARY") :] if "=== SUMMARY" in done.stdout else done.stdout)
    print(done.stderr, file=sys.stderr)
    return done.returncode


def know(name: str, scenarios: list[str]) -> list[str]:
    """Return the option that names what is known to fail; nothing is, where a scenario was chosen."""
    return [] if scenarios else ["--expected-failures", str(HERE / name)]


def main(scenarios: list[str]) -> int:
    """Run both and return the exit code."""
    chosen = ["--scenario", scenarios[0]] if scenarios else ["--suite", "all"]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        make_brain(directory / "brain")
        print("A memory server:")
        brain = ("--brain", str(directory / "brain"), "--json")
        with serving("-m", "omnislash", *brain, "mcp", "--role", "nova", "--transport", "http", "--port", "0") as url:
            memory = run_suite(url, directory, *chosen, *know("expected-failures.yml", scenarios))
        print("The suite's own demo server behind the same door:")
        with serving(str(HERE / "conformance_server.py")) as url:
            demo = run_suite(url, directory, *chosen, *know("expected-failures-door.yml", scenarios))
    return memory or demo


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
