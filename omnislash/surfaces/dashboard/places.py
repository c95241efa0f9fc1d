"""Where on this site a file of the brain is shown, and a note in it, by the path that tools use.

A link to a note names its line, and its first words for the browser to go to: what stands behind `:~:text=` is looked
for in the page as it is shown, and a browser that does not know this opens the file at its beginning.

Source: WICG, URL Fragment Text Directives.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from omnislash.core.corpora import Zone, locate
from omnislash.errors import InvalidNameError
from omnislash.surfaces.dashboard.answering import link

if TYPE_CHECKING:
    from omnislash.core.lines import AuthoredPath

#: How much of a note the browser looks for, in characters: enough to be the only place, and short enough for an address.
_WORDS_MAX: Final = 60
#: What stands before the words of a line: a mark of a list, a heading or a quotation, a box to tick.
_MARK: Final = re.compile(r"\s*(?:[-*+>]|#{1,6}|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
#: Signs that a rendered page does not show as they are written.
_MARKUP: Final = re.compile(r"[*_`~<>|&\\\[\]]|!\[|https?:")


def link_file(path: str, sources: tuple[AuthoredPath, ...], *, at: int | None = None, text: str = "") -> str | None:
    """Return the link to a file, at a note in it; None for a text that can't be a path.

    Args:
        path: A managed path (`main/MEMORY.md`), or one of a source, as tools write it.
        sources: The declared sources.
        at: First line of the note, counted from 1.
        text: The note as it stands in the file; '' when it is not known.
    """
    page = _link_page(path, sources)
    if page is None or at is None:
        return page
    words = _first_words(text)
    directive = f":~:text={quote(words, safe='').replace('-', '%2D')}" if words else ""
    return f"{page}#L{at}{directive}"


@lru_cache(maxsize=4096)
def _link_page(path: str, sources: tuple[AuthoredPath, ...]) -> str | None:
    """Return the link to a file; a log names the same few many times."""
    try:
        located = locate(path, sources=sources)
    except InvalidNameError:
        return None
    page = "/knowledge" if located.zone is Zone.MANAGED else "/sources"
    return link(f"{page}/{located.path}")


def _first_words(note: str) -> str:
    """Return the first words of a note that a rendered page shows just as they are written."""
    line = next((each for each in note.splitlines() if each.strip()), "")
    plain = _MARKUP.split(_MARK.sub("", line, count=1), maxsplit=1)[0].strip()
    if len(plain) <= _WORDS_MAX:
        return plain if plain == line.strip() or " " in plain else ""
    return plain[:_WORDS_MAX].rpartition(" ")[0]
