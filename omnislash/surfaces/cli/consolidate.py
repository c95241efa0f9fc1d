"""`omnislash consolidate`: writes the summaries that are due, or shows what is due and how the ladder stands.

The tick runs in this process, with a worker or without one; what it writes goes through the brain's one writer, as
every write does.

Rules: PERIOD-01, PERIOD-13, PERIOD-25, PERIOD-O9; interface.md, "Command line" (`consolidate`).
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli import ladder_showing as showing
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.options import YEARS, parse_instant
from omnislash.surfaces.cli.output import naming, print_json, print_line
from omnislash.surfaces.cli.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from omnislash.surfaces.cli.options import Settings


class Instant(click.ParamType):  # type: ignore[type-arg]
    """An instant with its zone, as OMNISLASH_NOW takes it."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the instant; fail when the text is none, or names no zone."""
        instant = parse_instant(value)
        if instant is None:
            example = "write it with its zone, such as 2026-11-30T09:00:00+01:00"
            self.fail(f"{value!r} is no instant; {example}, in the years {YEARS[0]} to {YEARS[-1]}.", param, ctx)
        return instant


@click.command(
    cls=Command,
    example=(
        "omnislash consolidate --dry-run\n"
        "omnislash consolidate --show --line main\n"
        "omnislash consolidate --line main --now 2026-12-07T04:00:00+01:00"
    ),
)
@click.option("--line", metavar="NAME", help="Only this line; without it every line that has period summaries.")
@click.option("--now", metavar="ISO", type=Instant(), help="The instant that decides what is over, with its zone.")
@click.option("--dry-run", is_flag=True, help="Show what is due, from what, and why the rest waits; write nothing.")
@click.option("--show", is_flag=True, help="Show every period as a tree: there, due, waiting or not over.")
@click.pass_obj
def consolidate(settings: Settings, /, line: str | None, now: datetime | None, **options: Any) -> int:
    """Write the period summaries that are due.

    A worker does this by itself, at the times of `consolidation.schedule`. The exit code is 1 when a summary could not
    be written.
    """
    lines = None if line is None else (line,)
    if options["dry_run"] and options["show"]:
        message = "--dry-run and --show exclude each other: one says what a tick would write, the other what is there."
        raise UsageError(message)
    if options["show"] or options["dry_run"]:
        return _look(settings, now=now, lines=lines, whole=options["show"])
    return _run(settings, now=now, lines=lines)


def _look(settings: Settings, *, now: datetime | None, lines: tuple[str, ...] | None, whole: bool) -> int:
    """Print the ladder, or what a tick would do; nothing is written, so a replay may look as well."""
    with settings.open_brain() as brain:
        found = brain.show_ladder(now=now, lines=lines) if whole else brain.plan_consolidation(now=now, lines=lines)
        answer = found.to_json()
    if settings.json:
        print_json(answer)
    else:
        (showing.show_ladder if whole else showing.show_plan)(answer, quiet=settings.quiet)
    return _exit_code(answer)


#: Said when a tick of a later day has filed something: a period that is not over yet is never looked at again.
_AHEAD = (
    "--now lies ahead of the clock: a period that is not over was taken as over, and its summary stays as it is. "
    "Delete the summary to have it written anew; --dry-run looks ahead without writing."
)


def _run(settings: Settings, *, now: datetime | None, lines: tuple[str, ...] | None) -> int:
    """Run a tick, print what came of it, and return the exit code."""
    settings.refuse_replay("omnislash consolidate")
    if settings.queue_only:
        message = (
            "omnislash consolidate waits for each summary, so it does not run with --queue-only; nothing was done."
        )
        raise UsageError(message)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends a running command of the model as Ctrl-C does
    with show_progress(settings) as progress, settings.open_brain() as brain:
        answer = brain.consolidate(now=now, lines=lines, on_progress=progress).to_json()
    if now is not None and now > settings.clock().now() and any(each["done"] for each in answer["lines"]):
        print_line(_AHEAD, err=True)
    with naming(_describe_state(answer)):
        if settings.json:
            print_json(answer)
        else:
            showing.show_tick(answer, quiet=settings.quiet)
    return _exit_code(answer)


def _exit_code(answer: Mapping[str, Any]) -> int:
    """Return 1 when a run failed, or a line could not be looked at."""
    return 1 if any(showing.has_failed(each) for each in answer["lines"]) else 0


def _describe_state(answer: Mapping[str, Any]) -> str:
    """Return what is the case after a tick, for an answer that could not be printed."""
    number = sum(len(each["done"]) for each in answer["lines"])
    return f"{number} {'summary was' if number == 1 else 'summaries were'} written"
