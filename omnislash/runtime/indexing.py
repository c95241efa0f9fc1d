"""The search index of a brain as its configuration asks for it.

Rules: KNOB-21, LANG-09, SOURCE-08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.index.calibration import load_calibration
from omnislash.index.database import INDEX_FILE
from omnislash.index.embedders.openai_compatible import OpenAICompatible
from omnislash.index.embedders.opening import open_embedders
from omnislash.index.live import IndexSettings, LiveIndex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.brain.files import BrainFiles
    from omnislash.index.embedders.ports import Embedder


def open_index(
    root: Path,
    config: BrainFiles,
    *,
    state_directory: Path,
    environment: Mapping[str, str],
    embedders: tuple[Embedder, ...] | None = None,
) -> LiveIndex:
    """Return the index of a brain; nothing is read yet, and no model is loaded.

    Args:
        root: The brain's directory.
        config: Its configuration.
        state_directory: The brain's `.omnislash/`.
        environment: Variables of providers.
        embedders: In place of those that `memory.embeddingModel` names.
    """
    memory = config.project.memory
    notes: tuple[str, ...] = ()
    if embedders is None:
        opened = open_embedders(memory.embedding_model, languages=memory.languages, environment=environment)
        embedders, notes = opened.embedders, opened.notes
        remember_calibration(root, embedders)
    settings = IndexSettings(sources=config.sources, languages=memory.languages, embedders=embedders, notes=notes)
    return LiveIndex(root, settings, state_directory=state_directory)


def remember_calibration(root: Path, embedders: tuple[Embedder, ...]) -> None:
    """Put endpoints' models where `omnislash index calibrate` found them on the common scale."""
    for embedder in embedders:
        if isinstance(embedder, OpenAICompatible):
            found = load_calibration(root / "memory" / INDEX_FILE, embedder.identity)
            embedder.calibration = found or embedder.calibration
