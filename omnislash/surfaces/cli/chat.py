"""`omnislash chat`: turns of a role with a model, at a terminal, in a pipe, or one alone.

Rules: BOUNDARY-08, BOUNDARY-11, BOUNDARY-13 to BOUNDARY-16, TOOL-06, REPORT-08; interface.md, "Command line" (`chat`).
"""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import InvalidContentError, OmnislashError, UsageError
from omnislash.surfaces.cli.chat_conversation import Asked, Conversation, open_for_talk
from omnislash.surfaces.cli.chat_reading import read_piped
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.content import read_content
from omnislash.surfaces.cli.main import INTERRUPTED
from omnislash.surfaces.cli.output import (
    OutputError,
    is_terminal,
    naming,
    print_error,
    print_json,
    print_line,
    print_table,
)

if TYPE_CHECKING:
    from omnislash.surfaces.cli.chat_showing import Talk
    from omnislash.surfaces.cli.options import Settings

#: Sessions that a listing shows; `Brain.sessions` has them all.
_LISTED = 50


@click.command(
    cls=Command,
    example=(
        "omnislash chat --role nova\n"
        'omnislash chat --role nova "May I ring Tomek at eight?"\n'
        "omnislash chat --chat telegram:1001\n"
        "omnislash chat --bot desk --contact maria@example.org\n"
        "omnislash chat --role nova --json < messages.txt\n"
        "omnislash chat --list-sessions --role nova"
    ),
)
@click.option("--role", metavar="R", help="The role that is talked to.")
@click.option("--chat", "chat_id", metavar="ID", help="A chat of access.yaml; it goes on in its own session.")
@click.option("--bot", metavar="NAME", help="A bot of access.yaml, written to directly.")
@click.option("--contact", metavar="WHO", help="With --bot: the person who writes.")
@click.option("--session", metavar="S", help="Go on with this session, or begin it; without it a new one begins.")
@click.option("--model", metavar="REF", help="A model in place of the role's own.")
@click.option("--list-sessions", is_flag=True, help="Show the sessions that are kept, the last used first.")
@click.argument("message", required=False)
@click.pass_obj
def chat(settings: Settings, /, message: str | None, **options: Any) -> int:
    """Talk to a role: at a terminal turn by turn, in a pipe each line as a message, or one MESSAGE alone.

    MESSAGE `-` is the whole of stdin. With --json one MESSAGE is answered by one object, and a pipe by one object a
    line. Only the answer goes to stdout in a pipe. The exit code is 1 when a model gave no answer.
    """
    asked = Asked(**{name: value for name, value in options.items() if name != "list_sessions"})
    asked.check(is_listing=options["list_sessions"], message=message)
    if options["list_sessions"]:
        return _list_sessions(settings, asked)
    if message is not None:
        message = read_content(message).strip()
        if not message:
            raise UsageError("The message is empty; there is nothing to answer.")
    with open_for_talk(settings) as (brain, progress):
        conversation = Conversation(brain, settings, asked, progress)
        signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # ends a turn as Ctrl-C does, and its commands with it
        if message is not None:
            return _answer_one(conversation, message)
        if is_terminal(sys.stdin) and is_terminal() and not settings.json:
            from omnislash.surfaces.cli.chat_terminal import hold_talk  # noqa: PLC0415 - not needed in a pipe

            return hold_talk(conversation)
        return _answer_lines(conversation)


# -- one message, lines of a pipe ------------------------------------------------------------------------------------


def _answer_one(conversation: Conversation, message: str) -> int:
    return _answer(conversation, message, _begin(conversation))


def _begin(conversation: Conversation) -> Talk | None:
    """Say who answers, on stderr, and return what prints the turns; None when JSON is printed."""
    if conversation.settings.json:
        return None
    from omnislash.surfaces.cli.chat_showing import Talk  # noqa: PLC0415 - not needed for a refusal

    talk = Talk(live=is_terminal(), person=False, quiet=conversation.settings.quiet)
    for line in conversation.describe():
        talk.note(line)
    return talk


def _answer(conversation: Conversation, message: str, talk: Talk | None) -> int:
    """Run a turn, print it and return the exit code that it means.

    Raises:
        OmnislashError: The model gave no answer, or the answer could not be printed.
    """
    is_replay = conversation.settings.replay
    with naming("a replay keeps nothing" if is_replay else f"the turn is kept in the session {conversation.session}"):
        try:
            run = conversation.run(message, talk.on_event if talk else None)
        finally:
            if talk:
                talk.end_line()
        if talk:
            talk.end_turn(run, is_replay=is_replay)
        else:
            print_json(run.to_json())
    return INTERRUPTED if run.is_cancelled else 0


def _answer_lines(conversation: Conversation) -> int:
    """Answer each line of stdin; one that gets no answer does not hold up the others."""
    talk = _begin(conversation)
    code = 0
    for message in read_piped():
        try:
            if isinstance(message, InvalidContentError):
                raise message
            if _answer(conversation, message, talk) == INTERRUPTED:
                return INTERRUPTED
        except OutputError:
            raise
        except OmnislashError as error:
            print_error(error.to_json(), as_json=talk is None)
            code = 1
    return code


# -- sessions --------------------------------------------------------------------------------------------------------


def _list_sessions(settings: Settings, asked: Asked) -> int:
    with settings.open_brain() as brain:
        role = asked.find_role(brain)
        found = brain.sessions(role=role, limit=_LISTED)
    if settings.json:
        print_json(found.to_json())
        return 0
    rows = [(each.id, each.role, _minute(each.used_at), each.turns) for each in found.sessions]
    print_table(("session", "role", "last used (UTC)", "turns"), rows)
    if not rows and not settings.quiet:
        print_line("No session is kept" + (f" of the role {role!r}." if role else "."), err=True)
    if found.is_cut:
        print_line(f"There are older ones; these are the last {_LISTED}.", err=True)
    return 0


def _minute(instant: str) -> str:
    return datetime.fromisoformat(instant).astimezone(UTC).strftime("%Y-%m-%d %H:%M")
