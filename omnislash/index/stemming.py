"""Terms: the stems, wholes, parts and pairs of characters under which a note is found and a question asks.

A word goes to the language that owns its script; what no listed language owns stays as it is written.
Snowball stems all languages but bulgarian and ukrainian, which have a dictionary of lemmas and endings of our own.

Rules: LANG-02, LANG-04, LANG-05, LANG-08, LANG-O2 to LANG-O5.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from Stemmer import Stemmer as Snowball

from omnislash.core.languages import Script, resolve_languages
from omnislash.core.words import (
    WORD_MAX,
    find_raw_words,
    find_script,
    find_unspaced_runs,
    fold,
    fold_word,
    has_humps,
    join_parts,
    split_characters,
    split_parts,
)
from omnislash.index.lemmas import LEMMA_CODES, open_lemmas, strip_bulgarian, strip_ukrainian
from omnislash.index.stop_words import get_stop_words, is_single_letter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: Raise it when the same text would give other terms: the index is rebuilt then.
STEMS_VERSION = 1
#: Most rounds of stemming a word.
ROUNDS_MAX = 8
#: Fewest letters that a second or later round may leave.
#: Joined pairs of form and lemma, and lemmas a stem, for one round, rounds without this limit, and rounds with it:
#: russian .846 1.04, .915 1.17, .915 1.17; lithuanian .822 1.40, .903 2.09, .900 1.95;
#: turkish .352 1.36, .504 1.56, .482 1.46; english .918 1.09, .925 1.11, .925 1.11
#: (15,000 pairs of simplemma's dictionaries each, 2026-12-01).
LATER_ROUND_MIN = 3
#: Words whose reading is kept: the vocabulary of some 50,000 notes without what occurs once; 24 MB when full (measured 2026-12-01).
CACHE_SIZE = 32_768
#: Fewest words in capitals that make a question one that is shouted: its capitals then mark no word.
SHOUTED_MIN = 3

#: Texts in quotation marks, at most 500 characters each.
_QUOTED = re.compile(
    r'"([^"]{1,500})"|\u00ab([^\u00ab\u00bb]{1,500})\u00bb'
    r"|[\u201c\u201e\u201f]([^\u201c\u201d\u201e\u201f]{1,500})[\u201d\u201c]"
    r"|\u300c([^\u300c\u300d]{1,500})\u300d"
)
_EXACT_SIGNS = frozenset("_/\\:.@+#")
#: Capital letters in Turkish: I is the dotless one.
_TURKISH_CAPITALS = str.maketrans({"I": "\u0131", "\u0130": "i"})
#: What Irish puts before a vowel: `hÉireann`, `tUachtarán`, `t-athair`.
_IRISH_PREFIX = re.compile(r"^(?:[hnt](?=[AEIOU\u00c1\u00c9\u00cd\u00d3\u00da])|[hnt]-)")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word that a question asks for.

    A note holds it when it has `term`, or when there are `parts` and it has all of them.
    """

    #: The word as typed, folded.
    text: str
    term: str
    #: Terms of the parts of a compound.
    parts: tuple[str, ...] = ()
    #: Whether the word carries no topic.
    is_stop: bool = False
    #: Whether it stands for something exact: an identifier, number, version, path, hash, date.
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read."""

    #: As it was typed.
    text: str
    #: Its words in the order of their first use, each term once.
    words: tuple[QueryWord, ...]
    #: What stands in quotation marks, as it was typed.
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one written word asks for in a question, and under which terms it is found in a note."""

    words: tuple[QueryWord, ...]
    terms: tuple[str, ...]


def _keep(word: str) -> str:
    return word


def _undot(word: str) -> str:
    """Read the dotless i as i, so that a Turkish word in capitals, typed with either, is the same word."""
    return word.replace("\u0131", "i")


#: What is done to the last stem of a language.
_FINISH: dict[str, Callable[[str], str]] = {
    "bulgarian": strip_bulgarian,
    "turkish": _undot,
    "ukrainian": strip_ukrainian,
}


def stem_fully(step: Callable[[str], str], word: str) -> str:
    """Return the stem that stemming no longer changes; of stems that turn into each other the first by code point.

    Rules: LANG-O4.
    """
    seen = [word]
    for stems in range(ROUNDS_MAX):
        following = step(seen[-1])
        if following in seen:
            return min(seen[seen.index(following) :])
        if stems and len(following) < LATER_ROUND_MIN:
            break
        seen.append(following)
    return seen[-1]


