"""The check of the queue of writes."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.store.locks import Owner, WriterLock
from omnislash.store.state import SCHEMA_VERSION, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

PLACE = ".omnislash/state.db"
DRAIN = "Run `omnislash worker`; any write finishes what waits, too."
MOVE_AWAY = (
    "Move it away, with the files beside it that begin with its name: omnislash makes a new one. Writes that waited in "
    "it are lost; confirmed memory is in its files."
)
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def state(brain_root: Path) -> Iterator[State]:
    """Return the state database of the brain, open, as a process has it that writes."""
    (brain_root / ".omnislash").mkdir()
    with closing(State(brain_root / PLACE)) as opened:
        yield opened


def queue(state: State, job: str, *, at: datetime = NOW) -> None:
    """Queue a write."""
    row: dict[str, Any] = {"id": job, "request": None, "line": "main", "tool": "memory_write", "role": "nova"}
    with state.transaction():
        state.run(
            "insert_job", **row, heartbeat=None, actor="agent", payload='{"content": "x"}', created_at=at.isoformat()
        )


def begin(state: State, job: str) -> None:
    """Begin a write and do not end it."""
    with state.transaction():
        state.run("start_job", id=job, batch=job, verdict="{}")


def leave(state: State, batch: str, path: str) -> None:
    """Leave a row of a change."""
    row = {"path": path, "temp": f".omnislash-{len(path)}", "hash_before": "absent", "hash_after": "0"}
    with state.transaction():
        state.run("insert_change", batch=batch, **row)


def note(state: State, outcome: str, *, at: datetime, tool: str = "memory_write", line: str | None = "main") -> None:
    """Note a write in the action log."""
    row: dict[str, Any] = {"actor": "agent", "role": "nova", "heartbeat": None, "paths": "[]", "chars": 1, "job": None}
    with state.transaction():
        state.run("insert_audit", **row, tool=tool, line=line, outcome=outcome, at=at.isoformat())


@contextmanager
def served(root: Path, address: Path | None = None) -> Iterator[None]:
    """Hold the lock of the writer, as a worker does."""
    lock = WriterLock(root / ".omnislash" / "writer.lock")
    assert lock.acquire(Owner(pid=4711, role="worker", since="", address=str(address) if address else None, protocol=1))
    try:
        yield
    finally:
        lock.release()


def warning(message: str, hint: str, path: str = PLACE) -> Finding:
    """Return a warning."""
    return Finding(Severity.WARN, message, path=path, hint=hint)


def failure(message: str, hint: str, path: str = PLACE) -> Finding:
    """Return a failure."""
    return Finding(Severity.FAIL, message, path=path, hint=hint)


def find(examine: Examine, **options: Any) -> tuple[Finding, ...]:
    """Return what the check finds."""
    return examine({}, "write-queue", **options)["write-queue"].findings


def test_brain_that_was_never_written_passes(examine: Examine) -> None:
    """Without a state database there is nothing to say, and none is made."""
    result = examine({}, "write-queue")["write-queue"]
    assert (result.status, result.findings) == (Status.PASS, ())


def test_empty_queue_passes(examine: Examine, state: State) -> None:
    """A queue in which nothing waits passes without a word."""
    note(state, "written", at=NOW)
    note(state, "refused", at=NOW)
    assert find(examine) == ()


@pytest.mark.parametrize(
    ("count", "says"), [(1, "1 write waits"), (2, "2 writes wait")], ids=["one write", "two writes"]
)
def test_writes_without_a_worker_are_a_warning(examine: Examine, state: State, count: int, says: str) -> None:
    """Writes that wait for nobody are counted, with the age of the oldest in the brain's own zone."""
    zone = {"constitution/MANIFEST.yaml": "locale:\n  timezone: Europe/Berlin\n"}
    for number in range(count):
        queue(state, f"job{number}", at=NOW - timedelta(hours=2 - number))
    found = examine(zone, "write-queue")["write-queue"].findings
    message = f"{says} in the queue, the oldest since 2026-12-01 08:30, and no worker runs."
    assert found == (warning(message, DRAIN),)


def test_writes_that_a_worker_has_just_got_are_fine(examine: Examine, state: State, brain_root: Path) -> None:
    """A worker that runs will have done within a moment what was queued a moment ago."""
    queue(state, "job", at=NOW - timedelta(seconds=59))
    begin(state, "job")
    queue(state, "other", at=NOW - timedelta(seconds=59))
    with served(brain_root):
        assert find(examine) == ()


