"""Another process that has the index of a brain open and answers one JSON line for each line that it is sent.

    {"find": "words"}   → {"places": [...], "behind": 0, "failure": null}   after catching up
    {"rebuild": true}   → {"failure": null}

Started as `python index_process.py ROOT LOG DELAY`: each text that it embeds is a line of LOG, and each call of its
embedder takes DELAY seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.index.lexical import match_words
from omnislash.index.live import IndexSettings, LiveIndex
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.index.embedders.ports import Vectors


class LoggingEmbedder(CountingEmbedder):
    """Writes down every text that it embeds."""

    def __init__(self, log: Path, *, delay_s: float) -> None:
        super().__init__(delay_s=delay_s)
        self._log = log

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        with self._log.open("a") as file:
            file.write("".join(f"{json.dumps(text)}\n" for text in texts))
        return super().embed_passages(texts)


def find(live: LiveIndex, text: str) -> dict[str, Any]:
    """Return the files that have every word."""
    freshness = live.refresh(limit_s=None)
    view = live.view(freshness)
    found = np.flatnonzero(view.snapshot.alive)
    for match in match_words(view.snapshot, view.stemmer.parse_query(text)):
        found = np.intersect1d(found, match.notes)
    places = {view.snapshot.files[view.snapshot.file_of[note]].place for note in found.tolist()}
    return {"places": sorted(places), "behind": len(freshness.behind), "failure": freshness.failure}


def main(root: Path, log: Path, delay_s: float) -> None:
    """Answer until the input ends."""
    settings = IndexSettings((), ("english",), (LoggingEmbedder(log, delay_s=delay_s),))
    live = LiveIndex(root, settings, state_directory=root / ".omnislash")
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = find(live, request["find"]) if "find" in request else {"failure": live.rebuild().failure}
        print(json.dumps(answer), flush=True)
    live.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
