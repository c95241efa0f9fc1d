"""What ends a running command when this process is killed: a tiny shell that waits for the end of a pipe.

A process that gets SIGKILL can't end what it has started; the operating system only closes its pipes. The shell holds
the other end of one, in a session of its own, and kills the group of the command when the pipe is closed without a word.
`PR_SET_PDEATHSIG` would need code between fork and exec, which is not safe beside threads, and reaches the command
alone and nothing that it has started.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import IO, Final, Self

#: Reads the number of the group, then waits: a word says that all went well, the end of the pipe that nobody is left.
#: Source: POSIX, "Shell Command Language" and `kill`.
_SCRIPT: Final = 'read -r group && { read -r word || kill -s KILL -- "-$group"; }'
_SHELL: Final = "/bin/sh"


class Guard:
    """Watches over one command; without a POSIX shell it does nothing."""

    def __init__(self) -> None:
        """Start to wait; a shell takes about a millisecond."""
        self._shell: subprocess.Popen[bytes] | None = None
        if hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                self._shell = subprocess.Popen(  # noqa: S603 - a fixed script
                    [_SHELL, "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                )

    def watch(self, group: int) -> None:
        """Kill a group of processes as soon as this process is gone."""
        self._say(f"{group}\n")

    def __enter__(self) -> Self:
        """Return the guard."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let it go; what it watched is nobody's concern any more."""
        if self._shell is None:
            return
        self._say("done\n")
        pipe = self._pipe
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
        self._shell.wait()

    @property
    def _pipe(self) -> IO[bytes] | None:
        return self._shell.stdin if self._shell is not None else None

    def _say(self, word: str) -> None:
        pipe = self._pipe
        if pipe is not None:
            with contextlib.suppress(OSError):  # somebody has killed it
                pipe.write(word.encode())
                pipe.flush()
