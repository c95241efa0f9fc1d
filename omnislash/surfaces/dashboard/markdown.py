"""Markdown as HTML that does nothing: what stands in a note is shown, and never run, loaded or sent.

Tags that somebody wrote into a note are shown as the text they are, comments included: what an agent reads, a person sees.
A picture is named and linked instead of loaded. What markdown-it makes is cleaned once more, by a list of what may stand.

Source: CommonMark 0.31; GitHub Flavored Markdown, tables and strikethrough; HTML Standard, `dir=auto`.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Makes a path of this site of a path that stands in a link, `../notes/plan.md`; None where there is no such page.
Resolve: TypeAlias = "Callable[[str], str | None]"

#: How deep blocks may stand in each other; the parser leaves out what is deeper.
_NESTING_MAX: Final = 40
_TOO_DEEP: Final = Markup("<p>What stands here more than 40 levels deep is left out of this view.</p>\n")
#: Opening brackets of a text that is parsed: each is looked at against all that follow, which takes the square of them.
_BRACKETS_MAX: Final = 10_000
_LAST_LEVEL: Final = 6
_SCHEMES: Final = frozenset({"http", "https", "mailto"})
#: What an id of a heading begins with, so that none is taken for one of the page's own.
_ID_PREFIX: Final = "doc-"
_FRONTMATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_NO_WORD: Final = re.compile(r"[^\w\- ]+")
#: Blocks that take the direction of what is written in them.
_DIRECTED: Final = frozenset(
    [f"{name}_open" for name in ("paragraph", "heading", "th", "td")] + ["fence", "code_block"]
)
#: Blocks of blocks: a browser would look for their direction beside the blocks that have one of their own, and find none.
_HOLDERS: Final = frozenset(("blockquote", "bullet_list", "ordered_list", "list_item", "table"))
#: How much of a text is looked at for the first letter that has a direction.
_LOOKED_AT_CHARS: Final = 1_000
#: The direction of a letter, by its class of the Unicode Bidirectional Algorithm (UAX #9, P2 and P3).
_DIRECTIONS: Final = {"L": "ltr", "R": "rtl", "AL": "rtl"}
#: Blocks that have the id of their line.
_NUMBERED: Final = frozenset(
    ["heading_open", "paragraph_open", "list_item_open", "blockquote_open", "tr_open", "fence", "code_block"]
)
_TAGS: Final = frozenset(
    {"a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "ul"}
    | {"h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"}
)
_ATTRIBUTES: Final = {
    "*": {"dir", "id"},
    "a": {"href", "title"},
    "ol": {"start"},
    "th": {"scope"},
}


def render_markdown(
    text: str, *, link_base: str | Resolve | None = None, top_level: int = 2, has_lines: bool = False
) -> Markup:
    """Return the HTML of a text.

    Headings keep their order and begin at `top_level`, whatever levels the text uses; each has the id `doc-<slug>`, to
    which `#slug` leads. A text of more than 10,000 opening brackets is no prose, and is shown as it stands.

    Args:
        text: Markdown; front matter is shown as it stands.
        link_base: Where the text's relative links lead: the path of its own page on this site (`/help/memory`), or a
            function that makes a path of this site of the link's path. None leaves them as words.
        top_level: Level of the first heading.
        has_lines: True gives the block that begins on line 12 the id `L12`.
    """
    if text.count("[") > _BRACKETS_MAX:
        return Markup("<pre><code>{}</code></pre>\n").format(text)
    resolve = functools.partial(_join, link_base) if isinstance(link_base, str) else link_base
    found = _FRONTMATTER.match(text)
    head = Markup("<pre><code>{}</code></pre>\n").format(found[0].strip()) if found else Markup()
    engine = _engine()
    tokens = engine.parse(text[found.end() :] if found else text)
    _settle(tokens, resolve, top_level)
    _direct(tokens)
    if has_lines:
        _number(tokens, 1 + (found[0].count("\n") if found else 0))
    html = Markup(_clean(engine.renderer.render(tokens, engine.options, {})))  # noqa: S704 - cleaned in the same breath
    is_cut = any(token.level >= _NESTING_MAX - 1 for token in tokens)
    return head + html + (_TOO_DEEP if is_cut else Markup())


@functools.cache
def _engine() -> MarkdownIt:
    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": _NESTING_MAX}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )


# -- what the tokens say ---------------------------------------------------------------------------------------------


def _settle(tokens: list[Token], resolve: Resolve | None, top_level: int) -> None:
    """Give blocks their direction, headings their level and id, and links their place."""
    above: list[int] = []
    ids: dict[str, int] = {}
    shown = _LAST_LEVEL
    for number, token in enumerate(tokens):
        if token.type in _DIRECTED:
            token.attrSet("dir", "auto")
        if token.type == "heading_open":
            shown = _place_heading(above, int(token.tag[1]), top_level)
            token.attrSet("id", _name_heading(tokens[number + 1].content, ids))
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{shown}"
        if token.type == "th_open":
            token.attrSet("scope", "col")
        if token.children:
            token.children = list(_settle_inline(token.children, resolve))
        token.attrs.pop("style", None)


def _direct(tokens: list[Token]) -> None:
    """Give each block of blocks the direction of the first letter in it; a tight item's text stands in no block."""
    undecided: list[Token] = []
    for token in tokens:
        kind, _, end = token.type.rpartition("_")
        if kind in _HOLDERS and end == "open":
            token.attrSet("dir", "auto")
            undecided.append(token)
        elif kind in _HOLDERS and end == "close":
            undecided = [each for each in undecided if each.level != token.level]
        elif undecided and (direction := _find_direction(token)):
            for each in undecided:
                each.attrSet("dir", direction)
            undecided = []


