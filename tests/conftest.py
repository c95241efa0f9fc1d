"""What holds for every test: no time limit on a generated example, and nobody's environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.example_brain import build_index

if TYPE_CHECKING:
    from pathlib import Path

# `make test` takes the same examples each time, so that what fails is what was changed; `make explore` looks for others.
settings.register_profile("explore", parent=settings.get_profile("default"), deadline=None, print_blob=True)
settings.register_profile("house", parent=settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what a person may have set for their own brain."""
    for name in [name for name in os.environ if name.startswith("OMNISLASH_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def example_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The search index of the example brain, made once for all test processes of a run."""
    base = tmp_path_factory.getbasetemp()
    return build_index(base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base)
