"""Taking up files that changed: each is read, cut into notes, and its words are stored.

Vectors come afterwards, see `embedding.py`. The two are apart on purpose: words cost a millisecond a file, so they are
caught up at once; vectors cost milliseconds a note.

Rules: LANG-09, LANG-10, LANG-O6, MIGRATE-04, MIGRATE-O3, RECALL-11, LINE-06; architecture.md section 5.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import ManagedPath
from omnislash.core.periods import LADDER, period_at
from omnislash.index import vectors
from omnislash.index.diff import Stat
from omnislash.index.embedding import hash_text
from omnislash.index.packing import NOTE, PENDING, Packed, pack_terms
from omnislash.index.reading import parse_file, read_bytes
from omnislash.index.rows import Rows

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from omnislash.index.database import Database
    from omnislash.index.diff import Drift
    from omnislash.index.embedders.routing import Router
    from omnislash.index.notes import Note
    from omnislash.index.reading import FileBytes
    from omnislash.index.scanning import Scanner
    from omnislash.index.stemming import Stemmer

#: Files that share one transaction. A reader waits for none of it; the batch bounds what a stop loses.
BATCH_FILES = 64


@dataclass(frozen=True, slots=True)
class Tools:
    """What turns text into terms and vectors."""

    stemmer: Stemmer
    router: Router
    #: Id of the model in the index, by the embedder's identity.
    models: Mapping[str, int]

    def model_of(self, text: str) -> int:
        """Return the id of the model that reads a note as it stands; 0 when none does."""
        embedder = self.router.route(text)
        return 0 if embedder is None else self.models[embedder.identity]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A file that was read and cut."""

    place: str
    kind: str
    bytes: FileBytes
    notes: tuple[Note, ...]
    #: The notes as they stand in the file.
    bodies: tuple[str, ...]
    terms: tuple[Counter[str], ...]
    problems: str


