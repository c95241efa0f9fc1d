"""Which roles have memory, and what in a role's file says something else than it does.

Rules: DECLARE-01, DECLARE-09 to DECLARE-14, DOCTOR-01 to DOCTOR-05, DOCTOR-O1, DOCTOR-O2, FLUSH-07.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.names import MEMORY_CAPABILITIES
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Finding, Group, Severity, fail, info

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnislash.brain.beats import Beat
    from omnislash.brain.files import BrainFiles
    from omnislash.brain.roles import Role
    from omnislash.checks.examined import Examined

#: The role that reviews turns.
_CURATOR: Final = "system:memory"
_GIVE: Final = "Add `memory: {}` to its file to give it memory."


class RoleDeclarations(Check):
    """Roles without memory, leftovers, and flushes that never run."""

    id: ClassVar[str] = "role-declarations"
    title: ClassVar[str] = "Role declarations"
    protects: ClassVar[str] = (
        "You know which roles remember nothing, and no key in a role's file promises what never happens."
    )
    group: ClassVar[Group] = Group.CONFIGURATION

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Yield failures and warnings of each role, then the roles without memory."""
        config = brain.config
        roles = sorted(config.roles.values(), key=lambda role: role.path)
        own = [role for role in roles if not role.is_shipped]
        yield from _find_deaf_curator(own)
        yield from shorten([each for role in own for each in _find_leftover(role)], "leftovers of `promptFlags.memory`")
        yield from shorten([*_find_vain_flushes(own), *_find_vain_beats(config)], "flushes that never run")
        yield from shorten([each for role in own for each in _find_toolless(role)], "roles with memory and no tool")
        yield from shorten(list(_list_without_memory(own, config)), "roles without memory")
        yield from _list_shipped([role for role in roles if role.is_shipped])


def _find_deaf_curator(own: Sequence[Role]) -> Iterator[Finding]:
    """Yield the failure of a copy of the flush's curator that has no memory (DOCTOR-04)."""
    for role in own:
        if role.id == _CURATOR and role.declaration is None:
            yield fail(
                f"{role.path} is a copy without `memory: {{}}`, so every flush ends without keeping anything.",
                path=role.path,
                hint="Add `memory: {}` to the top of the file, or delete the copy to have the shipped one again.",
            )


def _find_leftover(role: Role) -> Iterator[Finding]:
    """Yield the warning about a `promptFlags.memory`, which has no meaning (DOCTOR-02)."""
    key = "promptFlags.memory"
    if key in role.key_lines:
        yield Finding(
            Severity.WARN,
            f"`{key}` of the role {role.id!r} has no meaning and is ignored.",
            role.path,
            role.key_lines[key],
            key,
            "Delete the key; whether a role has memory is decided by its `memory` block alone.",
        )


def _find_vain_flushes(own: Iterable[Role]) -> Iterator[Finding]:
    """Yield a warning for each `memoryFlush: true` on a role that has no memory (DOCTOR-03)."""
    for role in own:
        if role.memory_flush and role.declaration is None:
            yield Finding(
                Severity.WARN,
                f"The role {role.id!r} asks for a flush and has no `memory` block, so its turns are never reviewed.",
                role.path,
                role.key_lines.get("memoryFlush"),
                "memoryFlush",
                "Add `memory: {}` to the file, or delete `memoryFlush`.",
            )


def _find_vain_beats(config: BrainFiles) -> Iterator[Finding]:
    """Yield the same for each heartbeat and hook that asks for a flush where neither it nor its role has memory."""
    for beat in _beats(config):
        if beat.memory_flush and not _has_memory(beat, config):
            key = next((each for each in ("memoryFlush", "agent.memoryFlush") if each in beat.key_lines), "memoryFlush")
            yield Finding(
                Severity.WARN,
                f"{beat.path} asks for a flush, and neither it nor its role {beat.role!r} has memory, "
                "so its turns are never reviewed.",
                beat.path,
                beat.key_lines.get(key),
                key,
                f"Add `memory: {{}}` below `agent`, or delete `{key}`.",
            )


def _beats(config: BrainFiles) -> list[Beat]:
    return sorted([*config.heartbeats.values(), *config.hooks.values()], key=lambda beat: beat.path)


def _has_memory(beat: Beat, config: BrainFiles) -> bool:
    return beat.declaration is not None or config.roles[beat.role].declaration is not None


def _find_toolless(role: Role) -> Iterator[Finding]:
    """Yield the warning about memory that no tool reaches, so that it is a choice (DOCTOR-05)."""
    if role.declaration is None or any(each in MEMORY_CAPABILITIES for each in role.capabilities):
        return
    yield Finding(
        Severity.WARN,
        f"The role {role.id!r} has memory and no `memory:` capability: it is shown memory, and has no tool to use it.",
        role.path,
        role.key_lines.get("memory"),
        "memory",
        "Add `capabilities: [memory:read, memory:write]`, or leave it if that is what you want.",
    )


def _list_without_memory(own: Iterable[Role], config: BrainFiles) -> Iterator[Finding]:
    """Yield each role of the brain that runs without memory (DOCTOR-01), with the beats that give it some."""
    beats = _beats(config)
    for role in own:
        if role.declaration is None and role.id != _CURATOR:
            given = [repr(beat.id) for beat in beats if beat.role == role.id and beat.declaration is not None]
            but = f", except when {' or '.join(given)} runs it" if given else ""
            yield info(f"The role {role.id!r} runs without memory{but}.", path=role.path, hint=_GIVE)


def _list_shipped(shipped: Iterable[Role]) -> Iterator[Finding]:
    names = [role.id for role in shipped if role.declaration is None]
    if names:
        yield info(f"Of the shipped roles, these run without memory, as they are meant to: {', '.join(names)}.")
