"""Paths as a shell takes them, for the commands that findings name."""

from __future__ import annotations

import os
import shlex


def quote_path(path: str) -> str:
    """Return a path as one word of a command.

    A name with control characters or with bytes that are no UTF-8 is written as `$'…'`, which bash, zsh, ksh and the
    shell of POSIX 2024 understand: such a name can't be shown, or would break the line.
    """
    if path.isprintable() and not any("\ud800" <= char <= "\udfff" for char in path):
        return shlex.quote(path)
    return f"$'{''.join(map(_escape, os.fsencode(path)))}'"


def _escape(byte: int) -> str:
    char = chr(byte)
    if char in "'\\":
        return f"\\{char}"
    return char if " " <= char <= "~" else f"\\{byte:03o}"
