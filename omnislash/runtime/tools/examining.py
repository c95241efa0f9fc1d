"""The tool `doctor_report`: what doctor finds, as far as an agent may know of it.

The state of every check is told; a finding about a file of a line or a source that the agent may not read is counted,
and not shown.

Rules: DOCTOR-12, DOCTOR-16, SCOPE-07; interface.md, `doctor_report`; failure case O-55.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.checks.examining import choose_checks, examine
from omnislash.core.corpora import MANAGED_ROOT, Located, Zone, is_shadowed
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.checks.findings import CheckResult, Finding, Report, Status
    from omnislash.runtime.tools.arguments import DoctorArguments
    from omnislash.runtime.turns import Ports, Turn


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as one agent may see it."""

    report: Report
    #: The findings that are shown, by check, in the order of the report.
    shown: tuple[tuple[Finding, ...], ...]

    @property
    def status(self) -> Status:
        """Return how the brain stands, hidden findings included."""
        return self.report.status

    def to_json(self) -> dict[str, Any]:
        """Return `{status, checks: [{id, title, status, findings, hidden?}]}`."""
        pairs = zip(self.report.checks, self.shown, strict=True)
        return {"status": self.status.value, "checks": [_render(check, shown) for check, shown in pairs]}


def _render(check: CheckResult, shown: Sequence[Finding]) -> dict[str, Any]:
    hidden = len(check.findings) - len(shown)
    return {
        **check.to_json(),
        "findings": [finding.to_json() for finding in shown],
        **({"hidden": hidden} if hidden else {}),
    }


def report(turn: Turn, ports: Ports, arguments: DoctorArguments) -> ReportView:
    """Return what doctor finds.

    Raises:
        UsageError: There is no such check.
    """
    checks = choose_checks(() if arguments.check is None else (arguments.check,))
    found = examine(
        ports.root,
        shipped=constitution_directory(),
        now=ports.clock.now(),
        environment=ports.environment,
        checks=checks,
    )
    sources = ports.config().sources
    shown = tuple(
        tuple(each for each in check.findings if _may_know(turn, each.path, sources)) for check in found.checks
    )
    return ReportView(found, shown)


def _may_know(turn: Turn, path: str | None, sources: tuple[Any, ...]) -> bool:
    """Tell whether an agent may be told of a file: of its readable lines and sources, and of configuration."""
    if path is None:
        return True
    line = path.removeprefix(f"{MANAGED_ROOT}/")
    if line != path and "/" in line:
        return turn.scope.may_read(Located(Zone.MANAGED, line))
    return not is_shadowed(path, sources=sources) or turn.scope.may_read(Located(Zone.AUTHORED, path))
