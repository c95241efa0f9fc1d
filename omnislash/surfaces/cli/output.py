r"""What is printed: one JSON object, or text for people; and the exit code that belongs to it.

Text from files and from agents never steers a terminal: control characters and marks that turn the direction of
writing are shown as `\x1b` or `\u202e`. Only the content of `memory read` in a pipe is printed as it is.

Rules: WRITE-O1; interface.md, "Command line".
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from omnislash.errors import OmnislashError
from omnislash.surfaces.cli.streams import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

#: Exit code of each kind of error; 1 for those that are not named.
ERROR_CODES = {"usage": 2, "config": 2, "name": 2}
#: Exit code of each outcome; 1 for those that are not named (WRITE-O1).
OUTCOME_CODES = {"written": 0, "duplicate": 0, "queued": 3, "unconfirmed": 3}
_COLOURS = {"written": "green", "duplicate": "cyan", "queued": "yellow", "unconfirmed": "yellow"}
#: C0 and C1 without tab and newline, the marks and overrides of direction, line separators, and halves of pairs.
_STEERING = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class OutputError(OmnislashError):
    """The answer could not be printed."""

    kind = "output"

    def __init__(self, reason: str, *, state: str | None = None) -> None:
        """Say why, and what is the case all the same."""
        self.reason = reason
        end = f"; {state}" if state else ""
        super().__init__(f"The answer could not be printed ({reason}){end}.")


class _Guarded(io.TextIOBase):
    """A stream whose faults are known as its own.

    A fault of stdout is an OutputError, except that a reader who went away stays a BrokenPipeError.
    A fault of stderr is nothing: there is nowhere left to tell it.
    """

    encoding = "utf-8"

    def __init__(self, stream: TextIO | None, *, is_needed: bool) -> None:
        self.encoding = (stream and stream.encoding) or self.encoding
        self._stream = stream
        self._is_needed = is_needed
        #: Why nothing can be written any more; None while it can.
        self._fault = None if stream else "stdout is closed"

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):  # click tries bytes, to find out what it has
            raise TypeError("text is meant")
        if text:
            self._pass(lambda stream: stream.write(text))
        return len(text)

    def flush(self) -> None:
        if self._stream is not None:
            self._pass(lambda stream: stream.flush())

    def close(self) -> None:
        """Leave the stream to the interpreter: a fault of it has been told, and is not told again at the end."""

    def _pass(self, act: Callable[[TextIO], object]) -> None:
        """Do something with the stream, and let no second try hide a fault."""
        if self._stream is not None and self._fault is None:
            try:
                act(self._stream)
            except OSError as error:
                if self._is_needed and isinstance(error, BrokenPipeError):
                    raise
                self._fault = error.strerror or str(error)
                leave(self._stream)
        if self._fault is not None and self._is_needed:
            raise OutputError(self._fault)


@contextlib.contextmanager
def tame_streams() -> Iterator[None]:
    """Let no character crash a stream that can't encode it, and know a fault of stdout from any other."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError):
                stream.reconfigure(errors="backslashreplace")
    out = cast("TextIO", _Guarded(sys.stdout, is_needed=True))
    err = cast("TextIO", _Guarded(sys.stderr, is_needed=False))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


@contextlib.contextmanager
def naming(state: str) -> Iterator[None]:
    """Print an answer; when that fails, the error says what is the case all the same.

    Raises:
        OutputError: It could not be printed.
    """
    try:
        yield
        sys.stdout.flush()
    except OutputError as error:
        raise OutputError(error.reason, state=state) from error


def show_controls(text: str) -> str:
    """Return the text with characters that steer a terminal made visible."""
    return _STEERING.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def is_terminal(stream: TextIO | None = None) -> bool:
    """Tell whether a stream, by default stdout, is a terminal."""
    with contextlib.suppress(ValueError, AttributeError):
        return (stream or sys.stdout).isatty()
    return False


def print_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object; in ASCII where stdout can't hold the text."""
    text = json.dumps(answer, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeError:
        text = json.dumps(answer)
    sys.stdout.write(text + "\n")


def print_line(text: str = "", *, err: bool = False, **style: Any) -> None:
    """Print a line for a person, coloured on a terminal."""
    stream = sys.stderr if err else sys.stdout
    shown = show_controls(text)
    if style and is_terminal(stream):
        shown = click.style(shown, **style)
    stream.write(shown + "\n")


def print_error(error: Mapping[str, Any], *, as_json: bool) -> int:
    """Print an error and return its exit code; with JSON the sentence goes to stderr as well.

    Where stdout can't be written, the sentence on stderr is all that can be said.
    """
    if as_json and error["kind"] != OutputError.kind:
        with contextlib.suppress(OutputError):
            print_json({"error": dict(error)})
            sys.stdout.flush()
    message, hint = str(error["message"]), error.get("hint")
    print_line(f"omnislash: {message}", err=True, fg="red")
    if hint and str(hint) not in message:
        print_line(f"  {hint}", err=True)
    return ERROR_CODES.get(str(error["kind"]), 1)


def print_verdict(verdict: Mapping[str, Any], *, as_json: bool, quiet: bool = False) -> int:
    """Print what became of a write and return the exit code."""
    outcome = str(verdict["outcome"])
    code = OUTCOME_CODES.get(outcome, 1)
    with naming(f"the write is {outcome}"):
        if as_json:
            print_json(verdict)
        elif code != 0 or not quiet:
            print_line(outcome, fg=_COLOURS.get(outcome, "red"), bold=True)
            print_line(f"  {verdict['message']}")
    return code


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: drawn on a terminal that is wide enough, in aligned columns elsewhere; nothing without rows."""
    cells = [[show_controls(str(cell)).replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        return
    widths = [max(len(row[at]) for row in [list(columns), *cells]) for at in range(len(columns))]
    if is_terminal() and sum(widths) + 3 * len(widths) < shutil.get_terminal_size().columns:
        _draw_table(columns, cells)
        return
    for row in [list(columns), *cells]:
        print_line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _draw_table(columns: Sequence[str], cells: list[list[str]]) -> None:
    from rich import box  # noqa: PLC0415 - only where a person looks
    from rich.console import Console  # noqa: PLC0415 - the same
    from rich.table import Table  # noqa: PLC0415 - the same
    from rich.text import Text  # noqa: PLC0415 - the same

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=sys.stdout).print(table)


def command_name(*, elsewhere: bool = False) -> str:
    """Return what to type for `omnislash` in this shell: its path when it is not found by name.

    Args:
        elsewhere: True when it will be typed in another directory.
    """
    started = Path(sys.argv[0])
    if shutil.which("omnislash") or started.name != "omnislash":
        return "omnislash"
    return shlex.quote(str(started.absolute()) if elsewhere else os.path.relpath(started))
