"""`omnislash approvals`: a person decides about deletions.

Rules: TOOL-04, TOOL-16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import print_json, print_line, print_verdict
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
    (print_json if settings.json else show_approvals)(answer)
    return 0


@approvals.command(example="omnislash approvals approve 3f2a90c1")
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def approve(settings: Settings, approval_id: str) -> int:
    """Grant a deletion, and wait until it is done.

    It is done only while the file is still the one that the question was about.
    """
    with settings.open_brain() as brain:
        verdict = brain.approve(approval_id).to_json()
    return print_verdict(verdict, as_json=settings.json, quiet=settings.quiet)


@approvals.command(example="omnislash approvals refuse 3f2a90c1")
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def refuse(settings: Settings, approval_id: str) -> int:
    """Turn a deletion down; nothing is deleted."""
    with settings.open_brain() as brain:
        approval = brain.refuse(approval_id)
    if settings.json:
        print_json(approval.to_json())
    elif not settings.quiet:
        print_line(f"Refused: {approval.what} stays.")
    return 0
