"""The two descriptors that carry the protocol, taken away from everything else of this process.

Loads nothing, so that they can be taken before anything that might print.

Rules: failure case O-63.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

#: The numbers of stdin, stdout and stderr.
_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Wire:
    """Descriptors to read messages from and to write them to."""

    reading: int
    writing: int


def take_wire() -> Wire:
    """Return copies of stdin and stdout, and point stdin nowhere and stdout to stderr.

    What a library or a child process prints, or reads, is no longer part of the conversation.
    Commands that this process runs inherit neither copy.
    """
    wire = Wire(os.dup(_STDIN), os.dup(_STDOUT))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, _STDIN)
    os.close(nowhere)
    os.dup2(_STDERR, _STDOUT)
    return wire
