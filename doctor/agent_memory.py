"""Memory blocks that do less, or reach further, than their writer may think.

Rules: DOCTOR-08, DOCTOR-09, RESOLVE-07, KNOB-03, KNOB-O7, REPORT-14, SCOPE-16, SCOPE-O1, DECLARE-01.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity
from omnislash.checks.key_places import KeyPlaces
from omnislash.core.corpora import EVERY_LINE, MANAGED_ROOT, is_shadowed
from omnislash.core.declarations import merge_declarations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.checks.examined import Examined, Listed, SeenFile

_MOVE = "Move it to `agent: {memory: {report: …}}` of the heartbeat that deposits."


class AgentMemory(Check):
    """Inert blocks, deposits that are open in every turn, and names that were lost in a merge."""

    id: ClassVar[str] = "agent-memory"
    title: ClassVar[str] = "Agent memory"
    protects: ClassVar[str] = "Each memory block does what it says, and no agent writes into more lines than you meant."
    group: ClassVar[Group] = Group.MEMORY
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no manifest seen."""
        self._manifest = KeyPlaces(MANIFEST_FILE)

    def wants(self, entry: Listed) -> bool:
        """Tell whether keys of the file are told with their line."""
        return self._manifest.is_at(entry)

    def see(self, file: SeenFile) -> None:
        """Keep the manifest, for the lines of its keys."""
        self._manifest.see(file)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return warnings, then what is worth knowing."""
        config = brain.config
        roles = sorted((role for role in config.roles.values() if not role.is_shipped), key=lambda role: role.path)
        redundant = [replace(each, severity=Severity.INFO) for each in findings_of(config, self.id)]
        return [
            *shorten(_find_inert(config), "inert `memory` keys"),
            *self._find_open_manifest(config),
            *shorten(_find_open_roles(roles), "roles that may deposit in every turn"),
            *shorten([replace(each, hint="Delete it from `read`.") for each in redundant], "redundant names"),
            *shorten(list(_find_lost(roles, config)), "roles whose `read` hides sources of the manifest"),
            *shorten(list(_find_given(config)), "heartbeats and hooks that give a role memory"),
        ]

    def _find_open_manifest(self, config: BrainFiles) -> Iterator[Finding]:
        """Yield the warning about a `report` that holds for every role (DOCTOR-09)."""
        report = config.manifest.memory.report
        if report:
            yield Finding(
                Severity.WARN,
                f"The manifest opens {_quote(report)} for deposits by every agent in every turn, chats included.",
                MANIFEST_FILE,
                self._manifest.line_of("memory", "report"),
                "memory.report",
                _MOVE,
                _as_places(report),
            )


def _quote(names: Iterable[str]) -> str:
    return ", ".join(repr(str(name)) for name in names)


def _as_places(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{MANAGED_ROOT}/{line}" for line in lines)


def _find_inert(config: BrainFiles) -> list[Finding]:
    """Return a warning for each scenario with a `memory` key, which has no effect (DOCTOR-08)."""
    return [
        Finding(
            Severity.WARN,
            f"The `memory` key in the `agent:` block of {scenario.path} has no effect: a scenario has no memory to set.",
            scenario.path,
            scenario.memory_line,
            "agent.memory",
            "Delete the key; put what it says into the file of the role or of a heartbeat.",
        )
        for scenario in sorted(config.scenarios, key=lambda each: each.path)
        if scenario.has_memory
    ]


def _find_open_roles(roles: Iterable[Role]) -> list[Finding]:
    """Return a warning for each role that may deposit in every turn (DOCTOR-09)."""
    return [
        Finding(
            Severity.WARN,
            f"The role {role.id!r} may deposit into {_quote(role.declaration.report)} in every turn, chats included.",
            role.path,
            role.key_lines.get("memory.report"),
            "memory.report",
            _MOVE,
            _as_places(role.declaration.report),
        )
        for role in roles
        if role.declaration is not None and role.declaration.report
    ]


def _find_lost(roles: Iterable[Role], config: BrainFiles) -> Iterator[Finding]:
    """Yield each role whose `read: ['*']` replaces a list of the manifest that named sources (SCOPE-16)."""
    manifest = config.manifest.memory.to_declaration()
    sources = [name for name in manifest.read or () if is_shadowed(name, sources=config.sources)]
    for role in roles:
        merged = merge_declarations(manifest, role.declaration, None)
        if merged is None or role.declaration is None or EVERY_LINE not in (role.declaration.read or ()):
            continue
        named = (*(merged.read or ()), *(merged.recall or ()))
        lost = [name for name in sources if name not in named]
        if lost:
            yield Finding(
                Severity.INFO,
                f"The role {role.id!r} replaces the manifest's `read` list, so it can't read {_quote(lost)}: "
                "'*' means every line, and no source.",
                role.path,
                role.key_lines.get("memory.read"),
                "memory.read",
                f"Name them too: read: ['*', {', '.join(lost)}].",
                tuple(lost),
            )


def _find_given(config: BrainFiles) -> Iterator[Finding]:
    """Yield each heartbeat and hook that gives memory to a role that has none (DECLARE-01)."""
    beats: list[Beat] = [*config.heartbeats.values(), *config.hooks.values()]
    for beat in sorted(beats, key=lambda each: each.path):
        if beat.declaration is not None and config.roles[beat.role].declaration is None:
            yield Finding(
                Severity.INFO,
                f"{beat.path} gives memory to the role {beat.role!r}, which has none elsewhere.",
                beat.path,
                beat.key_lines.get("agent.memory"),
                "agent.memory",
                None,
            )
