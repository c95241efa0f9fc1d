"""Disk → every file of a brain, each decoded by itself.

Nothing here knows about a second file; what only shows when files are seen together is `checking`.
Links to directories are not followed below `features/`, so no link can lead the search in a circle or out of the
brain; the directory `features` itself may be a link.

Rules: LINE-10, LINE-O2, DECLARE-11, KNOB-O5, KNOB-O7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from omnislash.brain.access import ACCESS_FILE, Access, parse_access
from omnislash.brain.capabilities import CAPABILITIES_FILE, Capabilities, parse_capabilities
from omnislash.brain.config import PROJECT_FILE, ProjectConfig, parse_project
from omnislash.brain.constitution import CONSTITUTION, find_overlay
from omnislash.brain.decoding import Decoded
from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX, Heartbeat, parse_heartbeat
from omnislash.brain.hooks import HOOK_SUFFIX, Hook, parse_hook
from omnislash.brain.manifest import MANIFEST_FILE, Manifest, parse_manifest
from omnislash.brain.names import SYSTEM, parse_id
from omnislash.brain.reading import Entry, Reading, show_path
from omnislash.brain.roles import ROLE_SUFFIX, Role, parse_role
from omnislash.brain.scenarios import SCENARIO_SUFFIX, Scenario, parse_scenario
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import LineName, is_line_name
from omnislash.errors import Fault, InvalidNameError, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

T = TypeVar("T")

#: Directory of roles, heartbeats, hooks and scenarios.
FEATURES = "features"
#: Directories of the engine's role files, below `constitution/`.
SYSTEM_DIRECTORIES = ("Agents/system", "Agents/system/loop")
#: Deepest directory below `features/` that is searched.
DEPTH_MAX = 20

_SUFFIXES = (ROLE_SUFFIX, HEARTBEAT_SUFFIX, HOOK_SUFFIX, SCENARIO_SUFFIX)
_SYSTEM_ROLE = re.compile(r"role-(.+)\.md")
_YEAR = re.compile(r"[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One file that gives something a name."""

    #: The id that its file name gives.
    id: str
    #: Name of the file in faults.
    label: str
    #: What it says.
    decoded: Decoded[T]


@dataclass(slots=True)
class Gathered:
    """Every file of a brain, as it is."""

    project: Decoded[ProjectConfig]
    manifest: Decoded[Manifest]
    #: Name of the manifest in faults.
    manifest_label: str
    access: Decoded[Access]
    #: Name of the access rules in faults.
    access_label: str
    capabilities: Decoded[Capabilities]
    roles: list[Found[Role]] = field(default_factory=list)
    heartbeats: list[Found[Heartbeat]] = field(default_factory=list)
    hooks: list[Found[Hook]] = field(default_factory=list)
    scenarios: list[Scenario] = field(default_factory=list)
    #: Names of lines that have a directory.
    lines_on_disk: frozenset[LineName] = frozenset()
    #: Files and directories that could not be taken.
    faults: list[Fault] = field(default_factory=list)
    #: Everything loads with these.
    warnings: list[Fault] = field(default_factory=list)


def gather(root: Path, *, shipped: Path, reading: Reading) -> Gathered:
    """Return every file of a brain, decoded one by one.

    Args:
        root: The brain.
        shipped: The shipped constitution.
        reading: Reads and remembers.
    """
    take = partial(_take_overlay, root, shipped, reading)
    manifest_label, manifest = take(MANIFEST_FILE, parse_manifest, Manifest())
    access_label, access = take(ACCESS_FILE, parse_access, Access())
    _, capabilities = take(CAPABILITIES_FILE, parse_capabilities, Capabilities())
    project = reading.read(root / PROJECT_FILE, parse_project, label=PROJECT_FILE)
    found = Gathered(
        project=Decoded(ProjectConfig()) if project is None else project,
        manifest=manifest,
        manifest_label=manifest_label,
        access=access,
        access_label=access_label,
        capabilities=capabilities,
    )
    _gather_system_roles(root, shipped, reading, found)
    _gather_features(root, reading, found)
    _gather_lines(root, reading, found)
    return found


def _take_overlay(  # noqa: PLR0917  the first three are bound once
    root: Path, shipped: Path, reading: Reading, path: str, parse: Callable[..., Decoded[T]], default: T
) -> tuple[str, Decoded[T]]:
    """Return the label and the content of a file of the constitution."""
    overlay = find_overlay(root, path.removeprefix(f"{CONSTITUTION}/"), shipped=shipped)
    # The place of a copy is looked at even when there is none: it may come to be.
    own = reading.read(root / path, partial(parse, path=path), label=path)
    if own is not None or not overlay.is_shipped:
        return path, own or Decoded(default)
    found = reading.read(overlay.file, partial(parse, path=overlay.label), label=overlay.label)
    return overlay.label, found or Decoded(default)


def _gather_system_roles(root: Path, shipped: Path, reading: Reading, found: Gathered) -> None:
    for directory in SYSTEM_DIRECTORIES:
        names: dict[str, None] = {}
        for base in (shipped, root / CONSTITUTION):
            entries = reading.list(base / directory, _is_system_role)
            if entries is None:
                found.faults.append(replace(_unlisted(f"{CONSTITUTION}/{directory}"), fatal=True))
            names |= dict.fromkeys(entry.name for entry in entries or ())
        for name in sorted(names):
            _add_system_role(root, f"{directory}/{name}", shipped, reading, found)