class _LanguageStemmer:
    """Stems words of one language; safe for threads, though what it stems with is not."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._finish = _FINISH.get(language, _keep)
        self._lock = threading.Lock()
        self._step: Callable[[str], str] | None = None

    def stem(self, word: str) -> str:
        """Return the stem of a folded word; a word that cannot be encoded stays as it is."""
        with self._lock:
            self._step = self._step or self._open()
            try:
                return self._finish(stem_fully(self._step, word))
            except UnicodeEncodeError:
                return word

    def _open(self) -> Callable[[str], str]:
        if self._language in LEMMA_CODES:
            return open_lemmas(self._language)
        step: Callable[[str], str] = Snowball(self._language, 0).stemWord
        return step


class Stemmer:
    """Reads notes and questions as terms, for the listed languages.

    Safe for threads. What it has read it keeps, within bounds.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        """Take the listed languages; dictionaries are read when the first word needs them.

        Raises:
            InvalidNameError: When the list is not a list of supported languages, as `resolve_languages` says.

        Rules: LANG-05, LANG-06, LANG-O1, LANG-O2.
        """
        self._languages = dict(resolve_languages(languages))
        stemmers = {language: _LanguageStemmer(language) for language in self._languages.values()}
        self._stemmers = {script: stemmers[language] for script, language in self._languages.items()}
        self._stops = {script: get_stop_words(language) for script, language in self._languages.items()}
        self._is_irish = self._languages.get(Script.latin) == "irish"
        self._is_turkish = self._languages.get(Script.latin) == "turkish"
        self._stem = lru_cache(CACHE_SIZE)(self._stem_word)
        self._read = lru_cache(CACHE_SIZE)(self._read_raw)

    def stem(self, token_text: str, script: Script | None) -> str:
        """Return the stem of a folded word in its script; at most 64 characters.

        A word of a script that no listed language owns comes back as it is.

        Rules: LANG-02, LANG-04, LANG-05, LANG-O4.
        """
        return self._stem(token_text[:WORD_MAX], script)

    def note_terms(self, text: str) -> Counter[str]:
        """Return every term under which a note with this text is found, with how often it stands there.

        Terms are the stems of its words, of compounds and of their parts, and the characters and pairs of characters of
        text without blanks.

        Rules: LANG-02, LANG-04, LANG-08.
        """
        terms: Counter[str] = Counter()
        for raw, count in Counter(find_raw_words(text)).items():
            found = self._reading(raw).terms
            if count == 1 and len(found) > WORD_MAX:
                terms.update(found)
            else:
                for term in found:
                    terms[term] += count
        return terms

    def parse_query(self, text: str) -> Query:
        """Return the words of a question, each term once.

        Rules: LANG-02, LANG-04, LANG-08.
        """
        raws = dict.fromkeys(find_raw_words(text))
        if _is_shouted(raws):
            raws = dict.fromkeys(find_raw_words(self._fold(text)))
        words: dict[str, QueryWord] = {}
        for raw in raws:
            for word in self._reading(raw).words:
                earlier = words.get(word.term)
                words[word.term] = word if earlier is None else _merge(earlier, word)
        return Query(text, tuple(words.values()), find_phrases(text))

    def _reading(self, raw: str) -> _Reading:
        return self._read(raw) if len(raw) <= WORD_MAX else self._read_raw(raw)

    def _read_raw(self, raw: str) -> _Reading:
        runs = find_unspaced_runs(raw)
        if not runs:
            return self._read_word(raw)
        words: list[QueryWord] = []
        terms: list[str] = []
        for reading in self._read_mixed(raw, runs):
            words += reading.words
            terms += reading.terms
        return _Reading(tuple(words), tuple(terms))

    def _read_mixed(self, raw: str, runs: Iterable[tuple[int, str]]) -> Iterator[_Reading]:
        """Read a word of which some stretches are written without blanks."""
        done = 0
        for offset, run in runs:
            yield from map(self._read_word, find_raw_words(raw[done:offset]))
            yield _read_run(run)
            done = offset + len(run)
        yield from map(self._read_word, find_raw_words(raw[done:]))

    def _read_word(self, raw: str) -> _Reading:
        raw = _IRISH_PREFIX.sub("", raw) if self._is_irish else raw
        text = fold_word(self._fold_turkish(raw))
        if not text:
            return _Reading((), ())
        term = self._find_term(text)
        raw_parts = split_parts(raw)
        readings = [self._reading(part) for part in raw_parts]
        terms = (term, *self._find_other_case(raw), *(found for reading in readings for found in reading.terms))
        words = [word for reading in readings for word in reading.words]
        is_stop = self._is_stop(text) or (bool(words) and all(word.is_stop and len(word.text) > 1 for word in words))
        word = QueryWord(text, term, self._find_parts(raw, words), is_stop, not is_stop and is_literal(raw))
        return _Reading((word,), tuple(dict.fromkeys(terms)))

    def _find_parts(self, raw: str, words: Sequence[QueryWord]) -> tuple[str, ...]:
        """Return the terms that together stand for a compound; an elided article (`dell'anno`) is not needed."""
        is_elided = "'" in fold(raw[:WORD_MAX])
        needed = [word.term for word in words if not (is_elided and word.is_stop)]
        return tuple(dict.fromkeys(needed)) or self._find_other_case(raw)

    def _find_term(self, text: str) -> str:
        joined = join_parts(text)
        if not any(letter.isdigit() for letter in joined) and not _EXACT_SIGNS.intersection(joined):
            joined = self._stem(joined, find_script(joined))
        return joined.replace("'", "") if find_script(joined) is not Script.cyrillic else joined

    def _find_other_case(self, raw: str) -> tuple[str, ...]:
        """Return the term that a word with a capital I has when it isn't Turkish, when turkish is listed."""
        return (self._find_term(fold_word(raw)),) if self._is_turkish and "I" in raw else ()

    def _is_stop(self, text: str) -> bool:
        script = find_script(text)
        return is_single_letter(text, script) or (script in self._stops and text in self._stops[script])

    def _stem_word(self, text: str, script: Script | None) -> str:
        stemmer = self._stemmers.get(script) if script else None
        return stemmer.stem(text)[:WORD_MAX] if stemmer else text

    def _fold_turkish(self, raw: str) -> str:
        return raw.translate(_TURKISH_CAPITALS) if self._is_turkish else raw

    def _fold(self, text: str) -> str:
        return fold(self._fold_turkish(text))


