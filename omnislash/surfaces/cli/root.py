"""The program's table of commands, and the boundary where errors become sentences and exit codes.

Rules: WRITE-O1; interface.md, "Command line".
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace

import click

from omnislash.errors import ConfigError, OmnislashError, UsageError
from omnislash.surfaces.cli.commands import Entry, Group
from omnislash.surfaces.cli.options import Settings
from omnislash.surfaces.cli.output import print_error, tame_streams

_HERE = "omnislash.surfaces.cli"
#: Keeps the library that runs models from printing an advertisement into a talk.
_NO_BANNER = "PYDANTIC_AI_NO_BANNER"
#: What click says of a word where a number is meant; its types are no words for a person.
_NO_NUMBER = re.compile(r" is not a valid (integer|float)(?: range)?\.")
#: Every command with its one line of help; a test compares it with the commands themselves.
COMMANDS = {
    "init": Entry(f"{_HERE}.init:init", "Make a brain in a directory."),
    "memory": Entry(f"{_HERE}.memory:memory", "Read, search and write memory as a role."),
    "recall": Entry(f"{_HERE}.recall:recall", "Show what a turn with this message is told from memory, unasked."),
    "chat": Entry(f"{_HERE}.chat:chat", "Talk to a role."),
    "envelope": Entry(f"{_HERE}.envelope:envelope", "Show what a turn carries of memory."),
    "heartbeat": Entry(f"{_HERE}.heartbeat:heartbeat", "Show what runs by itself, or run it now."),
    "index": Entry(f"{_HERE}.index:index", "Look after the search index."),
    "consolidate": Entry(f"{_HERE}.consolidate:consolidate", "Write the period summaries that are due."),
    "flush": Entry(f"{_HERE}.flush:flush", "Review a transcript and keep what is worth keeping."),
    "doctor": Entry(f"{_HERE}.doctor:doctor", "Look for what is wrong with the brain."),
    "sync": Entry(f"{_HERE}.sync:sync", "Commit what changed, say who changed it, pull and push."),
    "audit": Entry(f"{_HERE}.audit:audit", "Show who wrote what, newest first."),
    "approvals": Entry(f"{_HERE}.approvals:approvals", "Decide about deletions that wait for a person."),
    "up": Entry(f"{_HERE}.up:up", "Run the worker and the dashboard."),
    "mcp": Entry(f"{_HERE}.mcp:mcp", "Serve a role's memory over the Model Context Protocol."),
    "hooks": Entry(f"{_HERE}.hooks:hooks", "Carry a role's memory in the sessions of a host such as Claude Code."),
    "hook": Entry(
        f"{_HERE}.hook:hook", "Answer one call of a host; its settings run this, and a person has no need to."
    ),
    "worker": Entry(f"{_HERE}.worker:worker", "Run the brain's durable writer until it is stopped."),
    "demo": Entry(f"{_HERE}.demo:demo", "Show the whole job on a copy of the example brain, offline."),
    "help": Entry(f"{_HERE}.help:help_", "Show a help page, or the list of them."),
}

cli = Group(
    "omnislash",
    table=COMMANDS,
    help="Memory for AI agents that a person can read, edit, diff and trust.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    example="omnislash demo\nomnislash init my-brain --example\nomnislash --brain my-brain memory overview --role nova",
)


def _show_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value:
        from omnislash import __version__  # noqa: PLC0415 - only here

        click.echo(f"omnislash {__version__}")
        context.exit()


cli.params.append(
    click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
    )
)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code.

    Raises:
        KeyboardInterrupt, BrokenPipeError: For `main`, which has to answer them without any of this.
    """
    settings = Settings()
    os.environ.setdefault(_NO_BANNER, "1")
    with tame_streams():
        try:
            settings = Settings.from_environment(os.environ)
            _check_words(arguments)
            code = _run(arguments, settings)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary: nobody sees a stack trace
            return _report(error, settings, as_json=settings.json or _asks_for_json(arguments))
        return code


def _run(arguments: list[str], settings: Settings) -> int:
    """Run the command; click's own `main` would print a line of its own at Ctrl-C."""
    try:
        with cli.make_context("omnislash", arguments, obj=settings) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code


def _check_words(arguments: list[str]) -> None:
    """Raise UsageError for a word that is no text."""
    for number, word in enumerate(arguments, 1):
        if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
            message = f"Argument {number} holds bytes that are no UTF-8 text; nothing was done."
            raise UsageError(message, hint="Convert the text to UTF-8 first.")


def _asks_for_json(arguments: list[str]) -> bool:
    """Tell whether `--json` stands among the options, also when the rest could not be understood."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def _report(error: Exception, settings: Settings, *, as_json: bool) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not as_json:
        click.echo(error.message, err=True)
        return 2
    problem = _explain(error)
    _show_trace(error, problem)
    return print_error(problem.to_json(), as_json=as_json or settings.json)


def _explain(error: Exception) -> OmnislashError:
    """Return an exception as one of ours."""
    if isinstance(error, OmnislashError):
        return _name_directory(error) if isinstance(error, ConfigError) else error
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return UsageError("No command was given.", hint="omnislash --help lists them.")
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f"{context.command_path} --help explains it." if context else None
        return UsageError(_say_plainly(error.format_message()), hint=hint)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return OmnislashError(f"The machine refused: {error.strerror or error}{where}.")
    if isinstance(error, RecursionError | MemoryError):
        return OmnislashError(f"The input is too large for this machine ({type(error).__name__}).")
    return _UnexpectedError(f"Something went wrong inside omnislash: {type(error).__name__}: {error}".rstrip(".") + ".")


def _say_plainly(message: str) -> str:
    """Return a message of click without the names of its own types."""
    return _NO_NUMBER.sub(lambda found: " is no whole number." if found[1] == "integer" else " is no number.", message)


def _name_directory(error: ConfigError) -> ConfigError:
    """Return the error, with faults of the directory itself said as such: they name it and have no other place."""
    if all(fault.path != "." for fault in error.faults):
        return error
    hint = "Name the directory that holds omnislash.yaml, or make a brain with: omnislash init DIR"
    faults = tuple(replace(fault, hint=hint) if fault.path == "." else fault for fault in error.faults)
    return ConfigError(faults, "\n".join(fault.render().removeprefix(".: ") for fault in faults))


class _UnexpectedError(OmnislashError):
    """An error in omnislash itself."""

    kind = "internal"

    def __init__(self, message: str) -> None:
        hint = "OMNISLASH_DEBUG=1 shows where; a worker's log is in .omnislash/logs/worker.log."
        super().__init__(message, hint=hint)


def _show_trace(error: Exception, problem: OmnislashError) -> None:
    if os.environ.get("OMNISLASH_DEBUG") == "1" and not isinstance(error, click.ClickException):
        import traceback  # noqa: PLC0415 - only here

        del problem
        traceback.print_exception(error)
