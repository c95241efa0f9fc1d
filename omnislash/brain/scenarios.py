"""`*.scenario.md`: only noted, never judged.

A `memory` key in a scenario's `agent:` block has no effect; doctor names it.

Rules: RESOLVE-07, KNOB-O7.
"""

from __future__ import annotations

from dataclasses import dataclass

from omnislash.brain.frontmatter import parse_document
from omnislash.brain.tree import find_node, key_lines

#: End of the name of a scenario file.
SCENARIO_SUFFIX = ".scenario.md"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario as far as memory is concerned."""

    #: Path of its file, relative to the brain.
    path: str
    #: Whether its `agent:` block has a `memory` key, which is inert.
    has_memory: bool = False
    #: Line of that key.
    memory_line: int | None = None


def parse_scenario(text: str, *, path: str) -> Scenario:
    """Return what memory needs to know of a scenario; nothing in it is a fault."""
    root = parse_document(text, path=path).tree.root
    if root is None or find_node(root, "agent", "memory") is None:
        return Scenario(path)
    return Scenario(path, has_memory=True, memory_line=key_lines(root).get("agent.memory"))
