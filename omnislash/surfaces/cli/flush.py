"""`omnislash flush`: lets the curator review a transcript, and shows what it wrote.

The review runs in this process, with a worker or without one; what it writes goes through the brain's one writer, as
every write does.

Rules: FLUSH-04, FLUSH-13, FLUSH-14, FLUSH-O1, BOUNDARY-11; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import InvalidContentError, MissingFileError, StorageError
from omnislash.surfaces.cli.asking import open_for_search
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.content import STDIN
from omnislash.surfaces.cli.output import OUTCOME_CODES, naming, print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from omnislash.surfaces.cli.options import Settings

#: Most that is read of a transcript, in bytes: five times the longest sessions that are known.
BYTES_MAX = 256 * 1024 * 1024
#: The exit code of a write that waits.
_WAITS = OUTCOME_CODES["queued"]
_TITLES = {"saved": ("saved", "green"), "nothing_saved": ("nothing saved", "cyan"), "failed": ("failed", "red")}


@click.command(
    cls=Command,
    example=(
        "omnislash flush --role nova --transcript session.jsonl\n"
        "omnislash flush --role nova --transcript notes.md --all --model offline\n"
        "omnislash flush --role nova --transcript - --if-asked < session.jsonl"
    ),
)
@click.option("--role", required=True, metavar="ID", help="The role whose conversation it is.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that ran the role; none in a chat.")
@click.option(
    "--transcript", required=True, metavar="FILE", help="A session of Claude Code (JSONL), or markdown; - for stdin."
)
@click.option("--model", metavar="REF", help="The model that reviews, in place of the curator's own.")
@click.option("--all", "takes_all", is_flag=True, help="Review all of it, also what was reviewed before.")
@click.option("--ended", "has_ended", is_flag=True, help="The session is over: review a last message without answer.")
@click.option("--if-asked", "is_automatic", is_flag=True, help="Only when the role asks for it: memoryFlush is true.")
@click.pass_obj
def flush(settings: Settings, /, role: str, heartbeat: str | None, transcript: str, **options: Any) -> int:
    """Review a transcript and keep what is worth keeping.

    Only what is new since the last review of the same transcript is read, and usually nothing is kept. The exit code is
    1 when the review failed or nothing that it wrote landed.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends a running command of the model as Ctrl-C does
    data = _read(transcript)
    place = None if transcript == STDIN else os.path.abspath(transcript)  # noqa: PTH100 - the same name each time
    answer = _flush(settings, role=role, heartbeat=heartbeat, data=data, place=place, **options)
    with naming(_describe_state(answer)):
        if settings.json:
            print_json(answer)
        else:
            _show(answer, quiet=settings.quiet)
    return _exit_code(answer)


def _flush(
    settings: Settings, *, role: str, heartbeat: str | None, data: bytes, place: str | None, **options: Any
) -> dict[str, Any]:
    settings.find_root()
    from omnislash.runtime.flushing.flush_files import FlushRequest  # noqa: PLC0415 - half a second of imports
    from omnislash.runtime.loop.run_values import RunOptions  # noqa: PLC0415 - the same

    model = RunOptions(model=options.pop("model"))
    with open_for_search(settings) as brain:
        agent = brain.agent(role, heartbeat=heartbeat, replay=settings.replay)
        return agent.flush(FlushRequest(data=data, place=place, options=model, **options)).to_json()


# -- reading ---------------------------------------------------------------------------------------------------------


def _read(name: str) -> bytes:
    """Return the bytes of the transcript.

    Raises:
        MissingFileError, StorageError: It can't be read.
        InvalidContentError: It is far too long.
    """
    if name == STDIN:
        if sys.stdin is None:  # how Python says that it is closed
            raise StorageError("stdin is closed, so there is no transcript to read; nothing was done.")
        return _take(sys.stdin.buffer, "stdin")
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - nothing else here needs pathlib
            return _take(file, name)
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {name}.", path=name) from error
    except OSError as error:
        raise StorageError(f"{name} can't be read: {os.strerror(error.errno or 0)}.", path=name) from error


def _take(file: BinaryIO, name: str) -> bytes:
    data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        message = f"{name} holds more than {BYTES_MAX} bytes, too much for a transcript. Nothing was done."
        raise InvalidContentError(message, path=name, hint="Cut its oldest part off.")
    return data


# -- showing ---------------------------------------------------------------------------------------------------------


def _show(answer: Mapping[str, Any], *, quiet: bool) -> None:
    if not answer["ran"]:
        if not quiet:
            print_line(str(answer["message"]), err=True)
        return
    if answer["skipped"] and not quiet:
        print_line(f"Records of the transcript that could not be read: {answer['skipped']}.", err=True)
    if quiet and _exit_code(answer) == 0:
        return
    title, colour = _TITLES[answer["outcome"]]
    print_line(title, fg=colour, bold=True)
    print_line(f"  {_explain(answer)}")
    for verdict in answer["writes"]:
        print_line(f"  {verdict['outcome']}: {verdict['message']}")
    if answer["usage"]["requests"]:
        print_line(f"  {_describe_cost(answer['usage'])}")


def _explain(answer: Mapping[str, Any]) -> str:
    if "message" in answer:
        return str(answer["message"])
    number = answer["messages"]
    read = "1 message was read" if number == 1 else f"{number} messages were read"
    if not answer["writes"]:
        return f"{read}, and nothing in them was worth keeping in {answer['line']}."
    writes = len(answer["writes"])
    return f"{read}, and {writes} {'write was' if writes == 1 else 'writes were'} asked for in {answer['line']}."


def _describe_cost(usage: Mapping[str, Any]) -> str:
    from omnislash.runtime.loop.run_values import Usage  # noqa: PLC0415 - half a second of imports
    from omnislash.surfaces.cli.chat_showing import describe_usage  # noqa: PLC0415 - the same

    known = Usage(
        requests=usage["requests"],
        input_tokens=usage["inputTokens"],
        output_tokens=usage["outputTokens"],
        cost_usd=usage["costUsd"],
    )
    return ", ".join(describe_usage(known))


def _exit_code(answer: Mapping[str, Any]) -> int:
    """Return 1 for a review that failed, or whose writes all came to nothing; 3 when one of them still waits."""
    if answer["outcome"] == "failed":
        return 1
    codes = {OUTCOME_CODES.get(str(verdict["outcome"]), 1) for verdict in answer["writes"]}
    if _WAITS in codes:
        return _WAITS
    return 1 if codes == {1} else 0


def _describe_state(answer: Mapping[str, Any]) -> str:
    """Return what is the case after a review, for an answer that could not be printed."""
    if not answer["ran"]:
        return "no flush ran"
    return f"the flush is over: {_TITLES[answer['outcome']][0]}"
