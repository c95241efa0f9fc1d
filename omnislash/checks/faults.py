"""What loading a brain's files found, sorted: each fault belongs to exactly one check, and is told once.

Also what several checks need for telling: the cut of a long list of findings of one kind.

Rules: DOCTOR-07, DOCTOR-15, DOCTOR-16, DOCTOR-O3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.brain.constitution import CONSTITUTION
from omnislash.brain.gathering import SYSTEM_DIRECTORIES
from omnislash.brain.heartbeats import HEARTBEAT_SUFFIX
from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.checks.findings import Finding, Severity, from_fault
from omnislash.errors import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.brain.files import BrainFiles
    from omnislash.errors import Fault

#: Findings of one kind that are told one by one; a person mends no longer list at a time.
SHOWN_MAX: Final = 20
_BY_TOPIC: Final = {
    Topic.REFERENCE: "memory-sources",
    Topic.REDUNDANT: "agent-memory",
    Topic.MODEL: "models",
    Topic.LINE: "memory-lines",
}
_STRUCTURE: Final = frozenset({MANIFEST_FILE, *(f"{CONSTITUTION}/{directory}" for directory in SYSTEM_DIRECTORIES)})


def owner_of(fault: Fault) -> str:
    """Return the id of the check that tells a fault or a warning."""
    if fault.topic in _BY_TOPIC:
        return _BY_TOPIC[fault.topic]
    if fault.path.removesuffix(" (as shipped)") in _STRUCTURE:
        return "constitution-structure"
    if fault.path.endswith(HEARTBEAT_SUFFIX) and fault.key == "schedule":
        return "schedules"
    return "configuration"


def findings_of(config: BrainFiles, check_id: str) -> list[Finding]:
    """Return what loading found that one check tells: faults as failures, then warnings as warnings."""
    return [
        from_fault(fault, severity)
        for faults, severity in ((config.faults, Severity.FAIL), (config.warnings, Severity.WARN))
        for fault in faults
        if owner_of(fault) == check_id
    ]


def shorten(findings: Sequence[Finding], what: str) -> list[Finding]:
    """Return the findings of one kind; of a long list the first ones, and one finding that counts the rest.

    Args:
        findings: All of one severity.
        what: What they are, in the plural, for `5 more roles without memory.`
    """
    if len(findings) <= SHOWN_MAX:
        return list(findings)
    rest = len(findings) - SHOWN_MAX
    return [*findings[:SHOWN_MAX], Finding(findings[0].severity, f"{rest} more {what}.")]
