"""The direction of dependence holds, and the contracts that say so would notice when it did not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(root: Path) -> tuple[bool, str]:
    """Return whether all contracts of a tree are kept, and what was said."""
    done = subprocess.run([sys.executable, "-c", _LINT], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_contracts_are_kept() -> None:
    """Every room imports only what lies under it."""
    kept, said = lint(ROOT)

    assert kept, said


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        pytest.param("core/budgets.py", "import sqlite3", id="the core touches a database"),
        pytest.param("core/lines.py", "import os", id="the core touches the disk"),
        pytest.param("core/daily.py", "import time", id="the core reads a clock"),
        pytest.param("core/sections.py", "from omnislash.store import hashing", id="core imports store"),
        pytest.param("store/files.py", "from omnislash.brain import names", id="store imports brain"),
        pytest.param("brain/roles.py", "from omnislash.writer import jobs", id="brain imports writer"),
        pytest.param("writer/planning.py", "from omnislash.runtime import turns", id="writer imports runtime"),
        pytest.param("writer/jobs.py", "import pydantic", id="the writer decodes for a model"),
        pytest.param("writer/jobs.py", "from omnislash.index import live", id="the writer imports the index"),
        pytest.param("index/live.py", "from omnislash.writer import jobs", id="the index imports the writer"),
        pytest.param("index/live.py", "from omnislash.recall import search", id="the index imports recall"),
        pytest.param("recall/search.py", "from omnislash.runtime import turns", id="recall imports runtime"),
        pytest.param("envelope/ladder.py", "from omnislash.recall import formatting", id="the envelope imports recall"),
        pytest.param("runtime/turns.py", "from omnislash import engine", id="runtime imports the engine"),
        pytest.param("checks/examining.py", "from omnislash.recall import search", id="checks import recall"),
        pytest.param("errors.py", "from omnislash.core import lines", id="errors imports core"),
    ],
)
def test_planted_violation_breaks_a_contract(tmp_path: Path, module: str, planted: str) -> None:
    """A copy of the tree with one wrong import breaks a contract, and the module is named."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("omnislash", "doctor"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    place = tmp_path / "omnislash" / module
    mark = "from __future__ import annotations\n"
    place.write_text(place.read_text().replace(mark, f"{mark}\n{planted}\n", 1))

    kept, said = lint(tmp_path)

    assert not kept
    name = "omnislash." + module.removesuffix(".py").replace("/", ".")
    assert name in "".join(said.split())
