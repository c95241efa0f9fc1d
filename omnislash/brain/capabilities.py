"""`constitution/engine-capabilities.json`: what a brain changes about single capabilities.

Rules: TOOL-16.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.brain.decoding import Block, Decoded, setting
from omnislash.brain.fields import Flag, Named, Site, Table
from omnislash.brain.json_text import parse_json
from omnislash.brain.names import parse_capability

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Path of the file, relative to the brain.
CAPABILITIES_FILE = "constitution/engine-capabilities.json"
#: Capabilities that a person approves each time, unless the file says otherwise.
GATED = frozenset({"memory:delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityOverride:
    """What is changed about one capability."""

    #: Whether a person approves each use; None = as the engine has it.
    hitl: bool | None = setting(Flag(), text="false lets the capability act without a person's approval.", default=None)


#: Reads the whole file.
OVERRIDES = Table(Named("a capability, area:verb", parse_capability), Block(CapabilityOverride))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The overrides of a brain."""

    #: Override by capability.
    overrides: Mapping[str, CapabilityOverride] = field(default_factory=dict)

    def needs_approval(self, capability: str) -> bool:
        """Tell whether a person approves each use of the capability (TOOL-16)."""
        override = self.overrides.get(capability)
        if override is None or override.hitl is None:
            return capability in GATED
        return override.hitl


def parse_capabilities(text: str, *, path: str = CAPABILITIES_FILE) -> Decoded[Capabilities]:
    """Return the overrides, or every fault in them."""
    tree = parse_json(text, path=path)
    if tree.root is None:
        return Decoded(None, tree.faults)
    site = Site(path)
    found = site.read(OVERRIDES, tree.root, tree.root.mark)
    faults = (*tree.faults, *site.faults)
    return Decoded(None if faults or not found else Capabilities(found[0]), faults, tree.root)
