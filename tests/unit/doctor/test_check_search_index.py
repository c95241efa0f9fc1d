"""The check of the search index."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.live import IndexSettings, LiveIndex
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

PLACE = "memory/.memory-index.db"
SYNC = "Run `omnislash index sync`."
REBUILD = "Run `omnislash index rebuild`: it makes the index anew from the files; no memory is lost."
ANEW = f"{SYNC} It makes the index anew."
WORDS_ONLY = {"omnislash.yaml": "memory:\n  embeddingModel: none\n"}
NOTES = {
    **WORDS_ONLY,
    "memory/main/MEMORY.md": "- We ship on Fridays.\n",
    "memory/main/2026/12/2026-12-01.md": "# Memory (2026-12-01)\n\n- 09:00 The bridge is closed.\n",
}


def put(root: Path, files: Mapping[str, str]) -> None:
    """Write files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def build(root: Path, files: Mapping[str, str] = NOTES, **settings: Any) -> None:
    """Make the files and their index."""
    put(root, files)
    chosen = {"sources": (), "languages": ("english",), "embedders": (), **settings}
    live = LiveIndex(root, IndexSettings(**chosen), state_directory=root / ".omnislash")
    live.refresh(limit_s=None)
    live.close()


def change(root: Path, sql: str) -> None:
    """Run a statement in the index, and leave no log."""
    with closing(sqlite3.connect(root / PLACE, isolation_level=None)) as connection:
        connection.execute(sql)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def size_of(root: Path) -> str:
    """Return the size of the index as it is shown."""
    return f"{(root / PLACE).stat().st_size / 1e6:.1f} MB"


def warning(message: str, hint: str, path: str = PLACE) -> Finding:
    """Return a warning."""
    return Finding(Severity.WARN, message, path=path, hint=hint)


def said(message: str, hint: str | None = None, path: str = PLACE) -> Finding:
    """Return a finding that is only told."""
    return Finding(Severity.INFO, message, path=path, hint=hint)


def holds(root: Path, files: str = "2 files", vectors: str = "0 vectors") -> Finding:
    """Return what an index says of itself."""
    return said(f"The search index holds {files} and {vectors} in {size_of(root)}.")


def test_fresh_index_passes(examine: Examine, brain_root: Path) -> None:
    """An index that says what the files say passes, and says how large it is."""
    build(brain_root)
    result = examine(NOTES, "search-index")["search-index"]
    assert result.findings == (holds(brain_root),)
    assert result.status is Status.PASS


def test_brain_without_notes_needs_no_index(examine: Examine) -> None:
    """Where nothing is to be searched, nothing is missing."""
    assert examine({}, "search-index")["search-index"].findings == ()


def test_missing_index_is_told(examine: Examine) -> None:
    """A brain that nobody has searched yet is told what makes its index."""
    message = "There is no search index yet for 2 files; the first search makes it."
    hint = f"{SYNC} It makes the index ahead."
    assert examine(NOTES, "search-index")["search-index"].findings == (said(message, hint),)


def test_empty_file_is_no_index(examine: Examine) -> None:
    """An index of no bytes is one that is missing."""
    found = examine({**NOTES, PLACE: b""}, "search-index")["search-index"].findings
    assert [finding.message for finding in found] == [
        "There is no search index yet for 2 files; the first search makes it."
    ]


def test_files_behind_are_named(examine: Examine, brain_root: Path) -> None:
    """A new, a changed and a removed file are each named; a search takes up so few by itself (O-14)."""
    build(brain_root)
    (brain_root / "memory/main/2026/12/2026-12-01.md").unlink()
    edited = {
        "omnislash.yaml": NOTES["omnislash.yaml"],
        "memory/main/MEMORY.md": "- We ship on Mondays.\n",
        "memory/ops/MEMORY.md": "- New.\n",
    }
    result = examine(edited, "search-index")["search-index"]
    wait = "the next search takes them up."
    assert result.findings == (
        said(f"1 file is not in the search index yet: memory/ops/MEMORY.md; {wait}", SYNC, "memory/ops/MEMORY.md"),
        said(
            f"1 file is in the search index in an older state: memory/main/MEMORY.md; {wait}",
            SYNC,
            "memory/main/MEMORY.md",
        ),
        said(
            f"1 file is in the search index and gone from disk: memory/main/2026/12/2026-12-01.md; {wait}",
            SYNC,
            "memory/main/2026/12/2026-12-01.md",
        ),
        holds(brain_root),
    )
    assert result.status is Status.PASS


