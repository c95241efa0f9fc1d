"""Each text goes to the embedder that can read it.

One brain may have notes in two spaces: English ones in that of the small English model, which is the better one there, and
those in other languages in that of the multilingual one.
Both answer on one scale, and recall is same-language by rule, so a message goes to the space of its own language.

Rules: RECALL-17, RECALL-O3, LANG-05, LANG-08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.core.languages import resolve_languages
from omnislash.index.embedders.scripts import count_letters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.core.languages import Script
    from omnislash.index.embedders.ports import Embedder

#: Share of a message's letters from which on a second script has a say: one word in a sentence has not.
SECOND_SCRIPT_SHARE = 0.25


class Router:
    """Chooses among embedders by the script of a text and the listed language that owns the script."""

    def __init__(self, embedders: Sequence[Embedder], languages: Sequence[str]) -> None:
        """Keep the embedders, the preferred one first, and who owns which script.

        Raises:
            InvalidNameError: The list of languages is not one (LANG-06, LANG-O1).
        """
        self._embedders = tuple(embedders)
        self._owners = resolve_languages(languages)

    def route(self, text: str) -> Embedder | None:
        """Return the first embedder that reads the script that most letters of a text belong to; None when none does.

        Args:
            text: A message, or a note as it stands; not a note's searched text, whose English date would outvote a short
                Russian note. Without a letter it goes to the first embedder.
        """
        letters = count_letters(text)
        if not letters:
            return self._embedders[0] if self._embedders else None
        return self._find_reader(letters.most_common(1)[0][0])

    def routes(self, query: str) -> tuple[Embedder, ...]:
        """Return every embedder that has a say in a message, that of most letters first; empty when none reads it."""
        letters = count_letters(query)
        if not letters:
            return self._embedders[:1]
        wanted = letters.total() * SECOND_SCRIPT_SHARE
        readers = [self._find_reader(script) for script, count in letters.most_common() if count >= wanted]
        return tuple(dict.fromkeys(reader for reader in readers if reader is not None))

    def _find_reader(self, script: Script | None) -> Embedder | None:
        language = self._owners.get(script) if script is not None else None
        return next((each for each in self._embedders if each.reads(script, language)), None)
