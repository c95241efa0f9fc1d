"""Copies of the example brain for tests, with a search index that every file is in and that no model was asked for."""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnislash.engine import Brain, SearchOptions
from omnislash.index.embedders.opening import LOCAL, open_embedders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.index.embedders.ports import Embedder, Vectors

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "brain-example"
_INDEX = Path("memory") / ".memory-index.db"
#: What somebody left who ran the example in place.
_LEFT = shutil.ignore_patterns(".omnislash", ".memory-index*")
#: The days of the household, and of the workshop all but the last month with its pages: what the demo leaves out too.
_LONG_AGO = re.compile(r"home/20|[^/]+/(?:2025/|2026/(?:0\d|10)/|2026/2026-(?!W4[5-8]\.|11\.))")


def copy_example(target: Path, *, index: Path | None = None, last_month: bool = False) -> Path:
    """Copy the example brain to a place that must not exist, and return the place.

    Args:
        target: The place.
        index: An index of :func:`build_index`; None leaves it to the first search, which asks the model for 1,900 vectors.
        last_month: Leave the days out that lie more than a month back, and those of the household.
    """
    shutil.copytree(EXAMPLE, target, ignore=_LEFT)
    if index is not None:
        shutil.copy(index, target / _INDEX)
    for path in sorted((target / "memory").rglob("*.md")) if last_month else ():
        if _LONG_AGO.match(path.relative_to(target / "memory").as_posix()):
            path.unlink()
    return target


def build_index(place: Path) -> Path:
    """Return an index of the example; made by one of several test processes, for all of them.

    Its vectors are all zero, which is like nothing: a search with it finds by words alone. The model that ships would need
    a minute for real ones, and what is tested with this index is that nothing is left to be taken up.

    Args:
        place: A directory that the processes share.
    """
    made = place / "example-index.db"
    with (place / "example-index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            root = copy_example(place / "example-brain")
            shipped = open_embedders(LOCAL, languages=("english", "russian"), environment={}).embedders
            silent = SearchOptions(embedders=tuple(map(_Silent, shipped)))
            with Brain.open(root, search=silent) as brain:
                found = brain.index.refresh(limit_s=None)
            assert (found.failure, found.embedder_failure) == (None, None)
            with (
                contextlib.closing(sqlite3.connect(root / _INDEX)) as source,
                contextlib.closing(sqlite3.connect(place / "example-index.part")) as copy,
            ):
                source.backup(copy)
            (place / "example-index.part").rename(made)
    return made


class _Silent:
    """Stands in the place of an embedder that ships, in its space, and makes vectors that are like nothing."""

    def __init__(self, shipped: Embedder) -> None:
        self.name, self.dimension, self.window = shipped.name, shipped.dimension, shipped.window
        self.identity, self.calibration, self.reads = shipped.identity, shipped.calibration, shipped.reads

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.zeros(self.dimension, np.float32)

    def load(self) -> None:
        """Nothing is needed."""
