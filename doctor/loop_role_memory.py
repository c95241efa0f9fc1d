"""Memory on the roles of the improvement loop, which are shipped without any.

A judge that remembers is no judge: what it read of a run before would weigh on the next one.

Rules: DOCTOR-13, DOCTOR-14, DECLARE-10, DECLARE-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.findings import Check, Finding, Group, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.brain.beats import Beat
    from omnislash.checks.examined import Examined

#: Each role with how bad its memory is, and why.
_ROLES: Final = {
    "system:evaluator": (Severity.FAIL, "Its judgements would depend on what it remembers of other runs."),
    "system:implementer": (Severity.WARN, "It should know the proposal that it carries out, and nothing else."),
    "system:proposer": (Severity.WARN, "It should propose from the evidence of the runs, and not from notes."),
}


class LoopRoleMemory(Check):
    """Proposer, implementer and evaluator have no memory."""

    id: ClassVar[str] = "loop-role-memory"
    title: ClassVar[str] = "Loop role memory"
    protects: ClassVar[str] = (
        "The roles that improve and judge your brain decide by evidence, not by what they remember."
    )
    group: ClassVar[Group] = Group.CONFIGURATION

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Yield a finding for each of these roles that has memory, by its own file or by a heartbeat or hook."""
        roles, beats = brain.config.roles, [*brain.config.heartbeats.values(), *brain.config.hooks.values()]
        for role_id, (severity, reason) in _ROLES.items():
            role = roles.get(role_id)
            if role is not None and role.declaration is not None:
                yield Finding(
                    severity,
                    f"{role.path} gives the role {role_id!r} memory. {reason}",
                    role.path,
                    role.key_lines.get("memory"),
                    "memory",
                    "Delete the `memory` block from the file.",
                )
            for beat in sorted(beats, key=lambda each: each.path):
                if beat.role == role_id and beat.declaration is not None:
                    yield _tell_beat(beat, severity, reason)


def _tell_beat(beat: Beat, severity: Severity, reason: str) -> Finding:
    return Finding(
        severity,
        f"{beat.path} gives the role {beat.role!r} memory. {reason}",
        beat.path,
        beat.key_lines.get("agent.memory"),
        "agent.memory",
        "Delete `memory` from its `agent:` block.",
    )
