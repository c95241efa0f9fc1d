"""Which script the letters of a text belong to."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from types import MappingProxyType

from omnislash.core.languages import Script

#: Letters that are looked at; the script of a text shows in its first page.
_MOST_CHARS = 4_096
_BY_NAME = MappingProxyType({script.value.upper(): script for script in Script})


@lru_cache(maxsize=4_096)
def find_script(letter: str) -> Script | None:
    """Return the script of a letter; None for one that no supported language is written in."""
    return _BY_NAME.get(unicodedata.name(letter, "").partition(" ")[0])


def count_letters(text: str) -> Counter[Script | None]:
    """Return how many letters of each script a text has; digits, signs and marks on letters count for nothing."""
    return Counter(find_script(letter) for letter in text[:_MOST_CHARS] if letter.isalpha())
