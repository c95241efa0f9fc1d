"""What a text is about, for the offline model: its content words by their stems, and whether another text has them.

English and Russian are stemmed; words of other languages in the same letters are stemmed like those, which only has to
be the same for both texts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from omnislash.index.stemming import Stemmer

if TYPE_CHECKING:
    from collections.abc import Collection

    from omnislash.index.stemming import QueryWord

_LETTER = re.compile(r"[^\W\d_]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
#: Words by which one asks, beside the stop words: they say nothing about what is asked.
_ASKING: Final = (
    "tell show find search look know remember remind note noted say says said please today tomorrow yesterday memory "
    "cost costs much many anything something расскажи покажи найди поищи знаешь помнишь скажи напомни пожалуйста сегодня "
    "завтра вчера памяти стоит стоят"
)


@cache
def _stemmer() -> Stemmer:
    return Stemmer(("english", "russian"))


@cache
def _asking_terms() -> frozenset[str]:
    return frozenset(word.term for word in _stemmer().parse_query(_ASKING).words)


def is_russian(text: str) -> bool:
    """Tell whether most letters of a text are Cyrillic: the frame of an answer is then Russian, else English."""
    letters = len(_LETTER.findall(text))
    return letters > 0 and 2 * len(_CYRILLIC.findall(text)) > letters


def find_subjects(text: str, *, is_asked: bool = False) -> tuple[QueryWord, ...]:
    """Return the content words of a text, each once; of a question without those that only ask."""
    words = _stemmer().parse_query(text).words
    return tuple(word for word in words if not word.is_stop and not (is_asked and word.term in _asking_terms()))


def find_terms(text: str) -> frozenset[str]:
    """Return the stems under which a text is found."""
    return frozenset(_stemmer().note_terms(text))


def holds(terms: Collection[str], word: QueryWord) -> bool:
    """Tell whether a text with these stems has a word."""
    return word.term in terms or (bool(word.parts) and all(part in terms for part in word.parts))


def count_held(terms: Collection[str], words: Collection[QueryWord]) -> int:
    """Return how many of the words a text with these stems has."""
    return sum(holds(terms, word) for word in words)


def fold(text: str) -> str:
    """Return a text as it is compared: its letters and digits, small."""
    return "".join(char for char in text.casefold() if char.isalnum())
