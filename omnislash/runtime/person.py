"""A person as one who reads: every line and every source, whatever any role may read, and no way to write.

Rules: DASH-04; interface.md, "Embedding the engine".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.core.corpora import EVERY_LINE, Ref, RefKind
from omnislash.core.declarations import line_of, resolve_settings
from omnislash.core.scopes import Scope
from omnislash.runtime.turns import Turn

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles

#: Stands where messages name a role.
_NAME: Final = "person"
_GRANTED: Final = frozenset({"memory:read"})


def person_turn(config: BrainFiles) -> Turn:
    """Return who reads everything and writes nothing; the knobs are those of the manifest."""
    declared = config.manifest.memory.to_declaration()
    everything = (Ref(RefKind.EVERY_LINE, EVERY_LINE), *(Ref(RefKind.AUTHORED, source) for source in config.sources))
    scope = Scope(role=_NAME, line=line_of(declared, handed=None), read=everything, settings=resolve_settings(declared))
    return Turn(scope=scope, capabilities=_GRANTED, replay=True, actor=_NAME)
