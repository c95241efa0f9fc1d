"""Tree → frozen values, with every fault in one run.

A model is a frozen dataclass whose fields were made by `setting` or `required`.
Its field names are the keys in snake_case; in files the keys are camelCase, and this is the only place that
turns one into the other.
The same fields are the one table of settings: reader, help, unit and default stand together, and
`settings.settings_table` prints them.

Unknown keys are refused with the nearest known one, or with the place where such a key belongs.
Dataclasses and not a validation library do this, because opening a brain is part of every command: importing
one costs ten times the start of the interpreter (measured 2026-12-01), more than a whole write may take.

Rules: KNOB-25, KNOB-O3, KNOB-O4, LANG-11.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from omnislash.brain.fields import Reader, Site, UnfitError, as_block
from omnislash.brain.nearest import suggest
from omnislash.brain.tree import Mapping, Scalar
from omnislash.core.lines import quote_name

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingType

    from omnislash.brain.tree import Node, Tree
    from omnislash.errors import Fault

M = TypeVar("M")
T = TypeVar("T")

_IN_MANIFEST = "It belongs in `memory` of constitution/MANIFEST.yaml."
_IN_PROJECT = "It belongs in `memory` of omnislash.yaml."
_IN_BLOCK = "It belongs in a `memory` block."
_BESIDE = "It stands beside the `memory` block, not inside it."
#: Keys that are known somewhere else, with where.
_ELSEWHERE = {
    **dict.fromkeys(("fileMaxChars", "lines", "priorityDefault", "secrets", "flush", "consolidation"), _IN_MANIFEST),
    **dict.fromkeys(("embeddingModel", "sources", "languages"), _IN_PROJECT),
    **dict.fromkeys(("write", "report", "read", "recall", "priorityChars", "recentDays", "recentChars"), _IN_BLOCK),
    **dict.fromkeys(("recallResults", "recallScore", "recallChars", "searchScore", "periodCount"), _IN_BLOCK),
    **dict.fromkeys(("periodChars", "recallGate", "minScore"), _IN_BLOCK),
    **dict.fromkeys(("memoryFlush", "memoryKeep"), _BESIDE),
    **dict.fromkeys(("models", "harnesses"), "It belongs in omnislash.yaml."),
    **dict.fromkeys(("locale", "loop"), "It belongs in constitution/MANIFEST.yaml."),
    "timezone": "It belongs in `locale` of constitution/MANIFEST.yaml.",
    "capabilities": "It belongs in the role's own file.",
    "schedule": "It belongs in a heartbeat file, or in `consolidation` of the manifest.",
    "enabled": "There is no such switch: a `memory` block turns memory on, and no block turns it off.",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known about one key."""

    #: Name in files, in camelCase.
    key: str
    #: Name of the field.
    name: str
    #: Decides the type and the range.
    reader: Reader[object]
    #: One sentence for help pages: what it does, and what 0 means.
    help: str
    #: Unit of a number, for example `UTF-16 units`; None when there is none.
    unit: str | None
    #: Default as a person would write it; None when there is none.
    default: str | None
    #: Whether the key must be there.
    is_required: bool


def setting(reader: Reader[T], *, text: str, default: Any, unit: str | None = None, shown: object = None) -> Any:
    """Return a dataclass field for an optional key.

    Args:
        reader: Reads the value.
        text: The sentence for help pages.
        default: Value when the key is absent; a dict is copied for each object.
        unit: Unit of a number.
        shown: Default to show in help, where `default` is None because a lower tier decides.
    """
    about = {"reader": reader, "help": text, "unit": unit, "shown": default if shown is None else shown}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=about)
    return dataclasses.field(default=default, metadata=about)


def required(reader: Reader[T], *, text: str, unit: str | None = None) -> Any:
    """Return a dataclass field for a key that must be there."""
    about = {"reader": reader, "help": text, "unit": unit, "shown": None, "required": True}
    return dataclasses.field(metadata=about)


@cache
def _settings_of(model: type[Any]) -> MappingType[str, Setting]:
    found = [_setting_of(item) for item in dataclasses.fields(model)]
    return {entry.key: entry for entry in found}


