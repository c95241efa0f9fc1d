"""What a check is and what it finds. Every file in `doctor/` holds one subclass of :class:`Check`.

Rules: DOCTOR-O5; interface.md, "Command line" (`doctor`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.checks.examined import Examined, Listed, SeenFile
    from omnislash.core.lines import AuthoredPath
    from omnislash.errors import Fault


#: What a finding is about whose text comes from elsewhere and may name any file.
ANYTHING: Final = "*"


class Severity(StrEnum):
    """How much a finding matters."""

    #: Worth knowing; the check passes all the same.
    INFO = "info"
    #: The brain runs, and something in it is not as its owner will want it.
    WARN = "warn"
    #: Something does not work, or memory is in danger.
    FAIL = "fail"


class Status(StrEnum):
    """How a check, or the whole brain, stands."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    FAIL = "fail"


class Group(IntEnum):
    """What a check looks at; the order in which checks are shown."""

    CONFIGURATION = 1
    MEMORY = 2
    FILES = 3
    MACHINE = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found."""

    severity: Severity
    #: What is so, as a sentence that also names the file where there is one.
    message: str
    #: Path relative to the brain, with forward slashes.
    path: str | None = None
    #: Line in that file, counted from 1.
    line: int | None = None
    #: Dotted key, for example `memory.recallResults`.
    key: str | None = None
    #: What the person should do next.
    hint: str | None = None
    #: Every other path that the texts speak of, as it is on disk; `memory/<line>` for a line, :data:`ANYTHING` where
    #: nobody knows what they name. It decides who may be told, and is not shown.
    about: tuple[str, ...] = field(default=(), compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return `{severity, message, path?, line?, key?, hint?}`."""
        fields = {"path": self.path, "line": self.line, "key": self.key, "hint": self.hint}
        return {
            "severity": self.severity.value,
            "message": self.message,
            **{name: value for name, value in fields.items() if value is not None},
        }


def info(
    message: str,
    *,
    path: str | None = None,
    line: int | None = None,
    hint: str | None = None,
    about: Iterable[str] = (),
) -> Finding:
    """Return a finding that leaves the check passing."""
    return Finding(Severity.INFO, message, path, line, None, hint, tuple(about))


def warn(
    message: str,
    *,
    path: str | None = None,
    line: int | None = None,
    hint: str | None = None,
    about: Iterable[str] = (),
) -> Finding:
    """Return a warning."""
    return Finding(Severity.WARN, message, path, line, None, hint, tuple(about))


def fail(
    message: str,
    *,
    path: str | None = None,
    line: int | None = None,
    hint: str | None = None,
    about: Iterable[str] = (),
) -> Finding:
    """Return a failure."""
    return Finding(Severity.FAIL, message, path, line, None, hint, tuple(about))


def from_fault(fault: Fault, severity: Severity) -> Finding:
    """Return what loading a brain's files found, as a finding."""
    return Finding(severity, fault.message, fault.path, fault.line, fault.key, fault.hint)


class Check:
    """One check: sees every file once, then concludes.

    An instance lives for one examination; it may keep what it sees.
    """

    #: Stable name, as `--check` takes it: the name of its file with hyphens, for example `memory-budget`.
    id: ClassVar[str]
    #: Title in the table, for example `Memory budget`.
    title: ClassVar[str]
    #: What the check protects its user from, as one sentence.
    protects: ClassVar[str]
    #: Where it stands in the table.
    group: ClassVar[Group]
    #: True when the check needs the files' bytes; without such a check no file is read.
    reads_files: ClassVar[bool] = False

    def wants(self, entry: Listed) -> bool:  # noqa: ARG002 - what a check may decide by
        """Tell whether the check wants to see a file; one that no check wants is not read."""
        return self.reads_files

    def see(self, file: SeenFile) -> None:
        """Take one file; called once for each file that it wants, in the order of paths, before `conclude`."""

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return everything that was found; nothing, or only `info`, is a pass."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check came to."""

    id: str
    title: str
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Status:
        """Return fail for any failure, else warn for any warning, else pass."""
        severities = {finding.severity for finding in self.findings}
        if Severity.FAIL in severities:
            return Status.FAIL
        return Status.WARN if Severity.WARN in severities else Status.PASS

    def to_json(self) -> dict[str, Any]:
        """Return `{id, title, status, findings}`."""
        findings = [finding.to_json() for finding in self.findings]
        return {"id": self.id, "title": self.title, "status": self.status.value, "findings": findings}


@dataclass(frozen=True, slots=True)
class Report:
    """What all checks came to."""

    checks: tuple[CheckResult, ...]
    #: The lines and the sources that there were; who is told of a finding depends on them.
    lines: tuple[str, ...] = ()
    sources: tuple[AuthoredPath, ...] = ()

    @property
    def status(self) -> Status:
        """Return the worst status of a check."""
        statuses = {check.status for check in self.checks}
        if Status.FAIL in statuses:
            return Status.FAIL
        return Status.WARN if Status.WARN in statuses else Status.PASS

    def to_json(self) -> dict[str, Any]:
        """Return `{status, checks}`."""
        return {"status": self.status.value, "checks": [check.to_json() for check in self.checks]}
