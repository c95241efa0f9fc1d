"""A settings text with comments says what it said before and the change, wherever comments and line ends stand."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from omnislash.surfaces.adapters.settings_text import Kind, insert, parse, read_value, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.surfaces.adapters.settings_text import Node

#: What people put between the signs of JSON.
GAPS = ["", "", "", " ", "\t", "\n", "\n  ", "/* c */", "// l\n", "/*\n*/", ' // "x",\n']
LEAVES = ["1", "true", "null", '"x"', "-2.5", '"// no"', '"/* no */"', '"a,"']
VALUES: list[Any] = [1, {"h": [{"t": "c"}]}, [1, 2], {}]
#: A comment, or a string, which may hold what only looks like one.
_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*(?s:.*?)\*/)')


@st.composite
def written(draw: st.DrawFn) -> str:
    """A text with comments and line ends anywhere, last commas, and lists in objects in lists."""
    gaps = st.lists(st.sampled_from(GAPS), max_size=2).map("".join)

    def gap() -> str:
        return draw(gaps)

    def value(depth: int) -> str:
        kind = draw(st.sampled_from(["leaf", "{}", "[]"] if depth < 3 else ["leaf"])) if depth else "{}"
        if kind == "leaf":
            return draw(st.sampled_from(LEAVES))
        parts = []
        for number in range(draw(st.integers(0, 3))):
            key = f'"k{number}"{gap()}:' if kind == "{}" else ""
            parts.append(f"{gap()}{key}{gap()}{value(depth + 1)}{gap()}")
        has_comma = bool(parts) and draw(st.booleans())
        last = f",{gap()}" if has_comma else ""
        return kind[0] + (",".join(parts) or gap()) + last + kind[1]

    text = f"{gap()}{value(0)}{gap()}"
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def _comments(text: str) -> list[str]:
    return [found[1] for found in _SIGN.finditer(text) if found[1]]


def _containers(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    if node.kind in {Kind.OBJECT, Kind.ARRAY}:
        yield path, node
    for number, each in enumerate(node.elements):
        yield from _containers(each.node, (*path, number if each.key is None else each.key))


def _read(text: str) -> Any:
    return read_value(text, parse(text))


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@settings(max_examples=60)
@given(text=written(), data=st.data(), value=st.sampled_from(VALUES))
def test_what_is_put_in_is_all_that_is_new(text: str, data: st.DataObject, value: Any) -> None:
    """A new element stands last, every comment stays as it is; taken out again, the text says what it said."""
    path, node = data.draw(st.sampled_from(list(_containers(parse(text)))))
    wanted = _read(text)
    if isinstance(_at(wanted, path), dict):
        _at(wanted, path)["new"] = value
    else:
        _at(wanted, path).append(value)

    longer = insert(text, node, value, key="new" if node.kind is Kind.OBJECT else None)

    assert _read(longer) == wanted
    assert _comments(longer) == _comments(text)
    grown = dict(_containers(parse(longer)))[path]
    shorter = remove(longer, grown, len(grown.elements) - 1)
    assert json.dumps(_read(shorter)) == json.dumps(_read(text))
    assert _comments(shorter) == _comments(text)


@settings(max_examples=60)
@given(text=written(), data=st.data())
def test_what_is_taken_out_is_all_that_is_gone(text: str, data: st.DataObject) -> None:
    """Without an element the text says the rest, and keeps every comment that does not stand in the element."""
    places = [(path, node, number) for path, node in _containers(parse(text)) for number in range(len(node.elements))]
    if not places:
        return
    path, node, number = data.draw(st.sampled_from(places))
    element = node.elements[number]
    wanted = _read(text)
    del _at(wanted, path)[number if element.key is None else element.key]

    shorter = remove(text, node, number)

    assert _read(shorter) == wanted
    assert _comments(shorter) == _comments(text[: element.start]) + _comments(text[element.node.end :])