def _is_system_role(entry: Entry) -> bool:
    return _SYSTEM_ROLE.fullmatch(entry.name) is not None


def _add_system_role(root: Path, relative: str, shipped: Path, reading: Reading, found: Gathered) -> None:
    overlay = find_overlay(root, relative, shipped=shipped)
    label = show_path(overlay.label)
    match = _SYSTEM_ROLE.fullmatch(relative.rpartition("/")[2])
    stem = match.group(1) if match else ""
    _add(
        found.roles,
        overlay.file,
        stem,
        label,
        lambda text, role_id: parse_role(text, role_id=SYSTEM + role_id, path=label, is_shipped=overlay.is_shipped),
        reading=reading,
        faults=found.faults,
        prefix=SYSTEM,
    )


def _add(  # noqa: PLR0913  one file with all that belongs to it
    target: list[Found[T]],
    file: Path,
    stem: str,
    label: str,
    parse: Callable[[str, str], Decoded[T]],
    *,
    reading: Reading,
    faults: list[Fault],
    prefix: str = "",
) -> None:
    """Read one file and add it, under the id that its name gives, or report that the name gives none."""
    try:
        name = parse_id(stem)
    except InvalidNameError as error:
        faults.append(Fault(label, error.message, hint=error.hint))
        return
    decoded = reading.read(file, lambda text: parse(text, name), label=label)
    if decoded is not None:
        target.append(Found(prefix + name, label, decoded))


def _gather_features(root: Path, reading: Reading, found: Gathered) -> None:
    for relative, entry in _walk(root, reading, found):
        label = show_path(relative)
        suffix = next((suffix for suffix in _SUFFIXES if entry.name.endswith(suffix)), "")
        if entry.is_directory:
            message = f"There is a directory with the name of a {suffix[1:-3]} file."
            found.faults.append(Fault(label, message, hint="Put a file there, or rename the directory."))
            continue
        _add_feature(root / relative, suffix, label, reading=reading, found=found)


def _add_feature(file: Path, suffix: str, label: str, *, reading: Reading, found: Gathered) -> None:
    stem = file.name.removesuffix(suffix)
    add = partial(_add, reading=reading, faults=found.faults)
    if suffix == ROLE_SUFFIX:
        add(found.roles, file, stem, label, lambda text, name: parse_role(text, role_id=name, path=label))
    elif suffix == HEARTBEAT_SUFFIX:
        add(found.heartbeats, file, stem, label, lambda text, name: parse_heartbeat(text, beat_id=name, path=label))
    elif suffix == HOOK_SUFFIX:
        add(found.hooks, file, stem, label, lambda text, name: parse_hook(text, beat_id=name, path=label))
    else:
        scenario = reading.read(file, lambda text: Decoded(parse_scenario(text, path=label)), label=label)
        found.scenarios.append(scenario.value if scenario and scenario.value else Scenario(label))


def _walk(root: Path, reading: Reading, found: Gathered) -> Iterator[tuple[str, Entry]]:
    """Yield every entry below `features/` that has one of our names, with its path relative to the brain."""
    waiting = [(FEATURES, 0)]
    while waiting:
        directory, depth = waiting.pop()
        entries = reading.list(root / directory, _is_feature)
        if entries is None:
            found.faults.append(_unlisted(show_path(directory)))
        for entry in entries or ():
            relative = f"{directory}/{entry.name}"
            if entry.name.endswith(_SUFFIXES):
                yield relative, entry
            elif entry.is_link or depth == DEPTH_MAX:
                message = "The directory is a link or lies too deep, and was not searched."
                found.warnings.append(Fault(show_path(relative), message, hint="Move its files to a real directory."))
            else:
                waiting.append((relative, depth + 1))


def _is_feature(entry: Entry) -> bool:
    return not entry.name.startswith(".") and (entry.is_directory or entry.name.endswith(_SUFFIXES))


def _gather_lines(root: Path, reading: Reading, found: Gathered) -> None:
    entries = reading.list(root / MANAGED_ROOT, _is_line_directory)
    if entries is None:
        found.faults.append(replace(_unlisted(MANAGED_ROOT), topic=Topic.LINE))
    names = [entry.name for entry in entries or ()]
    found.lines_on_disk = frozenset(LineName(name) for name in names if is_line_name(name))
    found.warnings += [_no_line(name) for name in names if name not in found.lines_on_disk]


def _unlisted(label: str) -> Fault:
    return Fault(label, "The directory can't be listed.", hint="Put a directory there that this user may read.")


def _is_line_directory(entry: Entry) -> bool:
    return entry.is_directory and not entry.name.startswith(".")


def _no_line(name: str) -> Fault:
    label = show_path(f"{MANAGED_ROOT}/{name}")
    if _YEAR.fullmatch(name):
        message = "The directory is from a brain older than lines."
        hint = "The worker moves it into memory/main when it starts."
        return Fault(label, message, hint=hint, topic=Topic.LINE)
    message = "The directory is no line, because its name can't be the name of one."
    hint = "Rename it: a-z, 0-9, '_' and '-', at most 64 characters."
    return Fault(label, message, hint=hint, topic=Topic.LINE)
