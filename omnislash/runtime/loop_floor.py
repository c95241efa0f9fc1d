"""What an improvement loop may never touch: every line of memory and every authored source.

A loop that changes roles, prompts and schedules asks here before it applies a change. Paths are judged where they
really lead: links are followed, `..` is resolved, and both ends of a rename count. Where a path cannot be judged it is
denied.

Rules: BOUNDARY-05, BOUNDARY-06, BOUNDARY-O3.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.core.corpora import MANAGED_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class DeniedPath:
    """A path that the loop may not change, and why."""

    #: As it was handed in.
    path: str
    #: `memory/`, or the source that it lies in.
    floor: str
    #: One sentence that an agent can act on.
    message: str


def find_denied(root: Path, sources: Iterable[str], paths: Iterable[str | Path]) -> tuple[DeniedPath, ...]:
    """Return those of the paths that lie in memory or in a source, or that lead there.

    Args:
        root: The brain.
        sources: The declared sources.
        paths: Every path that a change writes, makes, removes or renames, from and to; relative to the brain, or
            absolute.
    """
    floors = [(name, _fold(os.path.realpath(root / name)), _fold(root / name)) for name in (MANAGED_ROOT, *sources)]
    denied = []
    for path in paths:
        leads = {_fold(place) for place in _places(root / path)}
        floor = next(
            (name for name, *tops in floors if any(_meets(place, top) for place in leads for top in tops)), None
        )
        if floor is not None:
            denied.append(_deny(os.fspath(path), floor))
    return tuple(denied)


def _places(path: Path) -> Iterable[str]:
    """Yield where a path lies and where it leads, a link as its last part followed and not followed."""
    yield os.path.normpath(path)
    yield os.fspath(Path(os.path.realpath(path.parent)) / path.name)
    yield os.path.realpath(path)


def _fold(path: str | Path) -> str:
    """Return a path as a disk that ignores case and composition would see it: to deny too much is safe."""
    return unicodedata.normalize("NFC", os.fspath(path)).casefold()


def _meets(place: str, floor: str) -> bool:
    """Tell whether a path lies in a floor, is it, or holds it: who moves a directory moves what is in it."""
    return place == floor or place.startswith(floor + os.sep) or floor.startswith(place.rstrip(os.sep) + os.sep)


def _deny(path: str, floor: str) -> DeniedPath:
    what = "memory" if floor == MANAGED_ROOT else f"the authored source {floor!r}"
    message = f"The loop may not touch {path!r}: it belongs to {what}, which only its own writers change."
    return DeniedPath(path, f"{floor}/" if floor == MANAGED_ROOT else floor, message)
