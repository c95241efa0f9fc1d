"""What an improvement loop may never touch: every line of memory and every authored source.

A loop that changes roles, prompts and schedules asks here before it applies a change. Paths are judged where they
really lead: links are followed, `..` is resolved, and both ends of a rename count. Where a path cannot be judged it is
denied, and so is a file that has a second name. `omnislash.yaml` is on the floor too: it is what names the sources.

Rules: BOUNDARY-05, BOUNDARY-06, BOUNDARY-O3.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.brain.config import PROJECT_FILE
from omnislash.core.corpora import MANAGED_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class DeniedPath:
    """A path that the loop may not change, and why."""

    #: As it was handed in.
    path: str
    #: `memory/`, the source that it lies in, `omnislash.yaml`, or '' where that can't be told.
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
    names = (MANAGED_ROOT, *sources, PROJECT_FILE)
    floors = [(name, _fold(os.path.realpath(root / name)), _fold(root / name)) for name in names]
    found = ((os.fspath(path), _find_floor(root / path, floors)) for path in paths)
    return tuple(_deny(path, floor) for path, floor in found if floor is not None)


def _find_floor(path: Path, floors: Sequence[tuple[str, str, str]]) -> str | None:
    """Return the floor that a path touches, '' when that can't be told, None when it touches none."""
    try:
        leads = {_fold(place) for place in _places(path)}
        has_other_name = path.is_file() and path.stat().st_nlink > 1
    except (OSError, ValueError):
        return ""
    meets = (name for name, *tops in floors if any(_meets(place, top) for place in leads for top in tops))
    return next(meets, "" if has_other_name else None)


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
    if not floor:
        message = f"The loop may not touch {path!r}: where it leads can't be told, or the file has a second name."
        return DeniedPath(path, floor, message)
    what = {MANAGED_ROOT: "memory", PROJECT_FILE: "what names the sources"}.get(floor, f"the authored source {floor!r}")
    message = f"The loop may not touch {path!r}: it belongs to {what}, which only its own writers change."
    return DeniedPath(path, f"{floor}/" if floor == MANAGED_ROOT else floor, message)
