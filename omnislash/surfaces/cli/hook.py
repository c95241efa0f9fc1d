"""`omnislash hook`: what the settings of a host such as Claude Code call; a person has no use for it.

The words that `omnislash hooks install` writes never come here: `hook_call` answers them without loading a command line.
This is the same for every other order of words, for `--replay`, and for a clock that stands.

Rules: ENVELOPE-02 to ENVELOPE-10, FLUSH-04, BOUNDARY-08.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from omnislash.surfaces.adapters import hook_call
from omnislash.surfaces.adapters.hook_values import Call
from omnislash.surfaces.cli.commands import Command

if TYPE_CHECKING:
    from omnislash.engine import Brain
    from omnislash.surfaces.adapters.hook_values import Answer
    from omnislash.surfaces.cli.options import Settings


@click.command(
    cls=Command,
    example="omnislash hook claude-code --role nova --brain my-brain < payload.json",
)
@click.argument("host")
@click.option("--role", required=True, metavar="ID", help="The role whose memory the session carries.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
@click.pass_obj
def hook(settings: Settings, /, host: str, role: str, heartbeat: str | None) -> int:
    """Answer one call of a host; its settings run this, and a person has no need to.

    The payload of the host is read from stdin, and what the session lacks of memory is printed in the host's own form. A
    hook never fails a session: whatever goes wrong, it prints nothing and ends with 0, and .omnislash/logs/hooks.log says
    why. It ends by itself after 5 seconds, or as many as OMNISLASH_HOOK_TIMEOUT says. Inside a command that omnislash runs
    as a model it does nothing.
    """
    call = Call(host=host, role=role, heartbeat=heartbeat, brain=settings.find_root())

    def answer_here(asked: Call, payload: str, *, searches: bool = True) -> Answer:
        from omnislash.surfaces.adapters import running  # noqa: PLC0415 - half a second of imports

        return running.answer_here(asked, payload, lambda: _open(settings), replay=settings.replay, searches=searches)

    is_plain = settings.now is None and not settings.replay
    hook_call.serve(call, answer_here=answer_here, leave=os._exit, asks_worker=is_plain)
    return 0


def _open(settings: Settings) -> Brain:
    from omnislash.engine import SearchOptions  # noqa: PLC0415 - as above
    from omnislash.surfaces.adapters.running import CATCH_UP_S, PATIENCE_S  # noqa: PLC0415 - as above

    return settings.open_brain(search=SearchOptions(catch_up_s=CATCH_UP_S, patience_s=PATIENCE_S))
