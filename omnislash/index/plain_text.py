r"""Markdown → the text that is searched: markup that only decorates is taken off, everything that says something stays.

Off go emphasis, backquotes, `#`, `>`, bullets, task boxes, pipes of tables, rules, bare HTML tags, and the brackets of
links.
A link keeps its text in place, and its target stands at the end, so that a phrase is not torn apart by an address and
the address is still found.
Code stays as it is; so do numbers of ordered lists, names such as `__init__`, and tags with attributes.

The patterns look at most 300 characters ahead, so the work grows with the length of the text alone.

Rules: RECALL-O5.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from omnislash.index.blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPLACEMENT: Final = "\ufffd"
_LINE_END = re.compile(r"\r\n?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
#: White space that is longer than any indentation: megabytes of it can stand in a file.
_GAP = re.compile(r"\s{80,}")
_WORD = re.compile(r"[^\W_]")
_MARKUP = re.compile(r"[`*_~\[\]<>\\&=|#+-]")

_FENCE = re.compile(r"[ \t>]*+(?:[-*+][ \t]++)*+(`{3,}+|~{3,}+)(.*)", re.DOTALL)
_FENCE_MARK = re.compile(r"(?m)^[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+")
_RULE = re.compile(r"(?m)^[ \t>|]*+(?:-[-=*_|:~ \t]++|[=*_|:~][-=*_|:~ \t]++)$")
_LINE_START = re.compile(r"(?m)^[ \t]*+(?:>[ \t]*+)*+(?:[-*+][ \t]++)*+(?:\[[ xX]\][ \t]++)?+(?:#{1,6}+[ \t]++)?+")
_HASHES = re.compile(r"(?m)(?<=[ \t])#{1,6}+[ \t]*+$")
_ROW_EDGE = re.compile(r"(?m)^[ \t]*+\|[ \t]*+|(?<![ \t])[ \t]*+(?<!\\)\|[ \t]*+$")
_CELL_EDGE = re.compile(r"(?<![ \t])[ \t]*+(?<!\\)\|[ \t]*+")
_CODE_SPAN = re.compile(r"(?<!`)(`++)([^`].{0,300}?|[^`])(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(
    r"!?\[([^\[\]]{0,300}+)\]\([ \t]*+<?((?:[^()\s<>]|\([^()\s<>]{0,100}+\)){0,300}+)>?"
    r"(?:[ \t\n]++[\"']([^\"\n]{0,300}?)[\"'])?[ \t]*+\)"
)
_WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]{1,300}+)(?:\|([^\[\]\n]{0,300}+))?\]\]")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}+:[^\s<>]{1,300}+|[^\s<>@]{1,100}+@[^\s<>@]{1,100}+)>")
#: Tags that stand between words part them; tags inside of a word don't. Only bare ones go: attributes say something.
_BLOCK_TAG = re.compile(
    r"</?(?:blockquote|br|center|dd|details|div|dl|dt|hr|li|ol|p|pre|summary|table|tbody|td|tfoot|th|thead|tr|ul)"
    r"[ \t]*+/?>",
    re.IGNORECASE,
)
_INLINE_TAG = re.compile(
    r"</?(?:b|big|code|del|em|i|ins|kbd|mark|s|small|span|strong|sub|sup|tt|u)[ \t]*+>|<!--|-->", re.IGNORECASE
)
# Emphasis opens behind white space, brackets, quotes and dashes, and ends before them and punctuation.
_BEFORE = r"(?<![^\s(\[{\"'\u00ab\u2018\u201c\u201e\u2013\u2014|>*_~-])"
_AFTER = r"(?![^\s.,;:!?)\]}\"'\u00bb\u2019\u201d\u2026\u2013\u2014|<*_~-])"
_STARS = re.compile(rf"{_BEFORE}(?<!\*)(\*{{1,3}}+)(?=[^\s*])([^*]{{1,300}}?)(?<=[^\s*])\1(?!\*){_AFTER}")
_UNDERSCORES = re.compile(
    rf"{_BEFORE}(?<!_)(?:(_)(?=[^\s_])([^_]{{1,300}}?)(?<=[^\s_])_(?!_)"
    rf"|(___?)(?=[^\s_])(?!\w{{1,100}}+(?<=_))([^_]{{1,300}}?)(?<=[^\s_])\3(?!_)){_AFTER}"
)
_STRIKES = re.compile(r"(~~|==)(?=[^\s~=])([^~=]{1,300}?)(?<=\S)\1")
_ESCAPE = re.compile(r"\\([*_#\[\]`~|])")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp);")
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " "}
_BLANK_LINES = re.compile(r"(?<![ \t])[ \t]*+\n(?:\s*\n)?")
_KEPT = re.compile(r"\x00([0-9]+)\x00")


def has_words(text: str) -> bool:
    """Tell whether a text says anything: a letter, a digit, or a symbol beyond ASCII such as an emoji."""
    if _WORD.search(text):
        return True
    return any(char > "\x7f" and char != _REPLACEMENT and unicodedata.category(char)[0] == "S" for char in set(text))


def clean_text(text: str) -> str:
    r"""Return `text` with `\n` as its only line end, and without what no embedder and no database can hold."""
    unified = _LINE_END.sub("\n", text) if "\r" in text else text
    if unified.isascii() and unified.isprintable() and "        " not in unified:
        return unified
    return _GAP.sub(_shorten, _CONTROL.sub(" ", _SURROGATE.sub(_REPLACEMENT, unified)))


def _shorten(gap: re.Match[str]) -> str:
    return "\n" if "\n" in gap[0] else " "


def render_plain(raw: str, kind: BlockKind) -> str:
    """Return a stretch of markdown as it is searched; one that says something never becomes one that doesn't.

    Args:
        raw: Text of a block, or of a piece of a long one.
        kind: What the block is.
    """
    text = clean_text(raw)
    if kind is BlockKind.CODE:
        plain = _FENCE_MARK.sub("", text).strip("\n").rstrip()
    else:
        plain = _render_markdown(text, is_table=kind is BlockKind.TABLE)
    return plain if has_words(plain) else text.strip()


def _render_markdown(text: str, *, is_table: bool) -> str:
    if not _MARKUP.search(text):
        return _BLANK_LINES.sub("\n", text).strip()
    if "```" not in text and "~~~" not in text:
        return _render_prose(text, is_table=is_table)
    parts = (part if is_code else _render_prose(part, is_table=False) for is_code, part in _split_fences(text))
    return "\n".join(part for part in parts if part)


def _split_fences(text: str) -> Iterator[tuple[bool, str]]:
    """Yield stretches of an item or quote, each with whether it is fenced code; the marks of the fences are off."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None or (fence and not (found[1].startswith(fence) and not found[2].strip())):
            lines.append(line)
            continue
        yield bool(fence), "\n".join(lines)
        fence, lines = ("", []) if fence else (found[1], [found[2].strip()])
        lines = [line for line in lines if line]
    yield bool(fence), "\n".join(lines)