def test_many_files_behind_are_a_warning(examine: Examine, brain_root: Path) -> None:
    """More files than a search in a turn can take up are a warning that names the first of them."""
    build(brain_root)
    many = {f"memory/main/topics/n{number:03}.md": f"Topic {number}.\n" for number in range(101)}
    result = examine({**NOTES, **many}, "search-index")["search-index"]
    names = ", ".join(f"memory/main/topics/n{number:03}.md" for number in range(5))
    message = f"101 files are not in the search index yet: {names} and 96 more; a search in a turn has no time to take up so many."
    assert result.findings == (warning(message, SYNC, "memory/main/topics/n000.md"), holds(brain_root))


def test_touched_file_is_not_behind(examine: Examine, brain_root: Path) -> None:
    """A file whose time was changed and whose bytes were not is as it is in the index."""
    build(brain_root)
    os.utime(brain_root / "memory/main/MEMORY.md", (1_700_000_000, 1_700_000_000))
    assert examine(WORDS_ONLY, "search-index")["search-index"].findings == (holds(brain_root),)


def test_files_that_are_not_indexed_are_not_missed(examine: Examine, brain_root: Path) -> None:
    """Authored text outside of sources, hidden files and files of no line belong into no index."""
    build(brain_root)
    others = {"features/a.md": "x\n", "memory/main/.draft.md": "x\n", "memory/loose.md": "x\n", "notes/a.md": "x\n"}
    assert examine({**NOTES, **others}, "search-index")["search-index"].findings == (holds(brain_root),)


@pytest.mark.parametrize("at", [0, 100, 4096 + 10], ids=["the header", "the schema", "a page"])
def test_damage_is_a_failure(examine: Examine, brain_root: Path, at: int) -> None:
    """An index with other bytes in it is named as damaged, with the command that makes it anew (O-10)."""
    build(brain_root)
    data = bytearray((brain_root / PLACE).read_bytes())
    data[at : at + 700] = b"\xa5" * 700
    result = examine({**NOTES, PLACE: bytes(data)}, "search-index")["search-index"]
    assert result.status is Status.FAIL
    assert [(finding.path, finding.hint) for finding in result.findings] == [(PLACE, REBUILD)]
    assert result.findings[0].message.startswith("The search index is damaged (")


def test_text_is_no_index(examine: Examine) -> None:
    """A file that was never a database is damaged."""
    found = examine({**NOTES, PLACE: "not a database, but long enough to be read as one\n" * 40}, "search-index")
    assert found["search-index"].findings == (
        Finding(Severity.FAIL, "The search index is damaged (file is not a database).", path=PLACE, hint=REBUILD),
    )


def test_foreign_tables_are_a_failure(examine: Examine, brain_root: Path) -> None:
    """A database of the right version without our tables is not what omnislash writes."""
    build(brain_root)
    change(brain_root, "DROP TABLE files")
    message = "The search index is not what omnislash writes (no such table: files)."
    found = examine(NOTES, "search-index")["search-index"].findings
    assert found == (Finding(Severity.FAIL, message, path=PLACE, hint=REBUILD),)


