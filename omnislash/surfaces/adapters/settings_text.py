"""JSON as people write it into settings, comments and trailing commas included, changed without touching the rest.

A text is parsed into nodes that know where they stand; a change is a splice, so every other character stays: comments,
indentation, line ends, the order of keys, how a number is written.
What is put in follows its neighbours: their indentation, their line ends, their comma.

Source: RFC 8259 for the grammar; `//` and `/* */` comments and one comma before a closing bracket are allowed besides.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn

#: Deepest nesting that is followed; settings that people write have five levels, and a parser has to end somewhere.
DEPTH_MAX: Final = 200
BOM: Final = "\ufeff"
#: Indentation where a text shows none.
_UNIT: Final = "  "
_TOKEN: Final = re.compile(
    r"""
    [ \t\r\n]*+
    (?: (?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")
      | (?P<mark>[{}\[\],:])
      | (?P<plain>(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![0-9A-Za-z_.]))
      | (?P<comment>//[^\r\n]* | /\*(?s:.*?)\*/)
    )
    """,
    re.VERBOSE,
)
_NEWLINE: Final = re.compile(r"\r\n|\n|\r")
_BLANKS: Final = " \t\r\n"


class SettingsTextError(Exception):
    """A text is no JSON, or has another form than is needed."""

    def __init__(self, message: str, *, text: str, at: int, hint: str | None = None) -> None:
        """Say what is wrong, and turn an offset into line and column, both counted from 1."""
        before = text[:at].removeprefix(BOM)
        breaks = list(_NEWLINE.finditer(before))
        self.message = message
        self.hint = hint
        self.line = len(breaks) + 1
        self.column = len(before) - (breaks[-1].end() if breaks else 0) + 1
        super().__init__(message)


class Kind(StrEnum):
    """What a node is."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    #: A number, `true`, `false` or `null`.
    PLAIN = "plain"


class Element(NamedTuple):
    """A member of an object, or an item of an array."""

    #: None in an array.
    key: str | None
    #: Offset of the key, in an array of the value.
    start: int
    node: Node
    #: Offset of the comma behind it; None without one.
    comma: int | None


class Node(NamedTuple):
    """A value and where it stands: `text[start:end]`. A tuple, because a long file has hundreds of thousands."""

    kind: Kind
    start: int
    end: int
    elements: tuple[Element, ...] = ()

    def get(self, key: str) -> Node | None:
        """Return a member; of several with the same key the last one, which is what programs see."""
        return next((each.node for each in reversed(self.elements) if each.key == key), None)


# -- reading ---------------------------------------------------------------------------------------------------------


class _Parser:
    """Reads one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith(BOM) else 0
        self._depth = 0
        #: The token that is looked at: its kind, and where it stands. The kind is empty at the end.
        self._kind, self._start = "", 0
        self._step()

    def parse(self) -> Node:
        node = self._value()
        if self._kind:
            self._fail("there is more text after the end of the settings")
        return node

    def _step(self) -> None:
        """Go to the next token that is no comment."""
        while True:
            found = _TOKEN.match(self._text, self._at)
            if found is None:
                self._kind = ""
                self._start = self._at = _skip_blanks(self._text, self._at)
                if self._at < len(self._text):
                    self._fail(self._name_stranger())
                return
            kind = str(found.lastgroup)
            self._start, self._at = found.span(kind)
            if kind != "comment":
                self._kind = self._text[self._start] if kind == "mark" else kind
                return

    def _name_stranger(self) -> str:
        """Return what is wrong with text that is no token."""
        rest = self._text[self._at : self._at + 2]
        if rest == "/*":
            return "a comment has no end"
        if rest.startswith('"'):
            return "a text in quotes has no end, or holds a line break or a backslash that JSON does not know"
        if rest.startswith("'"):
            return "a text stands in single quotes, and JSON wants double ones"
        return "this is no JSON"

    def _fail(self, message: str) -> NoReturn:
        raise SettingsTextError(message, text=self._text, at=self._start)

    def _value(self) -> Node:
        start, end, kind = self._start, self._at, self._kind
        if kind in {"{", "["}:
            return self._container(start, is_object=kind == "{")
        if kind not in {"string", "plain"}:
            self._fail("a value is missing" if kind else "the text ends where a value or a closing bracket is missing")
        self._step()
        return Node(Kind.STRING if kind == "string" else Kind.PLAIN, start, end)

    def _container(self, start: int, *, is_object: bool) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            self._fail(f"values are nested more than {DEPTH_MAX} levels deep")
        closing = "}" if is_object else "]"
        elements: list[Element] = []
        self._step()
        while self._kind != closing:
            if elements and elements[-1].comma is None:
                self._fail(f"a comma or `{closing}` is missing")
            elements.append(self._element(is_object=is_object))
        end = self._at
        self._depth -= 1
        self._step()
        return Node(Kind.OBJECT if is_object else Kind.ARRAY, start, end, tuple(elements))

    def _element(self, *, is_object: bool) -> Element:
        start = self._start
        key = self._key() if is_object else None
        node = self._value()
        comma = self._start if self._kind == "," else None
        if comma is not None:
            self._step()
        return Element(key, start, node, comma)

    def _key(self) -> str:
        if self._kind != "string":
            self._fail(
                "a key in double quotes is missing" if self._kind else "the text ends in the middle of an object"
            )
        key = self._text[self._start + 1 : self._at - 1]
        if "\\" in key:
            key = json.loads(f'"{key}"')
        self._step()
        if self._kind != ":":
            self._fail(f"a colon is missing after the key {key!r}")
        self._step()
        return key


def _skip_blanks(text: str, at: int, blanks: str = _BLANKS) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


@lru_cache(maxsize=4)
def parse(text: str) -> Node:
    """Return the value that a text is; the same text is read once.

    Raises:
        SettingsTextError: It is none; line and column say where.
    """
    return _Parser(text).parse()


def read_value(text: str, node: Node) -> Any:
    """Return a node as Python has it."""
    if node.kind is Kind.OBJECT:
        return {each.key: read_value(text, each.node) for each in node.elements}
    if node.kind is Kind.ARRAY:
        return [read_value(text, each.node) for each in node.elements]
    return json.loads(text[node.start : node.end])


def has_comment(text: str, node: Node | None = None) -> bool:
    """Tell whether a comment stands in a node, by default anywhere in the text."""
    at, end = (1 if text.startswith(BOM) else 0, len(text)) if node is None else (node.start, node.end)
    while at < end and (found := _TOKEN.match(text, at)):
        at = found.end()
        if found.lastgroup == "comment":
            return at <= end
    return False


def has_trailing_comma(node: Node) -> bool:
    """Tell whether a comma stands before a closing bracket somewhere in a node."""
    last = node.elements[-1:]
    return any(each.comma is not None for each in last) or any(has_trailing_comma(each.node) for each in node.elements)


# -- changing --------------------------------------------------------------------------------------------------------


def insert(text: str, container: Node, value: Any, *, key: str | None = None) -> str:
    """Return the text with a new last element in an object or a list.

    Args:
        text: The text.
        container: Where it goes.
        value: What it is, as Python has it.
        key: Its key; None in a list.
    """
    inner_end = container.end - 1
    last = container.elements[-1] if container.elements else None
    at = _end_of_content(text, container)
    newline = _newline_of(text)
    is_spread = last is None or bool(_NEWLINE.search(text, container.start, inner_end))
    base = _indent_at(text, container.start)
    indent = _child_indent(text, container, base)
    body = _render(value, key=key, indent=indent, unit=_unit_of(text), newline=newline, is_spread=is_spread)
    body = (newline + indent if is_spread else " ") + body
    if last is None:
        rest = "" if _NEWLINE.search(text, at, inner_end) else newline + base
        return text[:at] + body + rest + text[at:]
    if last.comma is not None:
        return text[:at] + body + "," + text[at:]
    return text[: last.node.end] + "," + text[last.node.end : at] + body + text[at:]


def replace(text: str, node: Node, value: Any) -> str:
    """Return the text with another value in the place of a node."""
    is_spread = bool(_NEWLINE.search(text, node.start, node.end))
    indent = _indent_at(text, node.start)
    body = _render(value, key=None, indent=indent, unit=_unit_of(text), newline=_newline_of(text), is_spread=is_spread)
    return text[: node.start] + body + text[node.end :]


def remove(text: str, container: Node, index: int) -> str:
    """Return the text without one element of an object or a list; comments around it stay."""
    element = container.elements[index]
    cuts = [(_start_of_cut(text, container, index), element.node.end)]
    if element.comma is not None:
        cuts.append((element.comma, element.comma + 1))
    elif index > 0 and (comma := container.elements[index - 1].comma) is not None:
        cuts.append((comma, comma + 1))
    kept = text
    for start, end in sorted(cuts, reverse=True):
        kept = kept[:start] + kept[end:]
    if len(container.elements) > 1:
        return kept
    end = container.end - (len(text) - len(kept))
    inner = kept[container.start + 1 : end - 1]
    return kept if inner.strip(_BLANKS) else kept[: container.start + 1] + kept[end - 1 :]


def _start_of_cut(text: str, container: Node, index: int) -> int:
    """Return where an element's text begins, the blanks before it included where no line may run into another one."""
    element = container.elements[index]
    start = len(text[: element.start].rstrip(_BLANKS))
    behind = _skip_blanks(text, element.node.end, " \t")
    if behind == element.comma:  # a comment before the comma stays, so it needs its line as well
        behind = _skip_blanks(text, behind + 1, " \t")
    if not _NEWLINE.search(text, start, element.start) or text[behind : behind + 1] in {"\r", "\n"}:
        return start
    is_last = behind == container.end - 1
    return start if is_last and not _follows_line_comment(text, container, index) else element.start


def _follows_line_comment(text: str, container: Node, index: int) -> bool:
    """Tell whether the last thing before an element is a comment that ends with its line."""
    at = container.elements[index - 1].node.end if index else container.start + 1
    last = ""
    while (found := _TOKEN.match(text, at)) and found.end() <= container.elements[index].start:
        last, at = found.group().lstrip(_BLANKS), found.end()
    return last.startswith("//")


def _end_of_content(text: str, container: Node) -> int:
    """Return where the last element or comment of a container ends; behind its bracket when it has neither."""
    at = container.elements[-1].node.end if container.elements else container.start + 1
    end = at
    while at < container.end - 1 and (found := _TOKEN.match(text, at)):
        at = found.end()
        if at < container.end:
            end = at
    return end


def _render(value: Any, *, key: str | None, indent: str, unit: str, newline: str, is_spread: bool) -> str:
    body = json.dumps(value, ensure_ascii=False, indent=unit if is_spread else None)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    return name + body.replace("\n", newline + indent)


def _newline_of(text: str) -> str:
    found = _NEWLINE.search(text)
    return found.group() if found else "\n"


def _indent_at(text: str, at: int) -> str:
    """Return the blanks at the begin of the line in which an offset lies."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _child_indent(text: str, container: Node, base: str) -> str:
    """Return the indentation of a container's elements: that of the first that begins a line, else one level more."""
    for each in container.elements:
        indent = _indent_at(text, each.start)
        begin = each.start - len(indent)
        if text[begin : each.start] == indent and text[begin - 1 : begin] in {"\n", "\r"}:
            return indent
    return base + _unit_of(text)


def _unit_of(text: str) -> str:
    """Return one level of indentation: that of the first line that has any and begins with a key or a text."""
    found = re.search(r'[\r\n]([ \t]+)"', text)
    return found[1] if found else _UNIT
