"""What `omnislash` offers can be loaded, and importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import omnislash

ROOT = Path(__file__).resolve().parents[2]
#: What takes time to load, or reaches out; none of it is needed to import the package.
HEAVY = {
    "click", "croniter", "git", "pydantic", "pydantic_core", "rich", "watchfiles", "yaml", "sqlite3", "socket", "asyncio",
    "subprocess", "logging", "numpy", "onnxruntime", "tokenizers", "httpx", "pydantic_ai",
}  # fmt: skip


def modules_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", omnislash.__all__)
def test_public_name_loads(name: str) -> None:
    """Each name of `__all__` is there, and is where it says."""
    value = getattr(omnislash, name)

    assert value is not None
    if name != "__version__":
        assert value.__name__ == name
        assert value.__doc__


def test_public_names_are_sorted_and_complete() -> None:
    """Every error a caller may catch is public, and no name is listed twice."""
    from omnislash import errors

    public = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.OmnislashError)
    }

    assert public <= set(omnislash.__all__)
    assert len(set(omnislash.__all__)) == len(omnislash.__all__)


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that is not there raises what Python raises."""
    with pytest.raises(AttributeError, match="Brian"):
        _ = omnislash.Brian


def test_import_loads_nothing_heavy() -> None:
    """Importing the package loads no module of it, and none that takes time."""
    before, after = modules_after("pass"), modules_after("import omnislash")

    assert {name for name in after - before if name.startswith("omnislash.")} == set()
    assert (after - before) & HEAVY == set()


@pytest.mark.parametrize("module", ["omnislash.core.verdicts", "omnislash.errors"])
def test_light_names_stay_light(module: str) -> None:
    """The errors and the verdict load without any dependency."""
    assert modules_after(f"import {module}") & (HEAVY - {"logging", "subprocess"}) == set()
