"""Examining a brain: one listing, one read of each file, every check; nothing is changed, and no boot is needed.

Rules: DOCTOR-16, DOCTOR-O5, SECRET-O2.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from omnislash.brain.loading import inspect_brain
from omnislash.checks.examined import Examined
from omnislash.checks.findings import ANYTHING, CheckResult, Report, fail
from omnislash.checks.listing import Listing, is_read, read_file
from omnislash.checks.loading import load_checks
from omnislash.core.credentials import mask_secrets
from omnislash.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from omnislash.checks.examined import Listed, SeenFile
    from omnislash.checks.findings import Check, Finding

_LOG = logging.getLogger(__name__)


def choose_checks(names: Sequence[str]) -> tuple[type[Check], ...]:
    """Return the named checks in the order of the table; all of them for none.

    Args:
        names: Ids (`memory-budget`) or titles (`Memory budget`), in any case.

    Raises:
        UsageError: There is no such check; the message lists them.
    """
    checks = load_checks()
    wanted = {_fold(name) for name in names}
    unknown = [name for name in names if _fold(name) not in {check.id for check in checks}]
    if unknown:
        known = ", ".join(check.id for check in checks)
        message = f"There is no check {unknown[0]!r}. Known are: {known}."
        raise UsageError(message)
    return tuple(check for check in checks if not wanted or check.id in wanted)


def _fold(name: str) -> str:
    return "-".join(name.strip().casefold().split())


def examine(
    root: Path,
    *,
    shipped: Path,
    now: datetime,
    environment: Mapping[str, str] | None = None,
    checks: Sequence[type[Check]] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Return what the checks find in a brain.

    Args:
        root: The brain.
        shipped: The shipped constitution.
        now: Aware instant.
        environment: Variables; those of this process by default.
        checks: The checks; all of them by default.
        on_progress: Told `files`, done, of all.

    Raises:
        UsageError: There is no such directory.
    """
    if not root.is_dir():
        message = f"{root} is no directory."
        raise UsageError(message, path=str(root))
    config = inspect_brain(root, shipped=shipped)
    listing = Listing(root, config.sources)
    brain = Examined(
        root=root,
        shipped=shipped,
        now=now,
        environment=os.environ if environment is None else environment,
        config=config,
        listing=listing.run(),
        unlistable=listing.unlistable,
    )
    running = [_Running(check) for check in (load_checks() if checks is None else checks)]
    _show_files(brain, [each for each in running if each.reads_files], on_progress)
    results = tuple(each.conclude(brain) for each in running)
    return Report(results, lines=tuple(sorted(config.lines_on_disk)), sources=config.sources)


def _show_files(
    brain: Examined, running: Sequence[_Running], on_progress: Callable[[str, int, int], None] | None
) -> None:
    """Read each file once and show it to the checks that want it."""
    entries = [entry for entry in brain.listing if is_read(entry)] if running else []
    for number, entry in enumerate(entries, 1):
        wanting = [each for each in running if each.wants(entry)]
        if wanting:
            file = read_file(brain.root, entry)
            for each in wanting:
                each.see(file)
        if on_progress is not None:
            on_progress("files", number, len(entries))


def _mask(finding: Finding) -> Finding:
    """Return a finding without credentials, whatever a check took over from a file, a name or a key (SECRET-O2)."""
    path, key, hint = (text and mask_secrets(text) for text in (finding.path, finding.key, finding.hint))
    # Who may be told is decided by the path as it is.
    about = finding.about if finding.path is None else (finding.path, *finding.about)
    return replace(finding, message=mask_secrets(finding.message), path=path, key=key, hint=hint, about=about)


class _Running:
    """One check at work; what it raises is a finding, and stops no other check."""

    def __init__(self, check: type[Check]) -> None:
        self._check = check()
        self._broken: Finding | None = None

    @property
    def reads_files(self) -> bool:
        return self._check.reads_files

    def wants(self, entry: Listed) -> bool:
        return self._broken is None and self._check.wants(entry)

    def see(self, file: SeenFile) -> None:
        if self._broken is None:
            try:
                self._check.see(file)
            except Exception as error:  # noqa: BLE001 - one check's mistake must hide nothing that others find
                self._break(error, file.entry.shown)

    def conclude(self, brain: Examined) -> CheckResult:
        findings: list[Finding] = []
        if self._broken is None:
            try:
                findings += self._check.conclude(brain)
            except Exception as error:  # noqa: BLE001 - as above
                self._break(error, None)
        if self._broken is not None:
            findings.append(self._broken)
        return CheckResult(self._check.id, self._check.title, tuple(map(_mask, findings)))

    def _break(self, error: Exception, path: str | None) -> None:
        _LOG.error("the check %s broke", self._check.id, exc_info=error, extra={"action": "check_broke"})
        self._broken = fail(
            f"This check broke off ({type(error).__name__}: {error}), so it says nothing about the rest.",
            path=path,
            hint="That is a mistake of omnislash; please report it.",
            about=(ANYTHING,),
        )
