"""Where each value of a YAML text stands, in characters, as the parser says.

The text is one whose syntax holds and that has neither anchors nor aliases, see `yaml_text`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from omnislash.brain.yaml_text import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class Place:
    """A value of the text with the place where it stands, in characters."""

    start: int
    end: int
    #: How a scalar is written: `'`, `"`, `|`, `>`, or '' without quotes.
    style: str = ""
    text: str = ""
    #: The values of a list.
    items: list[Place] | None = None
    #: The keys of a block with their values.
    pairs: list[tuple[Place, Place]] | None = None
    #: Whether a list or a block stands in brackets.
    is_flow: bool = False

    @property
    def is_null(self) -> bool:
        """Tell whether there is no value."""
        return self.items is None and self.pairs is None and not self.style and self.text in {"", "~", "null"}

    @property
    def is_block_mapping(self) -> bool:
        """Tell whether it is keys in lines of their own."""
        return self.pairs is not None and not self.is_flow

    def find(self, key: str) -> tuple[Place, Place] | None:
        """Return a key of the block with its value; None when there is none."""
        return next((pair for pair in self.pairs or () if pair[0].text == key), None)


@dataclass(slots=True)
class _Composer:
    """Makes places of the parser's events."""

    text: str
    events: Iterator[Any] = field(init=False)
    #: Where the list or block ended that was read last.
    _last: int = 0

    def __post_init__(self) -> None:
        self.events = read_events(self.text)

    def root(self) -> Place | None:
        wanted = (yaml.ScalarEvent, yaml.CollectionStartEvent)
        first = next((event for event in self.events if isinstance(event, wanted)), None)
        return None if first is None else self.place(first)

    def place(self, event: Any) -> Place:
        start = event.start_mark.index
        if isinstance(event, yaml.SequenceStartEvent):
            return self._closed(Place(start, start, is_flow=bool(event.flow_style), items=list(self._children())))
        if isinstance(event, yaml.MappingStartEvent):
            inner = iter(list(self._children()))
            pairs = list(zip(inner, inner, strict=True))
            return self._closed(Place(start, start, is_flow=bool(event.flow_style), pairs=pairs))
        end = event.end_mark.index
        style = getattr(event, "style", None) or ""
        if style in {"|", ">"}:  # the parser counts the lines that end it
            end = start + len(self.text[start:end].rstrip())
        return Place(start, end, style=style, text=getattr(event, "value", ""))

    def _children(self) -> Iterator[Place]:
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                self._last = event.end_mark.index  # type: ignore[union-attr]  # a parser's event has its marks
                return
            yield self.place(event)

    def _closed(self, place: Place) -> Place:
        """Return a list or block with its end: the bracket, or the end of the last value in it."""
        inner = place.items if place.items is not None else [value for _, value in place.pairs or ()]
        place.end = self._last if place.is_flow else max((each.end for each in inner), default=place.start)
        return place


def compose(text: str) -> Place | None:
    """Return the place of the value of a text, with everything in it; None for a text without a value."""
    return _Composer(text).root()
