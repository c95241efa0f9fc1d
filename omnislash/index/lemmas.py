"""Stems of bulgarian and ukrainian, which Snowball does not have: a dictionary of lemmas, then endings.

The dictionary (simplemma) is read on first use and stays in its compact form: 4 MB more for bulgarian and 9 MB for
ukrainian after 0.2 and 0.6 s, against 24 and 61 MB after 0.3 and 1.2 s when unpacked; a new word takes 0.1 ms, which
a cache of stems hides (measured 2026-12-01, 2 cores).
Guessing at parts of words that the dictionary does not have is left out: a new word took 0.11 to 0.20 ms with it.
Endings come off every lemma, so that a name or a new word, which no dictionary has, meets its own forms.

Rules: LANG-O3.
"""

# ruff: noqa: RUF001  (endings are Cyrillic)

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from omnislash.core.words import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Code under which the dictionary of a language is kept.
LEMMA_CODES: Mapping[str, str] = MappingProxyType({"bulgarian": "bg", "ukrainian": "uk"})
#: Fewest letters that stay when an ending comes off: most roots of both languages have three or more.
STEM_MIN = 3

#: The article, which Bulgarian writes at the end of the word.
_BULGARIAN_ARTICLES = ("ият", "ът", "ят", "та", "то", "те")
#: Plurals and the vowels of gender and number.
_BULGARIAN_ENDINGS = ("ове", "еве", "ища", "и", "а", "я", "о", "е", "у", "ю", "ъ", "ь", "й")
#: What is left of stems in -ой and -ей, whose cases look like endings of their own.
_GLIDES = ("о", "е")
#: Cases of nouns, names and adjectives.
_UKRAINIAN_ENDINGS = (
    *("ові", "еві", "єві", "ами", "ями", "ого", "ому", "ими"),
    *("ою", "ею", "єю", "ів", "їв", "ам", "ям", "ах", "ях", "ом", "ем", "єм", "ій", "ої", "их", "ий", "им", "ей"),
    *("а", "я", "у", "ю", "и", "і", "ї", "о", "е", "є", "ь", "й"),
)


def _strip(word: str, endings: tuple[str, ...]) -> str:
    """Return `word` without the longest of `endings` that leaves enough of it; they come longest first."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_MIN:
            return word[: -len(ending)]
    return word


def strip_bulgarian(word: str) -> str:
    """Return a Bulgarian word without article, plural and final vowel.

    Rules: LANG-O3.
    """
    return _strip(_strip(_strip(word, _BULGARIAN_ARTICLES), _BULGARIAN_ENDINGS), _GLIDES)


def strip_ukrainian(word: str) -> str:
    """Return a Ukrainian noun, name or adjective without its case.

    Rules: LANG-O3.
    """
    return _strip(_strip(word, _UKRAINIAN_ENDINGS), _GLIDES)


@lru_cache(maxsize=len(LEMMA_CODES))
def open_lemmas(language: str) -> Callable[[str], str]:
    """Return what gives the lemma of a folded word, itself folded; a word that is not known stays as it is.

    What comes back is not safe for two threads at once.

    Raises:
        KeyError: When the language has no dictionary here.
    """
    from simplemma.strategies import (  # noqa: PLC0415  (read only when the language is listed)
        LOW_MEMORY_DICTIONARY_FACTORY,
        DictionaryLookupStrategy,
        RulesStrategy,
    )

    code = LEMMA_CODES[language]
    dictionary = DictionaryLookupStrategy(LOW_MEMORY_DICTIONARY_FACTORY)
    rules = RulesStrategy()

    def find_lemma(word: str) -> str:
        return fold(dictionary.get_lemma(word, code) or rules.get_lemma(word, code) or word)

    return find_lemma
