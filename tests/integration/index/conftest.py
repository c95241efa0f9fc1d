"""What the tests of the index share: a brain of loose files, indexes that are open on it, and what they find."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnislash.core.lines import parse_source
from omnislash.index.lexical import match_words
from omnislash.index.live import IndexSettings, LiveIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash.index.freshness import Freshness
    from omnislash.testing.embedders import CountingEmbedder


class IndexBrain:
    """A directory with memory files, and the indexes that are open on it."""

    def __init__(self, root: Path) -> None:
        """Make the directories that every brain has."""
        self.root = root
        self.index_path = root / "memory" / ".memory-index.db"
        self._opened: list[LiveIndex] = []
        (root / "memory").mkdir(parents=True)
        (root / ".omnislash").mkdir()

    def write(self, place: str, text: str | bytes) -> Path:
        """Let a person save a file; the path is that of the brain."""
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def open(
        self,
        embedder: CountingEmbedder | None = None,
        *,
        languages: tuple[str, ...] = ("english",),
        sources: tuple[str, ...] = (),
    ) -> LiveIndex:
        """Return an index as a process of its own would open it."""
        embedders = () if embedder is None else (embedder,)
        settings = IndexSettings(tuple(map(parse_source, sources)), languages, embedders)
        self._opened.append(LiveIndex(self.root, settings, state_directory=self.root / ".omnislash"))
        return self._opened[-1]

    def close(self) -> None:
        """Close every index."""
        for live in self._opened:
            live.close()

    def markdown(self) -> dict[str, bytes]:
        """Return every file but the index by its path."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*.md")
            if path.is_file() and not path.is_symlink()
        }

    def index_bytes(self) -> bytes:
        """Return the bytes of the index and of the files that belong to it."""
        return b"".join(path.read_bytes() for path in sorted(self.index_path.parent.glob(".memory-index.db*")))

    # -- what is found ---------------------------------------------------------------------------------------------------

    def find_words(self, live: LiveIndex, text: str, *, freshness: Freshness | None = None) -> list[str]:
        """Return the files that have every word of a text, after catching up, in order of their path."""
        view = live.view(freshness or live.refresh(limit_s=None))
        matches = match_words(view.snapshot, view.stemmer.parse_query(text))
        assert matches, "the text has words"
        found = np.ones(view.snapshot.size, bool)
        for match in matches:
            found &= np.isin(np.arange(view.snapshot.size), match.notes)
        places = {
            view.snapshot.files[view.snapshot.file_of[note]].place
            for note in np.flatnonzero(found & view.snapshot.alive)
        }
        return sorted(places)

    def find_meaning(self, live: LiveIndex, embedder: CountingEmbedder, text: str) -> dict[str, float]:
        """Return the best cosine of each file's notes with a text, as the index in memory has them now."""
        view = live.view(live.refresh(limit_s=None))
        notes = view.snapshot.notes
        cosines = view.vectors.cosines(view.models[embedder.identity], embedder.embed_query(text), notes["row"])
        best: dict[str, float] = {}
        for note in np.flatnonzero(view.snapshot.alive & ~np.isnan(cosines)).tolist():
            place = view.snapshot.files[view.snapshot.file_of[note]].place
            best[place] = max(best.get(place, -1.0), float(cosines[note]))
        return best

    def count_waiting(self, live: LiveIndex) -> int:
        """Return how many notes have no vector yet."""
        rows = live.open_database().rows("SELECT coalesce(sum(pending), 0) FROM files")
        return int(rows[0][0])

    def list_places(self, live: LiveIndex) -> list[str]:
        """Return every file that the index has, after catching up."""
        snapshot = live.view(live.refresh(limit_s=None)).snapshot
        return sorted(file.place for file, lives in zip(snapshot.files, snapshot.live_files, strict=True) if lives)


@pytest.fixture
def index_brain(tmp_path: Path) -> Iterator[IndexBrain]:
    """A brain without files."""
    brain = IndexBrain(tmp_path / "brain")
    yield brain
    brain.close()


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Keep what the index says to the tests that ask for it."""
    caplog.set_level(logging.WARNING, logger="omnislash")
