"""What the writer needs to know of a brain's configuration, taken from its manifest, roles and beats."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from omnislash.writer.plans import WriterSettings

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles


def writer_settings(config: BrainFiles) -> WriterSettings:
    """Return the writer's settings; made anew for each batch, so that a changed manifest takes effect (KNOB-26)."""
    memory = config.manifest.memory
    return WriterSettings(
        zone=ZoneInfo(config.manifest.locale.timezone),
        file_max_chars=memory.file_max_chars,
        line_max_chars=memory.line_budgets,
        refuse_secrets=memory.secrets == "refuse",
        sources=config.sources,
    )


def named_lines(config: BrainFiles) -> frozenset[str]:
    """Return every line and corpus that a role, a heartbeat or a hook names, the manifest's defaults included.

    `*` is in it when one of them names every line.

    Rules: MIGRATE-08, LINE-11.
    """
    blocks = [
        *(role.declaration for role in config.roles.values()),
        *(beat.declaration for beat in config.heartbeats.values()),
        *(hook.declaration for hook in config.hooks.values()),
    ]
    declared = [block for block in blocks if block is not None]
    if declared:
        declared.append(config.manifest.memory.to_declaration())
    lists = [names for block in declared for names in (block.report, block.read, block.recall) if names is not None]
    return frozenset(block.write for block in declared if block.write is not None).union(*lists)
