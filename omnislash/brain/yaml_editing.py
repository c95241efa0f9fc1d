"""Changing single values of a YAML text: what is not changed stays byte for byte.

The text is never written anew from what it means. The parser says where each value stands, the value is cut out and
another put in its place, and then the new text is read again by the reader of every configuration file: unless it says
exactly what was wanted, the change is refused. So comments, order, quotes, indentation, line ends and keys that nobody
knows survive, and a spelling that this module does not understand can't be damaged by it.

A value that is changed keeps its quotes, a list that is changed keeps its shape and the spelling of what stays in it,
and a new key takes the indentation of its neighbours.

Rules: DASH-O2.
"""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from omnislash.brain.tree import Mapping as Keys
from omnislash.brain.tree import Node, Scalar, Sequence
from omnislash.brain.yaml_places import Place, compose
from omnislash.brain.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Sequence as Listed

#: Columns by which a nested block is moved in where the text has none to copy from.
_INDENT: Final = 2
_BOM: Final = "\ufeff"
_TEXT_TAG: Final = "tag:yaml.org,2002:str"


class UneditableError(Exception):
    """The text can't be changed in this way without rewriting what stands around the value."""


@dataclass(frozen=True, slots=True)
class Word:
    """One value to be written."""

    #: As a reader of the file shall see it.
    text: str
    #: False = a number or a switch: it stands without quotes wherever it can.
    is_text: bool = True


#: What a key can be set to; None removes it.
Value: TypeAlias = "Word | tuple[Word, ...] | dict[str, Value]"


# -- the changes -----------------------------------------------------------------------------------------------------


def edit_yaml(text: str, changes: Mapping[tuple[str, ...], Value | None]) -> str:
    """Return a YAML text in which some keys have other values.

    Args:
        text: The text; its syntax must hold.
        changes: What each chain of keys is set to; None removes the key, and is nothing where there is none.

    Raises:
        UneditableError: The syntax does not hold, or the change can't be made without rewriting more than the value.
    """
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    for keys, value in changes.items():
        try:
            text = _change(text, keys, value)
        except UneditableError:
            raise UneditableError(".".join(keys)) from None
    return mark + text


def _change(text: str, keys: tuple[str, ...], value: Value | None) -> str:
    wanted = _shape_with(_shape_of(text), keys, value)
    try:
        text = _remove(text, keys) if value is None else _set(text, keys, value)
    except (yaml.YAMLError, ValueError) as error:  # a change made of several, the first of which broke the text
        raise UneditableError from error
    if _shape_of(text) != wanted:
        raise UneditableError
    return text


def _set(text: str, keys: tuple[str, ...], value: Value) -> str:
    root = compose(text)
    if root is None:
        return _append(text, len(text), _draw_block(_nest(keys, value), indent=0, newline=_newline(text)))
    key, place, rest = None, root, keys
    while rest and (pair := place.find(rest[0])) is not None:
        key, place = pair
        rest = rest[1:]
    if rest:
        unit = _unit(root, text)
        return _add(text, place, _nest(rest, value), indent=_column(text, key.start) + unit if key else 0, unit=unit)
    return _replace(text, place, value, key_end=key.end if key else 0)


def _replace(text: str, place: Place, value: Value, *, key_end: int) -> str:
    if isinstance(value, Word):
        if place.items is not None or place.pairs is not None:
            raise UneditableError
        drawn = _draw_word(value, style=place.style, is_flow=_is_in_flow(text, place))
        space = " " if place.start == place.end and place.start and text[place.start - 1] == ":" else ""
        return _cut(text, place.start, place.end, space + drawn)
    if isinstance(value, dict) or place.pairs is not None:
        raise UneditableError
    if place.items is None:
        space = " " if place.start == place.end else ""
        return _cut(text, place.start, place.end, space + _draw_list(value))
    if place.is_flow:
        return _replace_flow(text, place, value)
    return _replace_items(text, place, value) if value else _empty_list(text, place, key_end=key_end)


def _is_in_flow(text: str, place: Place) -> bool:
    """Tell whether a scalar stands in brackets: there, a comma and a bracket end a word."""
    root = compose(text)

    def within(above: Place, *, is_flow: bool) -> bool:
        if (above.start, above.end) == (place.start, place.end) and above.items is None and above.pairs is None:
            return is_flow
        inner = [*(above.items or ()), *(each for pair in above.pairs or () for each in pair)]
        return any(within(each, is_flow=is_flow or above.is_flow) for each in inner)

    return root is not None and within(root, is_flow=False)


