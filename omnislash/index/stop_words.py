"""Stop words: words of a question that carry no topic of their own.

They are compared as they are written, never by stem: by stem `mining` would fall with `mine` and `doer` with `do`.
So the lists hold every form.
A stop word stays a word of the question and is found in notes like any other; ranking and coverage leave it out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from omnislash.core.languages import Script
from omnislash.core.words import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LISTS = Path(__file__).with_name("stop_words.txt")
#: Scripts whose single letters say nothing: initials, list marks, `a`, `в`, `и`.
_LETTER_SCRIPTS = (Script.latin, Script.cyrillic)


def _read_lists() -> Iterator[tuple[str, str]]:
    """Return each word of the file with the language that it stands under."""
    language = ""
    for line in _LISTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif not line.startswith("#"):
            yield from ((language, word) for word in line.split())


@cache
def _load() -> Mapping[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for language, word in _read_lists():
        lists.setdefault(language, []).append(word)
    return lists


@cache
def get_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a supported language, folded as words are compared.

    Raises:
        KeyError: When `language` is none of the 27.
    """
    return frozenset(map(fold, _load()[language]))


def is_single_letter(text: str, script: Script | None) -> bool:
    """Tell whether a folded word is one Latin or Cyrillic letter."""
    return len(text) == 1 and text.isalpha() and script in _LETTER_SCRIPTS