def _render_prose(text: str, *, is_table: bool) -> str:
    """Return prose without its marks; the targets of its links stand behind it."""
    text = _LINE_START.sub("", _RULE.sub("", text))
    text = _HASHES.sub("", text) if "#" in text else text
    if is_table:
        text = _CELL_EDGE.sub(", ", _ROW_EDGE.sub("", text))
    kept: list[str] = []
    targets: list[str] = []
    text = _keep_code(text, kept) if "`" in text else text
    text = _open_links(text, targets) if "[" in text else text
    if "<" in text or "-->" in text:
        text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", _AUTOLINK.sub(r"\1", text)))
    text = _drop_emphasis(text)
    text = _ESCAPE.sub(r"\1", text) if "\\" in text else text
    text = _ENTITY.sub(lambda found: _ENTITIES[found[1]], text) if "&" in text else text
    body = _BLANK_LINES.sub("\n", text).strip()
    whole = "\n".join((body, *targets)) if targets else body
    return _KEPT.sub(lambda found: kept[int(found[1])], whole) if kept else whole


def _keep_code(text: str, kept: list[str]) -> str:
    """Put the inside of every code span aside, so that nothing in it is taken for markup."""

    def keep(found: re.Match[str]) -> str:
        inside = found[2]
        kept.append(inside[1:-1] if inside[0] == inside[-1] == " " and inside.strip() else inside)
        return f"\x00{len(kept) - 1}\x00"

    return _CODE_SPAN.sub(keep, text)


def _open_links(text: str, targets: list[str]) -> str:
    """Return `text` with the words of its links in place, and add what they lead to to `targets`."""

    def open_link(found: re.Match[str]) -> str:
        targets.extend(part for part in (found[2], found[3]) if part and part != found[1])
        return found[1]

    def open_wiki(found: re.Match[str]) -> str:
        if not found[2]:
            return found[1]
        targets.append(found[1])
        return found[2]

    # Twice, for an image inside a link.
    return _LINK.sub(open_link, _LINK.sub(open_link, _WIKI_LINK.sub(open_wiki, text)))


def _drop_emphasis(text: str) -> str:
    """Return `text` without marks of emphasis, one inside the other taken off as well."""
    if "*" in text:
        text = _STARS.sub(r"\2", _STARS.sub(r"\2", text))
    if "_" in text:
        text = _UNDERSCORES.sub(lambda found: found[2] or found[4], text)
    return _STRIKES.sub(r"\2", text) if "~~" in text or "==" in text else text
