"""The index of an open brain: kept up to date on use, and handed to a search as one consistent view.

Catching up on use is what is relied on: a stat pass over all files, then the content where the stat differs.
A watcher only makes the common case free.
Nothing that goes wrong here fails a search: it is answered from what can be read, with the reason in the freshness.

Rules: LINE-06, LANG-09, LANG-10, LANG-O6, RECALL-11, KNOB-21, ADAPT-O4; architecture.md sections 5 and 7.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnislash.errors import IndexUnavailableError
from omnislash.index import vectors
from omnislash.index.claiming import EmbeddingClaim
from omnislash.index.database import INDEX_FILE, IndexDamagedError, size_on_disk
from omnislash.index.database import damaged as damaged_error
from omnislash.index.diff import Drift, Stat, diff_files
from omnislash.index.embedders.loading import return_memory
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.index.embedders.routing import Router
from omnislash.index.embedding import Embedding
from omnislash.index.freshness import Freshness
from omnislash.index.limits import any_of, deadline, named
from omnislash.index.loading import load_snapshot, load_stats
from omnislash.index.making import describe_making
from omnislash.index.opening import Handle, IndexFile, drop
from omnislash.index.rebuild import compact_vectors, register_model
from omnislash.index.scanning import Scanner
from omnislash.index.snapshot import Snapshot
from omnislash.index.stemming import Stemmer
from omnislash.index.sync import Indexer, Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from omnislash.core.lines import AuthoredPath
    from omnislash.index.database import Database
    from omnislash.index.embedders.ports import Embedder

_LOG = logging.getLogger(__name__)
#: From so many seconds on a catch-up waits while another process embeds; a search in a turn rather admits what is missing.
_PATIENT_S = 10.0
#: Files that are cut anew in a second, at least; measured on 2026-12-01 with logs of 30 entries.
_FILES_A_SECOND = 50
#: From so many new notes on, what loading them needed for a moment is handed back to the system.
_MANY_NOTES = 5_000
#: Rows in `removals` that are kept for processes that sleep.
_REMOVALS = 20_000


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What of a brain is indexed, and how."""

    #: Declared sources.
    sources: tuple[AuthoredPath, ...]
    #: Languages of the word leg, in order.
    languages: tuple[str, ...]
    #: The embedders, the default one first; none leaves the words alone.
    embedders: tuple[Embedder, ...]
    #: What a person should know about them, a sentence each.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """The index as one search sees it."""

    snapshot: Snapshot
    database: Database
    vectors: vectors.Vectors
    stemmer: Stemmer
    router: Router
    scanner: Scanner
    embedders: tuple[Embedder, ...]
    #: Id of the model in the index, by the embedder's identity.
    models: Mapping[str, int]
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class _Opened:
    """What belongs to one open database."""

    handle: Handle
    scanner: Scanner
    indexer: Indexer
    embedding: Embedding
    tools: Tools

    @property
    def database(self) -> Database:
        """The database itself."""
        return self.handle.database


