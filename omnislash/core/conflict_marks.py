"""The marks that a merge leaves in a file: lines that begin with exactly seven `<` or seven `>`.

A line of seven `=` alone is none: it underlines a heading (failure case O-51). Marks inside of a fenced block of markdown
are an example that somebody shows, as long as the block is closed.

Rules: failure case O-51.
Source: git-merge(1), "How conflicts are presented"; CommonMark 0.31, "Fenced code blocks".
"""

from __future__ import annotations

import re

_MARK = re.compile(rb"(?:<{7}|>{7})(?![<>])(?=[ \t\r]|$)")
_HINTS = (b"<<<<<<<", b">>>>>>>")
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(rb" {0,3}(`{3,}|~{3,})[ \t\r]*$")


def find_conflict_marks(data: bytes) -> tuple[int, ...]:
    """Return the numbers of the lines, from 1, that are marks of a conflict; a `=======` between them is not listed.

    Rules: failure case O-51.
    """
    if not any(hint in data for hint in _HINTS):
        return ()
    lines = data.split(b"\n")
    marks = [number for number, line in enumerate(lines) if _MARK.match(line)]
    if not marks:
        return ()
    fenced = _find_fenced(lines)
    return tuple(number + 1 for number in marks if not any(start < number < end for start, end in fenced))


def _find_fenced(lines: list[bytes]) -> list[tuple[int, int]]:
    """Return the closed fenced blocks as the indexes of their first and last lines."""
    blocks: list[tuple[int, int]] = []
    start, fence = -1, b""
    for number, line in enumerate(lines):
        if not fence:
            if found := _FENCE.match(line):
                start, fence = number, found[1]
        elif (found := _CLOSING.match(line)) and found[1].startswith(fence):
            blocks.append((start, number))
            fence = b""
    return blocks
