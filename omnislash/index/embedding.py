"""Embedding what waits for a vector: in batches, each committed on its own.

Whoever stops in between goes on from there, and a text that was embedded once is taken from the cache.

Rules: LANG-10, MIGRATE-04, RECALL-11; architecture.md section 5; failure case O-47.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnislash.index import vectors
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.index.packing import PENDING, checksum
from omnislash.index.reading import parse_file, read_bytes
from omnislash.index.rows import Rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from omnislash.index.database import Database
    from omnislash.index.embedders.ports import Embedder
    from omnislash.index.reading import ParsedFile
    from omnislash.index.scanning import Scanner

#: Texts that are embedded before their vectors are committed: half a second of work for the default model.
BATCH_TEXTS = 64
#: Files that are looked at together: enough to fill a batch where each has one note or two.
_FILES = 128
#: Waiting notes that are taken together, so that the records of a huge file are not written anew for every batch.
_NOTES_TOGETHER = 1024


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A file with notes that wait."""

    id: int
    #: Model and hash of the text of each waiting note, by its number in the file.
    notes: Mapping[int, tuple[int, bytes]]


class Embedding:
    """Fills the vectors of one index."""

    def __init__(self, root: Path, database: Database, scanner: Scanner, embedders: Mapping[int, Embedder]) -> None:
        """Keep what it needs; `embedders` by the id of their model in the index."""
        self._root = root
        self._database = database
        self._scanner = scanner
        self._embedders = embedders
        self._rows = Rows(database)
        #: The last file that was cut, by place and hash: a huge one is taken up in many steps.
        self._cut: tuple[tuple[str, bytes], ParsedFile] | None = None

    def embed(self, *, is_over: Callable[[], bool], progress: Callable[[int], None] | None = None) -> None:
        """Embed what waits, newest files first, until nothing waits or the time is over.

        Args:
            is_over: Asked between batches; the first batch always runs.
            progress: Called with the number of notes that have their vector now and had not before.

        Raises:
            EmbedderUnavailableError: A model can't be loaded or does not answer; what was embedded so far is kept.
        """
        failure: EmbedderUnavailableError | None = None
        for model in self._embedders:
            try:
                self._embed(model, is_over, progress)
            except EmbedderUnavailableError as error:  # one that is broken holds up no other
                failure = failure or error
            finally:
                self._cut = None
            if is_over():
                break
        if failure is not None:
            raise failure

    def _embed(self, model: int, is_over: Callable[[], bool], progress: Callable[[int], None] | None) -> None:
        """Embed what waits for one model."""
        passed = 0
        while True:
            files = self._database.rows(
                "SELECT id, place, kind, hash, notes, words, checksum FROM files WHERE pending > 0 "
                "ORDER BY id DESC LIMIT ? OFFSET ?",
                (_FILES, passed),
            )
            if not files:
                return
            waiting, texts = self._collect(files, model)
            try:
                made = self._make(texts, is_over)
            except EmbedderUnavailableError:
                self._fill(waiting)
                raise
            filled = self._fill(waiting)
            if progress is not None:
                progress(filled)
            if is_over():
                return
            passed += 0 if made or filled else len(files)

    def _collect(self, files: Sequence[sqlite3.Row], model: int) -> tuple[list[_Waiting], list[tuple[int, bytes, str]]]:
        """Return which notes wait, up to `_NOTES_TOGETHER`, and model, hash and text of each that is not cached."""
        waiting: list[_Waiting] = []
        texts: dict[tuple[int, bytes], str] = {}
        for row in files:
            found = self._find_texts(row, model)
            waiting.append(_Waiting(row["id"], {number: (model, key) for number, (model, key, _) in found.items()}))
            texts |= {(model, key): text for model, key, text in found.values()}
            if sum(len(each.notes) for each in waiting) >= _NOTES_TOGETHER:
                break
        cached = self._find_cached(texts)
        return waiting, [(*each, text) for each, text in texts.items() if each not in cached]

    def _find_texts(self, row: sqlite3.Row, model: int) -> dict[int, tuple[int, bytes, str]]:
        """Return model, hash and text of each waiting note; nothing when the file is no longer what was indexed."""
        notes = self._rows.unpack(row).notes
        waits = (notes["row"] == PENDING) & (notes["model"] == model)
        numbers = np.flatnonzero(waits)[:_NOTES_TOGETHER].tolist()
        parsed = self._parse(row) if numbers else None
        if parsed is None or len(parsed.notes) != len(notes):
            return {}
        texts = {number: parsed.notes[number].embedded for number in numbers}
        return {number: (int(notes["model"][number]), hash_text(text), text) for number, text in texts.items()}

    def _parse(self, row: sqlite3.Row) -> ParsedFile | None:
        """Return a file's notes as they were indexed; None when it has changed since."""
        place, content = row["place"], row["hash"]
        if self._cut is not None and self._cut[0] == (place, content):
            return self._cut[1]
        try:
            found = read_bytes(self._root, place)
        except OSError:
            return None
        if found is None or found.hash != content:
            return None
        located = self._scanner.locate(place)
        parsed = parse_file(found.data, kind=row["kind"], path=located.path if located else place)
        self._cut = ((place, content), parsed)
        return parsed

    def _find_cached(self, wanted: Iterable[tuple[int, bytes]]) -> dict[tuple[int, bytes], int]:
        """Return the rows of those texts that have a vector."""
        by_model: dict[int, list[bytes]] = {}
        for model, key in wanted:
            by_model.setdefault(model, []).append(key)
        found = {model: vectors.find_rows(self._database, model, keys) for model, keys in by_model.items()}
        return {(model, key): row for model, rows in found.items() for key, row in rows.items()}

    def _make(self, texts: Sequence[tuple[int, bytes, str]], is_over: Callable[[], bool]) -> int:
        """Embed texts, `BATCH_TEXTS` at a time, and commit each batch to the cache; return how many were made."""
        made = 0
        for model in dict.fromkeys(each[0] for each in texts):
            mine = [each for each in texts if each[0] == model]
            for start in range(0, len(mine), BATCH_TEXTS):
                if made and is_over():
                    return made
                batch = mine[start : start + BATCH_TEXTS]
                found = self._embedders[model].embed_passages([text for _, _, text in batch])
                with self._database.writing():
                    self._keep_size(model, int(found.shape[1]))
                    vectors.store_vectors(self._database, model, [key for _, key, _ in batch], found)
                made += len(batch)
        return made

    def drop_other_sizes(self) -> None:
        """Let the notes wait again whose vectors have another size than their embedder makes now (O-47)."""
        for model, embedder in self._embedders.items():
            if embedder.dimension:
                stored = self._database.value("SELECT dimension FROM models WHERE id = ?", (model,))
                if stored not in {0, embedder.dimension}:
                    with self._database.writing():
                        self._keep_size(model, embedder.dimension)

    def _keep_size(self, model: int, dimension: int) -> None:
        """Forget the vectors of a model, inside a transaction, when it makes other ones now: of another size (O-47)."""
        stored = self._database.value("SELECT dimension FROM models WHERE id = ?", (model,))
        if stored == dimension:
            return
        if stored:
            self.drop_vectors(model)
        self._database.run("UPDATE models SET dimension = ? WHERE id = ?", (dimension, model))

    def _fill(self, waiting: Sequence[_Waiting]) -> int:
        """Write the rows of vectors into the files' notes; return how many notes that were."""
        if not any(each.notes for each in waiting):
            return 0
        with self._database.writing():
            return sum(self._fill_file(each) for each in waiting if each.notes)

    def _fill_file(self, file: _Waiting) -> int:
        current = self._database.rows("SELECT notes, words, checksum FROM files WHERE id = ?", (file.id,))
        if not current:  # changed meanwhile
            return 0
        packed = self._rows.unpack(current[0])
        notes = packed.notes.copy()
        cached = self._find_cached(file.notes.values())
        for number, key in file.notes.items():
            notes["row"][number] = cached.get(key, PENDING)
        filled = sum(key in cached for key in file.notes.values())
        if filled:
            self._rows.replace_notes(file.id, packed.with_notes(notes))
        return filled

    def drop_vectors(self, model: int, numbers: Sequence[int] | None = None) -> None:
        """Forget vectors of a model, inside a transaction; the notes that had them wait for new ones.

        Args:
            model: Id of the model.
            numbers: The segments that are meant; None for all of them.
        """
        for number in self._all_segments(model) if numbers is None else numbers:
            first = number * vectors.SEGMENT_ROWS
            span = (model, first, first + vectors.SEGMENT_ROWS)
            self._database.run("DELETE FROM embeddings WHERE model = ? AND row >= ? AND row < ?", span)
            if numbers is None:
                self._database.run("DELETE FROM segments WHERE model = ? AND number = ?", (model, number))
            else:
                self._blank_segment(model, number)
        for row in self._database.rows("SELECT id, notes, words, checksum FROM files"):
            self._wait_again(row, model, numbers)

    def _all_segments(self, model: int) -> list[int]:
        return [row[0] for row in self._database.rows("SELECT number FROM segments WHERE model = ?", (model,))]

    def _blank_segment(self, model: int, number: int) -> None:
        """Fill a damaged segment with zeros: later rows keep their numbers, and a zero vector is like nothing.

        One that is lost altogether leaves a gap.
        """
        dimension = self._database.value("SELECT dimension FROM models WHERE id = ?", (model,))
        length = self._database.value("SELECT length FROM segments WHERE model = ? AND number = ?", (model, number))
        blob = bytes(4 * dimension * (length or 0))
        self._database.run(
            "UPDATE segments SET vectors = ?, checksum = ? WHERE model = ? AND number = ?",
            (blob, checksum(blob), model, number),
        )

    def _wait_again(self, row: sqlite3.Row, model: int, numbers: Sequence[int] | None) -> None:
        packed = self._rows.unpack(row)
        hit = (packed.notes["model"] == model) & (packed.notes["row"] >= 0)
        if numbers is not None:
            hit &= np.isin(packed.notes["row"] // vectors.SEGMENT_ROWS, numbers)
        if hit.any():
            changed = packed.notes.copy()
            changed["row"][hit] = PENDING
            self._rows.replace_notes(row["id"], packed.with_notes(changed))


def hash_text(text: str) -> bytes:
    """Return what the embedding cache knows a text by: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
