"""The search index: whether it can be read, is of this brain's settings, and says what the files say.

Everything in it is made from the files, so nothing here loses a memory; but a search that does not see half of the notes
answers as if they were not there.

Rules: RECALL-11, LANG-O6, KNOB-21; failure cases O-10, O-14, O-47.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from omnislash.checks.databases import (
    SQLITE_ERRORS,
    UnreadLogError,
    find_damage,
    is_broken,
    open_database,
    read_version,
)
from omnislash.checks.examined import Area, Kind
from omnislash.checks.findings import Check, Group, fail, info, warn
from omnislash.index.database import DAMAGED_SUFFIX, INDEX_FILE, SCHEMA_VERSION, size_on_disk
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from omnislash.checks.examined import Examined, SeenFile
    from omnislash.checks.findings import Finding
    from omnislash.index.embedders.ports import Embedder

_PLACE: Final = f"memory/{INDEX_FILE}"
_INDEXED: Final = frozenset({Area.MEMORY, Area.SOURCE})
_SYNC: Final = "Run `omnislash index sync`."
_REBUILD: Final = "Run `omnislash index rebuild`: it makes the index anew from the files; no memory is lost."
#: So many files a search in a turn takes up by itself: it has two seconds, and 50 files a second are the least.
_FILES_MAX: Final = 100
#: So many notes a search waits for while their vectors are made.
_NOTES_MAX: Final = 128
#: Files that are named of each kind.
_NAMED: Final = 5
_BYTES_A_NUMBER: Final = 4


class SearchIndexCheck(Check):
    """Compares the index with the settings and the files."""

    id = "search-index"
    title = "Search index"
    protects = "No search misses notes because the index is damaged, of other settings, or behind the files."
    group = Group.MACHINE
    reads_files = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._hashes: dict[str, str] = {}

    def see(self, file: SeenFile) -> None:
        """Keep what tells whether the index has a file as it is."""
        if file.data is not None and file.entry.area in _INDEXED and file.path.endswith(".md"):
            self._hashes[file.path] = hash_bytes(file.data)

    def conclude(self, brain: Examined) -> Iterator[Finding]:
        """Yield what is wrong with the index, worst first."""
        yield from _name_set_aside(brain)
        entry = brain.by_path.get(_PLACE)
        if entry is not None and entry.kind is not Kind.FILE and entry.kind is not Kind.LINK:
            yield fail(
                f"{_PLACE} is no file, so no index can be kept there and every search makes one in memory.",
                path=_PLACE,
                hint="Move it away.",
            )
        elif entry is None or not size_on_disk(brain.root / _PLACE):
            yield from self._tell_missing(brain)
        else:
            yield from self._look_into(brain)

    def _tell_missing(self, brain: Examined) -> Iterator[Finding]:
        count = len(_find_new(brain, self._hashes, known={}))
        if count:
            message = f"There is no search index yet for {_count(count, 'file')}; the first search makes it."
            yield info(message, path=_PLACE, hint=f"{_SYNC} It makes the index ahead.")

    def _look_into(self, brain: Examined) -> Iterator[Finding]:
        try:
            with open_database(brain.root / _PLACE) as database:
                yield from self._examine(brain, database)
        except UnreadLogError as error:
            yield info(error.message, path=_PLACE, hint="The next search puts that right.")
        except SQLITE_ERRORS as error:
            yield _explain(error)

    def _examine(self, brain: Examined, database: sqlite3.Connection) -> Iterator[Finding]:
        version = read_version(database)
        if version != SCHEMA_VERSION:
            message = f"The search index was made by another version of omnislash (schema {version}); the next search makes it anew."
            yield info(message, path=_PLACE, hint=_SYNC)
            return
        damage, is_whole = find_damage(database)
        if damage is not None:
            yield fail(f"The search index is damaged ({damage}).", path=_PLACE, hint=_REBUILD)
            return
        findings = [
            *_compare_settings(brain, database),
            *_compare_vectors(database),
            *self._compare_files(brain, database),
        ]
        if not is_whole:
            hint = "Run `omnislash index check`: it takes its time."
            findings.append(info("The search index is too large to be read whole here.", path=_PLACE, hint=hint))
        yield from findings
        yield _describe(brain, database)

    def _compare_files(self, brain: Examined, database: sqlite3.Connection) -> Iterator[Finding]:
        rows = database.execute("SELECT place, hash, size, modified_ns FROM files").fetchall()
        known = {str(row["place"]): row for row in rows}
        kinds = (
            ("not in the search index yet", _find_new(brain, self._hashes, known=known)),
            ("in the search index in an older state", self._find_changed(brain, known)),
            (
                "in the search index and gone from disk",
                sorted(place for place in known if place not in brain.by_path and not _is_closed(place, brain)),
            ),
        )
        total = sum(len(places) for _, places in kinds)
        tell, wait = _tell_by(total, _FILES_MAX)
        for what, places in kinds:
            if places:
                shown, verb = _name(places), "is" if len(places) == 1 else "are"
                yield tell(
                    f"{_count(len(places), 'file')} {verb} {what}: {shown}; {wait}",
                    path=_shown(places[0]),
                    hint=_SYNC,
                    about=places,
                )

    def _find_changed(self, brain: Examined, known: Mapping[str, sqlite3.Row]) -> list[str]:
        return [
            place
            for place, row in known.items()
            if (entry := brain.by_path.get(place)) is not None
            and entry.kind is Kind.FILE
            and (
                self._hashes[place] != bytes(row["hash"]).hex()
                if place in self._hashes
                else (entry.size, entry.mtime_ns) != (row["size"], row["modified_ns"])
            )
        ]


# -- what is compared ------------------------------------------------------------------------------------------------


def _is_closed(place: str, brain: Examined) -> bool:
    """Tell whether a file lies below a directory that could not be listed, so that nobody knows whether it is there."""
    return any(place.startswith(f"{directory}/") for directory in brain.unlistable)


def _find_new(brain: Examined, hashes: Mapping[str, str], *, known: Mapping[str, Any]) -> list[str]:
    """Return the files that were read, belong into the index and are not in it."""
    candidates = [place for place in hashes if place not in known]
    if not candidates:
        return []
    from omnislash.index.scanning import Scanner  # noqa: PLC0415 - only where something is new

    scanner = Scanner(brain.root, brain.config.sources)
    return [place for place in candidates if scanner.locate(place) is not None]


def _compare_settings(brain: Examined, database: sqlite3.Connection) -> Iterator[Finding]:
    """Yield how the settings differ from those that the index was made for."""
    memory = brain.config.project.memory
    embedders, notes = _open_embedders(brain)
    yield from notes
    made = _read_making(database)
    if not made:
        return
    from omnislash.index.making import describe_making  # noqa: PLC0415 - its parsers, where there is an index

    wanted = describe_making(memory.languages, [each.identity for each in embedders])
    if made.get("languages") != wanted["languages"]:
        was, now = (", ".join(each) for each in (made.get("languages") or [], wanted["languages"]))
        yield _other(f"The search index was made for the languages {was}, and memory.languages is {now}.")
    if made.get("models") != wanted["models"]:
        was, now = _name_models(database, made.get("models") or []), " and ".join(each.name for each in embedders)
        yield _other(
            f"The search index has the vectors of {was or 'no model'}, and memory.embeddingModel asks for {now or 'none'}."
        )
    if (made.get("notes"), made.get("stems")) != (wanted["notes"], wanted["stems"]):
        yield info("The search index was cut by another version of omnislash.", path=_PLACE, hint=_SYNC)


def _other(message: str) -> Finding:
    return warn(message, path=_PLACE, hint=f"{_SYNC} It makes the index anew.")


def _open_embedders(brain: Examined) -> tuple[tuple[Embedder, ...], tuple[Finding, ...]]:
    """Return the embedders that the settings ask for, and what is to be said of those that ship."""
    from omnislash.index.embedders.opening import (  # noqa: PLC0415 - numpy, a tenth of a second
        LOCAL,
        LOCAL_MULTILINGUAL,
        open_embedders,
    )

    memory = brain.config.project.memory
    opened = open_embedders(memory.embedding_model, languages=memory.languages, environment=brain.environment)
    if memory.embedding_model == LOCAL_MULTILINGUAL:
        return opened.embedders, tuple(warn(note) for note in opened.notes)
    return opened.embedders, tuple(info(note) for note in opened.notes if memory.embedding_model == LOCAL)


def _read_making(database: sqlite3.Connection) -> dict[str, Any]:
    row = database.execute("SELECT value FROM meta WHERE key = 'madeBy'").fetchone()
    try:
        made = json.loads(row[0]) if row is not None else {}
    except ValueError:
        return {}
    return made if isinstance(made, dict) else {}


def _name_models(database: sqlite3.Connection, identities: list[str]) -> str:
    names = {row["identity"]: row["name"] for row in database.execute("SELECT identity, name FROM models")}
    return " and ".join(names.get(identity, "a model that it does not name") for identity in identities)


def _compare_vectors(database: sqlite3.Connection) -> Iterator[Finding]:
    """Yield notes without vectors, and vectors that are not as long as their model's."""
    rows = database.execute(
        "SELECT m.name, m.dimension, s.length, length(s.vectors) AS bytes FROM segments s JOIN models m ON m.id = s.model"
    )
    unfit = {row["name"]: row for row in rows if row["bytes"] != row["length"] * row["dimension"] * _BYTES_A_NUMBER}
    for name, row in sorted(unfit.items()):
        found = row["bytes"] // (row["length"] or 1) // _BYTES_A_NUMBER
        message = (
            f"Vectors of {name} have {found} numbers where the index says {row['dimension']}: they are not compared."
        )
        yield warn(message, path=_PLACE, hint=_REBUILD)
    waiting = database.execute("SELECT coalesce(sum(pending), 0) FROM files").fetchone()[0]
    if waiting:
        tell = warn if waiting > _NOTES_MAX else info
        yield tell(
            f"{_count(waiting, 'note')} without a vector: found by words and not by meaning.", path=_PLACE, hint=_SYNC
        )


