"""Text that a person hands in: as an argument, from a file, or on stdin."""

from __future__ import annotations

import os
import sys

from omnislash.errors import InvalidContentError, MissingFileError, StorageError
from omnislash.surfaces.cli.output import is_terminal, print_line

#: Most that is read, in bytes: room for every content that memory can hold (a million chars, three bytes each), and
#: for some that is refused with its size named; more than this is not even read.
BYTES_MAX = 12 * 1024 * 1024
#: The argument that means stdin.
STDIN = "-"


def read_content(argument: str) -> str:
    """Return the argument, or what stdin holds for `-`.

    Raises:
        StorageError: Stdin is closed or can't be read.
        InvalidContentError: Stdin is no UTF-8 text, or far too long.
    """
    if argument != STDIN:
        return argument
    if sys.stdin is None:  # how Python says that it is closed
        raise StorageError("stdin is closed, so there is no text to read; nothing was written.")
    if is_terminal(sys.stdin):
        print_line("Type the text; end it with Ctrl-D on a line of its own.", err=True)
    return _decode(_read_stdin(), "stdin")


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read(BYTES_MAX + 1)
    except OSError as error:
        message = f"stdin can't be read: {os.strerror(error.errno or 0)}; nothing was written."
        raise StorageError(message) from error


def read_text_file(path: str) -> str:
    """Return the text of a file, or of stdin for `-`.

    Raises:
        MissingFileError, StorageError: The file can't be read.
        InvalidContentError: It is no UTF-8 text, or far too long.
    """
    if path == STDIN:
        return read_content(STDIN)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - nothing else here needs pathlib
            return _decode(file.read(BYTES_MAX + 1), path)
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {path}.", path=path) from error
    except OSError as error:
        raise StorageError(f"{path} can't be read: {os.strerror(error.errno or 0)}.", path=path) from error


def _decode(data: bytes, source: str) -> str:
    if len(data) > BYTES_MAX:
        message = (
            f"{source} holds more than {BYTES_MAX} bytes; memory takes 1000000 chars at once. Nothing was written."
        )
        raise InvalidContentError(message, path=source)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = (
            f"{source} is no UTF-8 text: byte {data[error.start]:#04x} in line {line} (offset {error.start}). "
            "Nothing was written. Convert it to UTF-8 first."
        )
        raise InvalidContentError(message, path=source, line=line) from error
