"""A brain as it was opened: every setting, every role, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.brain.names import normalise_id
from omnislash.brain.nearest import suggest
from omnislash.core.lines import quote_name
from omnislash.core.scopes import Scope, resolve_scope
from omnislash.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.brain.access import Access
    from omnislash.brain.beats import Beat
    from omnislash.brain.capabilities import Capabilities
    from omnislash.brain.config import ProjectConfig
    from omnislash.brain.heartbeats import Heartbeat
    from omnislash.brain.hooks import Hook
    from omnislash.brain.manifest import Manifest
    from omnislash.brain.roles import Role
    from omnislash.brain.scenarios import Scenario
    from omnislash.core.lines import AuthoredPath, LineName
    from omnislash.errors import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainFiles:
    """Everything that configures a brain, checked."""

    #: The brain.
    root: Path
    #: `omnislash.yaml`.
    project: ProjectConfig
    #: `constitution/MANIFEST.yaml`.
    manifest: Manifest
    #: Roles that may run, by id.
    roles: Mapping[str, Role]
    #: Heartbeats that may run, by id.
    heartbeats: Mapping[str, Heartbeat]
    #: Hooks that may run, by id.
    hooks: Mapping[str, Hook]
    #: Which chat runs which role; empty when the file has faults, so that nobody gets in by mistake.
    access: Access
    #: Overrides of capabilities; none when the file has faults, so that every gate is closed.
    capabilities: Capabilities
    #: Scenarios, noted for doctor.
    scenarios: tuple[Scenario, ...]
    #: What did not load and was left out; nothing in it is fatal.
    faults: tuple[Fault, ...]
    #: What loads and should be looked at, for the startup log and doctor.
    warnings: tuple[Fault, ...]
    #: Authored sources, those inside `memory/` dropped, each once.
    sources: tuple[AuthoredPath, ...]
    #: Lines that have a directory.
    lines_on_disk: frozenset[LineName]

    def find_role(self, role_id: str) -> Role:
        """Return a role.

        Raises:
            UsageError: When no such role loads; the message says whether its file has faults.
        """
        name = normalise_id(role_id)
        role = self.roles.get(name)
        if role is not None:
            return role
        raise self._explain_missing(role_id, self.roles, suffixes=(".agent.md",), what="role")

    def find_beat(self, beat_id: str) -> Beat:
        """Return a heartbeat or, when there is none of that id, a hook.

        Raises:
            UsageError: When neither loads.
        """
        name = normalise_id(beat_id)
        beat = self.heartbeats.get(name) or self.hooks.get(name)
        if beat is not None:
            return beat
        known = {**self.heartbeats, **self.hooks}
        raise self._explain_missing(beat_id, known, suffixes=(".heartbeat.md", ".hook.md"), what="heartbeat or hook")

    def _explain_missing(
        self, asked: str, known: Mapping[str, Role | Beat], *, suffixes: tuple[str, ...], what: str
    ) -> UsageError:
        """Return why nothing of that name can be used: its file does not load, or there is none."""
        name = normalise_id(asked)
        ends = tuple(f"/{name}{suffix}" for suffix in suffixes)
        fault = next((fault for fault in self.faults if fault.path.endswith(ends)), None)
        if fault is not None:
            message = f"The {what} {quote_name(asked)} does not load."
            hint = f"Its file has faults: {fault.render()}"
            return UsageError(message, path=fault.path, line=fault.line, key=fault.key, hint=hint)
        hint = suggest(name, known) or f"Known are: {', '.join(sorted(known)) or 'none'}."
        return UsageError(f"There is no {what} {quote_name(asked)}.", hint=hint)

    def resolve_scope(self, role_id: str, *, beat: str | None = None, handed: str | None = None) -> Scope:
        """Return what a turn may read and write.

        Args:
            role_id: Id of the role.
            beat: Id of the heartbeat or hook that runs it; None in a chat.
            handed: Line of the agent on whose behalf the turn works.

        Raises:
            UsageError: When there is no such role or beat.
        """
        role = self.find_role(role_id)
        running = self.find_beat(beat) if beat is not None else None
        return resolve_scope(
            role_id=role.id,
            role=role.declaration,
            beat=running.declaration if running else None,
            manifest=self.manifest.memory.to_declaration(),
            heartbeat=running.id if running else None,
            handed=handed,
            sources=self.sources,
        )
