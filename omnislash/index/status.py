"""What the index is like: how far it is, what is wrong with it, and how an endpoint's model lies on the scale.

Looking changes nothing: a file that differs is counted and not taken up.

Rules: RECALL-11, RECALL-16, LANG-O6; interface.md, `index status`; failure cases O-10, O-14.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omnislash.errors import IndexUnavailableError
from omnislash.index.database import Database, size_on_disk
from omnislash.index.diff import Drift, diff_files
from omnislash.index.loading import load_stats
from omnislash.index.packing import Packed
from omnislash.index.rebuild import count_unused
from omnislash.index.scanning import Scanner
from omnislash.index.vectors import read_segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.index.live import LiveIndex

#: Vectors without a text that are worth a word, when they are more than half: 1.5 MB of the default model.
_MANY_UNUSED = 1_000
_NONE_YET = "There is no search index yet: omnislash index sync makes it."


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something in a file that the index had to work around; the file stays as it is."""

    path: str
    line: int | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return `{path, line, message}`."""
        return {"path": self.path, "line": self.line, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """What the index holds, and how far it is behind the files."""

    files: int
    notes: int
    #: Name, dimension and number of vectors of each embedder in use.
    embedders: tuple[tuple[str, int, int], ...]
    languages: tuple[str, ...]
    drift: Drift
    #: Notes that wait for a vector.
    pending: int
    #: Size of the file and its log.
    bytes: int
    problems: tuple[FileProblem, ...] = ()
    #: What a person should know or do, a sentence each.
    advice: tuple[str, ...] = field(default=())

    @property
    def is_clean(self) -> bool:
        """True when every file is indexed as it is, and every note has its vector."""
        return not self.drift and not self.pending

    def to_json(self) -> dict[str, Any]:
        """Return `{files, notes, embedders, languages, coverage, drift, bytes, problems, advice}`."""
        drift = self.drift
        return {
            "files": self.files,
            "notes": self.notes,
            "embedders": [
                {"name": name, "dimension": dimension, "vectors": count} for name, dimension, count in self.embedders
            ],
            "languages": list(self.languages),
            "coverage": "full" if self.is_clean else "incomplete",
            "drift": {
                "added": list(drift.added),
                "changed": list(drift.changed),
                "removed": list(drift.removed),
                "pending": self.pending,
            },
            "bytes": self.bytes,
            "problems": [problem.to_json() for problem in self.problems],
            "advice": list(self.advice),
        }


def read_status(live: LiveIndex) -> IndexStatus:
    """Return what the index is like now, without bringing it up to date.

    Raises:
        IndexUnavailableError: It can't be read; the message names the command that makes it anew.
    """
    found = Scanner(live.root, live.settings.sources).scan()
    if not _is_there(live):
        advice = (*live.settings.notes, _NONE_YET)
        return _describe(live, diff_files({}, found), None, advice)
    with contextlib.closing(Database(live.path)) as database:
        drift = _confirm(live, diff_files(load_stats(database), found), database)
        return _describe(live, drift, database, _advise(live, database, drift))


def _is_there(live: LiveIndex) -> bool:
    """Tell whether there is an index; an empty file is none."""
    return size_on_disk(live.path) > 0


def _confirm(live: LiveIndex, drift: Drift, database: Database) -> Drift:
    """Return the drift without files that were only touched: same content, other stat."""
    from omnislash.index.reading import read_bytes  # noqa: PLC0415 - the notes' parser, which a status does not need

    changed = []
    for place in drift.changed:
        stored = database.value("SELECT hash FROM files WHERE place = ?", (place,))
        try:
            now = read_bytes(live.root, place)
        except OSError:
            now = None
        if now is None or now.hash != stored:
            changed.append(place)
    return Drift(drift.added, tuple(changed), drift.removed)


def _describe(live: LiveIndex, drift: Drift, database: Database | None, advice: tuple[str, ...]) -> IndexStatus:
    settings = live.settings
    if database is None:
        embedders = tuple((each.name, each.dimension, 0) for each in settings.embedders)
        return IndexStatus(
            files=0,
            notes=0,
            embedders=embedders,
            languages=settings.languages,
            drift=drift,
            pending=0,
            bytes=0,
            advice=advice,
        )
    note_bytes = database.value("SELECT coalesce(sum(length(notes)), 0) FROM files")
    return IndexStatus(
        files=database.value("SELECT count(*) FROM files"),
        notes=note_bytes // _note_bytes(),
        embedders=tuple(
            _count_vectors(database, each.identity, each.name, each.dimension) for each in settings.embedders
        ),
        languages=settings.languages,
        drift=drift,
        pending=database.value("SELECT coalesce(sum(pending), 0) FROM files"),
        bytes=live.bytes_on_disk(),
        problems=tuple(_read_problems(database)),
        advice=advice,
    )


def _note_bytes() -> int:
    from omnislash.index.packing import NOTE  # noqa: PLC0415 - beside its only use

    return NOTE.itemsize


def _count_vectors(database: Database, identity: str, name: str, dimension: int) -> tuple[str, int, int]:
    rows = database.rows("SELECT id, dimension FROM models WHERE identity = ?", (identity,))
    if not rows:
        return name, dimension, 0
    count = database.value("SELECT count(*) FROM embeddings WHERE model = ?", (rows[0][0],))
    return name, rows[0][1] or dimension, count


def _read_problems(database: Database) -> Iterator[FileProblem]:
    for row in database.rows("SELECT place, problems FROM files WHERE problems != '[]' ORDER BY place"):
        for message, line in json.loads(row["problems"]):
            yield FileProblem(row["place"], line, message)


def _advise(live: LiveIndex, database: Database, drift: Drift) -> tuple[str, ...]:
    advice = list(live.settings.notes)
    if live.trouble is not None:
        advice.append(live.trouble)
    if database.meta("madeBy") not in {"", live.signature()}:
        advice.append("The index was made for other languages or models: omnislash index sync makes it anew.")
    unused, cached = count_unused(database)
    if unused >= _MANY_UNUSED and unused > cached // 2:
        advice.append(
            f"{unused} of {cached} vectors belong to texts that no file has any more: omnislash index rebuild drops them."
        )
    if drift:
        advice.append("Files differ from the index: a search takes them up, and so does omnislash index sync.")
    return tuple(advice)


# -- check -----------------------------------------------------------------------------------------------------------


def check_index(live: LiveIndex) -> tuple[str, ...]:
    """Return what is wrong with the index or behind in it, a sentence each; empty when it is sound.

    The whole file is read: SQLite's own check, the checksum of every row and of every block of vectors.
    """
    if not _is_there(live):
        return (_NONE_YET,)
    try:
        with contextlib.closing(Database(live.path)) as database:
            damage = [*database.find_damage(), *_check_rows(database), *_check_segments(database)]
        if damage:
            return (*damage, "omnislash index rebuild makes the index anew; no memory is lost.")
        status = read_status(live)
    except IndexUnavailableError as error:
        return (error.message, error.hint or "omnislash index rebuild makes it anew.")
    return (*_name_drift(status), *(f"{each.path}: {each.message}" for each in status.problems))


def _check_rows(database: Database) -> Iterator[str]:
    for row in database.rows("SELECT place, notes, words, checksum FROM files"):
        try:
            Packed.from_blobs(row["notes"], row["words"], row["checksum"])
        except (ValueError, TypeError):
            yield f"The index's row of {row['place']} is damaged."


def _check_segments(database: Database) -> Iterator[str]:
    rows = database.rows(
        "SELECT s.model, s.number, m.dimension, m.name FROM segments s JOIN models m ON m.id = s.model"
    )
    for model, number, dimension, name in rows:
        if read_segment(database, model, number, dimension) is None:
            yield f"Block {number} of the vectors of {name} is damaged."


def _name_drift(status: IndexStatus) -> Iterator[str]:
    drift = status.drift
    for places, what in ((drift.added, "not indexed"), (drift.changed, "indexed as it was"), (drift.removed, "gone")):
        for place in places:
            yield f"{place} is {what}: omnislash index sync takes it up."
    if status.pending:
        yield f"{status.pending} notes wait for their vector: omnislash index sync makes them."