class Indexer:
    """Writes the index of one brain."""

    def __init__(self, root: Path, database: Database, scanner: Scanner, tools: Tools) -> None:
        """Keep what reading and writing needs."""
        self._root = root
        self._database = database
        self._scanner = scanner
        self._tools = tools
        self._rows = Rows(database)

    def apply(
        self, drift: Drift, *, is_over: Callable[[], bool], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, str]:
        """Take up what differs, removed files first, until the time is over.

        Args:
            drift: What differs.
            is_over: Asked between batches; the first batch always runs.
            progress: Called with the number of files done and of all.

        Returns:
            Files that can't be read, with the reason; they are left as they are in the index.
        """
        if drift.removed:
            with self._database.writing():
                for place in drift.removed:
                    self._rows.remove(place)
        places = [*drift.added, *drift.changed]
        unreadable: dict[str, str] = {}
        for start in range(0, len(places), BATCH_FILES):
            if start and is_over():
                break
            batch = places[start : start + BATCH_FILES]
            self._take(batch, unreadable)
            if progress is not None:
                progress(start + len(batch), len(places))
        return unreadable

    def _take(self, places: Sequence[str], unreadable: dict[str, str]) -> None:
        read = self._read_all(places, unreadable)
        gone = [place for place, found in read.items() if found is None]
        known = self._known(read)
        touched, cuts = [], []
        for place, found in read.items():
            if found is not None and known.get(place) != (found.hash, found.stat):
                if known.get(place, (b"",))[0] == found.hash:
                    touched.append((place, found))
                else:
                    cuts.append(self._cut(place, found))
        if gone or touched or cuts:
            with self._database.writing():
                for place, found in touched:
                    self._rows.set_stat(place, found.hash, found.stat)
                for place in gone:
                    self._rows.remove(place)
                self._store(cuts)

    def _read_all(self, places: Iterable[str], unreadable: dict[str, str]) -> dict[str, FileBytes | None]:
        """Return the bytes of some files, None for one that is gone; those that can't be read are named instead."""
        found: dict[str, FileBytes | None] = {}
        for place in places:
            try:
                found[place] = read_bytes(self._root, place)
            except OSError as error:
                unreadable[place] = error.strerror or str(error)
        return found

    def _known(self, places: Iterable[str]) -> dict[str, tuple[bytes, Stat]]:
        """Return hash and stat of those files that are indexed."""
        wanted = "SELECT place, hash, size, modified_ns, changed_ns, inode FROM files WHERE place = ?"
        rows = (row for place in places for row in self._database.rows(wanted, (place,)))
        return {row["place"]: (row["hash"], Stat(*tuple(row)[2:])) for row in rows}

    def _cut(self, place: str, found: FileBytes) -> _Cut:
        kind = self._scanner.kind(place)
        located = self._scanner.locate(place)
        parsed = parse_file(found.data, kind=kind, path=located.path if located else place)
        problems = json.dumps([[each.message, each.line] for each in parsed.problems])
        terms = tuple(self._tools.stemmer.note_terms(note.searched) for note in parsed.notes)
        bodies = tuple(parsed.text[note.start : note.end] for note in parsed.notes)
        return _Cut(place, kind, found, parsed.notes, bodies, terms, problems)

    def _store(self, cuts: Sequence[_Cut]) -> None:
        for cut in cuts:
            self._rows.remove(cut.place)
            values = (cut.bytes.hash, cut.problems)
            self._rows.insert(cut.place, cut.kind, cut.bytes.stat, values, self._pack(cut))

    def _pack(self, cut: _Cut) -> Packed:
        ids, counts = pack_terms(cut.terms)
        records = np.zeros(len(cut.notes), NOTE)
        for number, (note, body, terms) in enumerate(zip(cut.notes, cut.bodies, cut.terms, strict=True)):
            said = fold_body(body)
            on = _period_end(cut.kind, cut.place) or note.on
            model = self._tools.model_of(body)
            row = self._row(model, note.embedded) if model else PENDING
            records[number] = (
                *(note.start, note.end, note.first_line, note.last_line),
                on.toordinal() if on else 0,
                *(len(said), len(terms), hash_body(said)),
                *(model, row),
            )
        return Packed(records, ids, counts)

    def _row(self, model: int, text: str) -> int:
        text_hash = hash_text(text)
        return vectors.find_rows(self._database, model, [text_hash]).get(text_hash, PENDING)

    def rebuild(
        self,
        places: Sequence[str],
        *,
        made_by: str,
        progress: Callable[[int, int], None] | None = None,
        is_forced: bool = True,
    ) -> dict[str, str]:
        """Cut every file anew, in one transaction: readers have the index as it was until this is done.

        Args:
            places: Every file that belongs into the index.
            made_by: What the stored notes and terms depend on besides the files.
            progress: Called with the number of files done and of all.
            is_forced: False does nothing when another process has done it meanwhile.

        Returns:
            Files that can't be read, with the reason.
        """
        unreadable: dict[str, str] = {}
        with self._database.writing():
            if not is_forced and self._database.meta("madeBy") == made_by:
                return unreadable
            self._rows.clear_files()
            for start in range(0, len(places), BATCH_FILES):
                batch = places[start : start + BATCH_FILES]
                read = self._read_all(batch, unreadable)
                self._store([self._cut(place, found) for place, found in read.items() if found is not None])
                if progress is not None:
                    progress(start + len(batch), len(places))
            self._database.set_meta("madeBy", made_by)
        return unreadable


#: What stands before the words of an entry: its marker, and its time in a daily log.
_MARKER = re.compile(r"\s*[-*+]\s+(?:[0-2][0-9]:[0-5][0-9]\s+)?")


def fold_body(text: str) -> str:
    """Return what a note says: of an entry in MEMORY.md and of the same one in a daily log the same text."""
    words = _MARKER.sub("", text, count=1) if _MARKER.match(text) else text
    return " ".join(words.casefold().split())


def hash_body(folded: str) -> int:
    """Return a 64-bit hash of what a note says."""
    return int.from_bytes(hashlib.sha256(folded.encode("utf-8", "surrogatepass")).digest()[:8], "little")


def _period_end(kind: str, place: str) -> date | None:
    """Return the last day of the period that a summary is about; None for every other file."""
    if kind not in LADDER:
        return None
    period = period_at(ManagedPath(place.removeprefix(f"{MANAGED_ROOT}/")))
    return None if period is None else period.last