def test_writes_that_a_worker_leaves_are_a_warning(examine: Examine, state: State, brain_root: Path) -> None:
    """Writes that wait for more than a minute while a process holds the lock are named."""
    queue(state, "job", at=NOW - timedelta(minutes=2))
    message = "1 write waits in the queue, the oldest since 2026-12-01 09:28, although a process holds the lock of the writer."
    hint = "Look into .omnislash/logs/worker.log, or start the worker again."
    with served(brain_root):
        assert find(examine) == (warning(message, hint),)


def test_write_that_was_cut_off_is_a_warning(examine: Examine, state: State) -> None:
    """A write that somebody began and nobody works on is named as cut off."""
    queue(state, "job")
    begin(state, "job")
    assert find(examine) == (warning("1 write was cut off in the middle; its bytes are safe.", DRAIN),)


def test_several_writes_cut_off_are_counted(examine: Examine, state: State) -> None:
    """Writes that were cut off and writes that wait are counted apart."""
    for job in ("a", "b", "c"):
        queue(state, job, at=NOW - timedelta(minutes=30))
    begin(state, "a")
    begin(state, "b")
    assert find(examine) == (
        warning("2 writes were cut off in the middle; their bytes are safe.", DRAIN),
        warning("1 write waits in the queue, the oldest since 2026-12-01 09:00, and no worker runs.", DRAIN),
    )


def test_what_a_crash_left_is_told(examine: Examine, state: State) -> None:
    """A conflict copy without its name is a warning with its path; temporary files are only told."""
    leave(state, "copy:a", "main/conflicts/MEMORY-1.md")
    leave(state, "left:b", "main/MEMORY.md")
    leave(state, "left:c", "ops/MEMORY.md")
    path = "memory/main/conflicts/MEMORY-1.md"
    assert find(examine) == (
        warning(f"The conflict copy {path} is whole, but has not got its name yet.", DRAIN, path),
        Finding(
            Severity.INFO,
            "2 temporary files are still to be cleared away.",
            path=PLACE,
            hint="The next write does that.",
        ),
    )


def test_many_copies_are_cut_short(examine: Examine, state: State) -> None:
    """Of many conflict copies the first twenty are named and the rest counted."""
    for number in range(23):
        leave(state, f"copy:{number:02}", f"main/conflicts/n{number:02}.md")
    found = find(examine)
    assert len(found) == 21
    assert found[-1] == warning("3 more conflict copies wait for their name.", DRAIN)


def test_rows_of_a_running_writer_are_no_leftovers(examine: Examine, state: State, brain_root: Path) -> None:
    """While a process writes, temporary files come and go."""
    leave(state, "left:b", "main/MEMORY.md")
    with served(brain_root):
        assert find(examine) == ()


def test_failed_writes_of_a_day_are_a_warning(examine: Examine, state: State) -> None:
    """Writes that failed within the last day are counted, the newest is named; older ones and refusals are not."""
    note(state, "failed", at=NOW - timedelta(hours=25))
    note(state, "failed", at=NOW - timedelta(hours=23))
    note(state, "failed", at=NOW - timedelta(hours=1), tool="memory_edit", line="ops")
    note(state, "refused", at=NOW)
    message = "2 writes failed within the last day, the last one at 2026-12-01 08:30: memory_edit in line ops."
    hint = "Run `omnislash audit`; .omnislash/logs/worker.log may say why."
    assert find(examine) == (warning(message, hint),)
    assert find(examine)[0].about == (PLACE, "memory/ops")


def test_deletions_that_wait_are_told(examine: Examine, state: State) -> None:
    """Deletions that wait for a person are counted, and nobody is warned of them."""
    row = {"role": "nova", "heartbeat": None, "line": "main", "tool": "memory_delete", "arguments": "{}", "hash": "0"}
    with state.transaction():
        state.run("insert_approval", id="a1", at=NOW.isoformat(), **row)
    hint = "Run `omnislash approvals list`."
    assert find(examine) == (Finding(Severity.INFO, "1 deletion waits for a person.", path=PLACE, hint=hint),)


def test_damaged_queue_is_a_failure(examine: Examine) -> None:
    """A state database that is none is a failure, with what is lost and what is not."""
    found = examine({PLACE: "no database at all, but long enough for one\n" * 40}, "write-queue")["write-queue"]
    assert found.findings == (failure("The state database is damaged (file is not a database).", MOVE_AWAY),)


def test_damaged_page_is_a_failure(examine: Examine, state: State, brain_root: Path) -> None:
    """Damage in the middle of the file, which no query of ours would meet, is found all the same."""
    for number in range(200):
        note(state, "written", at=NOW, tool=f"tool{number}" * 20)
    state.close()
    data = bytearray((brain_root / PLACE).read_bytes())
    data[-4096:] = b"\xa5" * 4096
    found = examine({PLACE: bytes(data)}, "write-queue")["write-queue"].findings
    assert [(each.severity, each.path, each.hint) for each in found] == [(Severity.FAIL, PLACE, MOVE_AWAY)]
    assert found[0].message.startswith("The state database is damaged (")


