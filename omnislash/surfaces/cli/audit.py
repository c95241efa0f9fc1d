"""`omnislash audit`: the action log.

Rules: WRITE-11, WRITE-O7.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import print_json
from omnislash.surfaces.cli.showing import show_audit

if TYPE_CHECKING:
    from omnislash.surfaces.cli.options import Settings


@click.command(cls=Command, example="omnislash audit --path main/MEMORY.md --limit 5")
@click.option("--path", metavar="PATH", help="Only writes to this file.")
@click.option("--line", metavar="NAME", help="Only writes to this line.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, metavar="N", help="Rows at most.")
@click.option("--cursor", metavar="N", help="Go on with older rows: nextCursor of the answer before.")
@click.pass_obj
def audit(settings: Settings, path: str | None, line: str | None, limit: int, cursor: str | None) -> int:
    """Show who wrote what, newest first, and what became of it.

    Refused and failed attempts are there too. The text itself is never in the log.
    """
    if line is not None:
        from omnislash.core.lines import parse_line_name  # noqa: PLC0415 - only here

        parse_line_name(line)
    with settings.open_brain() as brain:
        answer = brain.audit(path=path, line=line, limit=limit, cursor=cursor).to_json()
    narrowed = any(given is not None for given in (path, line, cursor))
    (print_json if settings.json else partial(show_audit, narrowed=narrowed))(answer)
    return 0
