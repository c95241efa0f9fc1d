"""What a text is about, for the offline model: its content words by their stems, and whether another text has them.

English, German and Russian are stemmed, and their irregular forms known; words of other languages in the same letters
are stemmed like those, which only has to be the same for both texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from omnislash.core.words import find_script
from omnislash.index.stemming import Stemmer
from omnislash.runtime.offline.irregular import find_roots
from omnislash.runtime.offline.languages import Language, find_language

if TYPE_CHECKING:
    from collections.abc import Collection

    from omnislash.index.stemming import QueryWord

#: Words by which one asks, beside the stop words: they say nothing about what is asked.
_ASKING: Final = {
    Language.ENGLISH: (
        "tell show find search look know remember remind note noted say says said please today tomorrow yesterday memory "
        "cost costs much many anything something may might must shall allowed day time hour last"
    ),
    Language.GERMAN: (
        "sag sage zeig zeige such suche finde weißt erinnere erinnerst bitte heute morgen gestern kostet kosten etwas gedächtnis "
        "notiert darf dürfen muss müssen kann tag uhr uhrzeit zeit"
    ),
    Language.RUSSIAN: (
        "расскажи покажи найди поищи знаешь помнишь скажи напомни пожалуйста сегодня завтра вчера памяти стоит стоят "
        "можно нужно надо день времени часов"
    ),
}
#: Pairs of words that ask, of which the second one alone would be a word of the matter.
_ASKING_PAIR = re.compile(
    r"\b(?:how (?:long|many|much|often|far|old|soon)|wie (?:lange?|oft|viele?|weit|alt)|как (?:долго|часто|давно|скоро))\b",
    re.IGNORECASE,
)
#: What ends a sentence: a capital behind it makes no name.
_SENTENCE_ENDS: Final = ".!?:…"
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Subject:
    """A content word; a text has it when it has one of its terms, or all of its parts."""

    #: The word, folded.
    text: str
    #: Stems under which it may stand, in the languages of the rules.
    terms: frozenset[str]
    #: Stems of the parts of a compound.
    parts: tuple[str, ...] = ()


@cache
def _stemmer(language: Language) -> Stemmer:
    """Return what reads a text: Latin letters as English or German, Cyrillic ones as Russian."""
    latin = Language.GERMAN if language is Language.GERMAN else Language.ENGLISH
    return Stemmer((latin.value, Language.RUSSIAN.value))


@cache
def _asking_terms(language: Language) -> frozenset[str]:
    return frozenset(word.term for word in _stemmer(language).parse_query(_ASKING[language]).words)


def find_subjects(text: str, *, is_asked: bool = False) -> tuple[Subject, ...]:
    """Return the content words of a text, each once; of a question without those that only ask."""
    language = find_language(text)
    words = _stemmer(language).parse_query(_ASKING_PAIR.sub(" ", text) if is_asked else text).words
    kept = (word for word in words if not word.is_stop and not (is_asked and word.term in _asking_terms(language)))
    return tuple(_make_subject(word, language) for word in kept)


def find_names(text: str) -> frozenset[str]:
    """Return the folded words that stand there as names: with a capital, and at the beginning of no sentence."""
    if find_language(text) is Language.GERMAN:
        return frozenset()
    named = [found[0] for found in _WORD.finditer(text) if found[0][0].isupper() and _is_inside(text, found.start())]
    return frozenset(word.text for word in _stemmer(Language.ENGLISH).parse_query(" ".join(named)).words)


def _is_inside(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at].rstrip(" \"'«„“(")
    return bool(before) and before[-1] not in _SENTENCE_ENDS and "\n" not in text[max(0, at - 1) : at]


def _make_subject(word: QueryWord, language: Language) -> Subject:
    if word.is_literal:
        return Subject(word.text, frozenset({word.term}), word.parts)
    script = find_script(word.text)
    terms = {word.term}
    for reading in (Language.ENGLISH, Language.GERMAN):
        terms.add(_stemmer(reading).stem(word.text, script))
    return Subject(word.text, frozenset(terms | _find_roots(terms, language)), word.parts)


@lru_cache(maxsize=2_048)
def find_terms(text: str) -> frozenset[str]:
    """Return the stems under which a text is found."""
    terms = {term for language in (Language.ENGLISH, Language.GERMAN) for term in _stemmer(language).note_terms(text)}
    return frozenset(terms | _find_roots(terms, find_language(text)))


def _find_roots(terms: Collection[str], language: Language) -> set[str]:
    """Return the words of which the stems are irregular forms: in all letters of the text's language, and in Russian."""
    latin = Language.GERMAN if language is Language.GERMAN else Language.ENGLISH
    return {root for term in terms for root in find_roots(term, Language.RUSSIAN if _is_cyrillic(term) else latin)}


def _is_cyrillic(term: str) -> bool:
    return "\u0400" <= term[:1] <= "\u052f"


def holds(terms: Collection[str], word: Subject) -> bool:
    """Tell whether a text with these stems has a word."""
    return any(term in terms for term in word.terms) or (bool(word.parts) and all(part in terms for part in word.parts))


def count_held(terms: Collection[str], words: Collection[Subject]) -> int:
    """Return how many of the words a text with these stems has."""
    return sum(holds(terms, word) for word in words)


def fold(text: str) -> str:
    """Return a text as it is compared: its letters and digits, small."""
    return "".join(char for char in text.casefold() if char.isalnum())
