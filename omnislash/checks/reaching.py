"""Which lines the agents of a brain write, read and leave deposits in, in whatever way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.core.corpora import EVERY_LINE
from omnislash.core.declarations import merge_declarations
from omnislash.core.lines import DEFAULT_LINE

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.core.declarations import Declaration


@dataclass(slots=True)
class Reach:
    """The lines that agents name."""

    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    deposited: set[str] = field(default_factory=set)

    def add(self, merged: Declaration | None) -> None:
        """Take the block of one agent."""
        if merged is not None:
            self.written.add(merged.write or DEFAULT_LINE)
            self.read |= {*(merged.read or ()), *(merged.recall or ())}
            self.deposited |= set(merged.report or ())

    def reads(self, line: str) -> bool:
        """Tell whether an agent may see a line."""
        return bool({line, EVERY_LINE} & self.read) or line in self.written


def find_reach(config: BrainFiles) -> Reach:
    """Return what all roles, heartbeats and hooks reach."""
    reach = Reach()
    manifest = config.manifest.memory.to_declaration()
    for role in config.roles.values():
        reach.add(merge_declarations(manifest, role.declaration, None))
    for beat in (*config.heartbeats.values(), *config.hooks.values()):
        reach.add(merge_declarations(manifest, config.roles[beat.role].declaration, beat.declaration))
    return reach
