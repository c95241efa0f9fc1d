"""Every role of a brain for a person: what it may do and see, each memory setting with the file that set it, what runs it.

Rules: DECLARE-01 to DECLARE-03, KNOB-01 to KNOB-16, KNOB-19, KNOB-24, KNOB-O5, KNOB-O6, TOOL-05, TOOL-06, TOOL-16,
BOUNDARY-13 to BOUNDARY-15.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from omnislash.brain.decoding import settings_of
from omnislash.brain.heartbeats import Heartbeat
from omnislash.brain.memory_block import MemoryBlock
from omnislash.core.budgets import effective_budget
from omnislash.core.declarations import Settings, merge_declarations
from omnislash.core.lines import DEFAULT_LINE
from omnislash.runtime.models.references import find_turn_reference, name_model
from omnislash.runtime.tools import catalog
from omnislash.runtime.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.core.declarations import Declaration
    from omnislash.core.scopes import Scope
    from omnislash.errors import ConfigError, Fault

#: Who set a value, from the most specific on.
_HEARTBEAT: Final = "heartbeat"
_ROLE: Final = "role"
_MANIFEST: Final = "manifest"
_DEFAULT: Final = "default"
_DEFAULTS: Final = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobView:
    """One memory setting in force."""

    key: str
    #: A number, a text or a list of names.
    value: object
    #: `heartbeat`, `role`, `manifest` or `default`.
    origin: str
    unit: str | None
    help: str

    def to_json(self) -> dict[str, Any]:
        """Return `{key, value, origin, unit, help}`."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"key": self.key, "value": value, "origin": self.origin, "unit": self.unit, "help": self.help}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A capability with the tools that it gives."""

    capability: str
    #: Those that the role is offered by it.
    tools: tuple[str, ...]
    #: True when a person approves each use.
    is_gated: bool

    def to_json(self) -> dict[str, Any]:
        """Return `{capability, tools, needsApproval}`."""
        return {"capability": self.capability, "tools": list(self.tools), "needsApproval": self.is_gated}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleView:
    """A role as a person wants to see it."""

    role: Role
    scope: Scope
    #: Model string that its turns run on, and the name by which it was found; None for one that names none.
    model: str
    model_ref: str | None
    grants: tuple[Grant, ...]
    #: Empty for a role without memory.
    knobs: tuple[KnobView, ...]
    #: `fileMaxChars` of its line; None when unbounded, or without memory.
    budget: int | None
    beats: tuple[Beat, ...]
    #: Chats and people that the access rules give to it: `{kind, name, bot?}`.
    chats: tuple[dict[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the fields in camelCase; lines and corpora as the lists name them."""
        role, scope = self.role, self.scope
        return {
            "id": role.id,
            "name": role.display_name,
            "description": role.description,
            "path": role.path,
            "shipped": role.is_shipped,
            "model": self.model,
            "modelRef": self.model_ref,
            "skills": list(role.skills),
            "capabilities": [grant.to_json() for grant in self.grants],
            "line": scope.line,
            "reads": [ref.name for ref in scope.readable],
            "recalls": [ref.name for ref in scope.recalled],
            "reports": list(scope.report),
            "memory": [knob.to_json() for knob in self.knobs],
            "fileMaxChars": self.budget,
            "memoryFlush": role.memory_flush,
            "memoryKeep": role.memory_keep,
            "heartbeats": [_describe_beat(beat) for beat in self.beats],
            "chats": list(self.chats),
        }


def _describe_beat(beat: Beat) -> dict[str, Any]:
    if isinstance(beat, Heartbeat):
        when: dict[str, Any] = {"kind": "heartbeat", "schedule": beat.schedule}
    else:
        when = {"kind": "hook", "on": list(getattr(beat, "events", ()))}
    return {"id": beat.id, **when, "enabled": beat.enabled, "description": beat.description, "path": beat.path}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleList:
    """The roles of a brain, by id, and what is wrong with its files."""

    roles: tuple[RoleView, ...]
    #: What did not load and was left out.
    faults: tuple[Fault, ...]
    #: What loads and should be looked at.
    warnings: tuple[Fault, ...] = ()
    #: Why the files as they are now were not taken, so that older ones are in force; empty when they are.
    rejected: tuple[Fault, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return `{roles, faults, warnings, rejected}`."""
        return {
            "roles": [each.to_json() for each in self.roles],
            "faults": list(map(describe_fault, self.faults)),
            "warnings": list(map(describe_fault, self.warnings)),
            "rejected": list(map(describe_fault, self.rejected)),
        }


def describe_fault(fault: Fault) -> dict[str, Any]:
    """Return `{path, line, key, message, hint}`."""
    return {
        "path": fault.path,
        "line": fault.line,
        "key": fault.key,
        "message": fault.message,
        "hint": fault.hint,
    }


def list_roles(config: BrainFiles, *, rejected: ConfigError | None = None) -> RoleList:
    """Return every role that loads, and the faults of those that do not.

    Args:
        config: The brain's files in force.
        rejected: Why newer ones were not taken.
    """
    return RoleList(
        roles=tuple(view_role(config, role_id) for role_id in sorted(config.roles)),
        faults=config.faults,
        warnings=config.warnings,
        rejected=rejected.faults if rejected else (),
    )


def view_role(config: BrainFiles, role_id: str, *, heartbeat: str | None = None) -> RoleView:
    """Return a role, as it runs in a chat or in a heartbeat or hook.

    Raises:
        UsageError: There is no such role, heartbeat or hook.
    """
    role = config.find_role(role_id)
    beat = None if heartbeat is None else config.find_beat(heartbeat)
    scope = config.resolve_scope(role.id, beat=heartbeat)
    reference = find_turn_reference(config, role)
    memory = config.manifest.memory
    return RoleView(
        role=role,
        scope=scope,
        model=name_model(reference, config),
        model_ref=role.model_ref or role.model,
        grants=tuple(_grants(config, role, scope)),
        knobs=tuple(_knobs(config, role, beat)),
        budget=effective_budget(memory.file_max_chars, memory.line_budgets, scope.line).limit if scope.line else None,
        beats=tuple(sorted(_beats_of(config, role.id), key=lambda each: each.id)),
        chats=tuple(_chats_of(config, role.id)),
    )


def _grants(config: BrainFiles, role: Role, scope: Scope) -> Iterator[Grant]:
    offered = catalog.offered_tools(Turn(scope=scope, capabilities=frozenset(role.capabilities)))
    for capability in dict.fromkeys(role.capabilities):
        tools = tuple(tool.name for tool in offered if tool.capability == capability)
        yield Grant(capability=capability, tools=tools, is_gated=config.capabilities.needs_approval(capability))


def _knobs(config: BrainFiles, role: Role, beat: Beat | None) -> Iterator[KnobView]:
    """Yield every setting of the block in force, each with the most specific tier that sets it (KNOB-24)."""
    manifest = config.manifest.memory.to_declaration()
    patch = beat.declaration if beat else None
    merged = merge_declarations(manifest, role.declaration, patch)
    if merged is None:
        return
    tiers = ((_HEARTBEAT, patch), (_ROLE, role.declaration), (_MANIFEST, manifest))
    for entry in settings_of(MemoryBlock).values():
        value = getattr(merged, entry.name)
        origin = next((name for name, tier in tiers if _sets(tier, entry.name)), _DEFAULT)
        shown = _default_of(entry.name) if value is None else value
        yield KnobView(key=entry.key, value=shown, origin=origin, unit=entry.unit, help=entry.help)


def _sets(tier: Declaration | None, name: str) -> bool:
    return tier is not None and getattr(tier, name) is not None


def _default_of(name: str) -> object:
    lists: dict[str, object] = {"write": DEFAULT_LINE, "report": (), "read": (), "recall": ()}
    return lists[name] if name in lists else getattr(_DEFAULTS, name)


def _beats_of(config: BrainFiles, role: str) -> Iterator[Beat]:
    beats: tuple[Beat, ...] = (*config.heartbeats.values(), *config.hooks.values())
    yield from (beat for beat in beats if beat.role == role)


def _chats_of(config: BrainFiles, role: str) -> Iterator[dict[str, str]]:
    for chat, bound in config.access.chats.items():
        if bound == role:
            yield {"kind": "chat", "name": chat}
    for bot in config.access.bots:
        if bot.role == role:
            yield {"kind": "bot", "name": bot.name}
        for contact, bound in bot.secretary.contacts.items():
            if bound == role:
                yield {"kind": "contact", "name": contact, "bot": bot.name}
