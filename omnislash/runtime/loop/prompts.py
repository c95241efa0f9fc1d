"""The system prompt of a turn: who the agent is, and how it reads its memory. Nothing in it moves between turns.

Rules: ENVELOPE-01, ENVELOPE-11, ENVELOPE-12, ENVELOPE-25 to ENVELOPE-27, DECLARE-13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.brain.constitution import read_overlay
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.turns import Turn

#: The prompt module of agents with memory; a copy in the brain takes its place.
MEMORY_MODULE: Final = "Agents/system/with-memory.md"


def render_system_prompt(turn: Turn, config: BrainFiles) -> str:
    """Return the role's instructions and, with memory, the module that says what each block is.

    The same files give the same text, whatever the memory holds; '' for a role without instructions.

    Raises:
        ConfigError: The brain's copy of the module is not UTF-8.

    Rules: ENVELOPE-11, ENVELOPE-12, ENVELOPE-25, DECLARE-13.
    """
    parts = [config.find_role(turn.scope.role).body.strip()]
    if turn.scope.has_memory:
        parts.append((read_overlay(config.root, MEMORY_MODULE, shipped=constitution_directory()) or "").strip())
    return "\n\n".join(part for part in parts if part)
