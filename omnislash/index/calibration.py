"""Measuring how an endpoint's model lies on the common scale, with the brain's own notes, and remembering it.

The shipped models were measured before they were shipped and are not measured again.

Rules: RECALL-16; interface.md, `index calibrate`.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.index.embedders.calibrating import fit_calibration, read_small_talk, split_halves
from omnislash.index.embedders.openai_compatible import OpenAICompatible
from omnislash.index.embedders.ports import Calibration
from omnislash.index.reading import parse_file, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from omnislash.index.embedders.ports import Embedder
    from omnislash.index.live import LiveIndex

#: Notes that are cut in halves, at most: more move the median by less than .01, and each costs two texts.
_NOTES = 200


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One model with its place on the common scale."""

    name: str
    calibration: Calibration
    #: False for a model that ships with a measured place.
    is_new: bool

    def to_json(self) -> dict[str, Any]:
        """Return `{name, slope, offset, source, new}`."""
        fit = self.calibration
        return {"name": self.name, "slope": fit.slope, "offset": fit.offset, "source": fit.source, "new": self.is_new}


def calibrate_index(live: LiveIndex, *, today: date) -> tuple[Calibrated, ...]:
    """Measure each endpoint's model on notes of the brain and remember the result in the index.

    Args:
        live: The index, caught up.
        today: Goes into the result, so that one knows how old it is.

    Raises:
        CalibrationRefusedError: There are too few notes, or the model can't be calibrated; nothing was changed.
        EmbedderUnavailableError: The model does not answer.
        IndexUnavailableError: The index can't be written.
    """
    return tuple(_calibrate(live, embedder, today) for embedder in live.settings.embedders)


def _calibrate(live: LiveIndex, embedder: Embedder, today: date) -> Calibrated:
    if not isinstance(embedder, OpenAICompatible):
        return Calibrated(embedder.name, embedder.calibration, is_new=False)
    halves = [halves for text in _read_notes(live) if (halves := split_halves(text)) is not None][:_NOTES]
    related = _compare_halves(embedder, halves)
    unrelated = _compare_small_talk(live, embedder, halves)
    source = f"{len(halves)} notes of this brain, {today.isoformat()}"
    found = fit_calibration(related, unrelated, source=source)
    database = live.open_database()
    with database.writing():
        database.set_meta(_key(embedder.identity), json.dumps(asdict(found)))
    embedder.calibration = found
    return Calibrated(embedder.name, found, is_new=True)


def _read_notes(live: LiveIndex) -> Iterator[str]:
    """Yield what is embedded of each note, file by file."""
    database = live.open_database()
    for row in database.rows("SELECT place, kind, hash FROM files ORDER BY place"):
        try:
            found = read_bytes(live.root, row["place"])
        except OSError:
            continue
        if found is not None and found.hash == row["hash"]:
            path = row["place"].removeprefix("memory/")
            yield from (note.embedded for note in parse_file(found.data, kind=row["kind"], path=path).notes)


def _compare_halves(embedder: Embedder, halves: list[tuple[str, str]]) -> list[float]:
    if not halves:
        return []
    passages = embedder.embed_passages([second for _, second in halves])
    return [float(embedder.embed_query(first) @ passages[place]) for place, (first, _) in enumerate(halves)]


def _compare_small_talk(live: LiveIndex, embedder: Embedder, halves: list[tuple[str, str]]) -> list[float]:
    """Return for each line of small talk how near the nearest note is."""
    if not halves:
        return []
    notes = embedder.embed_passages([f"{first} {second}" for first, second in halves])
    lines = read_small_talk(live.settings.languages)
    return [float(np.max(notes @ embedder.embed_query(line))) for line in lines]


def load_calibration(path: Path, identity: str) -> Calibration | None:
    """Return the remembered place of a model on the common scale; None when it was never measured in this brain."""
    if not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (_key(identity),)).fetchone()
        return Calibration(**json.loads(row[0])) if row is not None else None
    except (sqlite3.Error, ValueError, TypeError):
        return None


def _key(identity: str) -> str:
    return f"calibration:{identity}"