# -- what is said ----------------------------------------------------------------------------------------------------


def _name_set_aside(brain: Examined) -> Iterator[Finding]:
    place = f"{_PLACE}{DAMAGED_SUFFIX}"
    if place in brain.by_path:
        yield info(
            "An index that was damaged was set aside, and a new one was made.",
            path=place,
            hint=f"Look at the health of the disk; {place} may be deleted.",
        )


def _explain(error: Exception) -> Finding:
    if is_broken(error):
        return fail(f"The search index is damaged ({error}).", path=_PLACE, hint=_REBUILD)
    if str(error).startswith("no such "):
        return fail(f"The search index is not what omnislash writes ({error}).", path=_PLACE, hint=_REBUILD)
    return warn(
        f"The search index can't be read ({error}); searches make one in memory.",
        path=_PLACE,
        hint="Give this user read and write access to memory/.",
    )


def _describe(brain: Examined, database: sqlite3.Connection) -> Finding:
    files = database.execute("SELECT count(*) FROM files").fetchone()[0]
    vectors = database.execute("SELECT coalesce(sum(length), 0) FROM segments").fetchone()[0]
    size = size_on_disk(brain.root / _PLACE)
    message = f"The search index holds {_count(files, 'file')} and {_count(vectors, 'vector')} in {size / 1e6:.1f} MB."
    return info(message, path=_PLACE)


def _tell_by(count: int, most: int) -> tuple[Any, str]:
    """Return how to say that so many files wait, and what that means for a search."""
    if count > most:
        return warn, "a search in a turn has no time to take up so many."
    return info, "the next search takes them up."


def _name(places: list[str]) -> str:
    rest = len(places) - _NAMED
    return ", ".join(map(_shown, places[:_NAMED])) + (f" and {rest} more" if rest > 0 else "")


def _shown(place: str) -> str:
    return place.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