def _read_run(run: str) -> _Reading:
    """Read a stretch without blanks: a question asks for its pairs, or for its one character; a note has both.

    Rules: LANG-08.
    """
    characters = split_characters(run)
    pairs = [left + right for left, right in pairwise(characters)]
    return _Reading(tuple(map(_make_gram, pairs or characters)), (*characters, *pairs))


@lru_cache(CACHE_SIZE)
def _make_gram(gram: str) -> QueryWord:
    return QueryWord(gram, gram)


def _merge(earlier: QueryWord, later: QueryWord) -> QueryWord:
    """Return the earlier of two words of one term: a stop word only if both are, literal if either is."""
    if earlier is later:
        return earlier
    is_stop = earlier.is_stop and later.is_stop
    return replace(earlier, is_stop=is_stop, is_literal=earlier.is_literal or later.is_literal)


def _is_shouted(raws: Iterable[str]) -> bool:
    """Tell whether a question is in capitals throughout."""
    lettered = [raw for raw in raws if raw.upper() != raw.lower()]
    return len(lettered) >= SHOUTED_MIN and all(raw.isupper() for raw in lettered)


def is_literal(raw: str) -> bool:
    """Tell whether a word, as typed, stands for something exact: an identifier, number, version, path, hash, date."""
    shown = raw[: 4 * WORD_MAX].strip("_")
    if any(letter.isdigit() for letter in shown) or _EXACT_SIGNS.intersection(shown):
        return True
    if shown.isupper():
        return sum(letter.isalpha() for letter in shown) > 1
    return has_humps(shown) or ("-" in shown and shown[1:] != shown[1:].lower())


def find_phrases(text: str) -> tuple[str, ...]:
    """Return the texts in quotation marks, as typed and without blanks around them, in order."""
    phrases = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return tuple(phrase for phrase in phrases if phrase)
