"""YAML text → a tree with positions, from a part of YAML in which nothing is a trap.

The tree is built from the events of the parser, one after another, so that no value is ever guessed at,
nothing is expanded, and no depth of nesting reaches the interpreter's stack.
Refused, each with its place: keys that are given twice, anchors, aliases, merge keys, tags, keys that are
no text, more than one document.
After such a fault the reading goes on, so one run shows all of them; only broken syntax ends it.
Types are not decided here (see `tree`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from omnislash.brain.file_text import FAULTS_MAX, clean_text, find_unreadable, name_character
from omnislash.brain.tree import DEPTH_MAX, Mapping, Mark, Node, Scalar, Sequence, Tree, Unusable
from omnislash.brain.yaml_errors import explain_yaml_error
from omnislash.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Most values in one file; ten times what the largest known access list needs.
VALUES_MAX = 50_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StoppedError(Exception):
    """The reading can't go on; the fault was reported."""


@dataclass(slots=True)
class _Open:
    """A list or block whose end was not reached yet."""

    mark: Mark
    is_mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, Mark] = field(default_factory=dict)
    #: True between a key and its value.
    has_key: bool = False
    #: The key that waits for its value; None when it was refused and its value is dropped.
    key: str | None = None

    def close(self) -> Node:
        """Return the finished node."""
        if self.is_mapping:
            return Mapping(self.entries, self.mark, self.keys)
        return Sequence(tuple(self.items), self.mark)


class _Builder:
    """Takes events and keeps the tree and the faults."""

    def __init__(self, path: str, first_line: int) -> None:
        self.path = path
        self.first_line = first_line
        self.faults: list[Fault] = []
        self.open: list[_Open] = []
        self.root: Node | None = None
        self.count = 0

    def report(self, mark: Mark, message: str, hint: str) -> None:
        if len(self.faults) == FAULTS_MAX:
            message, hint = "There are more faults in this file, which are not listed.", "Mend the others first."
        if len(self.faults) <= FAULTS_MAX:
            self.faults.append(Fault(self.path, message, line=mark.line, column=mark.column, hint=hint))

    def stop(self, mark: Mark, message: str, hint: str) -> None:
        self.report(mark, message, hint)
        raise _StoppedError

    def take(self, event: yaml.Event) -> None:
        start: Any = event.start_mark
        mark = Mark(start.line + self.first_line, start.column + 1)
        match event:
            case yaml.ScalarEvent():
                self.add(self.scalar(event, mark))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self.begin(event, mark)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.add(self.open.pop().close())
            case yaml.AliasEvent():
                self.report(mark, f"There is an alias, *{event.anchor}.", "Write the value out, or quote the star.")
                self.add(Unusable(mark))
            case yaml.DocumentStartEvent() if self.root is not None:
                self.stop(mark, "A second document begins here.", "Remove the line `---`.")

    def scalar(self, event: yaml.ScalarEvent, mark: Mark) -> Node:
        self.check_node(event, mark)
        if event.tag is not None:
            return Unusable(mark)
        bad = find_unreadable(event.value) if event.style == '"' else None
        if bad is not None:
            message, _ = name_character(bad)
            self.report(mark, message, "Remove the escape that makes it.")
            return Unusable(mark)
        return Scalar(event.value, not event.style, mark)

    def begin(self, event: yaml.CollectionStartEvent, mark: Mark) -> None:
        self.check_node(event, mark)
        if len(self.open) >= DEPTH_MAX:
            self.stop(mark, f"Values are nested more than {DEPTH_MAX} deep.", "No setting needs that; flatten it.")
        self.open.append(_Open(mark, isinstance(event, yaml.MappingStartEvent)))

    def check_node(self, event: yaml.NodeEvent, mark: Mark) -> None:
        self.count += 1
        if self.count > VALUES_MAX:
            self.stop(mark, f"The file holds more than {VALUES_MAX} values.", "Split it, or remove what is not needed.")
        if event.anchor is not None:
            self.report(mark, f"There is an anchor, &{event.anchor}.", "Remove it; values are not shared.")
        if event.tag is not None:  # type: ignore[attr-defined]
            self.report(mark, f"There is a tag, {event.tag}.", "Remove it; each key has its type.")  # type: ignore[attr-defined]

    def add(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        if not parent.is_mapping:
            parent.items.append(node)
        elif not parent.has_key:
            parent.has_key, parent.key = True, self.key_of(node, parent)
        else:
            if parent.key is not None:
                parent.entries[parent.key] = node
            parent.has_key = False

    def key_of(self, node: Node, parent: _Open) -> str | None:
        """Return the text of a key; None when it was refused."""
        if isinstance(node, Unusable):
            return None
        if not isinstance(node, Scalar) or node.is_null:
            self.report(node.mark, "A key is a list, a block or empty.", "Write a name before the colon.")
            return None
        if node.plain and node.text == "<<":
            self.report(node.mark, "There is a merge key, `<<`.", "Write the keys out.")
            return None
        if node.text in parent.keys:
            lines = f"in line {parent.keys[node.text].line} and in line {node.mark.line}"
            self.report(node.mark, f"The key `{node.text}` is given twice: {lines}.", "Keep one of them.")
            return None
        parent.keys[node.text] = node.mark
        return node.text


def parse_yaml(text: str, *, path: str, first_line: int = 1) -> Tree:
    """Return the tree of a YAML text and everything in it that is refused; no text makes it raise.

    An empty text, or one of comments only, is a block without keys.

    Args:
        text: The text, with or without a byte order mark, with any line ends.
        path: Name of the file in faults, relative to the brain.
        first_line: Line of the file in which `text` begins; 2 for frontmatter.
    """
    text, faults = clean_text(text, path=path, first_line=first_line)
    builder = _Builder(path, first_line)
    complete = _build(builder, text)
    root = _as_root(builder) if complete else None
    return Tree(root, (*faults, *builder.faults))


def _build(builder: _Builder, text: str) -> bool:
    """Feed the builder; return False when the text ends in broken syntax."""
    try:
        for event in read_events(text):
            builder.take(event)
    except _StoppedError:
        return False
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The parser that is written in Python lets errors of `chr` through, for escapes such as \UFFFFFFFF.
        fault = explain_yaml_error(error, text, path=builder.path, first_line=builder.first_line)
        builder.faults = [*(other for other in builder.faults if other.line != fault.line), fault]
        return False
    return True


def read_events(text: str) -> Iterator[yaml.Event]:
    """Yield what the parser sees in a text, one after another; a `YAMLError` ends it where the syntax is broken."""
    yield from yaml.parse(text, Loader=_LOADER)


def _as_root(builder: _Builder) -> Mapping | None:
    root = builder.root
    match root:
        case None:
            return Mapping({}, Mark(builder.first_line, 1))
        case Mapping():
            return root
        case Scalar() if root.is_null:
            return Mapping({}, root.mark)
        case Unusable():
            return None
        case _:
            what = "a list" if isinstance(root, Sequence) else "text"
            builder.report(root.mark, f"There is {what} where keys are expected.", "Write `key: value` lines.")
            return None
