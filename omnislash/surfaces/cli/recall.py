"""`omnislash recall`: what a turn with a message would be told from memory, unasked.

Rules: RECALL-02, RECALL-05, RECALL-08 to RECALL-14; interface.md, "Command line".
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from omnislash.surfaces.cli import asking, searching
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import is_terminal, print_json, print_line, show_controls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.surfaces.cli.options import Settings


@click.command(
    cls=Command,
    example=(
        'omnislash recall --role nova "May I ring Tomek at eight?"\n'
        'omnislash recall --role nova "May I ring Tomek at eight?" --explain --target main/MEMORY.md\n'
        "omnislash recall --role nova - < message.txt"
    ),
)
@click.option("--role", required=True, metavar="ID", help="The role whose turn it is.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
@click.argument("message")
@searching.explaining
@click.pass_obj
def recall(settings: Settings, /, role: str, heartbeat: str | None, message: str, **options: Any) -> int:
    """Show what a turn with this message is told from memory, unasked.

    Most messages need nothing from memory, and the block is then empty. MESSAGE `-` reads it from stdin.
    """
    explain, target = options["explain"], options["target"]
    searching.check_target(target, explain=explain)
    text = searching.read_question(message, name="message")
    arguments = {"message": text, "target": target, "explained": explain or None}
    answer = asking.recall(settings, role=role, heartbeat=heartbeat, arguments=arguments)
    if settings.json:
        print_json(answer)
    else:
        _show(answer, quiet=settings.quiet)
    return 0


def _show(answer: Mapping[str, Any], *, quiet: bool) -> None:
    """Print the block as a turn carries it; on a terminal control characters are made visible."""
    block = answer["block"]
    if block:
        sys.stdout.write((show_controls(block) if is_terminal() else block) + "\n")
        sys.stdout.flush()
    elif not quiet:
        print_line(_explain_silence(answer), err=True)
    for number, each in enumerate(answer.get("explain", ())):
        if number or block:
            print_line()
        searching.show_explanation(each)


def _explain_silence(answer: Mapping[str, Any]) -> str:
    if answer["hits"]:
        return "Silent: recallChars leaves no room for a note."
    return (
        "Silent: nothing that this role recalls passes its recallScore and recallGate, or its recall is switched off."
    )