def settings_of(model: type[Any]) -> MappingType[str, Setting]:
    """Return the settings of a model by key, in the order of its fields."""
    found: MappingType[str, Setting] = _settings_of(model)  # type: ignore[arg-type]
    return found


def _setting_of(item: dataclasses.Field[Any]) -> Setting:
    about = item.metadata
    return Setting(
        key=to_camel(item.name),
        name=item.name,
        reader=about["reader"],
        help=about["help"],
        unit=about["unit"],
        default=_show(about["shown"]),
        is_required=about.get("required", False),
    )


def _show(value: object) -> str | None:
    match value:
        case None:
            return None
        case _ if dataclasses.is_dataclass(value):
            return None
        case bool():
            return str(value).lower()
        case tuple():
            return f"[{', '.join(map(str, value))}]"
        case dict():
            return "{}"
        case _:
            return str(value)


def to_camel(name: str) -> str:
    """Return the key of a field: `recent_days` is `recentDays`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


@dataclass(frozen=True, slots=True)
class Block(Generic[M]):
    """A block of known keys."""

    model: type[M]
    #: What to do about a value that is no block.
    hint: str | None = None
    #: Key that a plain text in place of the block stands for; None when there must be a block.
    short: str | None = None

    @property
    def expects(self) -> str:
        """Return the phrase."""
        return f"a block of keys, or the {self.short} alone" if self.short else "a block of keys"

    def read(self, node: Node, site: Site) -> M:
        """Return the model; every key that is wrong, missing or unknown is reported."""
        before = len(site.faults)
        block = self._as_block(node)
        values = self._values(block, site)
        if len(site.faults) > before or len(values) < len(block.entries):
            raise UnfitError
        return self.model(**values)

    def _as_block(self, node: Node) -> Mapping:
        block = as_block_or_short(node, self.short)
        return block if block is not None else as_block(node, self.expects, self.hint)

    def _values(self, block: Mapping, site: Site) -> dict[str, object]:
        known = settings_of(self.model)
        values: dict[str, object] = {}
        for key, child in block.entries.items():
            mark = block.keys.get(key, child.mark)
            place = site.at(key)
            if key not in known:
                place.report(mark, f"{quote_name(key)} is not a known key.", hint_for_unknown(key, known))
                continue
            values.update((known[key].name, value) for value in place.read(known[key].reader, child, mark))
        for key, entry in known.items():
            if entry.is_required and key not in block.entries:
                site.at(key).report(block.mark, f"The key is missing; expected {entry.reader.expects}.", entry.help)
        return values


def as_block_or_short(node: Node, short: str | None) -> Mapping | None:
    """Return the block that a plain text stands for (`agent: nova`); None when it stands for none."""
    if short is None or not isinstance(node, Scalar) or node.is_null:
        return None
    return Mapping({short: node}, node.mark)


def hint_for_unknown(key: str, known: MappingType[str, Setting]) -> str:
    """Return the place where the key belongs, else the nearest known key, else all of them."""
    if key in _ELSEWHERE:
        return _ELSEWHERE[key]
    return suggest(key, known) or f"Known keys: {', '.join(known)}."


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """What a file says: the value, or None when it has faults, and the tree to point into."""

    value: T | None
    faults: tuple[Fault, ...] = ()
    #: The keys at the top, also of a file with faults; None when not even the syntax holds.
    root: Mapping | None = None


def decode(model: type[M], tree: Tree, *, path: str) -> Decoded[M]:
    """Return the model that a tree holds, or every fault in it, those of the text included.

    Args:
        model: Frozen dataclass made of `setting` and `required`.
        tree: What the text of the file says.
        path: Name of the file in faults, relative to the brain.
    """
    if tree.root is None:
        return Decoded(None, tree.faults)
    site = Site(path)
    found = site.read(Block(model), tree.root, tree.root.mark)
    faults = (*tree.faults, *site.faults)
    return Decoded(None if faults or not found else found[0], faults, tree.root)