def _find_direction(token: Token) -> str | None:
    """Return the direction of the first letter that has one, as it is shown: no link's target and no mark counts."""
    texts = [token.content] if token.children is None else (each.content for each in token.children)
    letters = itertools.islice(itertools.chain.from_iterable(texts), _LOOKED_AT_CHARS)
    return next(filter(None, (_DIRECTIONS.get(unicodedata.bidirectional(letter)) for letter in letters)), None)


def _number(tokens: list[Token], first: int) -> None:
    """Give each block the id of the line on which it begins; of several on one line the outermost has it."""
    numbered: set[int] = set()
    for number, token in enumerate(tokens):
        if token.type not in _NUMBERED or token.hidden or token.map is None or token.map[0] in numbered:
            continue
        numbered.add(token.map[0])
        name = f"L{token.map[0] + first}"
        if token.type == "heading_open":
            mark = Token("html_inline", "", 0, content=f'<span id="{name}"></span>')
            tokens[number + 1].children = [mark, *(tokens[number + 1].children or ())]
        else:
            token.attrSet("id", name)


def _place_heading(above: list[int], level: int, top_level: int) -> int:
    """Return the level at which a heading is shown: one below the last longer one, so that none is left out."""
    while above and above[-1] >= level:
        above.pop()
    above.append(level)
    return min(top_level + len(above) - 1, _LAST_LEVEL)


def _name_heading(text: str, ids: dict[str, int]) -> str:
    slug = _NO_WORD.sub("", text.strip().lower()).replace(" ", "-") or "section"
    ids[slug] = ids.get(slug, -1) + 1
    return f"{_ID_PREFIX}{slug}" + (f"-{ids[slug]}" if ids[slug] else "")


def _settle_inline(tokens: list[Token], resolve: Resolve | None) -> Iterator[Token]:
    """Yield the words of a block, with links that lead somewhere and pictures as links."""
    opened: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            place = _resolve(str(token.attrs.get("href", "")), resolve)
            opened.append(place is not None)
            if place is not None:
                token.attrSet("href", place)
                yield token
        elif token.type == "link_close":
            if opened and opened.pop():
                yield token
        elif token.type == "image":
            yield from _name_picture(token, resolve, is_linked=any(opened))
        else:
            yield token


def _name_picture(token: Token, resolve: Resolve | None, *, is_linked: bool) -> Iterator[Token]:
    words = Token("text", "", 0, content=f"Image not loaded: {token.content or 'without a description'}")
    place = None if is_linked else _resolve(str(token.attrs.get("src", "")), resolve)
    if place is None:
        yield words
        return
    yield Token("link_open", "a", 1, attrs={"href": place})
    yield words
    yield Token("link_close", "a", -1)


def _resolve(target: str, resolve: Resolve | None) -> str | None:
    """Return where a link leads, None when it leads nowhere that may be shown."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme:
        is_known = parts.scheme in _SCHEMES and bool(parts.netloc or parts.scheme == "mailto")
        return target if is_known else None
    if parts.netloc:
        return None
    fragment = f"#{_ID_PREFIX}{parts.fragment}" if parts.fragment else ""
    if not parts.path:
        return fragment or None
    place = resolve(unquote(parts.path)) if resolve else None
    return None if place is None else f"{place}{fragment}"


def _join(base: str, path: str) -> str | None:
    steps = join_steps(base, path)
    return None if steps is None else quote("/" + "/".join(steps), safe="/@:~,")


def join_steps(base: str, path: str) -> list[str] | None:
    """Return the steps of a path as seen from a document at `base`, None when it climbs out at the top."""
    found: list[str] = []
    for step in ([] if path.startswith("/") else base.split("/")[:-1]) + path.split("/"):
        if step == ".." and not found:
            return None
        if step == "..":
            found.pop()
        elif step not in {"", "."}:
            found.append(step)
    return found
