"""`omnislash approvals`: a person decides about deletions.

Rules: TOOL-04, TOOL-16, BOUNDARY-08.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import naming, print_json, print_line, print_verdict
from omnislash.surfaces.cli.showing import show_approvals

if TYPE_CHECKING:
    from omnislash.surfaces.cli.options import Settings

approvals = Group(
    "approvals",
    help="Decide about deletions that wait for a person.",
    example="omnislash approvals list\nomnislash approvals approve 3f2a90c1",
)


@approvals.command("list", example="omnislash approvals list")
@click.option("--all", "every", is_flag=True, help="Those that were decided already, too.")
@click.pass_obj
def list_(settings: Settings, *, every: bool) -> int:
    """List what waits for a person, oldest first."""
    with settings.open_brain() as brain:
        found = brain.approvals(state=None if every else "open")
    answer = {"approvals": [approval.to_json() for approval in found]}
    (print_json if settings.json else partial(show_approvals, every=every))(answer)
    return 0


@approvals.command(example="omnislash approvals approve 3f2a90c1")
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def approve(settings: Settings, approval_id: str) -> int:
    """Grant a deletion, and wait until it is done.

    It is done only while the file is still the one that the question was about.
    """
    if settings.replay:
        return _answer_replay(settings)
    with settings.open_brain() as brain:
        verdict = brain.approve(approval_id).to_json()
    return print_verdict(verdict, as_json=settings.json, quiet=settings.quiet)


@approvals.command(example="omnislash approvals refuse 3f2a90c1")
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def refuse(settings: Settings, approval_id: str) -> int:
    """Turn a deletion down; nothing is deleted."""
    if settings.replay:
        return _answer_replay(settings)
    with settings.open_brain() as brain:
        approval = brain.refuse(approval_id)
    with naming("the deletion is refused"):
        if settings.json:
            print_json(approval.to_json())
        elif not settings.quiet:
            print_line(f"Refused: {approval.what} stays.")
    return 0


def _answer_replay(settings: Settings) -> int:
    """Print the fixed answer of a replay; the brain is not even opened (BOUNDARY-08)."""
    from omnislash.core.verdicts import read_only  # noqa: PLC0415 - only here

    settings.find_root()
    return print_verdict(read_only().to_json(), as_json=settings.json, quiet=settings.quiet)
