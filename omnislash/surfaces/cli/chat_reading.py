"""Where the messages of a talk come from: a person at a terminal, or the lines of a pipe."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.errors import InvalidContentError, StorageError
from omnislash.surfaces.cli.chat_signals import send_again
from omnislash.surfaces.cli.content import BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What stands before a message, and before each further line of one.
_PROMPT, _MORE = "> ", ". "
#: Opens and closes a message of several lines.
_FENCE: Final = '"""'


@dataclass(frozen=True, slots=True)
class Command:
    """What a person asks of the program and not of the model."""

    name: str
    argument: str


def read_typed(ask: Callable[[str], str]) -> str | Command:
    r"""Return the next message of a person, or a command; '' when there is none.

    A line that ends with `\` goes on in the next one, and `\"\"\"` opens a message that another one closes.
    Ctrl-C drops a message of which there are some lines already, and Ctrl-D ends it.

    Args:
        ask: Shows a prompt and returns a line without its end.

    Raises:
        KeyboardInterrupt, EOFError: Ctrl-C or Ctrl-D where no message was begun.
    """
    first = ask(_PROMPT)
    if first.startswith("/") and not first.startswith("//"):
        name, _, argument = first[1:].strip().partition(" ")
        return Command(name, argument.strip())
    if first.startswith("//"):
        first = first[1:]
    try:
        return "\n".join(_read_lines(first, ask)).strip()
    except KeyboardInterrupt:
        return ""


def _read_lines(first: str, ask: Callable[[str], str]) -> list[str]:
    if first.lstrip().startswith(_FENCE):
        return _read_fenced(first.lstrip().removeprefix(_FENCE), ask)
    lines = [first]
    while _goes_on(lines[-1]):
        lines[-1] = lines[-1][:-1]
        try:
            lines.append(ask(_MORE))
        except EOFError:
            break
    return lines


def _goes_on(line: str) -> bool:
    r"""Tell whether the last `\\` of a line is not itself one that another `\\` keeps."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _read_fenced(first: str, ask: Callable[[str], str]) -> list[str]:
    lines = [first]
    while not lines[-1].rstrip().endswith(_FENCE):
        try:
            lines.append(ask(_MORE))
        except EOFError:
            return lines
    lines[-1] = lines[-1].rstrip().removesuffix(_FENCE)
    return lines


def make_asker() -> Callable[[str], str]:
    """Return what shows a prompt on the terminal and reads a line, with the keys of readline where there is one."""
    if importlib.util.find_spec("readline") is not None:
        import readline  # noqa: PLC0415 - steers the terminal as soon as it is there

        readline.set_auto_history(True)

    def ask(prompt: str) -> str:
        with contextlib.redirect_stdout(sys.__stdout__), send_again():  # readline works on the terminal itself
            try:
                return input(prompt)
            except UnicodeDecodeError as error:
                raise InvalidContentError(
                    "What was typed is no text in the terminal's encoding; type it again."
                ) from error

    return ask


def read_piped() -> Iterator[str | InvalidContentError]:
    """Yield each line of stdin that has a word in it, as it comes in, or the error for one that is no text.

    Raises:
        StorageError: Stdin is closed or can't be read.
    """
    if sys.stdin is None:  # how Python says that it is closed
        raise StorageError("stdin is closed, so there is no message to read.")
    number = 0
    while data := _read_line():
        number += 1
        message = _decode(data, number)
        if isinstance(message, InvalidContentError) or message:
            yield message


def _read_line() -> bytes:
    try:
        data = sys.stdin.buffer.readline(BYTES_MAX + 1)
        while len(data) > BYTES_MAX and not data.endswith(b"\n"):  # the rest of it is dropped, never taken for another
            rest = sys.stdin.buffer.readline(BYTES_MAX)
            data = data[: BYTES_MAX + 1] + rest[-1:]
            if not rest:
                break
    except OSError as error:
        raise StorageError(f"stdin can't be read: {os.strerror(error.errno or 0)}.") from error
    return data


def _decode(data: bytes, number: int) -> str | InvalidContentError:
    if len(data) > BYTES_MAX:
        return InvalidContentError(f"Line {number} of stdin holds more than {BYTES_MAX} bytes; it was left out.")
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError:
        return InvalidContentError(f"Line {number} of stdin is no UTF-8 text; it was left out.")
