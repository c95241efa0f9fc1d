"""The entry point: runs a command, and turns whatever goes wrong into a sentence and an exit code.

Nothing heavy is imported before the boundary stands, so that Ctrl-C during loading is quiet too.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from omnislash.surfaces.cli.streams import hold_descriptors, leave

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Exit code of a command that Ctrl-C ended: 128 + SIGINT.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 queued.

    Args:
        arguments: The words after the program's name; those of this process by default.
    """
    try:
        hold_descriptors()
        from omnislash.surfaces.cli.root import run  # noqa: PLC0415 - inside the boundary

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return _say_interrupted()
    except BrokenPipeError:
        leave(sys.stdout)
        return 1


def _say_interrupted() -> int:
    """Say it in one line; a second Ctrl-C may come at any moment."""
    os.write(2, b"Interrupted. A write that was handed in already may still land: look before you repeat it.\n")
    return INTERRUPTED
