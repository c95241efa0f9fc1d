"""The three standard streams, where one of them is closed or can't be written to."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

#: The number of the last of the three standard streams.
_STDERR = 2


def hold_descriptors() -> None:
    """Let no file of ours get the number of a closed stdin, stdout or stderr: what is printed would go into it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)


def leave(stream: TextIO | None) -> None:
    """Point a stream that can't be written to nowhere, so that the interpreter's last flush is quiet as well."""
    if stream is not None:
        with contextlib.suppress(OSError):
            number = os.open(os.devnull, os.O_WRONLY)
            os.dup2(number, stream.fileno())
            os.close(number)