@pytest.mark.parametrize(
    ("statements", "lacks"),
    [
        (["DROP TABLE approvals"], "the table approvals"),
        (["DROP TABLE audit", "DROP TABLE approvals"], "the table approvals, the table audit"),
        (["ALTER TABLE jobs RENAME COLUMN payload TO load"], "the column payload of jobs"),
    ],
)
def test_queue_that_lacks_tables_is_a_failure(
    examine: Examine, state: State, brain_root: Path, statements: list[str], lacks: str
) -> None:
    """A database that SQLite finds sound, but somebody has changed, is named with what is not there."""
    state.close()
    with closing(sqlite3.connect(brain_root / PLACE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    found = examine({}, "write-queue")["write-queue"]
    assert found.findings == (failure(f"The state database lacks {lacks}, so whatever needs it fails.", MOVE_AWAY),)


def test_newer_queue_is_a_failure(examine: Examine, state: State, brain_root: Path) -> None:
    """A state database of a newer version can be written by no write of this one."""
    state.close()
    with closing(sqlite3.connect(brain_root / PLACE)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    message = (
        f"The state database was written by a newer omnislash (schema {SCHEMA_VERSION + 1}, this one knows "
        f"{SCHEMA_VERSION}), so nothing can be written."
    )
    assert find(examine) == (failure(message, "Update omnislash."),)


def test_empty_file_is_a_new_queue(examine: Examine) -> None:
    """A state database of no bytes is one that the next write makes."""
    assert examine({PLACE: b""}, "write-queue")["write-queue"].findings == ()


def test_directory_in_the_way_is_a_failure(examine: Examine) -> None:
    """A directory of the name of the state database keeps every write from happening."""
    found = examine({f"{PLACE}/": ""}, "write-queue")["write-queue"].findings
    assert found == (failure(f"{PLACE} is no file, so nothing can be written.", "Move it away."),)


def test_log_without_its_index_is_left_alone(examine: Examine, state: State, brain_root: Path) -> None:
    """A log that could be read only by making a file beside it is not read."""
    state.close()
    message = "The log state.db-wal lies there without state.db-shm, so it can't be read without changing it."
    found = examine({f"{PLACE}-wal": b"x" * 64}, "write-queue")["write-queue"].findings
    assert found == (Finding(Severity.INFO, message, path=PLACE, hint="The next write puts that right."),)


def test_lock_that_is_no_file_is_a_failure(examine: Examine) -> None:
    """A directory of the name of the lock keeps every write from happening."""
    found = examine({".omnislash/writer.lock/": ""}, "write-queue")["write-queue"].findings
    message = "The lock of the writer can't be opened (is a directory), so nothing can be written."
    hint = "Move it away: omnislash makes a file of that name."
    assert found == (failure(message, hint, ".omnislash/writer.lock"),)


@pytest.mark.parametrize("check", ["write-queue", "brain-sync", "runs", "file-system"])
def test_state_that_may_not_be_looked_into_is_told_once(
    examine: Examine, brain_root: Path, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """The two checks that look for it say so, and nobody says that nothing has run yet."""
    heartbeat = {
        "features/a.heartbeat.md": "---\nschedule: '0 4 * * *'\nagent: b\n---\nGo.\n",
        "features/b.agent.md": "Go.\n",
    }
    (brain_root / ".omnislash").mkdir(mode=0o700)
    brain_root.chmod(0o700)
    place, ask, look = str(brain_root / ".omnislash"), os.stat, os.access

    def stat(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(f"{place}/"):
            raise PermissionError(13, "Permission denied", str(path))
        return ask(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != place and look(path, mode))
    found = [each for each in examine(heartbeat, check)[check].findings if each.severity is not Severity.INFO]
    told = {
        "write-queue": failure(
            "This user may not look into .omnislash/, so nothing can be written.",
            "Give it access: chmod 700 .omnislash, or chown it.",
            ".omnislash",
        ),
        "file-system": failure(
            "This user may not write in .omnislash/, so nothing can be remembered.",
            "Give it write access: chmod u+rwx .omnislash, or chown it.",
            ".omnislash",
        ),
    }
    assert found == ([told[check]] if check in told else [])
    assert "yet" not in str(examine(heartbeat, check)[check].findings)


def test_worker_that_listens_passes(examine: Examine, brain_root: Path) -> None:
    """A worker whose socket takes a call is fine."""
    (brain_root / ".omnislash").mkdir()
    address = brain_root / ".omnislash" / "w.sock"
    with closing(socket.socket(socket.AF_UNIX)) as listening, served(brain_root, address):
        listening.bind(str(address))
        listening.listen()
        assert find(examine) == ()


def test_worker_without_its_socket_is_a_warning(examine: Examine, brain_root: Path) -> None:
    """A worker whose socket is gone is named with its process."""
    (brain_root / ".omnislash").mkdir()
    hint = "Stop that process and run `omnislash worker` again."
    message = "The worker (process 4711) holds the lock, but its socket takes no call (no such file or directory)."
    with served(brain_root, brain_root / ".omnislash" / "w.sock"):
        assert find(examine) == (warning(message, hint, ".omnislash/writer.lock"),)


def test_lock_of_a_dead_worker_is_free(examine: Examine, brain_root: Path) -> None:
    """The label of a process that died says nothing: the operating system has freed its lock."""
    dead = '{"pid": 1, "role": "worker", "since": "", "address": "/nowhere.sock", "protocol": 1}'
    assert examine({".omnislash/writer.lock": dead}, "write-queue")["write-queue"].findings == ()


_KILLED = """
import os, sys
from omnislash import Brain
from omnislash.store import disk
for name in ("exchange", "rename_new", "link", "replace"):
    setattr(disk.Disk, name, lambda *_a, **_k: os._exit(9))
with Brain.open(sys.argv[1]) as brain:
    brain.agent("nova").memory.write("We ship on Fridays.")
"""


def test_crash_in_the_middle_is_told_until_a_write_mends_it(examine: Examine, brain_root: Path) -> None:
    """A real process that dies before the exchange leaves a write that is named, and the next write finishes both."""
    files = {
        "features/nova.agent.md": "---\nmemory: {}\ncapabilities: [memory:write]\n---\nA role.\n",
        "omnislash.yaml": "memory:\n  embeddingModel: none\n",
    }
    examine(files, "write-queue")
    ended = subprocess.run([sys.executable, "-c", _KILLED, brain_root], capture_output=True, text=True, check=False)
    assert ended.returncode == 9, ended.stderr
    cut_off = warning("1 write was cut off in the middle; its bytes are safe.", DRAIN)
    assert find(examine) == (cut_off,)
    write = ["memory", "write", "--role", "nova", "And test on Mondays."]
    subprocess.run([sys.executable, "-m", "omnislash", "--brain", brain_root, *write], check=True, capture_output=True)
    assert find(examine) == ()


def test_looking_leaves_no_trace(examine: Examine, state: State, brain_root: Path) -> None:
    """What a killed process left is read with its log, and no byte of it changes (DOCTOR-16)."""
    queue(state, "job")
    left = brain_root / "left"
    shutil.copytree(brain_root / ".omnislash", left)
    state.close()
    shutil.rmtree(brain_root / ".omnislash")
    left.rename(brain_root / ".omnislash")

    def look() -> dict[str, tuple[int, int, bytes]]:
        places = sorted((brain_root / ".omnislash").iterdir())
        return {place.name: (place.stat().st_mtime_ns, place.stat().st_mode, place.read_bytes()) for place in places}

    before = look()
    assert set(before) == {"state.db", "state.db-shm", "state.db-wal"}
    assert len(find(examine)) == 1
    assert look() == before


def test_two_faults_are_both_told(examine: Examine, state: State) -> None:
    """Writes that wait and writes that failed are told together, in this order."""
    queue(state, "job", at=NOW - timedelta(hours=1))
    note(state, "failed", at=NOW - timedelta(hours=1), line=None)
    assert [finding.message for finding in find(examine)] == [
        "1 write waits in the queue, the oldest since 2026-12-01 08:30, and no worker runs.",
        "1 write failed within the last day, the last one at 2026-12-01 08:30: memory_write.",
    ]


def test_times_that_make_no_sense_stop_nothing(examine: Examine, state: State, brain_root: Path) -> None:
    """A row with a time that is none is passed over, in a brain whose settings do not load."""
    queue(state, "job")
    state.close()
    with closing(sqlite3.connect(brain_root / PLACE)) as connection, connection:
        connection.execute("UPDATE jobs SET created_at = 'yesterday'")
    found = examine({"omnislash.yaml": "memory: [\n"}, "write-queue")["write-queue"].findings
    assert found == (warning("1 write waits in the queue, and no worker runs.", DRAIN),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_queue_is_a_failure(examine: Examine, state: State, brain_root: Path) -> None:
    """A state database that this user may not read is named with its reason."""
    state.close()
    (brain_root / PLACE).chmod(0)
    message = "The state database can't be read (unable to open database file), so nothing can be written."
    access = "Give this user read and write access to the files in .omnislash/: chmod -R u+rwX .omnislash, or chown it."
    assert find(examine) == (failure(message, access),)
