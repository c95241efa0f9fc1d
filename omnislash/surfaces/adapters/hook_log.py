"""The log of hooks: a line for each that did nothing, in a file that turns over when it is full.

A hook is silent where it could be heard, so this is where a person finds out why memory is missing in a session. It holds
times, names and reasons, and never a word of memory or of a conversation.

Source: architecture.md section 1 (`.omnislash/` holds logs).
"""

from __future__ import annotations

import os
import time

#: Where it lies in a brain.
LOG_FILE = ".omnislash/logs/hooks.log"
#: About two thousand lines; one older file is kept beside it.
FILE_BYTES = 256 * 1024
#: Longest reason, in characters.
_REASON_MAX = 400


def note(brain: str, text: str) -> None:
    """Add a line; nothing happens where there is no brain with a state of its own, or where it can't be written.

    Args:
        brain: The brain's directory.
        text: What happened, on one line.
    """
    path = f"{brain}/{LOG_FILE}"
    line = "".join(char if char.isprintable() else " " for char in text)[:_REASON_MAX]
    at = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    try:
        number = _open(path)
        try:
            os.write(number, f"{at} {line}\n".encode("utf-8", "replace"))
        finally:
            os.close(number)
    except OSError:
        return


def _open(path: str) -> int:
    """Return a descriptor of the log; a full one is set aside first."""
    directory = os.path.dirname(path)  # noqa: PTH120 - pathlib costs a hook as much as all its work
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        number = os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.mkdir(directory, 0o700)  # noqa: PTH102 - as above
        number = os.open(path, flags, 0o600)
    if os.fstat(number).st_size < FILE_BYTES:
        return number
    os.close(number)
    os.replace(path, f"{path}.1")  # noqa: PTH105 - as above
    return os.open(path, flags, 0o600)
