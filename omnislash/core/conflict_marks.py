"""The marks that a merge leaves in a file: lines that begin with exactly seven `<` or seven `>`.

A line of seven `=` alone is none: it underlines a heading (failure case O-51). Seven `>` are one only where seven `<` came
before them: a mail that was answered seven times is quoted so. Marks inside of a fenced block of markdown are an example
that somebody shows, as long as the block is closed.

Rules: failure case O-51.
Source: git-merge(1), "How conflicts are presented"; CommonMark 0.31, "Fenced code blocks".
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARK = re.compile(rb"(?:<{7}|>{7})(?![<>])(?=[ \t\r]|$)")
_HINTS = (b"<<<<<<<", b">>>>>>>")
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(rb" {0,3}(`{3,}|~{3,})[ \t\r]*$")
#: Behind the last line of every file.
_NO_BLOCK = (sys.maxsize, sys.maxsize)


def find_conflict_marks(data: bytes) -> tuple[int, ...]:
    """Return the numbers of the lines, from 1, that are marks of a conflict; a `=======` between them is not listed.

    Rules: failure case O-51.
    """
    if not any(hint in data for hint in _HINTS):
        return ()
    lines = data.split(b"\n")
    marks = [number for number, line in enumerate(lines) if _MARK.match(line)]
    return tuple(number + 1 for number in _pair(lines, _drop_fenced(lines, marks))) if marks else ()


def _drop_fenced(lines: list[bytes], marks: list[int]) -> Iterator[int]:
    """Yield the marks outside of closed fenced blocks; both come in order, so each block is looked at once."""
    blocks = _find_fenced(lines)
    start, end = next(blocks, _NO_BLOCK)
    for number in marks:
        while end < number:
            start, end = next(blocks, _NO_BLOCK)
        if number < start:
            yield number


def _pair(lines: list[bytes], marks: Iterable[int]) -> Iterator[int]:
    """Yield the marks that open a conflict, and those that close one that is open."""
    is_open = False
    for number in marks:
        opens = lines[number].startswith(b"<")
        if opens or is_open:
            yield number
        is_open = opens


def _find_fenced(lines: list[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the closed fenced blocks as the indexes of their first and last lines, in order."""
    start, fence = -1, b""
    for number, line in enumerate(lines):
        if not fence:
            if found := _FENCE.match(line):
                start, fence = number, found[1]
        elif (found := _CLOSING.match(line)) and found[1].startswith(fence):
            yield start, number
            fence = b""
