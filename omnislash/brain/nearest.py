"""The nearest known name to one that is not known."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How alike two names must be to be taken for a slip, from 0 to 1 (the measure of `difflib`).
_ALIKE = 0.6


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant; letter case, `-` and `_` do not count.

    `recent_days` finds `recentDays`, and `recallResult` finds `recallResults`.
    """
    folded = {_fold(candidate): candidate for candidate in known}
    near = difflib.get_close_matches(_fold(name[:100]), folded, n=1, cutoff=_ALIKE)
    return folded[near[0]] if near else None


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Return `Did you mean …?`, or None when nothing is near."""
    near = find_nearest(name, known)
    return f"Did you mean {near!r}?" if near else None


def is_slip(name: str, meant: str) -> bool:
    """Tell whether a name differs from another by a slip at most: its case, one letter, or letters that changed places.

    Far stricter than `find_nearest`, for names that may as well be meant as they are.
    """
    one, other = _fold(name), _fold(meant)
    if len(one) == len(other):
        return sum(left != right for left, right in zip(one, other, strict=True)) <= 1 or sorted(one) == sorted(other)
    shorter, longer = sorted((one, other), key=len)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))
