"""The language of a text, among those that the rules of the offline model know: English, German and Russian.

Most words decide: where they are Cyrillic it is Russian. Else the little words decide between German and English, and
where they are even an umlaut; what has neither is English.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final

from omnislash.core.words import fold
from omnislash.index.stop_words import get_stop_words


class Language(StrEnum):
    """A language that has rules and sentences; the values are names of the index."""

    ENGLISH = "english"
    GERMAN = "german"
    RUSSIAN = "russian"


_CYRILLIC = re.compile(r"[\u0400-\u052f]+")
_WORD = re.compile(r"[^\W\d_]+")
_UMLAUT = re.compile("[äöüß]", re.IGNORECASE)
#: Words beyond these say nothing new about the language of a text.
_READ_MOST: Final = 5_000
#: German words that no list of stop words has and a short message is made of.
_GERMAN_MORE: Final = (
    "danke dank hallo guten gute nacht schönen moin tschüss servus merke merk merken notiere notier vergiss vergesse vergessen zeig zeige suche such "
    "finde sag kostet heute gestern übermorgen wieviel okay gut erledigt prima feierabend"
)
#: Languages that share little words with German, of which these then say nothing.
_NEIGHBOURS: Final = ("english", "french", "spanish", "italian", "portuguese")


@cache
def _german_words() -> frozenset[str]:
    shared = frozenset().union(*(get_stop_words(language) for language in _NEIGHBOURS))
    return (get_stop_words("german") - shared) | {fold(word) for word in _GERMAN_MORE.split()}


@cache
def _english_words() -> frozenset[str]:
    return get_stop_words("english") - get_stop_words("german")


def find_language(text: str) -> Language:
    """Return the language whose rules and sentences a text gets."""
    read = text[:_READ_MOST]
    words = [fold(word) for word in _WORD.findall(read)]
    if 2 * sum(_CYRILLIC.fullmatch(word) is not None for word in words) > len(words):
        return Language.RUSSIAN
    german = sum(word in _german_words() for word in words)
    english = sum(word in _english_words() for word in words)
    is_german = german > english or (german == english and _UMLAUT.search(read) is not None)
    return Language.GERMAN if is_german else Language.ENGLISH
