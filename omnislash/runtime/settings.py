"""What the writer needs to know of a brain's configuration, taken from its manifest."""

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
