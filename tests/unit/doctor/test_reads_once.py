"""Doctor opens every file once and lists every directory once, however many checks there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from omnislash.checks.loading import load_checks

#: Examines a brain and prints what was opened and what was listed, by path.
_WATCH = """
import datetime, json, os, pathlib, sys
from omnislash.checks.examining import examine
from omnislash.checks.loading import load_checks
from omnislash.shipped import constitution_directory

root, seen = os.path.realpath(sys.argv[1]), []
load_checks()

def note(event, args):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], (str, bytes, os.PathLike)):
        path = os.path.join(os.getcwd(), os.fsdecode(args[0]))
        if path.startswith(root + "/"):
            seen.append((event, os.path.normpath(path)[len(root) + 1:]))
    # What is opened by its number is the input of git.
    if event == "open" and (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and not isinstance(args[0], int):
        seen.append(("write", os.fsdecode(args[0])))

sys.addaudithook(note)
examine(pathlib.Path(root), shipped=constitution_directory(), now=datetime.datetime(2026, 12, 1, 9, tzinfo=datetime.UTC))
print(json.dumps(seen))
"""
FILES = {
    "omnislash.yaml": "memory:\n  embeddingModel: none\n  sources: [handbook, plan.md]\n",
    "constitution/MANIFEST.yaml": "locale:\n  timezone: Europe/Berlin\n",
    "features/nova.agent.md": "---\nmemory: { recall: [handbook] }\n---\nA role.\n",
    "features/morning.heartbeat.md": "---\nagent: nova\nschedule: '0 7 * * *'\n---\nSay good morning.\n",
    "handbook/a.md": "x\n",
    "handbook/deep/b.md": "x\n",
    "plan.md": "Plan\n",
    "memory/main/MEMORY.md": "- We ship on Fridays.\n",
    "memory/main/2026/11/2026-11-30.md": "# Memory (2026-11-30)\n\n- 09:00 We tested.\n",
    "memory/main/topics/c.md": "x\n",
    "memory/main/conflicts/MEMORY-20261130T090000Z-1f2e.md": "- We ship on Mondays.\n",
    "memory/ops/MEMORY.md": "<<<<<<< HEAD\n",
}
#: Where memory is, as against what configures the brain: that is read by its loader besides.
MEMORY = ("memory", "handbook", "plan.md")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Return what a whole examination opened and listed, in a process of its own, in a brain with everything."""
    root = tmp_path_factory.mktemp("brain")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    index = [sys.executable, "-m", "omnislash", "--brain", str(root), "index", "sync"]
    subprocess.run(index, check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", _WATCH, str(root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return [(event, path) for event, path in found]


def _is_memory(path: str) -> bool:
    return path.split("/", 1)[0] in MEMORY


def test_every_note_is_opened_once(seen: list[tuple[str, str]]) -> None:
    """Each note is opened once, whatever the number of checks that look at it."""
    opened = Counter(path for event, path in seen if event == "open" and _is_memory(path))
    assert opened == Counter({path: 1 for path in FILES if _is_memory(path)})
    assert len([check for check in load_checks() if check.reads_files]) > 1


def test_every_directory_is_listed_once(seen: list[tuple[str, str]]) -> None:
    """Each directory of memory is listed once; which lines there are, the loader asks besides."""
    listed = Counter(path for event, path in seen if event != "open" and _is_memory(path))
    directories = {
        "memory/main", "memory/main/2026", "memory/main/2026/11", "memory/main/topics", "memory/main/conflicts",
        "memory/ops", "handbook", "handbook/deep",
    }  # fmt: skip
    assert {path: listed[path] for path in listed if path != "memory"} == dict.fromkeys(directories, 1)
    assert listed["memory"] <= 2


def test_settings_are_read_for_loading_and_for_showing(seen: list[tuple[str, str]]) -> None:
    """A file that configures the brain is opened by the loader and by doctor, and by no check."""
    opened = Counter(path for event, path in seen if event == "open" and not _is_memory(path))
    settings = {path for path in FILES if not _is_memory(path)}
    assert {path: number for path, number in opened.items() if path in settings} == dict.fromkeys(settings, 2)


@pytest.mark.rule("DOCTOR-16")
def test_nothing_is_opened_for_writing(seen: list[tuple[str, str]]) -> None:
    """No file is made or changed; a lock is only asked."""
    written = [path for event, path in seen if event == "write" and path != os.devnull]
    assert [path for path in written if not path.endswith(".lock")] == []
