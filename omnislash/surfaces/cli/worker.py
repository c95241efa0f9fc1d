"""`omnislash worker`: the brain's durable writer, for as long as it is wanted.

It logs to stderr and to `.omnislash/logs/worker.log`: places, names and outcomes, never the text of a memory.
SIGTERM and Ctrl-C let the running batch finish.

Rules: WRITE-01, WRITE-07, WRITE-O8, KNOB-26, KNOB-O5, KNOB-O6, REPORT-O5.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import print_json, print_line
from omnislash.surfaces.cli.working import hear_signals, run_worker

if TYPE_CHECKING:
    from omnislash.engine import Brain
    from omnislash.surfaces.cli.options import Settings


@click.command(cls=Command, example="omnislash --brain my-brain worker")
@click.pass_obj
def worker(settings: Settings) -> int:
    """Run the brain's durable writer until it is stopped.

    It also runs heartbeats at their times and hooks on their events, writes the period summaries that are due, and commits what changed at the times of `sync.schedule`. With a worker running, every process of this machine hands its writes to it, which is faster than writing alone.
    It finishes what was queued, and what a crash left, when it starts. A second worker of the same brain does not
    start. SIGTERM and Ctrl-C let the running batch finish.
    """
    settings.refuse_replay("omnislash worker")
    asked_to_stop = hear_signals()
    with settings.open_brain() as brain:
        _work(brain, settings, asked_to_stop)
    return 0


def _work(brain: Brain, settings: Settings, asked_to_stop: int) -> None:
    from omnislash.surfaces.cli import logs  # noqa: PLC0415 - not needed for the help

    with logs.open_logs(quiet=settings.quiet) as add_file, run_worker(brain, add_file=add_file):
        _say_ready(brain, settings)
        os.read(asked_to_stop, 1)
        logs.say_stopping()


def _say_ready(brain: Brain, settings: Settings) -> None:
    from omnislash.surfaces.cli import logs  # noqa: PLC0415 - as above

    logs.say_started(brain.root)
    if settings.json:
        print_json({"brain": str(brain.root), "pid": os.getpid(), "state": "ready"})
    elif not settings.quiet:
        print_line(f"Writing for {brain.root}; Ctrl-C stops.")
    sys.stdout.flush()
