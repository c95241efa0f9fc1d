"""`omnislash doctor`: names what is wrong with a brain; changes nothing, and needs no brain that loads.

Rules: DOCTOR-16, DOCTOR-O5; interface.md, "Command line" (`doctor`).
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import print_json, print_line, print_table
from omnislash.surfaces.cli.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.checks.findings import Check, CheckResult, Finding, Report
    from omnislash.surfaces.cli.options import Settings

_COLOURS: Final = {"pass": "green", "warn": "yellow", "fail": "red"}
#: Width of a finding's text on a terminal and elsewhere, in columns.
_WIDTH: Final = 110


@click.command(
    cls=Command, example="omnislash doctor\nomnislash doctor --check memory-budget\nomnislash doctor --explain git"
)
@click.option("--check", "names", metavar="NAME", multiple=True, help="Only this check; may be given several times.")
@click.option("--explain", metavar="NAME", help="Show what a check looks at and what to do, instead of running it.")
@click.option("--list", "listing", is_flag=True, help="List the checks, instead of running them.")
@click.pass_obj
def doctor(settings: Settings, names: Sequence[str], explain: str | None, *, listing: bool) -> int:
    """Look for what is wrong with the brain.

    It changes nothing, and works on a brain that does not load. The exit code is 1 when a check fails; warnings leave
    it at 0.
    """
    from omnislash.checks import examining  # noqa: PLC0415 - the checks, which the help of other commands needs not

    if explain is not None:
        return _explain(settings, examining.choose_checks((explain,))[0])
    checks = examining.choose_checks(names)
    if listing:
        return _list(settings, checks)
    from omnislash.shipped import constitution_directory  # noqa: PLC0415 - as above

    with show_progress(settings) as progress:
        report = examining.examine(
            Path(settings.find_root()),
            shipped=constitution_directory(),
            now=settings.clock().now(),
            checks=checks,
            on_progress=progress,
        )
    if settings.json:
        print_json(report.to_json())
    else:
        _show(report, quiet=settings.quiet)
    return 1 if report.status.value == "fail" else 0


def _list(settings: Settings, checks: Sequence[type[Check]]) -> int:
    if settings.json:
        print_json({"checks": [{"id": check.id, "title": check.title, "protects": check.protects} for check in checks]})
    else:
        print_table(("check", "what it is for"), [(check.id, check.protects) for check in checks])
    return 0


def _explain(settings: Settings, check: type[Check]) -> int:
    from omnislash.surfaces.cli.help import show_page  # noqa: PLC0415 - as above

    return show_page(settings, f"checks/{check.id}")


def _show(report: Report, *, quiet: bool) -> None:
    for check in report.checks:
        if not quiet or check.status.value != "pass":
            _show_check(check, quiet=quiet)
    counts = {name: sum(check.status.value == name for check in report.checks) for name in _COLOURS}
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if not quiet or report.status.value != "pass":
        print_line(f"\n{told or 'no checks'}. Explain one with: omnislash doctor --explain NAME")


def _show_check(check: CheckResult, *, quiet: bool) -> None:
    state = check.status.value
    print_line(f"{state}  {check.title} ({check.id})", fg=_COLOURS[state], bold=state == "fail")
    for finding in check.findings:
        if not quiet or finding.severity.value != "info":
            _show_finding(finding)


def _show_finding(finding: Finding) -> None:
    path = finding.path if finding.path and finding.path not in finding.message else ""
    line = f"{':' if path else 'line '}{finding.line}" if finding.line else ""
    place = f"{path}{line}: " if path or line else ""
    key = f"{finding.key}: " if finding.key else ""
    mark = {"info": "·", "warn": "!", "fail": "✗"}[finding.severity.value]
    _print_wrapped(f"{mark} {place}{key}{finding.message}", first="      ", then="        ")
    if finding.hint:
        _print_wrapped(f"→ {finding.hint}", first="        ", then="          ")


def _print_wrapped(text: str, *, first: str, then: str) -> None:
    lines = textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        print_line(line)
