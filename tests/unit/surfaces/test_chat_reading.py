"""What a person types becomes a message or a command, and what comes by a pipe becomes one message a line."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import InvalidContentError, StorageError
from omnislash.surfaces.cli import chat_reading
from omnislash.surfaces.cli.chat_reading import Command, read_piped, read_typed

if TYPE_CHECKING:
    from collections.abc import Callable

CTRL_C, CTRL_D = KeyboardInterrupt, EOFError


def typing(*lines: str | type[BaseException]) -> Callable[[str], str]:
    """Return what stands in for the terminal: these lines, and these keys."""
    left = list(lines)

    def ask(_prompt: str) -> str:
        line = left.pop(0)
        if isinstance(line, str):
            return line
        raise line

    return ask


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("Hello.",), "Hello."),
        (("  Hello.  ",), "Hello."),
        (("",), ""),
        ((" ",), ""),
        (("one\\", "two"), "one\ntwo"),
        (("one\\", "two\\", "", "three"), "one\ntwo"),
        (("kept \\\\",), "kept \\\\"),
        (("odd \\\\\\", "two"), "odd \\\\\ntwo"),
        (('"""one', "", 'two"""'), "one\n\ntwo"),
        (('"""', "one", "/quit", '"""'), "one\n/quit"),
        (('"""one line"""',), "one line"),
        (("one\\", CTRL_D), "one"),
        (('"""one', "two", CTRL_D), "one\ntwo"),
        (("one\\", CTRL_C), ""),
        (('"""one', CTRL_C), ""),
        (("//etc is full",), "/etc is full"),
        (("a /quit",), "a /quit"),
    ],
)
def test_lines_become_a_message(lines: tuple[str | type[BaseException], ...], message: str) -> None:
    """A message may have several lines; Ctrl-D ends it and Ctrl-C drops it."""
    assert read_typed(typing(*lines)) == message


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/quit", Command("quit", "")),
        ("/model  openai:gpt-6-mini ", Command("model", "openai:gpt-6-mini")),
        ("/ help", Command("help", "")),
        ("/", Command("", "")),
        ("/etc/hosts is odd", Command("etc/hosts", "is odd")),
    ],
)
def test_a_slash_begins_a_command(line: str, command: Command) -> None:
    """A command is never taken for a message."""
    assert read_typed(typing(line)) == command


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_a_key_at_the_prompt_is_handed_on(key: type[BaseException]) -> None:
    """Where no message was begun, the key ends the talk."""
    with pytest.raises(key):
        read_typed(typing(key))


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], list[object]]:
    """Read these bytes as they come by a pipe."""

    def read(data: bytes) -> list[object]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return list(read_piped())

    return read


def test_each_line_of_a_pipe_is_a_message(pipe: Callable[[bytes], list[object]]) -> None:
    """Line ends of any kind are taken off, empty lines are none, a last line needs no end, and nothing is a command."""
    assert pipe(b"one\r\n\n  \n/quit\ntwo \\\n\xc3\xa9") == ["one", "/quit", "two \\", "é"]
    assert pipe(b"") == []


def test_a_line_that_is_no_text_does_not_hold_up_the_others(pipe: Callable[[bytes], list[object]]) -> None:
    """It comes out as an error that names its line."""
    first, second, third = pipe(b"one\n\xff\xfe\nthree\n")
    assert (first, third) == ("one", "three")
    assert isinstance(second, InvalidContentError)
    assert "Line 2" in second.message


def test_a_line_without_end_is_not_taken_into_memory(
    pipe: Callable[[bytes], list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is far too long is left out whole, and its rest is no message of its own."""
    monkeypatch.setattr(chat_reading, "BYTES_MAX", 10)
    long, after = pipe(b"x" * 100 + b"\nafter\n")
    assert isinstance(long, InvalidContentError)
    assert after == "after"
    (endless,) = pipe(b"x" * 100)
    assert isinstance(endless, InvalidContentError)
    assert pipe(b"x" * 9 + b"\n" + b"y" * 10) == ["x" * 9, "y" * 10]  # the end of a line counts


def test_a_closed_stdin_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a stdin there is a sentence."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(StorageError, match="stdin is closed"):
        list(read_piped())
