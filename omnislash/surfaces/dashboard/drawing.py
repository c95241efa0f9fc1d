"""What templates draw with: numbers, instants and the like as a person reads them."""

from __future__ import annotations

import functools
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.surfaces.dashboard.markdown import join_steps, render_markdown
from omnislash.surfaces.help_pages import resolve_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from markupsafe import Markup

_KILO: Final = 1000
#: As many digits are read at a glance.
_WHOLE_DIGITS: Final = 4
#: Rendered notes that are kept; the longest has 100,000 chars. A page that follows changes asks for the same one again.
_NOTES_KEPT: Final = 64
#: A help page that another one names.
_MENTION: Final = re.compile(r"`omnislash help ([a-z][a-z/-]*)`")


def draw_number(value: float) -> str:
    """Return a whole number in groups of three digits, parted by narrow spaces.

    One of four digits stays whole, as in the reading of a budget, which stands beside it on many pages.
    """
    whole = f"{value:.0f}"
    if len(whole.removeprefix("-")) <= _WHOLE_DIGITS:
        return whole
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def draw_words(name: str) -> str:
    """Return a name of the engine's as words: `nothing_saved` is `nothing saved`, `read-only` stays."""
    return name.replace("_", " ")


def draw_code(text: str) -> Markup:
    """Return a sentence of the engine's with what stands between backticks as code, everything escaped."""
    from markupsafe import Markup  # noqa: PLC0415 - not needed for the help

    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # one backtick has no partner
        return Markup("{}").format(text)
    plain, code = Markup("{}"), Markup("<code>{}</code>")
    return Markup("").join((code if number % 2 else plain).format(piece) for number, piece in enumerate(pieces))


def draw_instant(value: str | None) -> str:
    """Return an ISO instant as `2026-12-01 20:15`, in the zone that it names; '' for None."""
    if not value:
        return ""
    try:
        return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return value


def draw_score(value: float | None) -> str:
    """Return a score with two digits; a dash for None."""
    return "\N{EN DASH}" if value is None else f"{value:.2f}"


def draw_percent(share: float | None) -> str:
    """Return a share of 1 as a whole percentage; a dash for None."""
    return "\N{EN DASH}" if share is None else f"{share:.0%}"


def draw_age(seconds: float) -> str:
    """Return a span of time in its largest unit that is over twice: `now`, `45 s`, `12 min`, `5 h`, `3 days`."""
    for unit, least, size in (("days", 172_800, 86_400), ("h", 7_200, 3_600), ("min", 120, 60), ("s", 1, 1)):
        if seconds >= least:
            return f"{seconds // size:.0f} {unit}"
    return "now"


def draw_size(size: int | None) -> str:
    """Return a number of bytes as `812 bytes`, `14 kB` or `3.2 MB`; '' for None."""
    if size is None:
        return ""
    if size < _KILO:
        return "1 byte" if size == 1 else f"{size} bytes"
    return f"{size / _KILO:.0f} kB" if size < _KILO * _KILO else f"{size / _KILO / _KILO:.1f} MB"


@functools.lru_cache(maxsize=_NOTES_KEPT)
def draw_note(text: str, place: str) -> Markup:
    """Return the HTML of a document; its links to others of the brain lead to their pages, `#L12` to its line 12.

    Args:
        text: Markdown.
        place: Path of the document in the brain, `memory/main/MEMORY.md`.
    """
    return render_markdown(text, link_base=lambda path: _find_page(place, path), has_lines=True)


def _find_page(place: str, path: str) -> str | None:
    """Return the page of a document that a link names, seen from the document at `place`; None outside of the brain."""
    found = join_steps(place, path)
    if found is None:
        return None
    page = ["knowledge", *found[1:]] if found[:1] == [MANAGED_ROOT] else ["sources", *found]
    return quote("/" + "/".join(page), safe="/@:~,")


def draw_prompt(text: str) -> Markup:
    """Return the HTML of a prompt; its links lead nowhere, for a model is who reads it."""
    return render_markdown(text, top_level=3)


@functools.lru_cache(maxsize=64)
def draw_help(text: str, topic: str) -> Markup:
    """Return the HTML of a help page below its title; where it names another page, it links it.

    Args:
        text: Markdown, its title in the first line.
        topic: Of the page itself.
    """
    below = text.partition("\n")[2]
    fenced = below.split("```")
    linked = [part if number % 2 else _MENTION.sub(_link_mention, part) for number, part in enumerate(fenced)]
    return render_markdown("```".join(linked), link_base=f"/help/{topic}")


def _link_mention(mention: re.Match[str]) -> str:
    topic = resolve_topic(mention[1])
    return mention[0] if topic is None else f"[{mention[0]}](/help/{topic})"


#: Filters of the templates by name; each page's module may bring more through `app.py`.
FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "number": draw_number,
    "words": draw_words,
    "code": draw_code,
    "instant": draw_instant,
    "score": draw_score,
    "size": draw_size,
    "note": draw_note,
    "percent": draw_percent,
    "age": draw_age,
    "prompt_html": draw_prompt,
    "help_html": draw_help,
}
