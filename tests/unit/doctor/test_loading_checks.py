"""The checks are found by looking; one that can't be loaded keeps no other one from running."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from omnislash.checks import loading
from omnislash.checks.examining import examine
from omnislash.checks.findings import Status, fail
from omnislash.shipped import constitution_directory
from tests.unit.doctor.conftest import TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOOD = """
from omnislash.checks.findings import Check, Group, info

class Good(Check):
    id = "good"
    title = "Good"
    protects = "Nothing."
    group = Group.FILES

    def conclude(self, brain):
        yield info("Fine.")
"""
BROKEN = {
    "one_two": ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
    "three": ("def :\n", "SyntaxError: invalid syntax (three.py, line 1)"),
    "four": ("x = 1\n", "ImportError: omnislash._checks.four holds 0 checks; one file is one check."),
}


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory of checks that stands for the shipped one."""
    place = tmp_path / "checks"
    place.mkdir()
    (place / "__init__.py").write_text("")
    (place / "good.py").write_text(GOOD)
    kept = {name: module for name, module in sys.modules.items() if name.startswith("omnislash._checks")}
    for name in kept:
        del sys.modules[name]
    monkeypatch.setattr(loading, "checks_directory", lambda: place)
    yield place
    for name in [name for name in sys.modules if name.startswith("omnislash._checks")]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_check_that_can_not_be_loaded_is_one_failure(directory: Path, tmp_path: Path, name: str) -> None:
    """A missing package, a slip of the pen and a file without a check each fail as that check; the others run."""
    text, reason = BROKEN[name]
    (directory / f"{name}.py").write_text(text)
    (tmp_path / "brain").mkdir()

    report = examine(tmp_path / "brain", shipped=constitution_directory(), now=TODAY, environment={})

    found = {check.id: check for check in report.checks}
    assert set(found) == {"good", name.replace("_", "-")}
    assert found["good"].status is Status.PASS
    assert found[name.replace("_", "-")].findings == (
        fail(
            f"This check can't be loaded ({reason}), so nothing that it looks at was looked at.",
            hint="Install omnislash again; if that does not help, please report it.",
        ),
    )
