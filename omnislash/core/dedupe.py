"""Whether a text adds anything to what is there already.

A whole entry is compared with whole entries and paragraphs, never with a part of one: what adds anything lands whole
and word for word, what adds nothing is dropped.
Letters of every script count, so two sentences are the same only when all of their letters are.

Rules: WRITE-14, WRITE-15, WRITE-O6.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def fold(text: str) -> str:
    """Return `text` as it is compared: composed (NFC), without case, each run of white space one blank.

    Rules: WRITE-O6.
    """
    caseless = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", caseless).split())


def is_same(content: str, units: Iterable[str]) -> bool:
    """Tell whether one of `units` says exactly what `content` says, after folding both.

    Args:
        content: The text to be written; for a deposit with its signature, as it would be stored.
        units: Texts of entries and paragraphs that are there already.

    Rules: WRITE-14, WRITE-15.
    """
    wanted = fold(content)
    return any(fold(unit) == wanted for unit in units)
