"""What would change in a file, as a unified diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnislash.surfaces.adapters.planning import Change

#: Lines around a change.
_AROUND = 3


def diff(change: Change) -> str:
    """Return the unified diff of a change; empty when there is none.

    What both texts have in common before and behind is cut off first, so that a long file is compared quickly.
    """
    if not change.is_needed:
        return ""
    old, new = _lines(change.loaded.data), _lines(change.after)
    start = _count_common(old, new)
    end = min(_count_common(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    first, last = max(start - _AROUND, 0), max(end - _AROUND, 0)
    path = str(change.loaded.file.path)
    names = {
        "fromfile": "/dev/null" if change.loaded.data is None else path,
        "tofile": "/dev/null" if change.after is None else path,
    }
    found = difflib.unified_diff(
        old[first : len(old) - last], new[first : len(new) - last], n=_AROUND, lineterm="", **names
    )
    return "".join(f"{_shift(line, first)}\n" for line in found)


def _lines(data: bytes | None) -> list[str]:
    lines = [line.removesuffix("\r") for line in (data or b"").decode().removeprefix("\ufeff").split("\n")]
    return lines if lines[-1] else lines[:-1]


def _count_common(one: list[str], other: list[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _shift(line: str, by: int) -> str:
    """Return a header of a part with the line numbers of the whole file."""
    if not line.startswith("@@ "):
        return line
    words = line.split(" ")
    for at in (1, 2):
        number, comma, rest = words[at][1:].partition(",")
        words[at] = f"{words[at][0]}{int(number) + by}{comma}{rest}"
    return " ".join(words)