def test_directory_in_the_way_is_a_failure(examine: Examine) -> None:
    """A directory of the index's name keeps every index off the disk."""
    message = f"{PLACE} is no file, so no index can be kept there and every search makes one in memory."
    found = examine({**NOTES, f"{PLACE}/": ""}, "search-index")["search-index"].findings
    assert found == (Finding(Severity.FAIL, message, path=PLACE, hint="Move it away."),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_index_is_a_warning(examine: Examine, brain_root: Path) -> None:
    """An index that this user may not read is named with its reason."""
    build(brain_root)
    (brain_root / PLACE).chmod(0)
    found = examine(NOTES, "search-index")["search-index"].findings
    message = "The search index can't be read (unable to open database file); searches make one in memory."
    assert found == (warning(message, "Give this user read and write access to memory/."),)


def test_other_version_is_told(examine: Examine, brain_root: Path) -> None:
    """An index of another version of the tables is made anew by itself."""
    build(brain_root)
    change(brain_root, "PRAGMA user_version = 99")
    message = "The search index was made by another version of omnislash (schema 99); the next search makes it anew."
    assert examine(NOTES, "search-index")["search-index"].findings == (said(message, SYNC),)


def test_other_cut_is_told(examine: Examine, brain_root: Path) -> None:
    """An index whose notes were cut by other rules is made anew by itself."""
    build(brain_root)
    change(brain_root, "UPDATE meta SET value = json_set(value, '$.notes', 0) WHERE key = 'madeBy'")
    message = "The search index was cut by another version of omnislash."
    assert examine(NOTES, "search-index")["search-index"].findings == (said(message, SYNC), holds(brain_root))


@pytest.mark.rule("LANG-O6")
def test_other_languages_are_a_warning(examine: Examine, brain_root: Path) -> None:
    """Both lists of languages are named when the index was made for another one."""
    build(brain_root)
    settings = {"omnislash.yaml": "memory:\n  embeddingModel: none\n  languages: [german, russian]\n"}
    message = "The search index was made for the languages english, and memory.languages is german, russian."
    found = examine({**NOTES, **settings}, "search-index")["search-index"].findings
    assert found == (warning(message, ANEW), holds(brain_root))


def test_other_model_is_a_warning(examine: Examine, brain_root: Path) -> None:
    """Both models are named when the index has the vectors of another one (O-47)."""
    build(brain_root, embedders=(CountingEmbedder(),))
    found = examine(NOTES, "search-index")["search-index"].findings
    message = f"The search index has the vectors of {CountingEmbedder().name}, and memory.embeddingModel asks for none."
    assert found == (warning(message, ANEW), holds(brain_root, vectors="2 vectors"))


def test_index_without_vectors_is_of_no_model(examine: Examine, brain_root: Path) -> None:
    """An index of words alone is not what a brain with a model asks for."""
    build(brain_root)
    found = examine({**NOTES, "omnislash.yaml": "{}\n"}, "search-index")["search-index"].findings
    message = f"The search index has the vectors of no model, and memory.embeddingModel asks for {MiniLM.name}"
    assert found[-2].severity is Severity.WARN
    assert found[-2].message.startswith(message)


def test_vectors_of_another_size_are_a_warning(examine: Examine, brain_root: Path) -> None:
    """Vectors that are shorter than their model's are named with both sizes (O-47)."""
    build(brain_root, embedders=(CountingEmbedder(),))
    change(brain_root, "UPDATE models SET dimension = 16")
    found = examine(NOTES, "search-index")["search-index"].findings
    name, size = CountingEmbedder().name, CountingEmbedder().dimension
    message = f"Vectors of {name} have {size} numbers where the index says 16: they are not compared."
    assert warning(message, REBUILD) in found


@pytest.mark.parametrize(("waiting", "severity"), [(128, Severity.INFO), (129, Severity.WARN)], ids=["few", "many"])
def test_notes_without_vectors_are_told(examine: Examine, brain_root: Path, waiting: int, severity: Severity) -> None:
    """Notes that wait for their vector are counted; more than a search waits for are a warning."""
    build(brain_root)
    change(brain_root, f"UPDATE files SET pending = {waiting} WHERE place = 'memory/main/MEMORY.md'")
    message = f"{waiting} notes without a vector: found by words and not by meaning."
    found = examine(NOTES, "search-index")["search-index"].findings
    assert found == (Finding(severity, message, path=PLACE, hint=SYNC), holds(brain_root))


def test_words_alone_for_a_language_are_told(examine: Examine) -> None:
    """A language that the local embedder does not read is found by its words, which is worth knowing."""
    files = {"omnislash.yaml": "memory:\n  languages: [russian]\n", "memory/main/MEMORY.md": "- Привет.\n"}
    found = examine(files, "search-index")["search-index"].findings
    assert [finding.severity for finding in found] == [Severity.INFO]


def test_index_set_aside_is_told(examine: Examine, brain_root: Path) -> None:
    """What is left of a damaged index is named, and may be deleted."""
    build(brain_root)
    place = f"{PLACE}.damaged"
    hint = f"Look at the health of the disk; {place} may be deleted."
    assert examine({**NOTES, place: "x"}, "search-index")["search-index"].findings == (
        said("An index that was damaged was set aside, and a new one was made.", hint, place),
        holds(brain_root),
    )


def test_log_without_its_index_is_left_alone(examine: Examine, brain_root: Path) -> None:
    """A log that could be read only by making a file beside it is not read."""
    build(brain_root)
    message = (
        "The log .memory-index.db-wal lies there without .memory-index.db-shm, so it can't be read without changing it."
    )
    found = examine({**NOTES, f"{PLACE}-wal": b"x" * 64}, "search-index")["search-index"].findings
    assert found == (said(message, "The next search puts that right."),)


def test_two_faults_are_both_told(examine: Examine, brain_root: Path) -> None:
    """Another language and a changed file are told together."""
    build(brain_root)
    edited = {
        "omnislash.yaml": "memory:\n  embeddingModel: none\n  languages: [german]\n",
        "memory/main/MEMORY.md": "- We ship on Mondays.\n",
    }
    found = examine({**NOTES, **edited}, "search-index")["search-index"].findings
    assert found == (
        warning("The search index was made for the languages english, and memory.languages is german.", ANEW),
        said(
            "1 file is in the search index in an older state: memory/main/MEMORY.md; the next search takes them up.",
            SYNC,
            "memory/main/MEMORY.md",
        ),
        holds(brain_root),
    )


def test_brain_that_does_not_load_is_looked_at(examine: Examine, brain_root: Path) -> None:
    """Broken settings and a name that is no UTF-8 keep nothing from being told (DOCTOR-16)."""
    build(brain_root)
    hostile = {
        **NOTES,
        "omnislash.yaml": "memory: [\n",
        b"memory/main/caf\xe9.md".decode("utf-8", "surrogateescape"): "x\n",
    }
    result = examine(hostile, "search-index")["search-index"]
    assert result.findings[-1] == holds(brain_root)


def test_looking_leaves_no_trace(examine: Examine, brain_root: Path) -> None:
    """No byte changes and no file comes up, neither beside a closed index nor beside one that is open."""
    build(brain_root)
    put(brain_root, NOTES)

    def look() -> dict[str, tuple[int, int]]:
        return {
            entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in (brain_root / "memory").iterdir()
        }

    before = look()
    examine(NOTES, "search-index")
    assert look() == before


def test_index_that_is_open_is_read_with_its_log(examine: Examine, brain_root: Path) -> None:
    """What another process has written, and what stands in the log alone, counts."""
    build(brain_root)
    with closing(sqlite3.connect(brain_root / PLACE, isolation_level=None)) as writer:
        writer.execute("UPDATE files SET pending = 3 WHERE place = 'memory/main/MEMORY.md'")
        found = examine(NOTES, "search-index")["search-index"].findings
        names = {entry.name for entry in (brain_root / "memory").iterdir()}
    assert found[0] == said("3 notes without a vector: found by words and not by meaning.", SYNC)
    assert names == {"main", ".memory-index.db", ".memory-index.db-wal", ".memory-index.db-shm"}


def test_files_of_a_directory_that_can_not_be_listed_are_not_taken_for_gone(
    examine: Examine, brain_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether they are there."""
    build(brain_root)
    scan = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("memory/main"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr("omnislash.checks.listing.os.scandir", scandir)
    assert examine(NOTES, "search-index")["search-index"].findings == (holds(brain_root),)
