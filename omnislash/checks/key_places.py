"""In which line of a configuration file a key stands, for findings about values that loaded without a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.brain.tree import Mapping, find_entry, find_node
from omnislash.brain.yaml_text import parse_yaml

if TYPE_CHECKING:
    from omnislash.checks.examined import Listed, SeenFile


class KeyPlaces:
    """The places of one YAML file, which need not exist."""

    def __init__(self, path: str) -> None:
        """Keep which file is meant, relative to the brain."""
        self._path = path
        self._text = ""
        self._root: Mapping | None = None

    def is_at(self, entry: Listed) -> bool:
        """Tell whether an entry of the listing is the file."""
        return entry.path == self._path

    def see(self, file: SeenFile) -> None:
        """Take the file when it is the one; every other one is let pass."""
        if file.path == self._path:
            self._text = file.text

    def line_of(self, *keys: str, entry: str | None = None) -> int | None:
        """Return the line of a key, or of an entry of the list under it; None when there is no such key."""
        if self._root is None and self._text:
            self._root = parse_yaml(self._text, path=self._path).root
        parent = find_node(self._root, *keys[:-1]) if self._root is not None else None
        if self._root is None or not isinstance(parent, Mapping) or keys[-1] not in parent.entries:
            return None
        return parent.keys[keys[-1]].line if entry is None else find_entry(self._root, keys, entry).line
