"""Every other fault of a configuration file, and files that look like one and are not read.

Rules: DOCTOR-16, KNOB-25, KNOB-O5, TOOL-16; failure case O-62.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.config import PROJECT_FILE
from omnislash.brain.constitution import CONSTITUTION
from omnislash.brain.gathering import FEATURES
from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX
from omnislash.brain.hooks import HOOK_SUFFIX
from omnislash.brain.nearest import is_slip
from omnislash.brain.roles import ROLE_SUFFIX
from omnislash.brain.scenarios import SCENARIO_SUFFIX
from omnislash.checks.examined import Area, Kind, Listed
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity, fail, warn
from omnislash.core.corpora import MANAGED_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.checks.examined import Examined

#: The words between an id and `.md`.
_WORDS: Final = tuple(each[1:-3] for each in (ROLE_SUFFIX, HEARTBEAT_SUFFIX, HOOK_SUFFIX, SCENARIO_SUFFIX))
_PLACES: Final = (CONSTITUTION, FEATURES, MANAGED_ROOT)
#: Other endings that people give a markdown file.
_MARKDOWN: Final = (".markdown", ".mdown", ".md.txt", ".mdx")
_FILES: Final = ("MANIFEST.yaml", "access.yaml", "engine-capabilities.json")


class Configuration(Check):
    """Files that do not load, and files that are not read."""

    id: ClassVar[str] = "configuration"
    title: ClassVar[str] = "Configuration"
    protects: ClassVar[str] = "Every role, heartbeat, hook and setting that you wrote is in force."
    group: ClassVar[Group] = Group.CONFIGURATION

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return faults as failures, warnings, and files whose name keeps them from being read."""
        found = findings_of(brain.config, self.id)
        unread = [finding for entry in brain.listing if (finding := _judge(entry)) is not None]
        return [
            *_find_no_brain(brain),
            *shorten([each for each in found if each.severity is Severity.FAIL], "faults"),
            *shorten([each for each in found if each.severity is Severity.WARN], "warnings"),
            *shorten(unread, "files that are not read"),
        ]


def _find_no_brain(brain: Examined) -> list[Finding]:
    """Return the finding about a directory that is no brain, or that no command finds from below."""
    if PROJECT_FILE in brain.by_path:
        return []
    if any(name in brain.by_path for name in _PLACES):
        message = f"There is no {PROJECT_FILE}, so commands find this brain only when it is named with --brain."
        return [warn(message, path=PROJECT_FILE, hint=f"Make a file {PROJECT_FILE} there; it may be empty.")]
    message = f"This directory is no brain: it holds no {PROJECT_FILE}."
    return [fail(message, path=PROJECT_FILE, hint="Run `omnislash init` there, or name the right directory.")]


def _judge(entry: Listed) -> Finding | None:
    """Return the warning about an entry that is almost one that is read."""
    if entry.area is Area.TOP and not entry.name.startswith("."):
        return _judge_top(entry)
    if entry.area is Area.FEATURES and entry.kind is Kind.FILE and not entry.name.startswith("."):
        above, _, name = entry.shown.rpartition("/")
        meant = _find_meant(name)
        return _tell(entry, f"{above}/{meant}") if meant else None
    return None


def _judge_top(entry: Listed) -> Finding | None:
    """Return the warning about an entry at the top of the brain."""
    name = entry.name
    if entry.kind is Kind.DIRECTORY:
        meant = next((place for place in _PLACES if name != place and name.casefold() == place), None)
        return _tell(entry, meant) if meant else None
    stem, _, ending = name.casefold().rpartition(".")
    if name != PROJECT_FILE and stem == "omnislash" and ending in {"yaml", "yml"}:
        return _tell(entry, PROJECT_FILE)
    if name in _FILES:
        return _tell(entry, f"{CONSTITUTION}/{name}")
    if name.endswith((ROLE_SUFFIX, HEARTBEAT_SUFFIX, HOOK_SUFFIX)):
        return _tell(entry, f"{FEATURES}/{name}")
    return None


def _find_meant(name: str) -> str | None:
    """Return the name that a file below `features/` was probably meant to have; None for a right or another one."""
    ending = next((each for each in (*_MARKDOWN, ".md") if name.casefold().endswith(each)), None)
    if ending is None:
        return None
    stem, dot, word = name[: -len(ending)].rpartition(".")
    meant = next((each for each in _WORDS if is_slip(word, each)), None)
    if not (stem and dot and meant) or word.casefold()[:1] != meant[0]:
        return None
    right = f"{stem}.{meant}.md"
    return right if right != name else None


def _tell(entry: Listed, meant: str) -> Finding:
    return warn(f"{entry.shown} is not read.", path=entry.shown, hint=f"Rename it to {meant}, if that is meant.")
