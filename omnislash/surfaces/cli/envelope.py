"""`omnislash envelope`: what a turn carries of memory, exactly as a harness would put it into the conversation.

What was printed is noted in the session's ledger, so that the next turn carries only what changed. What could not be
printed is not noted, and comes again.

Rules: ENVELOPE-02, ENVELOPE-04 to ENVELOPE-07, ENVELOPE-O7, BOUNDARY-08; interface.md, "Command line".
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from omnislash.surfaces.cli import asking
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.content import read_content
from omnislash.surfaces.cli.output import is_terminal, print_json, print_line, show_controls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.surfaces.cli.options import Settings


@click.command(
    cls=Command,
    example=(
        'omnislash envelope --role nova --session desk-1 --message "May I ring Tomek at eight?"\n'
        "omnislash envelope --role nova --session desk-1 --compacted\n"
        "omnislash envelope --role nova --message - --json < message.txt"
    ),
)
@click.option("--role", required=True, metavar="ID", help="The role whose turn it is.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
@click.option("--session", metavar="ID", help="The session that the turn belongs to; left out, a new one is opened.")
@click.option("--message", metavar="TEXT", help="What came in, for recall; `-` reads it from stdin.")
@click.option("--compacted", is_flag=True, help="The harness has shortened the conversation: send everything again.")
@click.pass_obj
def envelope(settings: Settings, /, role: str, heartbeat: str | None, **options: Any) -> int:
    """Show what a turn carries of memory: the blocks that its session lacks, and what the message recalls.

    Printed blocks are noted as sent, so the next turn of the session carries only what changed; with --replay nothing is
    noted, and every turn is the first.
    """
    message, compacted = options["message"], options["compacted"]
    arguments = {
        "session": options["session"],
        "message": None if message is None else read_content(message),
        "is_compacted": compacted or None,
    }
    with asking.envelope(settings, role=role, heartbeat=heartbeat, arguments=arguments) as answer:
        if settings.json:
            print_json(answer)
        else:
            _show(answer)
        sys.stdout.flush()
    if not settings.json and not settings.quiet:
        _comment(answer, is_new=options["session"] is None and not settings.replay)
    return 0


def _show(answer: Mapping[str, Any]) -> None:
    """Print the text as a turn carries it; on a terminal control characters are made visible."""
    text = "\n\n".join(each for each in [*(block["text"] for block in answer["blocks"]), _recalled(answer)] if each)
    if text:
        sys.stdout.write((show_controls(text) if is_terminal() else text) + "\n")


def _recalled(answer: Mapping[str, Any]) -> str:
    return str(answer.get("recall", {}).get("block", ""))


def _comment(answer: Mapping[str, Any], *, is_new: bool) -> None:
    """Say on stderr what the text on stdout can't."""
    if not answer["blocks"] and not _recalled(answer):
        print_line("Nothing to send: the session has every block already, and nothing is recalled.", err=True)
    if is_new:
        print_line(f"Session {answer['session']}: name it with --session in the next turn.", err=True)
