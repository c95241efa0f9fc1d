"""Readers: from a node of the tree to the value that a setting needs, or a sentence that says why not.

The reader decides the type, never the spelling: a text field takes `1.10`, `012` and `NO` as they were typed,
and a number field refuses `"4"`, `4.0` and `12:30` with the way to write it.
A reader carries what it expects as a phrase, its range and its choices, so that the same object decodes the
file and fills the table of settings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from omnislash.brain.nearest import suggest
from omnislash.brain.tree import FLAGS, WHOLE_NUMBER, Mapping, Node, Scalar, Sequence, Unusable, to_plain
from omnislash.core.lines import quote_name
from omnislash.errors import Fault, OmnislashError

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.brain.tree import Mark


T = TypeVar("T")
K = TypeVar("K")
T_co = TypeVar("T_co", covariant=True)

#: Largest count or length that a setting takes: far above every use, and inside 32 bits.
WHOLE_MAX = 1_000_000_000

_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?")
_SWITCH_WORDS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


class UnfitError(Exception):
    """The node is not what the setting takes."""

    def __init__(self, message: str | None = None, hint: str | None = None) -> None:
        """Keep the sentence; without one, everything was reported already."""
        self.message = message
        self.hint = hint
        super().__init__(message)


class Reader(Protocol[T_co]):
    """Reads one kind of value."""

    @property
    def expects(self) -> str:
        """Return what is expected, as a phrase: `a whole number from 0`."""
        ...

    def read(self, node: Node, site: Site) -> T_co:
        """Return the value of the node.

        Raises:
            UnfitError: When it is no such value.
        """
        ...


def describe(node: Node) -> str:
    """Return what stands there, as the beginning of a sentence."""
    match node:
        case Scalar() if node.is_null:
            return "There is no value"
        case Scalar():
            return f"{quote_name(node.text)} is {_kind_of(node)}"
        case Sequence():
            return "There is a list"
        case _:
            return "There is a block of keys"


def _kind_of(scalar: Scalar) -> str:
    if not scalar.plain:
        return "text in quotes"
    if scalar.text in FLAGS:
        return "a switch"
    return "a number" if WHOLE_NUMBER.fullmatch(scalar.text) else "text"


def _unfit(node: Node, expects: str, hint: str | None = None) -> UnfitError:
    if isinstance(node, Unusable):
        return UnfitError()
    if isinstance(node, Scalar) and node.is_null:
        hint = "Write a value, or remove the key."
    return UnfitError(f"{describe(node)}; expected {expects}.", hint)


def _value(node: Node, expects: str, hint: str | None = None) -> Scalar:
    """Return the node as a scalar that has a value."""
    if isinstance(node, Scalar) and not node.is_null:
        return node
    raise _unfit(node, expects, hint)


@dataclass(frozen=True, slots=True)
class Text:
    """Any text, as it was typed."""

    expects: str = "text"

    def read(self, node: Node, site: Site) -> str:  # noqa: ARG002  the shape of every reader
        """Return the raw text."""
        return _value(node, self.expects, "Put it in quotes if it is meant as text.").text


@dataclass(frozen=True, slots=True)
class Flag:
    """A switch."""

    expects: str = "true or false"

    def read(self, node: Node, site: Site) -> bool:  # noqa: ARG002
        """Return the switch; only the words `true` and `false` are one."""
        scalar = _value(node, self.expects)
        if scalar.plain and scalar.text in FLAGS:
            return FLAGS[scalar.text]
        word = scalar.text.strip().lower()
        word = _SWITCH_WORDS.get(word, word)
        raise _unfit(node, self.expects, f"Write {word}, without quotes." if word in FLAGS else None)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    ge: int = 0
    le: int = WHOLE_MAX

    @property
    def expects(self) -> str:
        """Return the phrase with the range."""
        top = "" if self.le == WHOLE_MAX else f" to {self.le}"
        return f"a whole number from {self.ge}{top}"

    def read(self, node: Node, site: Site) -> int:  # noqa: ARG002
        """Return the number."""
        scalar = _value(node, self.expects)
        if not scalar.plain or not WHOLE_NUMBER.fullmatch(scalar.text):
            raise _not_a_number(scalar, self.expects, _whole_hint(scalar))
        number = int(scalar.text)
        if not self.ge <= number <= self.le:
            message = f"{number} is too {'small' if number < self.ge else 'large'}; expected {self.expects}."
            raise UnfitError(message, None if number > 0 else "0 switches it off.")
        return number


@dataclass(frozen=True, slots=True)
class Fraction:
    """A number from 0 to 1."""

    ge: float = 0.0
    le: float = 1.0
    expects: str = "a number from 0 to 1"

    def read(self, node: Node, site: Site) -> float:  # noqa: ARG002
        """Return the number."""
        scalar = _value(node, self.expects)
        if not scalar.plain or not _DECIMAL.fullmatch(scalar.text):
            raise _not_a_number(scalar, self.expects, _fraction_hint(scalar))
        number = float(scalar.text)
        if not self.ge <= number <= self.le:
            message = f"{scalar.text} is too {'small' if number < self.ge else 'large'}; expected {self.expects}."
            raise UnfitError(message, "A score of 41 percent is written 0.41.")
        return number


def _not_a_number(scalar: Scalar, expects: str, hint: str | None) -> UnfitError:
    if scalar.plain and _DECIMAL.fullmatch(scalar.text):
        return UnfitError(f"{scalar.text} is not whole; expected {expects}.", hint)
    return _unfit(scalar, expects, hint)


def _whole_hint(scalar: Scalar) -> str | None:
    """Return the spelling that was probably meant: without quotes, zeros in front, separators or a fraction of 0."""
    text = re.sub(r"(?<=[0-9])[_, '](?=[0-9]{3})", "", scalar.text.strip())
    text = re.sub(r"\.0*$", "", re.sub(r"^(-?)\+?0*(?=[0-9])", r"\1", text))
    return _spelling_hint(scalar, text) if WHOLE_NUMBER.fullmatch(text) else None


def _fraction_hint(scalar: Scalar) -> str | None:
    text = scalar.text.strip().replace(",", ".")
    text = f"0{text}" if text.startswith(".") else text
    return _spelling_hint(scalar, text) if _DECIMAL.fullmatch(text) else None


def _spelling_hint(scalar: Scalar, text: str) -> str:
    if scalar.text == text:
        return f"Remove the quotes: {text}."
    return f"Write {text}."


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def expects(self) -> str:
        """Return the phrase with the words."""
        return "one of " + ", ".join(self.options)

    def read(self, node: Node, site: Site) -> str:  # noqa: ARG002
        """Return the word."""
        text = _value(node, self.expects).text
        if text not in self.options:
            raise UnfitError(f"{quote_name(text)} is not {self.expects}.", suggest(text, self.options))
        return text


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """Text that a function accepts or refuses."""

    expects: str
    #: Returns the value; raises `UnfitError` or an `OmnislashError` with message and hint.
    parse: Callable[[str], T]
    #: What to do about a list that stands in its place.
    list_hint: str | None = None

    def read(self, node: Node, site: Site) -> T:  # noqa: ARG002
        """Return what the function makes of the text."""
        scalar = _value(node, self.expects, self.list_hint if isinstance(node, Sequence) else None)
        try:
            return self.parse(scalar.text)
        except OmnislashError as error:
            raise UnfitError(error.message, error.hint) from error


@dataclass(frozen=True, slots=True)
class ListOf(Generic[T]):
    """A list of values of one kind."""

    item: Reader[T]
    #: Whether a single value may stand for a list of one.
    single: bool = False
    #: Whether the list must hold something.
    filled: bool = False
    #: Whether nothing may be in it twice.
    distinct: bool = False

    @property
    def expects(self) -> str:
        """Return the phrase with what the items are."""
        return f"a list, each item {self.item.expects}"

    def read(self, node: Node, site: Site) -> tuple[T, ...]:
        """Return the values; every item that is wrong is reported."""
        if self.single and isinstance(node, Scalar) and not node.is_null:
            return (self.item.read(node, site),)
        if not isinstance(node, Sequence):
            text = node.text if isinstance(node, Scalar) else ""
            raise _unfit(node, self.expects, f"Write [{text}]." if text and len(text) < 80 else None)  # noqa: PLR2004
        values = self._items(node, site)
        if self.filled and not node.items:
            raise UnfitError(f"The list is empty; expected {self.expects}.", "Name at least one, or remove the key.")
        return values

    def _items(self, node: Sequence, site: Site) -> tuple[T, ...]:
        values: list[T] = []
        for index, child in enumerate(node.items):
            place = site.item(index)
            for value in place.read(self.item, child, child.mark):
                if self.distinct and value in values:
                    place.report(child.mark, f"{quote_name(str(value))} is in the list twice.", "Remove one of them.")
                values.append(value)
        return tuple(values)


@dataclass(frozen=True, slots=True)
class Table(Generic[K, T]):
    """A block whose keys are names that people choose."""

    key: Named[K]
    value: Reader[T]

    @property
    def expects(self) -> str:
        """Return the phrase with what keys and values are."""
        return f"a block of keys, each {self.key.expects} with {self.value.expects}"

    def read(self, node: Node, site: Site) -> dict[K, T]:
        """Return the values by key; every key and value that is wrong is reported."""
        block = as_block(node, self.expects)
        found: dict[K, T] = {}
        for text, child in block.entries.items():
            mark = block.keys[text]
            place = site.at(text)
            names = place.read(self.key, Scalar(text, plain=False, mark=mark), mark)
            values = place.read(self.value, child, mark)
            found.update(zip(names, values, strict=False))
        return found


@dataclass(frozen=True, slots=True)
class Free:
    """A block that belongs to another part of the system: kept, not judged."""

    expects: str = "a block of keys"

    def read(self, node: Node, site: Site) -> dict[str, object]:  # noqa: ARG002
        """Return the block as dicts, lists and values."""
        plain = to_plain(as_block(node, self.expects))
        return plain if isinstance(plain, dict) else {}


@dataclass(frozen=True, slots=True)
class Ignored:
    """Whatever it is, it has no meaning here."""

    expects: str = "anything, which is ignored"

    def read(self, node: Node, site: Site) -> None:  # noqa: ARG002
        """Return nothing and complain about nothing."""
        return


def as_block(node: Node, expects: str, hint: str | None = None) -> Mapping:
    """Return the node as a block; an empty key is a block without keys (DECLARE-O1).

    Raises:
        UnfitError: When it is text or a list.
    """
    if isinstance(node, Mapping):
        return node
    if isinstance(node, Scalar) and node.is_null:
        return Mapping({}, node.mark)
    raise _unfit(node, expects, hint)


class Site:
    """A place in a file while it is decoded: its dotted key, and the list that faults go to."""

    __slots__ = ("faults", "key", "path")

    def __init__(self, path: str, key: str = "", faults: list[Fault] | None = None) -> None:
        """Begin at the top of the file `path`."""
        self.path = path
        self.key = key
        self.faults: list[Fault] = [] if faults is None else faults

    def at(self, segment: str) -> Site:
        """Return the place of a key below this one."""
        return Site(self.path, f"{self.key}.{segment}" if self.key else segment, self.faults)

    def item(self, index: int) -> Site:
        """Return the place of a list item."""
        return Site(self.path, f"{self.key}[{index}]", self.faults)

    def report(self, mark: Mark, message: str, hint: str | None = None) -> None:
        """Add a fault of this key."""
        key = self.key or None
        self.faults.append(Fault(self.path, message, line=mark.line, column=mark.column, key=key, hint=hint))

    def read(self, reader: Reader[T], node: Node, key_mark: Mark) -> tuple[T, ...]:
        """Return the value as a tuple of one, or nothing after its fault was reported.

        Args:
            reader: Reads the value.
            node: The value.
            key_mark: Where its key stands: the place of a fault about a value that is not there.
        """
        try:
            return (reader.read(node, self),)
        except UnfitError as error:
            if error.message is not None:
                nothing = isinstance(node, Scalar) and node.is_null
                self.report(key_mark if nothing else node.mark, error.message, error.hint)
            return ()
