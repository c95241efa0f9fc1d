"""How two texts differ, line by line, as a person reads it."""

from __future__ import annotations

import difflib
from typing import Any, Final

#: As many lines of each text are compared: what takes longer than a moment is no help any more.
_LINES_MAX: Final = 2_000
#: As many lines of the difference are shown.
_SHOWN_MAX: Final = 400
_KINDS: Final = {"-": "gone", "+": "new", "@": "place"}
_MARKS: Final = {"-": "\N{MINUS SIGN}"}


def compare(before: str, after: str) -> dict[str, Any]:
    """Return `{lines: [{kind, text}], cut}`: a unified difference.

    A line's kind is `gone`, `new`, `same` or `place`; the last says where in both texts the lines that follow stand.
    `cut` is true when the texts are longer than is compared or shown.
    """
    left, right = before.splitlines(), after.splitlines()
    found = difflib.unified_diff(left[:_LINES_MAX], right[:_LINES_MAX], n=2, lineterm="")
    lines = [_draw(line) for line in list(found)[2:]]  # the first two name files
    is_cut = max(len(left), len(right)) > _LINES_MAX or len(lines) > _SHOWN_MAX
    return {"lines": lines[:_SHOWN_MAX], "cut": is_cut}


def _draw(line: str) -> dict[str, str]:
    mark = line[:1]
    return {"kind": _KINDS.get(mark, "same"), "text": f"{_MARKS.get(mark, mark)}{line[1:]}"}
