"""The tool `doctor_report`: what doctor finds, as far as an agent may know of it.

The state of every check is told; a finding that speaks of a line or a source that the agent may not read, or of a file in
one, is counted and not shown.

Rules: DOCTOR-12, DOCTOR-16, SCOPE-07; interface.md, `doctor_report`; failure case O-55.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.checks.examining import choose_checks, examine
from omnislash.checks.findings import ANYTHING
from omnislash.core.corpora import MANAGED_ROOT, Located, Zone, is_shadowed
from omnislash.core.lines import DEFAULT_LINE
from omnislash.core.migration import is_older_than_lines
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnislash.checks.findings import CheckResult, Finding, Report, Status
    from omnislash.core.lines import AuthoredPath
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
        on_progress=ports.on_progress,
    )
    audience = _Audience(turn, found, ports.config().sources)
    shown = tuple(tuple(filter(audience.may_know, check.findings)) for check in found.checks)
    return ReportView(found, shown)


class _Audience:
    """What one agent may be told: of its readable lines and sources, and of configuration."""

    def __init__(self, turn: Turn, found: Report, sources: Iterable[AuthoredPath]) -> None:
        self._scope = turn.scope
        self._sources = {*found.sources, *sources}
        closed = [line for line in found.lines if not self._may_read(f"{MANAGED_ROOT}/{line}")]
        closed_sources = [source for source in self._sources if not self._may_read(source)]
        self._may_read_all = not (closed or closed_sources)
        self._names = _find_names(closed, closed_sources)

    def may_know(self, finding: Finding) -> bool:
        """Tell whether every place that a finding speaks of may be read.

        A check says which these are; the names of lines and sources are looked for in the texts besides.
        """
        texts = (finding.message, finding.hint or "", finding.key or "")
        if self._names is not None and any(map(self._names.search, texts)):
            return False
        return all(self._may_read_all if path == ANYTHING else self._may_read(path) for path in finding.about)

    def _may_read(self, path: str) -> bool:
        line = path.removeprefix(f"{MANAGED_ROOT}/")
        if line != path:
            return self._may_read_managed(line)
        return not is_shadowed(path, sources=self._sources) or self._scope.may_read(Located(Zone.AUTHORED, path))

    def _may_read_managed(self, path: str) -> bool:
        """Tell it of a path below `memory/`; what is older than lines belongs into the first line, and hidden files to nobody."""
        top, slash, _ = path.partition("/")
        if top.startswith("."):
            return True
        if is_older_than_lines(top, is_directory=bool(slash)) or is_older_than_lines(top, is_directory=True):
            path = f"{DEFAULT_LINE}/{path}"
        return self._scope.may_read(Located(Zone.MANAGED, path))


def _find_names(lines: Sequence[str], sources: Sequence[str]) -> re.Pattern[str] | None:
    """Return what finds the name of a line or a source in a text: as a path, or in quotes."""
    paths = [*(f"{MANAGED_ROOT}/{line}" for line in lines), *sources]
    if not paths:
        return None
    names = "|".join(map(re.escape, [*lines, *sources]))
    whole = "|".join(map(re.escape, paths))
    return re.compile(rf"(?<![\w./-])(?:{whole})(?![\w-])|(?P<quote>['\"`])(?:{names})(?P=quote)")
