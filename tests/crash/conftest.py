"""Let the crash tests find their harness, however pytest was started, and give them a fast disk."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = str(Path(__file__).parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)


@pytest.fixture
def place() -> Iterator[Path]:
    """Give a directory whose syncs cost nothing, where there is one: a sweep makes thousands of them."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="omnislash-") as directory:
        yield Path(directory)
