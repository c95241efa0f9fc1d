"""`omnislash up`: the worker with the dashboard.

Rules: DASH-01, WRITE-O8, KNOB-26; interface.md, "Command line" (`up`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

from omnislash.errors import WriterUnavailableError
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import print_json, print_line
from omnislash.surfaces.cli.working import hear_signals, run_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from omnislash.engine import Brain
    from omnislash.surfaces.cli.options import Settings
    from omnislash.surfaces.web.binding import Binding


class _Port(click.IntRange):
    """A port, named as such when something else is given."""

    name = "port number"


#: Where the dashboard listens when nothing else is said.
HOST, PORT = "127.0.0.1", 4111


@click.command(
    cls=Command, example="omnislash up\nomnislash --brain my-brain up --port 0\nomnislash up --host 0.0.0.0 --port 8080"
)
@click.option(
    "--port", type=_Port(0, 65535), metavar="PORT", default=PORT, show_default=True, help="The port; 0 = any free one."
)
@click.option("--host", default=HOST, show_default=True, metavar="NAME", help="The address to listen on.")
@click.option("--no-dashboard", is_flag=True, help="Only the worker, as `omnislash worker` runs it.")
@click.pass_obj
def up(settings: Settings, port: int, host: str, *, no_dashboard: bool) -> int:
    """Run the worker and the dashboard until they are stopped.

    The dashboard is for a person on this machine: it listens on loopback only, unless --host names another address. There it asks for the token of OMNISLASH_TOKEN or of the brain's `.omnislash/token`, which is made when there is none; put a proxy that speaks TLS in front of it. When a worker of this brain runs already, only the dashboard is started. SIGTERM and Ctrl-C let the running batch finish.
    """
    settings.refuse_replay("omnislash up")
    root = settings.find_root()
    binding = None if no_dashboard else _choose_binding(root, host, port)
    asked_to_stop = hear_signals()
    with settings.open_brain() as brain:
        _run(brain, settings, binding, asked_to_stop)
    return 0


def _choose_binding(root: str, host: str, port: int) -> Binding:
    from pathlib import Path  # noqa: PLC0415 - not needed for the help

    from omnislash.store.state_directory import STATE_DIRECTORY  # noqa: PLC0415 - the same
    from omnislash.surfaces.web.binding import choose_binding  # noqa: PLC0415 - the same

    return choose_binding(host, port, directory=Path(root, STATE_DIRECTORY), environment=os.environ)


def _run(brain: Brain, settings: Settings, binding: Binding | None, asked_to_stop: int) -> None:
    from omnislash.surfaces.cli import logs  # noqa: PLC0415 - not needed for the help

    with (
        logs.open_logs(quiet=settings.quiet) as add_file,
        _be_worker(brain, add_file, is_needed=binding is None) as is_worker,
    ):
        if not is_worker:
            add_file(brain.root)

        def tell(real: Binding | None) -> None:  # only now is it true: the port may have been taken
            if is_worker:
                logs.say_started(brain.root)
            elif not settings.quiet:
                print_line("A worker of this brain runs already; only the dashboard is started.", err=True)
            _say_ready(brain, settings, real)

        if binding is None:
            tell(None)
            os.read(asked_to_stop, 1)
        else:
            _serve(brain, binding, asked_to_stop, tell)
        logs.say_stopping()


@contextlib.contextmanager
def _be_worker(brain: Brain, add_file: Callable[[Path], None], *, is_needed: bool) -> Iterator[bool]:
    """Be the worker, and yield True; when another one runs and this one is not needed, leave the work to that one."""
    with contextlib.ExitStack() as running:
        try:
            running.enter_context(run_worker(brain, add_file=add_file))
        except WriterUnavailableError:
            if is_needed:
                raise
            yield False
            return
        yield True


def _serve(brain: Brain, binding: Binding, asked_to_stop: int, tell: Callable[[Binding], None]) -> None:
    from omnislash.surfaces.dashboard.serving import make_door  # noqa: PLC0415 - Starlette, for the dashboard only
    from omnislash.surfaces.web.serving import serve  # noqa: PLC0415 - the same

    serve(
        lambda real: make_door(brain, real),
        binding,
        on_ready=tell,
        stop=asked_to_stop,
    )


def _say_ready(brain: Brain, settings: Settings, binding: Binding | None) -> None:
    if settings.json:
        place = {} if binding is None else {"url": binding.url}
        print_json({"brain": str(brain.root), "pid": os.getpid(), "state": "ready", **place})
    elif not settings.quiet:
        print_line(f"Serving {brain.root}; Ctrl-C stops.")
        if binding is not None:
            _tell_place(binding)
    sys.stdout.flush()


def _tell_place(binding: Binding) -> None:
    print_line(f"Dashboard: {binding.url}")
    if binding.token is not None:
        print_line("It asks for the token: that of OMNISLASH_TOKEN, or else the one in .omnislash/token.")
