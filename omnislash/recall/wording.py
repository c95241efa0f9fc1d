"""What a search says of a score, for every door that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMES = "\N{MULTIPLICATION SIGN}"


def describe_score(each: Mapping[str, Any]) -> str:
    """Return what a score is made of, as a phrase; '' for a note that has none.

    Args:
        each: An explanation as its `to_json` gives it.

    Rules: RECALL-01.
    """
    if each["score"] is None:
        return ""
    found, missing = len(each["matched"]), len(each["missing"])
    words = f"{found} of {found + missing} words"
    if each["meaning"] is None:
        return f"by words alone, {words}; words like “the” count for nothing then"
    if not found + missing:
        return f"by meaning alone, {each['meaning']:.4f}"
    from omnislash.core.scoring import MEANING_WEIGHT, WORDS_WEIGHT  # noqa: PLC0415 - numpy, for this phrase only

    return f"{MEANING_WEIGHT} {_TIMES} meaning {each['meaning']:.4f} + {WORDS_WEIGHT} {_TIMES} {words}"
