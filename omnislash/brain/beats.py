"""What heartbeats and hooks have in common: the agent that they run, and how they patch its memory.

Rules: RESOLVE-03, KNOB-19, KNOB-23, KNOB-25, KNOB-28, FLUSH-O3, FLUSH-O4, DECLARE-01, TOOL-06.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.brain.config import FILLED
from omnislash.brain.decoding import Block, required, setting
from omnislash.brain.fields import Flag, Named, Text
from omnislash.brain.memory_block import MEMORY, MemoryBlock
from omnislash.brain.names import parse_role_name
from omnislash.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.declarations import Declaration

#: Reads a reference to a role.
ROLE_NAME = Named("the id of a role", parse_role_name)

_FLUSH = "Overrides the role's memoryFlush in either direction."
_KEEP = "Overrides the role's memoryKeep."


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBlock:
    """Who runs, and with which patch of its memory."""

    #: Id of the role.
    role: str = required(ROLE_NAME, text="Write the role that runs, for example `role: nova`.")
    #: Patch over the role's block; its presence turns memory on.
    memory: MemoryBlock | None = setting(MEMORY, text="Patches the role's memory block, key by key.", default=None)
    #: None = as the role says.
    memory_flush: bool | None = setting(Flag(), text=_FLUSH, default=None)
    #: None = as the role says.
    memory_keep: str | None = setting(FILLED, text=_KEEP, default=None)


#: Reads `agent:`, a role's id or a block.
AGENT = Block(AgentBlock, hint="Write `agent: nova`, or a block with `role:`.", short="role")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatFile:
    """The keys that a heartbeat and a hook share."""

    #: Who runs.
    agent: AgentBlock = required(AGENT, text="Write `agent: nova`, or a block with `role:`.")
    #: False = it does not run by itself.
    enabled: bool = setting(Flag(), text="false keeps it from running by itself.", default=True)
    #: One sentence for people.
    description: str | None = setting(Text(), text="What it is for, in one sentence.", default=None)
    #: None = as the agent block says.
    memory_flush: bool | None = setting(Flag(), text=_FLUSH, default=None)
    #: None = as the agent block says.
    memory_keep: str | None = setting(FILLED, text=_KEEP, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A heartbeat or a hook that may run."""

    #: Its file name without `.heartbeat.md` or `.hook.md`.
    id: str
    #: Path of its file, relative to the brain.
    path: str
    #: Id of the role that it runs.
    role: str
    #: Patch over the role's block; None = it has none.
    declaration: Declaration | None = None
    #: None = as the role says.
    memory_flush: bool | None = None
    #: None = as the role says.
    memory_keep: str | None = None
    #: False = it does not run by itself.
    enabled: bool = True
    #: One sentence for people.
    description: str | None = None
    #: The prompt, word for word.
    body: str = ""
    #: Line of each key by dotted name, for doctor.
    key_lines: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)


def find_doubled(file: BeatFile, lines: Mapping[str, int], *, path: str) -> tuple[Fault, ...]:
    """Return a fault for each key that stands both at the top and in the agent block."""
    doubled = (
        ("memoryFlush", file.memory_flush is not None and file.agent.memory_flush is not None),
        ("memoryKeep", file.memory_keep is not None and file.agent.memory_keep is not None),
    )
    return tuple(
        Fault(
            path,
            f"The key is given twice: in line {lines[key]} and in line {lines[f'agent.{key}']}.",
            line=lines[key],
            key=key,
            hint="Keep one of them.",
        )
        for key, is_doubled in doubled
        if is_doubled
    )


def shared_fields(file: BeatFile) -> dict[str, object]:
    """Return the fields of a beat that its keys decide."""
    agent = file.agent
    return {
        "role": agent.role,
        "declaration": agent.memory.to_declaration() if agent.memory else None,
        "memory_flush": agent.memory_flush if file.memory_flush is None else file.memory_flush,
        "memory_keep": agent.memory_keep if file.memory_keep is None else file.memory_keep,
        "enabled": file.enabled,
        "description": file.description,
    }
