"""The search index of a brain as its configuration asks for it.

Rules: KNOB-21, LANG-09, SOURCE-08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omnislash.index.calibration import load_calibration
from omnislash.index.database import INDEX_FILE
from omnislash.index.embedders.hurried import Hurried
from omnislash.index.embedders.openai_compatible import OpenAICompatible
from omnislash.index.embedders.opening import open_embedders
from omnislash.index.live import IndexSettings, LiveIndex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.brain.files import BrainFiles
    from omnislash.index.embedders.ports import Embedder

#: How long an endpoint is waited for where nobody has time, in seconds: the slower ones answer within a second.
_ENDPOINT_S: Final = 1.5


def open_index(
    root: Path,
    config: BrainFiles,
    *,
    state_directory: Path,
    environment: Mapping[str, str],
    embedders: tuple[Embedder, ...] | None = None,
    patience_s: float | None = None,
) -> LiveIndex:
    """Return the index of a brain; nothing is read yet, and no model is loaded.

    Args:
        root: The brain's directory.
        config: Its configuration.
        state_directory: The brain's `.omnislash/`.
        environment: Variables of providers.
        embedders: In place of those that `memory.embeddingModel` names.
        patience_s: Seconds from now that searches wait for an answer of a model, and then this process ends; None = as
            long as it takes.
    """
    memory = config.project.memory
    notes: tuple[str, ...] = ()
    if embedders is None:
        opened = open_embedders(
            memory.embedding_model,
            languages=memory.languages,
            environment=environment,
            is_brief=patience_s is not None,
        )
        embedders, notes = opened.embedders, opened.notes
        remember_calibration(root, embedders)
    if patience_s is not None:
        embedders = tuple(Hurried(each, patience_s=_hold_patience(each, patience_s)) for each in embedders)
    settings = IndexSettings(sources=config.sources, languages=memory.languages, embedders=embedders, notes=notes)
    return LiveIndex(root, settings, state_directory=state_directory)


def _hold_patience(embedder: Embedder, patience_s: float) -> float:
    """Return how long an embedder is waited for: an endpoint needs the time of its network."""
    return max(patience_s, _ENDPOINT_S) if isinstance(embedder, OpenAICompatible) else patience_s


def remember_calibration(root: Path, embedders: tuple[Embedder, ...]) -> None:
    """Put endpoints' models where `omnislash index calibrate` found them on the common scale."""
    for embedder in embedders:
        if isinstance(embedder, OpenAICompatible):
            found = load_calibration(root / "memory" / INDEX_FILE, embedder.identity)
            embedder.calibration = found or embedder.calibration
