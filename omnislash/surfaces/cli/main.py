"""The entry point: runs a command, and turns whatever goes wrong into a sentence and an exit code.

Nothing heavy is imported before the boundary stands, so that Ctrl-C during loading is quiet too.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

#: Exit code of a command that Ctrl-C ended: 128 + SIGINT.
INTERRUPTED = 130
#: The number of the last of the three standard streams.
_STDERR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 queued.

    Args:
        arguments: The words after the program's name; those of this process by default.
    """
    try:
        _hold_descriptors()
        from omnislash.surfaces.cli.root import run  # noqa: PLC0415 - inside the boundary

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return _say_interrupted()
    except BrokenPipeError:
        leave(sys.stdout)
        return 1


def _hold_descriptors() -> None:
    """Let no file of ours get the number of a closed stdin, stdout or stderr: what is printed would go into it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)


def _say_interrupted() -> int:
    """Say it in one line; a second Ctrl-C may come at any moment."""
    os.write(2, b"Interrupted. A write that was handed in already may still land: look before you repeat it.\n")
    return INTERRUPTED


def leave(stream: TextIO | None) -> None:
    """Point a stream that can't be written to nowhere, so that the interpreter's last flush is quiet as well."""
    if stream is not None:
        with contextlib.suppress(OSError):
            number = os.open(os.devnull, os.O_WRONLY)
            os.dup2(number, stream.fileno())
            os.close(number)
