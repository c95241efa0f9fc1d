"""The index in memory: every note as a row of arrays, every term as the list of the notes that have it.

A snapshot never changes; a change of a file gives a new one that shares all parts that stayed.
Notes live in *parts*, each with its own inverted lists: one large part as the index was loaded, and small ones for what
came later. Small parts are merged as they pile up, so that a change costs what it holds and not what the brain holds.

Rules: LINE-06, SCOPE-O8; architecture.md section 5.
Source: the merging is that of a log-structured merge tree (O'Neil et al., 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import FileKind, ManagedPath
from omnislash.core.periods import LADDER, period_at
from omnislash.index.packing import NOTE, Packed, find_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    #: Id of the term, number of the note, and how often it stands there, for each entry of some inverted lists.
    Entries = tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file of the brain, as it was indexed."""

    #: Id in the index; a file that changes gets a new one, and none is used twice (O-11).
    id: int
    #: Path from the brain's directory.
    place: str
    #: memory, daily, week, month, quarter, year, document or source.
    kind: str
    #: SHA-256 of the bytes that were indexed.
    hash: bytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file with its notes, on its way into a snapshot."""

    file: IndexedFile
    packed: Packed


@dataclass(frozen=True, slots=True)
class Part:
    """Some files' notes, with their inverted lists."""

    files: tuple[IndexedFile, ...]
    #: Records of type `NOTE`.
    notes: NDArray[Any]
    #: For each note the place of its file in `files`.
    file_of: NDArray[np.int32]
    #: Sorted distinct term ids; list i is `docs[starts[i]:starts[i + 1]]`.
    terms: NDArray[np.uint64]
    starts: NDArray[np.int64]
    docs: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @classmethod
    def build(cls, loaded: Sequence[Loaded]) -> Part:
        """Return the part that holds these files."""
        notes = _concat([each.packed.notes for each in loaded], NOTE)
        sizes = [len(each.packed.notes) for each in loaded]
        return cls._invert(
            tuple(each.file for each in loaded),
            notes,
            np.repeat(np.arange(len(loaded), dtype=np.int32), sizes),
            (
                _concat([each.packed.term_ids for each in loaded], np.dtype(np.uint64)),
                np.repeat(np.arange(len(notes), dtype=np.int32), notes["terms"]),
                _concat([each.packed.term_counts for each in loaded], np.dtype(np.uint8)),
            ),
        )

    @classmethod
    def _invert(
        cls, files: tuple[IndexedFile, ...], notes: NDArray[Any], file_of: NDArray[np.int32], entries: Entries
    ) -> Part:
        """Return the part with its inverted lists; the entries of one term come in the order of their notes."""
        ids, docs, counts = entries
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        first = find_runs(ordered)
        terms = ordered[first]
        starts = np.append(first, len(ordered)).astype(np.int64)
        return cls(files, notes, file_of, terms, starts, docs[order], counts[order])

    def _entries(self) -> Entries:
        """Return term, note and count of each entry of the inverted lists, by term and then by note."""
        return np.repeat(self.terms, np.diff(self.starts)), self.docs, self.counts

    def find(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the notes that have a term, in order, and how often each has it."""
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        if at == len(self.terms) or self.terms[at] != np.uint64(term):
            return self.docs[:0], self.counts[:0]
        span = slice(self.starts[at], self.starts[at + 1])
        return self.docs[span], self.counts[span]

    def without(self, gone: Collection[int]) -> Part:
        """Return the part without some files; itself when it has none of them."""
        kept = np.fromiter((file.id not in gone for file in self.files), bool, len(self.files))
        if kept.all():
            return self
        keep_notes = kept[self.file_of]
        ids, docs, counts = self._entries()
        keep = keep_notes[docs]
        new_file, new_doc = (np.cumsum(kept) - 1).astype(np.int32), (np.cumsum(keep_notes) - 1).astype(np.int32)
        return self._invert(
            tuple(file for file, stays in zip(self.files, kept, strict=True) if stays),
            self.notes[keep_notes],
            new_file[self.file_of[keep_notes]],
            (ids[keep], new_doc[docs[keep]], counts[keep]),
        )

    def merged(self, other: Part) -> Part:
        """Return one part with the notes of both."""
        ids, docs, counts = self._entries()
        other_ids, other_docs, other_counts = other._entries()
        return self._invert(
            self.files + other.files,
            np.concatenate([self.notes, other.notes]),
            np.concatenate([self.file_of, other.file_of + len(self.files)]).astype(np.int32),
            (
                np.concatenate([ids, other_ids]),
                np.concatenate([docs, other_docs + len(self.notes)]).astype(np.int32),
                np.concatenate([counts, other_counts]),
            ),
        )


def _concat(arrays: list[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return one array; with its type named, records of a thousand files are not compared field by field."""
    return np.concatenate(arrays, dtype=dtype) if arrays else np.empty(0, dtype)


@dataclass(frozen=True)
class Snapshot:
    """The whole index as it was at one revision."""

    #: Number of the last change it has.
    revision: int = 0
    #: Larger parts first.
    parts: tuple[Part, ...] = ()
    #: Ids of files in a part that were changed or removed since; their notes are dead.
    gone: frozenset[int] = frozenset()

    # -- as one table ------------------------------------------------------------------------------------------------

    @cached_property
    def files(self) -> tuple[IndexedFile, ...]:
        """Every file of every part, dead ones included, in the order that `file_of` counts."""
        return tuple(file for part in self.parts for file in part.files)

    @cached_property
    def notes(self) -> NDArray[Any]:
        """Every note, as records of type `NOTE`; `alive` tells which of them still stand."""
        return _concat([part.notes for part in self.parts], NOTE)

    @cached_property
    def file_of(self) -> NDArray[np.int32]:
        """For each note the place of its file in `files`."""
        shifted, before = [], 0
        for part in self.parts:
            shifted.append(part.file_of + before)
            before += len(part.files)
        return _concat(shifted, np.dtype(np.int32))

    @cached_property
    def live_files(self) -> NDArray[np.bool_]:
        """For each file whether it still stands as it was indexed."""
        return np.fromiter((file.id not in self.gone for file in self.files), bool, len(self.files))

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """For each note whether its file still stands as it was indexed."""
        return self.live_files[self.file_of]

    @cached_property
    def log_of(self) -> NDArray[np.int64]:
        """For each note the daily log that it stands in; a note of any other file has a number that no other has."""
        is_daily = np.fromiter((file.kind == FileKind.DAILY.value for file in self.files), bool, len(self.files))
        return np.where(is_daily[self.file_of], self.file_of, -1 - np.arange(len(self.file_of)))

    @cached_property
    def models(self) -> frozenset[int]:
        """Ids of the models of all living notes; 0 for notes that no embedder reads."""
        return frozenset(self.notes["model"][self.alive].tolist())

    def rows_of(self, model: int) -> NDArray[np.int32]:
        """Return the rows of the vectors of a model's living notes; one that waits has `PENDING`."""
        rows: NDArray[np.int32] = self.notes["row"][self.alive & (self.notes["model"] == model)]
        return rows

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each note the one before and the one after it in its daily log, -1 where there is none."""
        size = len(self.log_of)
        numbers = np.arange(size, dtype=np.int64)
        joined = self.log_of[1:] == self.log_of[:-1]
        before, after = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        before[1:][joined] = numbers[:-1][joined]
        after[:-1][joined] = numbers[1:][joined]
        return before, after

    @cached_property
    def days_of(self) -> NDArray[np.int32]:
        """For each file how many days it is about: 1 for a daily log, those of the period for a summary, else 0."""
        return np.fromiter(map(_count_days, self.files), np.int32, len(self.files))

    @cached_property
    def remembered(self) -> dict[Hashable, NDArray[Any]]:
        """What searches worked out once for this snapshot: the files of a scope, the recency of notes on a day."""
        return {}

    @property
    def size(self) -> int:
        """Number of notes, dead ones included."""
        return sum(len(part.notes) for part in self.parts)

    def find(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the notes that have a term, dead ones included, and how often each has it; in order."""
        docs: list[NDArray[np.int64]] = []
        counts: list[NDArray[np.uint8]] = []
        before = 0
        for part in self.parts:
            found, times = part.find(term)
            if len(found):
                docs.append(found.astype(np.int64) + before)
                counts.append(times)
            before += len(part.notes)
        return _concat(docs, np.dtype(np.int64)), _concat(counts, np.dtype(np.uint8))

    # -- changes -----------------------------------------------------------------------------------------------------

    def updated(self, added: Sequence[Loaded], removed: Iterable[int], *, revision: int) -> Snapshot:
        """Return the snapshot after some files were added or removed; a file that changed is both, under two ids."""
        here = frozenset(file.id for file in self.files)
        gone = self.gone | (here & frozenset(removed))
        parts = self.parts
        if added:
            parts, gone = _merge(parts, gone, Part.build(added))
        if sum(len(part.notes) for part in parts) > 2 * _count_live(parts, gone):
            parts, gone = tuple(part.without(gone) for part in parts), frozenset()
        return Snapshot(revision, tuple(part for part in parts if part.files), gone)


def _count_days(file: IndexedFile) -> int:
    if file.kind == FileKind.DAILY.value:
        return 1
    period = period_at(ManagedPath(file.place.removeprefix(f"{MANAGED_ROOT}/"))) if file.kind in LADDER else None
    return 0 if period is None else period.day_count


def _merge(parts: tuple[Part, ...], gone: frozenset[int], new: Part) -> tuple[tuple[Part, ...], frozenset[int]]:
    """Return parts and dead files after a part came: the last ones not larger than twice the new one merge with it."""
    kept = list(parts)
    while kept and len(kept[-1].notes) <= 2 * len(new.notes):
        last = kept.pop()
        new = last.without(gone).merged(new)
        gone -= {file.id for file in last.files}
    return (*kept, new), gone


def _count_live(parts: tuple[Part, ...], gone: frozenset[int]) -> int:
    if not gone:
        return sum(len(part.notes) for part in parts)
    return sum(
        int(np.count_nonzero(np.fromiter((file.id not in gone for file in part.files), bool)[part.file_of]))
        for part in parts
    )
