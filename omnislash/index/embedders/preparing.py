"""What happens to texts before a model sees them, and which of them go through it together."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def prepare_text(text: str, *, limit_chars: int) -> str:
    """Return a text that every tokenizer takes: composed (NFC), cut, without NUL and halves of characters.

    Args:
        text: Any text; half an emoji becomes `?`, NUL becomes a blank.
        limit_chars: What follows is cut off before anything else is done, so that an endless line costs nothing.
    """
    cut = text[:limit_chars].encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFC", cut).replace("\0", " ")


def plan_runs(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Return which texts go through the model together, as positions in `lengths`.

    Texts of like length stand together, so that little is filled up; a run has `budget` tokens at most, counted as
    the model sees them (every text as long as the longest), or one text that alone has more.
    """
    runs: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        if runs and (len(runs[-1]) + 1) * lengths[place] <= budget:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