class LiveIndex:
    """The index of one brain in this process; safe to share between threads."""

    def __init__(self, root: Path, settings: IndexSettings, *, state_directory: Path) -> None:
        """Keep what is to be indexed; nothing is opened yet.

        Args:
            root: The brain's directory.
            settings: What of it is indexed, and how.
            state_directory: Where the lock of whoever embeds lies; the directory need not be there.
        """
        self.root = root
        self.path = root / "memory" / INDEX_FILE
        self.settings = settings
        self._stemmer = Stemmer(settings.languages)
        self._router = Router(settings.embedders, settings.languages)
        self._lock = threading.RLock()
        self._file = IndexFile(self.path)
        self._claim = EmbeddingClaim(state_directory / "index.lock")
        self._opened: _Opened | None = None
        #: The database that was caught up last: what is in memory is of no other one.
        self._caught_up: _Opened | None = None
        self._snapshot = Snapshot()
        self._vectors = vectors.Vectors()
        self._stats: dict[str, Stat] = {}
        #: What the database was like when it was loaded; None = not yet.
        self._token: tuple[int, int] | None = None
        self._made_by = ""
        self._waiting = 0

    # -- opening -----------------------------------------------------------------------------------------------------

    def _open(self) -> _Opened:
        """Return the open database; another one when the file was replaced under this process."""
        if self._opened is not None and self._file.is_current(self._opened.handle):
            return self._opened
        self._drop()
        handle = self._file.open()
        database, scanner = handle.database, Scanner(self.root, self.settings.sources)
        models = self._register_models(database)
        tools = Tools(self._stemmer, self._router, models)
        by_model = {models[each.identity]: each for each in self.settings.embedders}
        self._opened = _Opened(
            handle,
            scanner,
            Indexer(self.root, database, scanner, tools),
            Embedding(self.root, database, scanner, by_model),
            tools,
        )
        return self._opened

    def _register_models(self, database: Database) -> dict[str, int]:
        """Return the id of each embedder's model; nothing is written when the index knows them all."""
        known = {row["identity"]: row["id"] for row in database.rows("SELECT identity, id FROM models")}
        embedders = self.settings.embedders
        if all(each.identity in known for each in embedders):
            return {each.identity: known[each.identity] for each in embedders}
        with database.writing():
            return {each.identity: register_model(database, each.identity, each.name, 0) for each in embedders}

    def _drop(self) -> None:
        if self._opened is not None:
            drop(self._opened.handle)
        self._opened, self._snapshot, self._stats, self._token = None, Snapshot(), {}, None
        self._vectors = vectors.Vectors()

    def _recover(self, error: IndexDamagedError) -> None:
        """Make the index anew after damage that showed while it was used."""
        with self._lock:
            handle = self._opened.handle if self._opened is not None else None
            self._drop()
            self._file.recover(error, handle)

    @property
    def trouble(self) -> str | None:
        """Why the index is kept in memory only, if it is."""
        return self._file.trouble

    def open_database(self) -> Database:
        """Return the open database, for looking at it.

        Raises:
            IndexUnavailableError: It can't be opened.
        """
        with self._lock:
            return self._open().database

    def close(self) -> None:
        """Close the database; a later search opens it again."""
        with self._lock, contextlib.suppress(IndexUnavailableError):
            if self._opened is not None and self._file.is_current(self._opened.handle):
                self._opened.embedding.drop_other_sizes()
        with self._lock:
            self._drop()

    # -- catching up -------------------------------------------------------------------------------------------------

    def refresh(
        self,
        *,
        limit_s: float | None,
        progress: Callable[[str, int, int], None] | None = None,
        is_over: Callable[[], bool] | None = None,
    ) -> Freshness:
        """Bring the index up to date, and say what could not be.

        Args:
            limit_s: Seconds after which the rest is left for later; None for as long as it takes.
            progress: Called with `words` or `vectors`, the number done and of all.
            is_over: Asked between batches besides, to stop before the time is up.
        """
        stops = any_of(is_over, None if limit_s is None else deadline(limit_s))
        try:
            try:
                return self._refresh(limit_s, stops, progress)
            except IndexDamagedError as error:
                self._recover(error)
                return self._refresh(limit_s, stops, progress)
        except IndexUnavailableError as error:
            return Freshness(failure=error.message)

    def _refresh(
        self, limit_s: float | None, is_over: Callable[[], bool], progress: Callable[[str, int, int], None] | None
    ) -> Freshness:
        freshness = self._catch_up(limit_s, is_over, progress)
        is_patient = limit_s is None or limit_s >= _PATIENT_S
        return replace(freshness, embedder_failure=self._fill_vectors(is_over, progress, is_patient=is_patient))

    def _catch_up(
        self,
        limit_s: float | None,
        is_over: Callable[[], bool],
        progress: Callable[[str, int, int], None] | None,
    ) -> Freshness:
        """Take up files that differ, and load what any process wrote.

        Others search meanwhile: what is read and cut needs no lock, and each batch is a transaction of its own.
        """
        with self._lock:
            opened = self._caught_up = self._open()
            found = opened.scanner.scan()
            self._load(opened)
            if self._made_by != self.signature():
                return self._rebuild(opened, found, limit_s, is_over, progress)
            drift = diff_files(self._stats, found)
        unreadable: dict[str, str] = dict(opened.scanner.unreadable)
        if drift:
            unreadable |= opened.indexer.apply(drift, is_over=is_over, progress=named(progress, "words"))
            with self._lock:
                self._load(opened)
                drift = diff_files(self._stats, found)
        behind = [place for place in _places(drift, unreadable) if not _was_taken(self._stats, found, place)]
        return Freshness(behind=tuple(behind), unreadable=unreadable)

    def _load(self, opened: _Opened) -> None:
        """Take over what any process wrote; costs nothing when nobody did."""
        database, token = opened.database, opened.database.state_token()
        if token == self._token:
            return
        self._made_by, before = database.meta("madeBy"), self._snapshot.size
        damaged = self._load_state(opened)
        if damaged:
            _LOG.warning("Damaged blocks of vectors are made anew.", extra={"action": "vectors_damaged"})
            with database.writing():
                for model, numbers in damaged.items():
                    opened.embedding.drop_vectors(model, numbers)
            self._load_state(opened)
        self._stats = load_stats(database)
        self._waiting = self._count_waiting(opened)
        if database.value("SELECT count(*) FROM removals") > 2 * _REMOVALS:
            self._trim(database)
        self._token = token if not damaged else None
        if abs(self._snapshot.size - before) > _MANY_NOTES:
            return_memory()

    def _load_state(self, opened: _Opened) -> dict[int, list[int]]:
        """Load notes and vectors of one moment; return the segments that are damaged or lost, by model."""
        found: dict[int, list[int]] = {}
        used = set(opened.tools.models.values())
        with opened.database.reading():
            self._snapshot = load_snapshot(opened.database, self._snapshot)
            for model, dimension in opened.database.rows("SELECT id, dimension FROM models"):
                if model in used:
                    self._vectors, damaged = self._vectors.updated(opened.database, model, dimension)
                    lost = self._vectors.find_missing(model, self._snapshot.rows_of(model))
                    if damaged or lost:
                        found[model] = sorted({*damaged, *lost})
        if self._made_by == self.signature() and not self._snapshot.models <= {0, *used}:
            raise damaged_error(opened.database.path, ValueError("its notes are of a model that it does not know"))
        return found

    @staticmethod
    def _trim(database: Database) -> None:
        with database.writing():
            last = database.value("SELECT at FROM removals ORDER BY at DESC LIMIT 1 OFFSET ?", (_REMOVALS,))
            database.run("DELETE FROM removals WHERE at <= ?", (last,))
            database.set_meta("removalsSince", str(last))

    # -- making it anew ----------------------------------------------------------------------------------------------

    def signature(self) -> str:
        """Return what the stored notes and terms depend on besides the files (LANG-O6)."""
        models = [each.identity for each in self.settings.embedders]
        return json.dumps(describe_making(self.settings.languages, models))

    def _rebuild(
        self,
        opened: _Opened,
        found: Mapping[str, Stat],
        limit_s: float | None,
        is_over: Callable[[], bool],
        progress: Callable[[str, int, int], None] | None,
    ) -> Freshness:
        """Cut every file anew, because the index was made for other languages, models or rules, or is new.

        One transaction: other processes search the old one meanwhile. What takes longer than there is time for is left
        to `omnislash index sync` and the worker.
        """
        if self._made_by == "":
            with opened.database.writing():
                opened.database.set_meta("madeBy", self.signature())
            return self._catch_up(limit_s, is_over, progress)
        if limit_s is not None and len(found) > limit_s * _FILES_A_SECOND:
            self._load(opened)
            return Freshness(failure="the index was made for other languages or models and waits to be made anew")
        unreadable = opened.indexer.rebuild(
            sorted(found), made_by=self.signature(), progress=named(progress, "words"), is_forced=False
        )
        self._load(opened)
        return Freshness(unreadable=unreadable | opened.scanner.unreadable)

    def rebuild(self, *, progress: Callable[[str, int, int], None] | None = None) -> Freshness:
        """Make the index anew from the files, with the vectors of texts that still stand; drop what nobody uses.

        Raises:
            IndexUnavailableError: The index can't be written.
        """
        try:
            with self._lock:
                self._rebuild_in_place(progress)
        except IndexDamagedError as error:
            self._recover(error)
        return self.refresh(limit_s=None, progress=progress)

    def _rebuild_in_place(self, progress: Callable[[str, int, int], None] | None) -> None:
        opened = self._open()
        if damage := opened.database.find_damage():
            raise IndexDamagedError(damage[0])
        found = opened.scanner.scan()
        opened.indexer.rebuild(sorted(found), made_by=self.signature(), progress=named(progress, "words"))
        with opened.database.writing():
            compact_vectors(opened.database)
        opened.database.shrink()

    # -- vectors -----------------------------------------------------------------------------------------------------

    def _fill_vectors(
        self, is_over: Callable[[], bool], progress: Callable[[str, int, int], None] | None, *, is_patient: bool
    ) -> str | None:
        """Embed what waits; return why it could not be, or None."""
        with self._lock:
            opened = self._open()
            opened.embedding.drop_other_sizes()
            self._load(opened)
            waiting = self._waiting
        if not waiting or self._made_by != self.signature():
            return None
        with self._claim.hold(self._ask_waiting, is_over=is_over, is_patient=is_patient) as mine:
            failure = self._embed(opened, waiting, is_over, progress) if mine else None
        with self._lock:
            self._load(self._open())
        return failure

    def _embed(
        self,
        opened: _Opened,
        waiting: int,
        is_over: Callable[[], bool],
        progress: Callable[[str, int, int], None] | None,
    ) -> str | None:
        done = 0

        def advance(number: int) -> None:
            nonlocal done
            done += number
            if progress is not None:
                progress("vectors", done, max(waiting, done))

        try:
            opened.embedding.embed(is_over=is_over, progress=advance)
        except EmbedderUnavailableError as error:
            return error.message
        return None

    def _ask_waiting(self) -> int:
        with self._lock:
            return self._count_waiting(self._open())

    @staticmethod
    def _count_waiting(opened: _Opened) -> int:
        return int(opened.database.value("SELECT coalesce(sum(pending), 0) FROM files WHERE pending > 0"))

    # -- looking -----------------------------------------------------------------------------------------------------

    def view(self, freshness: Freshness) -> View:
        """Return the index as it is in memory now.

        Raises:
            IndexUnavailableError: There is none that can be used.
        """
        with self._lock:
            opened = self._open()
            tools = opened.tools
            if opened is not self._caught_up and freshness.failure is None:
                freshness = replace(freshness, failure="it was replaced or removed while it was searched")
            return View(
                *(self._snapshot, opened.database, self._vectors, tools.stemmer, tools.router),
                *(opened.scanner, self.settings.embedders, tools.models, freshness),
            )

    def bytes_on_disk(self) -> int:
        """Return how large the index is."""
        return size_on_disk(self.path)


def _was_taken(known: Mapping[str, Stat], found: Mapping[str, Stat], place: str) -> bool:
    """Tell whether a file that differs was taken up as it was found, and only its stat is not trusted yet."""
    if place not in known or place not in found:
        return False
    return known[place]._replace(inode=found[place].inode) == found[place]


def _places(drift: Drift, unreadable: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(place for place in (*drift.added, *drift.changed, *drift.removed) if place not in unreadable)
