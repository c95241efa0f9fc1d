"""What holds for every test: no time limit on a generated example, and nobody's environment."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("house", parent=settings(), deadline=None)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what a person may have set for their own brain."""
    for name in [name for name in os.environ if name.startswith("OMNISLASH_")]:
        monkeypatch.delenv(name)
