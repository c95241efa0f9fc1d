"""The process that reviews a transcript when no worker runs: started by a hook, it outlives the session.

It notes what is asked and works through what waits, also what an earlier one did not come to; when another process is at
that already, it leaves the rest to it. It is no command: nobody calls it by hand, for that there is `omnislash flush`.

Rules: FLUSH-04, FLUSH-O5.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.surfaces.adapters import hook_log

if TYPE_CHECKING:
    from collections.abc import Sequence

#: How much the process steps back behind what a person does at the same machine.
_NICENESS: Final = 10


def main(words: Sequence[str]) -> int:
    """Note the request, review what waits, and return 0; what goes wrong is a line in the log of hooks."""
    given = _parse(words)
    with contextlib.suppress(OSError, AttributeError):  # AttributeError: not on Windows
        os.nice(_NICENESS)
    logging.getLogger("omnislash").addHandler(_Lines(given.brain))
    from omnislash.engine import Brain  # noqa: PLC0415 - after the handler, which tells of what goes wrong

    try:
        with Brain.open(given.brain) as brain:
            agent = brain.agent(given.role, heartbeat=given.heartbeat)
            agent.request_flush(given.transcript, has_ended=given.ended)
            brain.drain_flushes()
    except OmnislashError as error:
        hook_log.note(given.brain, f"flush {given.role}: nothing was done: {error.message}")
    return 0


def _parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--brain", "--role", "--transcript"):
        parser.add_argument(name, required=True)
    parser.add_argument("--heartbeat")
    parser.add_argument("--ended", action="store_true")
    return parser.parse_args(words)


class _Lines(logging.Handler):
    """Puts warnings into the log of hooks, without traces."""

    def __init__(self, brain: str) -> None:
        super().__init__(logging.WARNING)
        self._brain = brain

    def emit(self, record: logging.LogRecord) -> None:
        hook_log.note(self._brain, f"flush: {record.getMessage()}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
