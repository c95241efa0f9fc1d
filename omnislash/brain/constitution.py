"""The constitution: what is shipped, and what a brain puts in its place.

A file under `<brain>/constitution` replaces the shipped file of the same path, whole; nothing is merged.

Rules: DECLARE-11, FLUSH-06, PERIOD-17.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.brain.file_text import decode_text
from omnislash.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

#: Directory of a brain that holds its copies.
CONSTITUTION = "constitution"


@dataclass(frozen=True, slots=True)
class Overlay:
    """A file of the constitution: the brain's own one, else the shipped one."""

    #: Where it lies.
    file: Path
    #: Path relative to the brain, of the copy or where a copy would lie.
    path: str
    #: True when the brain has no copy.
    is_shipped: bool

    @property
    def label(self) -> str:
        """Return the name of the file in faults."""
        return f"{self.path} (as shipped)" if self.is_shipped else self.path


def find_overlay(root: Path, relative: str, *, shipped: Path) -> Overlay:
    """Return which file holds: anything at the place of a copy, even a broken one, hides the shipped file.

    Args:
        root: The brain.
        relative: Path below `constitution/`, with forward slashes.
        shipped: The shipped constitution.
    """
    own = root / CONSTITUTION / relative
    is_own = os.path.lexists(own)
    return Overlay(own if is_own else shipped / relative, f"{CONSTITUTION}/{relative}", not is_own)


def read_overlay(root: Path, relative: str, *, shipped: Path) -> str | None:
    """Return the text of a file of the constitution, the brain's copy first; None when there is none.

    Raises:
        ConfigError: When it is not UTF-8.
    """
    found = find_overlay(root, relative, shipped=shipped)
    if not found.file.is_file():
        return None
    text, faults = decode_text(found.file.read_bytes(), path=found.label)
    if faults:
        raise ConfigError(faults)
    return text
