"""`omnislash mcp`: a role's memory for programs that speak the Model Context Protocol.

Over stdio nothing but the protocol goes to stdout: warnings, logs and whatever a library prints go to stderr.
What is wrong at the start is said in one sentence on stderr, before the first message.

Rules: TOOL-01 to TOOL-16, BOUNDARY-08; interface.md, "Command line" (`mcp`); failure case O-63.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import print_json, print_line

if TYPE_CHECKING:
    from omnislash.engine import Brain
    from omnislash.surfaces.cli.options import Settings
    from omnislash.surfaces.web.binding import Binding

#: Where HTTP is served when nothing else is said; the dashboard has the port before it.
_HOST, _PORT = "127.0.0.1", 4112


@click.command(
    cls=Command,
    example=("omnislash mcp --role nova\nomnislash --brain my-brain mcp --role nova --transport http --port 4112"),
)
@click.option("--role", required=True, metavar="ID", help="The role whose memory it is.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    help="How the client talks to it: over stdin and stdout, which is the default, or HTTP.",
)
@click.option("--host", metavar="HOST", help=f"With http: the address to listen on; {_HOST} when left out.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", help=f"With http: the port; {_PORT} when left out, 0 any."
)
@click.pass_obj
def mcp(settings: Settings, /, role: str, heartbeat: str | None, transport: str, **place: Any) -> int:
    """Serve a role's memory over the Model Context Protocol.

    The client gets the tools that the role is granted, the files that it may read, and what a turn carries of memory as
    a prompt. It ends when stdin does, and at SIGTERM and Ctrl-C; what is being written is finished first.
    """
    if transport == "stdio":
        return _serve_stdio(settings, role, heartbeat, place)
    return _serve_http(settings, role, heartbeat, place)


def _open(settings: Settings, role: str, heartbeat: str | None) -> Brain:
    """Open the brain, and make sure that the role is there before anything is promised to a client."""
    from omnislash.engine import SearchOptions  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.mcp.progress import is_given_up, tell  # noqa: PLC0415 - the same

    brain = settings.open_brain(search=SearchOptions(on_progress=tell, is_over=is_given_up))
    brain.agent(role, heartbeat=heartbeat)
    return brain


def _serve_stdio(settings: Settings, role: str, heartbeat: str | None, place: dict[str, Any]) -> int:
    given = [f"--{name}" for name, value in place.items() if value is not None]
    if given:
        message = f"{' and '.join(given)} can't be used with stdio; nothing was started."
        raise UsageError(message, hint="Add --transport http, or leave it out.")
    from omnislash.surfaces.mcp.wire import take_wire  # noqa: PLC0415 - not needed for the help

    wire = take_wire()
    with _open(settings, role, heartbeat) as brain:
        from omnislash.surfaces.mcp import stdio  # noqa: PLC0415 - a second of imports, for which no error waits
        from omnislash.surfaces.mcp.seat import Caller  # noqa: PLC0415 - the same

        stdio.serve_stdio(brain, Caller(role=role, heartbeat=heartbeat, replay=settings.replay), wire)
    return 0


def _serve_http(settings: Settings, role: str, heartbeat: str | None, place: dict[str, Any]) -> int:
    from omnislash.surfaces.cli.working import hear_signals  # noqa: PLC0415 - not needed for the help

    stop = hear_signals()
    with _open(settings, role, heartbeat) as brain:
        from omnislash.store.state_directory import STATE_DIRECTORY  # noqa: PLC0415 - the same
        from omnislash.surfaces.mcp import http  # noqa: PLC0415 - as for stdio
        from omnislash.surfaces.mcp.seat import Caller  # noqa: PLC0415 - the same
        from omnislash.surfaces.web.binding import choose_binding  # noqa: PLC0415 - the same

        host, port = place["host"], place["port"]
        binding = choose_binding(
            _HOST if host is None else host,
            _PORT if port is None else port,
            directory=brain.root / STATE_DIRECTORY,
            environment=os.environ,
        )
        caller = Caller(role=role, heartbeat=heartbeat, replay=settings.replay)
        http.serve_http(brain, caller, binding, stop_descriptor=stop, on_ready=lambda real: _say_ready(real, settings))
    return 0


def _say_ready(binding: Binding, settings: Settings) -> None:
    """Say where it is served; the token, where one is needed, is named and never shown."""
    url = f"{binding.url}/mcp"
    if settings.json:
        print_json({"url": url, "needsToken": binding.token is not None, "state": "ready"})
    elif not settings.quiet:
        where = "" if binding.token is None else " A client sends the token of OMNISLASH_TOKEN or .omnislash/token."
        print_line(f"Serving MCP at {url}; Ctrl-C stops.{where}")
    sys.stdout.flush()
