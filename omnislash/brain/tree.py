"""The tree that a configuration file becomes, before anybody decides what its values mean.

A scalar keeps its raw text and whether it was written without quotes; the field that reads it decides the
type.
So `1.10`, `012`, `NO` and `2026-11-30` reach a text field exactly as they were typed, and a number field can
say that `"4"` is text.
Every node knows the place where it begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.errors import Fault

#: Deepest nesting of blocks and lists in a file; the settings themselves go six deep.
DEPTH_MAX = 50
#: Whole numbers as JSON writes them; longer ones than 18 digits do not fit 64 bits.
WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
#: The spellings of "no value"; `Null` and `NULL` are text.
NULLS = frozenset({"", "~", "null"})
#: The only two spellings of a switch; `yes`, `on` and `True` are text.
FLAGS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file."""

    #: Line in the whole file, counted from 1.
    line: int
    #: Column in characters, counted from 1.
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as it was typed."""

    text: str
    #: True when it stands without quotes and not in a `|` or `>` block, so that it may be a number or a switch.
    plain: bool
    mark: Mark

    @property
    def is_null(self) -> bool:
        """Tell whether there is no value: empty, `~` or `null`."""
        return self.plain and self.text in NULLS


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with their values, in the order of the file."""

    entries: dict[str, Node]
    mark: Mark
    #: Where each key stands.
    keys: dict[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A value that was already reported, such as an alias; whoever reads it stays silent."""

    mark: Mark


Node: TypeAlias = Scalar | Sequence | Mapping | Unusable


def to_plain(node: Node) -> object:
    """Return the tree as dicts, lists and values, for settings that are nobody's type.

    Unquoted `true`, `false`, null and whole numbers become Python values; everything else stays the text that
    was typed, dates and `1.10` included.
    """
    match node:
        case Mapping():
            return {key: to_plain(value) for key, value in node.entries.items()}
        case Sequence():
            return [to_plain(item) for item in node.items]
        case Scalar():
            return _plain_value(node)
        case _:
            return None


def _plain_value(scalar: Scalar) -> object:
    if scalar.is_null:
        return None
    if not scalar.plain:
        return scalar.text
    if scalar.text in FLAGS:
        return FLAGS[scalar.text]
    return int(scalar.text) if WHOLE_NUMBER.fullmatch(scalar.text) else scalar.text


@dataclass(frozen=True, slots=True)
class Tree:
    """What a text says, as far as it could be read."""

    #: The keys at the top; None when the syntax is broken or the file holds something else than keys.
    root: Mapping | None
    #: Everything that was refused, in the order of the text.
    faults: tuple[Fault, ...] = ()


def find_node(root: Node, *keys: str | int) -> Node | None:
    """Return the value under a chain of keys and indexes; None when there is none."""
    node: Node | None = root
    for key in keys:
        match node:
            case Mapping() if isinstance(key, str):
                node = node.entries.get(key)
            case Sequence() if isinstance(key, int) and key < len(node.items):
                node = node.items[key]
            case _:
                return None
    return node


def find_entry(root: Mapping, keys: tuple[str | int, ...], entry: str) -> Mark:
    """Return where `entry` stands in the value under a chain of keys; else where that value, or the file, begins."""
    node = find_node(root, *keys)
    if node is None:
        return root.mark
    items = node.items if isinstance(node, Sequence) else (node,)
    found = (item.mark for item in items if isinstance(item, Scalar) and item.text == entry)
    return next(found, node.mark)


def key_lines(root: Mapping, prefix: str = "") -> dict[str, int]:
    """Return the line of every key by its dotted name, those of blocks in blocks included."""
    return dict(_key_lines(root, prefix))


def _key_lines(root: Mapping, prefix: str) -> Iterator[tuple[str, int]]:
    for key, node in root.entries.items():
        name = f"{prefix}{key}"
        yield name, root.keys.get(key, node.mark).line
        if isinstance(node, Mapping):
            yield from _key_lines(node, f"{name}.")