def _replace_flow(text: str, place: Place, value: tuple[Word, ...]) -> str:
    """Write a list in brackets anew, with what stays in it spelled as before."""
    spelled = {item.text: text[item.start : item.end] for item in reversed(place.items or [])}
    drawn = ", ".join(spelled.get(word.text) or _draw_word(word, is_flow=True) for word in value)
    return _cut(text, place.start, place.end, f"[{drawn}]")


def _replace_items(text: str, place: Place, value: tuple[Word, ...]) -> str:
    """Change a list of one item a line: items that stay keep their lines and their comments."""
    items = _line_items(text, place)
    lead = text[_line_start(text, items[0].start) : items[0].start]
    newline = _newline(text)
    old, new = [item.text for item in items], [word.text for word in value]
    for kind, low, high, first, last in reversed(difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()):
        if kind == "equal":
            continue
        kept = min(high - low, last - first)
        more = "".join(f"{lead}{_draw_word(word)}{newline}" for word in value[first + kept : last])
        at = _line_end(text, items[high - 1].end) if high else _line_start(text, items[0].start)
        text = _append(text, at, more) if more else text
        for item in reversed(items[low + kept : high]):
            text = _cut(text, _line_start(text, item.start), _line_end(text, item.end), "")
        for item, word in reversed(list(zip(items[low : low + kept], value[first : first + kept], strict=True))):
            text = _cut(text, item.start, item.end, _draw_word(word, style=item.style))
    return text


def _line_items(text: str, place: Place) -> list[Place]:
    """Return the items of a list that has one a line."""
    items = place.items or []
    if not all(re.fullmatch(r" *- +", text[_line_start(text, item.start) : item.start]) for item in items):
        raise UneditableError
    return items


def _empty_list(text: str, place: Place, *, key_end: int) -> str:
    """Remove every item of a list, and say that it is empty behind its key."""
    colon = text.find(":", key_end)
    for item in reversed(_line_items(text, place)):
        text = _cut(text, _line_start(text, item.start), _line_end(text, item.end), "")
    return _cut(text, colon + 1, colon + 1, " []")


def _add(text: str, place: Place, nested: dict[str, Value], *, indent: int, unit: int) -> str:
    """Add a key, with the blocks that it stands in, to what is there."""
    newline = _newline(text)
    if place.pairs is not None and place.is_flow:
        pair = ", ".join(f"{_draw_key(key)}: {_draw_flow(value)}" for key, value in nested.items())
        if not place.pairs:
            return _cut(text, place.start + 1, place.start + 1, pair)
        end = place.pairs[-1][1].end
        return _cut(text, end, end, f", {pair}")
    if place.is_block_mapping and place.pairs:
        indent = _column(text, place.pairs[0][0].start)
        lines = _draw_block(nested, indent=indent, newline=newline, unit=unit)
        return _append(text, _line_end(text, place.end), lines)
    if not place.is_null:
        raise UneditableError
    at = _line_end(text, place.start) - (place.end - place.start)
    text = _cut(text, place.start, place.end, "")
    return _append(text, at, _draw_block(nested, indent=indent, newline=newline, unit=unit))


def _remove(text: str, keys: tuple[str, ...]) -> str:
    place = compose(text)
    for name in keys[:-1]:
        found = place.find(name) if place is not None else None
        place = found[1] if found else None
    pairs = (place.pairs if place is not None else None) or []
    index = next((number for number, pair in enumerate(pairs) if pair[0].text == keys[-1]), None)
    if place is None or index is None:
        return text
    key, value = pairs[index]
    if place.is_flow:
        start = pairs[index - 1][1].end if index else key.start
        end = pairs[1][0].start if not index and len(pairs) > 1 else value.end
        return _cut(text, start, end, "")
    start = _line_start(text, key.start)
    if text[start : key.start].strip():
        raise UneditableError
    return _cut(text, start, _line_end(text, value.end), "")


# -- what is written -------------------------------------------------------------------------------------------------


def _nest(keys: tuple[str, ...], value: Value) -> dict[str, Value]:
    """Return a value in the blocks of a chain of keys; the chain has at least one."""
    for key in reversed(keys[1:]):
        value = {key: value}
    return {keys[0]: value}


def _draw_block(block: dict[str, Value], *, indent: int, newline: str, unit: int = _INDENT) -> str:
    """Return the lines of new keys, each with its end."""
    return "".join(f"{line}{newline}" for line in _block_lines(block, indent, unit))


