"""The manifest, and files of the constitution that nothing reads because their name is not quite right.

Rules: DOCTOR-15, DOCTOR-16, KNOB-25, DECLARE-11.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.config import PROJECT_FILE
from omnislash.brain.constitution import CONSTITUTION
from omnislash.brain.gathering import SYSTEM_DIRECTORIES
from omnislash.brain.nearest import find_nearest, is_slip
from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, info, warn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from omnislash.checks.examined import Examined

#: A file of this name in a directory of the engine's roles is a role of its own.
_ROLE: Final = re.compile(r"role-.+\.md")
_ENDINGS: Final = frozenset({".md", ".yaml", ".yml", ".json", ".txt", ".markdown"})
_DOES_NOTHING: Final = "replaces no shipped file, so what it says is not in force."


class ConstitutionStructure(Check):
    """A manifest that loads, and copies at the right place under the right name."""

    id: ClassVar[str] = "constitution-structure"
    title: ClassVar[str] = "Constitution structure"
    protects: ClassVar[str] = "What you wrote into the constitution is in force, and not in a file that nothing reads."
    group: ClassVar[Group] = Group.CONFIGURATION

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return the faults of the manifest, misnamed files, and which shipped files the brain replaces."""
        shipped = _list_shipped(brain.shipped)
        own = [entry for entry in brain.listing if entry.area is Area.CONSTITUTION and entry.kind is not Kind.DIRECTORY]
        copies = [entry.path for entry in own if entry.path in shipped]
        others = [entry for entry in own if entry.path not in shipped and not entry.name.startswith(".")]
        doubtful = [found for entry in others if (found := _judge(entry.path, entry.shown, shipped)) is not None]
        replaced = [info(f"This copy replaces the shipped file: {path}.", path=path) for path in copies]
        return [
            *shorten(findings_of(brain.config, self.id), "faults of the manifest"),
            *shorten(doubtful, "files that nothing reads"),
            *shorten(replaced, "copies of shipped files"),
        ]


def _list_shipped(shipped: Path) -> frozenset[str]:
    """Return the shipped files, each by the path that a copy has in the brain."""
    files = (each for each in shipped.rglob("*") if each.is_file())
    return frozenset(f"{CONSTITUTION}/{file.relative_to(shipped).as_posix()}" for file in files)


def _judge(path: str, shown: str, shipped: frozenset[str]) -> Finding | None:
    """Return the warning about a file that was probably meant to be another one; None for one of the owner's own."""
    place = PurePosixPath(path)
    if place.suffix.casefold() not in _ENDINGS:
        return None
    if place.name.casefold() == PROJECT_FILE:
        return warn(
            f"{shown} is not read: the project config lies at the root of the brain.",
            path=shown,
            hint=f"Move it to {PROJECT_FILE}.",
        )
    meant = _find_meant(place, shipped)
    if meant is None:
        return None
    is_role = _is_system_role(place)
    does = f"gives the brain a new role, and {_DOES_NOTHING}" if is_role else f"is not read: it {_DOES_NOTHING}"
    return warn(f"{shown} {does}", path=shown, hint=f"Rename it to {meant}, if that one is meant.")


def _is_system_role(place: PurePosixPath) -> bool:
    directories = {f"{CONSTITUTION}/{directory}" for directory in SYSTEM_DIRECTORIES}
    return str(place.parent) in directories and _ROLE.fullmatch(place.name) is not None


def _find_meant(place: PurePosixPath, shipped: frozenset[str]) -> str | None:
    """Return the shipped file whose name is the same elsewhere, or almost the same at the same place."""
    same = [path for path in shipped if PurePosixPath(path).name.casefold() == place.name.casefold()]
    if same:
        return min(same)
    beside = {PurePosixPath(path).stem: path for path in shipped if PurePosixPath(path).parent == place.parent}
    near = find_nearest(place.stem, beside)
    return beside[near] if near is not None and is_slip(place.stem, near) else None