def _block_lines(block: dict[str, Value], indent: int, unit: int) -> Iterator[str]:
    for key, value in block.items():
        lead = f"{' ' * indent}{_draw_key(key)}:"
        if isinstance(value, dict):
            yield lead
            yield from _block_lines(value, indent + unit, unit)
        else:
            yield f"{lead} {_draw_list(value) if isinstance(value, tuple) else _draw_word(value)}"


def _draw_flow(value: Value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_draw_key(key)}: {_draw_flow(each)}" for key, each in value.items()) + "}"
    return _draw_list(value) if isinstance(value, tuple) else _draw_word(value, is_flow=True)


def _draw_list(words: Listed[Word]) -> str:
    return f"[{', '.join(_draw_word(word, is_flow=True) for word in words)}]"


def _draw_key(key: str) -> str:
    found = _read_back(f"{key}: x")
    return key if isinstance(found, Keys) and list(found.entries) == [key] else _quote(key, "'")


def _draw_word(word: Word, *, style: str = "", is_flow: bool = False) -> str:
    """Return a value as it stands in the text: in the quotes that it had, else in quotes only where it needs them."""
    if word.is_text and style in {"'", '"'}:
        return _quote(word.text, style)
    found = _read_back(f"k: [{word.text}]" if is_flow else f"k: {word.text}")
    node: Node | None = found.entries.get("k") if isinstance(found, Keys) and len(found.entries) == 1 else None
    if is_flow:
        node = node.items[0] if isinstance(node, Sequence) and len(node.items) == 1 else None
    is_plain = isinstance(node, Scalar) and node.plain and node.text == word.text and not node.is_null
    return word.text if is_plain and not (word.is_text and _means_more(word.text)) else _quote(word.text, "'")


def _read_back(text: str) -> Keys | None:
    tree = parse_yaml(text, path="")
    return None if tree.faults else tree.root


def _means_more(text: str) -> bool:
    """Tell whether other programs read a word without quotes as something else than text: a number, a date, a switch."""
    tag: str = _resolver().resolve(yaml.ScalarNode, text, (True, False))
    return tag != _TEXT_TAG


@functools.cache
def _resolver() -> Any:
    return yaml.SafeLoader("")


def _quote(text: str, style: str) -> str:
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    drawn: str = yaml.dump(text, default_style='"', width=10**9, allow_unicode=True)
    return drawn.rstrip("\n")


# -- the text --------------------------------------------------------------------------------------------------------


def _cut(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _append(text: str, at: int, lines: str) -> str:
    """Put lines in behind a line; the last line of a text may lack its end, and gets one."""
    lacks_end = at > 0 and text[at - 1] != "\n"
    return _cut(text, at, at, (_newline(text) if lacks_end else "") + lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Return where the next line begins; the length of the text for the last one."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _column(text: str, at: int) -> int:
    return at - _line_start(text, at)


def _unit(root: Place, text: str) -> int:
    """Return by how many columns the text moves nested keys in."""
    for key, value in root.pairs or ():
        if value.is_block_mapping and value.pairs:
            return max(1, _column(text, value.pairs[0][0].start) - _column(text, key.start))
    return _INDENT


# -- what it means ---------------------------------------------------------------------------------------------------

#: Nothing at all, and a block without keys: the same for every reader.
_EMPTY: Final[Mapping[str, Any]] = {}


def _shape_of(text: str) -> Any:
    tree = parse_yaml(text, path="")
    if tree.root is None or tree.faults:
        raise UneditableError
    return _shape(tree.root)


def _shape(node: Node) -> Any:
    """Return what a reader sees: dicts, lists, and words with whether they are a number or a switch rather than text."""
    match node:
        case Keys():
            return {key: _shape(value) for key, value in node.entries.items()}
        case Sequence():
            return [_shape(item) for item in node.items]
        case Scalar() if node.is_null:
            return _EMPTY
        case Scalar():
            return (node.text, node.plain and _means_more(node.text))
        case _:
            raise UneditableError


def _shape_with(shape: Any, keys: tuple[str, ...], value: Value | None) -> Any:
    """Return the shape in which a chain of keys has another value."""
    below = dict(shape) if isinstance(shape, dict) else {}
    if len(keys) > 1:
        if value is not None or keys[0] in below:
            below[keys[0]] = _shape_with(below.get(keys[0], {}), keys[1:], value)
    elif value is None:
        below.pop(keys[0], None)
    else:
        below[keys[0]] = _shape_value(value)
    return below


def _shape_value(value: Value) -> Any:
    if isinstance(value, dict):
        return {key: _shape_value(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_shape_value(each) for each in value]
    return (value.text, _draw_word(value) == value.text and _means_more(value.text))
